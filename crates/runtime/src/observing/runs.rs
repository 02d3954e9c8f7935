//! Runs of workflows, from the views: no event is read.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use longhaul_core::session::Spent;
use longhaul_core::stats::{self, Budgets, Estimate, Run, RunEnd, WorkflowStats};
use longhaul_events::{SessionId, Timestamp};
use longhaul_store::views::SessionRow;
use serde::Serialize;

use crate::error::Error;
use crate::reader::{Reader, outcome_of};
use crate::runner::Patience;
use crate::system::System;

/// What the runs of one workflow came to, and what that suggests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatsView {
    #[serde(flatten)]
    pub stats: WorkflowStats,
    /// For how long nothing may be heard in a run.
    pub silence: Budgets,
}

/// Which runs are counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatsQuery {
    pub workflow: Option<String>,
    /// Those that began then or later.
    pub since: Option<Timestamp>,
}

impl Reader {
    /// What the runs of each workflow came to, with what they suggest.
    pub fn stats(&self, query: &StatsQuery) -> Result<Vec<StatsView>, Error> {
        let mut runs = runs_of(&self.sessions()?);
        runs.retain(|run| {
            query.since.is_none_or(|since| run.began >= since)
                && query.workflow.as_ref().is_none_or(|workflow| run.workflow == *workflow)
        });
        let usual = budgets(Patience::default());
        let view = |stats: WorkflowStats| StatsView {
            silence: stats::budgets(&stats.workflow, &runs, usual),
            stats,
        };
        Ok(stats::by_workflow(&runs).into_iter().map(view).collect())
    }

    /// All runs that are on record.
    pub fn runs(&self) -> Result<Vec<Run>, Error> {
        Ok(runs_of(&self.sessions()?))
    }

    /// What is left of a session that goes on, by the runs of its workflow; `None` if too little is known.
    pub fn estimate(&self, id: SessionId) -> Result<Option<Estimate>, Error> {
        let rows = self.sessions()?;
        let Some(row) = rows.iter().find(|row| row.id == id) else { return Ok(None) };
        let (Some(workflow), None) = (&row.workflow, outcome_of(row)) else { return Ok(None) };
        Ok(stats::estimate(workflow, row.driven.worked.ms(), &runs_of(&rows)))
    }
}

/// Every session that follows a workflow is a run of it, with what those below it used.
pub(crate) fn runs_of(rows: &[SessionRow]) -> Vec<Run> {
    let mut below: BTreeMap<SessionId, Vec<&SessionRow>> = BTreeMap::new();
    for row in rows {
        if let Some(parent) = row.parent {
            below.entry(parent).or_default().push(row);
        }
    }
    let whole = rows.iter().filter(|row| row.damage.is_none());
    whole.filter_map(|row| run(row, &below)).collect()
}

fn run(row: &SessionRow, below: &BTreeMap<SessionId, Vec<&SessionRow>>) -> Option<Run> {
    let spent = spent(row, below);
    Some(Run {
        workflow: row.workflow.clone()?,
        began: row.opened_at,
        end: RunEnd::of(outcome_of(row).as_ref()),
        work_ms: row.driven.worked.ms(),
        turns: spent.turns,
        tokens: spent.tokens.input.saturating_add(spent.tokens.output),
        cost_micros: spent.money_micros,
        longest: row.driven.worked.longest,
    })
}

/// What it and all below it used.
fn spent(row: &SessionRow, below: &BTreeMap<SessionId, Vec<&SessionRow>>) -> Spent {
    let (mut sum, mut due, mut seen) = (Spent::default(), vec![row], BTreeSet::new());
    while let Some(next) = due.pop() {
        // An import may claim that sessions are below each other.
        if seen.insert(next.id) {
            sum = crate::reader::with(sum, next.driven.spent);
            due.extend(below.get(&next.id).into_iter().flatten());
        }
    }
    sum
}

impl System {
    /// How long nothing may be heard in a session, by the runs of its workflow: never less than by default. All sessions are
    /// looked at, so it is asked only once the default is over.
    pub(crate) fn longer_patience(&self, reader: Option<&Reader>, id: SessionId) -> Patience {
        let usual = self.patience();
        let told = || {
            let rows = reader?.sessions().ok()?;
            let workflow = rows.iter().find(|row| row.id == id)?.workflow.clone()?;
            Some(stats::budgets(&workflow, &runs_of(&rows), budgets(usual)))
        };
        // What cannot be told is as usual.
        told().map_or(usual, |told| Patience {
            call: Duration::from_millis(told.call_ms).max(usual.call),
            turn: Duration::from_millis(told.turn_ms).max(usual.turn),
        })
    }
}

fn budgets(patience: Patience) -> Budgets {
    let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Budgets { call_ms: ms(patience.call), turn_ms: ms(patience.turn) }
}
