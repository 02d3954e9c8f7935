//! The last stretch before an agent works: files, an assignment, and somebody who drives. What was cut short is taken up.

use longhaul_core::session::NewBudget;
use longhaul_core::taint::{self, Thing, Worker};
use longhaul_core::workflow::Workflow;
use longhaul_events::{Caps, CheckoutKind, SessionId, Taint};

use super::Drive;
use crate::commands::Commands;
use crate::error::Error;
use crate::hiring::Assignee;
use crate::runner::{Assignment, Who};
use crate::system::System;
use crate::walling::ChosenWalls;
use crate::worktrees::{NewWorktree, SecretFiles, StartCommit};

/// How a session that is open is set off.
#[derive(Debug)]
pub(crate) struct SetOff {
    pub(crate) assignment: Assignment,
    pub(crate) taint: Taint,
    pub(crate) caps: Caps,
    /// The branch to start from.
    pub(crate) base: Option<String>,
    /// The very commit to start from.
    pub(crate) from: Option<StartCommit>,
    pub(crate) by: String,
}

impl System {
    /// Who does a workflow, with all that is needed to ask them.
    pub(crate) fn who(&self, assignee: Assignee, workflow: &Workflow) -> Result<Who, Error> {
        Ok(match assignee {
            Assignee::Rehearsal(script) => Who::Rehearsal(script),
            Assignee::Agent { name, tier } => Who::Staff(self.staff(name.as_deref(), tier, workflow)?),
        })
    }

    pub(crate) fn assignment(&self, who: Who, walls: &ChosenWalls) -> Result<Assignment, Error> {
        let setup = self.config()?.checkout.setup;
        let (level, reach) = (walls.level, walls.reach.clone());
        Ok(Assignment { who, level, reach, setup, reads: None, visits: None })
    }

    /// Makes a session's worktree, says who works in it, and starts a runner.
    pub(crate) fn set_off(
        &self,
        commands: &Commands,
        session: SessionId,
        orders: &SetOff,
    ) -> Result<Drive, Error> {
        let SetOff { assignment, taint, caps, base, from, by } = orders;
        let before = commands.load_session(session)?;
        let there = before.workplace.filter(|workplace| !workplace.is_gone);
        let (checkout, warnings) = if let Some(workplace) = there {
            (workplace.checkout, Vec::new())
        } else {
            let worktree = NewWorktree {
                session,
                kind: CheckoutKind::Borrowed,
                base: base.clone(),
                secrets: secret_files(*taint, &assignment.who.workers()),
                by: by.clone(),
            };
            let made = self.make_worktree_from(commands, &worktree, from.as_ref())?;
            (made.checkout, made.warnings)
        };
        if before.agent.is_none() {
            commands.assign(session, assignment, *taint, &NewBudget { caps: *caps, by: by.clone() })?;
        }
        self.start_runner(session)?;
        let (agent, model) = (assignment.agent(), assignment.model());
        Ok(Drive { session, agent, model, worktree: checkout.path, branch: checkout.branch, warnings })
    }
}

/// A session that works on text from outside gets no secrets.
pub(crate) fn secret_files(taint: Taint, workers: &[Worker]) -> SecretFiles {
    if workers.iter().all(|worker| taint::has(taint, *worker, Thing::SecretFiles)) {
        SecretFiles::Give
    } else {
        SecretFiles::Withhold
    }
}
