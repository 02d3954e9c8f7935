//! How far a session is, folded from its events: for whoever watches it at a terminal or in a console.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use longhaul_events::{AgentAct, CloseOutcome, NodeId, SessionEvent, StepId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::session::Spent;
use crate::walk::view::{Progress as Tally, progress_at};
use crate::workflow::{StepKind, Workflow};

/// All that a look at a session shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// In the order of the workflow, those that are still ahead among them.
    pub steps: Vec<StepProgress>,
    pub now: Now,
    /// Over all steps.
    #[serde(flatten)]
    pub spent: Spent,
    pub started_at: Option<Timestamp>,
    pub changed_at: Option<Timestamp>,
    /// As everywhere else that steps are counted.
    #[serde(default)]
    pub tally: Tally,
    /// The same for whoever comes to a step.
    #[serde(skip)]
    tallies: BTreeMap<StepId, Tally>,
    #[serde(skip)]
    nodes: BTreeMap<NodeId, usize>,
    /// The tools of the turn that is at work, by the number of the call.
    #[serde(skip)]
    calls: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepProgress {
    pub step: StepId,
    pub title: String,
    pub state: StepState,
    /// How often it was reached.
    pub visits: u32,
    pub turns: u32,
    /// Of the turn that is at work.
    pub calls: u32,
    pub calls_done: u32,
    /// When it was reached last.
    pub since: Option<Timestamp>,
    /// How long it was at work. While it waits for a person nobody works.
    pub spent_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    Ahead,
    AtWork,
    /// For a person.
    Waits,
    Done,
    /// The way led past it.
    Skipped,
}

/// What goes on at this moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Now {
    #[default]
    Nothing,
    /// An agent answers a turn.
    Thinking {
        turn: u32,
    },
    /// What it wanted done is being done.
    Calling {
        turn: u32,
        tool: String,
    },
    /// The engine does a step of its own.
    Working,
    /// A gate waits for whoever may open it.
    Gate,
    /// A person has to look.
    Parked {
        because: String,
    },
    Over {
        outcome: CloseOutcome,
    },
}

impl Progress {
    /// Nothing has happened yet.
    pub fn of(workflow: &Workflow) -> Self {
        let ahead = workflow.all_steps().into_iter().filter(|step| !is_frame(&step.kind)).map(|step| {
            let title = if step.title.is_empty() { step.id.clone() } else { step.title.clone() };
            StepProgress::new(StepId(step.id.clone()), title)
        });
        let all = workflow.all_steps().into_iter();
        let tallies = all.map(|step| (StepId(step.id.clone()), progress_at(workflow, &step.id)));
        let tallies: BTreeMap<StepId, Tally> = tallies.collect();
        let tally = Tally { done: 0, total: tallies.values().next().map_or(0, |tally| tally.total) };
        Self { steps: ahead.collect(), tally, tallies, ..Self::default() }
    }

    /// Takes in one more fact. Total: what is in the log has happened.
    pub fn apply(&mut self, at: Timestamp, event: &SessionEvent) {
        self.started_at = self.started_at.or(Some(at));
        self.changed_at = Some(at);
        match event {
            SessionEvent::StepHandedOut { node, step, .. } => {
                self.reach(*node, step, StepState::AtWork, at);
                self.now = Now::Thinking { turn: 1 };
            }
            SessionEvent::WorkBegan { work, step, .. } => {
                self.reach(*work, step, StepState::AtWork, at);
                self.now = Now::Working;
            }
            SessionEvent::GateOpened { gate, step, .. } => {
                self.reach(*gate, step, StepState::Waits, at);
                self.now = Now::Gate;
            }
            SessionEvent::Parked { node, step, reasons, .. } => {
                self.reach(*node, step, StepState::Waits, at);
                let because = reasons.first().map(|reason| reason.message.clone()).unwrap_or_default();
                self.now = Now::Parked { because };
            }
            SessionEvent::Unparked { node, .. } => {
                self.set(*node, StepState::AtWork, at);
                self.now = self.thinking(*node);
            }
            SessionEvent::Decided { step, .. } => self.decide(step, at),
            SessionEvent::StepFinished { node, .. } => self.set(*node, StepState::Done, at),
            SessionEvent::WorkFinished { work, .. } => self.set(*work, StepState::Done, at),
            SessionEvent::GateAnswered { gate, .. } => self.set(*gate, StepState::Done, at),
            SessionEvent::Agent { node: Some(node), act } => self.act(*node, act),
            SessionEvent::Closed { outcome } => {
                self.calls.clear();
                if *outcome == CloseOutcome::Completed {
                    self.complete();
                }
                self.now = Now::Over { outcome: outcome.clone() };
            }
            SessionEvent::Rewound { to, .. } => self.go_back(*to, at),
            SessionEvent::Opened { .. }
            | SessionEvent::WorkflowPinned { .. }
            | SessionEvent::DriverTaken { .. }
            | SessionEvent::DriverRenewed { .. }
            | SessionEvent::DriverExpired { .. }
            | SessionEvent::DriverReleased { .. }
            | SessionEvent::AttemptRefused { .. }
            | SessionEvent::HandleReissued { .. }
            | SessionEvent::Forked { .. }
            | SessionEvent::VarsChanged { .. }
            | SessionEvent::WayChosen { .. }
            | SessionEvent::LoopExhausted { .. }
            | SessionEvent::WorkStarted { .. }
            | SessionEvent::GateExpired { .. }
            | SessionEvent::StopRequested { .. }
            | SessionEvent::Checkpointed { .. }
            | SessionEvent::Reported { .. }
            | SessionEvent::Agent { node: None, .. }
            | SessionEvent::Continued { .. }
            | SessionEvent::CheckoutMade { .. }
            | SessionEvent::Snapshotted { .. }
            | SessionEvent::CheckoutRemoved { .. }
            | SessionEvent::Delivery { .. } => {}
        }
    }

    fn act(&mut self, node: NodeId, act: &AgentAct) {
        self.spent.add(act);
        match act {
            AgentAct::Answered { turn, calls, .. } => {
                self.calls = calls.iter().map(|call| call.tool.clone()).collect();
                let number = u32::try_from(calls.len()).unwrap_or(u32::MAX);
                if let Some(step) = self.step(node) {
                    (step.turns, step.calls, step.calls_done) = (*turn, number, 0);
                }
                self.now = self.thinking(node);
            }
            AgentAct::CallStarted { turn, call } => {
                let tool = usize::try_from(*call).ok().and_then(|call| self.calls.get(call)).cloned();
                self.now = Now::Calling { turn: *turn, tool: tool.unwrap_or_default() };
            }
            AgentAct::CallFinished { .. } => {
                if let Some(step) = self.step(node) {
                    step.calls_done += 1;
                }
                self.now = self.thinking(node);
            }
            AgentAct::Observed { turn, tool, .. } => {
                self.now = Now::Calling { turn: *turn, tool: tool.clone() };
            }
            AgentAct::Assigned { .. }
            | AgentAct::MadeReady { .. }
            | AgentAct::Budgeted { .. }
            | AgentAct::Woken
            | AgentAct::Failed { .. }
            | AgentAct::Requested { .. }
            | AgentAct::Billed { .. }
            | AgentAct::Nudged { .. }
            | AgentAct::Compacted { .. }
            | AgentAct::Steered { .. } => {}
        }
    }

    /// The next turn of a step.
    fn thinking(&self, node: NodeId) -> Now {
        let turns = self.nodes.get(&node).map_or(0, |place| self.steps[*place].turns);
        Now::Thinking { turn: turns + 1 }
    }

    fn step(&mut self, node: NodeId) -> Option<&mut StepProgress> {
        self.steps.get_mut(*self.nodes.get(&node)?)
    }

    fn reach(&mut self, node: NodeId, step: &StepId, state: StepState, at: Timestamp) {
        self.tally = self.tallies.get(step).copied().unwrap_or_else(|| self.beyond());
        // A follow-up is in no workflow.
        let place = self.steps.iter().position(|known| known.step == *step).unwrap_or_else(|| {
            self.steps.push(StepProgress::new(step.clone(), step.0.clone()));
            self.steps.len() - 1
        });
        self.nodes.insert(node, place);
        pass_over(&mut self.steps[..place]);
        let reached = &mut self.steps[place];
        reached.count_until(at);
        if state == StepState::AtWork {
            reached.visits += 1;
            (reached.turns, reached.calls, reached.calls_done) = (0, 0, 0);
        }
        reached.since = Some(at);
        reached.state = state;
    }

    /// A policy is asked and has answered at one moment.
    fn decide(&mut self, step: &StepId, at: Timestamp) {
        let Some(place) = self.steps.iter().position(|known| known.step == *step) else { return };
        pass_over(&mut self.steps[..place]);
        let decided = &mut self.steps[place];
        decided.visits += 1;
        (decided.state, decided.since) = (StepState::Done, Some(at));
    }

    /// All of the workflow is done. A follow-up is no part of it.
    fn complete(&mut self) {
        self.tally = self.whole();
        pass_over(&mut self.steps);
    }

    fn whole(&self) -> Tally {
        let total = self.tallies.values().next().map_or(0, |tally| tally.total);
        Tally { done: total, total }
    }

    /// A follow-up is one step more than the workflow has.
    fn beyond(&self) -> Tally {
        let whole = self.whole();
        Tally { total: whole.total + 1, ..whole }
    }

    fn set(&mut self, node: NodeId, state: StepState, at: Timestamp) {
        if let Some(step) = self.step(node) {
            step.count_until(at);
            (step.state, step.since) = (state, Some(at));
        }
    }

    /// What came after it has to be done again.
    fn go_back(&mut self, to: NodeId, at: Timestamp) {
        let Some(place) = self.nodes.get(&to) else { return };
        for step in self.steps.iter_mut().skip(*place) {
            step.count_until(at);
            step.state = StepState::Ahead;
        }
    }
}

/// Steps behind that nobody came to.
fn pass_over(steps: &mut [StepProgress]) {
    for step in steps.iter_mut().filter(|step| step.state == StepState::Ahead) {
        step.state = StepState::Skipped;
    }
}

impl StepProgress {
    const fn new(step: StepId, title: String) -> Self {
        let state = StepState::Ahead;
        Self { step, title, state, visits: 0, turns: 0, calls: 0, calls_done: 0, since: None, spent_ms: 0 }
    }

    fn count_until(&mut self, at: Timestamp) {
        if let Some(since) = self.since.filter(|_| self.state == StepState::AtWork) {
            self.spent_ms = self.spent_ms.saturating_add(at.since_ms(since));
        }
    }
}

/// Steps that only hold others are no work themselves.
fn is_frame(kind: &StepKind) -> bool {
    !kind.inner().is_empty()
}
