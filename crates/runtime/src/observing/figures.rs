//! All figures of an installation, as `core::metrics` renders them.

use std::collections::BTreeMap;

use longhaul_core::metrics::{Consumer, DaemonFigures, Figures, Used};
use longhaul_core::outcome::Live;
use longhaul_core::stats;
use longhaul_store::views::SessionRow;

use super::runs::runs_of;
use crate::error::Error;
use crate::reader::{Reader, live_of};

/// Gathers them. Of what only a daemon knows it is told.
pub fn figures(reader: &Reader, daemon: Option<DaemonFigures>) -> Result<Figures, Error> {
    let sessions = reader.sessions()?;
    let (tasks, damaged) = reader.tasks()?;
    let mut states: BTreeMap<String, u64> = BTreeMap::new();
    tasks.iter().for_each(|task| *states.entry(task.state.word().to_owned()).or_default() += 1);
    if !damaged.is_empty() {
        states.insert("damaged".to_owned(), u64::try_from(damaged.len()).unwrap_or(u64::MAX));
    }
    let mut doing: BTreeMap<String, u64> = BTreeMap::new();
    for live in sessions.iter().filter_map(live_of) {
        *doing.entry(word(&live).to_owned()).or_default() += 1;
    }
    Ok(Figures {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        log_position: reader.last_position()?.0,
        tasks: states,
        sessions: doing,
        usage: usage(&sessions),
        turns: sessions.iter().map(|row| row.driven.spent.turns).fold(0, u64::saturating_add),
        workflows: stats::by_workflow(&runs_of(&sessions)),
        daemon,
    })
}

/// Without the name of the tool, which an agent may have made up.
const fn word(live: &Live) -> &'static str {
    match live {
        Live::Thinking => "thinking",
        Live::Tool(_) => "tool",
        Live::Idle => "idle",
        Live::Parked => "parked",
        Live::Stuck => "stuck",
        Live::Lost => "lost",
    }
}

fn usage(sessions: &[SessionRow]) -> BTreeMap<Consumer, Used> {
    let mut usage: BTreeMap<Consumer, Used> = BTreeMap::new();
    for row in sessions.iter().flat_map(|session| &session.driven.costs.0) {
        let model = match (&row.provider, &row.model) {
            (Some(provider), Some(model)) => format!("{provider}/{model}"),
            (None, Some(model)) => model.clone(),
            (_, None) => String::new(),
        };
        let used = usage.entry(Consumer { agent: row.agent.clone(), model }).or_default();
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut used.requests, row.requests);
        add(&mut used.input_tokens, row.usage.input);
        add(&mut used.output_tokens, row.usage.output);
        add(&mut used.cost_micros, row.cost_micros);
    }
    usage
}
