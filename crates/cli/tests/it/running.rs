//! Steps that the engine performs: in a runner of its own, which outlives whoever waits for it.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Home, git};
use crate::walking::{advance, handle, id, one, workflow};

/// A step, a command, and a step that tells how it ended.
pub(crate) fn running(command: &str) -> String {
    format!(
        "longhaul: 1\nid: team.run\nname: Run\nversion: 1.0.0\nabout: For tests.\nvars:\n  goal: {{ type: string }}\n\
         steps:\n\
         \x20 - {{ id: first, title: First, prompt: Begin. }}\n\
         \x20 - {{ id: work, title: Work, run: {{ command: {command} }}, into: work }}\n\
         \x20 - {{ id: last, title: Last, prompt: \"It {{{{work.outcome}}}}: {{{{work.because | default(nothing)}}}}\" }}\n"
    )
}

/// A repository with a commit and no `.longhaul/`, so that there is nothing to trust.
pub(crate) fn plain_repository(home: &Home) {
    let path = home.join("repo");
    fs::create_dir_all(&path).unwrap();
    git(&path, &["init", "--quiet", "--initial-branch=main"]);
    git(&path, &["commit", "--quiet", "--allow-empty", "--message=first"]);
}

pub(crate) fn begin(home: &Home) -> Value {
    let arguments = ["session", "start", "--workflow", "team.run", "--goal", "it", "--json"];
    one(&home.run(&arguments).inside("repo").go().succeeded())
}

/// The types of a session's events, so far.
fn events(home: &Home, session: &str) -> Vec<String> {
    let rows = home.longhaul(&["log", "show", session, "--json"]).succeeded().rows();
    rows.iter().map(|row| row["event"]["type"].as_str().unwrap().to_owned()).collect()
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_mins(1), "{what}");
        // tidy: another process is awaited that says nothing to us
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_run_step_is_done_by_a_runner_and_the_call_waits_for_it() {
    let home = Home::new();
    plain_repository(&home);
    workflow(&home, "team.run.yml", &running("[touch, done]"));
    let last = advance(&home, &begin(&home), &["--notes", "Begun."]);
    assert_eq!((&last["stepId"], &last["working"]), (&json!("last"), &json!(null)));
    assert!(last["prompt"].as_str().unwrap().contains("It passed"), "{last:#}");
    assert!(home.join("repo/done").exists());
    assert_eq!(advance(&home, &last, &["--notes", "Done."])["isComplete"], true);
    let shown = home.longhaul(&["session", "show", id(&last)]).succeeded().stdout;
    assert!(shown.contains("`work` ended: passed"), "{shown}");
}

#[test]
fn the_runner_finishes_when_whoever_waits_is_killed() {
    let home = Home::new();
    plain_repository(&home);
    workflow(&home, "team.run.yml", &running("[sh, -c, 'until test -e go; do sleep 0.05; done']"));
    let first = begin(&home);
    let arguments = ["session", "advance", handle(&first), "--notes", "Begun.", "--json"];
    let mut waiting = home.run(&arguments).start();
    wait_until("the work starts", || events(&home, id(&first)).iter().any(|kind| kind == "work_started"));
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    fs::write(home.join("repo/go"), "").unwrap();
    wait_until("the work ends", || events(&home, id(&first)).iter().any(|kind| kind == "work_finished"));
    let last = advance(&home, &first, &["--notes", "Begun."]);
    assert!(last["prompt"].as_str().unwrap().contains("It passed"), "{last:#}");
}

#[test]
fn nothing_is_run_in_a_workspace_that_nobody_trusts() {
    let home = Home::new();
    home.repository("repo");
    workflow(&home, "team.run.yml", &running("[touch, done]"));
    let first = begin(&home);
    assert!(first["warnings"].to_string().contains("refused until a person trusts"), "{first:#}");
    let last = advance(&home, &first, &["--notes", "Begun."]);
    let prompt = last["prompt"].as_str().unwrap();
    assert!(prompt.contains("It could_not_run: nobody has trusted"), "{prompt}");
    assert!(!home.join("repo/done").exists());
}

#[test]
fn outside_of_git_nothing_is_run() {
    let home = Home::new();
    fs::create_dir(home.join("repo")).unwrap();
    workflow(&home, "team.run.yml", &running("[touch, done]"));
    let first = begin(&home);
    assert!(first["warnings"].to_string().contains("in no git repository"), "{first:#}");
    let last = advance(&home, &first, &["--notes", "Begun."]);
    assert!(last["prompt"].as_str().unwrap().contains("It could_not_run"), "{last:#}");
}

#[test]
fn checks_that_nobody_declares_are_named_at_the_start() {
    let home = Home::new();
    plain_repository(&home);
    workflow(&home, "team.run.yml", &running("[x]").replace("command: [x]", "checks: [unit]"));
    let first = begin(&home);
    assert!(first["warnings"].to_string().contains("nobody declares the checks `unit`"), "{first:#}");
}

#[test]
fn the_runner_is_not_shown_to_people() {
    let listed = Home::new().longhaul(&["help", "--all"]).succeeded().stdout;
    assert!(!listed.contains("runner"), "{listed}");
}
