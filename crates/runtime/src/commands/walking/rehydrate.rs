//! Taking a session up again by one of its handles, and what lies ahead of it.

use longhaul_core::handle::Handle;
use longhaul_core::walk::view::StepView;
use longhaul_core::workflow::{Step, StepKind, Workflow};
use longhaul_events::{SessionId, StepId};
use serde::Serialize;

use super::Commands;
use crate::error::Error;

/// A step of the plan, seen from where the session stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedStep {
    pub id: String,
    pub title: String,
    pub state: PlanState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanState {
    /// It lies before the current step; it may also have been skipped.
    Behind,
    Current,
    Ahead,
}

/// What a handle is worth.
#[derive(Debug, Clone, PartialEq)]
pub enum Worth {
    /// It is as good as when it was given out.
    Open,
    /// It is ours and was used, or the session went on without it; this is where that stands.
    Past(Box<StepView>),
    /// We never gave it out.
    Nothing,
}

impl Commands {
    /// Where the session of a handle stands. Whoever comes with the handle of an older step has lost their place: they
    /// are shown the current step, and beside it how to go back.
    pub fn rehydrated_view(&self, handle: &Handle) -> Result<StepView, Error> {
        let id = handle.session;
        let session = self.load_session(id)?;
        if !session.has_signed(handle) && !session.has_signed_checkpoint(handle) {
            return Err(Error::ForgedHandle(id));
        }
        let is_older = session.tip().is_some_and(|tip| tip.node != handle.node);
        if !is_older {
            return self.resumed_view(id);
        }
        let step = self.handed_out(id, handle.node)?.step;
        let back = match session.unused_reissue(handle.node) {
            Some(back) => back,
            None => self.ask_again(id, handle.node, None)?,
        };
        let mut view = self.resumed_view(id)?;
        view.warnings.push(older(&step, &back));
        Ok(view)
    }

    /// What a handle is worth to whoever sent it.
    pub fn worth(&self, handle: &Handle) -> Result<Worth, Error> {
        let session = self.load_session(handle.session)?;
        let is_open = if session.has_signed(handle) {
            session.is_live(handle.node, handle.nonce)
        } else if session.has_signed_checkpoint(handle) {
            session.tip().is_some_and(|tip| tip.node == handle.node)
        } else {
            return Ok(Worth::Nothing);
        };
        if is_open {
            return Ok(Worth::Open);
        }
        Ok(Worth::Past(Box::new(self.session_view(handle.session)?)))
    }

    /// The steps of the workflow that are done one by one, in order.
    pub fn plan(&self, id: SessionId) -> Result<Vec<PlannedStep>, Error> {
        let session = self.load_session(id)?;
        let workflow = self.workflow_of(&session)?;
        let current = session.step().map(|step| step.0.clone());
        Ok(planned(&workflow, current.as_deref()))
    }
}

fn older(step: &StepId, back: &Handle) -> String {
    format!(
        "the token that was sent is that of `{0}`, and the session has gone on since; what is shown is where it stands \
         now, and its token leads on. Only if `{0}` has to be done anew, and everything after it left behind: answer it \
         with the token `{back}`",
        step.0
    )
}

fn planned(workflow: &Workflow, current: Option<&str>) -> Vec<PlannedStep> {
    let steps = workflow.all_steps();
    let at = steps.iter().position(|step| Some(step.id.as_str()) == current);
    let state = |index: usize| match at {
        Some(at) if index == at => PlanState::Current,
        Some(at) if index > at => PlanState::Ahead,
        Some(_) | None => PlanState::Behind,
    };
    let leaves = steps.iter().enumerate().filter(|(_, step)| is_leaf(step));
    leaves
        .map(|(index, step)| PlannedStep {
            id: step.id.clone(),
            title: step.title.clone(),
            state: state(index),
        })
        .collect()
}

fn is_leaf(step: &Step) -> bool {
    !matches!(step.kind, StepKind::Loop(_) | StepKind::Todo(_) | StepKind::Routine(_))
}
