//! The life of a daemon, without its loop.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::time::Duration;

use longhaul_events::Driver;

use super::lock::{self, Lock, Lookup};
use super::notify::Notifier;
use super::report::beat_now_ms;
use super::*;
use crate::error::{Error, LifecycleError};
use crate::places::Places;
use crate::runner::this_process;
use crate::system::{Settings, System};

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::under(folder.path());
        fs::create_dir_all(&places.data).unwrap();
        fs::create_dir_all(&places.run).unwrap();
        Self(folder)
    }

    fn places(&self) -> Places {
        Places::under(self.0.path())
    }

    fn system(&self) -> System {
        let (variables, directory) = (BTreeMap::new(), self.0.path().to_owned());
        System::new(Settings { places: self.places(), variables, directory, flags: Vec::new() })
    }

    fn holder(&self, process: Driver) -> Holder {
        Holder { process, version: "1.2.3".into(), run: self.places().run }
    }
}

fn earlier() -> Driver {
    let own = this_process();
    Driver { started: own.started.map(|ticks| ticks + 1), ..own }
}

#[test]
fn one_holds_the_lock_and_a_second_is_told_who() {
    let home = Home::new();
    let holder = home.holder(this_process());
    let held = Lock::take(&home.places(), &holder).unwrap();
    let refused = Lock::take(&home.places(), &holder).unwrap_err();
    assert!(matches!(&refused, Error::Lifecycle(LifecycleError::Held { .. })), "{refused}");
    assert!(refused.to_string().contains(&format!("process {} of longhaul 1.2.3", std::process::id())));
    assert_eq!(lock::look(&home.places()), Lookup::Here(holder.clone()));
    drop(held);
    assert_eq!(
        lock::look(&home.places()),
        Lookup::Nobody,
        "who ends properly is not taken for one that died"
    );
    Lock::take(&home.places(), &holder).unwrap();
}

#[test]
fn whoever_died_is_told_as_dead_though_another_has_its_number() {
    let home = Home::new();
    let dead = home.holder(earlier());
    fs::write(home.places().daemon_lock(), serde_json::to_vec(&dead).unwrap()).unwrap();
    assert_eq!(lock::look(&home.places()), Lookup::Died(dead.clone()));
    let status = home.system().daemon_status();
    assert_eq!((status.presence.clone(), status.word()), (Presence::Died(dead), "died"));
    assert!(!status.is_healthy());
    let taken = Lock::take(&home.places(), &home.holder(this_process())).unwrap();
    assert!(matches!(lock::look(&home.places()), Lookup::Here(_)));
    drop(taken);
}

#[test]
fn what_is_not_to_be_seen_from_here_is_not_called_dead_while_it_holds_the_lock() {
    let home = Home::new();
    let far = Driver { host: "elsewhere".into(), ..this_process() };
    let held = Lock::take(&home.places(), &home.holder(far.clone())).unwrap();
    assert_eq!(lock::look(&home.places()), Lookup::Elsewhere(home.holder(far)));
    let refused = home.system().stop_daemon(Farewell::Rest).unwrap_err();
    assert!(matches!(refused, Error::Lifecycle(LifecycleError::Elsewhere { .. })), "{refused}");
    drop(held);
    assert_eq!(lock::look(&home.places()), Lookup::Nobody);
}

#[test]
fn garbage_in_the_lock_file_is_nobody() {
    let home = Home::new();
    fs::write(home.places().daemon_lock(), "{not json").unwrap();
    assert_eq!(lock::look(&home.places()), Lookup::Nobody);
    Lock::take(&home.places(), &home.holder(this_process())).unwrap();
}

#[test]
fn a_daemon_that_says_nothing_for_long_is_silent_and_not_healthy() {
    let home = Home::new();
    let _held = Lock::take(&home.places(), &home.holder(this_process())).unwrap();
    let mut report = Report {
        process: this_process(),
        version: "1.2.3".into(),
        binary: Binary::own().unwrap(),
        since: longhaul_events::Timestamp(0),
        stage: Stage::Healthy,
        because: None,
        beat_ms: beat_now_ms(),
        counts: Counts::default(),
        addresses: Vec::new(),
        unit: None,
    };
    let status = |report: &Report| {
        report.write(&home.places().daemon_report()).unwrap();
        home.system().daemon_status()
    };
    assert_eq!((status(&report).word(), status(&report).is_healthy()), ("running", true));
    report.beat_ms = report.beat_ms.saturating_sub(25_000);
    assert_eq!((status(&report).word(), status(&report).is_healthy()), ("silent", false));
    report.process = earlier();
    let other = status(&report);
    assert_eq!((other.report.clone(), other.word()), (None, "starting"), "it is another's report");
}

#[test]
fn a_program_that_was_replaced_or_is_gone_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("longhaul");
    fs::write(&path, "one").unwrap();
    let before = Binary::at(&path).unwrap();
    assert_eq!(before.outdated(Some(&before)), None);
    fs::write(folder.path().join("new"), "two").unwrap();
    fs::rename(folder.path().join("new"), &path).unwrap();
    assert!(before.outdated(None).unwrap().contains("was replaced"));
    let another = Binary::at(&path).unwrap();
    fs::write(folder.path().join("other"), "longer").unwrap();
    let other = Binary::at(&folder.path().join("other")).unwrap();
    assert!(another.outdated(Some(&other)).unwrap().contains("and you call"));
    fs::remove_file(&path).unwrap();
    assert!(another.outdated(None).unwrap().contains("is gone"));
}

#[test]
fn a_manager_is_told_by_datagrams_and_asked_how_often() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    let notifier = Notifier::of(|name| match name {
        "NOTIFY_SOCKET" => Some(path.clone().into()),
        "WATCHDOG_USEC" => Some("3000000".into()),
        _ => None,
    });
    notifier.tell("READY=1\n");
    let mut heard = [0; 64];
    let length = socket.recv(&mut heard).unwrap();
    assert_eq!(&heard[..length], b"READY=1\n");
    assert_eq!(notifier.beat(Duration::from_secs(5)), Duration::from_millis(1500));
    let nobody = Notifier::of(|_| None);
    nobody.tell("READY=1\n");
    assert_eq!(nobody.beat(Duration::from_secs(5)), Duration::from_secs(5));
}

#[test]
fn nothing_is_stopped_where_nothing_runs_and_what_the_dead_left_is_taken_away() {
    let home = Home::new();
    assert_eq!(home.system().stop_daemon(Farewell::Rest).unwrap(), None);
    fs::write(home.places().daemon_report(), "{}").unwrap();
    assert_eq!(home.system().stale_daemon_files(), [home.places().daemon_report()]);
    assert_eq!(home.system().stop_daemon(Farewell::Now).unwrap(), None);
    assert!(home.system().stale_daemon_files().is_empty());
}

#[test]
fn an_idle_loop_ends_when_it_is_asked_to() {
    let idle: Arc<dyn Serve> = Arc::new(Idle::default());
    assert_eq!(idle.health().condition, Condition::Healthy);
    idle.stop();
    idle.wait();
}
