//! `kill -9`, again and again: what was acknowledged is there, and nothing is there twice.

use std::path::Path;
use std::time::Duration;

use longhaul_core::handle::Handle;
use longhaul_events::{Content, Seq, SessionEvent};
use longhaul_runtime::Places;
use longhaul_store::{Log, SqliteLog, Verdict};
use longhaul_testkit::{Dice, open_store, seed, times};

use crate::driven::{Driven, Said};

const PROCESSES: usize = 8;

/// The numbers of the steps that a session has finished, in order, from its verified log.
pub(crate) fn finished_steps(log: &SqliteLog, handle: &str) -> Vec<u64> {
    let handle: Handle = handle.parse().unwrap();
    let decisions = log.read(handle.session.into(), Seq(0), usize::MAX).unwrap();
    let events = decisions.iter().flat_map(|decision| decision.events::<SessionEvent>().unwrap());
    let number = |event| {
        let SessionEvent::StepFinished { payload, .. } = event else { return None };
        let payload: serde_json::Value = match payload {
            Content::Inline(payload) => payload,
            Content::Blob(blob) => serde_json::from_slice(&log.blob(blob.sha256).unwrap()).unwrap(),
        };
        payload["n"].as_u64()
    };
    events.filter_map(number).collect()
}

/// Acknowledged: there. Tried: there or not. Otherwise: not there. Nothing twice.
pub(crate) fn check_all(home: &Path, all: &[Said]) {
    let log = open_store(&Places::under(home).data).unwrap();
    for said in all.iter().filter(|said| said.handle.is_some()) {
        let steps = finished_steps(&log, said.handle.as_ref().unwrap());
        let count = steps.len() as u64;
        assert_eq!(steps, (1..=count).collect::<Vec<_>>(), "lost, doubled or out of order: {said:?}");
        assert!(said.acked <= count && count <= said.tried, "{count} steps are stored: {said:?}");
    }
    for stream in log.stream_names().unwrap() {
        assert_eq!(log.verify_stream(&stream).unwrap().verdict, Verdict::Intact);
    }
    assert_eq!(log.verify_structure().unwrap(), []);
}

#[test]
fn heavy_killing_eight_writers_at_random_moments_loses_and_doubles_nothing() {
    let home = tempfile::tempdir().unwrap();
    let kills = times(24, 200);
    let mut dice = Dice::new(seed());
    let mut all: Vec<Said> = vec![Said::default(); PROCESSES];
    let mut killed = 0;
    while killed < kills {
        // Payloads that lie in the event, in a row of their own, in a file of their own.
        let start = |said: Said, bytes: u64| {
            let mut command = said.command(home.path());
            command.args(["--bytes", &bytes.to_string()]);
            Driven::start(command, said)
        };
        let mut running: Vec<Driven> = all
            .drain(..)
            .zip([200, 9_000, 90_000].into_iter().cycle())
            .map(|(said, bytes)| start(said, bytes))
            .collect();
        // One after the other at random moments, while the rest go on.
        while let Some(driven) = running.pop() {
            std::thread::sleep(Duration::from_micros(dice.below(30_000))); // tidy: a random moment is the point
            all.push(driven.kill());
            killed += 1;
        }
        check_all(home.path(), &all);
    }
    let acknowledged: u64 = all.iter().map(|said| said.acked).sum();
    assert!(acknowledged > kills, "only {acknowledged} steps in {kills} kills: they were killed too early");
}

#[test]
fn heavy_dying_inside_the_commit_loses_and_doubles_nothing() {
    // The kernel kills the process at the n-th write or sync, whichever part of the commit that is.
    let home = tempfile::tempdir().unwrap();
    let mut said = Said::default();
    for n in 1..=times(12, 60) {
        for (call, bytes) in [
            ("pwrite64", "200"),
            ("fsync,fdatasync", "9000"),
            ("fsync,fdatasync", "90000"),
            ("write", "90000"),
            ("rename,renameat,renameat2", "90000"),
        ] {
            let own = said.command(home.path());
            let mut command = longhaul_testkit::processes::tool("strace", "strace");
            command
                .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")])
                .args(["-e", &format!("inject={call}:signal=KILL:when={n}")])
                .arg(own.get_program())
                .args(own.get_args())
                .args(["--count", "20", "--bytes", bytes]);
            (said, _) = crate::driven::run(command, said);
            check_all(home.path(), std::slice::from_ref(&said));
        }
    }
    assert!(said.acked > 0);
}
