//! A process over `Commands` that tests kill and benches measure. It plays the part that agents and drivers
//! have in the product: it finishes steps, one after the other, and says which ones were acknowledged.

mod advance;
mod bench;
mod keep;
mod walk;
mod watch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

pub use walk::DIES_AT;

use clap::{Parser, Subcommand};
use longhaul_core::scrub::Scrubber;
use longhaul_runtime::{Commands, Entropy, Places, SystemClock};
use longhaul_store::{Access, Options, SqliteLog};

#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Finish steps and acknowledge each on standard output.
    Advance(advance::Args),
    /// Say when each commit was noticed.
    Watch(watch::Args),
    /// Measure, and print one JSON line for each bar.
    Bench(bench::Args),
    /// Walk a workflow to its end.
    Walk(walk::Args),
    /// Perform the work of a session, as the hidden verb of the product does.
    Runner { session: String },
    /// Advance a walk by one step and print the next handle.
    Step {
        #[arg(long)]
        home: PathBuf,
        #[arg(long)]
        handle: String,
    },
    /// Do something to the worktree of a session.
    Keep(keep::Args),
    /// Print the schema that this build knows.
    Schema,
}

/// Any failure, as text: this is a tool for tests.
type Failure = Box<dyn std::error::Error>;

/// The whole program; the binaries differ only in the schema that they were built with.
pub fn main() -> ExitCode {
    let result = match Arguments::parse().verb {
        Verb::Advance(args) => advance::run(&args),
        Verb::Watch(args) => watch::run(&args),
        Verb::Bench(args) => bench::run(&args),
        Verb::Walk(args) => walk::run(&args),
        Verb::Runner { session } => walk::runner(&session),
        Verb::Step { home, handle } => bench::walk::step(&home, &handle).and_then(|next| say(&next)),
        Verb::Keep(args) => keep::run(&args),
        Verb::Schema => say(&longhaul_store::SCHEMA_VERSION.to_string()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "driver: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a line that the other end of the pipe sees at once.
fn say(line: &str) -> Result<(), Failure> {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

fn store(home: &Path) -> Result<Arc<SqliteLog>, Failure> {
    let places = Places::under(home);
    let poke = Some(places.poke_socket());
    Ok(Arc::new(SqliteLog::open(&Options { folder: places.data, poke, access: Access::Write })?))
}

fn commands(store: Arc<SqliteLog>) -> Commands {
    Commands::over_store(store, Scrubber::new(&[]), Arc::new(SystemClock), Entropy::System)
}
