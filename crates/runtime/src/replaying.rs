//! Doing what a session did once more, elsewhere, to see whether it comes to the same.

use longhaul_core::cassette;
use longhaul_core::session::{NewBudget, Rejection, Workplace};
use longhaul_core::workflow::{Step, StepKind};
use longhaul_events::{CheckoutKind, OwnCheckout, SessionId};
use longhaul_git::ObjectId;

use crate::commands::Commands;
use crate::driving::{Drive, Script};
use crate::error::{DrivenError, Error};
use crate::runner::{Assignment, Who, is_dead};
use crate::system::System;
use crate::terminal;
use crate::worktrees::StartCommit;
use crate::worktrees::{ChangedFile, NewWorktree, SecretFiles};

/// A replay that is under way.
#[derive(Debug, Clone)]
pub struct Replay {
    pub drive: Drive,
    /// What a script cannot say.
    pub remarks: Vec<String>,
}

/// How two runs compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// The files of each, as git names them.
    pub original_tree: String,
    pub replayed_tree: String,
    /// From the first to the second.
    pub differences: Vec<ChangedFile>,
}

impl System {
    /// Starts a session that does what another did: the same workflow, goal and vars, from the same commit, behind the
    /// same walls, with a rehearsal that plays what was recorded. A person's to do.
    pub fn replay(&self, commands: &Commands, id: SessionId, by: &str) -> Result<Replay, Error> {
        terminal::refuse_agents()?;
        let session = commands.load_session(id)?;
        if let Some(lease) = session.lease.filter(|lease| !is_dead(&lease.driver)) {
            let (driver, epoch, until) = (lease.driver, lease.epoch, lease.expires_at);
            return Err(Rejection::Driven { driver, epoch, until }.into());
        }
        let Some(Workplace { checkout, .. }) = session.workplace else {
            return Err(Error::Driven(DrivenError::NothingToReplay(id)));
        };
        let is_delivery = |step: &&Step| matches!(step.kind, StepKind::Deliver(_));
        if commands.workflow_of(&commands.load_session(id)?)?.all_steps().iter().any(is_delivery) {
            return Err(Error::Driven(DrivenError::WouldDeliver(id)));
        }
        let reader = commands.reader().ok_or(Error::UnknownSession(id))?;
        let recorded = reader.record(id)?;
        self.end_tree(commands, id)?;
        let path = format!("the record of {id}");
        cassette::parse(&path, &recorded.text)?;
        let view = commands.start_session(&commands.same_start(id)?)?;
        let drive = self.set_off_replay(commands, &view.session_id, &Same { checkout: &checkout, by })?;
        let who = Who::Rehearsal(Script { path, text: recorded.text });
        let assignment = Assignment { who, ..commands.assignment_of(id)? };
        let caps = session.caps.map_or_else(|| self.caps_with(None), Ok)?;
        let budget = NewBudget { caps, by: by.to_owned() };
        commands.assign(drive.session, &assignment, session.taint, &budget)?;
        self.start_runner(drive.session)?;
        Ok(Replay { drive, remarks: recorded.remarks })
    }

    fn set_off_replay(&self, commands: &Commands, session: &str, same: &Same<'_>) -> Result<Drive, Error> {
        let session: SessionId = session.parse().expect("a session is shown with its id");
        // Who had files with secrets in the first run has them now.
        let secrets =
            if same.checkout.secrets.is_empty() { SecretFiles::Withhold } else { SecretFiles::Give };
        let new = NewWorktree {
            session,
            kind: CheckoutKind::Borrowed,
            base: None,
            secrets,
            by: same.by.to_owned(),
        };
        let made = self.make_worktree_from(commands, &new, Some(&StartCommit::of(same.checkout)))?;
        let (worktree, branch) = (made.checkout.path, made.checkout.branch);
        Ok(Drive {
            session,
            agent: "rehearsal".to_owned(),
            model: None,
            worktree,
            branch,
            warnings: made.warnings,
        })
    }

    /// The files that a session came to. Its runner may not have kept those of the end yet.
    fn end_tree(&self, commands: &Commands, id: SessionId) -> Result<ObjectId, Error> {
        let kept = commands.last_tree(id)?.filter(|last| last.is_of_the_end).map(|last| last.tree);
        let tree = match kept {
            Some(tree) => Some(tree),
            None => match self.keep_worktree(commands, id, "to compare it with a replay")? {
                Some(kept) => Some(kept.tree),
                None => commands.last_tree(id)?.map(|last| last.tree),
            },
        };
        tree.as_deref().and_then(ObjectId::parse).ok_or(Error::Driven(DrivenError::NothingToReplay(id)))
    }

    /// Holds the last trees of two sessions of one repository against each other.
    pub fn compare_replay(
        &self,
        commands: &Commands,
        original: SessionId,
        replay: SessionId,
    ) -> Result<Replayed, Error> {
        let (before, after) = (self.end_tree(commands, original)?, self.end_tree(commands, replay)?);
        let differences = self.worktree_differences(replay, &before, &after)?;
        Ok(Replayed { original_tree: before.to_string(), replayed_tree: after.to_string(), differences })
    }
}

/// What a replay has in common with its original.
struct Same<'a> {
    checkout: &'a OwnCheckout,
    by: &'a str,
}
