//! `longhaul stop` and Ctrl-C: a session ends with all that runs for it, whatever state its runner is in.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::damage::flip;
use crate::run::{arguments, kill_runners, prepared, runners, words, worktree, worktree_has};
use crate::running::{events, wait_until};
use crate::support::{Home, program};
use crate::walking::one;

/// Writes down that it began and waits for a long time.
fn endless() -> String {
    waiting("touch began; sleep 300")
}

/// Waits for the file `go`, and then says that it is done.
fn patient() -> String {
    waiting("touch began; until test -e go; do sleep 0.05; done; echo yes > done.txt")
}

fn waiting(command: &str) -> String {
    format!(
        "cassette: 1\nturns:\n  - tools: [ {{ bash: {{ command: '{command}', seconds: 1000 }} }} ]\n  - {{ match: {{ step: look }}, complete: {{ notes: Looked. }} }}\n  - {{ match: {{ step: change }}, complete: {{ notes: Changed. }} }}\n  - {{ match: {{ step: check }}, complete: {{ notes: Checked. }} }}\n"
    )
}

/// A session whose command is under way, with nobody who follows it.
fn under_way(script: &str) -> (Home, String) {
    let home = prepared(script);
    let arguments = arguments(&home);
    let arguments = [&words(&arguments)[..], &["--detach"]].concat();
    let started = one(&home.run(&arguments).inside("repo").go().succeeded());
    wait_for_command(&home);
    let id = started["sessionId"].as_str().unwrap().to_owned();
    (home, id)
}

fn wait_for_command(home: &Home) {
    let began = || worktree_has(home, "began");
    wait_until("the command began", began);
}

/// A session whose command is under way, and somebody who follows it.
fn followed(script: &str) -> (Home, Child) {
    let home = prepared(script);
    let arguments = arguments(&home);
    let running = home.run(&words(&arguments)).inside("repo").start();
    wait_for_command(&home);
    (home, running)
}

fn session(home: &Home) -> Value {
    one(&home.longhaul(&["session", "list", "--all", "--json"]))
}

/// Every process that works in the home, but for this one.
fn processes(home: &Home) -> Vec<String> {
    let top = home.path.display().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let environment = |number: &u32| fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
    let is_ours = |number: &u32| String::from_utf8_lossy(&environment(number)).contains(&top);
    let words = |number: u32| fs::read_to_string(format!("/proc/{number}/cmdline")).unwrap_or_default();
    numbers.filter(is_ours).map(words).filter(|words| !words.is_empty()).collect()
}

fn signal(name: &str, process: u32) {
    assert!(program("kill").args([name, &process.to_string()]).status().unwrap().success());
}

fn assert_ended(home: &Home, id: &str) {
    let ended = session(home);
    assert_eq!((&ended["state"], &ended["outcome"]["kind"]), (&json!("cancelled"), &json!("cancelled")));
    // Whoever wrote the end down may not be gone yet.
    wait_until("its processes are gone", || processes(home).is_empty());
    let closed = events(home, id).iter().filter(|kind| *kind == "closed").count();
    assert_eq!(closed, 1);
}

#[test]
fn a_call_that_ends_within_the_grace_is_kept_and_nothing_more_begins() {
    let (home, id) = under_way(&patient());
    let stopping = home.run(&["stop", &id, "--json"]).start();
    wait_until("it is on record", || events(&home, &id).iter().any(|kind| kind == "stop_requested"));
    fs::write(worktree(&home).join("go"), "").unwrap();
    let stopped = stopping.wait_with_output().unwrap();
    assert!(stopped.status.success(), "{stopped:?}");
    assert_ended(&home, &id);
    let story = home.longhaul(&["session", "show", &id]).succeeded().stdout;
    assert!(story.contains("bash done, exit 0") && !story.contains("turn 2"), "{story}");
    assert!(story.contains("wants it stopped") && story.contains("snapshot"), "{story}");
    assert_eq!(fs::read_to_string(worktree(&home).join("done.txt")).unwrap(), "yes\n");
    fs::remove_file(worktree(&home).join("done.txt")).unwrap();
    let kept = story.lines().filter_map(|line| line.split_once("snapshot ")).next_back().unwrap().1;
    let kept = kept.split(':').next().unwrap().to_owned();
    home.run(&["worktree", "restore", &kept, "--worktree", &id]).inside("repo").go().succeeded();
    assert_eq!(fs::read_to_string(worktree(&home).join("done.txt")).unwrap(), "yes\n", "it was kept");
}

#[test]
fn what_is_stopped_now_is_ended_at_once_and_does_not_go_on_again() {
    let (home, id) = under_way(&endless());
    let start = Instant::now();
    home.longhaul(&["stop", &id, "--now"]).succeeded();
    assert!(start.elapsed() < Duration::from_secs(9), "{:?}", start.elapsed());
    assert_ended(&home, &id);
    let story = home.longhaul(&["session", "show", &id]).succeeded().stdout;
    assert!(story.contains("bash stopped"), "{story}");
    let again = home.longhaul(&["session", "resume", &id]);
    assert_eq!(again.code, Some(3), "{again}");
    assert!(again.stdout.contains("start another run with `longhaul run`"), "{again}");
    let twice = home.longhaul(&["stop", &id]);
    assert_eq!(twice.code, Some(3), "{twice}");
    assert!(twice.stderr.contains("has ended already"), "{twice}");
}

#[test]
fn a_runner_that_stands_still_is_ended_too() {
    let (home, id) = under_way(&endless());
    let [runner] = runners(&home)[..] else { panic!("one runner is expected") };
    signal("-STOP", runner);
    home.longhaul(&["stop", &id, "--now"]).succeeded();
    assert_ended(&home, &id);
}

#[test]
fn what_has_no_runner_is_stopped_by_whoever_asks() {
    let (home, id) = under_way(&endless());
    assert_eq!(kill_runners(&home), 1);
    home.longhaul(&["stop", &id]).succeeded();
    assert_ended(&home, &id);
}

#[test]
fn two_who_stop_at_once_do_it_once() {
    let (home, id) = under_way(&endless());
    let both = [0, 1].map(|_| home.run(&["stop", &id, "--now"]).start());
    for one in both {
        let ended = one.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success() || said.contains("has ended already"), "{ended:?}");
    }
    assert_ended(&home, &id);
}

#[test]
fn all_that_we_drive_is_stopped_and_nothing_else() {
    let (home, id) = under_way(&endless());
    let person = ["session", "start", "--workflow", "team.fix", "--goal", "mine", "--json"];
    let mine = one(&home.run(&person).inside("repo").go().succeeded());
    let stopped = home.longhaul(&["stop", "--all", "--now", "--json"]).succeeded();
    assert_eq!(stopped.rows().len(), 1, "{stopped}");
    assert_eq!(stopped.rows()[0]["id"], json!(id));
    let open = one(&home.longhaul(&["session", "list", "--json"]));
    assert_eq!(open["id"], mine["sessionId"]);
    assert_eq!(home.longhaul(&["stop"]).code, Some(2), "nothing is stopped by accident");
}

/// Talks until it is parked.
const TALK: &str = "cassette: 1\nturns:\n  - say: Hm.\n  - say: Hm.\n  - say: Hm.\n";

#[test]
fn one_that_is_damaged_is_named_and_keeps_no_other_from_being_stopped() {
    let home = prepared(TALK);
    let parked = |goal: &str| {
        let all: Vec<String> =
            arguments(&home).into_iter().map(|word| word.replace("fix it", goal)).collect();
        let parked = home.run(&words(&all)).inside("repo").go();
        assert_eq!(parked.code, Some(3), "{parked}");
        one(&parked)["sessionId"].as_str().unwrap().to_owned()
    };
    let [first, damaged, last] = ["the first", "a middling goal", "the last"].map(parked);
    flip(&home, r#""set":{"goal":{"inline":"a middling goal"#);
    let stopped = home.longhaul(&["stop", "--all", "--json"]).succeeded();
    assert!(stopped.stderr.contains(&format!("session {damaged} is damaged")), "{stopped}");
    assert_eq!(stopped.rows().len(), 2, "{stopped}");
    for id in [&first, &last] {
        assert_eq!(events(&home, id).last().unwrap(), "closed", "{stopped}");
    }
}

#[test]
fn an_agent_stops_nothing() {
    let (home, id) = under_way(&endless());
    for arguments in [vec!["stop", &id], vec!["stop", "--all"], vec!["session", "cancel", &id]] {
        let refused = home.run(&arguments).variable("LONGHAUL_SESSION", &id).go();
        assert_eq!(refused.code, Some(3), "{refused}");
        assert!(refused.stderr.contains("an agent cannot do this"), "{refused}");
    }
    assert_eq!(session(&home)["status"], "tool(bash)");
    home.longhaul(&["session", "cancel", &id, "--reason", "enough"]).succeeded();
    assert_ended(&home, &id);
    assert_eq!(session(&home)["outcome"]["because"], "enough");
}

#[test]
fn ctrl_c_stops_the_session_that_is_followed_and_a_second_one_at_once() {
    let (home, running) = followed(&endless());
    signal("-INT", running.id());
    wait_until("it is on record", || {
        let id = session(&home)["id"].as_str().unwrap().to_owned();
        events(&home, &id).iter().any(|kind| kind == "stop_requested")
    });
    let start = Instant::now();
    signal("-INT", running.id());
    let ended = running.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(9), "{:?}", start.elapsed());
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("stopping session") && said.contains("ending it at once"), "{said}");
    let shown: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(shown["outcome"]["kind"], "cancelled", "{shown:#}");
    let id = session(&home)["id"].as_str().unwrap().to_owned();
    assert_ended(&home, &id);
}

/// A `git` that waits for the file `go` when it first comes to a checkout, and a search path that has it.
fn held_git(home: &Home) -> String {
    let tools = home.join("tools");
    fs::create_dir(&tools).unwrap();
    let (checkouts, top) = (home.longhaul_home().join("data/checkouts"), home.join(""));
    let (checkouts, top) = (checkouts.display(), top.display());
    let script = format!(
        "#!/bin/sh\nif test -d '{checkouts}' && mkdir '{top}/held' 2>/dev/null; then until test -e '{top}/go'; do sleep 0.05; done; fi\nPATH=${{PATH#*:}} exec git \"$@\"\n"
    );
    fs::write(tools.join("git"), script).unwrap();
    fs::set_permissions(tools.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", tools.display(), std::env::var("PATH").unwrap())
}

#[test]
fn ctrl_c_while_the_worktree_is_made_stops_the_session_that_it_is_made_for() {
    let home = prepared(&endless());
    let path = held_git(&home);
    let running = home.run(&words(&arguments(&home))).inside("repo").variable("PATH", path).start();
    wait_until("the worktree is being made", || home.join("held").exists());
    signal("-INT", running.id());
    signal("-INT", running.id());
    fs::write(home.join("go"), "").unwrap();
    let ended = running.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("stopping session") || said.contains("ending it at once"), "{said}");
    let shown: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(shown["outcome"]["kind"], "cancelled", "{shown:#}");
    let id = session(&home)["id"].as_str().unwrap().to_owned();
    assert_ended(&home, &id);
}

#[test]
fn ctrl_c_stops_a_replay_that_is_followed() {
    let (home, id) = under_way(&patient());
    fs::write(worktree(&home).join("go"), "").unwrap();
    wait_until("it comes to its end", || session(&home)["state"] == "completed");
    let replay = home.run(&["session", "replay", &id]).start();
    let other = || {
        let all = home.longhaul(&["session", "list", "--all", "--json"]).rows();
        all.into_iter().find(|row| row["id"] != id.as_str())
    };
    let is = |name: &str, word: &str| other().is_some_and(|row| row[name] == word);
    // Nobody writes `go` there, so it would wait for long.
    wait_until("the replay is under way", || is("status", "tool(bash)"));
    signal("-INT", replay.id());
    let again = other().unwrap()["id"].as_str().unwrap().to_owned();
    wait_until("it is on record", || events(&home, &again).iter().any(|kind| kind == "stop_requested"));
    signal("-INT", replay.id());
    let ended = replay.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("stopping session") && said.contains("ending it at once"), "{said}");
    assert!(is("state", "cancelled") && processes(&home).is_empty());
}

#[test]
fn a_terminal_that_is_lost_stops_nothing() {
    for name in ["-HUP", "-KILL"] {
        let (home, mut running) = followed(&patient());
        signal(name, running.id());
        running.wait().unwrap();
        fs::write(worktree(&home).join("go"), "").unwrap();
        wait_until("it comes to its end", || session(&home)["state"] == "completed");
    }
}
