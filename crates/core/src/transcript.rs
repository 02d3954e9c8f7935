//! What a model is told, folded from the log of its session.
//!
//! One conversation over all steps: each step comes as a message, and what was said before stays as it was, byte for byte,
//! so that the caches of providers hold. When it grows too long, a [`Shortening`] says what is told no more; that is on record
//! before it counts, so every process tells the same.
//!
//! Long contents stay where they are, and are read when they are told: what is kept here is small.

mod layers;
mod messages;
mod outline;
mod recap;
mod shorten;
#[cfg(test)]
mod tests;

use longhaul_events::{
    AgentAct, AgentCall, CallOutcome, Content, NodeId, SessionEvent, StepId, TurnFault, Verdict,
};
use serde_json::Value;

pub use layers::{Foundation, Layers};
pub use messages::{Message, MessageCall, MessageResult};
pub use shorten::{Room, Shortening};

use outline::Outline;

use crate::conversation::COMPLETE_STEP;

/// Reads a content, wherever it lies.
pub type Read<'a> = &'a dyn Fn(&Content) -> Result<Value, Unread>;

/// A content could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what was said before cannot be read: {0}")]
pub struct Unread(pub String);

/// A conversation as a model is to be told it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    entries: Vec<Entry>,
    outline: Outline,
    /// Turns of the session so far, also those that a fork left behind.
    turns: u64,
    /// Up to which turn less is told, and up to which nothing but a recap.
    results_until: u64,
    turns_until: u64,
    /// Changes with what was told before, as opposed to what comes after it.
    edition: u64,
    /// The recap went with a fork, and what it stood for has no other.
    is_bare: bool,
    overflows: u32,
    /// The model had no room, and nothing was done about it yet.
    is_overflowing: bool,
    measured: Option<Measured>,
}

/// What a provider counted of what it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Of the conversation alone.
    pub bytes: u64,
    /// Of all that was sent.
    pub tokens: u64,
}

#[derive(Debug, Clone, PartialEq)]
enum Entry {
    Told { node: Option<NodeId>, words: Told },
    Turn(Box<Turn>),
}

/// Something that the agent is told beside what its calls give.
#[derive(Debug, Clone, PartialEq)]
enum Told {
    Step { step: StepId, prompt: Content },
    Nudge(String),
    Person { by: String, words: Content },
    Gate { by: String, verdict: Verdict, words: Content },
    Recap(Content),
}

#[derive(Debug, Clone, PartialEq)]
struct Turn {
    /// Over the whole session.
    ordinal: u64,
    node: Option<NodeId>,
    /// At its step.
    number: u32,
    said: Content,
    echo: Option<Content>,
    calls: Vec<Call>,
    telling: Telling,
}

/// How much is told of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    Whole,
    /// No result is longer than this.
    Clipped(u64),
    /// What calls took and gave is a line each.
    Trimmed,
}

#[derive(Debug, Clone, PartialEq)]
struct Call {
    call: AgentCall,
    end: End,
}

/// What an act knows a call by.
struct CallName {
    node: Option<NodeId>,
    turn: u32,
    call: u32,
}

#[derive(Debug, Clone, PartialEq)]
enum End {
    /// Nobody made it, as far as is known.
    Open,
    Came {
        outcome: CallOutcome,
        result: Content,
    },
    /// The step was handed in by it.
    HandedIn,
}

impl Transcript {
    /// An empty one that nobody takes for one of that edition.
    pub fn after(edition: u64) -> Self {
        Self { edition: edition + 1, ..Self::default() }
    }

    pub fn fold<'a>(events: impl IntoIterator<Item = &'a SessionEvent>) -> Self {
        let mut transcript = Self::default();
        events.into_iter().for_each(|event| transcript.apply(event));
        transcript
    }

    /// Takes in one more event. Total: what is in the log has happened.
    pub fn apply(&mut self, event: &SessionEvent) {
        self.outline.apply(event);
        match event {
            SessionEvent::StepHandedOut { node, step, prompt, .. } => {
                self.tell(Some(*node), Told::Step { step: step.clone(), prompt: prompt.clone() });
            }
            SessionEvent::StepFinished { node, .. } => self.hand_in(*node),
            SessionEvent::Forked { from, .. } => self.go_back(*from),
            SessionEvent::GateAnswered { gate, verdict, by, words, .. } => {
                let (by, verdict, words) = (by.clone(), *verdict, words.clone());
                self.tell(Some(*gate), Told::Gate { by, verdict, words });
            }
            SessionEvent::Agent { node, act } => self.act(*node, act),
            SessionEvent::Opened { .. }
            | SessionEvent::DriverTaken { .. }
            | SessionEvent::DriverRenewed { .. }
            | SessionEvent::DriverExpired { .. }
            | SessionEvent::DriverReleased { .. }
            | SessionEvent::HandleReissued { .. }
            | SessionEvent::StopRequested { .. }
            | SessionEvent::Closed { .. }
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
            | SessionEvent::GateExpired { .. }
            | SessionEvent::Parked { .. }
            | SessionEvent::Unparked { .. }
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

    fn act(&mut self, node: Option<NodeId>, act: &AgentAct) {
        match act {
            AgentAct::Answered { turn, said, calls, usage, echo, .. } => {
                if usage.input > 0 {
                    self.measured = Some(Measured { bytes: self.bytes(), tokens: usage.input });
                }
                self.turns += 1;
                self.overflows = 0;
                self.is_overflowing = false;
                self.outline.say(node, said);
                let calls = calls.iter().map(|call| Call { call: call.clone(), end: End::Open }).collect();
                self.entries.push(Entry::Turn(Box::new(Turn {
                    ordinal: self.turns,
                    node,
                    number: *turn,
                    said: said.clone(),
                    echo: echo.clone(),
                    calls,
                    telling: Telling::Whole,
                })));
            }
            AgentAct::CallFinished { turn, call, outcome, result, .. } => {
                let end = End::Came { outcome: *outcome, result: result.clone() };
                self.end_call(&CallName { node, turn: *turn, call: *call }, end);
            }
            AgentAct::Nudged { words, .. } => self.nudge(node, words),
            AgentAct::Steered { words, by } => {
                self.tell(node, Told::Person { by: by.clone(), words: words.clone() });
            }
            AgentAct::Failed { fault: TurnFault::ContextOverflow, .. } => {
                self.overflows += 1;
                self.is_overflowing = true;
            }
            AgentAct::Compacted { results_until, turns_until, longest_result, recap, .. } => {
                self.shorten(&Shortening {
                    results_until: *results_until,
                    turns_until: *turns_until,
                    longest_result: *longest_result,
                });
                if let Some(recap) = recap {
                    self.begin_with(node, recap);
                }
            }
            AgentAct::Assigned { .. }
            | AgentAct::MadeReady { .. }
            | AgentAct::Failed { .. }
            | AgentAct::Requested { .. }
            | AgentAct::Billed { .. }
            | AgentAct::Observed { .. }
            | AgentAct::CallStarted { .. }
            | AgentAct::Budgeted { .. }
            | AgentAct::Woken => {}
        }
    }

    fn tell(&mut self, node: Option<NodeId>, words: Told) {
        self.entries.push(Entry::Told { node, words });
    }

    /// What a person said while a turn was being answered is said again after it, because the answer did not know of it.
    /// It is told once, where it was heard.
    fn nudge(&mut self, node: Option<NodeId>, words: &str) {
        let is_same = |entry: &Entry| matches!(entry, Entry::Told { words: Told::Person { words: said, .. }, .. } if is_text(said, words));
        let last = self.entries.iter().rposition(Entry::is_turn);
        let since = last.map_or(0, |last| last + 1);
        if self.entries[since..].iter().any(is_same) {
            return;
        }
        let before = self.entries[..since.saturating_sub(1)].iter().rposition(Entry::is_turn);
        let unheard = before.map_or(0, |before| before + 1)..since;
        match self.entries[unheard.clone()].iter().position(is_same) {
            Some(place) => {
                let unheard = self.entries.remove(unheard.start + place);
                self.entries.push(unheard);
                self.edition += 1;
            }
            None => self.tell(node, Told::Nudge(words.to_owned())),
        }
    }

    fn end_call(&mut self, name: &CallName, end: End) {
        let mut turns = self.entries.iter_mut().rev().filter_map(Entry::turn_mut);
        let turn = turns.find(|turn| turn.node == name.node && turn.number == name.turn);
        let call = turn.and_then(|turn| turn.calls.get_mut(usize::try_from(name.call).ok()?));
        let Some(call) = call else { return };
        if let End::Came { outcome: CallOutcome::Done, .. } = &end {
            self.outline.touch(&call.call);
        }
        call.end = end;
    }

    fn hand_in(&mut self, node: NodeId) {
        let mut turns = self.entries.iter_mut().rev().filter_map(Entry::turn_mut);
        let Some(turn) = turns.find(|turn| turn.node == Some(node)) else { return };
        let call =
            turn.calls.iter_mut().find(|call| call.end == End::Open && call.call.tool == COMPLETE_STEP);
        if let Some(call) = call {
            call.end = End::HandedIn;
        }
    }

    /// The session goes on from an earlier node. What came from there on was left behind.
    fn go_back(&mut self, from: NodeId) {
        let had_recap = self.entries.iter().any(Entry::is_recap);
        self.entries.retain(|entry| entry.node().is_none_or(|node| node < from));
        self.is_bare |= had_recap && !self.entries.iter().any(Entry::is_recap);
        self.edition += 1;
    }

    fn begin_with(&mut self, node: Option<NodeId>, recap: &Content) {
        self.entries.retain(|entry| !entry.is_recap());
        self.entries.insert(0, Entry::Told { node, words: Told::Recap(recap.clone()) });
        self.is_bare = false;
    }

    /// How many parts there are. Those that were told once stay as they are while [`Transcript::edition`] does.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Another number means that what was told before is told otherwise now.
    pub const fn edition(&self) -> u64 {
        self.edition
    }

    /// How often in a row the model had no room, if that waits for something to be done about it.
    pub const fn unanswered_overflows(&self) -> Option<u32> {
        if self.is_overflowing { Some(self.overflows) } else { None }
    }

    /// What the provider counted when it was last asked.
    pub const fn measured(&self) -> Option<Measured> {
        self.measured
    }

    /// The step that is out, by its text.
    fn step_out(&self) -> Option<(&StepId, &Content)> {
        self.outline.step_out()
    }
}

impl Entry {
    const fn is_turn(&self) -> bool {
        matches!(self, Self::Turn(_))
    }

    const fn is_recap(&self) -> bool {
        matches!(self, Self::Told { words: Told::Recap(_), .. })
    }

    fn turn_mut(&mut self) -> Option<&mut Turn> {
        match self {
            Self::Turn(turn) => Some(turn),
            Self::Told { .. } => None,
        }
    }

    fn turn(&self) -> Option<&Turn> {
        match self {
            Self::Turn(turn) => Some(turn),
            Self::Told { .. } => None,
        }
    }

    fn node(&self) -> Option<NodeId> {
        match self {
            Self::Turn(turn) => turn.node,
            Self::Told { node, .. } => *node,
        }
    }
}

fn is_text(content: &Content, text: &str) -> bool {
    matches!(content, Content::Inline(Value::String(words)) if words == text)
}

/// What a value says, as text.
fn in_words(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// The beginning of a text that is too long, and how much there is of it.
fn clipped(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most);
    format!("{}\n[cut here, {} bytes in all]", &text[..end], text.len())
}
