//! `longhaul agent list`: who there is.

use std::process::ExitCode;

use longhaul_runtime::types::{show_count, show_money};
use longhaul_runtime::{AgentState, AgentView, ModelView};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// List who can be asked: agents and providers of models, how each is paid, and what is missing.
///
/// Nothing is started or asked for that; `longhaul agent check` tries them. A model is named after its provider, as in
/// `anthropic/claude-opus`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// List the models that windows and prices are known of.
    #[arg(long)]
    models: bool,
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct AgentRow(AgentView);

impl Row for AgentRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let Self(view) = self;
        let state = match (view.state, view.obstacle()) {
            (AgentState::Ready, _) | (_, None) => "ready".to_owned(),
            (AgentState::UsedUp, Some(obstacle)) => obstacle.finding.clone(),
            (AgentState::Missing, Some(obstacle)) => format!("missing: {}", obstacle.finding),
            (AgentState::Failing, Some(obstacle)) => format!("does not work: {}", obstacle.finding),
        };
        vec![
            ("NAME", view.name.clone()),
            ("KIND", view.kind.clone()),
            ("PAID BY", view.paid.clone()),
            ("STATE", state),
        ]
    }
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct ModelRow(ModelView);

impl Row for ModelRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let Self(view) = self;
        let count = |count: Option<u64>| count.map_or_else(|| "unknown".to_owned(), show_count);
        let money = |micros: Option<u64>| micros.map_or_else(|| "unknown".to_owned(), show_money);
        vec![
            ("NAME", view.name.clone()),
            ("WINDOW", count(view.window)),
            ("OUTPUT", count(view.max_output)),
            ("1M IN", money(view.input_micros)),
            ("1M OUT", money(view.output_micros)),
            ("ALSO", view.aliases.join(", ")),
        ]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    if args.models {
        let (models, as_of) = system.known_models()?;
        context.output.rows(&models.into_iter().map(ModelRow).collect::<Vec<_>>())?;
        let own = system.places().models().display().to_string();
        context.output.say(&format!("prices as of {as_of}; what you know better goes into `{own}`"));
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<AgentRow> = system.agents()?.into_iter().map(AgentRow).collect();
    let lacks = |row: &AgentRow| matches!(row.0.state, AgentState::Missing | AgentState::Failing);
    let lacks = rows.iter().any(lacks);
    context.output.rows(&rows)?;
    if lacks {
        context.output.say("`longhaul agent check NAME` says how to get what is missing");
    }
    Ok(ExitCode::SUCCESS)
}
