//! The inbox, `tell` and `status`: what waits for a person, and their words to it.

use std::fs;

use serde_json::{Value, json};

use crate::gate::{at_the_gate, gate_id};
use crate::run::{arguments, prepared, words, worktree};
use crate::running::wait_until;
use crate::support::{Home, Outcome, shows};
use crate::terminal::Terminal;
use crate::walking::{TWO_STEPS, id, log, one};

/// Asks, waits for a file, and goes on.
const ASKING: &str = "
cassette: 1
turns:
  - match: { step: look }
    tools:
      - ask_coordinator: { question: 'Keep the old name?', options: [keep, drop], default: keep, urgency: high }
      - bash: { command: 'touch asked; while [ ! -e go ]; do sleep 0.05; done', expect_exit: 0 }
  - { match: { step: look }, complete: { notes: Looked. } }
  - { match: { step: change }, complete: { notes: Changed. } }
  - { match: { step: check }, complete: { notes: Checked. } }
";

const QUICK: &str = "
cassette: 1
turns:
  - { match: { step: look }, complete: { notes: Looked. } }
  - { match: { step: change }, complete: { notes: Changed. } }
  - { match: { step: check }, complete: { notes: Checked. } }
";

/// Breaks with its script at the second step.
const SHORT: &str = "cassette: 1\nturns:\n  - { match: { step: look }, complete: { notes: Looked. } }\n";

fn run(home: &Home, more: &[&str]) -> Outcome {
    let arguments = arguments(home);
    home.run(&[&words(&arguments), more].concat()).inside("repo").go()
}

fn inbox(home: &Home) -> Vec<Value> {
    home.longhaul(&["inbox", "--json"]).succeeded().rows()
}

fn entry(home: &Home) -> Value {
    one(&home.longhaul(&["inbox", "list", "--json"]).succeeded())
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value:#}"))
}

fn task(home: &Home) -> Value {
    one(&home.longhaul(&["task", "list", "--all", "--json"]).succeeded())
}

/// What was said to the agent of a session, in order.
fn said(home: &Home, session: &str) -> Vec<String> {
    let shown = one(&home.longhaul(&["session", "show", session, "--json"]).succeeded());
    let story = shown["story"].as_array().unwrap();
    let steered = story.iter().filter(|entry| entry["act"]["did"] == "steered");
    steered.map(|entry| word(&entry["act"], "words").to_owned()).collect()
}

#[test]
fn where_nothing_waits_the_inbox_says_so_and_makes_nothing() {
    let home = Home::new();
    shows!(home.longhaul(&["inbox"]), @r"
        exit 0
        --- stdout
        --- stderr
        nothing waits for you
    ");
    assert!(!home.longhaul_home().exists(), "nothing was made by looking");
    let unknown = home.longhaul(&["inbox", "show", "i-nope"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("E0270"), "{unknown}");
}

#[test]
fn a_gate_is_approved_in_the_inbox_as_it_is_at_the_gate_and_by_nobody_else() {
    let home = Home::new();
    let view = at_the_gate(&home, TWO_STEPS);
    let gate = entry(&home);
    let entry_id = word(&gate, "id").to_owned();
    assert_eq!((word(&gate, "kind"), word(&gate, "session")), ("gate", id(&view)));
    let before = log(&home);
    let approve = ["inbox", "approve", entry_id.as_str()];
    // No terminal, an agent, another word, a reply, a word that settles: none of it opens anything.
    assert_eq!(Terminal::without(&home, &approve).code, Some(3));
    let agent = Terminal::start_in(&home, &home.path, &approve, &[("LONGHAUL_SESSION", "s-1")]).end().0;
    assert!(agent.code == Some(3) && agent.stderr.contains("an agent cannot do this"), "{agent}");
    let mut hasty = Terminal::start(&home, &approve);
    hasty.wait_for("Type `approve` to confirm: ");
    hasty.type_text("yes\n");
    assert_eq!(hasty.end().0.code, Some(3));
    for (arguments, told) in [
        (&["inbox", "reply", entry_id.as_str(), "approve"][..], "a gate is approved or rejected"),
        (&["inbox", "done", entry_id.as_str()], "a gate is approved, rejected, or its time ends"),
    ] {
        let refused = home.longhaul(arguments);
        assert!(refused.code == Some(3) && refused.stderr.contains(told), "{refused}");
    }
    assert_eq!(log(&home), before);
    let mut terminal = Terminal::start(&home, &["inbox", "approve", gate_id(&view), "--json"]);
    terminal.wait_for("Type `approve` to confirm: ");
    terminal.type_text("approve\n");
    let (outcome, shown) = terminal.end();
    assert!(shown.contains("Really delete it?") && shown.contains("I looked."), "{shown}");
    assert_eq!(one(&outcome.succeeded())["stepId"], "tell");
    let answered = one(&home.longhaul(&["gate", "show", gate_id(&view), "--json"]).succeeded());
    assert_eq!(answered["state"]["answered"]["channel"], "terminal");
    assert_eq!(inbox(&home), Vec::<Value>::new(), "its cause is gone");
    let gone = home.longhaul(&["inbox", "approve", &entry_id]);
    assert!(gone.code == Some(2) && gone.stderr.contains("its cause may be gone"), "{gone}");
}

#[test]
fn a_gate_is_rejected_with_its_because() {
    let home = Home::new();
    at_the_gate(&home, TWO_STEPS);
    let entry = entry(&home);
    let arguments = ["inbox", "reject", word(&entry, "task"), "--because", "far too much", "--json"];
    let mut terminal = Terminal::start(&home, &arguments);
    terminal.wait_for("Type `reject` to confirm: ");
    terminal.type_text("reject\n");
    let rejected = terminal.end().0;
    assert_eq!(rejected.code, Some(3), "the session is stopped: {rejected}");
    let reasons = one(&rejected)["blocked"]["reasons"].clone();
    assert!(reasons[0]["message"].as_str().unwrap().contains("far too much"), "{reasons:#}");
}

#[test]
fn a_question_is_answered_by_the_number_of_an_option_and_the_agent_hears_it() {
    let home = prepared(ASKING);
    let started = one(&run(&home, &["--detach"]).succeeded());
    let session = word(&started, "sessionId").to_owned();
    wait_until("the question is asked", || inbox(&home).len() == 1);
    let question = entry(&home);
    assert_eq!((word(&question, "kind"), word(&question, "urgency")), ("question", "high"));
    assert_eq!((&question["options"], word(&question, "default")), (&json!(["keep", "drop"]), "keep"));
    let shown = home.longhaul(&["inbox", "show", word(&question, "id")]).succeeded().stdout;
    for told in
        ["A question: fix it", "  1. keep", "  2. drop", "without an answer: keep", "longhaul inbox reply i-"]
    {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    let reply = ["inbox", "reply", word(&question, "id"), "2", "--json"];
    let agent = home.run(&reply).variable("LONGHAUL_SESSION", &session).go();
    assert!(agent.code == Some(3) && agent.stderr.contains("E0303"), "{agent}");
    let replied = home.longhaul(&reply).succeeded();
    assert_eq!(word(&one(&replied), "words"), "drop");
    assert_eq!(inbox(&home), Vec::<Value>::new(), "it has its answer");
    fs::write(worktree(&home).join("go"), "").unwrap();
    wait_until("it is complete", || task(&home)["state"] == "completed");
    assert_eq!(said(&home, &session), [r#"This is the answer to your question "Keep the old name?": drop"#]);
    let why = home.longhaul(&["task", "show", word(&task(&home), "id"), "--why"]).succeeded().stdout;
    assert!(why.contains("of the inbox"), "{why}");
}

#[test]
fn a_question_that_nobody_answers_is_over_with_its_session() {
    let home = prepared(ASKING);
    run(&home, &["--detach"]).succeeded();
    wait_until("the question is asked", || inbox(&home).len() == 1);
    fs::write(worktree(&home).join("go"), "").unwrap();
    wait_until("it is complete", || task(&home)["state"] == "completed");
    let kinds: Vec<String> = inbox(&home).iter().map(|entry| word(entry, "kind").to_owned()).collect();
    assert_eq!(kinds, ["result"]);
}

#[test]
fn a_result_is_taken_from_the_list_by_a_person() {
    let home = prepared(QUICK);
    run(&home, &[]).succeeded();
    let result = entry(&home);
    assert_eq!((word(&result, "kind"), word(&result, "title")), ("result", "Done: fix it"));
    let id = word(&result, "id").to_owned();
    let agent = home.run(&["inbox", "done", &id]).variable("LONGHAUL_SESSION", "s-0123456789abc").go();
    assert_eq!(agent.code, Some(3), "{agent}");
    let no_gate = home.longhaul(&["inbox", "approve", &id]);
    assert!(no_gate.code == Some(3) && no_gate.stderr.contains("is no gate but a result"), "{no_gate}");
    let several = home.longhaul(&["inbox", "done", &id[..4], "i-nope"]);
    assert_eq!(several.code, Some(2), "all of them are found before one is settled: {several}");
    home.longhaul(&["inbox", "done", &id[..4]]).succeeded();
    assert_eq!(inbox(&home), Vec::<Value>::new());
}

#[test]
fn what_is_stuck_goes_on_with_a_reply() {
    let talk = "  - { match: { step: look }, say: Hm. }\n".repeat(3);
    let home = prepared(&QUICK.replace("turns:\n", &format!("turns:\n{talk}")));
    let parked = run(&home, &[]);
    assert_eq!(one(&parked)["outcome"]["reason"], "stuck", "{parked}");
    let failed = entry(&home);
    assert_eq!(word(&failed, "kind"), "failed");
    home.longhaul(&["inbox", "reply", word(&failed, "id"), "hand it in"]).succeeded();
    wait_until("it is complete", || task(&home)["state"] == "completed");
    assert_eq!(said(&home, word(&failed, "session")), ["hand it in"]);
}

#[test]
fn what_is_told_to_a_task_that_nobody_works_on_is_given_to_the_next_attempt() {
    let home = prepared(SHORT);
    assert_eq!(run(&home, &[]).code, Some(3));
    let failed = task(&home);
    let id = word(&failed, "id").to_owned();
    let tell = ["tell", id.as_str(), "use the other file"];
    let agent = home.run(&tell).variable("LONGHAUL_SESSION", "s-0123456789abc").go();
    assert!(agent.code == Some(3) && agent.stderr.contains("E0303"), "{agent}");
    // The session of the attempt failed and stays open for a person, parked: it is told too, and does not go on.
    let told = home.longhaul(&tell).succeeded();
    assert!(told.stderr.contains("what is started for the task later is told it too"), "{told}");
    assert_eq!(task(&home)["state"], "failed", "it takes up nothing");
    let again = one(&home.run(&["task", "retry", &id, "--json"]).inside("repo").go().succeeded());
    let second = word(&again, "session").to_owned();
    wait_until("the second attempt fails too", || task(&home)["state"] == "failed");
    let shown = home.longhaul(&["log", "show", &second, "--json"]).succeeded().stdout;
    assert!(shown.contains("A person said about this task:\\n- use the other file"), "{shown}");
    home.longhaul(&["task", "cancel", &id]).succeeded();
    let over = home.longhaul(&tell);
    assert!(over.code == Some(3) && over.stderr.contains("nobody works on it who could hear it"), "{over}");
}

#[test]
fn what_is_told_to_a_task_at_work_is_heard_with_the_next_turn() {
    let home = prepared(ASKING);
    let started = one(&run(&home, &["--detach"]).succeeded());
    let session = word(&started, "sessionId").to_owned();
    wait_until("the question is asked", || inbox(&home).len() == 1);
    let told = home.longhaul(&["tell", &session, "mind the tests"]).succeeded();
    assert!(told.stderr.contains("heard with the next turn by 1 session"), "{told}");
    fs::write(worktree(&home).join("go"), "").unwrap();
    wait_until("it is complete", || task(&home)["state"] == "completed");
    assert_eq!(said(&home, &session), ["mind the tests"]);
    let done = home.longhaul(&["tell", &session, "more"]);
    assert_eq!(done.code, Some(3), "{done}");
}

#[test]
fn how_things_stand_is_told_to_three_audiences() {
    let home = prepared(SHORT);
    run(&home, &[]);
    at_the_gate(&home, TWO_STEPS);
    let owner = home.longhaul(&["status"]).succeeded().stdout;
    for told in [
        "things wait for you",
        "Waits for you",
        "A decision is wanted: delete it",
        "longhaul inbox approve i-",
        "Failed: fix it",
    ] {
        assert!(owner.contains(told), "{told}: {owner}");
    }
    let shown = one(&home.longhaul(&["status", "--json"]).succeeded());
    assert_eq!((&shown["audience"], shown["waiting"].as_array().unwrap().len()), (&json!("owner"), 2));
    let stakeholder = home.longhaul(&["status", "--audience", "stakeholder"]).succeeded().stdout;
    assert!(stakeholder.contains("delete it: waits for a decision"), "{stakeholder}");
    let external = home.longhaul(&["status", "--audience", "external"]).succeeded().stdout;
    assert!(external.contains("In progress\n  delete it\n"), "{external}");
    for told in [&stakeholder, &external] {
        for internal in ["t-", "s-", "i-", "usd", "longhaul ", "team.two", home.path.to_str().unwrap()] {
            assert!(!told.contains(internal), "{internal}: {told}");
        }
    }
    let nothing = Home::new();
    let quiet = nothing.longhaul(&["status"]).succeeded();
    assert!(quiet.stdout.contains("0 things wait for you"), "{quiet}");
    assert!(!nothing.longhaul_home().exists());
}

#[test]
fn settings_that_cannot_be_read_are_in_the_inbox_and_stop_nothing_there() {
    let home = Home::new();
    at_the_gate(&home, TWO_STEPS);
    fs::write(home.longhaul_home().join("config/config.yml"), "notify: [ { on: [gate] } ]\n").unwrap();
    let kinds: Vec<String> = inbox(&home).iter().map(|entry| word(entry, "kind").to_owned()).collect();
    assert_eq!(kinds, ["trouble", "gate"]);
    let shown = home.longhaul(&["inbox", "show", word(&inbox(&home)[0], "id")]).succeeded().stdout;
    assert!(shown.contains("The settings cannot be read") && shown.contains("either `command"), "{shown}");
}
