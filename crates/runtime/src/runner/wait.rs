//! Calls that wait a while for the runner, and say `working` when it takes longer.

use std::ffi::OsStr;
use std::time::{Duration, Instant};

use longhaul_core::handle::Handle;
use longhaul_core::session::KeptAs;
use longhaul_core::walk::view::StepView;
use longhaul_events::SessionId;
use longhaul_exec::Program;
use longhaul_store::watch::Watcher;

use super::leftovers::{self, SessionLabel};
use crate::commands::Commands;
use crate::commands::task::TaskWish;
use crate::commands::walking::{Advance, AnswerGate, Rewind, StartSession};
use crate::error::Error;
use crate::lifecycle::own_program;
use crate::system::System;

/// How long a call waits that has no deadline of its own.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(500);

impl System {
    pub fn start_session(&self, commands: &Commands, start: &StartSession) -> Result<StepView, Error> {
        self.start_session_for(commands, start, &TaskWish::default())
    }

    pub(crate) fn start_session_for(
        &self,
        commands: &Commands,
        start: &StartSession,
        wish: &TaskWish,
    ) -> Result<StepView, Error> {
        let view = commands.start_session_for(start, wish)?;
        let mut view = self.settle(commands, view, |id| commands.session_view(id))?;
        view.warnings.clone_from(&start.warnings);
        Ok(view)
    }

    pub fn advance(&self, commands: &Commands, advance: &Advance) -> Result<StepView, Error> {
        let view = commands.advance(advance)?;
        // Before the engine's own work changes anything.
        let trouble = self.keep_beginning(commands, advance.handle.session, &view);
        let mut view = self.settle(commands, view, |_| commands.advance(advance))?;
        view.warnings.extend(trouble);
        Ok(view)
    }

    /// A step of a session with a worktree of its own has ended: what the next one begins with is kept. Not to be
    /// able to is no reason to refuse the answer, which is on record by now.
    fn keep_beginning(&self, commands: &Commands, id: SessionId, view: &StepView) -> Option<String> {
        let keep = || -> Result<(), Error> {
            if view.blocked.is_some() || !commands.has_own_files(id)? {
                return Ok(());
            }
            let session = commands.load_session(id)?;
            let is_due = session.workplace.as_ref().is_some_and(|workplace| workplace.due.is_some());
            let as_what = match session.node() {
                // Not while a rewind wants other files back: they would count as brought back.
                Some(node) if !is_due => KeptAs::Beginning(node),
                Some(_) | None => KeptAs::Between,
            };
            self.keep_as(commands, id, "the end of a step", as_what).map(|_| ())
        };
        keep().err().map(|error| format!("the files of the worktree could not be kept: {error}"))
    }

    pub fn answer_gate(&self, commands: &Commands, answer: &AnswerGate) -> Result<StepView, Error> {
        let view = commands.answer_gate(answer)?;
        self.go_on_above(commands, answer.session)?;
        kept_from_others(commands, self.settle(commands, view, |id| commands.session_view(id))?)
    }

    pub fn rewind(&self, commands: &Commands, rewind: &Rewind) -> Result<StepView, Error> {
        let mut rewound = commands.rewind(rewind)?;
        let mut warnings = std::mem::take(&mut rewound.warnings);
        self.end_below(commands, rewind.session, "the session above went back")?;
        warnings.extend(self.files_back(commands, rewind.session)?);
        let mut view = self.settle(commands, rewound, |id| commands.session_view(id))?;
        warnings.append(&mut view.warnings);
        view.warnings = warnings;
        kept_from_others(commands, view)
    }

    /// Asks a completed session for more. An agent that did its steps does this one too.
    pub fn continue_session(
        &self,
        commands: &Commands,
        id: SessionId,
        text: &str,
    ) -> Result<StepView, Error> {
        let view = commands.continue_session(id, text)?;
        kept_from_others(commands, self.settle(commands, view, |id| commands.session_view(id))?)
    }

    /// Where a session stands, with its work looked after.
    pub fn session_view(&self, commands: &Commands, id: SessionId) -> Result<StepView, Error> {
        let view = commands.session_view(id)?;
        self.settle(commands, view, |id| commands.session_view(id))
    }

    /// Where a session stands, for somebody who takes it up again, with its work looked after.
    pub fn resume(&self, commands: &Commands, id: SessionId) -> Result<StepView, Error> {
        // Whoever asks after what waits for a limit has it go on, once that is there.
        self.wake(commands, id, commands.now())?;
        kept_from_others(commands, self.resume_own(commands, id)?)
    }

    /// The same for the agent that does the steps.
    pub(crate) fn resume_own(&self, commands: &Commands, id: SessionId) -> Result<StepView, Error> {
        let view = commands.resumed_view(id)?;
        self.settle(commands, view, |id| commands.resumed_view(id))
    }

    /// What a handle stands for now, with the work of its session looked after.
    pub fn rehydrate(&self, commands: &Commands, handle: &Handle) -> Result<StepView, Error> {
        let view = commands.rehydrated_view(handle)?;
        self.settle(commands, view, |id| commands.resumed_view(id))
    }

    /// Has a runner do the work that a call led to, and waits for it as long as a call may.
    fn settle(
        &self,
        commands: &Commands,
        view: StepView,
        ask_again: impl Fn(SessionId) -> Result<StepView, Error>,
    ) -> Result<StepView, Error> {
        let Ok(id) = view.session_id.parse::<SessionId>() else { return Ok(view) };
        let view = commands.led(view)?;
        let at = view.session_id.parse::<SessionId>().unwrap_or(id);
        if !is_at_work(&view) {
            return self.handed_to_agent(commands, at, view);
        }
        let mut watcher = Watcher::polling(&self.places().data)?;
        self.start_runner(at)?;
        let deadline = self.deadline().unwrap_or_else(|| Instant::now() + PATIENCE);
        let mut teller = self.teller();
        let mut view = view;
        while is_at_work(&view) {
            teller.tell(&view);
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.is_deserted() {
                break;
            }
            watcher.wait(LOOK_EVERY.min(left))?;
            view = commands.led(ask_again(id)?)?;
        }
        let at = view.session_id.parse::<SessionId>().unwrap_or(id);
        self.handed_to_agent(commands, at, view)
    }

    /// A step of a session that an agent of ours does is not for whoever asked: a runner goes on with it.
    fn handed_to_agent(
        &self,
        commands: &Commands,
        id: SessionId,
        mut view: StepView,
    ) -> Result<StepView, Error> {
        if view.continue_token.is_none() || !commands.has_agent(id)? {
            return Ok(view);
        }
        let session = commands.load_session(id)?;
        let Some(agent) = session.agent.as_ref().filter(|_| session.tip().is_some()) else { return Ok(view) };
        let is_driven = leftovers::is_driven(&session);
        if let Some(wish) = &session.stop {
            view.warnings.push(format!(
                "{} stops this session; `longhaul stop {id}` waits for its end, or brings it about",
                wish.by
            ));
            return Ok(view);
        }
        if !is_driven {
            self.start_runner(id)?;
        }
        view.warnings.push(format!(
            "`{agent}` goes on with this session; `longhaul session tail {id}` follows it, `longhaul stop {id}` ends it"
        ));
        Ok(view)
    }

    /// Starts a runner that outlives this process.
    pub(crate) fn start_runner(&self, id: SessionId) -> Result<(), Error> {
        // Whoever drives a session drives all below it.
        let id = self.top_of(id)?;
        let mut runner = Program::new(own_program()?)
            .arg("runner")
            .arg(id.to_string())
            .directory(self.directory())
            // A service manager hears of the daemon alone.
            .remove_variable("NOTIFY_SOCKET")
            .remove_variable("WATCHDOG_USEC")
            // What a command of the session starts may outlive it and hang from the runner.
            .set_variable("LONGHAUL_SESSION", id.to_string())
            .label(SessionLabel::of(id, &self.places().data)?.of_runner());
        // Where the installation is may be known to this process only.
        if let Some(home) = self.variable(OsStr::new("LONGHAUL_HOME")) {
            runner = runner.set_variable("LONGHAUL_HOME", home);
        }
        longhaul_exec::detach(&runner).map(|_| ()).map_err(Error::Runner)
    }
}

/// Whether it pays to wait: not for a tree of sessions that waits for somebody itself.
fn is_at_work(view: &StepView) -> bool {
    view.working.as_ref().is_some_and(|working| working.waits_for.is_none())
}

/// What an agent of ours is asked to do is nobody else's to read as a request, or to answer. Only for calls that this agent
/// does not make itself.
fn kept_from_others(commands: &Commands, mut view: StepView) -> Result<StepView, Error> {
    let Ok(id) = view.session_id.parse::<SessionId>() else { return Ok(view) };
    if view.continue_token.is_some() && commands.has_agent(id)? {
        (view.prompt, view.requires, view.continue_token, view.checkpoint_token) = (None, None, None, None);
    }
    Ok(view)
}
