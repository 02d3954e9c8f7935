//! Asking an agent for a turn: what it may know of the session, whether it may be asked at all, and what came of it.

use std::cell::{Cell, OnceCell, Ref, RefCell};
use std::time::{Duration, Instant};

use longhaul_agent::tools;
use longhaul_agent::{Asker, Compaction, Fault, Means, Silence, Turn, TurnRequest};
use longhaul_core::cassette::{Asked, Order, Usage};
use longhaul_core::conversation::Conversation;
use longhaul_core::transcript::{Transcript, Unread};
use longhaul_events::{
    Account, AgentAct, AgentCall, CallOrder, Content, Reason, Seq, SessionId, TokenCount, TurnFault,
};
use serde_json::Value;

use super::agent::{Driving, Hands, elapsed};
use super::limits::{self, estimate};
use crate::commands::Commands;
use crate::error::{DrivenError, Error};
use crate::leaf;

/// What came of asking for a turn.
pub(super) enum Reply {
    Came(Vec<AgentAct>),
    /// Our own cap cut it.
    Cut(AgentAct, Reason),
    /// It would have gone over what the session may use.
    TooMuch(Reason),
    /// It was called off. Whether anybody goes on is to be looked at again.
    CalledOff,
    /// The agent has handed the step in by itself.
    Left(AgentAct),
}

/// What is asked at a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) turn: u32,
    pub(super) asked: &'a Asked,
    pub(super) prompt: &'a Content,
}

/// What was said and done in a session, as far as somebody wanted to know it. Read on from there when somebody asks again.
#[derive(Debug, Default)]
pub(super) struct Past {
    told: RefCell<Transcript>,
    read: Cell<Seq>,
    /// Values may have been taken out of what was read before this changed.
    epoch: Cell<u64>,
}

impl Past {
    /// All of it, as the log has it now.
    fn transcript(&self, commands: &Commands, id: SessionId) -> Result<Ref<'_, Transcript>, Error> {
        // Whoever holds it already goes on with what it holds.
        if let Ok(mut told) = self.told.try_borrow_mut() {
            let epoch = commands.state_epoch();
            if self.epoch.replace(epoch) != epoch {
                *told = Transcript::after(told.edition());
                self.read.set(Seq(0));
            }
            self.read.set(commands.each_event_since(id, self.read.get(), |event| told.apply(event))?);
        }
        Ok(self.told.borrow())
    }
}

/// Who asks, as an agent sees it.
#[derive(Debug)]
struct Asking<'a> {
    hands: &'a Hands<'a>,
    past: &'a Past,
    since: Instant,
    has_heard: Cell<bool>,
    /// For how long turns of this workflow may be silent, once somebody had to know.
    longer: OnceCell<Duration>,
}

impl Asker for Asking<'_> {
    fn transcript(&self) -> Result<Ref<'_, Transcript>, Unread> {
        self.past.transcript(self.hands.commands, self.hands.id).map_err(unread)
    }

    fn read(&self, content: &Content) -> Result<Value, Unread> {
        self.hands.commands.content(content).map_err(unread)
    }

    fn means(&self) -> Result<Means, Unread> {
        self.hands.limits.means().map_err(unread)
    }

    fn is_wanted(&self) -> bool {
        self.hands.stop.awaits_answer() && !self.hands.limits.time_left().is_zero()
    }

    fn patience(&self) -> Duration {
        let (system, usual) = (self.hands.system, self.hands.system.patience().turn);
        if self.since.elapsed() < usual {
            return usual;
        }
        let reader = || self.hands.commands.reader();
        *self.longer.get_or_init(|| system.longer_patience(reader().as_ref(), self.hands.id).turn)
    }

    fn heard(&self) {
        if !self.has_heard.replace(true) {
            let us = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
            tracing::debug!(us, session = %self.hands.id, "the first of an answer came");
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn unread(error: Error) -> Unread {
    Unread(error.to_string())
}

impl Driving<'_> {
    /// Asks for a turn and says how that ended, or why it is not asked for.
    pub(super) fn ask(
        &mut self,
        question: Question<'_>,
        conversation: &mut Conversation,
    ) -> Result<Reply, Error> {
        let since = Instant::now();
        let Question { turn, asked, prompt } = question;
        let told = self.hands.told(conversation)?;
        let hands = &self.hands;
        let asker =
            Asking { hands, past: self.past, since, has_heard: Cell::new(false), longer: OnceCell::new() };
        let silence = Silence::Endured(&|ms| hands.endure(ms));
        let answers = conversation.last_answers();
        let request = TurnRequest { asked, answers: &answers, told: &told, silence, asker: &asker };
        let compaction = match self.agent.compact(&request) {
            Ok(compaction) => compaction,
            Err(fault) => return came_to_nothing(turn, &fault, 0, None),
        };
        if let Some(compaction) = compaction {
            hands.commands.act(hands.id, hands.epoch, &[compacted(turn, compaction)])?;
        }
        let turn_may_use = estimate(self.agent.foresee(&request), conversation, prompt);
        // Requests that have bills of their own are set aside one by one, when they go out. Whoever has hands may have others
        // work for it within its turn, who need the purse too.
        hands.hold(None);
        if self.account == Account::Turn && !self.agent.has_hands() {
            hands.hold(Some(hands.commands.purse(hands.limits.price)?));
        }
        if let Some(reason) = hands.limits.before_turn(turn_may_use)? {
            return Ok(Reply::TooMuch(reason));
        }
        if hands.stop.is_stopped() {
            return Ok(Reply::CalledOff);
        }
        let start = Instant::now();
        let came = self.agent.turn(&request);
        let has_hands = self.agent.has_hands();
        let has_left = has_hands && !hands.is_at(self.node)?;
        // What its provider told it, it may have told nobody.
        let limit = self.meter.as_ref().and_then(|meter| meter.take_limited()).filter(|_| has_hands);
        let came = match (came, limit.and_then(|limit| limits::fault(&limit, hands.commands.now()))) {
            (_, Some(fault)) if !has_left => Err(fault),
            (came, _) => came,
        };
        match came {
            Ok(answer) => {
                let cost_micros = match self.account {
                    Account::Turn => hands.limits.price.of(tokens(answer.usage)),
                    Account::Bills => 0,
                };
                let spending = Spending { ms: elapsed(start), cost_micros, account: self.account };
                let mut acts = answered(turn, clean_names(hands.commands, answer), &spending);
                Ok(if has_left { Reply::Left(acts.swap_remove(0)) } else { Reply::Came(acts) })
            }
            // It had done what it was asked for before it failed.
            Err(_) if has_left => {
                let silent = Turn::plain(String::new(), Vec::new(), Order::OneByOne, Usage::default());
                let spending = Spending { ms: elapsed(start), cost_micros: 0, account: self.account };
                Ok(Reply::Left(answered(turn, silent, &spending).swap_remove(0)))
            }
            // We went away, and whoever was asked is not to blame.
            Err(_) if hands.stop.gave_up_waiting() => Ok(Reply::CalledOff),
            Err(fault) => {
                // Whoever is cut sees a stream that breaks off, or an error like any other.
                let refusal = self.meter.as_ref().and_then(|meter| meter.take_refusal());
                came_to_nothing(turn, &fault, elapsed(start), refusal)
            }
        }
    }
}

fn came_to_nothing(turn: u32, fault: &Fault, ms: u64, refusal: Option<Reason>) -> Result<Reply, Error> {
    let failed = |kind| AgentAct::Failed {
        turn,
        fault: kind,
        message: fault.to_string(),
        ms,
        retry_after_ms: fault.retry_after_ms(),
        resets_at: fault.resets_at(),
    };
    Ok(match (refusal, fault.kind()) {
        (Some(reason), _) => Reply::Cut(failed(TurnFault::OverCap), reason),
        (None, Some(kind)) => Reply::Came(vec![failed(kind)]),
        (None, None) => match fault {
            Fault::Unread(unread) => return Err(DrivenError::PastUnreadable(unread.clone()).into()),
            _ => Reply::CalledOff,
        },
    })
}

fn compacted(turn: u32, compaction: Compaction) -> AgentAct {
    let Compaction { plan, recap } = compaction;
    AgentAct::Compacted {
        turn,
        results_until: plan.results_until,
        turns_until: plan.turns_until,
        longest_result: plan.longest_result,
        recap: recap.map(|recap| Content::Inline(Value::String(recap))),
    }
}

/// What a turn took.
struct Spending {
    ms: u64,
    cost_micros: u64,
    account: Account,
}

const fn tokens(usage: Usage) -> TokenCount {
    TokenCount { input: usage.input, output: usage.output }
}

/// A tool that nobody has may be called anything, by a secret too. Names of our own are not text of anybody.
fn clean_names(commands: &Commands, mut answer: Turn) -> Turn {
    let is_ours =
        |name: &str| tools::find(name).is_some() || leaf::TOOLS.iter().any(|tool| tool.name == name);
    for call in answer.calls.iter_mut().filter(|call| !is_ours(&call.tool)) {
        call.tool = commands.scrubbed(&call.tool);
    }
    answer
}

/// The answer first, then what has to be said about it.
fn answered(turn: u32, answer: Turn, spending: &Spending) -> Vec<AgentAct> {
    let Spending { ms, cost_micros, account } = *spending;
    let call = |call: longhaul_agent::Call| AgentCall {
        tool: call.tool,
        arguments: Content::Inline(Value::Object(call.arguments)),
        expect_exit: call.expect_exit,
        id: call.id,
    };
    let order = match answer.order {
        Order::OneByOne => CallOrder::OneByOne,
        Order::AtOnce => CallOrder::AtOnce,
    };
    let said = AgentAct::Answered {
        turn,
        said: Content::Inline(Value::String(answer.say)),
        calls: answer.calls.into_iter().map(call).collect(),
        order,
        usage: tokens(answer.usage),
        ms,
        cost_micros,
        account,
        echo: answer.echo.map(Content::Inline),
    };
    let aside = answer.aside.map(|words| AgentAct::Nudged { turn: turn + 1, words });
    std::iter::once(said).chain(aside).collect()
}
