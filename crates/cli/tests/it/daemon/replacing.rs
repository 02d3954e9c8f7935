//! `longhaul daemon restart`: another program takes over, or the old one serves again.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::json;

use super::{Served, is_gone, number, script, signal};
use crate::running::wait_until;
use crate::support::{Outcome, program};
use crate::walking::one;

fn restart(home: &Served, binary: &Path, more: &[&str]) -> Outcome {
    let binary = binary.display().to_string();
    home.daemon(&[&["restart", "--binary", &binary], more].concat())
}

#[test]
fn another_process_takes_over_and_what_was_kept_to_go_back_is_gone() {
    let home = Served::new();
    let before = home.start();
    let restarted = one(&home.daemon(&["restart", "--json"]).succeeded());
    let after = number(&restarted["daemon"]["process"]);
    assert_eq!(number(&restarted["before"]["process"]), before);
    assert!(after != before && is_gone(before), "{restarted}");
    assert_eq!(home.daemons(), [after]);
    let kept = crate::support::files(&home.0.longhaul_home().join("state/previous"));
    assert!(kept.is_empty(), "{kept:?}");
    let log = home.0.longhaul(&["log", "show", "--json"]).succeeded().stdout;
    assert!(log.contains("another one takes over"), "{log}");
    home.daemon(&["stop"]).succeeded();
    let anew = one(&home.daemon(&["restart", "--json"]).succeeded());
    assert_eq!(anew["before"], json!(null), "none was running");
    home.daemon(&["stop"]).succeeded();
}

#[test]
fn a_program_that_cannot_even_begin_changes_nothing() {
    let home = Served::new();
    let before = home.start();
    let broken = script(&home.0, "broken", "echo 'it crashes here' >&2; exit 7");
    let refused = restart(&home, &broken, &[]);
    assert_eq!(refused.code, Some(4), "{refused}");
    assert!(refused.stderr.contains("exit code 7: it crashes here"), "{refused}");
    let missing = restart(&home, &home.0.join("missing"), &[]);
    assert_eq!(missing.code, Some(4), "{missing}");
    assert_eq!(home.daemons(), [before], "the daemon goes on");
    assert_eq!(home.status()["state"], "running");
    home.daemon(&["stop"]).succeeded();
}

#[test]
fn the_old_one_serves_again_if_the_new_one_crashes_is_never_healthy_or_dies_after_its_first_word() {
    let home = Served::new();
    let real = env!("CARGO_BIN_EXE_longhaul");
    home.start();
    let fit = "case \"$*\" in *--check*) exit 0;; esac";
    let dying = format!(
        "{fit}\n(until grep -qs healthy '{}'; do sleep 0.02; done; sleep 0.3; kill -9 $$) &\nexec {real} \"$@\"",
        home.run_folder().join("daemon.json").display()
    );
    let ways = [
        ("crashing", format!("{fit}\necho 'it crashes later' >&2; exit 7"), "exit code 7"),
        ("idling", format!("{fit}\nexec sleep 1000"), "has not said anything"),
        ("dying", dying, "was healthy and then was not"),
    ];
    for (name, text, because) in ways {
        let before = number(&home.status()["process"]);
        let new = script(&home.0, name, &text);
        let back = restart(&home, &new, &["--wait", "3s"]);
        assert_eq!(back.code, Some(4), "{name}: {back}");
        assert!(back.stderr.contains("serves again") && back.stderr.contains(because), "{name}: {back}");
        let status = home.status();
        assert_eq!((&status["state"], &status["healthy"]), (&json!("running"), &json!(true)), "{status}");
        assert_ne!(number(&status["process"]), before);
        let words = |process: u32| fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let left = || home.daemons().into_iter().map(words).collect::<Vec<String>>();
        wait_until("only the old one is there", || left().len() == 1);
    }
    let last = number(&home.status()["process"]);
    home.daemon(&["restart"]).succeeded();
    assert!(is_gone(last) && home.daemons().len() == 1);
    home.daemon(&["stop"]).succeeded();
}

#[test]
fn a_program_that_was_replaced_is_noticed_and_the_old_one_can_still_be_gone_back_to() {
    let home = Served::new();
    let installed = home.0.join("longhaul");
    fs::copy(env!("CARGO_BIN_EXE_longhaul"), &installed).unwrap();
    let mut start = program(installed.to_str().unwrap());
    start.args(["daemon", "start"]).env_clear().envs(home.0.variables());
    assert!(start.status().unwrap().success());
    // As an update does: another file takes the name.
    let update = home.0.join("update");
    fs::copy(&installed, &update).unwrap();
    fs::OpenOptions::new().append(true).open(&update).unwrap().write_all(b"newer").unwrap();
    fs::rename(&update, &installed).unwrap();
    let outdated = home.status()["outdated"].to_string();
    assert!(outdated.contains("was replaced since it started"), "{outdated}");
    let doctor = home.0.longhaul(&["doctor"]);
    assert!(doctor.stdout.contains("was replaced since it started"), "{doctor}");
    let crashing = "case \"$*\" in *--check*) exit 0;; esac; exit 9";
    let back = restart(&home, &script(&home.0, "crashing", crashing), &[]);
    assert!(back.stderr.contains("serves again"), "{back}");
    assert_eq!(home.status()["state"], "running", "from a copy, though its file is gone");
    let new = restart(&home, &installed, &[]).succeeded();
    assert!(new.stderr.contains("in place of"), "{new}");
    assert!(crate::support::files(&home.0.longhaul_home().join("state/previous")).is_empty());
    home.daemon(&["stop"]).succeeded();
}

#[test]
fn whoever_is_killed_in_the_middle_of_a_restart_loses_nothing() {
    let home = Served::new();
    home.start();
    let slow = script(&home.0, "slow", "case \"$*\" in *--check*) exit 0;; esac; exec sleep 1000");
    let binary = slow.display().to_string();
    let mut restarting = home.0.run(&["daemon", "restart", "--binary", &binary]).start();
    wait_until("the old one has handed over", || home.status()["state"] == "not running");
    restarting.kill().unwrap();
    restarting.wait().unwrap();
    assert_eq!(home.status()["state"], "not running", "and says so");
    home.start();
    home.daemon(&["stop"]).succeeded();
    for process in sleepers(&home) {
        signal("-KILL", process);
    }
}

/// What a killed restart left of the program that never became a daemon.
fn sleepers(home: &Served) -> Vec<u32> {
    let own = home.0.longhaul_home().display().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let processes = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_ours = |process: &u32| {
        let read = |name: &str| fs::read(format!("/proc/{process}/{name}")).unwrap_or_default();
        String::from_utf8_lossy(&read("environ")).contains(&own)
            && String::from_utf8_lossy(&read("cmdline")).starts_with("sleep")
    };
    processes.filter(is_ours).collect()
}
