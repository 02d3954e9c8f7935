//! What a run may use, how it comes out, and what it is doing meanwhile.

use std::fs;

use serde_json::{Value, json};

use crate::run::{arguments, kill_runners, prepared, words, worktree, worktree_has};
use crate::running::wait_until;
use crate::support::{Home, Outcome};
use crate::walking::one;

const THIRSTY: &str = "
cassette: 1
turns:
  - match: { step: look }
    usage: { input: 600, output: 100 }
    tools: [ { write: { path: seen.txt, content: seen } } ]
  - match: { step: look }
    usage: { input: 600, output: 100 }
    complete: { notes: Looked. }
  - match: { step: change }
    complete: { notes: Changed. }
  - match: { step: check }
    complete: { notes: Checked. }
";

fn run(home: &Home, more: &[&str]) -> Outcome {
    let arguments = arguments(home);
    home.run(&[&words(&arguments), more].concat()).inside("repo").go()
}

fn session(home: &Home) -> Value {
    one(&home.longhaul(&["session", "list", "--all", "--json"]))
}

#[test]
fn a_run_stops_before_the_turn_that_might_not_fit_and_a_person_gives_it_more() {
    let home = prepared(THIRSTY);
    let parked = run(&home, &["--budget", "tokens=1k,turns=50"]);
    assert_eq!(parked.code, Some(3), "{parked}");
    let shown = one(&parked);
    assert_eq!(
        (&shown["outcome"]["kind"], &shown["outcome"]["reason"]),
        (&json!("parked"), &json!("budget_tokens"))
    );
    assert_eq!((&shown["used"]["turns"], &shown["used"]["input"]), (&json!(1), &json!(600)), "{shown:#}");
    assert_eq!((&shown["budget"]["tokens"], &shown["budget"]["turns"]), (&json!(1000), &json!(50)));
    assert_eq!(shown["budget"]["money_micros"], 5_000_000, "what was not said is as the settings have it");
    let id = shown["sessionId"].as_str().unwrap();
    let more = ["session", "resume", id, "--budget", "tokens=100k"];
    let agent = home.run(&more).variable("LONGHAUL_SESSION", id).go();
    assert_eq!(agent.code, Some(3), "an agent does not raise its own budget: {agent}");
    let little = home.longhaul(&["session", "resume", id, "--budget", "tokens=700"]);
    assert_eq!(little.code, Some(3), "{little}");
    assert!(little.stderr.contains("not enough to go on with"), "{little}");
    home.longhaul(&more);
    wait_until("it goes on by itself", || session(&home)["state"] == "completed");
    let story = home.longhaul(&["session", "show", id]).succeeded().stdout;
    for told in ["used 4 of 50 turns, 1400 of 100k tokens", "set the budget", "had it go on with `look`"] {
        assert!(story.contains(told), "{told} is not in {story}");
    }
}

/// Runs as an agent that sets these flags and this variable.
fn run_as_agent(home: &Home, flags: &[&str], [name, value]: [&str; 2]) -> Outcome {
    let arguments = arguments(home);
    let run = home.run(&[&words(&arguments), flags].concat()).inside("repo");
    run.variable("LONGHAUL_SESSION", "s-0123456789abc").variable(name, value).go()
}

#[test]
fn an_agent_gives_nobody_more_than_the_files_do() {
    let home = prepared(THIRSTY);
    let nothing = ["LC_ALL", "C"];
    let tries: [(&[&str], [&str; 2]); 9] = [
        (&["--budget", "tokens=1000M"], nothing),
        (&["-c", "budget.session.tokens=1000M"], nothing),
        (&["-c", "budget.session.time=1000h"], nothing),
        (&["-c", "budget.session.turns=100000", "--budget", "turns=90000"], nothing),
        (&["-c", "budget.session.money=1000usd"], nothing),
        (&["-c", "budget.task.money=1000usd"], nothing),
        (&["-c", "budget.day.money=1000usd"], nothing),
        (&[], ["LONGHAUL_BUDGET_SESSION_TOKENS", "1000M"]),
        (&[], ["LONGHAUL_BUDGET_DAY_MONEY", "1000usd"]),
    ];
    for (flags, variable) in tries {
        let refused = run_as_agent(&home, flags, variable);
        assert_eq!(refused.code, Some(3), "{flags:?} {variable:?}: {refused}");
        assert!(refused.stderr.contains("E0303"), "{refused}");
    }
    assert!(home.longhaul(&["session", "list", "--all", "--json"]).rows().is_empty(), "nothing was started");
    let less =
        run_as_agent(&home, &["-c", "budget.session.turns=20"], ["LONGHAUL_BUDGET_SESSION_TOKENS", "90k"]);
    assert_eq!(one(&less.succeeded())["budget"]["turns"], 20);
}

#[test]
fn a_budget_that_is_none_starts_nothing() {
    let home = prepared(THIRSTY);
    for (budget, says) in
        [("tokens=none", "give a large one, such as `1000M`"), ("sugar=3", "no cap on `sugar`")]
    {
        let refused = run(&home, &["--budget", budget]);
        assert_eq!(refused.code, Some(2), "{refused}");
        assert!(refused.stderr.contains(says), "{refused}");
    }
    let home = prepared(&THIRSTY.replace("cassette: 1", "cassette: 1\nprice: unknown"));
    let refused = run(&home, &[]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("say what it costs"), "{refused}");
    assert!(home.longhaul(&["session", "list", "--all", "--json"]).rows().is_empty());
}

#[test]
fn money_is_counted_and_capped_by_the_settings_too() {
    let home =
        prepared(&THIRSTY.replace("cassette: 1", "cassette: 1\nprice: { input: 1000usd, output: 0usd }"));
    let parked = one(&run(&home, &["-c", "budget.day.money=1usd"]));
    assert_eq!(parked["outcome"]["reason"], "budget_day_money", "{parked:#}");
    assert_eq!(parked["used"]["money_micros"], 600_000);
    let id = parked["sessionId"].as_str().unwrap();
    for little in [
        &["session", "resume", id, "--budget", "money=0.6usd"][..],
        &["-c", "budget.day.money=0.6usd", "session", "resume", id, "--budget", "same"],
    ] {
        let refused = home.longhaul(little);
        assert_eq!(refused.code, Some(3), "{refused}");
        assert!(refused.stderr.contains("not enough to go on with"), "{refused}");
    }
    let story = home.longhaul(&["session", "show", id]).succeeded().stdout;
    assert!(!story.contains("had it go on"), "nothing was started for it: {story}");
}

#[test]
fn a_command_is_ended_when_the_time_is_over() {
    let home = prepared(
        "cassette: 1\nturns:\n  - tools: [ { bash: { command: 'echo began; sleep 100', expect_exit: 0 } } ]\n  - say: never\n",
    );
    let parked = one(&run(&home, &["--budget", "time=3s"]));
    assert_eq!(parked["outcome"]["reason"], "budget_time", "{parked:#}");
    let story = home.longhaul(&["session", "show", parked["sessionId"].as_str().unwrap()]).succeeded().stdout;
    assert!(
        story.contains("bash stopped") && story.contains("the time of the session is used up"),
        "{story}"
    );
}

#[test]
fn the_caps_are_those_that_it_was_started_with_whoever_goes_on_with_it() {
    let home = prepared(
        "cassette: 1\nturns:\n  - tools: [ { bash: { command: 'touch began; until test -e go; do sleep 0.05; done' } } ]\n  - say: a\n  - say: b\n",
    );
    let arguments = arguments(&home);
    let arguments = [&words(&arguments)[..], &["--budget", "turns=2"]].concat();
    let mut running = home.run(&arguments).inside("repo").start();
    wait_until("the command began", || began(&home));
    assert_eq!(kill_runners(&home), 1);
    fs::write(worktree(&home).join("go"), "").unwrap();
    running.wait().unwrap();
    assert_eq!(session(&home)["outcome"]["reason"], "budget_turns");
    assert_eq!(session(&home)["used"]["turns"], 2);
}

fn began(home: &Home) -> bool {
    worktree_has(home, "began")
}

#[test]
fn could_not_did_not_and_failed_are_told_apart() {
    for (script, kind, reason) in [
        ("  - { say: a }\n  - { say: b }\n  - { say: c }\n", "failed", "stuck"),
        ("  - { fault: { error: auth } }\n", "could_not", "auth"),
        ("  - { fault: { error: usage_limit } }\n", "parked", "usage_limit"),
        ("  - { match: { step: nowhere }, say: a }\n", "failed", "cassette"),
    ] {
        let home = prepared(&format!("cassette: 1\nturns:\n{script}"));
        let outcome = run(&home, &[]);
        assert_eq!(outcome.code, Some(3), "{outcome}");
        let shown = one(&outcome);
        assert_eq!((&shown["outcome"]["kind"], &shown["outcome"]["reason"]), (&json!(kind), &json!(reason)));
        assert_eq!(session(&home)["outcome"], shown["outcome"], "the list says the same");
    }
}

#[test]
fn empty_work_is_said_to_be_empty() {
    let nothing = THIRSTY.replace("write: { path: seen.txt, content: seen }", "read: { path: login.sh }");
    let home = prepared(&nothing);
    let outcome = run(&home, &[]).succeeded();
    assert_eq!(one(&outcome)["outcome"], json!({ "kind": "completed", "reason": "nothing_changed" }));
    let home = prepared(THIRSTY);
    let outcome = run(&home, &[]).succeeded();
    assert_eq!(one(&outcome)["outcome"], json!({ "kind": "completed" }));
    assert_eq!(one(&outcome)["changedFiles"], json!(["seen.txt"]));
    let home = prepared(&nothing);
    let arguments = arguments(&home);
    let mut arguments = words(&arguments);
    arguments.retain(|word| *word != "--json");
    let told = home.run(&arguments).inside("repo").go().succeeded().stderr;
    assert!(told.contains("\ncompleted, and nothing was changed\nused 4 of 200 turns"), "{told}");
    assert!(told.contains("\n0 changed files in "), "{told}");
}

#[test]
fn what_a_session_does_is_told_while_it_does_it_and_when_its_runner_is_gone() {
    let home = prepared(
        "cassette: 1\nturns:\n  - tools: [ { bash: { command: 'touch began; sleep 100' } } ]\n  - say: a\n",
    );
    let under_way = one(&run(&home, &["--detach"]).succeeded());
    wait_until("the command began", || began(&home));
    assert_eq!(session(&home)["status"], "tool(bash)");
    let id = under_way["sessionId"].as_str().unwrap();
    let story = home.longhaul(&["session", "show", id]).succeeded().stdout;
    assert!(story.contains("`rehearsal` does `look`: tool(bash)"), "{story}");
    assert_eq!(kill_runners(&home), 1);
    wait_until("its death is seen", || session(&home)["status"] == "lost");
    home.longhaul(&["stop", id]).succeeded();
    assert_eq!(session(&home).get("status"), None, "what has ended does nothing");
}
