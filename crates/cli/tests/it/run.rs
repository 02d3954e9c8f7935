//! `longhaul run`: a rehearsal does a workflow in a worktree of its own, behind walls, whatever dies on the way.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_testkit::times;
use serde_json::Value;

use crate::running::wait_until;
use crate::support::{Home, program};
use crate::walking::{one, workflow};

const WORKFLOW: &str = "longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\nsteps:\n\
    \x20 - { id: look, prompt: Look. }\n  - { id: change, prompt: Change it. }\n  - { id: check, prompt: Check it. }\n";

const SCRIPT: &str = "
cassette: 1
turns:
  - match: { step: look }
    say: I look.
    tools: [ { read: { path: login.sh } }, { grep: { pattern: gt } } ]
    parallel: true
  - match: { step: look }
    complete: { notes: It is inverted. }
  - match: { step: change }
    tools:
      - edit: { path: login.sh, old: '-gt', new: '-ge' }
      - bash: { command: 'sleep 0.05; echo made > made.txt', expect_exit: 0 }
      - write: { path: deep/notes.md, content: 'Fixed.' }
  - match: { step: change }
    complete: { notes: Fixed. }
  - match: { step: check }
    tools: [ { bash: { command: sh login.sh, expect_exit: 0 } } ]
  - match: { step: check }
    complete: { notes: It holds. }
";

pub(crate) fn prepared(script: &str) -> Home {
    let home = Home::new();
    let repository = home.repository("repo");
    fs::write(repository.join("login.sh"), "test 1 -gt 1\n").unwrap();
    crate::support::git(&repository, &["add", "."]);
    crate::support::git(&repository, &["commit", "--quiet", "-m", "begin"]);
    workflow(&home, "team.fix.yml", WORKFLOW);
    fs::write(home.join("run.yml"), script).unwrap();
    home
}

pub(crate) fn arguments(home: &Home) -> Vec<String> {
    let cassette = home.join("run.yml").display().to_string();
    ["run", "--workflow", "team.fix", "--goal", "fix it", "--cassette", &cassette, "--json"]
        .map(str::to_owned)
        .into()
}

pub(crate) fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// The worktree of the only session.
pub(crate) fn worktree(home: &Home) -> PathBuf {
    made_worktree(home).expect("there is one")
}

/// The same, as soon as it is there.
fn made_worktree(home: &Home) -> Option<PathBuf> {
    let only = |folder: PathBuf| {
        let mut entries = fs::read_dir(&folder).ok()?;
        let first = entries.next()?.unwrap().path();
        assert!(entries.next().is_none(), "more than one in {}", folder.display());
        Some(first)
    };
    only(only(home.longhaul_home().join("data/checkouts"))?)
}

/// Whether the only session has come so far that this file is there.
pub(crate) fn worktree_has(home: &Home, file: &str) -> bool {
    made_worktree(home).is_some_and(|worktree| worktree.join(file).exists())
}

/// Every file with what is in it, but for git's own.
pub(crate) fn tree(top: &Path) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = crate::support::files(top)
        .into_iter()
        .filter(|path| !path.starts_with(top.join(".git")) && path.is_file())
        .map(|path| {
            let name = path.strip_prefix(top).unwrap().display().to_string();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn expected() -> Vec<(String, String)> {
    [("deep/notes.md", "Fixed."), ("login.sh", "test 1 -ge 1\n"), ("made.txt", "made\n")]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .into()
}

#[test]
fn what_cannot_be_begun_leaves_no_session_behind() {
    let home = prepared(SCRIPT);
    let outside = home.run(&words(&arguments(&home))).go();
    assert_eq!(outside.code, Some(4), "{outside}");
    assert!(outside.stderr.contains("is not in a git repository"), "{outside}");
    let mut arguments_with_base = arguments(&home);
    arguments_with_base.extend(["--base", "nope"].map(str::to_owned));
    let base = home.run(&words(&arguments_with_base)).inside("repo").go();
    assert!(base.stderr.contains("no commit `nope`"), "{base}");
    fs::write(home.join("run.yml"), "cassette: 1\nturns:\n  - tools: [ { bsh: { command: ls } } ]\n")
        .unwrap();
    let tool = home.run(&words(&arguments(&home))).inside("repo").go();
    assert!(tool.stderr.contains("turn 1: there is no tool `bsh`; there are `read`, `write`"), "{tool}");
    let open = home.longhaul(&["session", "list", "--json"]).succeeded();
    assert_eq!(open.stdout, "", "{open}");
}

#[test]
fn a_rehearsal_changes_its_own_worktree_and_nothing_else() {
    let home = prepared(SCRIPT);
    let outcome = home.run(&words(&arguments(&home))).inside("repo").go().succeeded();
    assert_eq!(one(&outcome)["isComplete"], true, "{outcome}");
    let mut seen = tree(&worktree(&home));
    seen.retain(|(name, _)| expected().iter().any(|(wanted, _)| wanted == name));
    assert_eq!(seen, expected());
    assert_eq!(fs::read_to_string(home.join("repo/login.sh")).unwrap(), "test 1 -gt 1\n", "a person's file");
    assert!(!home.join("repo/made.txt").exists());
    let id = one(&outcome)["sessionId"].as_str().unwrap().to_owned();
    let story = home.longhaul(&["session", "show", &id]).succeeded().stdout;
    for told in ["`rehearsal` drives it", "bash done, exit 0", "snapshot", "completed"] {
        assert!(story.contains(told), "{told} is not in {story}");
    }
}

#[test]
fn what_the_agent_wrote_is_run_behind_its_walls_too() {
    let home = prepared(
        "cassette: 1\nturns:\n  - tools: [ { write: { path: check.sh, content: 'echo out > ../out.txt; cat $1' } } ]\n  - complete: { notes: Written. }\n",
    );
    home.run(&["workspace", "add"]).inside("repo").go().succeeded();
    home.trust("repo");
    let secret = home.join("secret.txt");
    fs::write(&secret, "a person's").unwrap();
    let command = format!("[sh, check.sh, {}]", secret.display());
    workflow(
        &home,
        "team.fix.yml",
        &format!(
            "longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\nsteps:\n  - {{ id: write, prompt: Write. }}\n  - {{ id: check, run: {{ command: {command}, into: check }} }}\n"
        ),
    );
    let outcome = home.run(&words(&arguments(&home))).inside("repo").go();
    let id = one(&home.longhaul(&["session", "list", "--all", "--json"]))["id"].as_str().unwrap().to_owned();
    let story = home.longhaul(&["session", "show", &id, "--json"]).succeeded().stdout;
    assert!(story.contains("No such file"), "{outcome}\n{story}");
    assert!(!story.contains("a person's"), "{story}");
    assert!(!worktree(&home).parent().unwrap().join("out.txt").exists());
}

#[test]
fn a_cassette_that_cannot_be_played_starts_nothing() {
    let home = prepared("cassette: 1\nturns:\n  - { sey: hello }\n");
    let refused = home.run(&words(&arguments(&home))).inside("repo").go();
    assert_ne!(refused.code, Some(0), "{refused}");
    assert!(refused.stderr.contains("sey"), "{refused}");
    assert!(home.longhaul(&["session", "list", "--all", "--json"]).rows().is_empty());
}

#[test]
fn a_turn_that_was_not_played_is_said() {
    let more = format!("{SCRIPT}  - {{ match: {{ step: never }}, say: Nobody hears this. }}\n");
    let home = prepared(&more);
    let outcome = home.run(&words(&arguments(&home))).inside("repo").go();
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(outcome.stderr.contains("turn 7 (never)"), "{outcome}");
}

#[test]
fn a_parked_session_costs_no_process_and_holds_nothing() {
    let home = prepared("cassette: 1\nturns:\n  - { say: a }\n  - { say: b }\n  - { say: c }\n");
    let outcome = home.run(&words(&arguments(&home))).inside("repo").go();
    assert_eq!(outcome.code, Some(3), "{outcome}");
    // A process, and so a thread or a timer, would be here.
    wait_until("nobody is left", || left_over(&home).is_empty());
    let row = one(&home.longhaul(&["session", "list", "--all", "--json"]));
    assert_eq!(row["state"], "parked", "{row}");
    let reader = home.system().reader().unwrap().unwrap();
    assert_eq!(reader.find_session(row["id"].as_str().unwrap()).unwrap().driver, None);
    let is_socket = |path: &PathBuf| {
        use std::os::unix::fs::FileTypeExt as _;
        fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
    };
    let sockets: Vec<PathBuf> =
        crate::support::files(&home.longhaul_home()).into_iter().filter(is_socket).collect();
    assert!(sockets.is_empty(), "{sockets:?}");
}

#[test]
fn heavy_a_run_whose_runner_is_killed_at_any_moment_comes_to_the_same_end() {
    let mut kills = 0;
    for round in 0..times(4, 200) {
        let home = prepared(SCRIPT);
        let mut running = home.run(&words(&arguments(&home))).inside("repo").start();
        wait_until("a runner is there", || !runners(&home).is_empty());
        let pause = Duration::from_millis((round * 37) % 400);
        // tidy: the moment of death is what is tried
        std::thread::sleep(pause);
        kills += kill_runners(&home);
        let ended = running.wait().unwrap();
        assert!(ended.success(), "round {round}, {pause:?}");
        let mut seen = tree(&worktree(&home));
        seen.retain(|(name, _)| expected().iter().any(|(wanted, _)| wanted == name));
        assert_eq!(seen, expected(), "round {round}, {pause:?}");
        let turns = answered(&home);
        let distinct: std::collections::BTreeSet<_> = turns.iter().collect();
        assert!(turns.len() >= 6, "{turns:?}");
        assert_eq!(turns.len(), distinct.len(), "no turn of a step is asked again: {turns:?}");
        wait_until("nobody is left", || left_over(&home).is_empty());
    }
    assert!(kills > 0, "no runner was ever caught");
}

/// Kills the runners of this home without a warning; says how many there were.
pub(crate) fn kill_runners(home: &Home) -> usize {
    let kill = |process: &u32| program("kill").args(["-9", &process.to_string()]).status().unwrap().success();
    runners(home).iter().filter(|process| kill(process)).count()
}

pub(crate) fn runners(home: &Home) -> Vec<u32> {
    let own = home.longhaul_home().display().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let processes = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_runner = |process: &u32| {
        let read = |name: &str| fs::read(format!("/proc/{process}/{name}")).unwrap_or_default();
        let is_ours = String::from_utf8_lossy(&read("environ")).contains(&own);
        is_ours && read("cmdline").split(|byte| *byte == 0).nth(1) == Some(b"runner")
    };
    processes.filter(is_runner).collect()
}

/// All processes that work for a session of this home, or were started by somebody who does.
pub(crate) fn left_over(home: &Home) -> Vec<u32> {
    let mut marks = vec![home.longhaul_home().display().to_string()];
    for row in home.longhaul(&["session", "list", "--all", "--json"]).rows() {
        marks.push(row["id"].as_str().unwrap().to_owned());
    }
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let processes = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_marked = |process: &u32| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment).into_owned();
        marks.iter().any(|mark| environment.contains(mark))
    };
    processes.filter(is_marked).collect()
}

/// The step and number of every turn that was answered.
fn answered(home: &Home) -> Vec<String> {
    let id = one(&home.longhaul(&["session", "list", "--all", "--json"]))["id"].as_str().unwrap().to_owned();
    let mut found = Vec::new();
    for row in home.longhaul(&["session", "show", &id, "--json"]).succeeded().rows() {
        collect(&row, &mut found);
    }
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if value["act"]["did"] == "answered" {
                found.push(format!("{} {}", value["step"], value["act"]["turn"]));
            }
            fields.values().for_each(|value| collect(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
