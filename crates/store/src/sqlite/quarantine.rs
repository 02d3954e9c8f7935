//! When a stream that lost events may go on again: as soon as all of them are back, and not before.
//!
//! Only a mark that says which event was the last can be lifted. Where nobody knows how far a stream had come,
//! nothing that is brought back shows that nothing is missing.

use longhaul_events::Seq;
use rusqlite::Connection;

use super::read;
use super::rows::{DecisionRow, HeadRow};
use crate::error::StoreError;

/// Takes the mark off a stream that is whole again. Says whether there was one to take off.
pub(super) fn lift(connection: &Connection, stream: &str) -> Result<bool, StoreError> {
    let Some(mut row) = HeadRow::load(connection, stream)? else { return Ok(false) };
    let all_back = row.quarantined.as_deref().and_then(lost_until).is_some_and(|last| last <= row.head.seq);
    if !all_back || !is_whole(connection, stream, &row)? {
        return Ok(false);
    }
    row.quarantined = None;
    row.save(connection, stream)?;
    Ok(true)
}

/// The last event that is known to be lost, in the words of `doctor --recover`.
fn lost_until(reason: &str) -> Option<Seq> {
    let (_, last) =
        reason.strip_prefix("events ")?.strip_suffix(" were lost to damage")?.split_once(" to ")?;
    last.parse().ok().map(Seq)
}

/// Whether every decision from the first to the head is there, verifies and follows the one before.
fn is_whole(connection: &Connection, stream: &str, head: &HeadRow) -> Result<bool, StoreError> {
    let rows = match read::rows_from(connection, stream, head, read::Span::ALL) {
        Ok(rows) => rows,
        Err(StoreError::Quarantined { .. } | StoreError::Damaged { .. }) => return Ok(false),
        Err(error) => return Err(error),
    };
    let Ok(decisions) = rows.into_iter().map(DecisionRow::verify).collect::<Result<Vec<_>, _>>() else {
        return Ok(false);
    };
    let ends = decisions.last().map(|last| (last.last_seq(), last.hash));
    let chained = read::check_run(&decisions, stream, Seq(0)).is_ok();
    Ok(chained && ends == Some((head.head.seq, head.head.hash)))
}
