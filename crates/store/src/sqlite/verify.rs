//! Walking the whole store and saying, stream by stream, whether it is what was written.

use std::collections::BTreeSet;

use longhaul_events::{
    BlobRef, DaemonEvent, Digest, Position, Seq, SessionEvent, StreamEvent, StreamId, StreamKind, TaskEvent,
    TriggerEvent, WorkspaceEvent, decode_batch,
};
use rusqlite::Connection;

use super::rows::HeadRow;
use super::{SqliteLog, read, rebuild};
use crate::error::{BlobProblem, StoreError};
use crate::log::Decision;

const BATCH: usize = 500;

/// What was found about one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamReport {
    pub stream: String,
    pub events: u64,
    pub redacted: u64,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Intact,
    /// Whole, but this release cannot read all of it.
    Unreadable(String),
    /// Marked by `doctor --recover`: part of it is lost, so it may not go on.
    Quarantined(String),
    /// Not what was written.
    Broken(String),
}

/// Something wrong that is not about one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// SQLite itself finds its file in disorder.
    Structure(String),
    /// Positions are given out without gaps, so the decisions that stood here are gone.
    Gap {
        first: Position,
        last: Position,
    },
    Blob {
        hash: Digest,
        problem: String,
    },
}

impl Finding {
    /// A gap in words; `None` for what is none.
    pub fn gap(&self) -> Option<String> {
        match self {
            Self::Gap { first, last } if first == last => {
                Some(format!("decision {first} is missing from the log"))
            }
            Self::Gap { first, last } => {
                Some(format!("decisions {first} to {last} are missing from the log"))
            }
            Self::Structure(_) | Self::Blob { .. } => None,
        }
    }
}

impl SqliteLog {
    /// The names of all streams, known to this release or not.
    pub fn stream_names(&self) -> Result<Vec<String>, StoreError> {
        self.reading(|connection| stream_names(connection))
    }

    /// Verifies one stream from its first event to its head, and that its blobs are there.
    pub fn verify_stream(&self, stream: &str) -> Result<StreamReport, StoreError> {
        if stream.contains('\u{fffd}') {
            let verdict = Verdict::Broken("its name is damaged".to_owned());
            return Ok(StreamReport { stream: stream.to_owned(), events: 0, redacted: 0, verdict });
        }
        self.reading(|connection| {
            let mut report =
                StreamReport { stream: stream.to_owned(), events: 0, redacted: 0, verdict: Verdict::Intact };
            match walk(connection, &mut report) {
                Ok(blobs) => {
                    report.verdict = self.judge(connection, stream, &report, &blobs)?;
                    Ok(report)
                }
                Err(StoreError::Quarantined { reason, .. } | StoreError::Damaged { what: reason }) => {
                    report.verdict = Verdict::Broken(reason);
                    Ok(report)
                }
                Err(error) => Err(error),
            }
        })
    }

    fn judge(
        &self,
        connection: &Connection,
        stream: &str,
        report: &StreamReport,
        blobs: &BTreeSet<BlobRef>,
    ) -> Result<Verdict, StoreError> {
        if let Verdict::Unreadable(_) = report.verdict {
            return Ok(report.verdict.clone());
        }
        if let Some(HeadRow { quarantined: Some(reason), .. }) = HeadRow::load(connection, stream)? {
            return Ok(Verdict::Quarantined(reason));
        }
        for blob in blobs {
            match self.blobs.read(connection, blob.sha256) {
                Ok(_) | Err(StoreError::Blob { problem: BlobProblem::Dropped, .. }) => {}
                Err(error @ StoreError::Blob { .. }) => return Ok(Verdict::Broken(error.to_string())),
                Err(error) => return Err(error),
            }
        }
        Ok(Verdict::Intact)
    }

    /// What SQLite says of the structure of its file, and where decisions are missing.
    pub fn verify_structure(&self) -> Result<Vec<Finding>, StoreError> {
        self.reading(|connection| {
            let mut statement = connection.prepare("PRAGMA quick_check(20)")?;
            let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
            let mut findings = Vec::new();
            for line in lines {
                match line {
                    Ok(line) if line == "ok" => {}
                    Ok(line) => findings.push(Finding::Structure(line)),
                    Err(error) => {
                        findings.push(Finding::Structure(error.to_string()));
                        break;
                    }
                }
            }
            // Where the file itself is in disorder, a gap is no news, and looking for one may fail.
            if findings.is_empty() {
                findings.extend(gaps(connection)?);
            }
            Ok(findings)
        })
    }

    /// The positions of decisions that are gone. Seen only over all streams: one that is gone whole, head
    /// included, leaves no other trace.
    pub fn gaps(&self) -> Result<Vec<Finding>, StoreError> {
        self.reading(|connection| gaps(connection))
    }

    /// Every stored blob that cannot be given although it should.
    pub fn verify_blobs(&self) -> Result<Vec<Finding>, StoreError> {
        self.reading(|connection| {
            let hashes: Vec<[u8; 32]> = connection
                .prepare("SELECT sha256 FROM blob WHERE dropped IS NULL")?
                .query_map([], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            let problem = |hash| match self.blobs.read(connection, Digest(hash)) {
                Err(StoreError::Blob { hash, problem }) => {
                    Some(Ok(Finding::Blob { hash, problem: problem.to_string() }))
                }
                Err(error) => Some(Err(error)),
                Ok(_) => None,
            };
            hashes.into_iter().filter_map(problem).collect()
        })
    }

    /// Makes anew what can be made from the decisions: heads, links, milestones. States are left out of heads
    /// that had to be made; whoever next uses such a stream folds it. Returns how many streams were mended.
    pub fn rebuild(&self) -> Result<u64, StoreError> {
        let mended = self.writing(rebuild::rebuild)?;
        self.file.is_in_place()?;
        Ok(mended)
    }
}

/// The counting takes a look at the index of positions only; the places are looked for if it does not add up.
fn gaps(connection: &Connection) -> Result<Vec<Finding>, StoreError> {
    let snapshot = connection.unchecked_transaction()?;
    let (count, last): (u64, u64) =
        snapshot.query_row("SELECT count(*), coalesce(max(position), 0) FROM decision", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    if count == last {
        return Ok(Vec::new());
    }
    let mut statement = snapshot.prepare(
        "SELECT before + 1, position - 1
         FROM (SELECT position, lag(position, 1, 0) OVER (ORDER BY position) AS before FROM decision)
         WHERE position > before + 1 LIMIT 100",
    )?;
    let gap = |row: &rusqlite::Row<'_>| {
        Ok(Finding::Gap { first: Position(row.get(0)?), last: Position(row.get(1)?) })
    };
    Ok(statement.query_map([], gap)?.collect::<Result<_, _>>()?)
}

pub(super) fn stream_names(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare(
        "SELECT stream FROM head UNION SELECT stream FROM decision WHERE milestone IS NOT NULL ORDER BY 1",
    )?;
    let names = statement.query_map([], |row| Ok(row.get_ref(0)?.as_bytes()?.to_vec()))?;
    let lossy = |name: rusqlite::Result<Vec<u8>>| Ok(String::from_utf8_lossy(&name?).into_owned());
    names.map(lossy).collect()
}

/// Reads the whole stream, counting as it goes; returns the blobs that it names.
fn walk(connection: &mut Connection, report: &mut StreamReport) -> Result<BTreeSet<BlobRef>, StoreError> {
    let mut blobs = BTreeSet::new();
    let mut after = Seq(0);
    loop {
        let decisions = read::stream(connection, &report.stream, after, BATCH)?;
        let Some(last) = decisions.last() else { return Ok(blobs) };
        after = last.last_seq();
        for decision in &decisions {
            report.events += decision.count;
            report.redacted += u64::from(decision.redacted);
            match blobs_of(decision) {
                Ok(named) => blobs.extend(named),
                Err(problem) => report.verdict = Verdict::Unreadable(problem),
            }
        }
    }
}

/// The blobs that a decision names, or why this release cannot read it.
pub(super) fn blobs_of(decision: &Decision) -> Result<Vec<BlobRef>, String> {
    fn of<E: StreamEvent>(body: &[u8]) -> Result<Vec<BlobRef>, String> {
        let events = decode_batch::<E>(body).map_err(|error| error.to_string())?;
        Ok(events.iter().flat_map(StreamEvent::blobs).collect())
    }
    let stream: StreamId =
        decision.stream.parse().map_err(|_| "a kind of stream from a newer release".to_owned())?;
    match stream.kind() {
        StreamKind::Session => of::<SessionEvent>(&decision.body),
        StreamKind::Task => of::<TaskEvent>(&decision.body),
        StreamKind::Workspace => of::<WorkspaceEvent>(&decision.body),
        StreamKind::Trigger => of::<TriggerEvent>(&decision.body),
        StreamKind::Daemon => of::<DaemonEvent>(&decision.body),
    }
}
