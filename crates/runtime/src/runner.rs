//! The runner: performs the engine's own steps, outside of whoever is waiting for them.
//!
//! It is a process of its own that a call starts and does not wait for. It holds the session's driver lease
//! while it acts; when it dies the lease runs out, and whoever looks next starts another.

mod agent;
mod asking;
mod assignment;
mod crew;
mod falling_back;
mod gather;
mod giving_up;
mod handed;
mod hidden;
mod interrupted;
mod leading;
pub(crate) mod leftovers;
mod limits;
mod listening;
mod office;
mod perform;
mod permission;
mod preparing;
mod proving;
mod rest;
mod returning;
mod switch;
#[cfg(test)]
mod tests;
mod verifying;
mod wait;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use longhaul_core::config::SetupCommand;
use longhaul_core::scrub::Secret;
use longhaul_core::session::{At, Rejection};
use longhaul_core::walk::{ANOTHER_SESSION, MEND};
use longhaul_core::workflow::step::{Deliver, RunOn, RunWhat};
use longhaul_events::{Epoch, Reason, SessionId};
use longhaul_exec::sandbox::Sandbox;
use longhaul_store::StoreError;
use serde_json::{Value, json};

use crate::commands::Commands;
use crate::commands::walking::{WorkOrder, WorkResult};
use crate::delivery::{self, Delivering};
use crate::error::{DrivenError, Error};
use crate::gateway::{self, TOKEN_VARIABLE, Token};
use crate::system::System;
use crate::telemetry::scrub_logs_with;
use crate::workers;
pub(crate) use assignment::{Assignment, PinnedReach, ReadFiles, Staff, Visits, Who};
use crew::{Crew, Shell, Tokens};
use leftovers::Latest;
pub(crate) use leftovers::{SessionLabel, Whom};
pub(crate) use leftovers::{is_alive, is_dead, is_driven, this_process};
use permission::Refusal;
use preparing::Ready;
use rest::AtRest;
use switch::StopSwitch;
pub use watch::Patience;
use watch::Stopwatch;

/// How long a runner that died keeps others waiting.
const LEASE_MS: u64 = 15_000;
/// How long a known outcome waits for a store that cannot take it.
const KEEP_TRYING: Duration = Duration::from_mins(10);
/// What commands of the engine show to their way out is kept out of the log like the token of an agent.
const ENGINE_TOKEN: &str = "LONGHAUL_ENGINE_TOKEN";
const TRY_EVERY: Duration = Duration::from_secs(1);

/// How long a runner that is done waits for a collector to take what it did.
const LAST_TELLING: Duration = Duration::from_secs(2);

/// What the process of a runner does: it leaves whoever started it, and performs.
pub fn run_apart(system: &System, id: SessionId) -> Result<(), Error> {
    longhaul_exec::leave_session();
    rest::heed();
    let since = Instant::now();
    tracing::info!(session = %id, version = env!("CARGO_PKG_VERSION"), "a runner began");
    let export = system.start_export();
    let done = run_work(system, id);
    let ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
    match &done {
        Ok(()) => tracing::info!(session = %id, ms, "a runner ended"),
        Err(error) => tracing::error!(session = %id, ms, %error, "a runner gave up"),
    }
    if let Some(export) = export {
        export.stop(LAST_TELLING);
    }
    done
}

/// Performs whatever work a session waits for, until it waits for something else.
pub fn run_work(system: &System, id: SessionId) -> Result<(), Error> {
    let done = run_until_it_waits(system, id);
    if let Err(error) = end_workers(system, id) {
        tracing::warn!(%error, session = %id, "could not end the workers of a session");
    }
    let is_over = || Ok::<_, Error>(system.commands()?.load_session(id)?.closed.is_some());
    if is_over().unwrap_or(false) {
        system.clear_homes(id);
        if let Err(error) = system.clear_verifications(id) {
            tracing::warn!(%error, session = %id, "could not take away the checkouts of a verification");
        }
    }
    done
}

/// Nobody waits for an answer any more when the driver of a session lets go of it.
fn end_workers(system: &System, id: SessionId) -> Result<(), Error> {
    let commands = system.commands()?;
    let session = commands.load_session(id)?;
    if session.agent.is_none() || is_driven(&session) {
        return Ok(());
    }
    system.end_workers(&commands, id, workers::UNWANTED)
}

fn run_until_it_waits(system: &System, id: SessionId) -> Result<(), Error> {
    let token = Token::random();
    // Whoever works on the session sees it, and whatever they say is stored.
    let system = &system.keeping_secret(TOKEN_VARIABLE, token.reveal());
    let engine_token = Token::random();
    let system = &system.keeping_secret(ENGINE_TOKEN, engine_token.reveal());
    // Whoever looks for the files says what is wrong with them.
    let system = &system.keeping_secrets(secrets_of_files(system, id).unwrap_or_default());
    let commands = Arc::new(system.commands()?);
    scrub_logs_with(commands.scrubber().clone());
    let label = SessionLabel::of(id, &system.places().data)?;
    let mut crew = match Crew::of(system, &commands, id, &token) {
        Ok(crew) => crew,
        Err(error) => return give_up(&commands, id, error),
    };
    let setup = crew.as_ref().map(|crew| crew.setup.clone()).unwrap_or_default();
    let at_rest = AtRest::of(&commands.load_session(id)?);
    while !at_rest.is_due()
        && let Some(due) = due(&commands, id, crew.as_mut())?
    {
        let mut piece = match due {
            Due::End => return system.end(&commands, id, Whom::Commands),
            Due::Nobody => return give_up(&commands, id, Error::Driven(DrivenError::NoCheckout(id))),
            Due::Piece(piece) => piece,
        };
        let epoch = match commands.take_driver(id, &this_process(), LEASE_MS) {
            Ok(epoch) => epoch,
            // Another runner is at it, or the session was closed meanwhile.
            Err(Error::Session(Rejection::Driven { .. } | Rejection::Closed)) => return Ok(()),
            Err(Error::Session(Rejection::Stopping { .. })) => continue,
            Err(error) => return Err(error),
        };
        let opened = piece
            .crew()
            .map(|crew| {
                let shell = Shell { system, commands: &commands };
                let tokens = Tokens { agent: &token, engine: &engine_token };
                crew.open_gateway(shell, gateway::Driven { session: id, driver: epoch }, tokens, &label)
            })
            .transpose();
        let sandbox = piece.crew().map(|crew| crew.plain.clone());
        let owner = piece.crew().map_or(Some(id), |crew| crew.owner);
        let stopwatch = Stopwatch::start_or_let_go(&commands, id, epoch)?;
        let (label, setup) = (&label, setup.as_slice());
        let commands = &commands;
        let driven = Driven { system, commands, id, epoch, label, sandbox, stopwatch, setup, owner, at_rest };
        // Closed when this piece of work is done.
        let _gateway = match opened {
            Ok(gateway) => gateway,
            Err(error) => return driven.give_up_without_walls(error),
        };
        let done = match piece {
            Piece::Step(crew) => driven.have_done(crew),
            Piece::Work(_) => driven.work(),
        };
        if let Err(error) = done {
            // What the world does not let us do is for a person to see, not to be tried for ever.
            if let Some(reason) = giving_up::could_not(id, &error)
                && give_up_what_is_out(commands, id, epoch, reason).is_ok()
            {
                return Err(error);
            }
            // Whoever looks next must not wait for a process that is gone.
            let _ = commands.release_driver(id, epoch);
            return Err(error);
        }
    }
    Ok(())
}

/// What must not be stored of files that the session has.
fn secrets_of_files(system: &System, id: SessionId) -> Result<Vec<Secret>, Error> {
    let commands = system.commands()?;
    let session = commands.load_session(id)?;
    let Some((whose, _)) = commands.workplace_of(&session)? else { return Ok(Vec::new()) };
    let place = crate::worktrees::Place::of(commands.load_session(whose)?)?;
    Ok(system.file_secrets(&place))
}

/// What a session waits for that a runner can do.
enum Due<'c> {
    Piece(Piece<'c>),
    /// Somebody wants it ended.
    End,
    /// A step of an agent of ours, whose files are gone.
    Nobody,
}

/// Something to do under the lease.
enum Piece<'c> {
    /// Of the engine's own; behind the walls of the agent if there is one.
    Work(Option<&'c mut Crew>),
    /// Of an agent that we drive.
    Step(&'c mut Crew),
}

impl Piece<'_> {
    fn crew(&mut self) -> Option<&mut Crew> {
        match self {
            Self::Work(crew) => crew.as_deref_mut(),
            Self::Step(crew) => Some(crew),
        }
    }
}

/// Gives up what is out: whoever should do it cannot even begin.
fn give_up(commands: &Commands, id: SessionId, error: Error) -> Result<(), Error> {
    let Some(reason) = giving_up::could_not(id, &error) else { return Err(error) };
    match commands.take_driver(id, &this_process(), LEASE_MS) {
        Ok(epoch) => {
            // It may have gone on meanwhile, or wait for a person.
            if give_up_what_is_out(commands, id, epoch, reason).is_err() {
                let _ = commands.release_driver(id, epoch);
            }
            Err(error)
        }
        Err(Error::Session(_)) => Ok(()),
        Err(other) => Err(other),
    }
}

/// A step is parked. Work of ours has an outcome for what could not even be tried, and its workflow says what follows.
fn give_up_what_is_out(
    commands: &Commands,
    id: SessionId,
    epoch: Epoch,
    reason: Reason,
) -> Result<(), Error> {
    let Some(order) = commands.work_order(id)? else { return commands.park_step(id, epoch, &[reason]) };
    let result = if order.started.is_some() && !may_be_done_again(&order) {
        WorkResult::Unknown
    } else {
        WorkResult::Done(could_not_run(format!("{}; {}", reason.message, reason.fix)))
    };
    commands.finish_work(id, epoch, order.work, &result)
}

fn due<'c>(commands: &Commands, id: SessionId, crew: Option<&'c mut Crew>) -> Result<Option<Due<'c>>, Error> {
    let session = commands.load_session(id)?;
    if session.stop.is_some() {
        // Whoever drives it ends it, and knows how long what runs may still take.
        let own = this_process();
        let is_anothers = session.lease.is_some_and(|lease| lease.driver != own && !is_dead(&lease.driver));
        return Ok((!is_anothers).then_some(Due::End));
    }
    Ok(match (&session.at, crew) {
        (At::Work(_), _) if !commands.goes_on(&session)? => None,
        (At::Work(_), crew) => Some(Due::Piece(Piece::Work(crew))),
        (At::Step(_), Some(crew)) => Some(Due::Piece(Piece::Step(crew))),
        (At::Step(_), None) => session.agent.is_some().then_some(Due::Nobody),
        (At::Gate(_) | At::Parked(_) | At::Nothing, _) => None,
    })
}

/// A session that this process drives.
struct Driven<'a> {
    system: &'a System,
    commands: &'a Commands,
    id: SessionId,
    epoch: Epoch,
    label: &'a SessionLabel,
    /// The walls of an agent of ours, without its tools. What it may have written is run behind them too.
    sandbox: Option<Sandbox>,
    stopwatch: Stopwatch,
    /// What makes the checkout ready before anything is done in it.
    setup: &'a [SetupCommand],
    /// Whose files they are that may be changed; none where they are only read.
    owner: Option<SessionId>,
    at_rest: AtRest,
}

impl Driven<'_> {
    const fn latest(&self) -> Latest<'_> {
        Latest { label: self.label, epoch: self.epoch }
    }

    /// Does one piece of work. It is looked up under the lease: another runner may have done it meanwhile.
    fn work(&self) -> Result<(), Error> {
        let Some(order) = self.commands.work_order(self.id)? else {
            return self.commands.release_driver(self.id, self.epoch);
        };
        let stop = StopSwitch::default();
        self.keeping_lease(&stop, || {
            let Some(result) = self.perform(&order, &stop)? else { return self.let_go() };
            // What was ended with the session, or taken from us, says nothing about the step.
            if stop.is_stopped() || self.commands.load_session(self.id)?.stop.is_some() {
                return self.let_go();
            }
            self.finish(&order, &result)
        })
    }

    /// What walls need is not to be had: a person has to put that right, and nobody tries in vain until then.
    fn give_up_without_walls(&self, error: Error) -> Result<(), Error> {
        let reason = match &error {
            Error::Driven(DrivenError::Hiring(_)) | Error::NoKey { .. } | Error::Roster(_) => {
                giving_up::could_not(self.id, &error)
            }
            _ => None,
        };
        let reason = reason.unwrap_or_else(|| giving_up::without_walls(self.id, &error));
        if give_up_what_is_out(self.commands, self.id, self.epoch, reason).is_ok() {
            return Ok(());
        }
        let _ = self.commands.release_driver(self.id, self.epoch);
        Err(error)
    }

    /// Records how the work ended. Nobody but us knows it, so a full disk is waited for.
    fn finish(&self, order: &WorkOrder, result: &WorkResult) -> Result<(), Error> {
        let start = Instant::now();
        loop {
            match self.commands.finish_work(self.id, self.epoch, order.work, result) {
                // A person cancelled or rewound the session: there is nobody to tell. Or it was stored when the
                // disk reported a fault.
                Err(Error::Session(
                    Rejection::Closed | Rejection::StaleDriver { .. } | Rejection::NoSuchWork { .. },
                )) => return Ok(()),
                Err(error) if may_pass(&error) && start.elapsed() < KEEP_TRYING => {
                    tracing::warn!(%error, session = %self.id, "could not record how a step ended; trying again");
                    std::thread::sleep(TRY_EVERY);
                }
                finished => return finished,
            }
        }
    }

    /// `None` if it was stopped before it began.
    fn perform(&self, order: &WorkOrder, stop: &StopSwitch) -> Result<Option<WorkResult>, Error> {
        let cleared = leftovers::end(self.commands, self.id, self.latest());
        if order.started.is_some() && !may_be_done_again(order) {
            return Ok(Some(WorkResult::Unknown));
        }
        let run = order.step.kind.run();
        if let Err(Error::Leftovers(problem)) = cleared {
            return Ok(Some(WorkResult::Done(could_not_run(format!(
                "what an earlier start left running could not be ended: {problem}"
            )))));
        }
        cleared?;
        self.system.bring_back(self.commands, self.id)?;
        match self.make_ready(stop)? {
            Ready::Yes => {}
            Ready::Stopped => return Ok(None),
            Ready::No(reasons) => {
                let messages: Vec<&str> = reasons.iter().map(|reason| reason.message.as_str()).collect();
                return Ok(Some(WorkResult::Done(could_not_run(messages.join("; ")))));
            }
        }
        let place = Place::of(self)?;
        if stop.is_stopped() || self.commands.load_session(self.id)?.stop.is_some() {
            return Ok(None);
        }
        if order.step.kind.family().is_some() {
            return self.lead(order, stop);
        }
        let plan = match (run, order.step.kind.deliver()) {
            (Some(run), _) => perform::plan(run, order),
            (None, Some(deliver)) => json!({ "deliver": deliver.settings }),
            (None, None) => json!({ "gather": order.step.id }),
        };
        self.commands.start_work(self.id, self.epoch, order.work, &plan)?;
        Ok(Some(WorkResult::Done(match (run, order.step.kind.gather()) {
            (Some(run), _) if run.on == RunOn::Merge => self.run_on_merge(run, &place, stop),
            (Some(run), _) => perform::run(run, order, &place, stop),
            (None, Some(gather)) => match gather.seen() {
                Some(seen) => self.see(seen),
                None => gather::gather(gather, order, &place),
            },
            (None, None) => match order.step.kind.deliver() {
                Some(deliver) => self.deliver(deliver, order, &place)?,
                None => could_not_run("this kind of step is not a runner's"),
            },
        })))
    }
}

impl Driven<'_> {
    /// What may not be run where the session is at home is not delivered from there either.
    fn deliver(&self, step: &Deliver, order: &WorkOrder, place: &Place<'_>) -> Result<Value, Error> {
        match &place.refusal {
            Some(Refusal::Mendable(because) | Refusal::Final(because)) => {
                Ok(json!({ "outcome": "could_not", "because": because }))
            }
            None => {
                let Driven { system, commands, id, epoch, .. } = *self;
                delivery::deliver(Delivering { system, commands, id, epoch }, step, order)
            }
        }
    }
}

/// A step that had started may be repeated only where repeating does no harm.
fn may_be_done_again(order: &WorkOrder) -> bool {
    order.step.kind.run().is_none_or(|run| match run.what {
        RunWhat::Command(_) => run.rerun,
        RunWhat::Declared(_) | RunWhat::Checks(_) => true,
    })
}

/// Whether trying again may help, when something could not be stored.
const fn may_pass(error: &Error) -> bool {
    let Error::Store(error) = error else { return matches!(error, Error::TooManyConflicts) };
    match error {
        StoreError::DiskFull
        | StoreError::Busy { .. }
        | StoreError::NotWritable { .. }
        | StoreError::DiskFault(_)
        | StoreError::OutcomeUnknown(_)
        | StoreError::File { .. } => true,
        StoreError::Damaged { .. }
        | StoreError::Quarantined { .. }
        | StoreError::TooNew { .. }
        | StoreError::ReadOnlyForThisRelease { .. }
        | StoreError::TracesRemain(_)
        | StoreError::InNames { .. }
        | StoreError::Blob { .. }
        | StoreError::InUse { .. }
        | StoreError::Replaced { .. }
        | StoreError::NotOurs { .. }
        | StoreError::UnfitBackup { .. }
        | StoreError::SetAsideUnreadable { .. }
        | StoreError::Absent { .. }
        | StoreError::Sql(_)
        | StoreError::Bug(_) => false,
    }
}

/// Where a session's commands run, and whether they may.
struct Place<'a> {
    directory: Option<PathBuf>,
    /// Why nothing may be run here.
    refusal: Option<Refusal>,
    session: SessionId,
    /// What commands carry, so that they are found when we are gone.
    label: String,
    commands: &'a Commands,
    sandbox: Option<Sandbox>,
}

impl<'a> Place<'a> {
    fn of(driven: &Driven<'a>) -> Result<Self, Error> {
        let Driven { system, commands, id, epoch, label, .. } = *driven;
        let session = commands.session(id)?;
        let checkout = commands.checkout_of(id)?;
        let refusal = match (&checkout, session.workspace) {
            // A checkout that cannot be looked at is one more reason not to run anything in it.
            (Some(checkout), Some(workspace)) => system
                .refusal_to_run(workspace, checkout)
                .unwrap_or_else(|error| Some(Refusal::Mendable(error.to_string()))),
            (Some(_) | None, None) | (None, Some(_)) => Some(Refusal::Final(
                "the session has no workspace, and commands are run in workspaces only".to_owned(),
            )),
        };
        let sandbox = driven.sandbox.clone();
        let unwalled = (session.agent.is_some() && sandbox.is_none()).then(|| {
            Refusal::Mendable(
                "the worktree of the session is gone; bring it back with `longhaul worktree restore`"
                    .to_owned(),
            )
        });
        let refusal = refusal.or(unwalled);
        let own = commands.workplace_of(&session)?.filter(|(_, workplace)| !workplace.is_gone);
        let directory = own.map(|(_, own)| own.checkout.path).or(checkout.map(|checkout| checkout.path));
        let directory = directory.map(PathBuf::from);
        Ok(Self { directory, refusal, session: id, label: label.of_command(epoch), commands, sandbox })
    }
}

/// The same where doing it again in this session would come to the same: what it pinned is what is wrong.
fn never_in_this_session(because: impl Into<String>) -> Value {
    let mut value = could_not_run(because);
    value[MEND] = json!(ANOTHER_SESSION);
    value
}

/// The outcome of something that was not even tried.
fn could_not_run(because: impl Into<String>) -> Value {
    json!({ "outcome": "could_not_run", "because": because.into() })
}
