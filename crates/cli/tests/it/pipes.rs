//! Readers that go away, disks that are full, processes that come at once.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader};

use crate::support::{Home, Outcome, shows};

#[test]
fn a_reader_that_has_seen_enough_ends_us_quietly() {
    let home = Home::new();
    let long = "x".repeat(4000);
    for _ in 0..12 {
        home.session([&long, &long, &long, &long]);
    }
    for arguments in [&["log", "show"][..], &["log", "show", "--json"], &["log", "export"]] {
        let mut child = home.run(arguments).start();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let outcome = Outcome::of(&home.path, &child.wait_with_output().unwrap());
        assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_disk_that_is_full_is_an_error_and_not_the_end_of_a_pipe() {
    let home = Home::new();
    home.session(["a", "b", "c", "d"]);
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let child = home.run(&["log", "show"]).start_into(full);
    shows!(Outcome::of(&home.path, &child.wait_with_output().unwrap()), @r"
        exit 4
        --- stdout
        --- stderr
        error: could not write what was to be shown: No space left on device (os error 28); see whether the disk is full
    ");
}

#[test]
fn processes_that_register_the_same_repository_at_once_meet_in_one_stream() {
    let home = Home::new();
    home.repository("shop");
    let adding: Vec<_> = (0..4).map(|_| home.run(&["workspace", "add", "shop"]).start()).collect();
    for child in adding {
        let outcome = Outcome::of(&home.path, &child.wait_with_output().unwrap());
        assert_eq!(outcome.code, Some(0), "{outcome}");
    }
    let rows = home.longhaul(&["log", "show", "--json"]).succeeded().rows();
    let types: Vec<&str> = rows.iter().map(|row| row["event"]["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["registered"]);
}
