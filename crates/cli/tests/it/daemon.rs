//! `longhaul daemon`: started, seen healthy, stopped, replaced; whatever dies, fills up or lies in the way.

mod replacing;
mod resting;
mod unit;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use serde_json::{Value, json};

use crate::running::wait_until;
use crate::support::{Home, Outcome, is_root, program};
use crate::walking::one;

/// A home whose daemon is gone when the test is over, however that ends.
pub(crate) struct Served(pub(crate) Home);

impl Served {
    fn new() -> Self {
        Self(Home::new())
    }

    fn daemon(&self, arguments: &[&str]) -> Outcome {
        self.0.longhaul(&[&["daemon"], arguments].concat())
    }

    fn start(&self) -> u32 {
        let started = one(&self.daemon(&["start", "--json"]).succeeded());
        assert_eq!(started["started"], true, "{started}");
        number(&started["daemon"]["process"])
    }

    fn status(&self) -> Value {
        one(&self.daemon(&["status", "--json"]))
    }

    fn run_folder(&self) -> PathBuf {
        self.0.longhaul_home().join("run")
    }

    /// Every process of a daemon of this home.
    fn daemons(&self) -> Vec<u32> {
        let own = self.0.longhaul_home().display().to_string();
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let processes = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_ours = |process: &u32| {
            let read = |name: &str| fs::read(format!("/proc/{process}/{name}")).unwrap_or_default();
            let is_ours = String::from_utf8_lossy(&read("environ")).contains(&own);
            is_ours && String::from_utf8_lossy(&read("cmdline")).contains("daemon\0run")
        };
        processes.filter(is_ours).collect()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        for process in self.daemons() {
            signal("-KILL", process);
        }
    }
}

fn number(value: &Value) -> u32 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number")).try_into().unwrap()
}

fn signal(name: &str, process: u32) {
    // It may be gone by itself.
    let _ = program("kill").args([name, &process.to_string()]).output().unwrap();
}

fn is_gone(process: u32) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    state.is_empty() || state.contains(") Z ")
}

#[test]
fn a_daemon_is_started_when_it_is_healthy_and_stopped_when_it_is_gone() {
    let home = Served::new();
    let before = home.daemon(&["status"]);
    assert_eq!(before.code, Some(4), "{before}");
    assert!(before.stdout.contains("not running"), "{before}");
    let process = home.start();
    let status = home.status();
    assert_eq!((&status["state"], &status["healthy"]), (&json!("running"), &json!(true)), "{status}");
    assert_eq!((number(&status["process"]), &status["outdated"]), (process, &json!(null)), "{status}");
    assert_eq!(home.daemon(&["status"]).code, Some(0));
    let again = one(&home.daemon(&["start", "--json"]).succeeded());
    assert_eq!((&again["started"], number(&again["daemon"]["process"])), (&json!(false), process));
    let doctor = home.0.longhaul(&["doctor"]);
    assert!(doctor.stdout.contains(&format!("process {process} of longhaul")), "{doctor}");
    let stopped = one(&home.daemon(&["stop", "--json"]).succeeded());
    assert_eq!((number(&stopped["process"]), &stopped["killed"]), (process, &json!(false)), "{stopped}");
    assert!(is_gone(process) && home.daemons().is_empty());
    assert_eq!(home.status()["state"], "not running");
    let nothing = home.daemon(&["stop"]).succeeded();
    assert!(nothing.stderr.contains("no daemon is running"), "{nothing}");
    let left: Vec<_> = crate::support::files(&home.run_folder());
    assert!(left.is_empty(), "{left:?}");
    let told = home.0.longhaul(&["log", "show", "--json"]).succeeded().stdout;
    assert!(told.contains("\"started\"") && told.contains("it was asked to end"), "{told}");
}

#[test]
fn one_that_was_killed_is_told_as_dead_and_another_starts() {
    let home = Served::new();
    let killed = home.start();
    signal("-KILL", killed);
    wait_until("it is gone", || is_gone(killed));
    let status = home.daemon(&["status"]);
    assert_eq!(status.code, Some(4), "{status}");
    assert!(status.stdout.contains("died") && status.stderr.contains("died without a word"), "{status}");
    let doctor = home.0.longhaul(&["doctor"]);
    assert!(doctor.stdout.contains("died without a word"), "{doctor}");
    let next = home.start();
    assert_ne!(next, killed);
    assert_eq!(home.status()["state"], "running");
    home.daemon(&["stop"]).succeeded();
}

#[test]
fn of_two_that_start_at_once_one_serves_and_both_say_who() {
    let home = Served::new();
    let both = [0, 1].map(|_| home.0.run(&["daemon", "start", "--json"]).start());
    let said = both.map(|child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    });
    assert_eq!(said[0]["daemon"]["process"], said[1]["daemon"]["process"], "{said:?}");
    let started = said.iter().filter(|one| one["started"] == true).count();
    assert_eq!(started, 1, "{said:?}");
    wait_until("one is left", || home.daemons().len() == 1);
    assert_eq!(home.daemons(), [number(&said[0]["daemon"]["process"])]);
    home.daemon(&["stop"]).succeeded();
}

#[test]
fn a_stale_lock_and_a_number_that_is_anothers_by_now_are_nobody() {
    let home = Served::new();
    let first = home.start();
    let lock = home.0.longhaul_home().join("data/daemon.lock");
    let held: Value = serde_json::from_slice(&fs::read(&lock).unwrap()).unwrap();
    let report = fs::read(home.run_folder().join("daemon.json")).unwrap();
    home.daemon(&["stop"]).succeeded();
    // Our own number, as if it had been given out again.
    let mut stale = held.clone();
    stale["process"]["process"] = json!(std::process::id());
    fs::write(&lock, stale.to_string()).unwrap();
    fs::write(home.run_folder().join("daemon.json"), report).unwrap();
    assert_eq!(home.status()["state"], "died");
    assert!(one(&home.daemon(&["stop", "--json"]).succeeded())["stopped"] == false, "nobody is asked to end");
    assert_ne!(home.start(), first);
    home.daemon(&["stop"]).succeeded();
}

/// A daemon in the foreground that says when it is ready.
fn in_the_foreground(home: &Served) -> (Child, UnixDatagram) {
    let path = home.0.join("notify");
    let _ = fs::remove_file(&path);
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let child = home.0.run(&["daemon", "run"]).variable("NOTIFY_SOCKET", &path).start();
    heard(&socket, "READY=1");
    (child, socket)
}

fn heard(socket: &UnixDatagram, wanted: &str) {
    let mut bytes = [0; 256];
    loop {
        let length = socket.recv(&mut bytes).unwrap_or_else(|error| panic!("{wanted} never came: {error}"));
        if String::from_utf8_lossy(&bytes[..length]).lines().any(|line| line == wanted) {
            return;
        }
    }
}

#[test]
fn in_the_foreground_it_tells_its_manager_and_ends_when_it_is_asked_to() {
    let home = Served::new();
    for name in ["-TERM", "-INT"] {
        let (child, socket) = in_the_foreground(&home);
        heard(&socket, "WATCHDOG=1");
        let second = home.daemon(&["run"]);
        assert_eq!(second.code, Some(5), "{second}");
        assert!(second.stderr.contains(&format!("process {} of longhaul", child.id())), "{second}");
        signal(name, child.id());
        heard(&socket, "STOPPING=1");
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.success() && said.contains("ended: it was asked to end"), "{said}");
        assert_eq!(home.status()["state"], "not running");
    }
}

#[test]
fn on_a_full_disk_nothing_is_started_and_the_reason_is_told() {
    let home = Served::new();
    let full = home.0.longhaul_with_files_up_to(16, &["daemon", "start"]);
    assert_eq!(full.code, Some(4), "{full}");
    assert!(full.stderr.contains("before it was healthy") && full.stderr.contains("disk"), "{full}");
    assert!(home.daemons().is_empty());
    assert_eq!(home.status()["state"], "not running");
    home.start();
    home.daemon(&["stop"]).succeeded();
}

#[test]
fn a_run_folder_that_is_missing_too_open_or_cleaned_up_is_put_right() {
    let home = Served::new();
    fs::create_dir_all(home.run_folder()).unwrap();
    fs::set_permissions(home.run_folder(), fs::Permissions::from_mode(0o777)).unwrap();
    home.start();
    let mode = fs::metadata(home.run_folder()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    fs::remove_dir_all(home.run_folder()).unwrap();
    assert_eq!(home.status()["state"], "starting", "it lives, and nothing is heard of it");
    wait_until("it says how it is doing once more", || home.status()["state"] == "running");
    home.daemon(&["stop"]).succeeded();
}

#[test]
fn a_run_folder_that_cannot_be_written_is_said_and_nothing_is_left() {
    let home = Served::new();
    if is_root(&home.0) {
        return;
    }
    fs::create_dir_all(home.run_folder()).unwrap();
    fs::set_permissions(home.run_folder(), fs::Permissions::from_mode(0o500)).unwrap();
    let refused = home.daemon(&["start"]);
    assert_eq!(refused.code, Some(4), "{refused}");
    assert!(refused.stderr.contains("check the path, its permissions"), "{refused}");
    assert!(home.daemons().is_empty());
    fs::set_permissions(home.run_folder(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_home_whose_path_is_longer_than_the_name_of_a_socket_may_be_is_served() {
    let home = Served::new();
    let deep = home.0.join("a".repeat(80)).join("b".repeat(80));
    let long = |arguments: &[&str]| home.0.run(arguments).variable("LONGHAUL_HOME", &deep).go();
    long(&["daemon", "start"]).succeeded();
    long(&["daemon", "status"]).succeeded();
    let stopped = one(&long(&["daemon", "stop", "--json"]).succeeded());
    wait_until("it is gone", || is_gone(number(&stopped["process"])));
}

#[test]
fn an_agent_neither_starts_nor_stops_nor_replaces_a_daemon() {
    let home = Served::new();
    let process = home.start();
    for verb in ["start", "stop", "restart", "install", "uninstall", "run"] {
        let refused = home.0.run(&["daemon", verb]).variable("LONGHAUL_SESSION", "s-1").go();
        assert_eq!(refused.code, Some(3), "{verb}: {refused}");
    }
    assert_eq!(number(&home.status()["process"]), process);
    home.daemon(&["stop"]).succeeded();
}

/// A program of a few lines.
fn script(home: &Home, name: &str, text: &str) -> PathBuf {
    let path = home.join(name);
    write_program(&path, format!("#!/bin/sh\n{text}\n").as_bytes());
    path
}

fn write_program(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
