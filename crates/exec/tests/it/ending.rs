//! How a program ended: its own status, a signal, a time-out.

use std::time::Duration;

use longhaul_exec::{Outcome, Program, run, start};

use crate::support::{LONG, is_alive, pid_in, sh, wait_until};

#[test]
fn the_exit_status_is_handed_on_as_it_is() {
    for status in [0, 1, 7, 128, 255] {
        let finished = run(&sh(&format!("exit {status}"))).unwrap();
        assert_eq!(finished.outcome, Outcome::Exited(status));
        assert_eq!(finished.succeeded(), status == 0);
    }
}

#[test]
fn what_is_printed_on_stderr_does_not_change_the_status() {
    let finished = run(&sh("echo 'fatal: error: failed' >&2; exit 0")).unwrap();
    assert!(finished.succeeded());
    let finished = run(&sh("echo 'all is well'; exit 1")).unwrap();
    assert_eq!(finished.outcome, Outcome::Exited(1));
}

#[test]
fn a_signal_that_ends_a_program_is_named() {
    for signal in [2, 6, 9, 15] {
        let finished = run(&sh(&format!("kill -{signal} $$"))).unwrap();
        assert_eq!(finished.outcome, Outcome::Signalled(signal));
    }
}

#[test]
fn a_program_that_takes_too_long_is_timed_out_and_dead() {
    let running = start(&Program::new("sleep").arg("600").timeout(Duration::from_millis(50))).unwrap();
    let id = running.id();
    let finished = running.wait().unwrap();
    assert_eq!(finished.outcome, Outcome::TimedOut);
    assert!(!is_alive(id));
    assert!(finished.duration >= Duration::from_millis(50) && finished.duration < LONG);
}

#[test]
fn a_time_limit_holds_even_if_nobody_waits() {
    let running = start(&Program::new("sleep").arg("600").timeout(Duration::from_millis(50))).unwrap();
    let id = running.id();
    wait_until("the program is gone", || !is_alive(id));
    assert_eq!(running.wait().unwrap().outcome, Outcome::TimedOut);
}

#[test]
fn a_program_that_ignores_sigterm_is_killed_after_the_grace() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    let script = format!("trap '' TERM; echo $$ > '{}'; while :; do sleep 1; done", ready.display());
    let running = start(&sh(&script).grace(Duration::from_millis(100))).unwrap();
    let pid = pid_in(&ready);
    let finished = running.kill().unwrap();
    assert_eq!(finished.outcome, Outcome::Stopped);
    assert!(!is_alive(pid));
}

#[test]
fn within_the_grace_a_program_can_still_print_and_clean_up() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    let script = format!(
        "trap 'head -c 300000 /dev/zero; echo bye; exit 0' TERM; echo $$ > '{}'; while :; do sleep 0.01; done",
        ready.display()
    );
    let running = start(&sh(&script)).unwrap();
    pid_in(&ready);
    let finished = running.kill().unwrap();
    assert_eq!(finished.outcome, Outcome::Stopped);
    assert!(finished.stdout.to_text().ends_with("bye\n"));
    assert_eq!(finished.stdout.to_bytes().len(), 300_004);
}

#[test]
fn a_stopped_program_is_woken_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    let script =
        format!("trap 'echo bye; exit 0' TERM; echo $$ > '{}'; kill -STOP $$; sleep 600", ready.display());
    let running = start(&sh(&script)).unwrap();
    let pid = pid_in(&ready);
    wait_until("the program has stopped itself", || {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        text.contains(") T ")
    });
    assert_eq!(running.kill().unwrap().stdout.to_text(), "bye\n");
}

#[test]
fn another_thread_can_stop_a_program_that_is_waited_for() {
    let running = start(&Program::new("sleep").arg("600")).unwrap();
    let stopper = running.stopper();
    let waiting = std::thread::spawn(|| running.wait());
    stopper.stop();
    stopper.stop();
    assert_eq!(waiting.join().unwrap().unwrap().outcome, Outcome::Stopped);
    stopper.stop();
}

#[test]
fn a_program_that_had_ended_before_the_kill_keeps_its_outcome() {
    let running = start(&sh("exit 3")).unwrap();
    let id = running.id();
    wait_until("the program is reaped", || !std::path::Path::new(&format!("/proc/{id}")).exists());
    assert_eq!(running.kill().unwrap().outcome, Outcome::Exited(3));
}

#[test]
fn dropping_a_running_program_kills_it() {
    let running = start(&Program::new("sleep").arg("600")).unwrap();
    let id = running.id();
    drop(running);
    assert!(!is_alive(id));
}
