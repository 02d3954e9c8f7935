//! Rows as they are stored, each of which can tell whether it is still what we wrote.

use longhaul_core::canonical::sha256;
use longhaul_core::chain::{Header, link};
use longhaul_events::{Digest, Position, Seq, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};
use sha2::{Digest as _, Sha256};

use crate::append::State;
use crate::error::StoreError;
use crate::log::{Decision, Head};

pub(super) const DECISION_COLUMNS: &str =
    "position, stream, seq, count, at, body, digest, previous, hash, redacted";

/// A decision as read, not yet verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DecisionRow {
    pub(super) decision: Decision,
    pub(super) redacted: Option<Digest>,
}

impl DecisionRow {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let redacted = row.get::<_, Option<[u8; 32]>>(9)?.map(Digest);
        let decision = Decision {
            position: Position(row.get(0)?),
            stream: row.get(1)?,
            seq: Seq(row.get(2)?),
            count: row.get(3)?,
            at: Timestamp(row.get(4)?),
            body: row.get(5)?,
            digest: Digest(row.get(6)?),
            previous: Digest(row.get(7)?),
            hash: Digest(row.get(8)?),
            redacted: redacted.is_some(),
        };
        Ok(Self { decision, redacted })
    }

    /// Checks everything that a row can know of itself: its body, its header, its link.
    pub(super) fn verify(self) -> Result<Decision, String> {
        let decision = &self.decision;
        let body = sha256(&decision.body);
        if body != self.redacted.unwrap_or(decision.digest) {
            return Err(format!("the stored bytes of event {} have changed", decision.seq));
        }
        let header =
            Header { stream: &decision.stream, seq: decision.seq, count: decision.count, at: decision.at };
        if link(decision.previous, &header, decision.digest) != decision.hash || decision.count == 0 {
            return Err(format!("the chain is broken at event {}", decision.seq));
        }
        Ok(self.decision)
    }
}

/// The first decision of a stream and every one so many later can be found by its number; the ones between
/// are reached from there.
const MILESTONE_EVERY: u64 = 32;

/// The hot row of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeadRow {
    pub(super) head: Head,
    /// Where its last decision is.
    pub(super) position: Position,
    pub(super) decisions: u64,
    pub(super) quarantined: Option<String>,
}

impl HeadRow {
    /// `None` if there is no row; an error if there is one that we did not write.
    pub(super) fn load(connection: &Connection, stream: &str) -> Result<Option<Self>, StoreError> {
        let mut statement = connection.prepare_cached(
            "SELECT seq, hash, at, fold_version, state, quarantined, position, decisions, proof
             FROM head WHERE stream = ?1",
        )?;
        let found = statement.query_row([stream], |row| Ok((Self::read(row)?, row.get::<_, [u8; 16]>(8)?)));
        match found.optional()? {
            None => Ok(None),
            Some((row, proof)) if row.proof(stream) == proof => Ok(Some(row)),
            Some(_) => Err(StoreError::damaged(format!("the head of `{stream}` has changed"))),
        }
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let fold_version = row.get(3)?;
        let state = row.get::<_, Option<Vec<u8>>>(4)?.map(|bytes| State { fold_version, bytes });
        let head =
            Head { seq: Seq(row.get(0)?), hash: Digest(row.get(1)?), at: Timestamp(row.get(2)?), state };
        Ok(Self { head, quarantined: row.get(5)?, position: Position(row.get(6)?), decisions: row.get(7)? })
    }

    pub(super) fn save(&self, connection: &Connection, stream: &str) -> rusqlite::Result<()> {
        self.write(
            connection,
            stream,
            "INSERT OR REPLACE INTO head
             (stream, seq, hash, at, fold_version, state, quarantined, proof, position, decisions)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )
    }

    /// For a row that is known to be there: no search for what it might replace.
    pub(super) fn update(&self, connection: &Connection, stream: &str) -> rusqlite::Result<()> {
        self.write(
            connection,
            stream,
            "UPDATE head SET seq = ?2, hash = ?3, at = ?4, fold_version = ?5, state = ?6, quarantined = ?7,
             proof = ?8, position = ?9, decisions = ?10 WHERE stream = ?1",
        )
    }

    fn write(&self, connection: &Connection, stream: &str, sql: &str) -> rusqlite::Result<()> {
        let head = &self.head;
        connection.prepare_cached(sql)?.execute(params![
            stream,
            head.seq.0,
            head.hash.0,
            head.at.0,
            head.state.as_ref().map_or(0, |state| state.fold_version),
            head.state.as_ref().map(|state| &*state.bytes),
            self.quarantined,
            self.proof(stream),
            self.position.0,
            self.decisions,
        ])?;
        Ok(())
    }

    fn proof(&self, stream: &str) -> [u8; 16] {
        let mut hasher = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_be_bytes());
            hasher.update(bytes);
        };
        part(stream.as_bytes());
        part(&self.head.seq.0.to_be_bytes());
        part(&self.head.hash.0);
        part(&self.head.at.0.to_be_bytes());
        part(&self.position.0.to_be_bytes());
        part(&self.decisions.to_be_bytes());
        if let Some(state) = &self.head.state {
            part(&state.fold_version.to_be_bytes());
            part(&state.bytes);
        }
        part(self.quarantined.as_deref().unwrap_or_default().as_bytes());
        let full: [u8; 32] = hasher.finalize().into();
        std::array::from_fn(|n| full[n])
    }
}

/// Whether the stream has a decision, asked of the other table than the head is in.
pub(super) fn has_decisions(connection: &Connection, stream: &str) -> Result<bool, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT 1 FROM decision WHERE stream = ?1 AND milestone IS NOT NULL LIMIT 1")?;
    Ok(statement.exists([stream])?)
}

/// Where a decision stands in its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The decision before it; 0 for the first.
    before: Position,
    /// How many decisions come before it.
    index: u64,
}

impl Place {
    pub(super) const FIRST: Self = Self { before: Position(0), index: 0 };

    pub(super) fn after(row: &HeadRow) -> Self {
        Self::at(row.position, row.decisions)
    }

    pub(super) const fn at(before: Position, index: u64) -> Self {
        Self { before, index }
    }

    pub(super) fn milestone(self) -> Option<u64> {
        self.index.is_multiple_of(MILESTONE_EVERY).then_some(1)
    }

    pub(super) fn before(self) -> u64 {
        self.before.0
    }
}

/// Stores a decision as it is: its hashes are given, not made.
pub(super) fn insert_decision(
    connection: &Connection,
    decision: &Decision,
    redacted: Option<Digest>,
    place: Place,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO decision
             (position, stream, seq, count, at, body, digest, previous, hash, redacted, before, milestone)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            decision.position.0,
            decision.stream,
            decision.seq.0,
            decision.count,
            decision.at.0,
            decision.body,
            decision.digest.0,
            decision.previous.0,
            decision.hash.0,
            redacted.map(|digest| digest.0),
            place.before(),
            place.milestone(),
        ])?;
    Ok(())
}
