//! Carrying streams to another machine as JSON lines, chain and blobs included.
//!
//! A decision is one line, and so is a blob; the last line counts them, so that an export which was cut off
//! does not pass for a whole one. What cannot be verified is exported as it is: a quarantined stream can be
//! taken elsewhere to be looked at. What cannot be given at all is named.

use std::collections::BTreeSet;
use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use longhaul_core::canonical::sha256;
use longhaul_events::{BlobRef, Digest, Position, Seq, Timestamp};
use serde::{Deserialize, Serialize};

use super::blobs::BlobRow;
use super::rows::{DECISION_COLUMNS, DecisionRow, HeadRow};
use super::verify::blobs_of;
use super::{SqliteLog, read};
use crate::error::{BlobProblem, StoreError};
use crate::log::Decision;

/// The first version had no last line and no word on blobs that it left out.
pub(super) const VERSION: u32 = 2;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Line {
    Longhaul {
        export: u32,
    },
    Decision(DecisionLine),
    Blob {
        sha256: Digest,
        redacted: Option<Digest>,
        data: String,
    },
    /// A blob whose retention ended, so that nobody misses it elsewhere either.
    Dropped {
        sha256: Digest,
        bytes: u64,
        redacted: Option<Digest>,
    },
    /// A blob that should be here and cannot be given.
    LeftOut {
        sha256: Digest,
        problem: String,
    },
    /// Part of the stream is lost, so nobody may go on with it, here or elsewhere.
    Quarantined {
        stream: String,
        reason: String,
    },
    /// Comes last.
    End(Totals),
}

/// How many lines of each kind there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Totals {
    decisions: u64,
    blobs: u64,
    dropped: u64,
    left_out: u64,
    quarantined: u64,
}

impl Totals {
    pub(super) fn count(&mut self, line: &Line) {
        match line {
            Line::Decision(_) => self.decisions += 1,
            Line::Blob { .. } => self.blobs += 1,
            Line::Dropped { .. } => self.dropped += 1,
            Line::LeftOut { .. } => self.left_out += 1,
            Line::Quarantined { .. } => self.quarantined += 1,
            Line::Longhaul { .. } | Line::End(_) => {}
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecisionLine {
    pub(super) stream: String,
    seq: Seq,
    count: u64,
    at: Timestamp,
    digest: Digest,
    previous: Digest,
    hash: Digest,
    redacted: Option<Digest>,
    /// The stored bytes; base 64 in `body64` if they are no text.
    body: Option<String>,
    body64: Option<String>,
}

/// What an export holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    pub decisions: u64,
    /// Blobs that should be here and could not be given, with the reason.
    pub left_out: Vec<(Digest, String)>,
}

impl SqliteLog {
    /// Writes streams and the blobs that they name.
    pub fn export(&self, streams: &[String], out: &mut dyn Write) -> Result<Exported, StoreError> {
        let mut lines = Lines { out, totals: Totals::default() };
        lines.write(&Line::Longhaul { export: VERSION })?;
        let mut blobs: BTreeSet<BlobRef> = BTreeSet::new();
        for stream in streams {
            let (rows, quarantined) = self.rows_of(stream)?;
            for row in rows {
                blobs.extend(blobs_of(&row.decision).unwrap_or_default());
                lines.write(&Line::Decision(DecisionLine::of(row)))?;
            }
            if let Some(reason) = quarantined {
                lines.write(&Line::Quarantined { stream: stream.clone(), reason })?;
            }
        }
        let mut left_out = Vec::new();
        for blob in blobs {
            let line = self.blob_line(blob)?;
            if let Line::LeftOut { sha256, problem } = &line {
                left_out.push((*sha256, problem.clone()));
            }
            lines.write(&line)?;
        }
        let totals = lines.totals;
        lines.write(&Line::End(totals))?;
        lines.out.flush().map_err(failed)?;
        Ok(Exported { decisions: totals.decisions, left_out })
    }

    /// The decisions of a stream, and why nobody may go on with it. They are found one by one if the way
    /// through the stream is broken.
    fn rows_of(&self, stream: &str) -> Result<(Vec<DecisionRow>, Option<String>), StoreError> {
        self.reading(|connection| {
            let head = HeadRow::load(connection, stream).ok().flatten();
            let whole = head.and_then(|head| {
                let rows = read::rows_from(connection, stream, &head, read::Span::ALL).ok()?;
                Some((rows, head.quarantined))
            });
            if let Some(found) = whole {
                return Ok(found);
            }
            let sql = format!("SELECT {DECISION_COLUMNS} FROM decision WHERE stream = ?1 ORDER BY seq");
            let mut statement = connection.prepare(&sql)?;
            let rows = statement.query_map([stream], DecisionRow::read)?;
            let damaged = "it was exported from a damaged database".to_owned();
            Ok((rows.collect::<Result<_, _>>()?, Some(damaged)))
        })
    }

    /// A blob that was dropped or cannot be given is named; its stream still imports, and says so when read.
    fn blob_line(&self, blob: BlobRef) -> Result<Line, StoreError> {
        let BlobRef { sha256: hash, bytes } = blob;
        self.reading(|connection| match self.blobs.read(connection, hash) {
            Ok(bytes) => {
                let redacted = (sha256(&bytes) != hash).then(|| sha256(&bytes));
                Ok(Line::Blob { sha256: hash, redacted, data: STANDARD.encode(&bytes) })
            }
            Err(StoreError::Blob { problem: BlobProblem::Dropped, .. }) => {
                let redacted = BlobRow::load(connection, hash)?.and_then(|row| row.redacted);
                Ok(Line::Dropped { sha256: hash, bytes, redacted })
            }
            Err(StoreError::Blob { problem, .. }) => {
                Ok(Line::LeftOut { sha256: hash, problem: problem.to_string() })
            }
            Err(error) => Err(error),
        })
    }
}

struct Lines<'a> {
    out: &'a mut dyn Write,
    totals: Totals,
}

impl Lines<'_> {
    fn write(&mut self, line: &Line) -> Result<(), StoreError> {
        self.totals.count(line);
        serde_json::to_writer(&mut *self.out, line).map_err(|error| failed(error.into()))?;
        self.out.write_all(b"\n").map_err(failed)
    }
}

fn failed(error: std::io::Error) -> StoreError {
    StoreError::file("write", "the export")(error)
}

impl DecisionLine {
    fn of(row: DecisionRow) -> Self {
        let decision = row.decision;
        let (body, body64) = match String::from_utf8(decision.body) {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(STANDARD.encode(error.as_bytes()))),
        };
        Self {
            stream: decision.stream,
            seq: decision.seq,
            count: decision.count,
            at: decision.at,
            digest: decision.digest,
            previous: decision.previous,
            hash: decision.hash,
            redacted: row.redacted,
            body,
            body64,
        }
    }

    pub(super) fn into_row(self) -> Option<DecisionRow> {
        let body = match (self.body, self.body64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(encoded)) => STANDARD.decode(encoded).ok()?,
            _ => return None,
        };
        let decision = Decision {
            position: Position(0),
            stream: self.stream,
            seq: self.seq,
            count: self.count,
            at: self.at,
            body,
            previous: self.previous,
            hash: self.hash,
            digest: self.digest,
            redacted: self.redacted.is_some(),
        };
        Some(DecisionRow { decision, redacted: self.redacted })
    }
}
