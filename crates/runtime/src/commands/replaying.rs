//! What another session has to start with to do the same, and what a session came to.

use longhaul_core::workflow::Vars;
use longhaul_events::{Content, Seq, SessionEvent, SessionId};
use serde_json::{Map, Value};

use super::Commands;
use super::walking::StartSession;
use crate::error::{DrivenError, Error};
use crate::runner::Assignment;

impl Commands {
    /// The last files of a session that were kept. What was kept after the end, for a clean-up or a restore, may be somebody
    /// else's work.
    pub(crate) fn last_tree(&self, id: SessionId) -> Result<Option<LastTree>, Error> {
        let (mut last, mut is_closed) = (None::<LastTree>, false);
        self.each_decision(id, Seq(0), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                match event {
                    SessionEvent::Closed { .. } => is_closed = true,
                    SessionEvent::Rewound { .. } | SessionEvent::Continued { .. } => {
                        is_closed = false;
                        last = last.take().map(|last| LastTree { is_of_the_end: false, ..last });
                    }
                    SessionEvent::Snapshotted { tree, .. }
                        if last.as_ref().is_none_or(|last| !last.is_of_the_end) =>
                    {
                        last = Some(LastTree { tree, is_of_the_end: is_closed });
                    }
                    _ => {}
                }
            }
            Ok(None::<()>)
        })?;
        Ok(last)
    }

    /// All that a session started with, for another.
    pub(crate) fn same_start(&self, id: SessionId) -> Result<StartSession, Error> {
        let session = self.load_session(id)?;
        let workflow = self.workflow_of(&session)?;
        let mut vars = self.first_vars(id)?;
        if let Vars::Declared(declared) = &workflow.vars {
            vars.retain(|name, value| {
                declared.get(name).is_none_or(|one| one.default.as_ref() != Some(value))
            });
        }
        Ok(StartSession {
            workflow,
            goal: self.goal_of(id)?,
            vars,
            workspace: session.workspace,
            checkout: self.checkout_of(id)?,
            parent: None,
            warnings: Vec::new(),
        })
    }

    fn first_vars(&self, id: SessionId) -> Result<Map<String, Value>, Error> {
        let found = self.each_decision(id, Seq(0), |decision| {
            let events = decision.readable_events::<SessionEvent>()?;
            Ok(Some(events.into_iter().find_map(|event| {
                if let SessionEvent::VarsChanged { set, .. } = event { Some(set) } else { None }
            })))
        })?;
        let set = found.flatten().unwrap_or_default().into_iter();
        let value =
            |(name, content): (String, Content)| Ok((name, Value::clone(&*self.shared_value(&content)?)));
        set.map(value).collect()
    }

    /// The same as [`Self::assignment`], of a session that is known to have one.
    pub(crate) fn assignment_of(&self, id: SessionId) -> Result<Assignment, Error> {
        self.assignment(id)?.ok_or(Error::Driven(DrivenError::NotDriven { id, lacks: "script" }))
    }
}

/// The files of a session, as git names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LastTree {
    pub(crate) tree: String,
    /// They were kept when the session was over.
    pub(crate) is_of_the_end: bool,
}
