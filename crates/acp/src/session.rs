//! One agent process and its one conversation. Every way out of a wait that went wrong ends the process first.

use std::ffi::OsStr;
use std::time::{Duration, Instant};

use longhaul_exec::{Captured, Outcome, Program, Running, Stdin};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::dialogue::{Dialogue, LONGEST_LINE_BYTES, Message, NO_SUCH_METHOD, Refusal, Trouble};
use crate::hands::{Beginning, Ended, Start};
use crate::policy::Policy;
use crate::record::Record;
use crate::turn::{EndCause, TurnEnd, Watch};
use crate::v1::{self, Offer, Opened, Setting};
use crate::{HandsError, McpServer};

/// How often it is asked whether the agent is still wanted.
const TICK: Duration = Duration::from_millis(50);
/// From the end of its output to its own end.
const LAST_BREATH: Duration = Duration::from_secs(2);
const LAST_WORDS_BYTES: usize = 2_000;

#[derive(Debug)]
pub(crate) struct Session {
    /// `None` once it was ended.
    running: Option<Running>,
    /// How it ended, if it did before its time.
    ended: Ended,
    dialogue: Dialogue,
    id: String,
    beginning: Beginning,
    policy: Policy,
    server: String,
    grace: Duration,
}

/// What became of a request.
enum Reply {
    Done(Box<RawValue>),
    Refused(Refusal),
    /// Nobody wants it any more, and it did not come.
    Unwanted,
}

/// What we do when nobody wants to wait any more.
#[derive(Clone, Copy)]
enum OnStop {
    Leave,
    /// Tells the agent, and waits for its answer for as long as the grace is.
    Cancel,
}

impl Session {
    pub(crate) fn start(start: &Start<'_>, watch: &dyn Watch) -> Result<Self, HandsError> {
        let program = start.program.clone().stdin(Stdin::Talk);
        let mut running = longhaul_exec::start(&program)?;
        let talk = running.talk().expect("it was started to be talked with");
        let mut session = Self {
            running: Some(running),
            ended: Ended::default(),
            dialogue: Dialogue::new(talk),
            id: String::new(),
            beginning: Beginning::New,
            policy: start.policy,
            server: start.mcp.as_ref().map(|mcp| mcp.name.clone()).unwrap_or_default(),
            grace: start.grace,
        };
        let record = &mut Record::new(watch);
        let answer = session.request(v1::HELLO, &v1::hello(), record)?;
        let offer = v1::read_hello(&answer).map_err(|problem| session.broken(problem))?;
        if offer.version != v1::VERSION {
            return Err(HandsError::Version { version: offer.version });
        }
        let opened = session.open(start, &program, &offer, record)?;
        for (setting, value) in [(Setting::Model, start.model), (Setting::Mode, start.mode)] {
            session.choose(&opened, setting, value, record)?;
        }
        Ok(session)
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn beginning(&self) -> Beginning {
        self.beginning
    }

    pub(crate) fn process(&self) -> Option<u32> {
        self.running.as_ref().map(Running::id)
    }

    /// Takes up an old conversation if there is one and the agent can, else begins a new one.
    fn open(
        &mut self,
        start: &Start<'_>,
        program: &Program,
        offer: &Offer,
        record: &mut Record<'_>,
    ) -> Result<Opened, HandsError> {
        if let Some(old) = start.resume {
            let (directory, mcp) = (start.directory, start.mcp.as_ref());
            let taken_up = if offer.can_resume {
                Some(self.request(v1::RESUME, &v1::resume(old, directory, mcp), record))
            } else if offer.can_load {
                // It tells the whole story again meanwhile, which nobody needs to hear.
                let mut unheard = Record::unheard(record);
                Some(self.request(v1::LOAD, &v1::load(old, directory, mcp), &mut unheard))
            } else {
                None
            };
            match taken_up {
                Some(Ok(answer)) => {
                    old.clone_into(&mut self.id);
                    self.beginning = Beginning::Resumed;
                    return Ok(v1::read_opened(&answer));
                }
                // It does not know it any more.
                None | Some(Err(HandsError::Refused { .. })) => {}
                Some(Err(error)) => return Err(error),
            }
        }
        let answer = self.new_session(start, program, offer, record)?;
        let opened = v1::read_opened(&answer);
        match &opened.id {
            Some(id) => self.id.clone_from(id),
            None => return Err(self.broken("its session has no id".to_owned())),
        }
        Ok(opened)
    }

    fn new_session(
        &mut self,
        start: &Start<'_>,
        program: &Program,
        offer: &Offer,
        record: &mut Record<'_>,
    ) -> Result<Box<RawValue>, HandsError> {
        let request = |session: &mut Self, mcp: Option<&McpServer>, record: &mut Record<'_>| {
            session.request(v1::NEW, &v1::new_session(start.directory, mcp), record)
        };
        match request(self, start.mcp.as_ref(), record) {
            Err(HandsError::Refused { code: v1::LOGIN_WANTED, .. }) => {}
            other => return other,
        }
        let is_set = |name: &str| program.has_variable(OsStr::new(name));
        let ready = offer.ways.iter().find(|way| way.variables().is_some_and(|mut all| all.all(is_set)));
        let Some(way) = ready else {
            let name = |way: &v1::Way| if way.name.is_empty() { way.id.clone() } else { way.name.clone() };
            return Err(HandsError::Login { ways: offer.ways.iter().map(name).collect() });
        };
        self.request(v1::LOG_IN, &v1::log_in(way), record)?;
        request(self, start.mcp.as_ref(), record)
    }

    /// What the agent does not offer is left to its own settings.
    fn choose(
        &mut self,
        opened: &Opened,
        setting: Setting,
        value: Option<&str>,
        record: &mut Record<'_>,
    ) -> Result<(), HandsError> {
        let Some(value) = value else { return Ok(()) };
        let Some(chosen) = opened.choose(&self.id, setting, value) else {
            tracing::debug!(value, ?setting, "the agent does not offer this to choose");
            return Ok(());
        };
        self.request(chosen.method, &chosen.params, record).map(drop)
    }

    pub(crate) fn prompt(&mut self, text: &str, watch: &dyn Watch) -> Result<TurnEnd, HandsError> {
        if self.running.is_none() {
            let Ended { outcome, last_words, .. } = self.ended.clone();
            return Err(HandsError::Ended { outcome: outcome.unwrap_or(Outcome::Stopped), last_words });
        }
        let mut record = Record::new(watch);
        let id = self.dialogue.ask(v1::PROMPT, &v1::prompt(&self.id, text));
        match self.wait(id, OnStop::Cancel, &mut record)? {
            Reply::Done(answer) => {
                let (cause, usage) = v1::read_turn(&answer).map_err(|problem| self.broken(problem))?;
                Ok(record.finish(cause, usage))
            }
            Reply::Refused(_) if !watch.is_wanted() => Ok(record.finish(EndCause::Cancelled, None)),
            Reply::Refused(refusal) => Err(refused(v1::PROMPT, refusal)),
            Reply::Unwanted => {
                self.kill()?;
                Ok(record.finish(EndCause::Cancelled, None))
            }
        }
    }

    pub(crate) fn end(mut self) -> Result<Ended, HandsError> {
        self.kill()?;
        Ok(self.ended)
    }

    /// A request while the session is being made.
    fn request(
        &mut self,
        method: &'static str,
        params: &impl Serialize,
        record: &mut Record<'_>,
    ) -> Result<Box<RawValue>, HandsError> {
        let id = self.dialogue.ask(method, params);
        match self.wait(id, OnStop::Leave, record)? {
            Reply::Done(answer) => Ok(answer),
            Reply::Refused(refusal) => Err(refused(method, refusal)),
            Reply::Unwanted => {
                self.kill()?;
                Err(HandsError::Unwanted)
            }
        }
    }

    /// Waits for one answer, and deals with whatever else comes meanwhile.
    fn wait(&mut self, id: i64, on_stop: OnStop, record: &mut Record<'_>) -> Result<Reply, HandsError> {
        let mut heard_at = Instant::now();
        let mut stopped_at: Option<Instant> = None;
        loop {
            if stopped_at.is_none() && !record.is_wanted() {
                match on_stop {
                    OnStop::Leave => return Ok(Reply::Unwanted),
                    OnStop::Cancel => self.dialogue.tell(v1::CANCEL, &v1::cancel(&self.id)),
                }
                stopped_at = Some(Instant::now());
            }
            if stopped_at.is_some_and(|at| at.elapsed() >= self.grace) {
                return Ok(Reply::Unwanted);
            }
            if stopped_at.is_none() && heard_at.elapsed() >= record.patience() {
                return Err(self.silent(heard_at.elapsed()));
            }
            let message = match self.dialogue.next(TICK) {
                Ok(Some(message)) => message,
                Ok(None) => continue,
                Err(trouble) => return Err(self.fail(trouble)),
            };
            // A session is made in one go: whoever only chatters meanwhile is as good as silent.
            if let OnStop::Cancel = on_stop {
                heard_at = Instant::now();
            }
            match message {
                Message::Answer { id: answered, result } if answered == id => {
                    return Ok(match result {
                        Ok(answer) => Reply::Done(answer),
                        Err(refusal) => Reply::Refused(refusal),
                    });
                }
                // To something that we gave up on.
                Message::Answer { .. } => {}
                Message::Notice { method, params } if method == v1::UPDATE => {
                    record.take(v1::read_update(&self.id, &params));
                }
                Message::Notice { .. } => record.sign_of_life(),
                Message::Request { id, method, params } => {
                    let policy = if stopped_at.is_none() { Some(self.policy) } else { None };
                    self.deal_with(&id, &method, &params, policy, record);
                }
            }
        }
    }

    /// Answers what it asks us; without a policy it is too late for permissions.
    fn deal_with(
        &mut self,
        id: &RawValue,
        method: &str,
        params: &RawValue,
        policy: Option<Policy>,
        record: &mut Record<'_>,
    ) {
        if method != v1::PERMISSION {
            record.sign_of_life();
            let words = format!("longhaul offers no `{method}`; work with your own tools");
            return self.dialogue.refuse(id, NO_SUCH_METHOD, &words);
        }
        let Some(policy) = policy else { return self.dialogue.answer(id, &v1::decided(None)) };
        match v1::read_question(params, &self.server) {
            Ok(question) => {
                let (permission, choice) = question.settle(policy);
                self.dialogue.answer(id, &v1::decided(choice));
                record.asked(permission);
            }
            Err(_) => self.dialogue.answer(id, &v1::decided(None)),
        }
    }

    fn silent(&mut self, silence: Duration) -> HandsError {
        let ms = u64::try_from(silence.as_millis()).unwrap_or(u64::MAX);
        self.killed(|last_words| HandsError::Silent { ms, last_words })
    }

    fn broken(&mut self, problem: String) -> HandsError {
        self.killed(|last_words| HandsError::Broken { problem, last_words })
    }

    fn fail(&mut self, trouble: Trouble) -> HandsError {
        match trouble {
            Trouble::Ended => {
                self.await_end();
                let outcome = |ended: &Ended| ended.outcome.unwrap_or(Outcome::Stopped);
                if let Err(error) = self.kill() {
                    return error;
                }
                let outcome = outcome(&self.ended);
                HandsError::Ended { outcome, last_words: self.ended.last_words.clone() }
            }
            Trouble::TooLong => {
                self.killed(|last_words| HandsError::TooLong { limit: LONGEST_LINE_BYTES, last_words })
            }
            Trouble::Deaf => self.killed(|last_words| HandsError::Deaf { last_words }),
            Trouble::Broken(problem) => self.broken(problem),
        }
    }

    /// A program that closed its output is about to end, and its own status is worth a moment.
    fn await_end(&self) {
        let deadline = Instant::now() + LAST_BREATH;
        while self.running.as_ref().is_some_and(|running| !running.is_over()) && Instant::now() < deadline {
            // tidy: the end of a process comes without a descriptor to wait on here
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn killed(&mut self, error: impl FnOnce(String) -> HandsError) -> HandsError {
        match self.kill() {
            Ok(()) => error(self.ended.last_words.clone()),
            Err(worse) => worse,
        }
    }

    /// Ends all of its processes and sees them dead.
    fn kill(&mut self) -> Result<(), HandsError> {
        let Some(running) = self.running.take() else { return Ok(()) };
        let finished = running.kill()?;
        self.ended = Ended {
            outcome: Some(finished.outcome),
            last_words: last_words(&finished.stderr),
            survivors_killed: finished.survivors_killed,
        };
        Ok(())
    }
}

fn refused(method: &'static str, refusal: Refusal) -> HandsError {
    let Refusal { code, mut message, data } = refusal;
    let details = data.map(|data| match data {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    });
    if let Some(details) = details.filter(|details| *details != message) {
        message = format!("{message}: {details}");
    }
    message.truncate(message.floor_char_boundary(LAST_WORDS_BYTES));
    HandsError::Refused { method, code, message }
}

/// The end of what it wrote to stderr.
pub(crate) fn last_words(stderr: &Captured) -> String {
    tail(&stderr.to_text())
}

pub(crate) fn tail(text: &str) -> String {
    let text = text.trim();
    text[text.ceil_char_boundary(text.len().saturating_sub(LAST_WORDS_BYTES))..].to_owned()
}
