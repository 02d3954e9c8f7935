//! A line for what a session came to, for whoever reads the lines of a process. Names, numbers and codes only: what
//! people, agents and tools said is in the log, and nowhere else.

use longhaul_core::session::Session;
use longhaul_events::{AgentAct, CloseOutcome, SessionEvent, SessionId, TaskId};
use tracing::{info, warn};

use crate::recorder::Stored;

/// What a line is about.
#[derive(Debug, Clone, Copy)]
struct About {
    session: SessionId,
    task: Option<TaskId>,
}

pub(super) fn note(stored: &Stored<Session>) {
    if !tracing::enabled!(tracing::Level::INFO) {
        return;
    }
    let about = About { session: stored.state.id, task: stored.state.task };
    stored.events.iter().for_each(|event| note_event(about, event));
}

fn note_event(about: About, event: &SessionEvent) {
    let About { session, task } = about;
    let task = task.map(tracing::field::display);
    match event {
        SessionEvent::DriverTaken { epoch, .. } => {
            info!(%session, task, epoch = epoch.0, "took the session over");
        }
        SessionEvent::DriverReleased { epoch } => {
            info!(%session, task, epoch = epoch.0, "let go of the session");
        }
        SessionEvent::DriverExpired { epoch, .. } => {
            warn!(%session, task, epoch = epoch.0, "whoever drove the session is gone");
        }
        SessionEvent::StepHandedOut { step, node, .. } => {
            info!(%session, task, %step, %node, "a step is out");
        }
        SessionEvent::StepFinished { node, .. } => info!(%session, task, %node, "a step is finished"),
        SessionEvent::AttemptRefused { node, reasons, .. } => {
            let code = reasons.first().map(|reason| reason.code.as_str());
            info!(%session, task, %node, code, "an answer did not do");
        }
        SessionEvent::WorkStarted { work, .. } => {
            info!(%session, task, %work, "work of the engine's own began");
        }
        SessionEvent::WorkFinished { work, .. } => {
            info!(%session, task, %work, "work of the engine's own is done");
        }
        SessionEvent::GateOpened { gate, step, .. } => info!(%session, task, %gate, %step, "waits at a gate"),
        SessionEvent::GateAnswered { gate, verdict, .. } => {
            info!(%session, task, %gate, ?verdict, "a gate was answered");
        }
        SessionEvent::GateExpired { gate, .. } => {
            warn!(%session, task, %gate, "nobody answered at a gate in time");
        }
        SessionEvent::Parked { step, reasons, .. } => {
            let code = reasons.first().map(|reason| reason.code.as_str());
            warn!(%session, task, %step, code, "the session is parked");
        }
        SessionEvent::StopRequested { urgency, .. } => {
            info!(%session, task, ?urgency, "somebody wants it ended");
        }
        SessionEvent::Closed { outcome } => match outcome {
            CloseOutcome::Completed => info!(%session, task, "the session is completed"),
            CloseOutcome::Cancelled { .. } => info!(%session, task, "the session is cancelled"),
            CloseOutcome::Failed { .. } => warn!(%session, task, "the session has failed"),
        },
        SessionEvent::Agent { act, .. } => note_act(about, act),
        SessionEvent::Delivery { fact, .. } => info!(%session, task, act = fact.act().word(), "delivers"),
        SessionEvent::Opened { .. }
        | SessionEvent::DriverRenewed { .. }
        | SessionEvent::HandleReissued { .. }
        | SessionEvent::Forked { .. }
        | SessionEvent::WorkflowPinned { .. }
        | SessionEvent::VarsChanged { .. }
        | SessionEvent::WayChosen { .. }
        | SessionEvent::Decided { .. }
        | SessionEvent::LoopExhausted { .. }
        | SessionEvent::WorkBegan { .. }
        | SessionEvent::Unparked { .. }
        | SessionEvent::Checkpointed { .. }
        | SessionEvent::Reported { .. }
        | SessionEvent::Rewound { .. }
        | SessionEvent::Continued { .. }
        | SessionEvent::CheckoutMade { .. }
        | SessionEvent::Snapshotted { .. }
        | SessionEvent::CheckoutRemoved { .. } => {}
    }
}

fn note_act(about: About, act: &AgentAct) {
    let About { session, task } = about;
    let task = task.map(tracing::field::display);
    match act {
        AgentAct::Assigned { agent, .. } => info!(%session, task, agent, "an agent was asked to do it"),
        AgentAct::Answered { turn, calls, ms, .. } => {
            info!(%session, task, turn, calls = calls.len(), ms, "a turn has its answer");
        }
        AgentAct::Failed { turn, fault, ms, .. } => {
            warn!(%session, task, turn, ?fault, ms, "a turn has no answer");
        }
        AgentAct::CallFinished { turn, tool, outcome, exit, ms, .. } => {
            info!(%session, task, turn, tool, ?outcome, exit, ms, "a call has ended");
        }
        AgentAct::Billed { provider, model, usage, cost_micros, .. } => {
            let (input, output) = (usage.input, usage.output);
            info!(%session, task, provider, model, input, output, cost_micros, "a request has its bill");
        }
        AgentAct::Compacted { turn, .. } => info!(%session, task, turn, "less of the conversation is told"),
        AgentAct::Woken => info!(%session, task, "goes on by itself"),
        AgentAct::MadeReady { .. }
        | AgentAct::Requested { .. }
        | AgentAct::Observed { .. }
        | AgentAct::CallStarted { .. }
        | AgentAct::Nudged { .. }
        | AgentAct::Steered { .. }
        | AgentAct::Budgeted { .. } => {}
    }
}
