//! How long somebody was at work on a session, folded from its events and when they were written.

use longhaul_events::{AgentAct, CallOutcome, SessionEvent, Timestamp};
use serde::{Deserialize, Serialize};

use crate::budget::WallClock;

/// Runs while somebody holds the lease, also for those below. A session that an agent of somebody else does holds none;
/// there it runs while a step is out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkTime {
    clock: WallClock,
    /// An agent of ours does its steps.
    is_ours: bool,
    out_since: Option<Timestamp>,
    out_ms: u64,
    pub longest: Longest,
}

/// The longest that something took and that came to a good end: what looks like silence and is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Longest {
    /// One call of a tool.
    pub call_ms: u64,
    /// One turn.
    pub turn_ms: u64,
}

impl Longest {
    fn take(&mut self, act: &AgentAct) {
        match act {
            AgentAct::Answered { ms, .. } => self.turn_ms = self.turn_ms.max(*ms),
            AgentAct::CallFinished { outcome: CallOutcome::Done, ms, .. }
            | AgentAct::Observed { outcome: CallOutcome::Done, ms, .. } => {
                self.call_ms = self.call_ms.max(*ms);
            }
            AgentAct::CallFinished { .. }
            | AgentAct::Observed { .. }
            | AgentAct::Assigned { .. }
            | AgentAct::MadeReady { .. }
            | AgentAct::Failed { .. }
            | AgentAct::Requested { .. }
            | AgentAct::Billed { .. }
            | AgentAct::CallStarted { .. }
            | AgentAct::Nudged { .. }
            | AgentAct::Steered { .. }
            | AgentAct::Budgeted { .. }
            | AgentAct::Compacted { .. }
            | AgentAct::Woken => {}
        }
    }
}

impl WorkTime {
    /// Takes in one more fact and when it was written. Total: what is in the log has happened.
    pub fn apply(&mut self, at: Timestamp, event: &SessionEvent) {
        self.clock.apply(at, event);
        match event {
            SessionEvent::Agent { act, .. } => {
                self.is_ours |= matches!(act, AgentAct::Assigned { .. });
                self.longest.take(act);
            }
            SessionEvent::StepHandedOut { .. } | SessionEvent::Unparked { .. } => {
                self.come_in(at);
                self.out_since = (!self.is_ours).then_some(at);
            }
            SessionEvent::StepFinished { .. }
            | SessionEvent::Parked { .. }
            | SessionEvent::GateOpened { .. }
            | SessionEvent::WorkBegan { .. }
            | SessionEvent::Forked { .. }
            | SessionEvent::Closed { .. } => self.come_in(at),
            SessionEvent::Opened { .. }
            | SessionEvent::DriverTaken { .. }
            | SessionEvent::DriverRenewed { .. }
            | SessionEvent::DriverExpired { .. }
            | SessionEvent::DriverReleased { .. }
            | SessionEvent::HandleReissued { .. }
            | SessionEvent::StopRequested { .. }
            | SessionEvent::WorkflowPinned { .. }
            | SessionEvent::VarsChanged { .. }
            | SessionEvent::WayChosen { .. }
            | SessionEvent::Decided { .. }
            | SessionEvent::LoopExhausted { .. }
            | SessionEvent::AttemptRefused { .. }
            | SessionEvent::WorkStarted { .. }
            | SessionEvent::WorkFinished { .. }
            | SessionEvent::GateAnswered { .. }
            | SessionEvent::GateExpired { .. }
            | SessionEvent::Checkpointed { .. }
            | SessionEvent::Reported { .. }
            | SessionEvent::Rewound { .. }
            | SessionEvent::Continued { .. }
            | SessionEvent::CheckoutMade { .. }
            | SessionEvent::Snapshotted { .. }
            | SessionEvent::CheckoutRemoved { .. }
            | SessionEvent::Delivery { .. } => {}
        }
    }

    /// The step that was out is in again.
    fn come_in(&mut self, at: Timestamp) {
        if let Some(since) = self.out_since.take() {
            self.out_ms = self.out_ms.saturating_add(at.since_ms(since));
        }
    }

    /// All of it, as far as it is on record.
    pub fn ms(&self) -> u64 {
        self.clock.ms().saturating_add(self.clock.led_ms()).saturating_add(self.out_ms)
    }
}
