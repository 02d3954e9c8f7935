//! Having an agent of our own do the step that is out: turns, calls, and what is on record of them.

use std::time::{Duration, Instant};

use longhaul_agent::tools::{self, Desk, Room, ToolError, Walls};
use longhaul_agent::{Agent, Fault, Turn, TurnRequest};
use longhaul_core::cassette::{Asked, Order};
use longhaul_core::conversation::{Conversation, Next};
use longhaul_core::session::Tip;
use longhaul_core::workflow::answer::Answer;
use longhaul_events::{
    AgentAct, AgentCall, CallOrder, CallOutcome, Content, Epoch, SessionId, TokenCount, TurnFault,
};
use serde_json::{Map, Value};

use super::{StopSwitch, giving_up};
use crate::commands::Commands;
use crate::commands::acting::{Ear, Heard, in_words};
use crate::commands::walking::Advance;
use crate::error::Error;
use crate::leaf::{self, Leaf, Told};
use crate::system::System;

/// How often a pause looks whether the session was stopped.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const COMPLETE: &str = "complete_step";

/// Somebody who answers turns, and hands to do what it wants done.
#[derive(Debug)]
pub(super) struct Driving<'a> {
    pub(super) agent: &'a mut dyn Agent,
    pub(super) hands: Hands<'a>,
}

/// What does the calls, and puts all of it on record.
#[derive(Debug)]
pub(super) struct Hands<'a> {
    pub(super) system: &'a System,
    pub(super) commands: &'a Commands,
    pub(super) id: SessionId,
    pub(super) epoch: Epoch,
    pub(super) room: &'a Room,
    pub(super) walls: &'a dyn Walls,
    pub(super) stop: &'a StopSwitch,
}

/// How a call ended, before it is on record.
struct Ended {
    outcome: CallOutcome,
    exit: Option<i32>,
    text: String,
    ms: u64,
}

impl Driving<'_> {
    /// Goes on with the step until the session leaves it, or somebody stops us.
    pub(super) fn step(&mut self, tip: &Tip, asked: &Asked) -> Result<(), Error> {
        // Before the first look, so that nothing falls in between; what is heard twice is folded once.
        let mut ear = Ear { node: tip.node, after: self.hands.commands.load_session(self.hands.id)?.seq };
        let mut conversation = self.hands.so_far(tip)?;
        while !self.hands.stop.is_stopped() {
            self.hands.listen(tip, &mut ear, &mut conversation)?;
            match conversation.next() {
                Next::Ask { turn, pause_ms } => {
                    self.hands.pause(Duration::from_millis(pause_ms));
                    if self.hands.stop.is_stopped() {
                        return Ok(());
                    }
                    let act = self.ask(turn, asked, &conversation)?;
                    self.hands.record_answer(tip, &mut ear, &mut conversation, &act)?;
                }
                Next::Call { turn, calls } => {
                    let started: Vec<AgentAct> =
                        calls.iter().map(|call| AgentAct::CallStarted { turn, call: *call }).collect();
                    self.hands.record(&mut conversation, &started)?;
                    if self.hands.make(&mut conversation, turn, &calls)? {
                        return Ok(());
                    }
                }
                Next::Interrupted { turn, call } => {
                    let tool =
                        conversation.call(turn, call).map_or_else(String::new, |call| call.tool.clone());
                    let ended = Ended {
                        outcome: CallOutcome::Interrupted,
                        exit: None,
                        text: INTERRUPTED.to_owned(),
                        ms: 0,
                    };
                    self.hands.record(&mut conversation, &[finished(turn, call, tool, ended)])?;
                }
                Next::Nudge { turn, words } => {
                    self.hands
                        .record(&mut conversation, &[AgentAct::Nudged { turn, words: words.to_owned() }])?;
                }
                Next::Stop(stop) => {
                    return self.hands.commands.park_step(
                        self.hands.id,
                        self.hands.epoch,
                        &giving_up::reasons(stop),
                    );
                }
            }
        }
        Ok(())
    }

    fn ask(&mut self, turn: u32, asked: &Asked, conversation: &Conversation) -> Result<AgentAct, Error> {
        let start = Instant::now();
        let answers = conversation.last_answers();
        let told = self.hands.told(conversation)?;
        let answer = self.agent.turn(&TurnRequest { asked, answers: &answers, told: &told });
        Ok(match answer {
            Ok(answer) => answered(turn, answer, elapsed(start)),
            Err(fault) => AgentAct::Failed {
                turn,
                fault: fault_of(&fault),
                message: fault.to_string(),
                ms: elapsed(start),
            },
        })
    }
}

impl Hands<'_> {
    /// What was said and done at a step, as the log has it.
    fn so_far(&self, tip: &Tip) -> Result<Conversation, Error> {
        Ok(Conversation::fold(&self.commands.acts_at(self.id, tip.node)?))
    }

    /// Takes in what a person said meanwhile.
    fn listen(&self, tip: &Tip, ear: &mut Ear, conversation: &mut Conversation) -> Result<(), Error> {
        if !self.commands.listen(self.id, ear)?.is_empty() {
            *conversation = self.so_far(tip)?;
        }
        Ok(())
    }

    fn record_answer(
        &self,
        tip: &Tip,
        ear: &mut Ear,
        conversation: &mut Conversation,
        act: &AgentAct,
    ) -> Result<(), Error> {
        match self.commands.act_and_listen(self.id, self.epoch, act, ear)? {
            Heard::Nothing => conversation.apply(act),
            Heard::Something => *conversation = self.so_far(tip)?,
        }
        Ok(())
    }

    fn told(&self, conversation: &Conversation) -> Result<Vec<String>, Error> {
        conversation.told().iter().map(|words| Ok(in_words(&*self.commands.shared_value(words)?))).collect()
    }

    fn pause(&self, length: Duration) {
        let start = Instant::now();
        while start.elapsed() < length && !self.stop.is_stopped() {
            // tidy: a provider asked us to wait, and a stop must not wait with us
            std::thread::sleep(LOOK_EVERY.min(length));
        }
    }

    /// Makes the calls. Says whether the session has left the step by one of them.
    fn make(&self, conversation: &mut Conversation, turn: u32, calls: &[u32]) -> Result<bool, Error> {
        let wanted: Vec<(u32, AgentCall)> =
            calls.iter().filter_map(|call| Some((*call, conversation.call(turn, *call)?.clone()))).collect();
        if let [(call, only)] = wanted.as_slice()
            && only.tool == COMPLETE
        {
            let Some(ended) = self.complete(only)? else { return Ok(true) };
            self.record(conversation, &[finished(turn, *call, only.tool.clone(), ended)])?;
            return Ok(false);
        }
        let ended = std::thread::scope(|scope| {
            let running: Vec<_> = wanted
                .iter()
                .map(|(number, call)| scope.spawn(move || Ok((*number, call.tool.clone(), self.call(call)?))))
                .collect();
            let joined = running
                .into_iter()
                .map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            joined.collect::<Result<Vec<_>, Error>>()
        })?;
        let acts: Vec<AgentAct> =
            ended.into_iter().map(|(call, tool, ended)| finished(turn, call, tool, ended)).collect();
        self.record(conversation, &acts)?;
        Ok(false)
    }

    fn call(&self, call: &AgentCall) -> Result<Ended, Error> {
        let start = Instant::now();
        let arguments = self.arguments(call)?;
        let refused =
            |text: String| Ended { outcome: CallOutcome::Refused, exit: None, text, ms: elapsed(start) };
        if let Some(tool) = tools::find(&call.tool) {
            return match tool.call(&Desk { room: self.room, walls: self.walls }, &arguments) {
                Ok(answer) => {
                    let outcome =
                        if self.stop.is_stopped() { CallOutcome::Stopped } else { CallOutcome::Done };
                    Ok(Ended {
                        outcome,
                        exit: answer.exit,
                        text: self.commands.scrubbed(&answer.text),
                        ms: elapsed(start),
                    })
                }
                Err(ToolError::Complaint(complaint)) => Ok(refused(complaint.to_string())),
                Err(ToolError::Broken(broken)) => Err(Error::Tool(broken)),
            };
        }
        let Some(tool) = leaf::TOOLS.iter().find(|tool| tool.name == call.tool && tool.name != COMPLETE)
        else {
            return Ok(refused(format!("there is no tool `{}`", call.tool)));
        };
        let leaf = Leaf { system: self.system, commands: self.commands, session: self.id };
        match tool.call(&leaf, &arguments) {
            Ok(Told::Said { words, .. }) => {
                Ok(Ended { outcome: CallOutcome::Done, exit: None, text: words, ms: elapsed(start) })
            }
            Ok(Told::Step(_)) => Ok(refused("only `complete_step` hands a step in".to_owned())),
            Err(Error::BadAnswer(reasons)) => Ok(refused(words(&reasons))),
            Err(error) => Err(error),
        }
    }

    /// Hands the step in. `None` if that led on; otherwise what the agent has to put right.
    fn complete(&self, call: &AgentCall) -> Result<Option<Ended>, Error> {
        let start = Instant::now();
        let refused =
            |text: String| Ended { outcome: CallOutcome::Refused, exit: None, text, ms: elapsed(start) };
        let answer = match Answer::from_payload(&Value::Object(self.arguments(call)?)) {
            Ok(answer) => answer,
            Err(reasons) => return Ok(Some(refused(words(&reasons)))),
        };
        let session = self.commands.load_session(self.id)?;
        let Some(handle) = session.handle() else { return Ok(None) };
        let view = self.commands.advance(&Advance { handle, answer, epoch: Some(self.epoch) })?;
        let stays = self.commands.load_session(self.id)?.tip().is_some_and(|tip| tip.node == handle.node);
        Ok(view.blocked.filter(|_| stays).map(|blocked| refused(words(&blocked.reasons))))
    }

    fn arguments(&self, call: &AgentCall) -> Result<Map<String, Value>, Error> {
        match self.commands.shared_value(&call.arguments)?.as_ref() {
            Value::Object(arguments) => Ok(arguments.clone()),
            _ => Ok(Map::new()),
        }
    }

    fn record(&self, conversation: &mut Conversation, acts: &[AgentAct]) -> Result<(), Error> {
        acts.iter().for_each(|act| conversation.apply(act));
        self.commands.act(self.id, self.epoch, acts)
    }
}

const INTERRUPTED: &str = "interrupted: outcome unknown. Whoever ran this call died while it ran. Look at the files before you go on.";

fn answered(turn: u32, answer: Turn, ms: u64) -> AgentAct {
    let call = |call: longhaul_agent::Call| AgentCall {
        tool: call.tool,
        arguments: Content::Inline(Value::Object(call.arguments)),
        expect_exit: call.expect_exit,
    };
    AgentAct::Answered {
        turn,
        said: Content::Inline(Value::String(answer.say)),
        calls: answer.calls.into_iter().map(call).collect(),
        order: match answer.order {
            Order::OneByOne => CallOrder::OneByOne,
            Order::AtOnce => CallOrder::AtOnce,
        },
        usage: TokenCount { input: answer.usage.input, output: answer.usage.output },
        ms,
    }
}

fn finished(turn: u32, call: u32, tool: String, ended: Ended) -> AgentAct {
    let Ended { outcome, exit, text, ms } = ended;
    AgentAct::CallFinished {
        turn,
        call,
        tool,
        outcome,
        exit,
        result: Content::Inline(Value::String(text)),
        ms,
    }
}

const fn fault_of(fault: &Fault) -> TurnFault {
    match fault {
        Fault::Stalled { .. } => TurnFault::Stalled,
        Fault::CutOff => TurnFault::CutOff,
        Fault::RateLimit => TurnFault::RateLimit,
        Fault::Overloaded => TurnFault::Overloaded,
        Fault::UsageLimit => TurnFault::UsageLimit,
        Fault::Auth => TurnFault::Auth,
        Fault::Garbage => TurnFault::Garbage,
        Fault::Unscripted(_) => TurnFault::Unscripted,
    }
}

fn words(reasons: &[longhaul_events::Reason]) -> String {
    let lines = reasons.iter().map(|reason| format!("{} Fix: {}", reason.message, reason.fix));
    lines.collect::<Vec<_>>().join("\n")
}

fn elapsed(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}
