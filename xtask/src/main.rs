//! Repository chores, called as `cargo xtask <verb>`.
//!
//! One file per verb. Nothing here is part of the product, and no other crate may depend on it.

mod bench;
mod conformance;
mod doctests;
mod error;
mod fuzz;
mod process;
mod test;
mod tidy;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;

/// Repository chores of Longhaul.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Tidy(tidy::Args),
    Test(test::Args),
    Bench(bench::Args),
    Fuzz(fuzz::Args),
    Conformance(conformance::Args),
}

/// What a verb found. An `Error` is something else: the verb could not do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    Bad,
}

fn main() -> ExitCode {
    let verdict = match Cli::parse().verb {
        Verb::Tidy(args) => tidy::run(&args),
        Verb::Test(args) => test::run(&args),
        Verb::Bench(args) => bench::run(&args),
        Verb::Fuzz(args) => fuzz::run(&args),
        Verb::Conformance(args) => conformance::run(&args),
    };
    match verdict {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::from(1),
        Err(error) => {
            report(&error);
            ExitCode::from(4)
        }
    }
}

fn report(error: &Error) {
    let mut message = format!("xtask: {error}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        message.push_str(": ");
        message.push_str(&cause.to_string());
        source = cause.source();
    }
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(std::io::stderr(), "{message}");
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
