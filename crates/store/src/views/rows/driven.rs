//! What a row shows of a session that an agent of ours does: what it used, and what it is doing.

use std::collections::BTreeMap;

use longhaul_core::budget::{WallClock, day_of};
use longhaul_core::session::Spent;
use longhaul_core::stats::WorkTime;
use longhaul_events::{AgentAct, Caps, SessionEvent, Taint, Timestamp, Waits};
use serde::{Deserialize, Serialize};

use super::costs::Costs;

/// All of it is nothing for sessions that somebody else drives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrivenRow {
    /// Who does the steps.
    pub agent: Option<String>,
    pub spent: Spent,
    pub caps: Option<Caps>,
    pub clock: WallClock,
    /// How long somebody was at work on it, whoever that is.
    pub worked: WorkTime,
    /// In millionths of a dollar, for each day on which something was paid.
    pub money_by_day: BTreeMap<i64, u64>,
    /// What was used, by whom, with which model, on which day.
    pub costs: Costs,
    /// Until when the driver holds the session, unless it renews.
    pub held_until: Option<Timestamp>,
    /// The tool that is at work.
    pub tool: Option<String>,
    /// The tools that the newest turn wants used.
    wanted: Vec<String>,
    /// What a parked session waits for that comes by itself.
    pub waits: Option<Waits>,
    pub taint: Taint,
    /// How many calls were begun and not ended.
    under_way: u32,
}

impl DrivenRow {
    pub(super) fn apply(&mut self, at: Timestamp, event: &SessionEvent) {
        self.clock.apply(at, event);
        self.worked.apply(at, event);
        match event {
            SessionEvent::Agent { act, .. } => self.take(at, act),
            SessionEvent::DriverTaken { expires_at, .. } | SessionEvent::DriverRenewed { expires_at, .. } => {
                self.held_until = Some(*expires_at);
            }
            SessionEvent::DriverReleased { .. } | SessionEvent::DriverExpired { .. } => self.let_go(),
            SessionEvent::Closed { .. } => {
                self.waits = None;
                self.let_go();
            }
            SessionEvent::StepFinished { .. } | SessionEvent::StepHandedOut { .. } => {
                self.waits = None;
                self.rest();
            }
            SessionEvent::Parked { waits, .. } => self.waits.clone_from(waits),
            SessionEvent::Unparked { .. } | SessionEvent::Rewound { .. } => self.waits = None,
            SessionEvent::Opened { .. }
            | SessionEvent::HandleReissued { .. }
            | SessionEvent::Forked { .. }
            | SessionEvent::WorkflowPinned { .. }
            | SessionEvent::VarsChanged { .. }
            | SessionEvent::WayChosen { .. }
            | SessionEvent::Decided { .. }
            | SessionEvent::LoopExhausted { .. }
            | SessionEvent::AttemptRefused { .. }
            | SessionEvent::WorkBegan { .. }
            | SessionEvent::WorkStarted { .. }
            | SessionEvent::WorkFinished { .. }
            | SessionEvent::GateOpened { .. }
            | SessionEvent::GateAnswered { .. }
            | SessionEvent::GateExpired { .. }
            | SessionEvent::StopRequested { .. }
            | SessionEvent::Checkpointed { .. }
            | SessionEvent::Reported { .. }
            | SessionEvent::Continued { .. }
            | SessionEvent::CheckoutMade { .. }
            | SessionEvent::Snapshotted { .. }
            | SessionEvent::CheckoutRemoved { .. }
            | SessionEvent::Delivery { .. } => {}
        }
    }

    fn take(&mut self, at: Timestamp, act: &AgentAct) {
        self.spent.add(act);
        self.costs.add(at, self.agent.as_deref(), act);
        match act {
            AgentAct::Assigned { agent, taint, .. } => {
                self.agent = Some(agent.clone());
                self.taint = self.taint.max(*taint);
            }
            AgentAct::Budgeted { caps, .. } => self.caps = Some(*caps),
            AgentAct::Answered { calls, cost_micros, .. } => {
                self.rest();
                self.wanted = calls.iter().map(|call| call.tool.clone()).collect();
                self.pay(at, *cost_micros);
            }
            AgentAct::Requested { held, .. } => self.pay(at, held.cost_micros),
            AgentAct::Billed { cost_micros, held, .. } => {
                let day = self.money_by_day.entry(day_of(at)).or_default();
                *day = day.saturating_add(*cost_micros).saturating_sub(held.cost_micros);
            }
            AgentAct::CallStarted { call, .. } => {
                let tool = usize::try_from(*call).ok().and_then(|call| self.wanted.get(call));
                self.tool = tool.cloned();
                self.under_way += 1;
            }
            AgentAct::CallFinished { .. } => {
                self.under_way = self.under_way.saturating_sub(1);
                if self.under_way == 0 {
                    self.tool = None;
                }
            }
            AgentAct::MadeReady { .. }
            | AgentAct::Failed { .. }
            | AgentAct::Observed { .. }
            | AgentAct::Nudged { .. }
            | AgentAct::Compacted { .. }
            | AgentAct::Steered { .. }
            | AgentAct::Woken => {}
        }
    }

    fn pay(&mut self, at: Timestamp, cost_micros: u64) {
        if cost_micros > 0 {
            let day = self.money_by_day.entry(day_of(at)).or_default();
            *day = day.saturating_add(cost_micros);
        }
    }

    fn let_go(&mut self) {
        self.held_until = None;
        self.rest();
    }

    /// Nothing is under way.
    fn rest(&mut self) {
        self.tool = None;
        self.wanted.clear();
        self.under_way = 0;
    }
}
