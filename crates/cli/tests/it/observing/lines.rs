//! `longhaul logs`: what runners write down, and how it is found, thrown away and blanked.

use std::fs;

use serde_json::Value;

use crate::run::{arguments, prepared, words};
use crate::running::wait_until;
use crate::support::{Home, files, shows};
use crate::walking::one;

const QUICK: &str = "
cassette: 1
turns:
  - { match: { step: look }, tools: [ { bash: { command: 'exit 3' } } ] }
  - { match: { step: look }, complete: { notes: Looked. } }
  - { match: { step: change }, complete: { notes: Changed. } }
  - { match: { step: check }, complete: { notes: Checked. } }
";

fn lines(home: &Home, more: &[&str]) -> Vec<Value> {
    home.longhaul(&[&["logs", "--json"], more].concat()).succeeded().rows()
}

fn messages(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["message"].as_str().unwrap()).collect()
}

/// A run whose runner is gone.
fn ran(home: &Home) -> Value {
    let told = one(&home.run(&words(&arguments(home))).inside("repo").go().succeeded());
    let session = told["sessionId"].as_str().unwrap();
    wait_until("the runner ends", || {
        messages(&lines(home, &["--session", session])).contains(&"a runner ended")
    });
    told
}

#[test]
fn without_any_line_that_is_said() {
    shows!(Home::new().longhaul(&["logs"]), @r"
    exit 0
    --- stdout
    --- stderr
    there are no lines yet; runners write them to `[HOME]/home/state/logs`
    ");
}

#[test]
fn a_runner_writes_what_it_does_though_nobody_asked_and_what_was_said_is_not_in_it() {
    let home = prepared(QUICK);
    let told = ran(&home);
    let rows = lines(&home, &[]);
    let said = messages(&rows);
    for wanted in [
        "a runner began",
        "took the session over",
        "a turn has its answer",
        "a call has ended",
        "a step is finished",
        "the session is completed",
        "a runner ended",
    ] {
        assert!(said.contains(&wanted), "{wanted}: {said:#?}");
    }
    for row in &rows {
        assert_eq!(row["session"], told["sessionId"], "{row:#}");
        assert!(row["process"].as_str().unwrap().starts_with("runner-"), "{row:#}");
    }
    let call = rows.iter().find(|row| row["message"] == "a call has ended").unwrap();
    assert_eq!((&call["fields"]["tool"], &call["fields"]["exit"]), (&"bash".into(), &3.into()), "{call:#}");
    assert_eq!(call["task"], one(&home.longhaul(&["task", "list", "--all", "--json"]))["id"]);
    let times: Vec<&str> = rows.iter().map(|row| row["time"].as_str().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let text = fs::read_to_string(&files(&home.longhaul_home().join("state/logs"))[0]).unwrap();
    for words in ["fix it", "Looked.", "exit 3"] {
        assert!(!text.contains(words), "{words}: {text}");
    }
}

#[test]
fn lines_are_found_by_what_they_are_about() {
    let home = prepared(QUICK);
    let (first, second) = (ran(&home), ran(&home));
    let of = |filter: &[&str]| {
        let mut sessions: Vec<String> =
            lines(&home, filter).iter().map(|row| row["session"].as_str().unwrap().to_owned()).collect();
        sessions.dedup();
        sessions
    };
    let id = |told: &Value| told["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(of(&["--session", &id(&first)]), [id(&first)]);
    let short = &id(&second)[..8];
    assert_eq!(of(&["--session", short]), [id(&second)]);
    let tasks = home.longhaul(&["task", "list", "--all", "--json"]).rows();
    let task = tasks.iter().find(|task| task["session"] == id(&first).as_str()).unwrap();
    let of_task = lines(&home, &["--task", task["id"].as_str().unwrap()]);
    assert!(messages(&of_task).contains(&"a runner ended"), "also lines that name only the session");
    assert_eq!(of(&["--trigger", "g-0000000000000"]), [""; 0]);
    assert_eq!(of(&["--level", "error"]), [""; 0]);
    assert_eq!(of(&["--since", "1h"]).len(), 2);
    let none = home.longhaul(&["logs", "--level", "error"]).succeeded();
    assert!(none.stderr.contains("no line fits"), "{none}");
    let unknown = home.longhaul(&["logs", "--session", "s-nobody"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
    let shown = home.longhaul(&["logs", "--session", short]).succeeded().stdout;
    assert!(shown.lines().next().unwrap().starts_with("TIME"), "{shown}");
    assert!(shown.contains("a call has ended  turn=1  tool=bash"), "{shown}");
}

#[test]
fn a_folder_that_cannot_be_written_keeps_nobody_from_work() {
    let home = prepared(QUICK);
    let state = home.longhaul_home().join("state");
    fs::create_dir_all(&state).unwrap();
    fs::write(state.join("logs"), "in the way").unwrap();
    let told = one(&home.run(&words(&arguments(&home))).inside("repo").go().succeeded());
    assert_eq!(told["outcome"]["kind"], "completed", "{told:#}");
    assert_eq!(fs::read_to_string(state.join("logs")).unwrap(), "in the way");
}

#[test]
fn lines_that_are_too_old_are_named_and_thrown_away_by_gc() {
    let home = prepared(QUICK);
    ran(&home);
    let folder = home.longhaul_home().join("state/logs");
    let old = folder.join("longhaul-2020-01-01.jsonl");
    fs::write(&old, "{}\n").unwrap();
    let named = home.longhaul(&["gc", "--json"]).succeeded().rows();
    assert_eq!(named.len(), 1, "{named:?}");
    assert_eq!((&named[0]["kind"], &named[0]["bytes"]), (&"log".into(), &3.into()));
    assert!(old.exists());
    home.longhaul(&["gc", "--apply"]).succeeded();
    assert!(!old.exists() && files(&folder).len() == 1);
}

#[test]
fn a_redacted_value_is_in_no_line_either() {
    let home = prepared(QUICK);
    ran(&home);
    let path = &files(&home.longhaul_home().join("state/logs"))[0];
    let mut text = fs::read_to_string(path).unwrap();
    text += "{\"time\":\"2026-11-16T12:00:00.000Z\",\"message\":\"sing-little-bird\"}\n";
    fs::write(path, &text).unwrap();
    let told = home.run(&["redact", "--value-file", "-"]).stdin("sing-little-bird").go().succeeded();
    assert!(told.stderr.contains("blanked 1 line of `longhaul logs`"), "{told}");
    let after = fs::read_to_string(path).unwrap();
    assert!(!after.contains("sing-little-bird") && after.len() == text.len());
}
