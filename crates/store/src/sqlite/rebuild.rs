//! Mending what is derived from the decisions: heads, links, milestones.

use std::collections::BTreeMap;

use longhaul_events::{Digest, Position, Seq};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::rows::{DECISION_COLUMNS, DecisionRow, HeadRow, Place};
use super::{quarantine, schema};
use crate::error::StoreError;
use crate::log::Head;

/// A stream as its decisions tell it.
struct Told {
    head: Head,
    position: Position,
    decisions: u64,
    /// Decisions whose link or milestone is not what it should be.
    wrong: Vec<(Position, Place)>,
    /// A decision that is not what was written, or does not follow the one before.
    broken: bool,
}

impl Told {
    const NOTHING: Self = Self {
        head: Head { seq: Seq(0), hash: Digest::ZERO, at: longhaul_events::Timestamp(i64::MIN), state: None },
        position: Position(0),
        decisions: 0,
        wrong: Vec::new(),
        broken: false,
    };
}

/// Mends every stream whose decisions are whole; the others stay as they are. Returns how many were mended.
pub(super) fn rebuild(connection: &mut Connection) -> Result<u64, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    schema::may_write(&transaction)?;
    let streams = tell(&transaction)?;
    // Positions are given out without gaps: without one, no decision is missing anywhere.
    let decisions: u64 = streams.values().map(|told| told.decisions).sum();
    let is_whole = Position(decisions) == super::read::last_position(&transaction)?;
    let extent = if is_whole { Extent::Whole } else { Extent::WithGaps };
    let mut mended = 0;
    for (stream, told) in streams {
        if !told.broken {
            let made = mend(&transaction, &stream, told, extent)?;
            // A head that was not mended may still be one that cannot be read.
            let lifted = quarantine::lift(&transaction, &stream).or_else(in_doubt)?;
            mended += u64::from(made || lifted);
        }
    }
    transaction.commit()?;
    Ok(mended)
}

fn in_doubt(error: StoreError) -> Result<bool, StoreError> {
    match error {
        StoreError::Damaged { .. } => Ok(false),
        other => Err(other),
    }
}

/// Reads all decisions in the order of commits, which is the order within each stream too.
fn tell(transaction: &Transaction<'_>) -> Result<BTreeMap<String, Told>, StoreError> {
    let sql = format!("SELECT {DECISION_COLUMNS}, before, milestone FROM decision ORDER BY position");
    let mut statement = transaction.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut streams: BTreeMap<String, Told> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let links: (u64, Option<u64>) = (row.get(10)?, row.get(11)?);
        let row = DecisionRow::read(row)?;
        let told = streams.entry(row.decision.stream.clone()).or_insert(Told::NOTHING);
        take(told, row, links);
    }
    Ok(streams)
}

fn take(told: &mut Told, row: DecisionRow, links: (u64, Option<u64>)) {
    let Ok(decision) = row.verify() else {
        told.broken = true;
        return;
    };
    if decision.seq != told.head.seq.plus(1) || decision.previous != told.head.hash {
        told.broken = true;
        return;
    }
    let place = if told.decisions == 0 { Place::FIRST } else { Place::at(told.position, told.decisions) };
    if links != (place.before(), place.milestone()) {
        told.wrong.push((decision.position, place));
    }
    told.head = Head { seq: decision.last_seq(), hash: decision.hash, at: decision.at, state: None };
    told.position = decision.position;
    told.decisions += 1;
}

/// Whether decisions are missing anywhere in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    WithGaps,
}

/// Without a head, only a whole log shows that the last decisions of a stream are there.
fn mend(transaction: &Transaction<'_>, stream: &str, told: Told, extent: Extent) -> Result<bool, StoreError> {
    for (position, place) in &told.wrong {
        let sql = "UPDATE decision SET before = ?2, milestone = ?3 WHERE position = ?1";
        transaction.execute(sql, params![position.0, place.before(), place.milestone()])?;
    }
    let stored = match HeadRow::load(transaction, stream) {
        Err(StoreError::Damaged { .. }) => None,
        other => other?,
    };
    let fits = |row: &HeadRow| {
        (row.head.seq, row.head.hash, row.position, row.decisions)
            == (told.head.seq, told.head.hash, told.position, told.decisions)
    };
    match &stored {
        Some(row) if fits(row) => return Ok(!told.wrong.is_empty()),
        // A sound head that names more than is there means that the last decisions are gone.
        Some(row) if row.head.seq >= told.head.seq => return Ok(false),
        None if extent == Extent::WithGaps => return Ok(false),
        _ => {}
    }
    // A mark outlives the proof of the row that it stands in.
    let quarantined: Option<String> = transaction
        .query_row("SELECT quarantined FROM head WHERE stream = ?1", [stream], |row| row.get(0))
        .optional()?
        .flatten();
    transaction.execute("DELETE FROM head WHERE stream = ?1", [stream])?;
    let row = HeadRow { head: told.head, position: told.position, decisions: told.decisions, quarantined };
    row.save(transaction, stream)?;
    Ok(true)
}
