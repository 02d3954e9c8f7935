//! What every log promises. Each test runs against SQLite and the log in memory.

use std::sync::Arc;
use std::thread;

use longhaul_events::{Position, Seq, SessionEvent, Timestamp};
use longhaul_store::{Append, AppendError, Log, MemoryLog, NewBlob, StoreError, StreamAppend};
use proptest::prelude::*;

use crate::support::*;

fn each(test: impl Fn(&dyn Log)) {
    test(&MemoryLog::default());
    let folder = tempfile::tempdir().unwrap();
    test(&sqlite(folder.path()));
}

#[test]
fn what_was_appended_is_read_back_in_order() {
    each(|log| {
        append(log, session(1), 0, &[opened("a"), step(2)]).unwrap();
        append(log, session(2), 0, &[opened("b")]).unwrap();
        append(log, session(1), 2, &[step(3)]).unwrap();
        assert_eq!(events(log, session(1)), [opened("a"), step(2), step(3)]);
        assert_eq!(events(log, session(2)), [opened("b")]);
        let head = log.head(session(1)).unwrap().unwrap();
        assert_eq!((head.seq, head.state), (Seq(3), Some(state())));
        assert_eq!(log.head(session(9)).unwrap(), None);
        assert_eq!(log.last_position().unwrap(), Position(3));
    });
}

#[test]
fn reading_starts_with_the_decision_that_holds_the_wanted_event() {
    each(|log| {
        append(log, session(1), 0, &[opened("a"), step(2), step(3)]).unwrap();
        append(log, session(1), 3, &[step(4)]).unwrap();
        let seqs = |after, limit| -> Vec<u64> {
            log.read(session(1), Seq(after), limit).unwrap().iter().map(|row| row.seq.0).collect()
        };
        assert_eq!(seqs(0, 9), [1, 4]);
        assert_eq!(seqs(1, 9), [1, 4], "event 2 is inside the first decision");
        assert_eq!(seqs(2, 1), [1]);
        assert_eq!(seqs(3, 9), [4]);
        assert_eq!(seqs(4, 9), [0; 0]);
        assert_eq!(seqs(u64::MAX, 9), [0; 0]);
    });
}

#[test]
fn a_writer_that_is_behind_is_told_where_the_stream_is() {
    each(|log| {
        append(log, session(1), 0, &[opened("a")]).unwrap();
        let refused = append(log, session(1), 0, &[opened("b")]);
        let Err(AppendError::Conflict { expected, actual, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!((expected, actual), (Seq(0), Seq(1)));
        assert!(append(log, session(1), 5, &[step(2)]).is_err());
        assert_eq!(events(log, session(1)), [opened("a")]);
    });
}

#[test]
fn several_streams_are_appended_together_or_not_at_all() {
    each(|log| {
        append(log, session(2), 0, &[opened("b")]).unwrap();
        let both = |expected| Append {
            at: Timestamp(5),
            state_epoch: 0,
            streams: vec![
                StreamAppend::new(session(1), Seq(0), &[opened("a")], None),
                StreamAppend::new(session(2), Seq(expected), &[step(2)], None),
                StreamAppend::new(session(1), Seq(1), &[step(2)], None),
            ],
            blobs: vec![NewBlob::new(b"orphan".as_slice())],
        };
        assert!(matches!(log.append(both(0)), Err(AppendError::Conflict { .. })));
        assert_eq!(events(log, session(1)), []);
        let blob = NewBlob::new(b"orphan".as_slice()).reference().sha256;
        assert!(
            matches!(log.blob(blob), Err(StoreError::Blob { .. })),
            "the blob came in with a refused append"
        );
        log.append(both(1)).unwrap();
        assert_eq!(events(log, session(1)), [opened("a"), step(2)]);
        assert_eq!(events(log, session(2)), [opened("b"), step(2)]);
        assert_eq!(&*log.blob(blob).unwrap(), b"orphan");
    });
}

#[test]
fn time_does_not_run_backwards_within_a_stream() {
    each(|log| {
        append_at(log, session(1), 0, &[opened("a")], Timestamp(5000)).unwrap();
        append_at(log, session(1), 1, &[step(2)], Timestamp(-3)).unwrap();
        let times: Vec<_> = log.read(session(1), Seq(0), 9).unwrap().iter().map(|row| row.at).collect();
        assert_eq!(times, [Timestamp(5000), Timestamp(5000)]);
    });
}

#[test]
fn all_streams_are_followed_in_the_order_of_commits() {
    each(|log| {
        append(log, session(2), 0, &[opened("b")]).unwrap();
        append(log, session(1), 0, &[opened("a")]).unwrap();
        append(log, session(2), 1, &[step(2)]).unwrap();
        let rows = log.since(Position(1), 10).unwrap();
        let streams: Vec<_> = rows.into_iter().map(|row| row.unwrap().stream).collect();
        assert_eq!(streams, [session(1).to_string(), session(2).to_string()]);
    });
}

#[test]
fn both_logs_give_the_same_hashes() {
    let folder = tempfile::tempdir().unwrap();
    let (memory, disk) = (MemoryLog::default(), sqlite(folder.path()));
    for log in [&memory as &dyn Log, &disk] {
        append(log, session(1), 0, &[opened("a"), step(2)]).unwrap();
        append(log, session(1), 2, &[step(3)]).unwrap();
    }
    assert_eq!(memory.read(session(1), Seq(0), 9).unwrap(), disk.read(session(1), Seq(0), 9).unwrap());
    assert_eq!(memory.head(session(1)).unwrap(), disk.head(session(1)).unwrap());
}

#[test]
fn writers_that_meet_keep_every_stream_dense() {
    const WRITERS: u8 = 8;
    const STREAMS: u8 = 3;
    const EACH: u64 = 25;
    let folder = tempfile::tempdir().unwrap();
    let logs: Vec<Arc<dyn Log>> = vec![Arc::new(MemoryLog::default()), Arc::new(sqlite(folder.path()))];
    for log in logs {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let log = log.clone();
                thread::spawn(move || {
                    for n in 0..EACH {
                        let stream = session(u8::try_from(n % u64::from(STREAMS)).unwrap());
                        append_whatever_others_do(&*log, stream, &format!("{writer}/{n}"));
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        let mut goals = Vec::new();
        for n in 0..STREAMS {
            let decisions = log.read(session(n), Seq(0), usize::MAX).unwrap();
            let seqs: Vec<u64> = decisions.iter().map(|row| row.seq.0).collect();
            assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
            goals.extend(events(&*log, session(n)).into_iter().map(|event| format!("{event:?}")));
        }
        goals.sort();
        goals.dedup();
        assert_eq!(goals.len() as u64, u64::from(WRITERS) * EACH, "one lost or twice");
    }
}

fn append_whatever_others_do(log: &dyn Log, stream: longhaul_events::StreamId, goal: &str) {
    loop {
        let seq = log.head(stream).unwrap().map_or(0, |head| head.seq.0);
        match append(log, stream, seq, &[opened(goal)]) {
            Ok(_) => return,
            Err(AppendError::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[derive(Debug, Clone)]
struct Attempt {
    parts: Vec<(u8, u64, u8)>,
}

fn attempts() -> impl Strategy<Value = Vec<Attempt>> {
    let part = (0..4u8, 0..12u64, 1..4u8);
    prop::collection::vec(prop::collection::vec(part, 1..4).prop_map(|parts| Attempt { parts }), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever is tried, each append happens whole or not at all, and SQLite agrees with a plain model.
    #[test]
    fn an_append_is_all_or_nothing(attempts in attempts()) {
        let folder = tempfile::tempdir().unwrap();
        let log = sqlite(folder.path());
        let mut model: [Vec<SessionEvent>; 4] = Default::default();
        for (number, attempt) in attempts.iter().enumerate() {
            let events_of = |n: usize, count: u8| -> Vec<SessionEvent> {
                (0..count).map(|k| opened(&format!("{number}/{n}/{k}"))).collect()
            };
            let streams = attempt.parts.iter().enumerate().map(|(n, (stream, expected, count))| {
                StreamAppend::new(session(*stream), Seq(*expected), &events_of(n, *count), None)
            });
            let append = Append { at: Timestamp(0), state_epoch: 0, streams: streams.collect(), blobs: vec![] };
            let mut after = model.clone();
            let fits = attempt.parts.iter().enumerate().all(|(n, (stream, expected, count))| {
                let history = &mut after[usize::from(*stream)];
                let fits = history.len() as u64 == *expected;
                history.extend(events_of(n, *count));
                fits
            });
            prop_assert_eq!(log.append(append).is_ok(), fits);
            if fits {
                model = after;
            }
            for (stream, expected) in (0..4).zip(&model) {
                prop_assert_eq!(&events(&log, session(stream)), expected);
            }
        }
    }
}
