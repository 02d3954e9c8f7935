//! What whoever drives a session gets to see: one object, the same at the shell and over MCP.

use longhaul_events::{Channel, CloseOutcome, GateKind, NodeId, Nonce, Place, Reason, SessionId, StepId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::step;
use crate::session::Session;
use crate::workflow::answer::{Requires, requirements};
use crate::workflow::{Step, StepKind, Workflow};

/// How soon it pays to ask again.
const RETRY_AFTER_MS: u64 = 1000;

/// Where a session stands after a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepView {
    pub session_id: String,
    pub step_id: Option<String>,
    pub title: Option<String>,
    pub prompt: Option<String>,
    pub continue_token: Option<String>,
    pub checkpoint_token: Option<String>,
    pub is_complete: bool,
    pub requires: Option<Requires>,
    pub blocked: Option<Blocked>,
    pub gate: Option<GateView>,
    pub working: Option<Working>,
    pub progress: Progress,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blocked {
    pub reasons: Vec<Reason>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateView {
    pub id: String,
    pub kind: GateKind,
    pub question: String,
    pub accepts: Channel,
}

/// A state, never a recorded answer: the same call asks again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Working {
    pub since: String,
    pub retry_after_ms: u64,
    /// Nothing goes on before a session below this one does: which, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
}

/// How many steps are done, of how many. Those that were passed over count as done: they are behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub done: usize,
    pub total: usize,
}

/// A step as it was handed out.
#[derive(Debug, Clone, PartialEq)]
pub struct HandedOut {
    pub node: NodeId,
    pub nonce: Nonce,
    pub step: StepId,
    pub place: Place,
    /// `{title, text}`.
    pub prompt: Value,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    Step(HandedOut),
    /// The same step again, with what was wrong.
    Refused(HandedOut, Vec<Reason>),
    Gate {
        gate: NodeId,
        step: StepId,
        kind: GateKind,
        question: String,
        accepts: Channel,
    },
    Working {
        step: StepId,
        since: String,
    },
    Parked {
        step: StepId,
        reasons: Vec<Reason>,
    },
    Closed {
        outcome: CloseOutcome,
        /// Where it last stood, unless it came to its end.
        last: Option<StepId>,
    },
}

impl Shown {
    /// Whether it will never change. What is not settled is asked again by the same call.
    pub const fn is_settled(&self) -> bool {
        match self {
            Self::Step(_) | Self::Refused(..) | Self::Parked { .. } | Self::Closed { .. } => true,
            Self::Gate { .. } | Self::Working { .. } => false,
        }
    }
}

/// Makes the object of it.
pub fn view(workflow: &Workflow, session: &Session, shown: Shown, warnings: Vec<String>) -> StepView {
    let mut view = StepView {
        session_id: session.id.to_string(),
        step_id: None,
        title: None,
        prompt: None,
        continue_token: None,
        checkpoint_token: None,
        is_complete: false,
        requires: None,
        blocked: None,
        gate: None,
        working: None,
        progress: Progress { done: 0, total: leaves(&workflow.all_steps()) },
        warnings,
    };
    match shown {
        Shown::Step(step) => view.show_step(workflow, session, &step),
        Shown::Refused(step, reasons) => {
            view.show_step(workflow, session, &step);
            view.blocked = Some(Blocked { reasons });
        }
        Shown::Gate { gate, step, kind, question, accepts } => {
            view.stand_at(workflow, &step);
            view.gate = Some(GateView { id: gate_id(session.id, gate), kind, question, accepts });
        }
        Shown::Working { step, since } => {
            view.stand_at(workflow, &step);
            view.working = Some(Working { since, retry_after_ms: RETRY_AFTER_MS, waits_for: None });
        }
        Shown::Parked { step, reasons } => {
            view.stand_at(workflow, &step);
            view.blocked = Some(Blocked { reasons });
        }
        Shown::Closed { outcome, last } => {
            view.progress = match (&outcome, &last) {
                (CloseOutcome::Completed, _) => Progress { done: view.progress.total, ..view.progress },
                (_, Some(step)) => progress_at(workflow, &step.0),
                (_, None) => view.progress,
            };
            view.show_end(session, &outcome, last.as_ref());
        }
    }
    view
}

/// The name under which a person answers a gate.
pub fn gate_id(session: SessionId, gate: NodeId) -> String {
    format!("{session}.{gate}")
}

impl StepView {
    fn show_step(&mut self, workflow: &Workflow, session: &Session, step: &HandedOut) {
        self.stand_at(workflow, &step.step);
        let text = |key: &str| step.prompt[key].as_str().map(str::to_owned);
        self.title = text("title").or(self.title.take());
        self.prompt = text("text").or_else(|| Some(step.prompt.to_string()));
        self.continue_token = Some(session.sign(step.node, step.nonce).to_string());
        self.checkpoint_token = Some(session.sign_checkpoint(step.node, step.nonce).to_string());
        let asked = super::step_or_follow_up(workflow, &step.step.0);
        self.requires = asked.map(|asked| requirements(workflow, &asked));
    }

    fn stand_at(&mut self, workflow: &Workflow, id: &StepId) {
        self.step_id = Some(id.0.clone());
        self.title = step(workflow, &id.0).map(|step| step.title.clone());
        self.progress = progress_at(workflow, &id.0);
    }

    fn show_end(&mut self, session: &Session, outcome: &CloseOutcome, last: Option<&StepId>) {
        self.is_complete = *outcome == CloseOutcome::Completed;
        let id = session.id;
        let (code, message, fix) = match outcome {
            CloseOutcome::Completed => return,
            CloseOutcome::Cancelled { by, reason } => {
                let because = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
                let message = format!("the session was cancelled by {by}{because}");
                let fix = match &session.agent {
                    Some(_) => "it does not go on; start another run with `longhaul run`",
                    None => "start a new session",
                };
                ("session_cancelled", message, fix.to_owned())
            }
            CloseOutcome::Failed { reason } => (
                "session_failed",
                format!("the session failed: {reason}"),
                match last {
                    Some(step) => format!(
                        "`longhaul session rewind {id} --to {step} --reason TEXT` takes it up again at `{step}` (or name a step before it), or start a new session"
                    ),
                    None => "start a new session".to_owned(),
                },
            ),
        };
        self.blocked = Some(Blocked { reasons: vec![Reason::new(code, message, fix)] });
    }
}

/// What is done when one comes to this step. A follow-up is one step more than the workflow has.
pub(crate) fn progress_at(workflow: &Workflow, id: &str) -> Progress {
    let steps = workflow.all_steps();
    let total = leaves(&steps);
    match steps.iter().position(|step| step.id == id) {
        Some(position) => Progress { done: leaves(&steps[..position]), total },
        None => Progress { done: total, total: total + 1 },
    }
}

/// How many of the steps are done themselves, as opposed to those that hold others.
fn leaves(steps: &[&Step]) -> usize {
    steps.iter().filter(|step| is_leaf(step)).count()
}

/// A gate that may be passed without anybody being asked is nobody's work, so it does not count.
fn is_leaf(step: &Step) -> bool {
    match step.kind {
        StepKind::Loop(_) | StepKind::Todo(_) | StepKind::Routine(_) => false,
        StepKind::Gate(_) => step.when.is_none(),
        StepKind::Prompt(_)
        | StepKind::Run(_)
        | StepKind::Gather(_)
        | StepKind::Parallel(_)
        | StepKind::Spawn(_)
        | StepKind::Decide(_)
        | StepKind::Deliver(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::tests::play::compiled;

    #[test]
    fn a_gate_that_may_be_skipped_is_never_counted_as_done() {
        let workflow = compiled(
            "longhaul: 1\nid: t.gates\nname: T\nversion: 1.0.0\nvars:\n  goal: { type: string }\nsteps:\n\
             \x20 - { id: a, prompt: A }\n\
             \x20 - { id: perhaps, when: { var: goal, equals: x }, gate: { by: person, question: Q } }\n\
             \x20 - { id: surely, gate: { by: person, question: Q } }\n\
             \x20 - { id: b, prompt: B }\n",
        );
        let progress = |id: &str| progress_at(&workflow, id);
        assert_eq!(progress("perhaps"), Progress { done: 1, total: 3 });
        assert_eq!(progress("surely"), Progress { done: 1, total: 3 });
        assert_eq!(progress("b"), Progress { done: 2, total: 3 });
    }

    #[test]
    fn a_loop_counts_what_lies_before_it_and_a_follow_up_is_one_more() {
        let workflow = compiled(
            "longhaul: 1\nid: t.progress\nname: T\nversion: 1.0.0\nsteps:\n\
             \x20 - { id: a, prompt: A }\n\
             \x20 - id: again\n    loop: { while: { var: goal }, max: 2 }\n    steps: [{ id: b, prompt: B }, { id: c, prompt: C }]\n\
             \x20 - { id: d, prompt: D }\n",
        );
        let progress = |id: &str| progress_at(&workflow, id);
        assert_eq!(progress("again"), Progress { done: 1, total: 4 });
        assert_eq!(progress("c"), Progress { done: 2, total: 4 });
        assert_eq!(progress("d"), Progress { done: 3, total: 4 });
        assert_eq!(progress("follow-up-1"), Progress { done: 4, total: 5 });
    }
}
