//! Making a checkout ready before its agent begins: the set-up commands, behind the same walls.

use longhaul_agent::tools::Walls as _;
use longhaul_core::parking::ParkCode;
use longhaul_events::{AgentAct, Content, Reason};
use serde_json::json;

use super::{Driven, StopSwitch};
use crate::error::Error;
use crate::worktrees::{SetUp, SetupOutcome, SetupReport};

/// How much of what a command printed goes into the reason of a park; all that is kept is in the log.
const SHOWN_LETTERS: usize = 1000;

/// Whether the session can go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ready {
    Yes,
    /// Somebody else goes on.
    Stopped,
    No(Vec<Reason>),
}

impl Driven<'_> {
    /// Runs the set-up commands unless they succeeded for these very lockfiles, and puts on record how that went.
    pub(super) fn make_ready(&self, stop: &StopSwitch) -> Result<Ready, Error> {
        let Some(sandbox) = self.sandbox.as_ref().filter(|_| !self.setup.is_empty()) else {
            return Ok(Ready::Yes);
        };
        let walls = self.walls(sandbox, stop);
        let set_up = self.system.set_up_with(self.id, self.setup, &mut |program| {
            (!stop.is_stopped()).then(|| walls.run(program.clone()))
        })?;
        let Some(SetUp::Now(report)) = set_up else { return Ok(Ready::Yes) };
        // What was stopped in the middle has not failed. What succeeded is not run again, so it goes on record now.
        if stop.is_stopped() && !report.succeeded() {
            return Ok(Ready::Stopped);
        }
        let outcomes = Content::Inline(json!(report.outcomes));
        self.commands.act(self.id, self.epoch, &[AgentAct::MadeReady { outcomes }])?;
        Ok(if report.succeeded() { Ready::Yes } else { Ready::No(reasons(&report)) })
    }
}

fn reasons(report: &SetupReport) -> Vec<Reason> {
    report.outcomes.iter().filter(|outcome| outcome.outcome != "passed").map(reason).collect()
}

fn reason(outcome: &SetupOutcome) -> Reason {
    let (code, what) = if outcome.outcome == "failed" {
        (ParkCode::SetupFailed, "failed")
    } else {
        (ParkCode::SetupCouldNotRun, "could not be run")
    };
    let skipped = outcome.output.chars().count().saturating_sub(SHOWN_LETTERS);
    let ending: String = outcome.output.chars().skip(skipped).collect();
    code.reason(
        format!("the set-up command `{}` {what}: {}", outcome.run.join(" "), ending.trim()),
        "put right what it needs (it runs behind the walls of the session), then go back with `longhaul session rewind`, or change `checkout.setup` and start again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_and_what_could_not_be_run_are_told_apart() {
        let told = |outcome: &str| {
            let (run, output) = (vec!["make".to_owned()], "so".to_owned());
            let reason = reason(&SetupOutcome { run, outcome: outcome.to_owned(), duration_ms: 1, output });
            (reason.code, reason.message)
        };
        let (failed, could_not) = (told("failed"), told("could_not_run"));
        assert_eq!(failed, ("setup_failed".to_owned(), "the set-up command `make` failed: so".to_owned()));
        assert_eq!(could_not.0, "setup_could_not_run");
        assert_eq!(could_not.1, "the set-up command `make` could not be run: so");
    }
}
