//! One append against one raw insert, and long streams against short ones.

use std::path::Path;
use std::sync::Arc;

use longhaul_core::handle::Handle;
use longhaul_events::{Content, Seq, SessionEvent, SessionId, SessionKey, StreamId, Timestamp};
use longhaul_runtime::Commands;
use longhaul_runtime::opaque::Next;
use longhaul_store::baseline::RawInserts;
use longhaul_store::{Append, Log, SqliteLog, State, StreamAppend};
use serde_json::json;

use super::{Args, Bar, Limit, median, micros, timed};
use crate::driver::advance::{open, request};
use crate::driver::{Failure, commands, store};

pub(super) const NAMES: &[&str] = &[
    "raw_insert_p50_us",
    "append_p50_us",
    "append_vs_raw_insert",
    "advance_p50_us",
    "advance_vs_raw_insert",
];
pub(super) const LONG_NAMES: &[&str] = &["long_stream_vs_short"];

const ROUNDS: usize = 40;
const PER_ROUND: usize = 50;

/// Rounds of each kind in turn, so that a slow moment of the disk hits all of them.
pub(super) fn run(_: &Args) -> Result<Vec<Bar>, Failure> {
    let home = tempfile::tempdir()?;
    let store = store(home.path())?;
    let raw = RawInserts::new(home.path(), 1024)?;
    let commands = commands(store.clone());
    let mut stream = Stream::new(store);
    let mut handle = open(&commands)?;
    let (mut raws, mut appends, mut advances) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        for n in 0..PER_ROUND {
            raws.push(micros(timed(|| Ok(raw.insert()?))?));
            appends.push(micros(timed(|| stream.append())?));
            let number = u64::try_from(round * PER_ROUND + n)?;
            advances.push(micros(timed(|| {
                handle = advance(&commands, handle, number)?;
                Ok(())
            })?));
        }
    }
    let (raw, append, advance) = (median(&raws), median(&appends), median(&advances));
    Ok(vec![
        Bar::new(NAMES[0], raw, "µs", Limit::Reported),
        Bar::new(NAMES[1], append, "µs", Limit::Reported),
        Bar::new(NAMES[2], append / raw, "×", Limit::AtMost(1.5)),
        Bar::new(NAMES[3], advance, "µs", Limit::Reported),
        Bar::new(NAMES[4], advance / raw, "×", Limit::AtMost(1.5)),
    ])
}

fn advance(commands: &Commands, handle: Handle, n: u64) -> Result<Handle, Failure> {
    match commands.finish_step(request(handle, n, 300))?.next {
        Next::Step(next) => Ok(next),
        Next::Closed => Err("closed".into()),
    }
}

/// A stream of decisions of about one kilobyte each.
pub(super) struct Stream {
    log: Arc<SqliteLog>,
    id: StreamId,
    seq: u64,
}

impl Stream {
    pub(super) fn new(log: Arc<SqliteLog>) -> Self {
        Self::numbered(log, 0)
    }

    pub(super) fn numbered(log: Arc<SqliteLog>, number: u64) -> Self {
        Self { log, id: SessionId::from_bytes(number.to_be_bytes()).into(), seq: 0 }
    }

    pub(super) fn append(&mut self) -> Result<(), Failure> {
        let state = Some(State { fold_version: 1, bytes: vec![b'x'; 300] });
        let part = StreamAppend::new(self.id, Seq(self.seq), &[event()], state);
        self.log.append(Append {
            at: Timestamp(0),
            state_epoch: self.log.state_epoch(),
            streams: vec![part],
            blobs: Vec::new(),
        })?;
        self.seq += 1;
        Ok(())
    }
}

fn event() -> SessionEvent {
    SessionEvent::Opened {
        key: SessionKey::from_bytes([1; 16]),
        goal: Content::Inline(json!("x".repeat(800))),
        workspace: None,
        parent: None,
        task: None,
    }
}

/// Opening the store, loading a session and finishing a step: with 100,000 events behind it, and with 100.
pub(super) fn long_streams(_: &Args) -> Result<Vec<Bar>, Failure> {
    let (short, long) = (tempfile::tempdir()?, tempfile::tempdir()?);
    // A step is two events.
    let mut short_handle = drive(short.path(), 50)?;
    let mut long_handle = drive(long.path(), 50_000)?;
    let (mut shorts, mut longs) = (Vec::new(), Vec::new());
    for n in 0..60 {
        shorts.push(micros(timed(|| open_and_advance(short.path(), &mut short_handle, 100_000 + n))?));
        longs.push(micros(timed(|| open_and_advance(long.path(), &mut long_handle, 100_000 + n))?));
    }
    Ok(vec![Bar::new(LONG_NAMES[0], median(&longs) / median(&shorts), "×", Limit::AtMost(1.3))])
}

fn drive(home: &Path, steps: u64) -> Result<Handle, Failure> {
    let commands = commands(store(home)?);
    let mut handle = open(&commands)?;
    for n in 0..steps {
        handle = advance(&commands, handle, n)?;
    }
    Ok(handle)
}

fn open_and_advance(home: &Path, handle: &mut Handle, n: u64) -> Result<(), Failure> {
    let commands = commands(store(home)?);
    *handle = advance(&commands, *handle, n)?;
    Ok(())
}
