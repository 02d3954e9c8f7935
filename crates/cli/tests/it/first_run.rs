//! What somebody meets who has an agent of ours do something for the first time: counts that agree, and words that lead on.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::run::{arguments, prepared, words, worktree};
use crate::running::wait_until;
use crate::support::{Home, Outcome, program};
use crate::terminal::Terminal;
use crate::walking::{one, workflow};

/// Of five steps, the way leads past two.
const PAST: &str = "longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\nvars:\n  kind: { type: string }\nsteps:\n\
    \x20 - { id: look, prompt: Look. }\n\
    \x20 - { id: perhaps, when: { var: kind, equals: large }, prompt: Perhaps. }\n\
    \x20 - { id: change, prompt: Change it. }\n\
    \x20 - { id: check, prompt: Check it. }\n\
    \x20 - { id: tell, when: { var: kind, equals: large }, prompt: Tell. }\n";

const THREE: &str = "cassette: 1\nturns:\n  - { complete: { notes: A. } }\n  - { complete: { notes: B. } }\n  - { complete: { notes: C. } }\n";

fn run(home: &Home, more: &[&str]) -> Outcome {
    let mut arguments = arguments(home);
    arguments.retain(|word| word != "--json");
    arguments.extend(more.iter().map(|word| (*word).to_owned()));
    home.run(&words(&arguments)).inside("repo").go()
}

fn only_session(home: &Home) -> Value {
    one(&home.longhaul(&["session", "list", "--all", "--json"]).succeeded())
}

fn id_of(home: &Home) -> String {
    only_session(home)["id"].as_str().unwrap().to_owned()
}

#[test]
fn steps_are_counted_in_one_way_wherever_they_are_counted() {
    let home = prepared(THREE);
    workflow(&home, "team.fix.yml", PAST);
    let cassette = home.join("run.yml").display().to_string();
    let arguments = ["run", "--watch", "--workflow", "team.fix", "--goal", "fix it", "--cassette", &cassette];
    let terminal = Terminal::whole_in(&home, &home.join("repo"), &arguments, &[]);
    let (outcome, shown) = terminal.end();
    assert_eq!(outcome.code, Some(0), "{shown}");
    let (_, last) = shown.rsplit_once("5 of 5 steps, 3 turns, ").expect(&shown);
    assert!(last.contains("  perhaps  [----------]  skipped"), "{last}");
    assert!(last.contains("  tell     [----------]  skipped"), "{last}");
    assert!(last.contains("is complete, 5 of 5 steps done"), "{last}");
    assert!(!shown.contains("of 4 steps") && !shown.contains("1 turns"), "{shown}");
}

#[test]
fn a_stopped_session_counts_its_steps_as_it_did_while_it_ran() {
    let home = prepared(
        "cassette: 1\nturns:\n  - { complete: { notes: A. } }\n  - { tools: [ { bash: { command: 'sleep 60' } } ] }\n",
    );
    workflow(&home, "team.fix.yml", PAST);
    let running = home.run(&words(&arguments(&home))).inside("repo").start();
    wait_until("the second call is made", || {
        home.longhaul(&["session", "list"]).succeeded().stdout.contains("tool(bash)")
    });
    let stopped = home.longhaul(&["stop", &id_of(&home), "--now"]).succeeded();
    assert!(stopped.stderr.contains("stopping 1 session at once"), "{stopped}");
    let ended = one(&Outcome::of(&home.path, &running.wait_with_output().unwrap()));
    assert_eq!(ended["progress"], json!({ "done": 2, "total": 5 }), "{ended}");
}

#[test]
fn a_turn_that_is_left_over_is_said_everywhere_and_changes_no_outcome() {
    let home = prepared(&format!("{THREE}  - {{ match: {{ step: never }}, say: Nobody hears this. }}\n"));
    let ended = run(&home, &[]);
    let left = "1 turn of the cassette was not played: turn 4 (never)";
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(ended.stderr.contains("completed, and nothing was changed"), "{ended}");
    assert!(ended.stderr.contains(&format!("error: {left}")), "{ended}");
    let row = only_session(&home);
    assert_eq!((&row["state"], &row["outcome"]["kind"]), (&json!("completed"), &json!("completed")), "{row}");
    assert!(row["unplayed"].as_str().unwrap().starts_with(left), "{row}");
    let listed = home.longhaul(&["session", "list", "--all"]).succeeded();
    assert!(listed.stdout.contains(left), "{listed}");
    let shown = home.longhaul(&["session", "show", &id_of(&home)]).succeeded();
    assert!(shown.stdout.contains(&format!("completed, but {left}")), "{shown}");
    let again = run(&home, &["--json"]);
    assert_eq!(one(&again)["outcome"]["kind"], "completed", "{again}");
    assert!(one(&again)["unplayed"].as_str().unwrap().starts_with(left), "{again}");
}

#[test]
fn a_session_that_is_asked_for_more_is_driven_on_and_shows_no_prompt() {
    let home = prepared(&format!(
        "{THREE}  - {{ match: {{ step: 'follow-up:1' }}, optional: true, tools: [ {{ write: {{ path: more.txt, content: more }} }} ] }}\n  - {{ match: {{ step: 'follow-up:1' }}, optional: true, complete: {{ notes: More. }} }}\n"
    ));
    run(&home, &[]).succeeded();
    let id = id_of(&home);
    let asked = home.longhaul(&["session", "continue", &id, "write more"]).succeeded();
    assert!(asked.stdout.contains("`rehearsal` goes on with this session"), "{asked}");
    assert!(asked.stdout.contains(&format!("next: longhaul session tail {id}")), "{asked}");
    assert!(!asked.stdout.contains("session advance"), "{asked}");
    wait_until("it is complete again", || only_session(&home)["state"] == "completed");
    assert_eq!(fs::read_to_string(worktree(&home).join("more.txt")).unwrap(), "more");
}

#[test]
fn a_rewind_of_a_driven_session_shows_no_prompt_and_says_who_goes_on() {
    let home = prepared(
        "cassette: 1\nturns:\n  - { say: a }\n  - { say: b }\n  - { say: c }\n  - { complete: { notes: A. } }\n  - { complete: { notes: B. } }\n  - { complete: { notes: C. } }\n",
    );
    let stuck = run(&home, &[]);
    let id = id_of(&home);
    assert!(stuck.stdout.contains(&format!("longhaul session steer {id} TEXT")), "{stuck}");
    let rewound =
        home.longhaul(&["session", "rewind", &id, "--to", "look", "--reason", "try again"]).succeeded();
    assert!(rewound.stdout.contains("`rehearsal` goes on with this session"), "{rewound}");
    for prompt in ["Look.", "## Taken back", "session advance"] {
        assert!(!rewound.stdout.contains(prompt), "{prompt}: {rewound}");
    }
    wait_until("it is complete", || only_session(&home)["state"] == "completed");
}

#[test]
fn a_run_in_the_background_says_how_to_follow_and_to_stop_it() {
    let home = prepared(THREE);
    let detached = run(&home, &["--detach"]).succeeded();
    let id = id_of(&home);
    for next in ["session tail", "session show", "session steer", "stop"] {
        assert!(detached.stdout.contains(&format!("next: longhaul {next} {id}")), "{next}: {detached}");
    }
    wait_until("it is complete", || only_session(&home)["state"] == "completed");
    let replay = home.run(&["session", "replay", &id]).inside("repo").go().succeeded();
    assert!(replay.stderr.contains("it plays 3 turns again; `longhaul session tail s-"), "{replay}");
}

#[test]
fn what_was_refused_is_told_whole_and_where_nothing_changed_at_the_end_too() {
    let home = prepared(
        "cassette: 1\nturns:\n  - tools: [ { edit: { path: login.sh, old: nowhere, new: there } } ]\n  - { complete: { notes: A. } }\n  - { complete: { notes: B. } }\n  - { complete: { notes: C. } }\n",
    );
    let ended = run(&home, &["--watch"]).succeeded();
    assert!(ended.stderr.contains("completed, and nothing was changed"), "{ended}");
    assert!(ended.stderr.contains("1 call was refused, the last was `edit`: "), "{ended}");
    let told = ended.stderr.lines().find(|line| line.contains("  edit login.sh: refused, ")).unwrap();
    let why = one(&home.longhaul(&["session", "show", &id_of(&home), "--json"]))["story"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|entry| (entry["act"]["outcome"] == "refused").then(|| entry["act"]["result"].clone()))
        .unwrap();
    assert!(told.ends_with(why.as_str().unwrap().trim().lines().last().unwrap()), "{told}\n{why}");
    let counted = one(&run(&home, &["--json"]));
    assert_eq!(
        (&counted["refusedCalls"], &counted["outcome"]["reason"]),
        (&json!(1), &json!("nothing_changed"))
    );
}

#[test]
fn a_file_name_with_a_line_break_stays_on_its_line() {
    let home = prepared(
        "cassette: 1\nturns:\n  - tools: [ { bash: { command: \"touch \\\"$(printf 'a\\\\nb')\\\"\", expect_exit: 0 } } ]\n  - { complete: { notes: A. } }\n  - { complete: { notes: B. } }\n  - { complete: { notes: C. } }\n",
    );
    let ended = run(&home, &[]).succeeded();
    assert!(ended.stderr.contains("\n  added a\\nb\n"), "{ended}");
}

#[test]
fn a_cap_that_is_given_twice_and_a_cassette_of_another_shape_are_refused_in_words() {
    let home = prepared(THREE);
    let twice = run(&home, &["--budget", "tokens=1k,tokens=2k"]);
    assert_eq!(twice.code, Some(2), "{twice}");
    assert!(twice.stderr.contains("`tokens` is given twice; give it once"), "{twice}");
    fs::write(home.join("run.yml"), "cassette: 1\nturns:\n  - { say: a, usage: 390k }\n").unwrap();
    let shape = run(&home, &[]);
    assert_eq!(shape.code, Some(2), "{shape}");
    assert!(shape.stderr.contains("error[E0230]"), "{shape}");
    assert!(shape.stderr.contains("turn 1: `usage` is `390k`, and a map of names and values"), "{shape}");
    fs::write(
        home.join("run.yml"),
        THREE.replace("{ complete: { notes: A.", "{ usage: { input: 3k }, complete: { notes: A."),
    )
    .unwrap();
    assert_eq!(one(&run(&home, &["--json"]))["used"]["input"], 3000);
}

#[test]
fn a_folder_that_nobody_may_enter_is_named() {
    let home = prepared(
        "cassette: 1\nturns:\n  - tools: [ { bash: { command: chmod 000 . } } ]\n  - tools: [ { bash: { command: ls } } ]\n",
    );
    let ended = run(&home, &[]);
    let folder = worktree(&home);
    let _ = fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700));
    assert_eq!(ended.code, Some(3), "{ended}");
    assert!(!ended.stderr.contains("no_sandbox"), "{ended}");
    let name = folder.file_name().unwrap().to_str().unwrap();
    let told = format!("/{name}` has the permissions 000");
    assert!(ended.stdout.contains("cannot enter the folder") && ended.stdout.contains(&told), "{ended}");
    assert!(ended.stdout.contains("chmod u+rwx"), "{ended}");
}

#[test]
fn the_doctor_names_settings_of_the_repository_that_do_not_count() {
    let home = prepared(THREE);
    let doctor = || home.run(&["doctor", "--json"]).inside("repo").go().succeeded().rows();
    let row = |rows: &[Value]| rows.iter().find(|row| row["subject"] == "repository").cloned();
    let untrusted = row(&doctor()).unwrap();
    assert_eq!(untrusted["status"], "warning", "{untrusted}");
    assert!(untrusted["finding"].as_str().unwrap().starts_with("nobody trusts `"), "{untrusted}");
    assert!(untrusted["remedy"].as_str().unwrap().contains("longhaul workspace trust"), "{untrusted}");
    home.run(&["workspace", "add"]).inside("repo").go().succeeded();
    home.trust("repo");
    assert_eq!(row(&doctor()).unwrap()["status"], "ok");
    fs::write(home.join("repo/.longhaul/config.yml"), "retention: [\n").unwrap();
    let broken = row(&doctor()).unwrap();
    assert_eq!(broken["status"], "warning", "{broken}");
    assert!(broken["finding"].as_str().unwrap().contains(".longhaul/config.yml"), "{broken}");
}

/// Runs a script where the data of the home lie on a small disk of their own.
fn on_a_small_disk(home: &Home, script: &str) -> Outcome {
    fs::create_dir_all(home.longhaul_home().join("data")).unwrap();
    let script = format!("mount -t tmpfs -o size=24m tmpfs \"$LONGHAUL_HOME/data\" && {script}");
    let mut command = program("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]);
    command.current_dir(home.join("repo")).env_clear().envs(home.variables());
    command.env("LONGHAUL", env!("CARGO_BIN_EXE_longhaul"));
    Outcome::of(&home.path, &command.output().unwrap())
}

const FILL: &str = "dd if=/dev/zero of=\"$LONGHAUL_HOME/data/filling\" bs=4k 2> /dev/null";

#[test]
fn a_full_disk_is_a_problem_of_its_own() {
    let home = prepared(THREE);
    let told = on_a_small_disk(
        &home,
        &format!("\"$LONGHAUL\" workspace add > /dev/null && {FILL}; \"$LONGHAUL\" doctor"),
    );
    assert_eq!(told.code, Some(4), "{told}");
    let row = told.stdout.lines().find(|line| line.contains("  disk  ")).unwrap();
    assert!(row.starts_with("problem") && row.contains("nothing can be stored"), "{told}");
}

#[test]
fn a_run_on_a_full_disk_says_that_the_disk_is_full() {
    // More than any file of the store has room for by chance.
    let words = "x".repeat(2_000_000);
    let home = prepared(&format!(
        "cassette: 1\nturns:\n  - tools: [ {{ bash: {{ command: 'touch begun; while [ ! -e go ]; do sleep 0.05; done' }} }} ]\n  - {{ say: {words}, tools: [ {{ read: {{ path: login.sh }} }} ] }}\n"
    ));
    let cassette = home.join("run.yml").display().to_string();
    let script = format!(
        "\"$LONGHAUL\" run --workflow team.fix --goal 'fix it' --cassette {cassette} --sandbox none > out.txt 2> err.txt & run=$!; \
         until ls \"$LONGHAUL_HOME\"/data/checkouts/*/*/begun; do sleep 0.05; done > /dev/null 2>&1; {FILL}; \
         for process in /proc/[0-9]*; do \
             if [ \"$(tr '\\0' ' ' < $process/cmdline 2> /dev/null | cut -d' ' -f2)\" = runner ]; then \
                 if tr '\\0' '\\n' < $process/environ | grep -qx \"LONGHAUL_HOME=$LONGHAUL_HOME\"; then kill -9 ${{process#/proc/}}; fi; fi; done; \
         wait $run; code=$?; cat err.txt; exit $code"
    );
    let told = on_a_small_disk(&home, &script);
    assert_eq!(told.code, Some(4), "{told}");
    assert!(told.stdout.contains("error[E0105]: the disk is full"), "{told}");
}

#[test]
fn a_git_that_is_too_old_is_named_before_anything_is_started() {
    let home = prepared(THREE);
    let folder = home.join("old");
    fs::create_dir(&folder).unwrap();
    let real = std::env::var("PATH").unwrap();
    let script = format!(
        "#!/bin/sh\nlast=''\nfor word; do last=$word; done\n[ \"$last\" = version ] && {{ echo git version 2.39.5; exit; }}\nPATH='{real}' exec git \"$@\"\n"
    );
    fs::write(folder.join("git"), script).unwrap();
    fs::set_permissions(folder.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{real}", folder.display());
    let arguments = arguments(&home);
    let refused = home.run(&words(&arguments)).inside("repo").variable("PATH", &path).go();
    assert!(
        refused.stderr.contains("need git 2.41 or later, and `[HOME]/old/git` is 2.39.5"),
        "{}",
        refused.stderr
    );
    assert!(home.longhaul(&["session", "list", "--all", "--json"]).succeeded().rows().is_empty());
    let doctor = home.run(&["doctor"]).inside("repo").variable("PATH", &path).go();
    assert!(
        doctor.code != Some(0) && doctor.stdout.contains("`longhaul demo` refuse to start"),
        "{}",
        doctor.stdout
    );
}
