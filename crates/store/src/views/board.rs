//! The rows of the views in memory, for a process that watches all the time: each look costs only what is new.

use std::collections::BTreeMap;

use longhaul_events::{Position, Seq, StreamId};

use super::{BATCH, Followed, Row, SessionRow, TaskRow, Views};
use crate::error::StoreError;
use crate::log::{DamagedRow, Decision, Log};

/// Rows as of a position in the log. What nobody needs any more may be forgotten; it is made again if it goes on.
#[derive(Debug, Default)]
pub struct Board {
    rows: BTreeMap<StreamId, Row>,
    position: Position,
}

impl Board {
    /// All that the views hold now.
    pub fn load(views: &Views, log: &dyn Log) -> Result<Self, StoreError> {
        let Followed { rows, position } = views.all(log)?;
        let rows = rows.into_iter().filter_map(|(stream, row)| Some((stream.parse().ok()?, row))).collect();
        Ok(Self { rows, position })
    }

    /// Takes in what was committed since the last look, and names the streams that changed.
    pub fn follow(&mut self, log: &dyn Log) -> Result<Vec<StreamId>, StoreError> {
        let mut changed = Vec::new();
        loop {
            let decisions = log.since(self.position, BATCH)?;
            let is_last = decisions.len() < BATCH;
            for decision in decisions {
                changed.extend(self.take(log, decision)?);
            }
            if is_last {
                changed.sort_unstable();
                changed.dedup();
                return Ok(changed);
            }
        }
    }

    fn take(
        &mut self,
        log: &dyn Log,
        decision: Result<Decision, DamagedRow>,
    ) -> Result<Option<StreamId>, StoreError> {
        let (position, name, first, last) = match &decision {
            Ok(decision) => (decision.position, &decision.stream, decision.seq, Some(decision.last_seq())),
            Err(damaged) => (damaged.position, &damaged.stream, Seq(1), None),
        };
        self.position = position;
        // A kind that only a newer release knows is nothing to this one.
        let Ok(stream) = name.parse::<StreamId>() else { return Ok(None) };
        let before = self.rows.remove(&stream);
        let row = match before {
            // It was made again from the whole stream, which had this already.
            Some(row) if last.is_some_and(|last| last <= row.seq()) => Some(row),
            None if first > Seq(1) => folded(log, stream)?,
            before => Row::after(before, decision),
        };
        self.rows.extend(row.map(|row| (stream, row)));
        Ok(Some(stream))
    }

    /// Lets go of what is over.
    pub fn forget(&mut self, stream: StreamId) {
        self.rows.remove(&stream);
    }

    pub fn rows(&self) -> impl Iterator<Item = (&StreamId, &Row)> {
        self.rows.iter()
    }

    pub fn row(&self, stream: StreamId) -> Option<&Row> {
        self.rows.get(&stream)
    }

    pub fn tasks(&self) -> impl Iterator<Item = &TaskRow> {
        self.rows.values().filter_map(|row| match row {
            Row::Task(row) => Some(&**row),
            Row::Session(_) | Row::Workspace(_) | Row::Trigger(_) | Row::Service(_) => None,
        })
    }

    pub fn sessions(&self) -> impl Iterator<Item = &SessionRow> {
        self.rows.values().filter_map(|row| match row {
            Row::Session(row) => Some(&**row),
            Row::Task(_) | Row::Workspace(_) | Row::Trigger(_) | Row::Service(_) => None,
        })
    }

    /// How far it has followed the log.
    pub const fn position(&self) -> Position {
        self.position
    }
}

/// The row of a stream from its beginning to its end, which may be beyond the decision that is being followed.
fn folded(log: &dyn Log, stream: StreamId) -> Result<Option<Row>, StoreError> {
    let mut row = None;
    let mut after = Seq(0);
    loop {
        let decisions = log.read(stream, after, BATCH)?;
        let is_last = decisions.len() < BATCH;
        for decision in decisions {
            after = decision.last_seq();
            row = Row::after(row, Ok(decision));
        }
        if is_last {
            return Ok(row);
        }
    }
}
