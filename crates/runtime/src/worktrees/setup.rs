//! Set-up commands of a checkout: run once for each state of the lockfiles, their outcome kept.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use longhaul_core::canonical::sha256;
use longhaul_core::config::SetupCommand;
use longhaul_core::scrub::Scrubber;
use longhaul_events::SessionId;
use longhaul_exec::{Captured, EDGE_BYTES, Finished, Outcome, Program};
use serde::{Deserialize, Serialize};

use super::Place;
use super::file::{small_file, write_whole};
use super::ready::open_plain;
use crate::error::Error;
use crate::system::System;

/// The files by which tools say what exactly they want installed.
const LOCKFILES: [&str; 21] = [
    "Cargo.lock",
    "Gemfile.lock",
    "Pipfile.lock",
    "bun.lock",
    "bun.lockb",
    "composer.lock",
    "deno.lock",
    "flake.lock",
    "go.sum",
    "gradle.lockfile",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "requirements.txt",
    "uv.lock",
    "yarn.lock",
];
const LARGEST_LOCKFILE_BYTES: u64 = 64 << 20;
const KEPT_OUTPUT_LETTERS: usize = 4000;

/// How the set-up of a checkout went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupReport {
    /// Of the lockfiles and the commands.
    pub hash: String,
    pub outcomes: Vec<SetupOutcome>,
}

/// How one command went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupOutcome {
    pub run: Vec<String>,
    /// `passed`, `failed` or `could_not_run`.
    pub outcome: String,
    pub duration_ms: u64,
    /// The end of what it printed.
    pub output: String,
}

impl SetupReport {
    pub fn succeeded(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.outcome == "passed")
    }
}

/// A set-up that is as it has to be for these lockfiles and commands, or was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SetUp {
    /// It succeeded before.
    Before(SetupReport),
    Now(SetupReport),
}

impl System {
    /// Runs the set-up commands of a session's checkout with the rights of whoever asks, unless that was done for
    /// these very lockfiles.
    pub fn set_up_worktree(&self, session: SessionId) -> Result<Option<SetupReport>, Error> {
        let commands = self.config()?.checkout.setup;
        let set_up =
            self.set_up_with(session, &commands, &mut |program| Some(longhaul_exec::run(program)))?;
        Ok(set_up.map(|set_up| match set_up {
            SetUp::Before(report) | SetUp::Now(report) => report,
        }))
    }

    /// The same, with somebody else to run each command, such as a sandbox. It runs none once it is stopped.
    pub(crate) fn set_up_with(
        &self,
        session: SessionId,
        commands: &[SetupCommand],
        perform: &mut dyn FnMut(&Program) -> Option<Result<Finished, longhaul_exec::Error>>,
    ) -> Result<Option<SetUp>, Error> {
        let Some(session) = self.session(session)?.filter(|_| !commands.is_empty()) else { return Ok(None) };
        let place = Place::of(session)?;
        let kept = self.places().setup(place.workspace, &place.own.name);
        let hash = hash_of(Path::new(&place.own.path), commands);
        let before =
            small_file(&kept).ok().and_then(|bytes| serde_json::from_slice::<SetupReport>(&bytes).ok());
        // Whoever comes again after a failure has put something right.
        if let Some(before) = before.filter(|report| report.hash == hash && report.succeeded()) {
            return Ok(Some(SetUp::Before(before)));
        }
        let site = SetupSite { directory: Path::new(&place.own.path), ports: &place.own.ports };
        let report = SetupReport { hash, outcomes: self.set_up_at(&site, commands, perform)? };
        let text = serde_json::to_string_pretty(&report).expect("its keys are strings");
        write_whole(&kept, text.as_bytes())?;
        Ok(Some(SetUp::Now(report)))
    }

    /// Runs set-up commands in a folder, one after the other until one does not succeed.
    pub(crate) fn set_up_at(
        &self,
        site: &SetupSite<'_>,
        commands: &[SetupCommand],
        perform: &mut dyn FnMut(&Program) -> Option<Result<Finished, longhaul_exec::Error>>,
    ) -> Result<Vec<SetupOutcome>, Error> {
        let scrubber = self.scrubber()?;
        let mut outcomes: Vec<SetupOutcome> = Vec::new();
        for command in commands {
            let outcome = match perform(&program(command, site)) {
                Some(ran) => judged(command, ran, &scrubber),
                None => stopped(command),
            };
            let goes_on = outcome.outcome == "passed";
            outcomes.push(outcome);
            // What comes after builds on it.
            if !goes_on {
                break;
            }
        }
        Ok(outcomes)
    }
}

/// Where set-up commands are run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SetupSite<'a> {
    pub(crate) directory: &'a Path,
    pub(crate) ports: &'a [u16],
}

fn program(command: &SetupCommand, site: &SetupSite<'_>) -> Program {
    let name = command.run.first().map_or("", String::as_str);
    let mut program = Program::new(name).args(command.run.iter().skip(1)).directory(site.directory);
    for (number, port) in (1..).zip(site.ports) {
        program = program.set_variable(format!("LONGHAUL_PORT_{number}"), port.to_string());
    }
    program.timeout(Duration::from_millis(command.timeout_ms))
}

/// Secrets go before anything is cut: what is left of one at a cut is not recognised any more.
fn judged(
    command: &SetupCommand,
    ran: Result<Finished, longhaul_exec::Error>,
    scrubber: &Scrubber,
) -> SetupOutcome {
    let clean = |text: &str| scrubber.text(text).into_owned();
    let edge_bytes = EDGE_BYTES.max(scrubber.longest_bytes());
    let printed = |captured: &Captured| captured.to_clean_text(edge_bytes, |text| clean(&text));
    let outcome = |word: &str, duration: Duration, output: String| SetupOutcome {
        run: command.run.clone(),
        outcome: word.to_owned(),
        duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        output,
    };
    match ran {
        Ok(finished) => {
            let word = match finished.outcome {
                Outcome::Exited(0) => "passed",
                Outcome::Exited(_)
                | Outcome::Signalled(_)
                | Outcome::TimedOut
                | Outcome::OutOfRoom
                | Outcome::Stopped => "failed",
            };
            let output = clean(&format!("{}{}", printed(&finished.stdout), printed(&finished.stderr)));
            outcome(word, finished.duration, ending(&output))
        }
        Err(error) => outcome("could_not_run", Duration::ZERO, clean(&error.to_string())),
    }
}

fn stopped(command: &SetupCommand) -> SetupOutcome {
    SetupOutcome {
        run: command.run.clone(),
        outcome: "could_not_run".to_owned(),
        duration_ms: 0,
        output: "stopped before it began".to_owned(),
    }
}

fn ending(text: &str) -> String {
    let skipped = text.chars().count().saturating_sub(KEPT_OUTPUT_LETTERS);
    text.chars().skip(skipped).collect()
}

/// Changes when a lockfile or a command does.
fn hash_of(top: &Path, commands: &[SetupCommand]) -> String {
    let mut text = Vec::new();
    for command in commands {
        text.extend(serde_json::to_vec(&command.run).expect("texts are JSON"));
    }
    for name in LOCKFILES {
        let mut bytes = Vec::new();
        let Some(file) = open_plain(&top.join(name)) else { continue };
        if file.take(LARGEST_LOCKFILE_BYTES).read_to_end(&mut bytes).is_ok() {
            text.extend(format!("\0{name}\0{}", sha256(&bytes)).into_bytes());
        }
    }
    sha256(&text).to_string()
}

/// Forgets how the set-up went, when the checkout it was for is gone.
pub(super) fn forget(path: &Path) {
    // A report without a checkout does no harm, and the next checkout of that name is hashed anew.
    let _ = fs::remove_file(path);
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_core::scrub::Secret;

    #[test]
    fn no_half_of_a_secret_is_left_where_the_output_of_a_command_is_cut() {
        let scrubber = Scrubber::new(&[Secret { name: "KEY".into(), value: "not-for-anybody".into() }]);
        for after in [KEPT_OUTPUT_LETTERS - 5, KEPT_OUTPUT_LETTERS - 8, KEPT_OUTPUT_LETTERS - 14] {
            let script = format!("printf not-for-; printf 'anybody%*s' {after} ''");
            let command: SetupCommand = serde_json::from_value(
                serde_json::json!({ "run": ["sh", "-c", script], "timeout_ms": 60_000 }),
            )
            .unwrap();
            let ran = longhaul_exec::run(&Program::new("sh").args(["-c", &script]));
            let outcome = judged(&command, ran, &scrubber);
            assert_eq!(outcome.outcome, "passed", "{outcome:?}");
            assert!(!outcome.output.contains("body"), "{after}: {:?}", outcome.output.trim_end());
        }
    }
}
