//! Taking in an export: all of it or nothing, and nothing that does not verify.
//!
//! It is spooled, looked at and taken in, one after the other, so that somebody can be asked in between.

mod claims;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Seek as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use longhaul_core::canonical::sha256;
use longhaul_core::scrub::Scrubber;
use longhaul_events::{Digest, Seq, SessionId, StreamId};
use rusqlite::{Transaction, TransactionBehavior, params};

use claims::Gathering;
pub use claims::{AnsweredGate, Claims};

use super::blobs::BlobRow;
use super::export::{DecisionLine, Line, Totals, VERSION};
use super::redact::scrubbed_body;
use super::rows::{HeadRow, Place, has_decisions, insert_decision};
use super::verify::blobs_of;
use super::{SqliteLog, quarantine, read, schema};
use crate::blob::INLINE_LIMIT;
use crate::error::StoreError;
use crate::log::{Decision, Head};

/// No decision of ours comes near this many events.
const LONGEST_HEADER: u64 = 4096;
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
        "the export was cut off after line {line}; nothing was imported, export it again and carry all of it over"
    )]
    CutOff { line: u64 },
    #[error(
        "`{stream}` has gone on differently here since event {seq}; nothing was imported, leave that stream out of the export"
    )]
    Diverges { stream: String, seq: Seq },
    #[error("what is here went on while you were looking, nothing was imported; import it again")]
    ChangedMeanwhile,
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Those that the export holds, new here or not.
    pub sessions: BTreeSet<SessionId>,
    /// Decisions about tasks, new here or not.
    pub tasks: u64,
    /// How many of the new streams are tasks.
    pub new_tasks: u64,
    pub streams: u64,
    /// Sessions that were here before and go on with it.
    pub going_on: u64,
    pub decisions: u64,
    pub already_here: u64,
    /// Decisions about workspaces, which belong to the machine that they were made on.
    pub left_out: u64,
    pub blobs: u64,
    /// Decisions and blobs from which secrets were taken out on the way in.
    pub scrubbed: u64,
    /// Streams that were quarantined because events were lost, and are whole again.
    pub lifted: u64,
    /// What of it a person has to vouch for.
    pub claims: Claims,
}

/// An export that was read to its end, and of which nothing is in the log yet.
#[derive(Debug)]
pub struct Spooled<'a> {
    log: &'a SqliteLog,
    scrubber: &'a Scrubber,
    lines: BufReader<File>,
}

/// Whether what is read stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Looking,
    TakingIn,
}

impl SqliteLog {
    /// Reads to the end before anybody is kept waiting: a pipe may take its time, and the lock is everybody's.
    /// The file has no name, and is gone with us.
    pub fn spool<'a>(
        &'a self,
        source: &mut dyn BufRead,
        scrubber: &'a Scrubber,
    ) -> Result<Spooled<'a>, ImportError> {
        let mut file = tempfile::tempfile_in(&self.folder).map_err(self.no_room())?;
        let first = first_line(source)?;
        file.write_all(&first).map_err(self.no_room())?;
        loop {
            let bytes = source.fill_buf().map_err(ImportError::Read)?;
            if bytes.is_empty() {
                break;
            }
            file.write_all(bytes).map_err(self.no_room())?;
            let taken = bytes.len();
            source.consume(taken);
        }
        Ok(Spooled { log: self, scrubber, lines: BufReader::new(file) })
    }

    fn no_room(&self) -> impl FnOnce(std::io::Error) -> ImportError {
        let failed = StoreError::file("keep the export for a while in", &self.folder);
        move |error| ImportError::Store(failed(error))
    }
}

impl Spooled<'_> {
    /// What taking it in would do now. Nothing is changed, and no lock outlives the call.
    pub fn look(&mut self) -> Result<Imported, ImportError> {
        self.log.writing(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let seen = self.read(&transaction, Purpose::Looking)?;
            transaction.rollback()?;
            Ok(seen)
        })
    }

    /// Takes it in: all of it or nothing, and nothing if it claims anything else than what was vouched for. What
    /// is here already is left as it is.
    pub fn take_in(mut self, vouched: &Claims) -> Result<Imported, ImportError> {
        let log = self.log;
        let imported = log.writing(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = self.read(&transaction, Purpose::TakingIn)?;
            if done.claims != *vouched {
                return Err(ImportError::ChangedMeanwhile);
            }
            let last = read::last_position(&transaction)?;
            transaction.commit()?;
            log.file.is_in_place()?;
            log.witness.as_ref().inspect(|witness| witness.saw(last));
            Ok(done)
        })?;
        log.poke();
        Ok(imported)
    }

    fn read(&mut self, transaction: &Transaction<'_>, purpose: Purpose) -> Result<Imported, ImportError> {
        schema::may_write(transaction)?;
        self.lines.rewind().map_err(self.log.no_room())?;
        let mut import = Import {
            log: self.log,
            transaction,
            scrubber: self.scrubber,
            purpose,
            marked: BTreeSet::new(),
            gathering: Gathering::default(),
            done: Imported::default(),
        };
        import.lines(&mut self.lines)?;
        import.lift_marks()?;
        let Import { gathering, mut done, .. } = import;
        done.going_on = gathering.going_on().count() as u64;
        done.claims = gathering.finish(transaction, &self.log.blobs)?;
        Ok(done)
    }
}

struct Import<'a> {
    log: &'a SqliteLog,
    transaction: &'a Transaction<'a>,
    scrubber: &'a Scrubber,
    purpose: Purpose,
    /// Streams that were quarantined here before.
    marked: BTreeSet<String>,
    gathering: Gathering,
    done: Imported,
}

/// How far the reading of an export has come.
#[derive(Default)]
struct Progress {
    version: Option<u32>,
    seen: Totals,
    ended: bool,
    last_line: u64,
}

impl Import<'_> {
    fn lines(&mut self, source: &mut dyn BufRead) -> Result<(), ImportError> {
        let mut progress = Progress::default();
        for (number, text) in (1..).zip(source.lines()) {
            let text = text.map_err(|error| match error.kind() {
                std::io::ErrorKind::InvalidData => not_an_export(number, "it is not text"),
                _ => ImportError::Read(error),
            })?;
            if text.trim().is_empty() {
                continue;
            }
            let line: Line =
                serde_json::from_str(&text).map_err(|error| unreadable(number, &text, &error))?;
            progress.take(number, &line)?;
            self.line(number, line)?;
        }
        match progress {
            Progress { version: None, .. } => Err(not_an_export(1, "it is empty")),
            Progress { version: Some(1), .. } | Progress { ended: true, .. } => Ok(()),
            Progress { last_line, .. } => Err(ImportError::CutOff { line: last_line }),
        }
    }

    fn line(&mut self, number: u64, line: Line) -> Result<(), ImportError> {
        match line {
            // What could not be given there is missed when it is read here.
            Line::Longhaul { .. } | Line::End(_) | Line::LeftOut { .. } => Ok(()),
            Line::Decision(line) => self.decision(number, line),
            Line::Blob { sha256, redacted, data } => self.blob(number, sha256, redacted, &data),
            Line::Dropped { sha256, bytes, redacted } => self.dropped(sha256, bytes, redacted),
            Line::Quarantined { stream, reason } => self.quarantine(number, &stream, reason),
        }
    }

    fn decision(&mut self, number: u64, line: DecisionLine) -> Result<(), ImportError> {
        let broken = |problem: String| ImportError::Broken { line: number, problem };
        match our_stream(number, &line.stream)? {
            StreamId::Session(id) => {
                self.done.sessions.insert(id);
            }
            // It says what a session is for, and nothing runs by it.
            StreamId::Task(_) => self.done.tasks += 1,
            StreamId::Workspace(_) | StreamId::Trigger(_) | StreamId::Daemon(_) => {
                // A workspace and its trust belong to the machine on which a person said so, and what starts work by
                // itself belongs to the machine that serves it.
                self.done.left_out += 1;
                return Ok(());
            }
        }
        if self.scrubber.finds_any(line.stream.as_bytes()) {
            return Err(broken("a known secret is in the name of its stream".to_owned()));
        }
        let row = line.into_row().ok_or_else(|| broken("it has no readable body".to_owned()))?;
        let redacted = row.redacted;
        let decision = row.verify().map_err(broken)?;
        // What nobody here can read would be a stream that nobody here can go on with.
        blobs_of(&decision).map_err(|why| broken(format!("its events cannot be read: {why}")))?;
        let events = serde_json::from_slice::<Vec<serde::de::IgnoredAny>>(&decision.body);
        if events.is_ok_and(|events| events.len() as u64 != decision.count) || decision.count > MOST_EVENTS {
            return Err(broken("it does not hold as many events as it says".to_owned()));
        }
        let stream = &decision.stream;
        let here = self.head(stream)?;
        let (seq, hash) = here.as_ref().map_or((Seq(0), Digest::ZERO), |row| (row.head.seq, row.head.hash));
        if here.as_ref().is_some_and(|row| row.quarantined.is_some()) {
            self.marked.insert(stream.clone());
        }
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
        self.done.new_tasks += u64::from(here.is_none() && decision.stream.starts_with("task/"));
        self.store(decision, redacted, here)
    }

    /// A stream whose lost events are all back may go on.
    fn lift_marks(&mut self) -> Result<(), ImportError> {
        for stream in &self.marked {
            self.done.lifted += u64::from(quarantine::lift(self.transaction, stream)?);
        }
        Ok(())
    }

    /// Where a stream ends here. A head that is gone or damaged while decisions are there was not lost by us,
    /// and nothing is put behind it.
    fn head(&self, stream: &str) -> Result<Option<HeadRow>, StoreError> {
        let in_doubt = |what: &str| StoreError::Quarantined {
            stream: stream.to_owned(),
            reason: format!(
                "{what}, nothing was imported; run `longhaul doctor --rebuild`, then import again"
            ),
        };
        match HeadRow::load(self.transaction, stream) {
            Ok(None) if has_decisions(self.transaction, stream)? => Err(in_doubt("its head is missing")),
            Err(StoreError::Damaged { what }) => Err(in_doubt(&what)),
            other => other,
        }
    }

    /// A mark that came with a stream stays with it.
    fn quarantine(&mut self, number: u64, stream: &str, reason: String) -> Result<(), ImportError> {
        our_stream(number, stream)?;
        if let Some(mut here) = self.head(stream)? {
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
        self.gathering.decision(&decision, here.as_ref())?;
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
        // What is here and whole stays as it is, and of what was redacted only the redacted form comes back.
        let redacted_here = BlobRow::load(self.transaction, hash)?.and_then(|row| row.redacted);
        if redacted_here.is_some_and(|here| redacted != Some(here))
            || self.log.blobs.read(self.transaction, hash).is_ok()
        {
            return Ok(());
        }
        let clean = scrubbed_content(&bytes, self.scrubber);
        self.done.scrubbed += u64::from(matches!(clean, Cow::Owned(_)));
        self.gathering.content(hash, &clean, redacted);
        let redacted = (sha256(&clean) != hash).then(|| sha256(&clean));
        // Whoever only looks leaves no file behind.
        let inline = clean.len() <= INLINE_LIMIT || self.purpose == Purpose::Looking;
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
    /// Known here, in whatever state, it stays as it is.
    fn dropped(&mut self, hash: Digest, bytes: u64, redacted: Option<Digest>) -> Result<(), ImportError> {
        self.transaction.execute(
            "INSERT INTO blob (sha256, bytes, at, dropped, redacted) VALUES (?1, ?2, 0, 0, ?3)
             ON CONFLICT (sha256) DO NOTHING",
            params![hash.0, bytes, redacted.map(|digest| digest.0)],
        )?;
        Ok(())
    }
}

impl Progress {
    /// Checks that a line may stand where it stands.
    fn take(&mut self, number: u64, line: &Line) -> Result<(), ImportError> {
        if self.ended {
            return Err(not_an_export(number, "it stands behind the end"));
        }
        match line {
            Line::Longhaul { export: version @ 1..=VERSION } => self.version = Some(*version),
            Line::Longhaul { export } => {
                return Err(not_an_export(number, &format!("version {export} is not known")));
            }
            _ if self.version.is_none() => return Err(not_an_export(number, "it does not begin as one")),
            Line::End(totals) if *totals != self.seen => {
                let problem = "the last line counts other lines than there are".to_owned();
                return Err(ImportError::Broken { line: number, problem });
            }
            Line::End(_) => self.ended = true,
            Line::Decision(_)
            | Line::Blob { .. }
            | Line::Dropped { .. }
            | Line::LeftOut { .. }
            | Line::Quarantined { .. } => {}
        }
        self.seen.count(line);
        self.last_line = number;
        Ok(())
    }
}

/// An endless file is found out by its beginning, and not by a full disk.
fn first_line(source: &mut dyn BufRead) -> Result<Vec<u8>, ImportError> {
    let mut line = Vec::new();
    source.take(LONGEST_HEADER).read_until(b'\n', &mut line).map_err(ImportError::Read)?;
    let begins_well = line.is_empty() || serde_json::from_slice::<Line>(&line).is_ok();
    if begins_well { Ok(line) } else { Err(not_an_export(1, "it does not begin as one")) }
}

fn not_an_export(line: u64, problem: &str) -> ImportError {
    ImportError::NotAnExport { line, problem: problem.to_owned() }
}

/// A line that ends in the middle is where a copy was cut off, and not somebody else's file.
fn unreadable(line: u64, text: &str, error: &serde_json::Error) -> ImportError {
    if error.is_eof() && text.starts_with("{\"") {
        return ImportError::CutOff { line };
    }
    not_an_export(line, &error.to_string())
}

/// Only names that this release gives out: whatever else is stored, nobody could ever use.
fn our_stream(number: u64, name: &str) -> Result<StreamId, ImportError> {
    let parsed: Option<StreamId> = name.parse().ok();
    parsed.filter(|stream| stream.to_string() == name).ok_or_else(|| {
        let shown: String = name.chars().take(80).collect();
        ImportError::Broken { line: number, problem: format!("`{shown}` is not the name of a stream") }
    })
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
