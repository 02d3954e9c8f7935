//! `cargo xtask test`: everything that must hold before a change is handed over, cheapest stage first.

use std::io::Write as _;
use std::time::Instant;

use crate::error::Error;
use crate::process;
use crate::tidy::{self, Repo};
use crate::{Verdict, doctests};

/// Check formatting, lints and house rules, then run all tests.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run the harnesses with their full figures (hundreds of kills, thousands of seeds).
    #[arg(long)]
    full: bool,
}

/// One thing to run, with the name that its line shows.
#[derive(Debug)]
struct Stage {
    name: &'static str,
    work: Work,
}

#[derive(Debug)]
enum Work {
    Cargo { arguments: Vec<&'static str>, environment: Vec<(&'static str, &'static str)> },
    Tidy,
}

pub(crate) fn run(args: &Args) -> Result<Verdict, Error> {
    let nextest = process::stdout(process::command("cargo").args(["nextest", "--version"]));
    if nextest.is_err() {
        return Err(Error::NextestMissing);
    }
    let repo = Repo::load()?;
    for stage in stages(args, &repo) {
        let started = Instant::now();
        let verdict = stage.work.run(&repo)?;
        let seconds = started.elapsed().as_secs_f64();
        let word = match verdict {
            Verdict::Good => "ok",
            Verdict::Bad => "FAILED",
        };
        writeln!(std::io::stderr(), "xtask test: {:<8} {word} in {seconds:.1} s", stage.name)?;
        if verdict == Verdict::Bad {
            return Ok(Verdict::Bad);
        }
    }
    Ok(Verdict::Good)
}

/// The tests come last, so that the last thing on the screen is their summary.
fn stages(args: &Args, repo: &Repo) -> Vec<Stage> {
    let mut stages = vec![
        Stage { name: "fmt", work: Work::cargo(&["fmt", "--all", "--check"]) },
        Stage { name: "tidy", work: Work::Tidy },
        Stage {
            name: "clippy",
            work: Work::cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        },
    ];
    if doctests::present(repo) {
        stages.push(Stage { name: "doc", work: Work::cargo(&["test", "--doc", "--workspace"]) });
    }
    stages.push(Stage { name: "nextest", work: nextest(args) });
    stages
}

fn nextest(args: &Args) -> Work {
    let mut arguments = vec!["nextest", "run", "--workspace"];
    let mut environment = Vec::new();
    if args.full {
        arguments.extend(["--profile", "full"]);
        environment.push(("LONGHAUL_TEST_LEVEL", "full"));
    }
    Work::Cargo { arguments, environment }
}

impl Work {
    fn cargo(arguments: &[&'static str]) -> Self {
        Self::Cargo { arguments: arguments.to_vec(), environment: Vec::new() }
    }

    fn run(&self, repo: &Repo) -> Result<Verdict, Error> {
        match self {
            Self::Tidy => tidy::report(repo, tidy::CHECKS.iter()),
            Self::Cargo { arguments, environment } => {
                let mut cargo = process::command("cargo");
                cargo.args(arguments).envs(environment.iter().copied());
                let passed = process::succeeds(&mut cargo)?;
                Ok(if passed { Verdict::Good } else { Verdict::Bad })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(repo: &Repo) -> Vec<&'static str> {
        stages(&Args { full: false }, repo).iter().map(|stage| stage.name).collect()
    }

    #[test]
    fn the_tests_are_the_last_stage() {
        assert_eq!(names(&Repo::of(&[])), ["fmt", "tidy", "clippy", "nextest"]);
    }

    #[test]
    fn documentation_tests_get_a_stage_only_if_there_are_any() {
        let repo = Repo::of(&[("crates/core/src/lib.rs", "//! ```\n//! assert!(true);\n//! ```\n")]);
        assert_eq!(names(&repo), ["fmt", "tidy", "clippy", "doc", "nextest"]);
    }

    #[test]
    fn the_full_level_has_its_own_profile_and_variable() {
        let Work::Cargo { arguments, environment } = nextest(&Args { full: true }) else {
            panic!("nextest is a cargo stage");
        };
        assert_eq!(arguments, ["nextest", "run", "--workspace", "--profile", "full"]);
        assert_eq!(environment, [("LONGHAUL_TEST_LEVEL", "full")]);
    }
}
