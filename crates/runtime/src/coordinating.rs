//! Sessions that somebody's own coordinator starts below another one.

use longhaul_core::session::Rejection;
use longhaul_core::taint::{self, Thing};
use longhaul_events::{CheckoutKind, SessionId};

use crate::children::NewChild;
use crate::commands::Commands;
use crate::driving::{Drive, NewDrive};
use crate::error::{Error, TaskError};
use crate::hiring::Assignee;
use crate::runner::{Assignment, Who};
use crate::system::System;
use crate::worktrees::{NewWorktree, SecretFiles};

impl System {
    /// Starts a session below another one, in a worktree of its own, and somebody who drives it and outlives this process.
    /// It belongs to the same task, and is as tainted as what led to it.
    pub fn drive_below(&self, commands: &Commands, parent: SessionId, new: NewDrive) -> Result<Drive, Error> {
        let parent = commands.load_session(parent)?;
        if parent.closed.is_some() {
            return Err(Rejection::Closed.into());
        }
        if let Some(because) = commands.refusal_below(parent.id, 1)? {
            return Err(TaskError::NoMoreBelow(because).into());
        }
        self.refuse_unready(&new.who)?;
        let caps = self.caps_with(new.budget.as_deref())?;
        let walls = self.walls(new.walls)?;
        let start = self.prepared(commands, new.walk)?;
        let who = match new.who {
            Assignee::Rehearsal(script) => Who::Rehearsal(script),
            Assignee::Agent { name, tier } => {
                Who::Staff(self.staff(name.as_deref(), tier, &start.workflow)?)
            }
        };
        let taint = new.taint.max(parent.taint);
        let workers = who.workers();
        let walls = walls.letting(who.hosts()).for_taint(taint, &workers)?;
        self.refuse_if_missing(&who)?;
        let setup = self.config()?.checkout.setup;
        let assignment =
            Assignment { who, level: walls.level, reach: walls.reach, setup, reads: None, visits: None };
        let (agent, model) = (assignment.agent(), assignment.model());
        let has_secrets = workers.iter().all(|worker| taint::has(taint, *worker, Thing::SecretFiles));
        let child = NewChild {
            id: commands.new_session_id(),
            workflow: start.workflow,
            goal: start.goal,
            vars: start.vars,
            assignment: Some(assignment),
            caps,
            checkout: None,
            brief: None,
        };
        let session = commands.open_child(&parent, child)?;
        let worktree = NewWorktree {
            session,
            kind: CheckoutKind::Borrowed,
            base: new.base,
            secrets: if has_secrets { SecretFiles::Give } else { SecretFiles::Withhold },
            by: new.by.clone(),
        };
        let made = self.make_worktree(commands, &worktree).inspect_err(|error| {
            // Nobody would ever go on with it.
            let _ = commands.cancel_session(session, &new.by, Some(&error.to_string()));
        })?;
        self.start_runner(session)?;
        let mut warnings = start.warnings;
        warnings.extend(walls.warning);
        warnings.extend(made.warnings);
        let (worktree, branch) = (made.checkout.path, made.checkout.branch);
        Ok(Drive { session, agent, model, worktree, branch, warnings })
    }
}
