//! `longhaul stats`: what runs of workflows took, and how they came out.

use std::process::ExitCode;

use longhaul_runtime::types::{Spread, Timestamp, show_count, show_money};
use longhaul_runtime::{StatsQuery, StatsView};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::moment;
use crate::output::Row;

/// Show per workflow how long runs take, what they use and how they come out.
///
/// Each figure is the middle one and one that only a twentieth is above, of the runs that came to their end by themselves.
/// `TIME` is time at work: what waits for a person, for money or for a limit does not count. Turns, tokens and cost are
/// with those of all sessions that a run led to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this workflow.
    #[arg(long, value_name = "ID")]
    workflow: Option<String>,

    /// Only runs that began since then: a date such as `2026-11-01`, or how long ago, such as `30d`.
    #[arg(long, value_name = "WHEN", value_parser = moment::since)]
    since: Option<Timestamp>,
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct StatsRow(StatsView);

impl Row for StatsRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let stats = &self.0.stats;
        let both = |spread: Spread, shown: fn(u64) -> String| match stats.measured {
            0 => "-".to_owned(),
            _ => format!("{} / {}", shown(spread.p50), shown(spread.p95)),
        };
        let outcomes: Vec<String> =
            stats.outcomes.iter().map(|(end, number)| format!("{} {number}", end.word())).collect();
        vec![
            ("WORKFLOW", stats.workflow.clone()),
            ("RUNS", stats.runs.to_string()),
            ("TIME P50 / P95", both(stats.duration_ms, moment::length)),
            ("TURNS", both(stats.turns, |turns| turns.to_string())),
            ("TOKENS", both(stats.tokens, show_count)),
            ("COST", both(stats.cost_micros, show_money)),
            ("OUTCOMES", outcomes.join(", ")),
        ]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let query = StatsQuery { workflow: args.workflow.clone(), since: args.since };
    let reader = context.system()?.reader()?;
    let views = reader.map_or_else(|| Ok(Vec::new()), |reader| reader.stats(&query))?;
    if views.is_empty() {
        let narrower = args.workflow.is_some() || args.since.is_some();
        let which = if narrower { "no run of that is on record" } else { "nothing was run yet" };
        context.output.say(&format!("{which}; `longhaul run` starts something"));
        return Ok(ExitCode::SUCCESS);
    }
    context.output.rows(&views.into_iter().map(StatsRow).collect::<Vec<_>>())?;
    Ok(ExitCode::SUCCESS)
}
