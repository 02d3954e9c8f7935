//! How far a session is, brought up to date event by event.

use longhaul_core::progress::Progress;
use longhaul_core::workflow::Workflow;
use longhaul_events::{Seq, SessionEvent, SessionId};

use super::{BATCH, Reader};
use crate::error::Error;
use crate::reading::Decisions;

/// A session that is watched.
#[derive(Debug)]
pub struct ProgressTail {
    session: SessionId,
    after: Seq,
    pub goal: String,
    pub progress: Progress,
}

impl ProgressTail {
    pub fn of(session: SessionId) -> Self {
        Self { session, after: Seq(0), goal: String::new(), progress: Progress::default() }
    }
}

impl Reader {
    /// Takes in what happened since this was last asked.
    pub fn update_progress(&self, tail: &mut ProgressTail) -> Result<(), Error> {
        let stream = tail.session.into();
        let decisions = Decisions { log: &*self.store, stream, after: tail.after, batch: BATCH };
        decisions.each(|decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                match &event {
                    SessionEvent::Opened { goal, .. } => tail.goal = self.words(goal)?,
                    SessionEvent::WorkflowPinned { workflow, .. } => {
                        let workflow: Option<Workflow> = serde_json::from_value(self.value(workflow)?).ok();
                        tail.progress = workflow.as_ref().map(Progress::of).unwrap_or_default();
                    }
                    _ => {}
                }
                tail.progress.apply(decision.at, &event);
            }
            tail.after = decision.last_seq();
            Ok(())
        })
    }
}
