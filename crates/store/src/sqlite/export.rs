//! Carrying streams to another machine as JSON lines, chain and blobs included.
//!
//! A decision is one line, and so is a blob. What cannot be verified is exported as it is: a quarantined
//! stream can be taken elsewhere to be looked at. Import takes nothing that does not verify.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{BufRead, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use longhaul_core::canonical::sha256;
use longhaul_core::scrub::Scrubber;
use longhaul_events::{BlobRef, Digest, Position, Seq, Timestamp};
use rusqlite::{Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use super::blobs::BlobRow;
use super::redact::scrubbed_body;
use super::rows::{DECISION_COLUMNS, DecisionRow, HeadRow, Place, insert_decision};
use super::verify::blobs_of;
use super::{SqliteLog, read, schema};
use crate::blob::INLINE_LIMIT;
use crate::error::StoreError;
use crate::log::{Decision, Head};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Longhaul {
        export: u32,
    },
    Decision(DecisionLine),
    Blob {
        sha256: Digest,
        redacted: Option<Digest>,
        data: String,
    },
    /// Part of the stream is lost, so nobody may go on with it, here or elsewhere.
    Quarantined {
        stream: String,
        reason: String,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionLine {
    stream: String,
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

/// No decision of ours comes near this many events.
const MOST_EVENTS: u64 = 1 << 20;

/// Why an import changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(
        "line {line} is not part of an export: {problem}; nothing was imported, name a file that `longhaul log export` wrote"
    )]
    NotAnExport { line: u64, problem: String },
    #[error("line {line}: {problem}; nothing was imported, export it again")]
    Broken { line: u64, problem: String },
    #[error(
        "`{stream}` has gone on differently here since event {seq}; nothing was imported, leave that stream out of the export"
    )]
    Diverges { stream: String, seq: Seq },
    #[error("could not read the export: {0}; check the file")]
    Read(#[source] std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for ImportError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// What an import added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Imported {
    pub streams: u64,
    pub decisions: u64,
    pub already_here: u64,
    /// Decisions about workspaces, which belong to the machine that they were made on.
    pub left_out: u64,
    pub blobs: u64,
    /// Decisions and blobs from which secrets were taken out on the way in.
    pub scrubbed: u64,
}

impl SqliteLog {
    /// Writes streams and the blobs that they name. Returns how many decisions were written.
    pub fn export(&self, streams: &[String], out: &mut dyn Write) -> Result<u64, StoreError> {
        let failed = |error| StoreError::file("write", "the export")(error);
        write_line(out, &Line::Longhaul { export: 1 }).map_err(failed)?;
        let mut blobs: BTreeSet<BlobRef> = BTreeSet::new();
        let mut written = 0;
        for stream in streams {
            let (rows, quarantined) = self.rows_of(stream)?;
            for row in rows {
                blobs.extend(blobs_of(&row.decision).unwrap_or_default());
                write_line(out, &Line::Decision(DecisionLine::of(row))).map_err(failed)?;
                written += 1;
            }
            if let Some(reason) = quarantined {
                let line = Line::Quarantined { stream: stream.clone(), reason };
                write_line(out, &line).map_err(failed)?;
            }
        }
        for blob in blobs {
            if let Some(line) = self.blob_line(blob.sha256)? {
                write_line(out, &line).map_err(failed)?;
            }
        }
        out.flush().map_err(failed)?;
        Ok(written)
    }

    /// The decisions of a stream, and why nobody may go on with it. They are found one by one if the way
    /// through the stream is broken.
    fn rows_of(&self, stream: &str) -> Result<(Vec<DecisionRow>, Option<String>), StoreError> {
        self.reading(|connection| {
            let head = HeadRow::load(connection, stream).ok().flatten();
            let whole = head.and_then(|head| {
                let rows = read::rows_from(connection, stream, &head, Seq(1), usize::MAX).ok()?;
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

    /// A blob that was dropped or is damaged is left out; its stream still imports, and says so when read.
    fn blob_line(&self, hash: Digest) -> Result<Option<Line>, StoreError> {
        self.reading(|connection| match self.blobs.read(connection, hash) {
            Ok(bytes) => {
                let redacted = (sha256(&bytes) != hash).then(|| sha256(&bytes));
                Ok(Some(Line::Blob { sha256: hash, redacted, data: STANDARD.encode(&bytes) }))
            }
            Err(StoreError::Blob { .. }) => Ok(None),
            Err(error) => Err(error),
        })
    }

    /// Takes in an export: all of it or nothing. What is here already is left as it is.
    pub fn import(&self, source: &mut dyn BufRead, scrubber: &Scrubber) -> Result<Imported, ImportError> {
        let imported = self.writing(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            schema::may_write(&transaction)?;
            let mut import =
                Import { log: self, transaction: &transaction, scrubber, done: Imported::default() };
            import.lines(source)?;
            let done = import.done;
            let last = read::last_position(&transaction)?;
            transaction.commit()?;
            self.witness.as_ref().inspect(|witness| witness.saw(last));
            Ok::<_, ImportError>(done)
        })?;
        self.poke();
        Ok(imported)
    }
}

struct Import<'a> {
    log: &'a SqliteLog,
    transaction: &'a Transaction<'a>,
    scrubber: &'a Scrubber,
    done: Imported,
}

impl Import<'_> {
    fn lines(&mut self, source: &mut dyn BufRead) -> Result<(), ImportError> {
        let mut started = false;
        for (number, text) in (1..).zip(source.lines()) {
            let text = text.map_err(ImportError::Read)?;
            if text.trim().is_empty() {
                continue;
            }
            let not_an_export = |problem: String| ImportError::NotAnExport { line: number, problem };
            let line: Line = serde_json::from_str(&text).map_err(|error| not_an_export(error.to_string()))?;
            match line {
                Line::Longhaul { export: 1 } => started = true,
                Line::Longhaul { export } => {
                    return Err(not_an_export(format!("version {export} is not known")));
                }
                _ if !started => return Err(not_an_export("it does not begin as one".to_owned())),
                Line::Decision(line) => self.decision(number, line)?,
                Line::Blob { sha256, redacted, data } => self.blob(number, sha256, redacted, &data)?,
                Line::Quarantined { stream, reason } => self.quarantine(&stream, reason)?,
            }
        }
        if started {
            Ok(())
        } else {
            Err(ImportError::NotAnExport { line: 1, problem: "it is empty".to_owned() })
        }
    }

    fn decision(&mut self, number: u64, line: DecisionLine) -> Result<(), ImportError> {
        let broken = |problem: String| ImportError::Broken { line: number, problem };
        if line.stream.starts_with("workspace/") {
            // A workspace and its trust belong to the machine on which a person said so.
            self.done.left_out += 1;
            return Ok(());
        }
        if self.scrubber.finds_any(line.stream.as_bytes()) {
            return Err(broken("a known secret is in the name of its stream".to_owned()));
        }
        let row = line.into_row().ok_or_else(|| broken("it has no readable body".to_owned()))?;
        let redacted = row.redacted;
        let decision = row.verify().map_err(broken)?;
        let events = serde_json::from_slice::<Vec<serde::de::IgnoredAny>>(&decision.body);
        if events.is_ok_and(|events| events.len() as u64 != decision.count) || decision.count > MOST_EVENTS {
            return Err(broken("it does not hold as many events as it says".to_owned()));
        }
        let stream = &decision.stream;
        let here = HeadRow::load(self.transaction, stream)?;
        let (seq, hash) = here.as_ref().map_or((Seq(0), Digest::ZERO), |row| (row.head.seq, row.head.hash));
        if let Some(here) = here.as_ref().filter(|_| decision.seq <= seq) {
            return self.compare(&decision, here);
        }
        if decision.seq != seq.plus(1) {
            return Err(broken(format!("event {} of `{stream}` is missing before it", seq.0 + 1)));
        }
        if decision.previous != hash {
            return Err(ImportError::Diverges { stream: stream.clone(), seq });
        }
        self.done.streams += u64::from(here.is_none());
        self.store(decision, redacted, here)
    }

    /// A mark that came with a stream stays with it.
    fn quarantine(&mut self, stream: &str, reason: String) -> Result<(), ImportError> {
        if let Some(mut here) = HeadRow::load(self.transaction, stream)? {
            here.quarantined.get_or_insert(reason);
            here.save(self.transaction, stream)?;
        }
        Ok(())
    }

    /// What is here already must be the same.
    fn compare(&mut self, decision: &Decision, head: &HeadRow) -> Result<(), ImportError> {
        let here = read::row_at(self.transaction, &decision.stream, head, decision.seq)?;
        if here.is_none_or(|row| row.decision.hash != decision.hash) {
            let before = Seq(decision.seq.0 - 1);
            return Err(ImportError::Diverges { stream: decision.stream.clone(), seq: before });
        }
        self.done.already_here += 1;
        Ok(())
    }

    fn store(
        &mut self,
        mut decision: Decision,
        mut redacted: Option<Digest>,
        here: Option<HeadRow>,
    ) -> Result<(), ImportError> {
        if let Some(clean) = scrubbed_body(&decision.stream, &decision.body, self.scrubber) {
            redacted = Some(sha256(&clean));
            decision.body = clean;
            self.done.scrubbed += 1;
        }
        decision.position = read::last_position(self.transaction)?.plus(1);
        insert_decision(
            self.transaction,
            &decision,
            redacted,
            here.as_ref().map_or(Place::FIRST, Place::after),
        )?;
        let (seq, hash, at) = (decision.last_seq(), decision.hash, decision.at);
        let decisions = here.as_ref().map_or(0, |row| row.decisions) + 1;
        let quarantined = here.and_then(|row| row.quarantined);
        let head = Head { seq, hash, at, state: None };
        let head = HeadRow { head, position: decision.position, decisions, quarantined };
        head.save(self.transaction, &decision.stream)?;
        self.done.decisions += 1;
        Ok(())
    }

    fn blob(
        &mut self,
        number: u64,
        hash: Digest,
        redacted: Option<Digest>,
        data: &str,
    ) -> Result<(), ImportError> {
        let broken = |problem: &str| ImportError::Broken { line: number, problem: problem.to_owned() };
        let bytes = STANDARD.decode(data).map_err(|_| broken("the blob is not base 64"))?;
        if sha256(&bytes) != redacted.unwrap_or(hash) {
            return Err(broken("the blob is not what its digest says"));
        }
        // What is here and whole stays as it is, and what was redacted stays redacted.
        let redacted_here = BlobRow::load(self.transaction, hash)?.is_some_and(|row| row.redacted.is_some());
        if redacted_here || self.log.blobs.read(self.transaction, hash).is_ok() {
            return Ok(());
        }
        let clean = scrubbed_content(&bytes, self.scrubber);
        self.done.scrubbed += u64::from(matches!(clean, Cow::Owned(_)));
        let redacted = (sha256(&clean) != hash).then(|| sha256(&clean));
        let inline = clean.len() <= INLINE_LIMIT;
        if !inline {
            self.log.blobs.write(&self.log.blobs.path(hash), &clean)?;
        }
        let stored = self.transaction.execute(
            "INSERT INTO blob (sha256, bytes, at, data, redacted) VALUES (?1, ?2, 0, ?3, ?4)
             ON CONFLICT (sha256) DO UPDATE SET data = excluded.data, redacted = excluded.redacted, dropped = NULL",
            params![hash.0, bytes.len(), inline.then_some(&*clean), redacted.map(|digest| digest.0)],
        )?;
        self.done.blobs += stored as u64;
        Ok(())
    }
}

/// Blobs hold JSON as a rule: there, a token behind an escape is still a token.
fn scrubbed_content<'a>(bytes: &'a [u8], scrubber: &Scrubber) -> Cow<'a, [u8]> {
    let Ok(mut value) = serde_json::from_slice::<serde_json::Value>(bytes) else {
        return scrubber.bytes(bytes);
    };
    let before = value.clone();
    scrubber.value(&mut value);
    if value == before {
        return scrubber.bytes(bytes);
    }
    Cow::Owned(scrubber.bytes(value.to_string().as_bytes()).into_owned())
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

    fn into_row(self) -> Option<DecisionRow> {
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

fn write_line(out: &mut dyn Write, line: &Line) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
