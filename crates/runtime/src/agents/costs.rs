//! What was used, summed up per agent, model and workflow. From the views, so that no event is read.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_core::budget::day_of;
use longhaul_events::{SessionId, Timestamp};
use longhaul_store::views::{CostRow, SessionRow};
use serde::Serialize;

use crate::error::Error;
use crate::reader::Reader;

/// What one agent used with one model on one workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CostView {
    pub agent: String,
    /// `PROVIDER/MODEL`; nobody's, for turns that say by themselves what they used.
    pub model: Option<String>,
    pub workflow: Option<String>,
    pub sessions: u64,
    /// Requests with a bill, and turns that need none.
    pub requests: u64,
    /// All of it, what came from a cache and went into one included.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub output: u64,
    /// In millionths of a dollar.
    pub cost_micros: u64,
    /// Requests without a bill, and what is set aside for them; it counts against the budgets and is not in the rest.
    pub unbilled: u64,
    pub held_tokens: u64,
    pub held_micros: u64,
}

impl Reader {
    /// What was used since a moment, whole days (UTC); without one, ever. The dearest first.
    pub fn costs(&self, since: Option<Timestamp>) -> Result<Vec<CostView>, Error> {
        Ok(summed(&self.sessions()?, since.map(day_of)))
    }
}

/// What a row is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Subject {
    agent: String,
    model: Option<String>,
    workflow: Option<String>,
}

#[derive(Debug, Default)]
struct Sum {
    row: CostRow,
    sessions: BTreeSet<SessionId>,
}

fn summed(rows: &[SessionRow], since: Option<i64>) -> Vec<CostView> {
    let mut sums: BTreeMap<Subject, Sum> = BTreeMap::new();
    for session in rows {
        let within = session.driven.costs.0.iter().filter(|row| since.is_none_or(|since| row.day >= since));
        for row in within {
            let model = row.model.as_ref().map(|model| match &row.provider {
                Some(provider) => format!("{provider}/{model}"),
                None => model.clone(),
            });
            let subject = Subject { agent: row.agent.clone(), model, workflow: session.workflow.clone() };
            let sum = sums.entry(subject).or_default();
            sum.row.absorb(row);
            sum.sessions.insert(session.id);
        }
    }
    let mut views: Vec<CostView> = sums.into_iter().map(|(subject, sum)| view(subject, &sum)).collect();
    views.sort_by_key(|view| std::cmp::Reverse(view.cost_micros.saturating_add(view.held_micros)));
    views
}

fn view(subject: Subject, sum: &Sum) -> CostView {
    let Subject { agent, model, workflow } = subject;
    let row = &sum.row;
    CostView {
        agent,
        model,
        workflow,
        sessions: u64::try_from(sum.sessions.len()).unwrap_or(u64::MAX),
        requests: row.requests,
        input: row.usage.input,
        cache_read: row.usage.cache_read,
        cache_write: row.usage.cache_write,
        output: row.usage.output,
        cost_micros: row.cost_micros,
        unbilled: row.unbilled,
        held_tokens: row.held.tokens.input.saturating_add(row.held.tokens.output),
        held_micros: row.held.cost_micros,
    }
}
