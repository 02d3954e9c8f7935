//! Sessions that somebody's own coordinator starts below another one.

use longhaul_core::session::Rejection;
use longhaul_events::SessionId;

use crate::children::NewChild;
use crate::commands::Commands;
use crate::driving::{Drive, NewDrive, SetOff};
use crate::error::{Error, TaskError};
use crate::system::System;

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
        let who = self.who(new.who, &start.workflow)?;
        let taint = new.taint.max(parent.taint);
        let walls = walls.letting(who.hosts()).for_taint(taint, &who.workers())?;
        self.refuse_if_missing(&who)?;
        let assignment = self.assignment(who, &walls)?;
        let child = NewChild {
            id: commands.new_session_id(),
            workflow: start.workflow,
            goal: start.goal,
            vars: start.vars,
            assignment: Some(assignment.clone()),
            caps,
            checkout: None,
            brief: None,
        };
        let session = commands.open_child(&parent, child)?;
        let by = new.by.clone();
        let orders = SetOff { assignment, taint, caps, base: new.base, from: None, by: by.clone() };
        let mut drive = self.set_off(commands, session, &orders).inspect_err(|error| {
            // Nobody would ever go on with it.
            let _ = commands.cancel_session(session, &by, Some(&error.to_string()));
        })?;
        drive.warnings.splice(0..0, start.warnings.into_iter().chain(walls.warning));
        Ok(drive)
    }
}
