//! The fold: one event after the other, and the spans that are over with it.

mod acts;

use std::collections::BTreeMap;

use longhaul_events::{
    CloseOutcome, Content, NodeId, Seq, SessionEvent, SessionId, StepId, TaskId, Timestamp, Verdict,
    WorkspaceId,
};
use serde_json::Value;

use super::stretch::{Begun, Open, Stretch, message, told};
use super::{
    AGENT, CONVERSATION, COST, ERROR, GOAL, INPUT, INPUT_TOKENS, Noted, OPERATION, OUTCOME, OUTPUT_TOKENS,
    STEP, Span, SpanId, SpanKind, TASK, Telling, TraceId, VERSION, WORKFLOW, WORKSPACE, span_of, trace_of,
    trace_without_task,
};

/// What is known of a session so far. It is rebuilt by giving it all events again and leaving out what it tells.
#[derive(Debug, Clone)]
pub struct Tracer {
    session: SessionId,
    telling: Telling,
    trace: TraceId,
    /// The session that led to this one.
    above: Option<SpanId>,
    /// None once it is over.
    opened: Option<Begun>,
    goal: Option<String>,
    task: Option<TaskId>,
    workspace: Option<WorkspaceId>,
    workflow: Option<(String, String)>,
    agent: Option<String>,
    step: Option<Stretch>,
    works: BTreeMap<NodeId, Open>,
    gates: BTreeMap<NodeId, Open>,
}

/// How something ended, for whoever looks for what went wrong.
#[derive(Debug, Clone, Copy)]
struct Ended<'a> {
    at: Timestamp,
    outcome: Option<&'a str>,
    error: Option<&'a str>,
}

impl<'a> Ended<'a> {
    const fn well(at: Timestamp) -> Self {
        Self { at, outcome: None, error: None }
    }

    const fn badly(at: Timestamp, error: &'a str) -> Self {
        Self { at, outcome: None, error: Some(error) }
    }
}

impl Tracer {
    pub const fn new(session: SessionId, telling: Telling) -> Self {
        Self {
            session,
            telling,
            trace: TraceId([0; 16]),
            above: None,
            opened: None,
            goal: None,
            task: None,
            workspace: None,
            workflow: None,
            agent: None,
            step: None,
            works: BTreeMap::new(),
            gates: BTreeMap::new(),
        }
    }

    /// Whether nothing of it is under way, so that nobody needs to keep it.
    pub const fn is_over(&self) -> bool {
        self.opened.is_none()
    }

    /// Takes in one more event, and tells what is over with it. Total: what is in the log has happened.
    pub fn take(&mut self, noted: Noted<'_>) -> Vec<Span> {
        let Noted { seq, at, event } = noted;
        let begun = Begun { seq, at };
        match event {
            SessionEvent::Opened { goal, workspace, parent, task, .. } => {
                self.open(begun, goal, *workspace);
                self.place(*parent, *task);
                Vec::new()
            }
            SessionEvent::WorkflowPinned { id, version, .. } => {
                self.workflow = Some((id.clone(), version.clone()));
                Vec::new()
            }
            SessionEvent::StepHandedOut { step, prompt, .. } => {
                self.begin_step(begun, step, told(self.telling, prompt))
            }
            SessionEvent::Unparked { step, .. } => self.begin_step(begun, step, None),
            SessionEvent::StepFinished { .. } => self.end_step(Ended::well(at)),
            SessionEvent::Parked { reasons, .. } => {
                let code = reasons.first().map_or("parked", |reason| reason.code.as_str());
                self.end_step(Ended::badly(at, code))
            }
            SessionEvent::WorkBegan { work, step, .. } => {
                self.works.insert(*work, Open { begun, step: step.clone() });
                self.end_step(Ended::well(at))
            }
            SessionEvent::WorkStarted { work, .. } => {
                if let Some(open) = self.works.get_mut(work) {
                    open.begun = begun;
                }
                Vec::new()
            }
            SessionEvent::WorkFinished { work, result, .. } => self.end_work(*work, result, at),
            SessionEvent::GateOpened { gate, step, .. } => {
                self.gates.insert(*gate, Open { begun, step: step.clone() });
                self.end_step(Ended::well(at))
            }
            SessionEvent::GateAnswered { gate, verdict, .. } => self.answer_gate(*gate, *verdict, at),
            SessionEvent::GateExpired { gate, until } => {
                self.end_gate(*gate, Ended { at: *until, outcome: None, error: Some("expired") })
            }
            SessionEvent::Agent { act, .. } => self.act(begun, act),
            SessionEvent::Forked { restored, .. } => self.fork(begun, restored.as_deref().map(|it| &it.step)),
            SessionEvent::Continued { .. } => {
                self.opened = self.opened.or(Some(begun));
                Vec::new()
            }
            SessionEvent::Closed { outcome } => self.close(at, outcome),
            SessionEvent::DriverTaken { .. }
            | SessionEvent::DriverRenewed { .. }
            | SessionEvent::DriverExpired { .. }
            | SessionEvent::DriverReleased { .. }
            | SessionEvent::HandleReissued { .. }
            | SessionEvent::StopRequested { .. }
            | SessionEvent::VarsChanged { .. }
            | SessionEvent::WayChosen { .. }
            | SessionEvent::Decided { .. }
            | SessionEvent::LoopExhausted { .. }
            | SessionEvent::AttemptRefused { .. }
            | SessionEvent::Checkpointed { .. }
            | SessionEvent::Reported { .. }
            | SessionEvent::Rewound { .. }
            | SessionEvent::CheckoutMade { .. }
            | SessionEvent::Snapshotted { .. }
            | SessionEvent::CheckoutRemoved { .. }
            | SessionEvent::Delivery { .. } => Vec::new(),
        }
    }

    fn open(&mut self, begun: Begun, goal: &Content, workspace: Option<WorkspaceId>) {
        self.opened = Some(begun);
        self.goal = told(self.telling, goal);
        self.workspace = workspace;
    }

    fn place(&mut self, parent: Option<SessionId>, task: Option<TaskId>) {
        let alone = trace_without_task(parent.unwrap_or(self.session));
        self.trace = task.map_or(alone, trace_of);
        self.above = parent.map(|parent| span_of(parent, FIRST));
        self.task = task;
    }

    /// The span of the session itself.
    fn own(&self) -> SpanId {
        span_of(self.session, self.opened.map_or(FIRST, |opened| opened.seq))
    }

    /// What agents, tools and models are below.
    fn within(&self) -> SpanId {
        self.step.as_ref().map_or_else(|| self.own(), |step| span_of(self.session, step.begun.seq))
    }

    fn span(&self, begun: Begun, end: Timestamp, name: String, operation: Option<&str>) -> Span {
        let span = Span {
            trace: self.trace,
            id: span_of(self.session, begun.seq),
            parent: Some(self.own()),
            name,
            kind: SpanKind::Internal,
            start: begun.at,
            // The clock of a machine may be set back.
            end: end.max(begun.at),
            attributes: Vec::new(),
        };
        span.with_some(OPERATION, operation).with(CONVERSATION, self.session.to_string())
    }

    fn begin_step(&mut self, begun: Begun, step: &StepId, prompt: Option<String>) -> Vec<Span> {
        let over = self.end_step(Ended::well(begun.at));
        self.step = Some(Stretch::new(begun, step.clone(), prompt));
        over
    }

    fn end_step(&mut self, ended: Ended<'_>) -> Vec<Span> {
        let Some(mut stretch) = self.step.take() else { return Vec::new() };
        let mut over = std::mem::take(&mut stretch.billed);
        let agent = self.agent.as_deref();
        let span = self.span(stretch.begun, ended.at, named("invoke_agent", agent), Some("invoke_agent"));
        let used = stretch.used;
        let input = stretch.prompt.as_deref().map(|prompt| message("user", prompt));
        over.push(
            span.with_some(AGENT, agent)
                .with(STEP, stretch.step.0)
                .with(INPUT_TOKENS, used.input)
                .with(OUTPUT_TOKENS, used.output)
                .with(COST, used.cost_micros)
                .with_some(INPUT, input)
                .with_some(OUTCOME, ended.outcome)
                .with_some(ERROR, ended.error),
        );
        over
    }

    fn end_work(&mut self, work: NodeId, result: &Content, at: Timestamp) -> Vec<Span> {
        let outcome = match result {
            Content::Inline(value) => value.get("outcome").and_then(Value::as_str),
            Content::Blob(_) => None,
        };
        let is_wrong = |outcome: &&str| outcome.starts_with("fail") || outcome.starts_with("could_not");
        let error = outcome.filter(is_wrong);
        self.works
            .remove(&work)
            .map(|open| self.other(open, "work", Ended { at, outcome, error }))
            .into_iter()
            .collect()
    }

    fn answer_gate(&mut self, gate: NodeId, verdict: Verdict, at: Timestamp) -> Vec<Span> {
        let outcome = match verdict {
            Verdict::Approved => "approved",
            Verdict::Rejected => "rejected",
        };
        self.end_gate(gate, Ended { at, outcome: Some(outcome), error: None })
    }

    fn end_gate(&mut self, gate: NodeId, ended: Ended<'_>) -> Vec<Span> {
        self.gates.remove(&gate).map(|open| self.other(open, "gate", ended)).into_iter().collect()
    }

    /// What is no agent's: a step of the engine's own, a gate.
    fn other(&self, open: Open, what: &str, ended: Ended<'_>) -> Span {
        self.span(open.begun, ended.at, named(what, Some(&open.step.0)), None)
            .with(STEP, open.step.0)
            .with_some(OUTCOME, ended.outcome)
            .with_some(ERROR, ended.error)
    }

    /// What comes after that point is done again, and the session is open again.
    fn fork(&mut self, begun: Begun, step: Option<&StepId>) -> Vec<Span> {
        let mut over = self.end_all(Ended::badly(begun.at, "left_behind"));
        self.opened = self.opened.or(Some(begun));
        if let Some(step) = step {
            over.extend(self.begin_step(begun, step, None));
        }
        over
    }

    fn end_all(&mut self, ended: Ended<'_>) -> Vec<Span> {
        let mut over = self.end_step(ended);
        let works = std::mem::take(&mut self.works);
        over.extend(works.into_values().map(|open| self.other(open, "work", ended)));
        let gates = std::mem::take(&mut self.gates);
        over.extend(gates.into_values().map(|open| self.other(open, "gate", ended)));
        over
    }

    fn close(&mut self, at: Timestamp, outcome: &CloseOutcome) -> Vec<Span> {
        let (outcome, error) = match outcome {
            CloseOutcome::Completed => ("completed", None),
            CloseOutcome::Cancelled { .. } => ("cancelled", Some("cancelled")),
            CloseOutcome::Failed { .. } => ("failed", Some("failed")),
        };
        let mut over = self.end_all(Ended { at, outcome: None, error });
        let Some(begun) = self.opened else { return over };
        let (id, version) = self.workflow.clone().unzip();
        let name = named("invoke_workflow", id.as_deref());
        let span = Span { parent: self.above, ..self.span(begun, at, name, Some("invoke_workflow")) };
        over.push(
            span.with_some(WORKFLOW, id)
                .with_some(VERSION, version)
                .with_some(TASK, self.task.map(|task| task.to_string()))
                .with_some(WORKSPACE, self.workspace.map(|workspace| workspace.to_string()))
                .with(OUTCOME, outcome)
                .with_some(GOAL, self.goal.clone())
                .with_some(ERROR, error),
        );
        self.opened = None;
        over
    }
}

/// The event that opens a session.
const FIRST: Seq = Seq(1);

/// An operation and whom it concerns, as spans are named.
fn named(operation: &str, whom: Option<&str>) -> String {
    whom.map_or_else(|| operation.to_owned(), |whom| format!("{operation} {whom}"))
}
