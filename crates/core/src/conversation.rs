//! A conversation with an agent, folded from what happened in it, and what has to be done next.
//!
//! The log is all there is: a process that takes a session over folds the same acts and does the same next thing. So
//! no turn that has an answer is asked again, and a call that had begun is never made again.

#[cfg(test)]
mod tests;
mod unheard;

pub use unheard::Unheard;

use longhaul_events::{
    AgentAct, AgentCall, CallOrder, CallOutcome, Content, Timestamp, TokenCount, TurnFault,
};
use serde_json::Value;

/// How often an agent that only talks is told to go on.
const MOST_NUDGES: u32 = 2;
/// After so many equal calls in a row the agent gets a hint, and after so many more it is stopped.
const EQUAL_CALLS_HINT: usize = 3;
const EQUAL_CALLS_STOP: usize = 5;
/// How often a turn without an answer is asked again, and how long to wait before that.
const MOST_RETRIES: u32 = 4;
const FIRST_PAUSE_MS: u64 = 2_000;
/// How often less is told to a model that has no room for all of it.
const MOST_OVERFLOWS: usize = 2;

/// The tool with which an agent hands in its step.
pub const COMPLETE_STEP: &str = "complete_step";

const NUDGE: &str = "You ended your turn without a call. Go on with the step; when it is done, hand it in with complete_step. If \
     you cannot go on, say why with report_issue and hand in what you have.";
const HINT: &str = "You made the same call three times and got the same answer. Do something else.";

/// What was said and done at one step so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    turns: Vec<TurnState>,
    /// Turns that failed since the last answer.
    faults: Vec<FailedTurn>,
    /// How many turns in a row did nothing.
    idle: u32,
    /// Whether the agent was told something since its last answer.
    is_nudged: bool,
    /// What that was.
    told: Vec<Content>,
    /// From which turn on it counts whether the agent gets anywhere: a person may have set it right.
    judged_from: usize,
    pub usage: TokenCount,
    /// Of the newest turn alone.
    last_usage: TokenCount,
    /// What the agent was told since then beside the answers to its calls.
    told_bytes: u64,
}

#[derive(Debug, Clone, PartialEq)]
struct TurnState {
    number: u32,
    order: CallOrder,
    calls: Vec<CallState>,
}

#[derive(Debug, Clone, PartialEq)]
struct CallState {
    call: AgentCall,
    at: CallAt,
}

#[derive(Debug, Clone, PartialEq)]
enum CallAt {
    Waiting,
    Started,
    Finished { outcome: CallOutcome, exit: Option<i32>, result: Content },
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct FailedTurn {
    fault: TurnFault,
    message: String,
    retry_after_ms: Option<u64>,
    resets_at: Option<Timestamp>,
}

/// What has to be done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Ask for a turn, after a pause.
    Ask { turn: u32, pause_ms: u64 },
    /// Make these calls of a turn, at once.
    Call { turn: u32, calls: Vec<u32> },
    /// Nobody knows how far this call came; say so instead of making it again.
    Interrupted { turn: u32, call: u32 },
    /// Tell the agent this, then ask.
    Nudge { turn: u32, words: &'static str },
    /// Nothing goes on by itself.
    Stop(Stop),
}

/// Why a conversation does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The agent gets nowhere.
    Stuck(Stuck),
    /// No answer came.
    NoAnswer(TurnFault),
    /// A script said how a command would end, and it ended otherwise.
    Unexpected(Unexpected),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unexpected {
    pub turn: u32,
    pub call: u32,
    pub expected: i32,
    pub exit: Option<i32>,
}

/// A call of the last turn, with how it ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answered<'a> {
    pub call: &'a AgentCall,
    pub outcome: CallOutcome,
    pub result: &'a Content,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stuck {
    OnlyTalks,
    SameCall,
}

impl Conversation {
    /// Folds what happened since the step was handed out.
    pub fn fold<'a>(acts: impl IntoIterator<Item = &'a AgentAct>) -> Self {
        let mut conversation = Self::default();
        acts.into_iter().for_each(|act| conversation.apply(act));
        conversation
    }

    /// Takes in one more act. Total: what is in the log has happened.
    pub fn apply(&mut self, act: &AgentAct) {
        match act {
            AgentAct::MadeReady { .. }
            | AgentAct::Requested { .. }
            | AgentAct::Billed { .. }
            | AgentAct::Compacted { .. }
            | AgentAct::Observed { .. } => {}
            // Somebody else may know an answer. Whoever gave it means to go on wants to try again; or there are means again by
            // themselves.
            AgentAct::Assigned { .. } | AgentAct::Budgeted { .. } | AgentAct::Woken => self.faults.clear(),
            AgentAct::Answered { turn, calls, order, usage, .. } => {
                let calls_are_none = calls.is_empty();
                let calls =
                    calls.iter().map(|call| CallState { call: call.clone(), at: CallAt::Waiting }).collect();
                self.idle = if calls_are_none { self.idle + 1 } else { 0 };
                self.turns.push(TurnState { number: *turn, order: *order, calls });
                self.faults.clear();
                self.is_nudged = false;
                self.told.clear();
                self.usage.input += usage.input;
                self.usage.output += usage.output;
                self.last_usage = *usage;
                self.told_bytes = 0;
            }
            AgentAct::Failed { fault, message, retry_after_ms, resets_at, .. } => {
                let (fault, retry_after_ms, resets_at) = (*fault, *retry_after_ms, *resets_at);
                self.faults.push(FailedTurn { fault, message: message.clone(), retry_after_ms, resets_at });
            }
            AgentAct::CallStarted { turn, call } => self.put(*turn, *call, CallAt::Started),
            AgentAct::CallFinished { turn, call, outcome, exit, result, .. } => {
                self.put(
                    *turn,
                    *call,
                    CallAt::Finished { outcome: *outcome, exit: *exit, result: result.clone() },
                );
            }
            AgentAct::Nudged { words, .. } => {
                self.told_bytes += words.len() as u64;
                self.is_nudged = true;
                self.told.push(Content::Inline(Value::String(words.clone())));
            }
            AgentAct::Steered { words, .. } => {
                self.told_bytes += length(words);
                self.told.push(words.clone());
                self.idle = 0;
                self.is_nudged = true;
                self.judged_from = self.turns.len();
                self.faults.clear();
            }
        }
    }

    fn put(&mut self, turn: u32, call: u32, at: CallAt) {
        let turn = self.turns.iter_mut().rfind(|state| state.number == turn);
        let state = turn.and_then(|turn| turn.calls.get_mut(usize::try_from(call).ok()?));
        if let Some(state) = state {
            state.at = at;
        }
    }

    /// What the agent learns of its last turn.
    pub fn last_answers(&self) -> Vec<Answered<'_>> {
        let calls = self.turns.last().into_iter().flat_map(|turn| &turn.calls);
        calls.filter_map(CallState::answered).collect()
    }

    /// How many tokens the next turn will be told, as near as one can say without a tokenizer: all of the last turn, and
    /// what came since. `prompt` is what the step itself says.
    pub fn expected_input(&self, prompt: &Content) -> u64 {
        let Some(last) = self.turns.last() else { return in_tokens(length(prompt) + self.told_bytes) };
        let answered = last.calls.iter().filter_map(CallState::answered).map(|answer| length(answer.result));
        let added = answered.fold(self.told_bytes, u64::saturating_add);
        self.last_usage.input.saturating_add(self.last_usage.output).saturating_add(in_tokens(added))
    }

    /// What somebody told the agent since its last turn.
    pub fn told(&self) -> &[Content] {
        &self.told
    }

    /// When the limit that the newest turn ran into is new again, as far as somebody said.
    pub fn resets_at(&self) -> Option<Timestamp> {
        self.faults.last().and_then(|failed| failed.resets_at)
    }

    /// What is on record of why the newest turn has no answer.
    pub fn complaint(&self) -> Option<&str> {
        self.faults.last().map(|failed| failed.message.as_str())
    }

    /// The number of the last turn that was answered.
    pub fn last_turn(&self) -> Option<u32> {
        self.turns.last().map(|turn| turn.number)
    }

    /// A call that an agent made.
    pub fn call(&self, turn: u32, call: u32) -> Option<&AgentCall> {
        let turn = self.turns.iter().rfind(|state| state.number == turn)?;
        turn.calls.get(usize::try_from(call).ok()?).map(|state| &state.call)
    }

    /// What has to be done next.
    pub fn next(&self) -> Next {
        let Some(last) = self.turns.last() else { return self.ask(1) };
        if let Some(call) = last.first(|at| *at == CallAt::Started) {
            return Next::Interrupted { turn: last.number, call };
        }
        if let Some(call) = last.first(|at| *at == CallAt::Waiting) {
            let calls = match last.order {
                CallOrder::OneByOne => vec![call],
                CallOrder::AtOnce => last.waiting(),
            };
            return Next::Call { turn: last.number, calls };
        }
        if let Some(unexpected) = last.unexpected() {
            return Next::Stop(Stop::Unexpected(unexpected));
        }
        let turn = last.number + 1;
        if self.idle > MOST_NUDGES {
            return Next::Stop(Stop::Stuck(Stuck::OnlyTalks));
        }
        let equal = self.equal_calls();
        if equal >= EQUAL_CALLS_STOP {
            return Next::Stop(Stop::Stuck(Stuck::SameCall));
        }
        match (self.is_nudged, last.calls.is_empty()) {
            (false, true) => Next::Nudge { turn, words: NUDGE },
            (false, false) if equal >= EQUAL_CALLS_HINT => Next::Nudge { turn, words: HINT },
            (true | false, true | false) => self.ask(turn),
        }
    }

    /// How many of the newest calls are the same one with the same answer.
    fn equal_calls(&self) -> usize {
        let judged = self.turns.get(self.judged_from..).unwrap_or_default();
        let mut calls = judged.iter().flat_map(|turn| &turn.calls).rev();
        let Some(last) = calls.next() else { return 0 };
        1 + calls.take_while(|call| call.is_like(last)).count()
    }

    fn overflows(&self) -> usize {
        self.faults.iter().filter(|failed| failed.fault == TurnFault::ContextOverflow).count()
    }

    fn ask(&self, turn: u32) -> Next {
        let Some(last) = self.faults.last() else { return Next::Ask { turn, pause_ms: 0 } };
        let failed = u32::try_from(self.faults.len()).unwrap_or(u32::MAX);
        match last.fault {
            TurnFault::Auth
            | TurnFault::UsageLimit
            | TurnFault::Unscripted
            | TurnFault::BadRequest
            | TurnFault::OverCap => Next::Stop(Stop::NoAnswer(last.fault)),
            fault if failed > MOST_RETRIES || self.overflows() > MOST_OVERFLOWS => {
                Next::Stop(Stop::NoAnswer(fault))
            }
            TurnFault::RateLimit | TurnFault::Overloaded | TurnFault::Network => {
                let pause_ms = last.retry_after_ms.unwrap_or(FIRST_PAUSE_MS << (failed - 1));
                Next::Ask { turn, pause_ms }
            }
            TurnFault::Stalled | TurnFault::CutOff | TurnFault::Garbage | TurnFault::ContextOverflow => {
                Next::Ask { turn, pause_ms: 0 }
            }
        }
    }
}

/// A token is about four bytes of what people and programs write.
const fn in_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

pub(crate) fn length(content: &Content) -> u64 {
    match content {
        Content::Inline(Value::String(text)) => text.len() as u64,
        Content::Inline(value) => value.to_string().len() as u64,
        Content::Blob(blob) => blob.bytes,
    }
}

impl CallState {
    /// Whether it is the same call with the same end. What a provider calls it is different each time.
    fn is_like(&self, other: &Self) -> bool {
        let (one, two) = (&self.call, &other.call);
        (&one.tool, &one.arguments, one.expect_exit) == (&two.tool, &two.arguments, two.expect_exit)
            && self.at == other.at
    }

    fn answered(&self) -> Option<Answered<'_>> {
        match &self.at {
            CallAt::Waiting | CallAt::Started => None,
            CallAt::Finished { outcome, exit: _, result } => {
                Some(Answered { call: &self.call, outcome: *outcome, result })
            }
        }
    }
}

impl TurnState {
    /// The first command that did not end as its script says. One that was interrupted is asked for again.
    fn unexpected(&self) -> Option<Unexpected> {
        let calls = self.calls.iter().zip(0..);
        let mut missed = calls.filter_map(|(state, call)| match (&state.at, state.call.expect_exit) {
            (CallAt::Finished { outcome: CallOutcome::Done, exit, .. }, Some(expected))
                if *exit != Some(expected) =>
            {
                Some(Unexpected { turn: self.number, call, expected, exit: *exit })
            }
            _ => None,
        });
        missed.next()
    }

    fn waiting(&self) -> Vec<u32> {
        let calls = self.calls.iter().zip(0..);
        calls.filter(|(call, _)| call.at == CallAt::Waiting).map(|(_, number)| number).collect()
    }

    fn first(&self, is_so: impl Fn(&CallAt) -> bool) -> Option<u32> {
        self.calls.iter().zip(0..).find(|(call, _)| is_so(&call.at)).map(|(_, number)| number)
    }
}
