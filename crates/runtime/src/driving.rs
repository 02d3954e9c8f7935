//! Sessions that an agent of ours drives: started in a worktree of their own, followed, and judged at their end.

mod setting_off;

use std::time::{Duration, Instant};

use longhaul_agent::{Agent as _, tools};
use longhaul_core::budget;
use longhaul_core::cassette::{self, Act, Cassette};
use longhaul_core::delivery::{DeliverySettings, Wanted};
use longhaul_core::session::Session;
use longhaul_core::walk::view::StepView;
use longhaul_core::workflow::{StepKind, Workflow};
use longhaul_events::{CloseOutcome, NodeId, SessionId, Taint, TaskChange};
use longhaul_git::Author;
use longhaul_store::views::{SessionRow, SessionStatus};
use longhaul_store::watch::Watcher;

use crate::calendar::{awaited, until_due};
use crate::commands::Commands;
use crate::commands::task::{TaskOrigin, TaskWish};
use crate::delivery::author;
use crate::error::{DrivenError, Error};
use crate::hiring::{Assignee, has_hands};
use crate::leaf;
use crate::runner::{Assignment, SessionLabel, Who, is_driven};
use crate::starting::NewWalk;
use crate::system::System;
use crate::walling::WantedWalls;
use crate::workspaces;

pub(crate) use setting_off::SetOff;

/// How often somebody who follows looks without having been told.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long a runner has to begin before another is started.
const START_AGAIN: Duration = Duration::from_secs(1);
/// How long a runner may be without a lease between two pieces of work.
const BETWEEN: Duration = Duration::from_millis(250);
/// How long an agent may take to end when its session is over; it is ended by then.
const LAST_WORDS: Duration = Duration::from_secs(30);
/// How many runners may come to nothing one after another.
const MOST_IN_VAIN: u32 = 60;

/// After how many of them it is looked whether the disk is full.
const SEVERAL_IN_VAIN: u32 = 3;

/// What somebody wants done by an agent of ours.
#[derive(Debug, Clone)]
pub struct NewDrive {
    pub walk: NewWalk,
    pub who: Assignee,
    /// Where the goal comes from.
    pub taint: Taint,
    pub walls: WantedWalls,
    /// The branch to start from.
    pub base: Option<String>,
    /// In place of what the settings say, such as `tokens=50k,turns=30`.
    pub budget: Option<String>,
    pub by: String,
    /// What it is done for; its budget is that of the run.
    pub task: TaskOrigin,
}

/// The script of a rehearsal, and what its file is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    pub path: String,
    pub text: String,
}

/// A session that is under way.
#[derive(Debug, Clone)]
pub struct Drive {
    pub session: SessionId,
    /// Who does it, by name.
    pub agent: String,
    /// What its provider calls the model, where that is known.
    pub model: Option<String>,
    pub worktree: String,
    pub branch: String,
    pub warnings: Vec<String>,
}

impl System {
    /// Starts a session in a worktree of its own, and somebody who drives it and outlives this process.
    pub fn drive(&self, commands: &Commands, new: NewDrive) -> Result<Drive, Error> {
        self.refuse_unready(&new.who)?;
        let repository = workspaces::locate(self.directory())?.repository;
        longhaul_git::base_may_be_there(&repository, new.base.as_deref())?;
        let caps = self.caps_with(new.budget.as_deref())?;
        let walls = self.walls(new.walls)?;
        self.end_half_begun(commands)?;
        commands.refuse_duplicate(&new.task.source)?;
        let mut start = self.prepared_until(commands, new.walk, new.task.until.as_deref())?;
        start.label(&new.task.labels);
        self.refuse_nameless(&start.workflow)?;
        let who = self.who(new.who, &start.workflow)?;
        let walls = walls.letting(who.hosts()).for_taint(new.taint, &who.workers())?;
        self.refuse_if_missing(&who)?;
        let source = new.task.source.clone();
        let task = TaskOrigin { budget: Some(caps), ..new.task };
        let _starting = self.starting()?;
        let view = commands.start_session_for(&start, &TaskWish::New(task))?;
        let session: SessionId = view.session_id.parse().expect("a session is shown with its id");
        commands.yield_to_earlier(&source, session)?;
        if let (Some(task), true) =
            (commands.load_session(session)?.task, new.budget.as_deref().is_some_and(budget::gives_money))
        {
            commands.set_task(task, &TaskChange::Budget(caps), &new.by, None)?;
        }
        let assignment = self.assignment(who, &walls)?;
        let orders =
            SetOff { assignment, taint: new.taint, caps, base: new.base, from: None, by: new.by.clone() };
        let mut drive = self.set_off(commands, session, &orders).inspect_err(|error| {
            // Nobody would ever go on with it, and nobody wanted it ended.
            let reason = error.to_string();
            let _ = commands.close_session(session, &CloseOutcome::Failed { reason }, None);
        })?;
        drive.warnings.splice(0..0, view.warnings.into_iter().chain(walls.warning));
        Ok(drive)
    }

    /// Waits until a driven session goes no further by itself, and starts its runner again if that has died. `tell` is
    /// called whenever something may have changed, and says whether to go on waiting.
    pub fn follow(
        &self,
        commands: &Commands,
        id: SessionId,
        tell: &mut dyn FnMut() -> bool,
    ) -> Result<StepView, Error> {
        let mut watcher = Watcher::polling(&self.places().data)?;
        let mut runners = Runners::default();
        let mut stop_seen = None;
        loop {
            let session = commands.load_session(id)?;
            let is_stopping = session.stop.is_some();
            let waited = commands.waited_for(&session)?;
            let waiting = waited.as_ref().unwrap_or(&session);
            let (waits, whose) = (awaited(waiting).cloned(), waiting.id);
            let is_over = !commands.goes_on(&session)? && !is_stopping && waits.is_none();
            if is_over {
                self.wait_for_hands(commands, id, tell)?;
            }
            if is_over || !tell() {
                return commands.session_view(id);
            }
            if let Some(waits) = waits.filter(|_| !is_stopping) {
                if !self.wake(commands, whose, commands.now())? {
                    watcher.wait(LOOK_EVERY.min(until_due(&waits, commands.now())))?;
                }
                continue;
            }
            if is_stopping {
                let seen = stop_seen.get_or_insert_with(Instant::now);
                self.see_to_stop(commands, &session, seen.elapsed())?;
            } else if runners.is_one_wanted(&session, commands.come_below(&session)?, Instant::now()) {
                runners.count(id).map_err(|error| self.or_full_disk(error))?;
                // A runner that cannot store anything gets nowhere, however often it is started.
                if runners.in_vain >= SEVERAL_IN_VAIN {
                    self.check_room()?;
                }
                self.start_runner(id)?;
            }
            watcher.wait(LOOK_EVERY)?;
        }
    }

    /// An agent with hands of its own has handed in before it ends its turn. What it changes until then is part of the run, so
    /// the end of it is the end of the runner.
    fn wait_for_hands(
        &self,
        commands: &Commands,
        id: SessionId,
        tell: &mut dyn FnMut() -> bool,
    ) -> Result<(), Error> {
        let has_hands = match commands.assignment(id)? {
            Some(Assignment { who: Who::Staff(staff), .. }) => staff.members().any(has_hands),
            Some(_) | None => false,
        };
        if !has_hands {
            return Ok(());
        }
        let label = SessionLabel::of(id, &self.places().data)?;
        let start = Instant::now();
        while start.elapsed() < LAST_WORDS && tell() && label.is_alive() {
            // tidy: a process that ends tells nobody
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// What is left of the script of a rehearsal that is complete, if anything is.
    pub fn unplayed(&self, commands: &Commands, row: &SessionRow) -> Option<String> {
        let is_complete = row.status == SessionStatus::Closed(CloseOutcome::Completed);
        row.driven.agent.as_ref().filter(|_| is_complete && row.damage.is_none())?;
        // What cannot be read says nothing about how the session came out.
        self.rehearsal_end(commands, row.id).ok().flatten()
    }

    /// Whether the script of a rehearsal was played to its end; `None` for sessions without one.
    pub fn rehearsal_end(&self, commands: &Commands, id: SessionId) -> Result<Option<String>, Error> {
        let Some(Assignment { who: Who::Rehearsal(script), .. }) = commands.assignment(id)? else {
            return Ok(None);
        };
        // What one session below another leaves of the script may be for the next: it is judged at the top.
        if commands.load_session(id)?.parent.is_some() {
            return Ok(None);
        }
        let (mut agent, _) = script.rehearsal(commands, id)?;
        for below in commands.reader().map_or_else(|| Ok(Vec::new()), |reader| reader.below(id))? {
            if let Some(Assignment { who: Who::Rehearsal(played), .. }) = commands.assignment(below)?
                && played == script
            {
                agent.also_played(&played.rehearsal(commands, below)?.0);
            }
        }
        Ok(agent.end().err())
    }
}

/// The runners that somebody who follows has started.
#[derive(Debug, Default)]
struct Runners {
    /// When the newest was started.
    started: Option<Instant>,
    /// When one was last seen at work. One that is between two pieces of work holds no lease for a moment.
    at_work: Option<Instant>,
    /// How many were started since the session last got on.
    in_vain: u32,
    /// Where it was then, and how many turns it had taken. A runner that only comes and goes changes neither.
    got_to: (Option<NodeId>, u64, u64),
}

impl Runners {
    /// `below` tells how far those below it have come.
    fn is_one_wanted(&mut self, session: &Session, below: u64, now: Instant) -> bool {
        let got_to = (session.node(), session.spent.turns, below);
        if got_to != self.got_to {
            self.got_to = got_to;
            self.in_vain = 0;
        }
        if is_driven(session) {
            self.at_work = Some(now);
            return false;
        }
        let is_over = |since: Option<Instant>, pause| since.is_none_or(|at| now.duration_since(at) >= pause);
        // Whoever did not let go of a lease is dead, and nobody need wait.
        let is_gone = session.lease.is_some() || is_over(self.at_work, BETWEEN);
        is_gone && is_over(self.started, START_AGAIN)
    }

    fn count(&mut self, id: SessionId) -> Result<(), Error> {
        self.started = Some(Instant::now());
        self.in_vain += 1;
        if self.in_vain > MOST_IN_VAIN { Err(Error::Driven(DrivenError::RunnerDies(id))) } else { Ok(()) }
    }
}

impl System {
    /// Says no before anything is on record, where nobody could ever begin.
    pub(crate) fn refuse_unready(&self, who: &Assignee) -> Result<(), Error> {
        if let Assignee::Rehearsal(script) = who {
            playable(script)?;
        }
        workspaces::locate(self.directory())?;
        longhaul_git::snapshots_can_be_taken()?;
        Ok(())
    }
}

impl System {
    /// Whoever is going to commit needs a name, and is told before anybody has worked for it.
    fn refuse_nameless(&self, workflow: &Workflow) -> Result<(), Error> {
        let commits = workflow.all_steps().into_iter().find_map(|step| {
            let StepKind::Deliver(deliver) = &step.kind else { return None };
            Wanted::of(&deliver.settings).commit.then_some(deliver)
        });
        let Some(deliver) = commits else { return Ok(()) };
        let settings = deliver.pinned.clone().unwrap_or_default();
        if self.committer(&settings)?.is_some() {
            return Ok(());
        }
        Err(Error::Driven(DrivenError::Nameless { workflow: workflow.id.clone() }))
    }

    /// In whose name is committed in the repository of the current folder.
    pub(crate) fn committer(&self, settings: &DeliverySettings) -> Result<Option<Author>, Error> {
        let own = longhaul_git::user_identity(&workspaces::locate(self.directory())?.repository)?;
        Ok(author(settings, own.as_ref()))
    }
}

/// What is wrong with a script is told before anything starts.
fn playable(script: &Script) -> Result<(), Error> {
    let cassette = cassette::parse(&script.path, &script.text)?;
    known_tools(&script.path, &cassette)?;
    cassette.pricing.known()?;
    Ok(())
}

/// A call that nobody can make is a mistake of the script, and told before anything starts.
fn known_tools(path: &str, script: &Cassette) -> Result<(), cassette::Error> {
    let known = || tools::TOOLS.iter().map(|tool| tool.name).chain(leaf::TOOLS.iter().map(|tool| tool.name));
    for (turn, number) in script.turns.iter().zip(1..) {
        let Act::Tools { calls, .. } = &turn.act else { continue };
        if let Some(call) = calls.iter().find(|call| known().all(|name| name != call.tool)) {
            let names: Vec<String> = known().map(|name| format!("`{name}`")).collect();
            let problem =
                format!("turn {number}: there is no tool `{}`; there are {}", call.tool, names.join(", "));
            return Err(cassette::Error { path: path.to_owned(), problem });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use longhaul_events::{Content, Driver, Epoch, SessionEvent, SessionKey, Timestamp};
    use serde_json::json;

    use super::*;

    #[test]
    fn runners_that_only_come_and_go_are_not_started_for_ever() {
        let id = SessionId::from_bytes([1; 8]);
        let (key, goal) = (SessionKey::from_bytes([7; 16]), Content::Inline(json!("fix it")));
        let opened = SessionEvent::Opened { key, goal, workspace: None, parent: None, task: None };
        let mut session = Session::fold(id, &[opened]).unwrap();
        let mut runners = Runners::default();
        let mut come_and_go = |epoch: u64| {
            let (epoch, expires_at) = (Epoch(epoch), Timestamp(1));
            let driver = Driver { host: "here".to_owned(), process: 1, started: None };
            session.apply(&SessionEvent::DriverTaken { epoch, driver, expires_at });
            let now = Instant::now();
            assert!(!runners.is_one_wanted(&session, 0, now), "one is at work");
            session.apply(&SessionEvent::DriverReleased { epoch });
            assert!(!runners.is_one_wanted(&session, 0, now), "it may be between two pieces of work");
            assert!(runners.is_one_wanted(&session, 0, now + START_AGAIN));
            runners.count(id)
        };
        for epoch in 1..=u64::from(MOST_IN_VAIN) {
            come_and_go(epoch).unwrap();
        }
        come_and_go(u64::from(MOST_IN_VAIN) + 1).unwrap_err();
    }
}
