//! Runners that are asked to end let go of their sessions, and whoever comes next goes on with them.

use std::fs;
use std::process::Child;

use serde_json::json;

use super::signal;
use crate::run::{arguments, left_over, prepared, runners, words, worktree, worktree_has};
use crate::running::{events, wait_until};
use crate::support::Home;
use crate::walking::one;

/// The first step has a call that waits for `go`; two more turns and two more steps follow.
const SCRIPT: &str = "
cassette: 1
turns:
  - match: { step: look }
    tools: [ { bash: { command: 'touch began; until test -e go; do sleep 0.05; done; echo yes > done.txt', seconds: 1000 } } ]
  - { match: { step: look }, say: I have looked. }
  - { match: { step: look }, complete: { notes: Looked. } }
  - { match: { step: change }, complete: { notes: Changed. } }
  - { match: { step: check }, complete: { notes: Checked. } }
";

fn under_way() -> (Home, String, u32) {
    let home = prepared(SCRIPT);
    let arguments = arguments(&home);
    let arguments = [&words(&arguments)[..], &["--detach"]].concat();
    let started = one(&home.run(&arguments).inside("repo").go().succeeded());
    wait_until("the call began", || worktree_has(&home, "began"));
    let [runner] = runners(&home)[..] else { panic!("one runner is expected") };
    (home, started["sessionId"].as_str().unwrap().to_owned(), runner)
}

fn goes_on(home: &Home, id: &str) {
    home.longhaul(&["session", "resume", id]).succeeded();
    let followed: Child = home.run(&["await", id, "--json"]).start();
    let ended = followed.wait_with_output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let row = one(&home.longhaul(&["session", "list", "--all", "--json"]));
    assert_eq!(row["outcome"]["kind"], "completed", "{row}");
    wait_until("nobody is left", || left_over(home).is_empty());
}

#[test]
fn a_runner_that_is_asked_to_end_waits_for_the_call_keeps_the_files_and_lets_go() {
    let (home, id, runner) = under_way();
    signal("-TERM", runner);
    let is_there = || runners(&home).contains(&runner);
    assert!(is_there(), "the call is not cut");
    fs::write(worktree(&home).join("go"), "").unwrap();
    wait_until("it rests", || !is_there());
    let row = one(&home.longhaul(&["session", "list", "--all", "--json"]));
    assert!(row["state"] != "cancelled" && row["outcome"]["kind"] != "cancelled", "{row}");
    let reader = home.system().reader().unwrap().unwrap();
    assert_eq!(reader.find_session(&id).unwrap().driver, None, "it has let go");
    let happened = events(&home, &id);
    assert!(!happened.iter().any(|kind| kind == "closed" || kind == "stop_requested"), "{happened:?}");
    let story = home.longhaul(&["session", "show", &id]).succeeded().stdout;
    assert!(story.contains("bash done, exit 0") && story.contains("snapshot"), "{story}");
    assert!(!story.contains("I have looked"), "nothing more begins: {story}");
    assert_eq!(fs::read_to_string(worktree(&home).join("done.txt")).unwrap(), "yes\n");
    goes_on(&home, &id);
    let story = home.longhaul(&["session", "show", &id]).succeeded().stdout;
    assert_eq!(story.matches("I have looked").count(), 1, "{story}");
    assert!(!story.contains("died") && !story.contains("interrupted"), "nobody died: {story}");
}

#[test]
fn a_second_request_ends_the_call_and_its_agent_hears_of_it() {
    let (home, id, runner) = under_way();
    signal("-TERM", runner);
    wait_until("it rests", || {
        signal("-TERM", runner);
        !runners(&home).contains(&runner)
    });
    let story = home.longhaul(&["session", "show", &id]).succeeded().stdout;
    assert!(story.contains("bash stopped") && !story.contains("I have looked"), "{story}");
    let row = one(&home.longhaul(&["session", "list", "--all", "--json"]));
    assert_ne!(row["state"], json!("cancelled"), "{row}");
    goes_on(&home, &id);
}
