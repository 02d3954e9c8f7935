//! Sessions that an agent of ours drives, seen from the shell: told to, watched, written down, played again.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::running::wait_until;
use crate::support::{Home, Outcome, git, shows};
use crate::terminal::Terminal;
use crate::walking::{one, start, workflow};

const WORKFLOW: &str = "longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\nsteps:\n\
    \x20 - { id: look, prompt: Look. }\n  - { id: change, prompt: Change it. }\n";

const SCRIPT: &str = "
cassette: 1
turns:
  - match: { step: look }
    say: |
      I look.
      More of it.
    usage: { input: 20, output: 3 }
    tools: [ { read: { path: login.sh } }, { grep: { pattern: gt } } ]
    parallel: true
  - { match: { step: look }, complete: { notes: 'It is: inverted.' } }
  - { match: { step: change }, fault: { kind: cut_stream } }
  - match: { step: change }
    tools:
      - edit: { path: login.sh, old: '-gt', new: '-ge' }
      - bash: { command: 'sh login.sh; echo made > made.txt', expect_exit: 0 }
      - bash: { command: 'exit 7' }
  - { match: { step: change }, complete: { notes: Fixed. } }
";

fn prepared(script: &str) -> Home {
    let home = Home::new();
    let repository = home.repository("repo");
    fs::write(repository.join("login.sh"), "test 1 -gt 1\n").unwrap();
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "-m", "begin"]);
    workflow(&home, "team.fix.yml", WORKFLOW);
    fs::write(home.join("run.yml"), script).unwrap();
    home
}

fn run(home: &Home, cassette: &str, more: &[&str]) -> Outcome {
    let cassette = home.join(cassette).display().to_string();
    let mut arguments = vec!["run", "--workflow", "team.fix", "--goal", "fix it", "--cassette", &cassette];
    arguments.extend(more);
    home.run(&arguments).inside("repo").go()
}

/// Runs the script and gives the id of its session.
fn ran(home: &Home) -> String {
    let outcome = run(home, "run.yml", &["--json"]);
    one(&outcome)["sessionId"].as_str().unwrap().to_owned()
}

fn story(home: &Home, id: &str) -> Vec<Value> {
    let shown = home.longhaul(&["session", "show", id, "--json"]).succeeded();
    one(&shown)["story"].as_array().unwrap().clone()
}

fn last_tree(home: &Home, id: &str) -> String {
    let rows = home.longhaul(&["log", "show", &format!("session/{id}"), "--json"]).succeeded().rows();
    let mut trees = rows.iter().filter_map(|row| row["event"]["tree"].as_str());
    trees.next_back().unwrap().to_owned()
}

#[test]
fn what_was_recorded_plays_the_same_turns_and_comes_to_the_same_files() {
    let home = prepared(SCRIPT);
    let id = ran(&home);
    let recorded = home.longhaul(&["session", "record", &id]).succeeded();
    shows!(recorded, @r#"
        exit 0
        --- stdout
        cassette: 1
        window: 200000
        turns:
          - match: { workflow: "team.fix", step: "look", visit: 1 }
            say: "I look.\nMore of it.\n"
            usage: { input: 20, output: 3 }
            tools:
              - "read": { "path": "login.sh" }
              - "grep": { "pattern": "gt" }
            parallel: true
          - match: { workflow: "team.fix", step: "look", visit: 1 }
            complete: { "notes": "It is: inverted." }
          - match: { workflow: "team.fix", step: "change", visit: 1 }
            fault: { kind: cut_stream }
          - match: { workflow: "team.fix", step: "change", visit: 1 }
            tools:
              - "edit": { "path": "login.sh", "old": "-gt", "new": "-ge" }
              - "bash": { "command": "sh login.sh; echo made > made.txt", "expect_exit": 0 }
              - "bash": { "command": "exit 7", "expect_exit": 7 }
          - match: { workflow: "team.fix", step: "change", visit: 1 }
            complete: { "notes": "Fixed." }
        otherwise: fail
        --- stderr
        5 turns
    "#);
    fs::write(home.join("again.yml"), &recorded.stdout).unwrap();
    let again = run(&home, "again.yml", &["--json"]).succeeded();
    let second = one(&again)["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(last_tree(&home, &id), last_tree(&home, &second));
    let twice = home.longhaul(&["session", "record", &second]).succeeded();
    assert_eq!(twice.stdout, recorded.stdout, "what plays it does the same");
    let whole = one(&home.longhaul(&["session", "record", &id, "--json"]).succeeded());
    assert_eq!(whole["cassette"], recorded.stdout);
}

#[test]
fn a_record_holds_no_secret() {
    let home = prepared(
        "cassette: 1\nturns:\n  - { tools: [ { write: { path: key, content: 'sing-little-bird-sing' } } ] }\n  - { complete: { notes: A. } }\n  - { complete: { notes: B. } }\n",
    );
    home.run(&["secret", "set", "FORGE"]).stdin("sing-little-bird-sing").go().succeeded();
    let id = ran(&home);
    let recorded = home.longhaul(&["session", "record", &id]).succeeded().stdout;
    assert!(recorded.contains("[secret:FORGE]") && !recorded.contains("little-bird"), "{recorded}");
}

#[test]
fn what_a_rewind_left_behind_is_not_in_the_record() {
    let home = prepared(
        "cassette: 1\nturns:\n  - { match: { step: look }, complete: { notes: Seen. } }\n  - { match: { step: change }, tools: [ { write: { path: a.txt, content: a } } ] }\n  - { match: { step: change }, complete: { notes: First. } }\n  - { match: { step: change }, tools: [ { write: { path: b.txt, content: b } } ], optional: true }\n  - { match: { step: change }, complete: { notes: Second. }, optional: true }\n",
    );
    let id = ran(&home);
    home.longhaul(&["session", "rewind", &id, "--to", "change", "--reason", "once more"]).succeeded();
    home.longhaul(&["session", "resume", &id]);
    let is_second = |entry: &Value| entry["type"] == "finished" && entry["notes"] == "Second.";
    wait_until("it is done again", || story(&home, &id).iter().any(is_second));
    let recorded = home.longhaul(&["session", "record", &id]).succeeded().stdout;
    let places = recorded.matches("step: \"change\", visit: 1 }").count();
    assert_eq!(places, 2, "the step is reached once on the way that counts: {recorded}");
    assert!(recorded.contains("b.txt") && recorded.contains("Second."), "{recorded}");
    assert!(!recorded.contains("a.txt") && !recorded.contains("First."), "{recorded}");
}

#[test]
fn a_replay_says_whether_it_came_to_the_same_files() {
    let home = prepared(SCRIPT);
    let id = ran(&home);
    // The base has moved on meanwhile; a replay starts where the first run did.
    fs::write(home.join("repo/login.sh"), "something else\n").unwrap();
    git(&home.join("repo"), &["commit", "--quiet", "--all", "-m", "moved"]);
    let same = home.run(&["session", "replay", &id, "--json"]).go().succeeded();
    let same = one(&same);
    assert_eq!((&same["same"], &same["complete"]), (&Value::Bool(true), &Value::Bool(true)), "{same}");
    assert_ne!(same["replay"], same["sessionId"]);
    assert_eq!(same["originalTree"], last_tree(&home, &id));
    let words = home.longhaul(&["session", "replay", &id]).succeeded();
    assert!(words.stdout.starts_with("the same: both came to tree "), "{words}");

    let other = prepared(
        "cassette: 1\nturns:\n  - { tools: [ { bash: { command: 'date +%N > when.txt; echo a > same.txt' } } ] }\n  - { complete: { notes: A. } }\n  - { complete: { notes: B. } }\n",
    );
    let id = ran(&other);
    let differs = other.longhaul(&["session", "replay", &id]);
    assert_eq!(differs.code, Some(3), "{differs}");
    assert!(differs.stdout.contains("1 other file in the replay\n  modified when.txt\n"), "{differs}");
}

#[test]
fn an_agent_replays_nothing() {
    let home = prepared(SCRIPT);
    let id = ran(&home);
    let refused = home.run(&["session", "replay", &id]).variable("LONGHAUL_SESSION", "s-0123456789abc").go();
    assert!(refused.code == Some(3) && refused.stderr.contains("E0303"), "{refused}");
    assert_eq!(home.longhaul(&["session", "list", "--all", "--json"]).rows().len(), 1, "nothing was started");
}

#[test]
fn what_nobody_of_ours_drove_cannot_be_recorded_replayed_or_steered() {
    let home = prepared(SCRIPT);
    let id = start(&home, "team.fix", "by hand")["sessionId"].as_str().unwrap().to_owned();
    for verb in
        [&["session", "record", &id][..], &["session", "replay", &id], &["session", "steer", &id, "go"]]
    {
        let refused = home.longhaul(verb);
        assert_eq!(refused.code, Some(3), "{refused}");
        assert!(refused.stderr.contains("E0220"), "{refused}");
    }
}

/// Three turns that only talk park a session.
fn talkative() -> String {
    let talk = "  - { match: { step: look }, say: Hm. }\n".repeat(3);
    format!(
        "cassette: 1\nturns:\n{talk}  - {{ match: {{ step: look }}, complete: {{ notes: Now. }} }}\n  - {{ match: {{ step: change }}, complete: {{ notes: Done. }} }}\n"
    )
}

#[test]
fn a_session_that_is_stuck_goes_on_when_a_person_says_how() {
    let home = prepared(&talkative());
    let parked = run(&home, "run.yml", &["--json"]);
    assert_eq!(parked.code, Some(3), "{parked}");
    let id = one(&parked)["sessionId"].as_str().unwrap().to_owned();
    let agent = home
        .run(&["session", "steer", &id, "hand it in"])
        .variable("LONGHAUL_SESSION", "s-0123456789abc")
        .go();
    assert!(agent.code == Some(3) && agent.stderr.contains("E0303"), "{agent}");
    for (words, code) in [(" \n".to_owned(), 2), ("a".repeat(20_000), 2)] {
        assert_eq!(home.run(&["session", "steer", &id, "-"]).stdin(words).go().code, Some(code));
    }
    home.run(&["session", "steer", &id, "-"]).stdin("hand it in\n").go().succeeded();
    wait_until("it is complete", || story(&home, &id).iter().any(|entry| entry["type"] == "closed"));
    let told: Vec<Value> =
        story(&home, &id).into_iter().filter(|entry| entry["act"]["did"] == "steered").collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["act"]["words"], "hand it in");
    assert_eq!(told[0]["step"], "look");
    let closed = home.longhaul(&["session", "steer", &id, "more"]);
    assert!(closed.code == Some(3) && closed.stderr.contains("E0207"), "{closed}");
}

fn worktree(home: &Home, id: &str) -> PathBuf {
    let made = story(home, id).into_iter().find(|entry| entry["type"] == "checkout_made").unwrap();
    PathBuf::from(made["path"].as_str().unwrap().replace("[HOME]", home.path.to_str().unwrap()))
}

#[test]
fn a_live_session_is_told_of_and_steered_while_it_runs() {
    let home = prepared(WAITING);
    let under_way = run(&home, "run.yml", &["--json", "--detach"]).succeeded();
    let id = one(&under_way)["sessionId"].as_str().unwrap().to_owned();
    let has = |did: &str| story(&home, &id).iter().any(|entry| entry["act"]["did"] == did);
    wait_until("the call is made", || has("call_started"));
    let so_far = home.longhaul(&["session", "tail", &id, "--no-follow"]).succeeded().stdout;
    assert!(so_far.contains("turn 1: I wait.") && !so_far.contains("completed"), "{so_far}");
    let tail = home.run(&["session", "tail", &id]).start();
    let objects = home.run(&["session", "tail", &id, "--json"]).start();
    home.longhaul(&["session", "steer", &id, "go left"]).succeeded();
    fs::write(worktree(&home, &id).join("go"), "").unwrap();
    let tail = Outcome::of(&home.path, &tail.wait_with_output().unwrap()).succeeded().stdout;
    for told in [
        "goal: fix it",
        "step `look`: Look",
        "turn 1: I wait.",
        "  bash while [ ! -e go ]; do sleep 0.05; done: exit 0, ",
        "told the agent: go left",
        "step `look` is done: A.",
        "completed",
    ] {
        assert!(tail.contains(told), "{told} is not in {tail}");
    }
    let objects = Outcome::of(&home.path, &objects.wait_with_output().unwrap()).succeeded().rows();
    assert_eq!(objects.first().unwrap()["type"], "opened");
    let all = story(&home, &id);
    assert_eq!(objects, all[..objects.len()], "each thing once, as in the story");
}

/// A turn that waits for a file of the worktree.
const WAITING: &str = "cassette: 1\nturns:\n  - { say: I wait., usage: { input: 20, output: 3 }, tools: [ { bash: { command: 'while [ ! -e go ]; do sleep 0.05; done', expect_exit: 0 } } ] }\n  - { complete: { notes: A. } }\n  - { complete: { notes: B. } }\n";

#[test]
fn a_run_is_watched_on_a_terminal() {
    let home = prepared(WAITING);
    let cassette = home.join("run.yml").display().to_string();
    let arguments = ["run", "--watch", "--workflow", "team.fix", "--goal", "fix it", "--cassette", &cassette];
    let mut terminal = Terminal::whole_in(&home, &home.join("repo"), &arguments, &[("NO_COLOR", "1")]);
    terminal.wait_for("turn 1, bash");
    let id = one(&home.longhaul(&["session", "list", "--json"]))["id"].as_str().unwrap().to_owned();
    fs::write(worktree(&home, &id).join("go"), "").unwrap();
    let (outcome, shown) = terminal.end();
    assert_eq!(outcome.code, Some(0), "{shown}");
    for told in [
        "0 of 2 steps, 1 turn, 20 in, 3 out",
        "  look    [#---------]  turn 1, bash",
        "  change  [----------]",
    ] {
        assert!(shown.contains(told), "{told} is not in {shown}");
    }
    let (_, last) = shown.rsplit_once("2 of 2 steps, ").unwrap();
    assert!(last.contains("  look    [##########]  done, "), "the last picture stays: {last}");
    assert!(last.contains("is complete, 2 of 2 steps done"), "and what follows comes below it: {last}");
    assert!(last.contains("\n  added go\n"), "the files are listed, each on a line: {last}");
    let times = |code: &str| shown.matches(code).count();
    assert_eq!(times("\u{1b}[?25l"), times("\u{1b}[?25h"), "the cursor is back");
    let sets_colour = |code: &str| {
        code.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';').starts_with('m')
    };
    assert!(!shown.split("\u{1b}[").skip(1).any(sets_colour), "no colours were asked for");
    assert!(times("\u{1b}[") > 0, "it was drawn again in its place");
}

#[test]
fn a_run_that_is_watched_without_a_terminal_is_told_in_lines() {
    let home = prepared(SCRIPT);
    let outcome = run(&home, "run.yml", &["--watch"]).succeeded();
    for told in
        ["turn 1: I look.…  [20 in, 3 out]", "  bash exit 7: exit 7, ", "step `change` is done: Fixed."]
    {
        assert!(outcome.stderr.contains(told), "{told} is not in {outcome}");
    }
    assert!(!outcome.stderr.contains('\u{1b}'), "{outcome}");
    assert!(outcome.stdout.contains("is complete"), "{outcome}");
    let cassette = home.join("run.yml").display().to_string();
    let arguments = ["run", "--watch", "--workflow", "team.fix", "--goal", "fix it", "--cassette", &cassette];
    let dumb = Terminal::whole_in(&home, &home.join("repo"), &arguments, &[("TERM", "dumb")]).end().1;
    assert!(dumb.contains("  turn 1: I look.…  [20 in, 3 out]\n") && !dumb.contains('\u{1b}'), "{dumb}");
    let both = run(&home, "run.yml", &["--watch", "--json"]);
    assert!(both.code == Some(2) && both.stderr.contains("session tail"), "{both}");
}
