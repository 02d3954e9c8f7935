//! The runner: performs the engine's own steps, outside of whoever is waiting for them.
//!
//! It is a process of its own that a call starts and does not wait for. It holds the session's driver lease
//! while it acts; when it dies the lease runs out, and whoever looks next starts another.

mod gather;
mod perform;
mod permission;
mod wait;

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use longhaul_core::session::Rejection;
use longhaul_core::workflow::step::RunWhat;
use longhaul_events::{Driver, Epoch, SessionId};
use longhaul_exec::Stopper;
use serde_json::{Value, json};

use crate::commands::Commands;
use crate::commands::walking::{WorkOrder, WorkResult};
use crate::error::Error;
use crate::system::System;

/// How long a runner that died keeps others waiting.
const LEASE_MS: u64 = 15_000;
const RENEW_EVERY: Duration = Duration::from_secs(5);

/// What the process of a runner does: it leaves whoever started it, and performs.
pub fn run_apart(system: &System, id: SessionId) -> Result<(), Error> {
    longhaul_exec::leave_session();
    run_work(system, id)
}

/// Performs whatever work a session waits for, until it waits for something else.
pub fn run_work(system: &System, id: SessionId) -> Result<(), Error> {
    let commands = system.commands()?;
    while commands.work_order(id)?.is_some() {
        let epoch = match commands.take_driver(id, &this_process(), LEASE_MS) {
            Ok(epoch) => epoch,
            // Another runner is at it, or the session was closed meanwhile.
            Err(Error::Session(Rejection::Driven { .. } | Rejection::Closed)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let driven = Driven { system, commands: &commands, id, epoch };
        if let Err(error) = driven.work() {
            // Whoever looks next must not wait for a process that is gone.
            let _ = commands.release_driver(id, epoch);
            return Err(error);
        }
    }
    Ok(())
}

/// A session that this process drives.
struct Driven<'a> {
    system: &'a System,
    commands: &'a Commands,
    id: SessionId,
    epoch: Epoch,
}

impl Driven<'_> {
    /// Does one piece of work. It is looked up under the lease: another runner may have done it meanwhile.
    fn work(&self) -> Result<(), Error> {
        let Some(order) = self.commands.work_order(self.id)? else {
            return self.commands.release_driver(self.id, self.epoch);
        };
        let stop = StopSwitch::default();
        let result = self.keeping_lease(&stop, || self.perform(&order, &stop))?;
        match self.commands.finish_work(self.id, self.epoch, order.work, &result) {
            // A person cancelled or rewound the session: there is nobody to tell.
            Err(Error::Session(Rejection::Closed | Rejection::StaleDriver { .. })) => Ok(()),
            finished => finished,
        }
    }

    fn perform(&self, order: &WorkOrder, stop: &StopSwitch) -> Result<WorkResult, Error> {
        if order.started.is_some() && !may_be_done_again(order) {
            return Ok(WorkResult::Unknown);
        }
        let run = order.step.kind.run();
        let place = Place::of(self.system, self.commands, self.id)?;
        let plan = run.map_or_else(|| json!({ "gather": order.step.id }), |run| perform::plan(run, order));
        self.commands.start_work(self.id, self.epoch, order.work, &plan)?;
        Ok(WorkResult::Done(match (run, order.step.kind.gather()) {
            (Some(run), _) => perform::run(run, order, &place, stop),
            (None, Some(gather)) => gather::gather(gather, order, &place),
            (None, None) => could_not_run("this kind of step is not a runner's"),
        }))
    }

    /// Renews the lease while something goes on, and ends it when the lease is gone.
    fn keeping_lease<T>(&self, stop: &StopSwitch, act: impl FnOnce() -> T) -> T {
        let (done, wait) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while wait.recv_timeout(RENEW_EVERY) == Err(RecvTimeoutError::Timeout) {
                    match self.commands.renew_driver(self.id, self.epoch, LEASE_MS) {
                        Ok(()) => {}
                        Err(Error::Session(_)) => stop.stop(),
                        Err(error) => tracing::warn!(%error, session = %self.id, "could not renew the lease"),
                    }
                }
            });
            let result = act();
            drop(done);
            result
        })
    }
}

/// Ends the program that is running, or the one that would be started next.
#[derive(Debug, Default)]
struct StopSwitch(Mutex<StopState>);

#[derive(Debug, Default)]
struct StopState {
    stopped: bool,
    program: Option<Stopper>,
}

impl StopSwitch {
    fn stop(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.stopped = true;
        if let Some(program) = &state.program {
            program.stop();
        }
    }

    fn watch(&self, program: Stopper) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stopped {
            program.stop();
        }
        state.program = Some(program);
    }
}

/// A step that had started may be repeated only where repeating does no harm.
fn may_be_done_again(order: &WorkOrder) -> bool {
    order.step.kind.run().is_none_or(|run| match run.what {
        RunWhat::Command(_) => run.rerun,
        RunWhat::Declared(_) | RunWhat::Checks(_) => true,
    })
}

/// Where a session's commands run, and whether they may.
struct Place {
    directory: Option<PathBuf>,
    /// Why nothing may be run here.
    refusal: Option<String>,
    session: SessionId,
}

impl Place {
    fn of(system: &System, commands: &Commands, id: SessionId) -> Result<Self, Error> {
        let session = commands.session(id)?;
        let checkout = commands.checkout_of(id)?;
        let refusal = match (&checkout, session.workspace) {
            // A checkout that cannot be looked at is one more reason not to run anything in it.
            (Some(checkout), Some(workspace)) => {
                system.refusal_to_run(workspace, checkout).unwrap_or_else(|error| Some(error.to_string()))
            }
            (Some(_) | None, None) | (None, Some(_)) => {
                Some("the session has no workspace, and commands are run in workspaces only".to_owned())
            }
        };
        let directory = checkout.map(|checkout| PathBuf::from(checkout.path));
        Ok(Self { directory, refusal, session: id })
    }
}

fn this_process() -> Driver {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Driver { host, process: std::process::id(), started: longhaul_exec::started_ticks() }
}

/// The outcome of something that was not even tried.
fn could_not_run(because: impl Into<String>) -> Value {
    json!({ "outcome": "could_not_run", "because": because.into() })
}
