//! Hearing of commits.

use std::path::PathBuf;
use std::time::Duration;

use longhaul_store::watch::{Watcher, Woke};
use longhaul_store::{Options, SqliteLog};

use crate::support::*;

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(1);

#[test]
fn a_watcher_wakes_for_each_commit_and_sleeps_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    let mut watcher = Watcher::polling(folder.path()).unwrap();
    assert_eq!(watcher.wait(SHORT).unwrap(), Woke::TimedOut);
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    assert_eq!(watcher.wait(LONG).unwrap(), Woke::Changed);
    assert_eq!(watcher.wait(SHORT).unwrap(), Woke::TimedOut);
}

#[test]
fn a_commit_pokes_the_listener_even_at_a_very_long_path() {
    let folder = tempfile::tempdir().unwrap();
    let run: PathBuf = folder.path().join("a-long-name".repeat(9)).join("b-long-name".repeat(9));
    let socket = run.join("daemon.sock");
    let log = SqliteLog::open(&Options { poke: Some(socket.clone()), ..options(folder.path()) }).unwrap();
    append(&log, session(1), 0, &[opened("nobody listens")]).unwrap();
    let mut watcher = Watcher::listening(folder.path(), &socket).unwrap();
    append(&log, session(1), 1, &[step(2)]).unwrap();
    assert_eq!(watcher.wait(LONG).unwrap(), Woke::Changed);
    let second = Watcher::listening(folder.path(), &socket);
    assert!(second.is_err(), "there is one listener");
    drop(watcher);
    assert!(Watcher::listening(folder.path(), &socket).is_ok());
}

#[test]
fn one_poke_is_sent_for_each_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daemon.sock");
    let ear = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    ear.set_read_timeout(Some(LONG)).unwrap();
    let log = SqliteLog::open(&Options { poke: Some(path), ..options(folder.path()) }).unwrap();
    for n in 0..3 {
        append(&log, session(1), n, &[opened("a")]).unwrap();
        assert_eq!(ear.recv(&mut [0; 8]).unwrap(), 1);
    }
}

#[test]
fn a_socket_that_a_dead_process_left_behind_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("daemon.sock");
    drop(std::os::unix::net::UnixDatagram::bind(&socket).unwrap());
    assert!(socket.exists());
    sqlite(folder.path());
    assert!(Watcher::listening(folder.path(), &socket).is_ok());
}
