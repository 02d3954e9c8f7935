//! Where a session stands in the tree that is its task.

use std::collections::BTreeMap;

use longhaul_core::session::Spent;
use longhaul_events::SessionId;
use longhaul_store::views::SessionRow;

use super::Reader;
use super::paying::root;
use crate::error::Error;
use crate::workers::WORKER;

/// What the log has of the sessions around one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Family {
    /// How many are above it, one above the other.
    pub(crate) depth: usize,
    /// How many workers its task has had, those that are over among them.
    pub(crate) workers: usize,
    /// How many other sessions below its first.
    pub(crate) children: usize,
    /// What all below it have used.
    pub(crate) below: Spent,
}

impl Reader {
    pub(crate) fn family(&self, id: SessionId) -> Result<Family, Error> {
        Ok(family(&self.sessions()?, id))
    }

    /// The sessions of the task of one that follow a workflow, or all of them.
    pub(crate) fn of_task(&self, id: SessionId, workflow: &str) -> Result<Vec<SessionId>, Error> {
        let rows = self.sessions()?;
        let parents: BTreeMap<SessionId, SessionId> =
            rows.iter().filter_map(|row| Some((row.id, row.parent?))).collect();
        let task = root(&parents, id);
        let is_meant =
            |row: &&SessionRow| row.workflow.as_deref() == Some(workflow) && root(&parents, row.id) == task;
        Ok(rows.iter().filter(is_meant).map(|row| row.id).collect())
    }

    /// All sessions below one that are no workers, the oldest first.
    pub(crate) fn below(&self, id: SessionId) -> Result<Vec<SessionId>, Error> {
        let mut rows = self.sessions()?;
        rows.sort_by_key(|row| (row.opened_at, row.id));
        let parents: BTreeMap<SessionId, SessionId> =
            rows.iter().filter_map(|row| Some((row.id, row.parent?))).collect();
        let is_meant = |row: &&SessionRow| {
            row.id != id && row.workflow.as_deref() != Some(WORKER) && root(&parents, row.id) == id
        };
        Ok(rows.iter().filter(is_meant).map(|row| row.id).collect())
    }

    /// The workers below a session that somebody was to do, the oldest first.
    pub(super) fn workers_below(&self, id: SessionId) -> Result<Vec<SessionId>, Error> {
        let mut rows = self.sessions()?;
        rows.retain(|row| row.driven.agent.is_some() && row.workflow.as_deref() == Some(WORKER));
        rows.sort_by_key(|row| (row.opened_at, row.id));
        let mut found = vec![id];
        // A worker is opened after whoever asked it.
        for row in rows {
            if row.parent.is_some_and(|parent| found.contains(&parent)) && !found.contains(&row.id) {
                found.push(row.id);
            }
        }
        Ok(found.split_off(1))
    }
}

fn family(rows: &[SessionRow], id: SessionId) -> Family {
    let parents: BTreeMap<SessionId, SessionId> =
        rows.iter().filter_map(|row| Some((row.id, row.parent?))).collect();
    // Bounded, because an import may claim anything.
    let above = |id: SessionId| {
        std::iter::successors(parents.get(&id).copied(), |id| parents.get(id).copied()).take(parents.len())
    };
    let task = root(&parents, id);
    let mut family = Family { depth: above(id).count(), workers: 0, children: 0, below: Spent::default() };
    for row in rows {
        let is_worker = row.parent.is_some() && row.workflow.as_deref() == Some(WORKER);
        if row.parent.is_some() && root(&parents, row.id) == task {
            if is_worker {
                family.workers += 1;
            } else {
                family.children += 1;
            }
        }
        if above(row.id).any(|above| above == id) {
            let Spent { turns, tokens, money_micros } = row.driven.spent;
            let below = &mut family.below;
            below.turns = below.turns.saturating_add(turns);
            below.tokens.input = below.tokens.input.saturating_add(tokens.input);
            below.tokens.output = below.tokens.output.saturating_add(tokens.output);
            below.money_micros = below.money_micros.saturating_add(money_micros);
        }
    }
    family
}
