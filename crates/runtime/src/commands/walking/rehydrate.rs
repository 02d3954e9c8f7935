//! Taking a session up again by one of its handles, and what lies ahead of it.

use longhaul_core::handle::Handle;
use longhaul_core::session::Session;
use longhaul_core::walk::view::{Shown, StepView};
use longhaul_core::workflow::{Step, StepKind, Workflow};
use longhaul_events::SessionId;
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

impl Commands {
    /// What a handle stands for now. One of an older step gets a fresh nonce, and using that goes back there.
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
        let fresh = self.ask_again(id, handle.node, None)?;
        let mut handed_out = self.handed_out(id, handle.node)?;
        handed_out.nonce = fresh.nonce;
        let warning = older(&session);
        self.view(&session, Shown::Step(handed_out), vec![warning])
    }

    /// The steps of the workflow that are done one by one, in order.
    pub fn plan(&self, id: SessionId) -> Result<Vec<PlannedStep>, Error> {
        let session = self.load_session(id)?;
        let workflow = self.workflow_of(&session)?;
        let current = session.step().map(|step| step.0.clone());
        Ok(planned(&workflow, current.as_deref()))
    }
}

fn older(session: &Session) -> String {
    let now = session.handle().map(|handle| handle.to_string()).unwrap_or_default();
    let step = session.step().map(|step| step.0.clone()).unwrap_or_default();
    format!(
        "this is an older step: the session has gone on to `{step}`, whose continueToken is `{now}`; use that to go \
         on, or the token of this answer to go back and do this step anew"
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
