//! The bars that are figures. Ratios in one run, medians of interleaved rounds: machines are noisy.

mod append;
mod cli;
mod demo;
mod intake;
mod many;
mod mcp;
mod memory;
mod models;
mod queue;
mod rehearsal;
mod sandbox;
mod stage;
pub(super) mod walk;
mod watching;
mod workflows;
mod worktree;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::driver::{Failure, say};

#[derive(Debug, clap::Args)]
pub(in crate::driver) struct Args {
    /// The release binary of the product.
    #[arg(long)]
    longhaul: PathBuf,
    /// Only the bars whose name contains this.
    #[arg(long)]
    only: Option<String>,
}

/// One bar.
struct Bar {
    name: &'static str,
    unit: &'static str,
    limit: Limit,
    value: f64,
}

#[derive(Clone, Copy)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
    /// Reported for comparison; nothing to hold.
    Reported,
}

/// A measurement that gives one or more bars.
struct Bench {
    names: &'static [&'static str],
    run: fn(&Args) -> Result<Vec<Bar>, Failure>,
}

const BENCHES: &[Bench] = &[
    // First: until it executes, a child is charged with the memory of the process that starts it.
    Bench { names: cli::NAMES, run: cli::run },
    Bench { names: sandbox::NAMES, run: sandbox::run },
    Bench { names: worktree::NAMES, run: worktree::run },
    Bench { names: rehearsal::TURN_NAMES, run: rehearsal::turns },
    Bench { names: rehearsal::GO_ON_NAMES, run: rehearsal::go_on },
    Bench { names: rehearsal::MANY_NAMES, run: rehearsal::many },
    Bench { names: demo::NAMES, run: demo::run },
    Bench { names: models::TOKEN_NAMES, run: models::first_token },
    Bench { names: models::MEMORY_NAMES, run: models::session_memory },
    Bench { names: walk::PROCESS_NAMES, run: walk::processes },
    Bench { names: append::NAMES, run: append::run },
    Bench { names: walk::NAMES, run: walk::run },
    Bench { names: walk::LONG_NAMES, run: walk::late_and_early },
    Bench { names: append::LONG_NAMES, run: append::long_streams },
    Bench { names: many::NAMES, run: many::streams },
    Bench { names: many::PROCESS_NAMES, run: many::processes },
    Bench { names: watching::NAMES, run: watching::latency },
    Bench { names: watching::IDLE_NAMES, run: watching::idle },
    Bench { names: workflows::NAMES, run: workflows::validate },
    Bench { names: queue::NAMES, run: queue::plans },
    Bench { names: intake::NAMES, run: intake::run },
    Bench { names: mcp::NAMES, run: mcp::run },
    Bench { names: mcp::HTTP_NAMES, run: mcp::over_http },
];

pub(in crate::driver) fn run(args: &Args) -> Result<(), Failure> {
    // People run what an installer copied to its place, and a copy starts measurably faster than what a linker wrote.
    let folder = tempfile::tempdir()?;
    let installed = folder.path().join("longhaul");
    fs::copy(&args.longhaul, &installed)?;
    let args = &Args { longhaul: installed, only: args.only.clone() };
    let wanted = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(&**only));
    for bench in BENCHES.iter().filter(|bench| bench.names.iter().any(|name| wanted(name))) {
        for bar in (bench.run)(args)? {
            say(&bar.line())?;
        }
    }
    Ok(())
}

impl Bar {
    fn new(name: &'static str, value: f64, unit: &'static str, limit: Limit) -> Self {
        Self { name, unit, limit, value }
    }

    fn line(&self) -> String {
        let (limit, holds) = match self.limit {
            Limit::AtMost(limit) => (Some(limit), self.value <= limit),
            Limit::AtLeast(limit) => (Some(limit), self.value >= limit),
            Limit::Reported => (None, true),
        };
        let value = (self.value * 1000.0).round() / 1000.0;
        json!({"name": self.name, "value": value, "unit": self.unit, "limit": limit, "holds": holds})
            .to_string()
    }
}

fn timed<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<Duration, Failure> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// The value below which the given share of the samples lies.
fn quantile(samples: &[f64], share: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index into a list")]
    #[expect(clippy::cast_precision_loss, reason = "there are far fewer samples than an f64 can count")]
    let index = ((sorted.len() - 1) as f64 * share).round() as usize;
    sorted[index]
}

fn median(samples: &[f64]) -> f64 {
    quantile(samples, 0.5)
}
