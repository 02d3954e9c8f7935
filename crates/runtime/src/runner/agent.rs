//! Having an agent of our own do the step that is out: turns, calls, and what is on record of them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use longhaul_agent::tools::{self, Desk, Room, ToolError, Walls};
use longhaul_agent::{Agent, unreadable};
use longhaul_core::cassette::Asked;
use longhaul_core::conversation::{COMPLETE_STEP, Conversation, Next, Stop};
use longhaul_core::session::Tip;
use longhaul_core::units::show_duration;
use longhaul_core::workflow::answer::Answer;
use longhaul_events::{
    Account, AgentAct, AgentCall, CallOutcome, Content, Epoch, NodeId, Reason, SessionId, Timestamp,
    TurnFault,
};
use serde_json::{Map, Value};

use super::asking::{Past, Question, Reply};
use super::giving_up;
use super::interrupted;
use super::limits::Limits;
use super::switch::{CutShort, StopSwitch};
use crate::clock::Entropy;
use crate::commands::Commands;
use crate::commands::acting::{Ear, Heard};
use crate::commands::checkout::BegunCall;
use crate::commands::paying::Purse;
use crate::commands::walking::Advance;
use crate::error::Error;
use crate::leaf::{self, Leaf, Told};
use crate::metering::SessionMeter;
use crate::system::System;

/// How often a pause looks whether the session was stopped.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Somebody who answers turns, and hands to do what it wants done.
#[derive(Debug)]
pub(super) struct Driving<'a> {
    pub(super) agent: &'a mut dyn Agent,
    /// Where what its turns use is added up.
    pub(super) account: Account,
    /// What counts the requests that it makes, if anything does.
    pub(super) meter: Option<Arc<SessionMeter>>,
    pub(super) hands: Hands<'a>,
    /// The step that it is asked at.
    pub(super) node: NodeId,
    pub(super) past: &'a Past,
    /// Whoever drove before died.
    pub(super) after_death: bool,
    /// What somebody said at earlier steps that it has not heard.
    pub(super) unheard: Vec<String>,
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
    pub(super) limits: Limits<'a>,
    /// Held from before a turn is asked until what it cost is on record.
    pub(super) purse: Mutex<Option<Purse>>,
}

/// How a call ended, before it is on record.
struct Ended {
    outcome: CallOutcome,
    exit: Option<i32>,
    text: String,
    ms: u64,
}

/// Where a session went by what its agent did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Stays,
    /// The step is handed in, and what the agent said about it is over.
    Left,
}

/// How having a step done ended.
#[derive(Debug)]
pub(super) enum StepEnd {
    /// The session has left the step, or somebody stopped us.
    Over,
    NoAnswer(NoAnswer),
}

/// Somebody who was asked, and will not answer however often it is asked again.
#[derive(Debug, Clone)]
pub(super) struct NoAnswer {
    pub(super) fault: TurnFault,
    /// What is on record of it.
    pub(super) complaint: Option<String>,
    /// When that is over by itself.
    pub(super) until: Option<Timestamp>,
    /// How far it was listened to what people say; nobody was asked without it.
    pub(super) ear: Option<Ear>,
}

impl Driving<'_> {
    /// Goes on with the step until the session leaves it, or somebody stops us.
    pub(super) fn step(&mut self, tip: &Tip, asked: &Asked) -> Result<StepEnd, Error> {
        // Before the first look, so that nothing falls in between; what is heard twice is folded once.
        let mut ear = Ear { node: tip.node, after: self.hands.commands.load_session(self.hands.id)?.seq };
        let prompt = self.hands.commands.prompt_at(self.hands.id, tip.node)?;
        let acts = self.hands.commands.acts_at(self.hands.id, tip.node)?;
        let mut conversation = Conversation::fold(&acts);
        let turn = conversation.last_turn().map_or(1, |last| last + 1);
        let told =
            std::mem::take(&mut self.unheard).into_iter().map(|words| AgentAct::Nudged { turn, words });
        self.hands.record(&mut conversation, &told.collect::<Vec<_>>())?;
        if self.after_death {
            let news = interrupted::news(&acts, &conversation);
            self.hands.record(&mut conversation, news.as_slice())?;
        }
        while !self.hands.stop.is_stopped() {
            self.hands.listen(&mut ear, &mut conversation)?;
            match conversation.next() {
                Next::Ask { turn, pause_ms } => {
                    self.hands.wait_for_room(pause_ms);
                    let question = Question { turn, asked, prompt: &prompt };
                    if self.hear(question, &mut ear, &mut conversation)? == Way::Left {
                        return Ok(StepEnd::Over);
                    }
                }
                Next::Call { .. } => {
                    if self.hands.go_on(&mut ear, &mut conversation, Vec::new())? == Way::Left {
                        return Ok(StepEnd::Over);
                    }
                }
                Next::Interrupted { turn, call } => {
                    let tool =
                        conversation.call(turn, call).map_or_else(String::new, |call| call.tool.clone());
                    let text = self.hands.outcome_unknown(&BegunCall { node: tip.node, turn, call });
                    let ended = Ended { outcome: CallOutcome::Interrupted, exit: None, text, ms: 0 };
                    self.hands.record(&mut conversation, &[finished(turn, call, tool, ended)])?;
                }
                Next::Nudge { turn, words } => {
                    self.hands
                        .record(&mut conversation, &[AgentAct::Nudged { turn, words: words.to_owned() }])?;
                }
                Next::Stop(Stop::NoAnswer(fault)) => {
                    let (until, complaint) =
                        (conversation.resets_at(), conversation.complaint().map(str::to_owned));
                    return Ok(StepEnd::NoAnswer(NoAnswer { fault, complaint, until, ear: Some(ear) }));
                }
                Next::Stop(stop) => {
                    if self.hands.park(giving_up::reason(self.hands.id, stop), ear)? == Way::Left {
                        return Ok(StepEnd::Over);
                    }
                }
            }
        }
        Ok(StepEnd::Over)
    }

    /// Asks for a turn, puts on record what came of it, and does what it wants done.
    fn hear(
        &mut self,
        question: Question<'_>,
        ear: &mut Ear,
        conversation: &mut Conversation,
    ) -> Result<Way, Error> {
        if self.hands.stop.is_stopped() {
            return Ok(Way::Stays);
        }
        let reply = self.ask(question, conversation);
        if !matches!(reply, Ok(Reply::Came(_))) {
            self.hands.hold(None);
        }
        match reply? {
            Reply::Came(acts) => self.hands.go_on(ear, conversation, acts),
            Reply::Cut(act, reason) => {
                self.hands.record(conversation, &[act])?;
                self.hands.park(reason, *ear)
            }
            Reply::TooMuch(reason) => self.hands.park(reason, *ear),
            Reply::CalledOff => Ok(Way::Stays),
            Reply::Left(act) => {
                self.hands.commands.settle(self.hands.id, self.node, &act)?;
                Ok(Way::Left)
            }
        }
    }
}

impl Hands<'_> {
    /// Holds the purse, or gives it back.
    pub(super) fn hold(&self, purse: Option<Purse>) {
        *self.purse.lock().unwrap_or_else(PoisonError::into_inner) = purse;
    }

    /// Gives the step up, unless somebody has just said something.
    fn park(&self, reason: Reason, ear: Ear) -> Result<Way, Error> {
        Ok(match self.commands.park_unless_told(self.id, self.epoch, &reason.into(), ear)? {
            Heard::Nothing => Way::Left,
            Heard::Something => Way::Stays,
        })
    }

    /// Waits before a turn is asked again, no longer than the session may go on: what comes then is not asked for.
    fn wait_for_room(&self, ms: u64) {
        if ms > 0 {
            self.pause(Duration::from_millis(with_jitter(ms)).min(self.limits.time_left()));
        }
    }

    /// Waits for an agent that says nothing, as long as anybody would and the session may. Says how long that was.
    pub(super) fn endure(&self, ms: u64) -> u64 {
        let start = Instant::now();
        let patience = self.limits.time_left().min(self.system.patience().turn);
        self.pause_while(Duration::from_millis(ms).min(patience), || self.stop.awaits_answer());
        elapsed(start)
    }

    /// Whether the session still stands at this node.
    pub(super) fn is_at(&self, node: NodeId) -> Result<bool, Error> {
        Ok(self.commands.load_session(self.id)?.tip().is_some_and(|tip| tip.node == node))
    }

    fn pause(&self, length: Duration) {
        self.pause_while(length, || !self.stop.is_stopped());
    }

    #[expect(clippy::unused_self, reason = "it is what hands do")]
    fn pause_while(&self, length: Duration, goes_on: impl Fn() -> bool) {
        let start = Instant::now();
        while start.elapsed() < length && goes_on() {
            // tidy: a provider asked us to wait, and a stop must not wait with us
            std::thread::sleep(LOOK_EVERY.min(length));
        }
    }

    /// Puts acts on record and makes the calls that follow from them. The start of a call goes into the commit of
    /// what led to it: both are there before anything is done, and a turn costs one commit less.
    fn go_on(
        &self,
        ear: &mut Ear,
        conversation: &mut Conversation,
        mut acts: Vec<AgentAct>,
    ) -> Result<Way, Error> {
        loop {
            acts.iter().for_each(|act| conversation.apply(act));
            let due = conversation.next();
            let Next::Call { turn, calls } = due else {
                self.put_down(ear, conversation, &acts)?;
                return Ok(Way::Stays);
            };
            if let Some(reason) = self.limits.before_calls(&acts)? {
                self.put_down(ear, conversation, &acts)?;
                return self.park(reason, *ear);
            }
            if self.stop.is_stopped() {
                self.put_down(ear, conversation, &acts)?;
                return Ok(Way::Stays);
            }
            for call in &calls {
                let start = AgentAct::CallStarted { turn, call: *call };
                conversation.apply(&start);
                acts.push(start);
            }
            self.put_down(ear, conversation, &acts)?;
            let Some(ended) = self.make(conversation, turn, &calls)? else { return Ok(Way::Left) };
            acts = ended;
        }
    }

    /// Makes the calls. `None` if the session has left the step by one of them.
    fn make(
        &self,
        conversation: &Conversation,
        turn: u32,
        calls: &[u32],
    ) -> Result<Option<Vec<AgentAct>>, Error> {
        let wanted: Vec<(u32, AgentCall)> =
            calls.iter().filter_map(|call| Some((*call, conversation.call(turn, *call)?.clone()))).collect();
        if let [(call, only)] = wanted.as_slice() {
            let ended = if only.tool == COMPLETE_STEP {
                let Some(ended) = self.complete(only)? else { return Ok(None) };
                ended
            } else {
                self.stop.begin_calls();
                let ended = self.call(only);
                self.stop.calls_over();
                ended?
            };
            return Ok(Some(vec![finished(turn, *call, only.tool.clone(), ended)]));
        }
        self.stop.begin_calls();
        let ended = std::thread::scope(|scope| {
            let running: Vec<_> = wanted
                .iter()
                .map(|(number, call)| scope.spawn(move || Ok((*number, call.tool.clone(), self.call(call)?))))
                .collect();
            let joined = running
                .into_iter()
                .map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            joined.collect::<Result<Vec<_>, Error>>()
        });
        self.stop.calls_over();
        Ok(Some(ended?.into_iter().map(|(call, tool, ended)| finished(turn, call, tool, ended)).collect()))
    }

    fn call(&self, call: &AgentCall) -> Result<Ended, Error> {
        let start = Instant::now();
        let arguments = self.arguments(call)?;
        let refused =
            |text: String| Ended { outcome: CallOutcome::Refused, exit: None, text, ms: elapsed(start) };
        if let Some(problem) = unreadable(&arguments) {
            return Ok(refused(problem));
        }
        if let Some(tool) = tools::find(&call.tool) {
            let desk = Desk { room: self.room, walls: self.walls, scrubber: self.commands.scrubber() };
            return match tool.call(&desk, &arguments) {
                Ok(answer) => {
                    let cut_short = self.stop.was_cut_short().filter(|_| answer.exit.is_none());
                    let was_ended = answer.exit.is_none() && self.stop.was_forced();
                    let outcome = if was_ended || cut_short.is_some() {
                        CallOutcome::Stopped
                    } else {
                        CallOutcome::Done
                    };
                    let why = cut_short.map(words_for).unwrap_or_default();
                    let text = why + &self.commands.scrubbed(&answer.text);
                    Ok(Ended { outcome, exit: answer.exit, text, ms: elapsed(start) })
                }
                Err(ToolError::Complaint(complaint)) => Ok(refused(complaint.to_string())),
                Err(ToolError::Broken(broken)) => Err(Error::Tool(broken)),
            };
        }
        let Some(tool) = leaf::TOOLS.iter().find(|tool| tool.name == call.tool && tool.name != COMPLETE_STEP)
        else {
            return Ok(refused(format!("there is no tool `{}`", call.tool)));
        };
        let leaf =
            Leaf { system: self.system, commands: self.commands, session: self.id, driver: Some(self.epoch) };
        match tool.call(&leaf, &arguments) {
            Ok(Told::Said { words, .. }) => {
                Ok(Ended { outcome: CallOutcome::Done, exit: None, text: words, ms: elapsed(start) })
            }
            Ok(Told::Step(_)) => Ok(refused(format!("only `{COMPLETE_STEP}` hands a step in"))),
            Err(Error::BadAnswer(reasons)) => Ok(refused(words(&reasons))),
            Err(error) => Err(error),
        }
    }

    /// Hands the step in. `None` if that led on; otherwise what the agent has to put right.
    fn complete(&self, call: &AgentCall) -> Result<Option<Ended>, Error> {
        let start = Instant::now();
        let refused =
            |text: String| Ended { outcome: CallOutcome::Refused, exit: None, text, ms: elapsed(start) };
        let arguments = self.arguments(call)?;
        if let Some(problem) = unreadable(&arguments) {
            return Ok(Some(refused(problem)));
        }
        let answer = match Answer::from_payload(&Value::Object(arguments)) {
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

    pub(super) fn record(&self, conversation: &mut Conversation, acts: &[AgentAct]) -> Result<(), Error> {
        if acts.is_empty() {
            return Ok(());
        }
        acts.iter().for_each(|act| conversation.apply(act));
        self.commands.act(self.id, self.epoch, acts)
    }
}

/// Why a call was ended, for the agent.
fn words_for(why: CutShort) -> String {
    match why {
        CutShort::TimeIsUp => "stopped: the time of the session is used up\n".to_owned(),
        CutShort::Silent { ms } => {
            format!("stopped: it did not end within {}; see what it waits for\n", show_duration(ms))
        }
    }
}

/// Up to a quarter longer, so that those who were sent away together do not come back together.
fn with_jitter(ms: u64) -> u64 {
    let drawn = u64::from(u16::from_le_bytes(Entropy::System.bytes()));
    ms.saturating_add((u128::from(ms / 4) * u128::from(drawn) / u128::from(u16::MAX)).try_into().unwrap_or(0))
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

fn words(reasons: &[Reason]) -> String {
    let lines = reasons.iter().map(|reason| format!("{} Fix: {}", reason.message, reason.fix));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn elapsed(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}
