//! Tasks: one unit of work, its attempts, its tree.

use std::fs;

use longhaul_runtime::forge::{Forge as _, LocalForge, NewPull, Readiness};
use serde_json::{Value, json};

use crate::run::{arguments, prepared, words, worktree_has};
use crate::running::wait_until;
use crate::support::{Home, Outcome, git};
use crate::walking::{TWO_STEPS, advance, handle, id, one, start, workflow};

const QUICK: &str = "
cassette: 1
price: { input: 1usd, output: 1usd }
turns:
  - { match: { step: look }, usage: { input: 2000, output: 100 }, complete: { notes: Looked. } }
  - { match: { step: change }, complete: { notes: Changed. } }
  - { match: { step: check }, complete: { notes: Checked. } }
";

/// Looks, and never comes to an end of it.
const ENDLESS: &str =
    "cassette: 1\nturns:\n  - tools: [ { bash: { command: 'touch began; sleep 300', seconds: 1000 } } ]\n";

/// Breaks with its script at the second step.
const SHORT: &str = "cassette: 1\nturns:\n  - { match: { step: look }, complete: { notes: Looked. } }\n";

fn run(home: &Home, more: &[&str]) -> Outcome {
    let arguments = arguments(home);
    home.run(&[&words(&arguments), more].concat()).inside("repo").go()
}

/// `longhaul run GOAL` with the cassette of the home.
fn run_goal(home: &Home, more: &[&str]) -> Outcome {
    let cassette = home.join("run.yml").display().to_string();
    let words = ["-c", "pipeline.default=team.fix", "run", "fix it well", "--cassette", &cassette, "--json"];
    home.run(&[&words[..], more].concat()).inside("repo").go()
}

fn tasks(home: &Home) -> Vec<Value> {
    home.longhaul(&["task", "list", "--all", "--json"]).succeeded().rows()
}

fn task(home: &Home) -> Value {
    one(&home.longhaul(&["task", "list", "--all", "--json"]).succeeded())
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value:#}"))
}

#[test]
fn a_session_that_somebody_starts_is_a_task_and_both_say_so() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let view = start(&home, "team.two", "the login");
    let task = task(&home);
    assert_eq!(word(&task, "session"), id(&view));
    assert_eq!(
        ["state", "source", "pipeline", "priority", "goal"].map(|key| word(&task, key)),
        ["open", "cli", "team.two", "normal", "the login"]
    );
    assert_eq!((&task["attempts"], &task["sessions"]), (&json!(1), &json!(1)));
    let session = one(&home.longhaul(&["session", "list", "--json"]));
    assert_eq!(session["task"], task["id"]);
    let shown = home.longhaul(&["session", "show", id(&view)]).succeeded().stdout;
    assert!(shown.contains(&format!("of task {}", word(&task, "id"))), "{shown}");
    let shown = home.longhaul(&["task", "show", id(&view)]).succeeded().stdout;
    assert!(shown.contains(&format!("Task {}: idle at `look`", word(&task, "id"))), "{shown}");
    // Both were opened in one append, and both verify.
    let verified = home.longhaul(&["log", "verify", "--json"]).succeeded();
    let is_task = |row: &Value| word(row, "stream") == format!("task/{}", word(&task, "id"));
    assert_eq!(verified.rows().iter().filter(|row| is_task(row)).count(), 1, "{verified}");
}

#[test]
fn a_session_from_before_there_were_tasks_is_listed_without_one() {
    let home = Home::new();
    let stream = home.session(["old work", "p", "a", "b"]);
    let session = one(&home.longhaul(&["session", "list", "--all", "--json"]).succeeded());
    assert_eq!((word(&session, "goal"), session.get("task")), ("old work", None));
    assert_eq!(tasks(&home), Vec::<Value>::new());
    let id = stream.strip_prefix("session/").unwrap();
    let refused = home.longhaul(&["task", "show", id]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("from before there were tasks"), "{refused}");
}

#[test]
fn a_gate_makes_a_task_wait_and_its_end_is_that_of_its_session() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let view = start(&home, "team.two", "the login");
    let view = advance(&home, &view, &["--notes", "Large.", "--vars", r#"{"size": "large"}"#]);
    let waits = task(&home);
    assert_eq!((word(&waits, "state"), word(&waits["outcome"], "reason")), ("waits", "gate"));
    let refused = home.longhaul(&["task", "retry", word(&waits, "id")]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("waits (parked (gate)"), "{refused}");
    home.longhaul(&["session", "cancel", id(&view), "--reason", "enough"]).succeeded();
    let over = task(&home);
    assert_eq!((word(&over, "state"), word(&over["outcome"], "because")), ("cancelled", "enough"));
    let none = home.longhaul(&["task", "list"]);
    assert!(none.stderr.contains("no task is open"), "{none}");
}

#[test]
fn a_goal_follows_the_pipeline_of_the_settings_and_ends_after_the_phase_that_is_named() {
    let home = prepared(QUICK);
    let whole = run_goal(&home, &[]).succeeded();
    assert_eq!(one(&whole)["outcome"]["kind"], "completed", "{whole}");
    let done = task(&home);
    assert_eq!(
        ["state", "pipeline", "goal"].map(|key| word(&done, key)),
        ["completed", "team.fix", "fix it well"]
    );
    assert_eq!(done["money_micros"], 2100, "{done:#}");
    let refused = home.run(&["task", "retry", word(&done, "id")]).inside("repo").go();
    assert!(refused.code == Some(3) && refused.stderr.contains("is completed"), "{refused}");
    let refused = home.longhaul(&["task", "cancel", word(&done, "id")]);
    assert!(
        refused.code == Some(3) && refused.stderr.contains("is completed, so there is nothing to end"),
        "{refused}"
    );
    fs::write(home.join("run.yml"), SHORT).unwrap();
    let early = run_goal(&home, &["--pipeline", "team.fix", "--until", "look"]).succeeded();
    assert_eq!(one(&early)["progress"]["total"], 1, "{early}");
    let wrong = run_goal(&home, &["--until", "lok"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
    assert!(wrong.stderr.contains("has no phase `lok`; it has `look`, `change`, `check`"), "{wrong}");
    let unknown = run_goal(&home, &["--pipeline", "team.nope"]);
    assert!(unknown.code != Some(0) && unknown.stderr.contains("team.nope"), "{unknown}");
    assert_eq!(tasks(&home).len(), 2, "what does not start leaves no task behind");
}

#[test]
fn either_a_goal_or_a_workflow_is_named() {
    let home = prepared(QUICK);
    for words in [
        &["run"][..],
        &["run", "fix it", "--workflow", "team.fix", "--goal", "x"],
        &["run", "--workflow", "team.fix"],
        &["run", "--goal", "fix it"],
    ] {
        let refused = home.run(words).inside("repo").go();
        assert_eq!(refused.code, Some(2), "{words:?} {refused}");
    }
}

#[test]
fn a_task_is_cancelled_with_all_that_runs_and_tried_again_afterwards() {
    let home = prepared(ENDLESS);
    run(&home, &["--detach"]).succeeded();
    wait_until("the command began", || worktree_has(&home, "began"));
    let open = task(&home);
    assert_eq!((word(&open, "state"), word(&open, "status")), ("open", "tool(bash)"));
    let id = word(&open, "id").to_owned();
    let refused = home.run(&["task", "retry", &id]).inside("repo").go();
    assert!(
        refused.code == Some(3) && refused.stderr.contains("is open, so it is not tried again"),
        "{refused}"
    );
    let agent = home.run(&["task", "cancel", &id]).variable("LONGHAUL_SESSION", word(&open, "session")).go();
    assert_eq!(agent.code, Some(3), "an agent does not end tasks: {agent}");
    let cancelled =
        home.longhaul(&["task", "cancel", &id, "--now", "--because", "done by hand", "--json"]).succeeded();
    assert_eq!(word(&one(&cancelled), "state"), "cancelled", "{cancelled}");
    let elsewhere = home.longhaul(&["task", "retry", &id]);
    assert!(elsewhere.stderr.contains("belongs to another repository"), "{elsewhere}");
    let again = home.run(&["task", "retry", &id, "--because", "once more", "--json"]).inside("repo").go();
    let again = one(&again.succeeded());
    assert_eq!((&again["attempts"], word(&again, "state"), &again["id"]), (&json!(2), "open", &json!(id)));
    assert_ne!(again["session"], open["session"]);
    let stopped = home.longhaul(&["stop", &id, "--now", "--json"]).succeeded();
    assert_eq!(word(&one(&stopped), "state"), "cancelled", "{stopped}");
    let sessions = home.longhaul(&["session", "list", "--all", "--json"]).rows();
    assert!(
        sessions.iter().all(|row| row["state"] == "cancelled" && row["task"] == json!(id)),
        "{sessions:?}"
    );
    let why = home.longhaul(&["task", "show", &id, "--why"]).succeeded().stdout;
    for told in ["cancelled by", ": done by hand", ": once more", "wants it stopped, at once"] {
        assert!(why.contains(told), "{told} is not in {why}");
    }
}

#[test]
fn a_task_whose_session_failed_is_tried_again_and_the_old_session_is_ended() {
    let home = prepared(SHORT);
    let failed = run(&home, &[]);
    assert_eq!(failed.code, Some(3), "{failed}");
    let before = task(&home);
    assert_eq!(word(&before, "state"), "failed", "{before:#}");
    let again = home.run(&["task", "retry", word(&before, "id"), "--json"]).inside("repo").go();
    let again = one(&again.succeeded());
    let session = word(&again, "session").to_owned();
    wait_until("the second attempt fails too", || task(&home)["state"] == "failed");
    let rows = home.longhaul(&["session", "list", "--all", "--json"]).rows();
    let first = rows.iter().find(|row| row["id"] == before["session"]).unwrap();
    assert_eq!((word(first, "state"), word(first, "detail")), ("cancelled", "another attempt is made"));
    assert_eq!(task(&home)["session"], json!(session));
}

#[test]
fn what_is_set_stays_on_record_with_its_because() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    start(&home, "team.two", "the login");
    let other = start(&home, "team.two", "the logout");
    let id = word(&tasks(&home)[0], "id").to_owned();
    let urgent = ["task", "set", &id, "priority=urgent", "deadline=2d", "--because", "a customer waits"];
    let set = home.longhaul(&[&urgent[..], &["--json"]].concat()).succeeded();
    assert_eq!(word(&one(&set), "priority"), "urgent");
    assert!(one(&set)["deadline"].is_string(), "{set}");
    let same = home.longhaul(&["task", "set", &id, "priority=urgent"]).succeeded();
    assert!(same.stderr.contains("it was so already"), "{same}");
    let wrong = home.longhaul(&["task", "set", &id, "priority=low", "deadline=soon"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
    let listed = tasks(&home);
    assert_eq!((word(&listed[0], "id"), word(&listed[0], "priority")), (id.as_str(), "urgent"), "{listed:?}");
    let under = home.run(&urgent).variable("LONGHAUL_SESSION", crate::walking::id(&other)).go();
    assert_eq!(under.code, Some(3), "an agent does not say what is urgent: {under}");
    let shown = one(&home.longhaul(&["task", "show", &id, "--why", "--json"]).succeeded());
    let told = shown["decisions"].to_string();
    assert!(told.contains("set priority to \\\"urgent\\\": a customer waits"), "{told}");
}

#[test]
fn a_task_that_used_its_money_up_goes_on_when_it_gets_more() {
    let home = prepared(&QUICK.replace("input: 1usd", "input: 1000usd"));
    let parked = run(&home, &["--budget", "money=100usd"]);
    assert_eq!(one(&parked)["outcome"]["kind"], "completed", "{parked}");
    let done = task(&home);
    assert_eq!((&done["money_micros"], &done["budget_micros"]), (&json!(2_000_100), &json!(100_000_000)));
    let cassette = home.join("run.yml").display().to_string();
    let little = ["-c", "budget.task.money=1usd", "run", "--workflow", "team.fix", "--goal", "again"];
    let little = [&little[..], &["--cassette", &cassette, "--json"]].concat();
    let parked = home.run(&little).inside("repo").go();
    assert_eq!(one(&parked)["outcome"]["reason"], "budget_task_money", "{parked}");
    let open = one(&home.longhaul(&["task", "list", "--json"]));
    assert_eq!(word(&open, "state"), "waits");
    let id = word(&open, "id");
    let wrong = home.longhaul(&["task", "budget", id, "tokens=5k"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
    home.longhaul(&["task", "budget", id, "money=30usd"]).succeeded();
    wait_until("it goes on by itself", || {
        tasks(&home).iter().any(|task| task["id"] == id && task["state"] == "completed")
    });
    let shown = home.longhaul(&["task", "budget", id]).succeeded().stdout;
    assert!(shown.contains("2.000100usd"), "{shown}");
}

#[test]
fn a_task_goes_with_its_session_to_another_machine() {
    let (home, other) = (Home::new(), Home::new());
    workflow(&home, "team.two.yml", TWO_STEPS);
    let view = start(&home, "team.two", "the login");
    let task = task(&home);
    home.longhaul(&["task", "set", word(&task, "id"), "priority=high"]).succeeded();
    let export = home.longhaul(&["session", "export", id(&view)]).succeeded().stdout;
    other.run(&["session", "import", "-"]).stdin(export.clone()).go().succeeded();
    let carried = one(&other.longhaul(&["task", "list", "--json"]));
    assert_eq!((&carried["id"], word(&carried, "priority")), (&task["id"], "high"));
    assert_eq!(word(&carried, "session"), id(&view));
    other
        .longhaul(&[
            "session",
            "advance",
            handle(&view),
            "--notes",
            "Small.",
            "--vars",
            r#"{"size": "small"}"#,
        ])
        .succeeded();
    assert_eq!(word(&one(&other.longhaul(&["task", "list", "--json"])), "step"), "tell");
    other.run(&["session", "import", "-"]).stdin(export).go().succeeded();
}

#[test]
fn an_id_may_be_shortened_and_what_is_unknown_is_said() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    let unknown = home.longhaul(&["task", "show", "t-0000"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
    start(&home, "team.two", "one");
    let id = word(&task(&home), "id").to_owned();
    let shown = home.longhaul(&["task", "show", &id[..6], "--json"]).succeeded();
    assert_eq!(one(&shown)["task"]["id"], json!(id));
    start(&home, "team.two", "two");
    let both = home.longhaul(&["task", "show", "t-"]);
    assert!(both.code == Some(2) && both.stderr.contains("several tasks"), "{both}");
}

#[test]
fn a_task_without_a_proof_says_so() {
    let home = Home::new();
    workflow(&home, "team.two.yml", TWO_STEPS);
    start(&home, "team.two", "the login");
    let none = home.longhaul(&["proof", "show", word(&task(&home), "id")]);
    assert!(none.code == Some(3) && none.stderr.contains("has no proof yet"), "{none}");
}

const TOP: &str = "longhaul: 1\nid: team.top\nname: Top\nversion: 1.0.0\nsteps:\n\
    \x20 - { id: hand, spawn: { workflow: team.leaf, goal: below } }\n";
const LEAF: &str = "longhaul: 1\nid: team.leaf\nname: Leaf\nversion: 1.0.0\nsteps:\n\
    \x20 - { id: do, prompt: Do it. }\n\
    \x20 - { id: sure, gate: { by: person, question: Really? } }\n";

#[test]
fn a_task_waits_when_a_session_below_its_root_does_and_whoever_watches_sees_both() {
    let home =
        prepared("cassette: 1\nturns:\n  - { match: { step: do }, complete: { notes: Done below. } }\n");
    workflow(&home, "team.top.yml", TOP);
    workflow(&home, "team.leaf.yml", LEAF);
    let cassette = home.join("run.yml").display().to_string();
    let words = ["run", "lead it", "--pipeline", "team.top", "--cassette", &cassette, "--watch"];
    let watched = home.run(&words).inside("repo").go();
    assert!(watched.stderr.contains("\n  team.leaf: "), "{watched}");
    let waits = task(&home);
    let sessions = home.longhaul(&["session", "list", "--json"]).rows();
    let leaf = sessions.iter().find(|row| row["workflow"] == "team.leaf").unwrap();
    assert_eq!((word(&waits, "state"), word(&waits, "waits_for")), ("waits", word(leaf, "id")), "{waits:#}");
    assert_eq!((&leaf["task"], word(&waits["outcome"], "reason")), (&waits["id"], "gate"));
    let shown = home.longhaul(&["task", "show", word(&waits, "id"), "--why"]).succeeded().stdout;
    let gate = format!("team.leaf ({}): gate {}", word(leaf, "id"), word(leaf, "id"));
    assert!(shown.contains(&gate) && shown.contains(&format!("waits for {}", word(leaf, "id"))), "{shown}");
    let root = word(&waits, "session");
    let awaited = home.longhaul(&["await", root, "--json"]);
    assert_eq!((awaited.code, &one(&awaited)["outcome"]["reason"]), (Some(3), &json!("gate")), "{awaited}");
    home.longhaul(&["task", "cancel", word(&waits, "id"), "--now"]).succeeded();
    let rows = home.longhaul(&["session", "list", "--all", "--json"]).rows();
    assert!(rows.iter().all(|row| row["state"] == "cancelled"), "{rows:?}");
}

#[test]
fn a_ticket_is_done_by_one_task_and_not_while_a_pull_request_is_open_for_it() {
    let home = prepared(ENDLESS);
    let repository = home.join("repo");
    home.longhaul(&["forge", "init", "forge.git"]).succeeded();
    let forge = home.join("forge.git").display().to_string();
    let cassette = home.join("run.yml").display().to_string();
    let words = ["-c", "pipeline.default=team.fix", "run", "--cassette", &cassette, "--json", "--issue"];
    let run = |number: &str| home.run(&[&words[..], &[number, "--detach"]].concat()).inside("repo").go();
    let nowhere = run("1");
    assert!(nowhere.code != Some(0) && nowhere.stderr.contains("no remote"), "{nowhere}");
    git(&repository, &["remote", "add", "origin", &forge]);
    git(&repository, &["push", "--quiet", "origin", "main"]);
    let new = ["forge", "issue", "new", "The login fails", "--body", "Always.", "--forge", &forge];
    home.longhaul(&new).succeeded();
    run("1").succeeded();
    let open = task(&home);
    assert_eq!(
        word(&open, "source"),
        format!("forge:{forge}#1").replace(home.path.to_str().unwrap(), "[HOME]")
    );
    assert_eq!(word(&open, "goal"), "The login fails\n\nAlways.");
    let shown = home.longhaul(&["session", "show", word(&open, "session")]).succeeded().stdout;
    assert!(shown.contains("comes from outside"), "{shown}");
    let twice = run("1");
    assert_eq!(twice.code, Some(3), "{twice}");
    assert!(twice.stderr.contains(&format!("is being done by task {}", word(&open, "id"))), "{twice}");
    home.longhaul(&["task", "cancel", word(&open, "id"), "--now"]).succeeded();
    let local = LocalForge::find(&forge, "ada").unwrap();
    git(&repository, &["push", "--quiet", "origin", "main:mended"]);
    let (title, body) = ("Mend it".to_owned(), "Fixes #1".to_owned());
    let (head, base, readiness) = ("mended".to_owned(), "main".to_owned(), Readiness::Ready);
    local.open_pull(&NewPull { title, body, head, base, readiness }).unwrap();
    let pull = run("1");
    assert!(pull.code == Some(3) && pull.stderr.contains("is open for ticket #1"), "{pull}");
    home.longhaul(&["forge", "issue", "new", "Another", "--forge", &forge]).succeeded();
    let number = local.issues(None).unwrap().iter().map(|issue| issue.number).max().unwrap();
    local.close_issue(number).unwrap();
    let closed = run(&number.to_string());
    assert!(
        closed.code == Some(3) && closed.stderr.contains("is closed, so nothing was started"),
        "{closed}"
    );
    let missing = run("99");
    assert!(missing.code == Some(3) && missing.stderr.contains("E0920"), "{missing}");
    assert_eq!(tasks(&home).len(), 1);
}
