//! The runner: performs the engine's own steps, outside of whoever is waiting for them.
//!
//! It is a process of its own that a call starts and does not wait for. It holds the session's driver lease
//! while it acts; when it dies the lease runs out, and whoever looks next starts another.

mod gather;
mod perform;
mod wait;

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use longhaul_core::session::Rejection;
use longhaul_core::workflow::StepKind;
use longhaul_core::workflow::step::{Gate, GateBy, RunWhat};
use longhaul_events::{Driver, Epoch, SessionId};
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
    while let Some(order) = commands.work_order(id)? {
        let epoch = match commands.take_driver(id, &this_process(), LEASE_MS) {
            Ok(epoch) => epoch,
            // Another runner is at it, or the session was closed meanwhile.
            Err(Error::Session(Rejection::Driven { .. } | Rejection::Closed)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let result =
            keeping_lease(&commands, (id, epoch), || perform(system, &commands, (id, epoch), &order))?;
        commands.finish_work(id, epoch, order.work, &result)?;
    }
    Ok(())
}

fn perform(
    system: &System,
    commands: &Commands,
    (id, epoch): (SessionId, Epoch),
    order: &WorkOrder,
) -> Result<WorkResult, Error> {
    if order.started.is_some() && !may_be_done_again(order) {
        return Ok(WorkResult::Unknown);
    }
    let place = Place::of(system, commands, id)?;
    let plan = match &order.step.kind {
        StepKind::Run(run) | StepKind::Gate(Gate { by: GateBy::Check(run), .. }) => perform::plan(run, order),
        _ => json!({ "gather": order.step.id }),
    };
    commands.start_work(id, epoch, order.work, &plan)?;
    Ok(WorkResult::Done(match &order.step.kind {
        StepKind::Run(run) | StepKind::Gate(Gate { by: GateBy::Check(run), .. }) => {
            perform::run(run, order, &place)
        }
        StepKind::Gather(gather) => gather::gather(gather, order, &place),
        _ => json!({ "outcome": "could_not_run", "because": "this kind of step is not a runner's" }),
    }))
}

/// A step that had started may be repeated only where repeating does no harm.
fn may_be_done_again(order: &WorkOrder) -> bool {
    match &order.step.kind {
        StepKind::Run(run) | StepKind::Gate(Gate { by: GateBy::Check(run), .. }) => {
            run.rerun || matches!(run.what, RunWhat::Declared(_) | RunWhat::Checks(_))
        }
        _ => true,
    }
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
        let directory = commands.checkout_of(id)?.map(|checkout| PathBuf::from(checkout.path));
        let refusal = match (&directory, session.workspace) {
            (Some(directory), Some(workspace)) => system.refusal_to_run(workspace, directory)?,
            _ => Some("the session has no workspace, and commands are run in workspaces only".to_owned()),
        };
        Ok(Self { directory, refusal, session: id })
    }
}

/// Renews the lease while something goes on.
fn keeping_lease<T>(commands: &Commands, (id, epoch): (SessionId, Epoch), act: impl FnOnce() -> T) -> T {
    let (done, wait) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while wait.recv_timeout(RENEW_EVERY) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = commands.renew_driver(id, epoch, LEASE_MS) {
                    tracing::warn!(%error, session = %id, "could not renew the lease");
                }
            }
        });
        let result = act();
        drop(done);
        result
    })
}

fn this_process() -> Driver {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Driver { host, process: std::process::id(), started: None }
}

/// The outcome of something that was not even tried.
fn could_not_run(because: impl Into<String>) -> Value {
    json!({ "outcome": "could_not_run", "because": because.into() })
}
