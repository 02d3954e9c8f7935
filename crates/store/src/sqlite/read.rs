//! Reading with verification: an answer is what was written, or an error.

use longhaul_events::{Digest, Position, Seq};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::rows::{DECISION_COLUMNS, DecisionRow, HeadRow, has_decisions};
use crate::error::StoreError;
use crate::log::{DamagedRow, Decision, Head};

/// The end of a stream.
///
/// A damaged or missing head does not hide a stream: its decisions are in another table and chained.
pub(super) fn head(connection: &mut Connection, stream: &str) -> Result<Option<Head>, StoreError> {
    // One snapshot: a first commit must not fall between the two looks.
    let snapshot = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
    match HeadRow::load(&snapshot, stream) {
        Ok(Some(row)) => match row.quarantined {
            Some(reason) => Err(StoreError::Quarantined { stream: stream.to_owned(), reason }),
            None => Ok(Some(row.head)),
        },
        Ok(None) if !has_decisions(&snapshot, stream)? => Ok(None),
        Ok(None) => Err(quarantined(stream, "its head is missing")),
        Err(StoreError::Damaged { what }) => Err(quarantined(stream, &what)),
        Err(error) => Err(error),
    }
}

fn quarantined(stream: &str, reason: &str) -> StoreError {
    StoreError::Quarantined { stream: stream.to_owned(), reason: reason.to_owned() }
}

/// A run of decisions, chained to each other, to the one before, and, at the end, to the head.
pub(super) fn stream(
    connection: &mut Connection,
    stream: &str,
    after: Seq,
    limit: usize,
) -> Result<Vec<Decision>, StoreError> {
    let snapshot = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
    let Some(head) = HeadRow::load(&snapshot, stream).map_err(|error| as_quarantine(stream, error))? else {
        return if has_decisions(&snapshot, stream)? {
            Err(quarantined(stream, "its head is missing"))
        } else {
            Ok(Vec::new())
        };
    };
    if after >= head.head.seq || limit == 0 {
        return Ok(Vec::new());
    }
    let rows = rows_from(&snapshot, stream, &head, Span { from: after.plus(1), most: limit })
        .map_err(|error| as_quarantine(stream, error))?;
    let mut decisions = Vec::with_capacity(rows.len());
    for row in rows {
        decisions.push(row.verify().map_err(|reason| quarantined(stream, &reason))?);
    }
    check_run(&decisions, stream, after).map_err(|reason| quarantined(stream, &reason))?;
    let last = decisions.last().ok_or_else(|| quarantined(stream, "its last events are missing"))?;
    let complete = decisions.len() < limit || last.last_seq() >= head.head.seq;
    if complete && (last.last_seq() != head.head.seq || last.hash != head.head.hash) {
        return Err(quarantined(stream, "its last events are missing"));
    }
    Ok(decisions)
}

/// Damage that was met while reading one stream is that stream's.
fn as_quarantine(stream: &str, error: StoreError) -> StoreError {
    match error {
        StoreError::Damaged { what } => quarantined(stream, &what),
        other => other,
    }
}

/// Which rows of a stream: from the one that holds an event, and how many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) from: Seq,
    pub(super) most: usize,
}

impl Span {
    pub(super) const ALL: Self = Self { from: Seq(1), most: usize::MAX };
}

/// Rows in order: from milestone to milestone, and within each stretch backwards along the links.
pub(super) fn rows_from(
    connection: &Connection,
    stream: &str,
    head: &HeadRow,
    span: Span,
) -> Result<Vec<DecisionRow>, StoreError> {
    let Span { from: mut wanted, most: limit } = span;
    let mut rows: Vec<DecisionRow> = Vec::new();
    while rows.len() < limit && wanted <= head.head.seq {
        let end = milestone_from(connection, stream, wanted)?.unwrap_or(head.position);
        let stretch = stretch(connection, stream, end, wanted)?;
        let last = &stretch[stretch.len() - 1].decision;
        if last.last_seq() < wanted {
            return Err(quarantined(stream, &format!("event {wanted} is missing")));
        }
        wanted = last.last_seq().plus(1);
        rows.extend(stretch);
    }
    rows.truncate(limit);
    Ok(rows)
}

fn milestone_from(
    connection: &Connection,
    stream: &str,
    wanted: Seq,
) -> Result<Option<Position>, StoreError> {
    let found: Option<u64> = connection
        .prepare_cached(
            "SELECT position FROM decision
             WHERE stream = ?1 AND seq >= ?2 AND milestone IS NOT NULL ORDER BY seq LIMIT 1",
        )?
        .query_row(params![stream, wanted.0], |row| row.get(0))
        .optional()?;
    Ok(found.map(Position))
}

/// The rows that end at a position and begin with the one that holds event `wanted`; never empty.
fn stretch(
    connection: &Connection,
    stream: &str,
    end: Position,
    wanted: Seq,
) -> Result<Vec<DecisionRow>, StoreError> {
    let sql = format!("SELECT {DECISION_COLUMNS}, before FROM decision WHERE position = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows: Vec<DecisionRow> = Vec::new();
    let mut position = end;
    loop {
        let found = statement
            .query_row([position.0], |row| Ok((DecisionRow::read(row)?, row.get::<_, u64>(10)?)))
            .optional()?;
        // Links lead back in time and in the same stream; one that does not was not written by us.
        let fits = |row: &DecisionRow| {
            row.decision.stream == stream
                && rows.last().is_none_or(|later| row.decision.seq < later.decision.seq)
        };
        let Some((row, before)) = found.filter(|(row, _)| fits(row)) else {
            return Err(quarantined(stream, &format!("the way to event {wanted} is broken")));
        };
        let arrived = row.decision.seq <= wanted;
        rows.push(row);
        if arrived {
            rows.reverse();
            return Ok(rows);
        }
        position = Position(before);
    }
}

/// The row that begins with an event, if there is one.
pub(super) fn row_at(
    connection: &Connection,
    stream: &str,
    head: &HeadRow,
    seq: Seq,
) -> Result<Option<DecisionRow>, StoreError> {
    let found = rows_from(connection, stream, head, Span { from: seq, most: 1 })?;
    Ok(found.into_iter().next().filter(|row| row.decision.seq == seq))
}

/// Dense numbers and linked hashes; the first row must be the one that holds the event after `after`.
pub(super) fn check_run(decisions: &[Decision], stream: &str, after: Seq) -> Result<(), String> {
    let Some(first) = decisions.first() else { return Ok(()) };
    let starts_right = first.seq.0 <= after.0 + 1 && first.last_seq() > after;
    let begins_chain = first.seq != Seq(1) || first.previous == Digest::ZERO;
    if !starts_right || !begins_chain {
        return Err(format!("event {} is missing", after.0 + 1));
    }
    for pair in decisions.windows(2) {
        if pair[1].seq != pair[0].last_seq().plus(1) || pair[1].previous != pair[0].hash {
            return Err(format!("event {} is missing", pair[0].last_seq().0 + 1));
        }
    }
    match decisions.iter().find(|decision| decision.stream != stream) {
        Some(stranger) => Err(format!("event {} belongs to another stream", stranger.seq)),
        None => Ok(()),
    }
}

/// Decisions of all streams, each verified by itself.
pub(super) fn since(
    connection: &Connection,
    after: Position,
    limit: usize,
) -> Result<Vec<Result<Decision, DamagedRow>>, StoreError> {
    let sql =
        format!("SELECT {DECISION_COLUMNS} FROM decision WHERE position > ?1 ORDER BY position LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement
        .query_map(params![after.0, limit], |row| Ok((row.get::<_, u64>(0)?, DecisionRow::read(row))))?;
    rows.map(|row| {
        let (position, row) = row?;
        let damaged = |stream: &str, reason: String| DamagedRow {
            position: Position(position),
            stream: stream.to_owned(),
            reason,
        };
        // A row that cannot even be read says nothing of its stream, and hides no other row.
        let Ok(row) = row else { return Ok(Err(damaged("?", "it cannot be read".to_owned()))) };
        let stream = row.decision.stream.clone();
        Ok(row.verify().map_err(|reason| damaged(&stream, reason)))
    })
    .collect()
}

pub(super) fn last_position(connection: &Connection) -> Result<Position, StoreError> {
    let mut statement = connection.prepare_cached("SELECT coalesce(max(position), 0) FROM decision")?;
    Ok(Position(statement.query_row([], |row| row.get(0))?))
}
