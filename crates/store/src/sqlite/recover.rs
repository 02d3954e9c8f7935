//! Salvage: a new database from everything in the old one that can still prove itself.
//!
//! The old files are set aside, never changed. A stream whose chain is whole goes on as before; one that lost
//! events keeps what is proven and is quarantined, because going on from there would do again what was done.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use longhaul_core::canonical::sha256;
use longhaul_events::{Digest, Position, Seq, Timestamp};
use rusqlite::{Connection, Transaction, params};

use super::aside::{self, with_suffix};
use super::blobs::BlobFiles;
use super::connection::Mode;
use super::pages::{self, Cell, RawRow, Search};
use super::rows::{DECISION_COLUMNS, DecisionRow, HeadRow, Place, insert_decision};
use super::verify::{Verdict, blobs_of};
use super::{
    Access, Options, SqliteLog, connection, database_path, open_checked, replace, restore, schema, vanished,
};
use crate::blob::INLINE_LIMIT;
use crate::error::StoreError;
use crate::log::{Decision, Head};
use crate::witness;

/// What a salvage brought over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    pub intact: Vec<String>,
    /// Streams that lost events, with what is missing.
    pub quarantined: Vec<(String, String)>,
    pub blobs: u64,
    /// Decisions that were committed and are nowhere to be found.
    pub lost: u64,
    pub set_aside: Option<PathBuf>,
    /// Databases that were set aside before this, and may hold more.
    pub set_aside_before: Vec<PathBuf>,
}

/// A decision that verified, and the digest after redaction.
type Proven = (Decision, Option<Digest>);

#[derive(Default)]
struct Salvage {
    /// How far the log had come, as far as anybody remembers.
    seen: Position,
    identity: Option<witness::Identity>,
    /// By stream and hash, so that the same row found twice counts once.
    decisions: BTreeMap<(String, Digest), Proven>,
    /// The hashes of the decisions that SQLite itself showed.
    shown: BTreeSet<Digest>,
    blobs: BTreeMap<Digest, SavedBlob>,
    heads: BTreeMap<String, HeadRow>,
    /// Why streams were quarantined before, even if their heads no longer prove themselves.
    marks: BTreeMap<String, String>,
}

struct SavedBlob {
    bytes: u64,
    at: Timestamp,
    data: Option<Vec<u8>>,
    dropped: Option<i64>,
    redacted: Option<Digest>,
}

/// Whether a salvage could bring nothing that is not there already. Asked by one who is about to salvage, so
/// nobody may be using it.
pub fn is_whole(folder: &Path) -> Result<bool, StoreError> {
    if !super::is_there(folder)? {
        return Err(StoreError::Absent { path: database_path(folder) });
    }
    drop(replace::alone(folder, "recovering")?);
    let reading = Options { folder: folder.to_owned(), poke: None, access: Access::Read };
    let log = match SqliteLog::open(&reading) {
        Err(StoreError::Damaged { .. } | StoreError::NotOurs { .. }) => return Ok(false),
        log => log?,
    };
    match is_sound(&log) {
        Err(StoreError::Damaged { .. }) => Ok(false),
        answer => answer,
    }
}

fn is_sound(log: &SqliteLog) -> Result<bool, StoreError> {
    for stream in log.stream_names()? {
        match log.verify_stream(&stream)?.verdict {
            Verdict::Broken(_) => return Ok(false),
            // What was lost before is not in there to be found.
            Verdict::Intact | Verdict::Unreadable(_) | Verdict::Quarantined(_) => {}
        }
    }
    let all_positions = log.reading(|connection| {
        let count: u64 = connection.query_row("SELECT count(*) FROM decision", [], |row| row.get(0))?;
        Ok(Position(count) == super::read::last_position(connection)?)
    })?;
    Ok(all_positions && log.verify_structure()?.is_empty() && log.verify_blobs()?.is_empty())
}

/// Builds a new database from the old one in `folder`, which nobody may be using.
pub fn recover(folder: &Path, stamp: &str) -> Result<Recovered, StoreError> {
    let path = database_path(folder);
    if !super::is_there(folder)? {
        return Err(StoreError::Absent { path });
    }
    let alone = replace::alone(folder, "recovering")?;
    if vanished::is_fresh(folder)? {
        return Err(StoreError::Absent { path });
    }
    let set_aside_before = aside::databases(folder)?.into_iter().collect();
    let salvage = gather(folder, &path)?;
    let workshop = replace::workshop(folder, &alone)?;
    let recovered = build(workshop.path(), &salvage)?;
    restore::settle(&database_path(workshop.path()))?;
    let set_aside = replace::replace(workshop, &format!("damaged-{stamp}"), &alone)?;
    Ok(Recovered { set_aside, set_aside_before, ..recovered })
}

/// Collects from three sides: forwards and backwards through SQLite until it fails, and page by page.
fn gather(folder: &Path, path: &Path) -> Result<Salvage, StoreError> {
    let mut salvage = Salvage::default();
    let testimony = witness::testimony(folder);
    // Read before SQLite opens them: it takes what it cannot follow for torn.
    let main = read_if_there(path)?;
    let log = read_if_there(&with_suffix(path, "-wal"))?;
    if !main.is_empty()
        && let Ok(database) = connection::open(path, Mode::ReadOnly)
    {
        for order in ["ASC", "DESC"] {
            salvage.take_from_tables(&database, order);
        }
        salvage.identity = schema::identity(&database).ok();
    }
    // A witness of another database is none; one of a database that no longer knows its name counts.
    salvage.seen = testimony
        .filter(|(about, _)| salvage.identity.is_none_or(|identity| identity == *about))
        .map_or(Position(0), |(_, seen)| seen);
    pages::rows(&main, &log, Search::Listed, &mut |row| salvage.take_raw(row));
    let files = BlobFiles::new(folder.join("blobs"));
    salvage.take_files(&files);
    if !salvage.is_dense() || salvage.lacks_blobs() {
        pages::rows(&main, &log, Search::Everywhere, &mut |row| salvage.take_raw(row));
    }
    salvage.forget_what_was_never_stored(&files);
    Ok(salvage)
}

/// "Cannot be read" is not "is not there".
fn read_if_there(path: &Path) -> Result<Vec<u8>, StoreError> {
    match fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(StoreError::file("read", path)),
    }
}

impl Salvage {
    fn take_from_tables(&mut self, database: &Connection, order: &str) {
        let sql = format!("SELECT {DECISION_COLUMNS} FROM decision ORDER BY position {order}");
        each_until_failure(database, &sql, |row| {
            let row = DecisionRow::read(row)?;
            self.shown.insert(row.decision.hash);
            self.take(row);
            Ok(())
        });
        let mut names = BTreeSet::new();
        each_until_failure(database, &format!("SELECT stream FROM head ORDER BY stream {order}"), |row| {
            names.insert(row.get::<_, String>(0)?);
            Ok(())
        });
        let marked = "SELECT stream, quarantined FROM head WHERE quarantined IS NOT NULL";
        each_until_failure(database, marked, |row| {
            self.marks.insert(row.get(0)?, row.get(1)?);
            Ok(())
        });
        for name in names {
            if let Ok(Some(head)) = HeadRow::load(database, &name) {
                self.heads.insert(name, head);
            }
        }
        let sql =
            format!("SELECT id, sha256, bytes, at, data, dropped, redacted FROM blob ORDER BY id {order}");
        each_until_failure(database, &sql, |row| {
            let saved = SavedBlob {
                bytes: row.get(2)?,
                at: Timestamp(row.get(3)?),
                data: row.get(4)?,
                dropped: row.get(5)?,
                redacted: row.get::<_, Option<[u8; 32]>>(6)?.map(Digest),
            };
            self.take_blob(Digest(row.get(1)?), saved);
            Ok(())
        });
    }

    fn take(&mut self, row: DecisionRow) {
        let redacted = row.redacted;
        if let Ok(decision) = row.verify() {
            let key = (decision.stream.clone(), decision.hash);
            // Of two rows with one hash the redacted one is the newer.
            let known = self.decisions.get(&key);
            if known.is_none_or(|(_, before)| before.is_none()) {
                self.decisions.insert(key, (decision, redacted));
            }
        }
    }

    fn take_blob(&mut self, hash: Digest, saved: SavedBlob) {
        let proven = saved.data.as_ref().is_none_or(|data| sha256(data) == saved.redacted.unwrap_or(hash));
        let better = self.blobs.get(&hash).is_none_or(|before| {
            before.redacted.is_none() && (saved.redacted.is_some() || before.data.is_none())
        });
        if proven && better {
            self.blobs.insert(hash, saved);
        }
    }

    fn take_raw(&mut self, row: RawRow) {
        let key = row.key;
        if let Some(decision) = raw_decision(key, &row.cells) {
            self.take(decision);
        } else if let Some((hash, saved)) = raw_blob(row.cells) {
            self.take_blob(hash, saved);
        }
    }

    /// A large blob whose row is lost is named by its file.
    fn take_files(&mut self, files: &BlobFiles) {
        let folders = fs::read_dir(files.folder()).into_iter().flatten().flatten();
        let found = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
        for file in found {
            let Ok(hash) = file.file_name().to_string_lossy().parse::<Digest>() else { continue };
            if self.blobs.contains_key(&hash) {
                continue;
            }
            let Ok(bytes) = fs::read(file.path()) else { continue };
            if sha256(&bytes) == hash && bytes.len() > INLINE_LIMIT {
                let (bytes, at) = (bytes.len() as u64, Timestamp(0));
                self.blobs.insert(hash, SavedBlob { bytes, at, data: None, dropped: None, redacted: None });
            }
        }
    }

    /// A blob row without bytes proves nothing by itself: somebody must name it, or its file must be there.
    fn forget_what_was_never_stored(&mut self, files: &BlobFiles) {
        let named: BTreeSet<Digest> = self.named_blobs().collect();
        self.blobs.retain(|hash, blob| {
            let expected = blob.redacted.unwrap_or(*hash);
            let is_stored = || fs::read(files.path(*hash)).is_ok_and(|bytes| sha256(&bytes) == expected);
            blob.data.is_some() || named.contains(hash) || is_stored()
        });
    }

    fn named_blobs(&self) -> impl Iterator<Item = Digest> {
        let named = self.decisions.values().filter_map(|(decision, _)| blobs_of(decision).ok()).flatten();
        named.map(|blob| blob.sha256)
    }

    /// The chain of a stream: back from its head, or, if that does not lead to its first event, from the first
    /// event as far as it holds.
    fn chain(&self, stream: &str) -> Vec<&Proven> {
        let head = self.heads.get(stream).filter(|_| !self.has_gone_back());
        head.and_then(|row| self.chain_to(stream, row.head.hash))
            .unwrap_or_else(|| self.chain_from_start(stream))
    }

    fn chain_to(&self, stream: &str, end: Digest) -> Option<Vec<&Proven>> {
        let mut chain = Vec::new();
        let mut hash = end;
        while hash != Digest::ZERO {
            let proven = self.decisions.get(&(stream.to_owned(), hash))?;
            hash = proven.0.previous;
            chain.push(proven);
        }
        chain.reverse();
        Some(chain)
    }

    /// Pages may hold decisions that were never committed, beside the ones that took their place. What SQLite
    /// showed was committed; of the rest, what came later.
    fn chain_from_start(&self, stream: &str) -> Vec<&Proven> {
        let mut by_previous: BTreeMap<Digest, &Proven> = BTreeMap::new();
        for (key, proven) in self.of_stream(stream) {
            let rank = |hash: &Digest, at: Timestamp| (self.shown.contains(hash), at);
            let better = by_previous
                .get(&proven.0.previous)
                .is_none_or(|other| rank(&key.1, proven.0.at) > rank(&other.0.hash, other.0.at));
            if better {
                by_previous.insert(proven.0.previous, proven);
            }
        }
        let mut chain: Vec<&Proven> = Vec::new();
        let (mut previous, mut seq) = (Digest::ZERO, Seq(1));
        // The head says where the truth ends, unless it was found to be old itself.
        let committed = self.heads.get(stream).map_or(Seq(u64::MAX), |row| row.head.seq);
        let fits = |next: &&&Proven, seq: Seq| {
            next.0.seq == seq && (next.0.last_seq() <= committed || next.0.position <= self.seen)
        };
        while let Some(next) = by_previous.get(&previous).filter(|next| fits(next, seq)) {
            (previous, seq) = (next.0.hash, next.0.last_seq().plus(1));
            chain.push(next);
        }
        chain
    }

    fn of_stream(&self, stream: &str) -> impl Iterator<Item = (&(String, Digest), &Proven)> {
        let start = (stream.to_owned(), Digest::ZERO);
        let end = (stream.to_owned(), Digest([0xff; 32]));
        self.decisions.range(start..=end)
    }

    /// Whether every position up to the last is there. Positions are given out without gaps, so a decision
    /// that was lost leaves one.
    fn is_dense(&self) -> bool {
        let positions: BTreeSet<Position> =
            self.decisions.values().map(|(decision, _)| decision.position).collect();
        positions.len() as u64 == self.last_known().0.max(positions.last().map_or(0, |last| last.0))
    }

    /// How far the log had come, by all accounts.
    fn last_known(&self) -> Position {
        let shown = self.decisions.values().filter(|(decision, _)| self.shown.contains(&decision.hash));
        let shown = shown.map(|(decision, _)| decision.position).max();
        let named = self.heads.values().map(|row| row.position).max();
        // Where SQLite shows nothing at all, every row that proves itself was once committed or about to be.
        let found = || self.decisions.values().map(|(decision, _)| decision.position).max();
        shown.max(named).or_else(found).unwrap_or_default().max(self.seen)
    }

    /// Whether more was committed than the heads know of: then a sound head may be an old one.
    fn has_gone_back(&self) -> bool {
        self.heads.values().map(|row| row.position).max().unwrap_or_default() < self.seen
    }

    /// Whether a decision names a blob that was not found.
    fn lacks_blobs(&self) -> bool {
        self.named_blobs().any(|hash| !self.blobs.contains_key(&hash))
    }

    fn streams(&self) -> BTreeSet<&str> {
        let of_decisions = self.decisions.keys().map(|(stream, _)| &**stream);
        of_decisions.chain(self.heads.keys().map(|stream| &**stream)).collect()
    }

    /// The last position whose decision is lost without anybody knowing of which stream it was. A stream that
    /// lost one in its middle shows it by what comes after.
    fn unexplained_gap(&self) -> Option<Position> {
        let positions: BTreeSet<Position> =
            self.decisions.values().map(|(decision, _)| decision.position).collect();
        let last = self.last_known();
        let lost = last.0.saturating_sub(positions.range(..=last).count() as u64);
        let torn = self.streams().into_iter().filter(|stream| {
            let end = self.chain(stream).last().map_or(Seq(0), |(decision, _)| decision.last_seq());
            self.last_found(stream) > Some(end)
        });
        if lost <= torn.count() as u64 {
            return None;
        }
        (0..=lost).map(|n| Position(last.0 - n)).find(|position| !positions.contains(position))
    }

    fn last_found(&self, stream: &str) -> Option<Seq> {
        let last = self.last_known();
        let found = self.of_stream(stream).map(|(_, (decision, _))| decision);
        found.filter(|decision| decision.position <= last).map(Decision::last_seq).max()
    }

    /// What is missing behind the end of a chain, as far as anything still tells. `gap` is the last decision
    /// that is lost and may be of any stream that has none after it.
    fn missing(&self, stream: &str, chain: &[&Proven], gap: Option<Position>) -> Option<String> {
        let end = chain.last().map_or(Seq(0), |(decision, _)| decision.last_seq());
        let position = chain.last().map_or(Position(0), |(decision, _)| decision.position);
        let in_doubt = gap.is_some_and(|gap| position < gap);
        let head = self.heads.get(stream).filter(|_| !self.has_gone_back());
        let last = head.map(|row| row.head.seq).or(self.last_found(stream)).unwrap_or(end);
        if last > end {
            return Some(format!("events {} to {last} were lost to damage", end.plus(1)));
        }
        let Some(head) = head else {
            return in_doubt.then(|| format!("commits were lost, so events after {end} may be missing"));
        };
        let fits = chain.last().is_some_and(|(decision, _)| decision.hash == head.head.hash);
        (!fits).then(|| "its last events are not the ones that its head names".to_owned())
    }
}

fn each_until_failure(
    database: &Connection,
    sql: &str,
    mut take: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) {
    let Ok(mut statement) = database.prepare(sql) else { return };
    let Ok(mut rows) = statement.query([]) else { return };
    while let Ok(Some(row)) = rows.next() {
        // A row of the wrong shape is not the end: the next one may be whole.
        let _ = take(row);
    }
}

fn raw_decision(key: i64, cells: &[Cell]) -> Option<DecisionRow> {
    let [_, Cell::Text(stream), seq, count, at, Cell::Bytes(body), digest, previous, hash, redacted, ..] =
        cells
    else {
        return None;
    };
    let redacted = digest_of(redacted);
    let decision = Decision {
        position: Position(u64::try_from(key).ok()?),
        stream: stream.clone(),
        seq: Seq(unsigned(seq)?),
        count: unsigned(count)?,
        at: Timestamp(integer(at)?),
        body: body.clone(),
        previous: digest_of(previous)?,
        hash: digest_of(hash)?,
        digest: digest_of(digest)?,
        redacted: redacted.is_some(),
    };
    Some(DecisionRow { decision, redacted })
}

fn raw_blob(cells: Vec<Cell>) -> Option<(Digest, SavedBlob)> {
    let [_, hash, bytes, at, data, dropped, redacted] = <[Cell; 7]>::try_from(cells).ok()?;
    let data = match data {
        Cell::Bytes(data) => Some(data),
        _ => None,
    };
    let (bytes, at) = (unsigned(&bytes)?, Timestamp(integer(&at)?));
    let saved = SavedBlob { bytes, at, data, dropped: integer(&dropped), redacted: digest_of(&redacted) };
    Some((digest_of(&hash)?, saved))
}

fn integer(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Integer(value) => Some(*value),
        Cell::Null | Cell::Real | Cell::Text(_) | Cell::Bytes(_) => None,
    }
}

fn unsigned(cell: &Cell) -> Option<u64> {
    integer(cell).and_then(|value| u64::try_from(value).ok())
}

fn digest_of(cell: &Cell) -> Option<Digest> {
    match cell {
        Cell::Bytes(bytes) => bytes.as_slice().try_into().ok().map(Digest),
        Cell::Null | Cell::Integer(_) | Cell::Real | Cell::Text(_) => None,
    }
}

/// Writes what was proven into a new database.
fn build(folder: &Path, salvage: &Salvage) -> Result<Recovered, StoreError> {
    let mut database = open_checked(folder, Access::Write)?;
    let transaction = database.transaction()?;
    let mut recovered = Recovered { blobs: salvage.blobs.len() as u64, ..Recovered::default() };
    let mut chains: BTreeMap<&str, Chain> = BTreeMap::new();
    let mut rows: Vec<(Position, &Proven)> = Vec::new();
    let gap = salvage.unexplained_gap();
    for stream in salvage.streams() {
        let chain = salvage.chain(stream);
        let missing = salvage.missing(stream, &chain, gap);
        match missing.as_ref().or(salvage.marks.get(stream)) {
            Some(missing) => recovered.quarantined.push((stream.to_owned(), missing.clone())),
            None => recovered.intact.push(stream.to_owned()),
        }
        // A damaged position must not turn the order within a stream.
        rows.extend(chain.into_iter().scan(Position(0), |latest, proven| {
            *latest = proven.0.position.max(*latest);
            Some((*latest, proven))
        }));
        chains.insert(stream, Chain { missing, place: Place::FIRST, last: None, decisions: 0 });
    }
    // In the order of commits, so that whoever follows the log sees a sensible history.
    rows.sort_by_key(|(position, (decision, _))| (*position, decision.seq));
    for (position, (_, (decision, redacted))) in (1..).map(Position).zip(rows) {
        let chain = chains.get_mut(&*decision.stream).expect("each row is of a chain");
        let moved = Decision { position, ..decision.clone() };
        insert_decision(&transaction, &moved, *redacted, chain.place)?;
        chain.decisions += 1;
        chain.place = Place::at(position, chain.decisions);
        chain.last = Some(moved);
    }
    for (stream, chain) in chains {
        let marked = salvage.marks.get(stream).cloned();
        chain.head(salvage.heads.get(stream), marked).save(&transaction, stream)?;
    }
    for (hash, blob) in &salvage.blobs {
        save_blob(&transaction, *hash, blob)?;
    }
    let found = transaction.query_row("SELECT count(*) FROM decision", [], |row| row.get::<_, u64>(0))?;
    recovered.lost = salvage.seen.0.saturating_sub(found);
    transaction.commit()?;
    Ok(recovered)
}

/// A stream while it is written.
struct Chain {
    missing: Option<String>,
    place: Place,
    last: Option<Decision>,
    decisions: u64,
}

impl Chain {
    /// Its head: with its old state if nothing is missing, and with its old mark.
    fn head(self, before: Option<&HeadRow>, marked: Option<String>) -> HeadRow {
        let same = |row: &&HeadRow| self.last.as_ref().is_some_and(|last| last.hash == row.head.hash);
        let state = before.filter(same).and_then(|row| row.head.state.clone());
        let (seq, hash, at, position) =
            self.last.map_or((Seq(0), Digest::ZERO, Timestamp(0), Position(0)), |last| {
                (last.last_seq(), last.hash, last.at, last.position)
            });
        let head = Head { seq, hash, at, state };
        HeadRow { head, position, decisions: self.decisions, quarantined: self.missing.or(marked) }
    }
}

fn save_blob(transaction: &Transaction<'_>, hash: Digest, blob: &SavedBlob) -> Result<(), StoreError> {
    transaction.execute(
        "INSERT INTO blob (sha256, bytes, at, data, dropped, redacted) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![hash.0, blob.bytes, blob.at.0, blob.data, blob.dropped, blob.redacted.map(|digest| digest.0)],
    )?;
    Ok(())
}
