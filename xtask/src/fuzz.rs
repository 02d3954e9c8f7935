//! `cargo xtask fuzz`: lets a fuzzer make up what outsiders could hand to the core.
//!
//! It installs nothing. What a run learned stays in `fuzz/corpus` and what it broke in `fuzz/artifacts`; neither is in git.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;

use crate::Verdict;
use crate::error::Error;
use crate::process;

/// An input that takes longer counts as a hang.
const INPUT_SECONDS: u64 = 5;
const MEMORY_MB: u64 = 2048;

/// Fuzz the parts that read what outsiders wrote.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this target; without it, one after the other.
    target: Option<Target>,
    /// How long each target runs.
    #[arg(long, value_name = "N", default_value_t = 600)]
    seconds: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// Workflow files of our own format.
    Native,
    /// Workflow files of the WorkRail format.
    Workrail,
    /// Conditions and patterns.
    Condition,
    /// Templates.
    Template,
    /// What agents hand in.
    Advance,
    /// What clients write to the MCP server.
    Mcp,
}

pub(crate) fn run(args: &Args) -> Result<Verdict, Error> {
    let installed = process::stdout(process::command("cargo").args(["fuzz", "--version"]));
    if installed.is_err() {
        return Err(Error::CargoFuzzMissing);
    }
    let all = args.target.as_ref().map_or(Target::value_variants(), std::slice::from_ref);
    let mut verdict = Verdict::Good;
    for &target in all {
        writeln!(std::io::stderr(), "xtask fuzz: {} for {} s", target.name(), args.seconds)?;
        let corpus = process::workspace_root().join(target.corpus());
        fs::create_dir_all(&corpus).map_err(|source| Error::Make { path: corpus, source })?;
        if !process::succeeds(&mut command(target, args.seconds))? {
            writeln!(
                std::io::stderr(),
                "xtask fuzz: {} FAILED; the input is in fuzz/artifacts/{0}, make it a test before you mend it",
                target.name()
            )?;
            verdict = Verdict::Bad;
        }
    }
    Ok(verdict)
}

/// The code under test is safe Rust, so no sanitizer is needed: the run is faster, and any toolchain will do.
fn command(target: Target, seconds: u64) -> Command {
    let mut command = process::command("cargo");
    command.args(["fuzz", "run", "--sanitizer", "none", target.name()]);
    command.args([target.corpus(), target.seeds()]);
    command.args(target.further_seeds().map(PathBuf::from));
    command.arg("--");
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-timeout={INPUT_SECONDS}"));
    command.arg(format!("-rss_limit_mb={MEMORY_MB}"));
    command.arg(format!("-max_len={}", target.longest_input()));
    command.arg("-print_final_stats=1");
    command
}

impl Target {
    const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Workrail => "workrail",
            Self::Condition => "condition",
            Self::Template => "template",
            Self::Advance => "advance",
            Self::Mcp => "mcp",
        }
    }

    fn corpus(self) -> PathBuf {
        Path::new("fuzz/corpus").join(self.name())
    }

    fn seeds(self) -> PathBuf {
        Path::new("fuzz/seeds").join(self.name())
    }

    /// The bundled library is a good place to begin.
    const fn further_seeds(self) -> Option<&'static str> {
        match self {
            Self::Native => Some("crates/core/library"),
            Self::Workrail | Self::Condition | Self::Template | Self::Advance | Self::Mcp => None,
        }
    }

    /// In bytes. The longest file of the library has some 20,000.
    const fn longest_input(self) -> usize {
        match self {
            Self::Native | Self::Workrail => 20_000,
            Self::Condition | Self::Template => 4_096,
            Self::Advance | Self::Mcp => 8_192,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_a_binary_and_seeds() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
        let manifest = fs::read_to_string(root.join("fuzz/Cargo.toml")).expect("the manifest can be read");
        let names: Vec<&str> = Target::value_variants().iter().map(|target| target.name()).collect();
        let binaries: Vec<&str> = manifest.lines().filter_map(|line| line.strip_prefix("path = ")).collect();
        let wanted: Vec<String> = names.iter().map(|name| format!("\"fuzz_targets/{name}.rs\"")).collect();
        assert_eq!(binaries, wanted);
        for target in Target::value_variants() {
            let mut seeds = fs::read_dir(root.join(target.seeds())).expect("there is a folder of seeds");
            assert!(seeds.next().is_some(), "{target:?} has a seed");
        }
    }

    #[test]
    fn a_run_is_bounded_in_time_memory_and_length() {
        let shown = process::shown(&command(Target::Native, 7));
        assert_eq!(
            shown,
            "cargo fuzz run --sanitizer none native fuzz/corpus/native fuzz/seeds/native crates/core/library -- \
             -max_total_time=7 -timeout=5 -rss_limit_mb=2048 -max_len=20000 -print_final_stats=1"
        );
    }
}
