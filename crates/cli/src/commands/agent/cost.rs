//! `longhaul agent cost`: what was used, and what it cost.

use std::process::ExitCode;

use longhaul_runtime::CostView;
use longhaul_runtime::types::{Timestamp, show_money};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::moment;
use crate::output::Row;

/// Show tokens and money per agent, model and workflow, the dearest first.
///
/// What a provider billed is counted as it said; where it said nothing, as we counted. `HELD` is set aside for requests
/// that have no bill yet, or that were under way when somebody was killed; it counts against budgets and is not in the
/// other figures. Days are those of universal time.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// From this day on: a date such as `2026-11-01`, or how long ago, such as `7d`.
    #[arg(long, value_name = "WHEN", value_parser = moment::since)]
    since: Option<Timestamp>,
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct CostRow(CostView);

impl Row for CostRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let Self(view) = self;
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let held = match view.unbilled {
            0 => "-".to_owned(),
            requests => format!("{} for {requests}", show_money(view.held_micros)),
        };
        vec![
            ("AGENT", view.agent.clone()),
            ("MODEL", or_none(&view.model)),
            ("WORKFLOW", or_none(&view.workflow)),
            ("SESSIONS", view.sessions.to_string()),
            ("REQUESTS", view.requests.to_string()),
            ("INPUT", view.input.to_string()),
            ("CACHED", view.cache_read.to_string()),
            ("OUTPUT", view.output.to_string()),
            ("MONEY", show_money(view.cost_micros)),
            ("HELD", held),
        ]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let reader = context.system()?.reader()?;
    let views = reader.map_or_else(|| Ok(Vec::new()), |reader| reader.costs(args.since))?;
    if views.is_empty() {
        context.output.say("nothing was used; sessions that `longhaul run` drives are counted here");
        return Ok(ExitCode::SUCCESS);
    }
    let sum = |part: fn(&CostView) -> u64| views.iter().map(part).fold(0, u64::saturating_add);
    let (money, held) = (sum(|view| view.cost_micros), sum(|view| view.held_micros));
    let tokens = sum(|view| view.input.saturating_add(view.output));
    let held = if held > 0 { format!(", {} held", show_money(held)) } else { String::new() };
    let total = format!("in all {tokens} tokens, {}{held}", show_money(money));
    context.output.rows(&views.into_iter().map(CostRow).collect::<Vec<_>>())?;
    context.output.say(&total);
    Ok(ExitCode::SUCCESS)
}
