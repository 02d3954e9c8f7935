//! How far a session is with all that it led to, brought up to date event by event.

use std::collections::BTreeMap;

use longhaul_core::progress::Progress;
use longhaul_core::session::Spent;
use longhaul_core::stats::WorkTime;
use longhaul_core::workflow::Workflow;
use longhaul_events::{Content, NodeId, Seq, SessionEvent, SessionId, StepId};

use super::{BATCH, Reader};
use crate::error::Error;
use crate::reading::Decisions;

/// Deeper trees are not opened, whatever an import claims.
const DEEPEST: usize = 4;

/// A session that is watched.
#[derive(Debug)]
pub struct ProgressTail {
    session: SessionId,
    after: Seq,
    pub goal: String,
    pub progress: Progress,
    pub workflow: Option<String>,
    /// How long somebody was at work on it.
    pub worked: WorkTime,
    /// The sessions that its steps led to, in the order in which they were planned.
    pub below: Vec<ProgressBelow>,
    works: BTreeMap<NodeId, StepId>,
}

/// A session below one that is watched.
#[derive(Debug)]
pub struct ProgressBelow {
    /// The step that led to it.
    pub step: StepId,
    pub workflow: String,
    pub tail: ProgressTail,
}

impl ProgressTail {
    pub fn of(session: SessionId) -> Self {
        Self {
            session,
            after: Seq(0),
            goal: String::new(),
            progress: Progress::default(),
            workflow: None,
            worked: WorkTime::default(),
            below: Vec::new(),
            works: BTreeMap::new(),
        }
    }

    pub const fn session(&self) -> SessionId {
        self.session
    }

    /// What it and all below it used.
    pub fn spent(&self) -> Spent {
        self.below.iter().map(|below| below.tail.spent()).fold(self.progress.spent, super::tasks::with)
    }
}

impl Reader {
    /// Takes in what happened since this was last asked.
    pub fn update_progress(&self, tail: &mut ProgressTail) -> Result<(), Error> {
        self.update_to(tail, DEEPEST)
    }

    fn update_to(&self, tail: &mut ProgressTail, depth: usize) -> Result<(), Error> {
        let stream = tail.session.into();
        let decisions = Decisions { log: &*self.store, stream, after: tail.after, batch: BATCH };
        decisions.each(|decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                match &event {
                    SessionEvent::Opened { goal, .. } => tail.goal = self.words(goal)?,
                    SessionEvent::WorkflowPinned { id, workflow, .. } => {
                        tail.workflow = Some(id.clone());
                        let workflow: Option<Workflow> = serde_json::from_value(self.value(workflow)?).ok();
                        tail.progress = workflow.as_ref().map(Progress::of).unwrap_or_default();
                    }
                    SessionEvent::WorkBegan { work, step, .. } => {
                        tail.works.insert(*work, step.clone());
                    }
                    SessionEvent::WorkStarted { work, what, .. } => self.see_plan(tail, *work, what)?,
                    _ => {}
                }
                tail.worked.apply(decision.at, &event);
                tail.progress.apply(decision.at, &event);
            }
            tail.after = decision.last_seq();
            Ok(())
        })?;
        if depth > 0 {
            tail.below.iter_mut().try_for_each(|below| self.update_to(&mut below.tail, depth - 1))?;
        }
        Ok(())
    }

    /// The sessions that a step of the engine's own is going to start.
    fn see_plan(&self, tail: &mut ProgressTail, work: NodeId, what: &Content) -> Result<(), Error> {
        let Some(step) = tail.works.get(&work).cloned() else { return Ok(()) };
        let plan = self.value(what)?;
        for child in plan["children"].as_array().into_iter().flatten() {
            let Some(session) = child["session"].as_str().and_then(|id| id.parse().ok()) else { continue };
            if tail.below.iter().all(|below| below.tail.session != session) {
                let workflow = child["workflow"].as_str().unwrap_or_default().to_owned();
                tail.below.push(ProgressBelow {
                    step: step.clone(),
                    workflow,
                    tail: ProgressTail::of(session),
                });
            }
        }
        Ok(())
    }
}
