//! Workers: a session asks one question of another below it, and waits for an answer of a given shape.
//!
//! A worker is a session like any other, with a workflow of one step. It has no files of its own and changes none. Nobody goes
//! on with one whose asker is gone: it is ended, and whoever asks again asks another.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use longhaul_core::config::SandboxLevel;
use longhaul_core::roster::Kind;
use longhaul_core::session::{At, Session, Workplace};
use longhaul_core::units::show_duration;
use longhaul_core::workflow::compile::{Source, Sources, Syntax, compile};
use longhaul_core::workflow::diagnostic::{Diagnostic, Severity};
use longhaul_core::workflow::{ModelTier, Workflow, answer::judge_text};
use longhaul_events::{Caps, CloseOutcome, NodeId, Reason, SessionId, Urgency};
use serde_json::{Map, Value, json};

use crate::children::{self, NewChild};
use crate::commands::Commands;
use crate::error::{DrivenError, Error, HiringError};
use crate::gateway::Driven;
use crate::reader::Family;
use crate::runner::{Assignment, ReadFiles, Staff, Who, run_work};
use crate::stopping::Stop;
use crate::system::System;
use crate::walling::ChosenWalls;

/// The workflow that every worker follows.
pub(crate) const WORKER: &str = "lh.worker";
/// How far below the session that a person started there may be workers.
const DEEPEST: usize = 3;
/// How many workers a task may have in all.
const MOST: usize = 10;
/// An answer that does not fit is put right once.
const ATTEMPTS: u32 = 2;
/// Why a worker is ended whose asker is gone.
pub(crate) const UNWANTED: &str = "the session that asked has gone on without it";
const ANSWER: &str = "answer";
/// How soon a worker is ended whose answer nobody wants any more.
const LOOK_EVERY: Duration = Duration::from_millis(250);

const PROMPT: &str = "Answer this question for the session that asks it. You work in its checkout: you can read it and run \
     commands, and change nothing in it. Find out what is so instead of guessing, and hand in one artifact that fits the \
     contract. Nobody reads anything else of what you say.\n\n{{goal}}";

/// Held while workers are counted and the next is opened: two that are asked for together are not both the last one.
static OPENING: Mutex<()> = Mutex::new(());

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(crate) text: String,
    /// What the answer has to fit.
    pub(crate) schema: Value,
    pub(crate) tier: Option<ModelTier>,
}

pub(crate) fn is_worker(session: &Session) -> bool {
    session.parent.is_some() && session.workflow.as_ref().is_some_and(|pinned| pinned.id == WORKER)
}

impl System {
    /// Has a worker answer a question, and waits for it as long as the asker is there. What it comes to otherwise is a refusal
    /// that says why.
    pub(crate) fn ask_worker(
        &self,
        commands: &Commands,
        asker: Driven,
        question: &Question,
    ) -> Result<Value, Error> {
        let parent = commands.load_session(asker.session)?;
        let worker = self.open_worker(commands, &parent, question)?;
        let watch = Watch { system: self, commands, asker, node: parent.node(), since: Instant::now() };
        let drove = watch.over(worker);
        let session = commands.load_session(worker)?;
        match (&session.closed, session.vars.get(ANSWER)) {
            (Some(CloseOutcome::Completed), Some(answer)) => {
                Ok(Value::clone(&*commands.shared_value(answer)?))
            }
            (closed, _) => {
                let why = why_not(&session, closed.as_ref(), drove.err());
                self.end_child(commands, asker.session, worker, &why)?;
                let message = format!("worker `{worker}` has no answer: {why}");
                let fix = "find it out yourself, or ask something smaller";
                Err(refused("worker_failed", message, fix))
            }
        }
    }

    fn open_worker(
        &self,
        commands: &Commands,
        parent: &Session,
        question: &Question,
    ) -> Result<SessionId, Error> {
        let reasons = judge_text("the question", &question.text);
        if !reasons.is_empty() {
            return Err(Error::BadAnswer(reasons));
        }
        let _alone = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = commands.reader().ok_or(Error::UnknownSession(parent.id))?;
        let family = reader.family(parent.id)?;
        let fix = "find it out yourself";
        if family.depth >= DEEPEST {
            let message =
                format!("a worker {DEEPEST} levels below the session that a person started asks nobody");
            return Err(refused("workers_too_deep", message, fix));
        }
        if family.workers >= MOST {
            let message = format!("the task has had {} workers, and {MOST} are the most", family.workers);
            return Err(refused("too_many_workers", message, fix));
        }
        let workflow = workflow(question, family.workers + 1)?;
        let caps = self.caps_of_worker(commands, parent, &family)?;
        let assignment = self.assignment_of_worker(commands, parent, question.tier, &workflow)?;
        let goal = question.text.clone();
        let new = NewChild {
            id: commands.new_session_id(),
            workflow: Arc::new(workflow),
            goal,
            vars: Map::new(),
            assignment: Some(assignment),
            caps,
            checkout: None,
            brief: None,
        };
        commands.open_child(parent, new).map_err(|error| match error {
            Error::BadStart(reasons) => Error::BadAnswer(reasons),
            other => other,
        })
    }

    /// What the asker has left, with what all below it have used taken off. No call goes on longer than any may.
    fn caps_of_worker(&self, commands: &Commands, parent: &Session, family: &Family) -> Result<Caps, Error> {
        let caps = parent.caps.map_or_else(|| self.config().map(|config| config.caps), Ok)?;
        let (own, below) = (parent.spent, family.below);
        let used = [own.tokens.input, own.tokens.output, below.tokens.input, below.tokens.output];
        let tokens = used.iter().fold(caps.tokens, |left, used| left.saturating_sub(*used));
        let money_micros =
            caps.money_micros.saturating_sub(own.money_micros).saturating_sub(below.money_micros);
        let longest = u64::try_from(self.patience().call.as_millis()).unwrap_or(u64::MAX);
        let time_ms = caps.time_ms.saturating_sub(commands.wall_clock(parent.id)?.ms()).min(longest);
        if tokens == 0 || time_ms == 0 {
            let what = if tokens == 0 { "tokens" } else { "time" };
            let message = format!("this session and its workers have used up the {what} that they may use");
            return Err(refused("no_means_left", message, "end the step with what you know"));
        }
        Ok(Caps { tokens, time_ms, money_micros, ..caps })
    }

    /// Whoever does the asker's steps, or the tier that it wants, behind the same walls and with its files to read.
    fn assignment_of_worker(
        &self,
        commands: &Commands,
        parent: &Session,
        tier: Option<ModelTier>,
        workflow: &Workflow,
    ) -> Result<Assignment, Error> {
        let Assignment { who, level, reach, reads, .. } =
            commands.assignment(parent.id)?.ok_or_else(not_driven)?;
        let reads = match (reads, &parent.workplace) {
            (Some(reads), _) => reads,
            (None, Some(Workplace { checkout, is_gone: false, .. })) => {
                ReadFiles { path: checkout.path.clone(), main_dir: checkout.main_dir.clone() }
            }
            (None, Some(_) | None) => return Err(not_driven()),
        };
        let who = match (who, tier) {
            (Who::Staff(staff), Some(tier)) => {
                Who::Staff(self.of_tier(staff, tier, workflow).map_err(nobody)?)
            }
            (who @ (Who::Staff(_) | Who::Rehearsal(_)), _) => who,
        };
        if level == SandboxLevel::None && has_hands(&who) {
            let message =
                "without walls nothing would keep an agent with hands of its own from changing files";
            return Err(refused("no_walls", message, "find it out yourself"));
        }
        let walls = ChosenWalls { level, reach, warning: None };
        let walls = walls.for_taint(parent.taint, &who.workers()).map_err(nobody)?;
        let (level, reach) = (walls.level, walls.reach);
        Ok(Assignment { who, level, reach, setup: Vec::new(), reads: Some(reads), visits: None })
    }

    /// A tier that nobody configured is done by whoever does the rest.
    pub(crate) fn of_tier(&self, staff: Staff, tier: ModelTier, workflow: &Workflow) -> Result<Staff, Error> {
        if let Some(usual) = staff.tiers.get(&tier).cloned() {
            return Ok(Staff { usual, ..staff });
        }
        match self.staff(None, Some(tier), workflow) {
            Err(Error::Driven(DrivenError::Hiring(HiringError::NoTier { .. }))) => Ok(staff),
            staffed => staffed,
        }
    }
}

/// Somebody who waits for a worker.
#[derive(Clone, Copy)]
struct Watch<'a> {
    system: &'a System,
    commands: &'a Commands,
    asker: Driven,
    /// The step that asked.
    node: Option<NodeId>,
    since: Instant,
}

impl Watch<'_> {
    /// Drives a worker until it goes no further, and has it ended when nobody wants its answer any more.
    fn over(&self, worker: SessionId) -> Result<(), Error> {
        let (done, wait) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let driving = scope.spawn(move || {
                let _done = done;
                run_work(self.system, worker)
            });
            let mut is_ended = false;
            while wait.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                is_ended = is_ended || self.end_if_unwanted(worker);
            }
            driving.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn end_if_unwanted(&self, worker: SessionId) -> bool {
        let ended = self.unwanted().and_then(|why| {
            let Some(why) = why else { return Ok(false) };
            let by = children::by(self.asker.session);
            self.commands.request_stop(worker, &Stop { urgency: Urgency::Now, by, reason: Some(why) })?;
            Ok(true)
        });
        ended.unwrap_or_else(|error| {
            tracing::warn!(%error, %worker, "could not look after a worker");
            false
        })
    }

    /// Why nobody wants the answer any more.
    fn unwanted(&self) -> Result<Option<String>, Error> {
        let session = self.commands.load_session(self.asker.session)?;
        let longest = self.system.patience().call;
        let is_driven = session.lease.as_ref().is_some_and(|lease| lease.epoch == self.asker.driver);
        Ok(if session.closed.is_some() || session.stop.is_some() {
            Some("the session that asked is stopped".to_owned())
        } else if !is_driven || session.node() != self.node {
            Some(UNWANTED.to_owned())
        } else if self.since.elapsed() >= longest {
            let ms = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
            Some(format!("it took longer than {}", show_duration(ms)))
        } else {
            None
        })
    }
}

/// The workflow of a worker: one step, whose contract is the shape of the answer. Workers of a task are told apart by the
/// number of their step.
fn workflow(question: &Question, number: usize) -> Result<Workflow, Error> {
    if question.schema["type"] != "object" {
        let message = "`answer` is not the JSON Schema of an object";
        return Err(refused(
            "unfit_schema",
            message,
            "give a schema with `type: object` and its `properties`",
        ));
    }
    let text = json!({
        "longhaul": 1,
        "id": WORKER,
        "name": "Worker",
        "version": "1.0.0",
        "about": "Answers one question of another session.",
        "contracts": { ANSWER: question.schema },
        "steps": [{
            "id": format!("{ANSWER}-{number}"),
            "title": "Answer the question",
            "prompt": PROMPT,
            "output": ANSWER,
            "attempts": ATTEMPTS,
        }],
    });
    let source = Source { name: WORKER.to_owned(), text: text.to_string(), syntax: Syntax::Json };
    let compiled = compile(&source, &Sources::default());
    compiled.value.ok_or_else(|| {
        let errors = compiled.diagnostics.into_iter().filter(|found| found.severity == Severity::Error);
        let reason = |found: Diagnostic| {
            let fix = found.fix.unwrap_or_else(|| "put the schema right".to_owned());
            Reason::new("unfit_schema", found.message, fix)
        };
        Error::BadAnswer(errors.map(reason).collect())
    })
}

fn why_not(session: &Session, closed: Option<&CloseOutcome>, error: Option<Error>) -> String {
    match (closed, &session.at, error) {
        (Some(CloseOutcome::Cancelled { by, reason }), _, _) => {
            reason.clone().unwrap_or_else(|| format!("it was stopped by {by}"))
        }
        (Some(CloseOutcome::Failed { reason }), _, _) => reason.clone(),
        (Some(CloseOutcome::Completed), _, _) => "it was completed without one".to_owned(),
        (None, At::Parked(park), _) => park.because.clone(),
        (None, _, Some(error)) => error.to_string(),
        (None, At::Nothing | At::Step(_) | At::Work(_) | At::Gate(_), None) => {
            "whoever drove it went away".to_owned()
        }
    }
}

pub(crate) fn has_hands(who: &Who) -> bool {
    match who {
        Who::Rehearsal(_) => false,
        Who::Staff(staff) => staff.members().any(|member| match member.kind {
            Kind::Acp { .. } | Kind::Command { .. } => true,
            Kind::Rehearsal | Kind::Model { .. } => false,
        }),
    }
}

fn refused(code: &str, message: impl Into<String>, fix: &str) -> Error {
    Error::BadAnswer(vec![Reason::new(code, message, fix)])
}

pub(crate) fn not_driven() -> Error {
    let message = "only a session that Longhaul drives in a worktree of its own has workers";
    refused("no_workers", message, "find it out yourself")
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn nobody(error: Error) -> Error {
    refused("nobody_to_ask", error.to_string(), "ask without a tier, or find it out yourself")
}
