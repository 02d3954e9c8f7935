//! A whole tree of processes is killed, and seen to be dead.

use std::fs;
use std::time::Duration;

use longhaul_exec::{Finished, Outcome, Running, run, start};
use tempfile::TempDir;

use crate::support::{LONG, count_with_argument, is_alive, pid_in, sh, wait_until};

/// A script that starts something, waits until that has written its process id to `$FILE`, and goes on.
fn script(folder: &TempDir, begin: &str, go_on: &str) -> longhaul_exec::Program {
    let text = format!("{begin}\nwhile ! test -s \"$FILE\"; do sleep 0.01; done\n{go_on}");
    sh(&text).set_variable("FILE", folder.path().join("pid"))
}

const SLEEPER: &str = r#"sh -c 'echo $$ > "$FILE"; exec sleep 600'"#;

fn run_leaving(begin: &str) -> Finished {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let finished = run(&script(&folder, begin, "echo done; exit 4")).expect("a shell can be run");
    let pid = pid_in(&folder.path().join("pid"));
    assert!(!is_alive(pid), "{begin}");
    assert_eq!(finished.outcome, Outcome::Exited(4));
    assert_eq!(finished.stdout.to_text(), "done\n");
    assert!(finished.duration < LONG);
    finished
}

fn start_with(folder: &TempDir, begin: &str) -> (Running, u32) {
    let running = start(&script(folder, begin, "sleep 600")).expect("a shell can be started");
    let pid = pid_in(&folder.path().join("pid"));
    (running, pid)
}

#[test]
fn a_program_without_leftovers_counts_none() {
    assert_eq!(run(&sh("sleep 0.01; true")).unwrap().survivors_killed, 0);
}

#[test]
fn a_background_process_is_killed_when_the_program_ends() {
    assert_eq!(run_leaving(&format!("{SLEEPER} &")).survivors_killed, 1);
}

#[test]
fn a_background_process_without_our_mark_is_found_by_its_group() {
    assert_eq!(run_leaving(&format!(r#"env -i FILE="$FILE" {SLEEPER} &"#)).survivors_killed, 1);
}

#[test]
fn a_double_forked_process_in_a_session_of_its_own_that_holds_the_pipe_is_killed() {
    let finished = run_leaving(&format!("(setsid {SLEEPER} &)"));
    assert_eq!(finished.survivors_killed, 1);
    assert!(!finished.stdout.held_open && !finished.stderr.held_open);
}

#[test]
fn a_daemon_that_let_go_of_the_pipes_is_killed() {
    let begin = format!("(setsid {SLEEPER} </dev/null >/dev/null 2>&1 &)");
    assert_eq!(run_leaving(&begin).survivors_killed, 1);
}

#[test]
fn a_daemon_of_a_nested_program_with_its_own_mark_is_killed() {
    let begin = format!(r#"(LONGHAUL_PROCESS="$LONGHAUL_PROCESS:inner" setsid {SLEEPER} &)"#);
    assert_eq!(run_leaving(&begin).survivors_killed, 1);
}

/// After a while ids alone no longer tell what is new, and the whole table is looked at.
#[test]
fn a_daemon_of_a_program_that_took_its_time_is_killed() {
    let begin = format!("sleep 0.4; (setsid {SLEEPER} </dev/null >/dev/null 2>&1 &)");
    assert_eq!(run_leaving(&begin).survivors_killed, 1);
}

#[test]
fn many_leftovers_are_all_killed_and_counted() {
    let begin = format!("for i in 1 2 3 4 5 6 7 8 9; do (setsid sleep 600 &); done; {SLEEPER} &");
    assert_eq!(run_leaving(&begin).survivors_killed, 10);
}

#[test]
fn a_leftover_that_ignores_sigterm_is_killed_after_the_grace() {
    let folder = tempfile::tempdir().unwrap();
    let begin = r#"(setsid sh -c 'trap "" TERM; echo $$ > "$FILE"; while :; do sleep 1; done' &)"#;
    let program = script(&folder, begin, "exit 0").grace(Duration::from_millis(100));
    let finished = run(&program).unwrap();
    assert!(!is_alive(pid_in(&folder.path().join("pid"))));
    assert!(finished.succeeded());
    assert!(finished.survivors_killed >= 1);
}

#[test]
fn a_kill_reaches_a_descendant_that_left_group_and_mark_but_not_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    let (running, pid) = start_with(&folder, &format!(r#"env -i FILE="$FILE" setsid -f -w {SLEEPER} &"#));
    let id = running.id();
    assert!(is_alive(pid));
    let finished = running.kill().unwrap();
    assert_eq!(finished.outcome, Outcome::Stopped);
    assert!(!is_alive(pid) && !is_alive(id));
    assert!(finished.survivors_killed >= 1);
}

#[test]
fn a_kill_reaches_a_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let (running, pid) = start_with(&folder, &format!("(setsid {SLEEPER} &)"));
    assert!(is_alive(pid));
    running.kill().unwrap();
    assert!(!is_alive(pid));
}

#[test]
fn a_process_that_nothing_links_to_the_program_does_not_keep_us_waiting_for_its_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let begin = format!(r#"(env -i FILE="$FILE" setsid -f {SLEEPER})"#);
    let finished = run(&script(&folder, &begin, "exit 0")).unwrap();
    let pid = pid_in(&folder.path().join("pid"));
    assert!(finished.succeeded());
    assert!(finished.stdout.held_open);
    run(&sh(&format!("kill -9 {pid}"))).unwrap();
    wait_until("the daemon is gone", || !is_alive(pid));
}

/// Three relays, each of which starts its successor in a new session and dies, and ignores SIGTERM: there
/// is never one process to aim at.
#[test]
fn a_tree_that_forks_as_fast_as_it_dies_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let relay = folder.path().join("relay.sh");
    fs::write(&relay, "trap '' TERM\n: > \"$0.ran\"\n(setsid sh \"$0\" &)\n").unwrap();
    let start_relays = format!("for i in 1 2 3; do sh '{}' & done; sleep 600", relay.display());
    let program = sh(&start_relays).timeout(Duration::from_millis(300)).grace(Duration::from_millis(50));
    let finished = run(&program).unwrap();
    assert_eq!(finished.outcome, Outcome::TimedOut);
    assert!(finished.survivors_killed >= 3, "{}", finished.survivors_killed);
    assert_eq!(count_with_argument(&relay.display().to_string()), 0);
    assert!(folder.path().join("relay.sh.ran").exists());
}
