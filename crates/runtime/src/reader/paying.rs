//! What sessions cost together: those of a tree, and those of a day.

use std::collections::BTreeMap;

use longhaul_events::SessionId;
use longhaul_store::views::SessionRow;

use super::Reader;
use crate::error::Error;

/// Sums that a session is part of, in millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paid {
    /// By it and all others of its task.
    pub(crate) task_micros: u64,
    /// By all sessions, on the day.
    pub(crate) day_micros: u64,
}

impl Reader {
    /// What the tree of a session and the day have cost so far.
    pub(crate) fn paid_beside(&self, id: SessionId, day: i64) -> Result<Paid, Error> {
        Ok(paid(&self.sessions()?, id, day))
    }
}

fn paid(rows: &[SessionRow], id: SessionId, day: i64) -> Paid {
    let parents: BTreeMap<SessionId, SessionId> =
        rows.iter().filter_map(|row| Some((row.id, row.parent?))).collect();
    let root = root(&parents, id);
    let task = rows.iter().find(|row| row.id == id).and_then(|row| row.task);
    // All attempts at a task are paid from one purse. Sessions from before there were tasks have only their tree.
    let is_same = |row: &SessionRow| match (task, row.task) {
        (Some(one), Some(other)) => one == other,
        (None, _) | (_, None) => self::root(&parents, row.id) == root,
    };
    let mut paid = Paid { task_micros: 0, day_micros: 0 };
    for row in rows {
        if is_same(row) {
            paid.task_micros = paid.task_micros.saturating_add(row.driven.spent.money_micros);
        }
        let today = row.driven.money_by_day.get(&day).copied().unwrap_or_default();
        paid.day_micros = paid.day_micros.saturating_add(today);
    }
    paid
}

/// The session that nobody else led to. Bounded, because an import may claim anything.
pub(super) fn root(parents: &BTreeMap<SessionId, SessionId>, id: SessionId) -> SessionId {
    let up = |id: &SessionId| parents.get(id).copied();
    std::iter::successors(Some(id), up).take(parents.len() + 1).last().unwrap_or(id)
}
