//! `cargo xtask tidy`: the house rules that a machine can hold.
//!
//! A rule is a file here and a row in [`CHECKS`]. A check reads the [`Repo`] value and nothing else, so each
//! is tested on samples in memory. A check that cannot fail proves nothing: every one has a bad sample.

mod crate_direction;
mod error_codes;
mod finding;
mod golden;
mod invariants;
mod lexer;
mod markers;
mod modules;
mod packages;
mod private_facts;
mod processes;
mod purity;
mod repo;
mod rust_file;
mod size;

use std::io::Write as _;

use clap::builder::PossibleValuesParser;

pub(crate) use self::repo::Repo;

use self::finding::Finding;
use crate::Verdict;
use crate::error::Error;

/// Check the house rules: crate direction, purity, sizes, golden samples and more.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these checks; all of them if none is named.
    #[arg(value_name = "CHECK", value_parser = PossibleValuesParser::new(CHECKS.iter().map(|check| check.name)))]
    checks: Vec<String>,
}

/// A house rule. Documents name it as `tidy <name>`.
#[derive(Debug)]
pub(crate) struct Check {
    name: &'static str,
    run: fn(&Repo) -> Vec<Finding>,
}

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "crate-direction", run: crate_direction::check },
    Check { name: "purity", run: purity::check },
    Check { name: "size", run: size::check },
    Check { name: "modules", run: modules::check },
    Check { name: "golden", run: golden::check },
    Check { name: "error-codes", run: error_codes::check },
    Check { name: "markers", run: markers::check },
    Check { name: "processes", run: processes::check },
    Check { name: "invariants", run: invariants::check },
    Check { name: "private-facts", run: private_facts::check },
];

pub(crate) fn run(args: &Args) -> Result<Verdict, Error> {
    let repo = Repo::load()?;
    let named = |check: &&Check| args.checks.is_empty() || args.checks.iter().any(|name| name == check.name);
    report(&repo, CHECKS.iter().filter(named))
}

/// Prints a line per finding to stdout and the count to stderr.
pub(crate) fn report<'a>(repo: &Repo, checks: impl Iterator<Item = &'a Check>) -> Result<Verdict, Error> {
    let mut findings: Vec<Finding> = checks.flat_map(|check| (check.run)(repo)).collect();
    findings.sort();
    let mut stdout = std::io::stdout().lock();
    for finding in &findings {
        writeln!(stdout, "{finding}")?;
    }
    if findings.is_empty() {
        return Ok(Verdict::Good);
    }
    writeln!(std::io::stderr(), "xtask tidy: {} findings", findings.len())?;
    Ok(Verdict::Bad)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::CHECKS;

    #[test]
    fn no_two_checks_share_a_name() {
        let names: BTreeSet<_> = CHECKS.iter().map(|check| check.name).collect();
        assert_eq!(names.len(), CHECKS.len());
    }
}
