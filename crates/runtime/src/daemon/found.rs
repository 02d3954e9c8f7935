//! What is known of a session that should be running, for the policy that says what becomes of it.

use std::path::Path;

use longhaul_core::queue::Attempts;
use longhaul_core::recovery::{Files, Found, Inside, Kept, Quiet, Standing, Starts, Unfit, World};
use longhaul_core::session::{At, Session, StopWish};
use longhaul_core::task::TaskState;
use longhaul_events::{CloseOutcome, Timestamp};
use longhaul_store::views::{SessionRow, Waiting};

use super::Shared;
use super::known::{Known, KnownTask};
use crate::calendar::awaited;
use crate::error::Error;
use crate::reader::holder;
use crate::room;

/// How long whoever drives a session has to end it when somebody wants that.
const TIME_TO_END_MS: u64 = 20_000;
/// How long a step of the engine's own may be silent, if it does not say.
const STEP_LIMIT_MS: u64 = 60 * 60 * 1000;

/// The newest attempt of a task.
pub(super) struct Judged<'k> {
    pub(super) of: &'k KnownTask,
    pub(super) row: &'k SessionRow,
    pub(super) starts: Starts,
}

/// What was found of the newest attempt of a task.
pub(super) fn found(
    shared: &Shared,
    known: &Known,
    Judged { of, row, starts }: Judged<'_>,
    now: Timestamp,
) -> Result<Found, Error> {
    let (standing, since) = match &row.damage {
        Some(because) => (Standing::Unreadable { because: because.clone() }, row.updated_at),
        None => standing(shared, of, row)?,
    };
    let orders = of.task.orders.as_ref();
    // A task that a person started by themselves is theirs to try again.
    let most = orders.map_or(of.attempts, |orders| orders.max_attempts);
    let session = row.damage.is_none().then(|| shared.commands.load_session(row.id)).transpose()?;
    Ok(Found {
        now,
        standing,
        since,
        holder: holder(row, now),
        quiet: Quiet { for_ms: now.since_ms(row.updated_at), inside: inside(row) },
        starts,
        attempts: Attempts { made: of.attempts, most },
        files: session.as_ref().map_or(Files::None, files),
        world: world(shared, known, of),
        seed: row.id.as_bytes().iter().fold(0_u64, |seed, byte| seed << 8 | u64::from(*byte)),
    })
}

fn standing(shared: &Shared, of: &KnownTask, row: &SessionRow) -> Result<(Standing, Timestamp), Error> {
    let commands = &shared.commands;
    let session = commands.load_session(row.id)?;
    if let Some(closed) = &session.closed {
        return Ok((closed_as(closed), row.updated_at));
    }
    if let Some(StopWish { by, .. }) = &session.stop {
        let patience_until = row.updated_at.plus_ms(TIME_TO_END_MS);
        return Ok((Standing::Stopping { by: by.clone(), patience_until }, row.updated_at));
    }
    if matches!(of.state, TaskState::HandedOver(_)) {
        return Ok((Standing::HandedOver, row.updated_at));
    }
    // What it waits for below counts as its own.
    let waited = commands.waited_for(&session)?;
    let at = waited.as_ref().unwrap_or(&session);
    Ok(match &at.at {
        At::Gate(gate) => (Standing::Gate { until: gate.until }, row.updated_at),
        At::Parked(park) => {
            let (code, because) = (park.code.clone(), park.because.clone());
            let wake_at = awaited(at).map(|waits| waits.wake_at);
            (Standing::Parked { code, because, wake_at }, row.updated_at)
        }
        At::Nothing | At::Step(_) | At::Work(_) => (Standing::GoesOn, row.updated_at),
    })
}

fn closed_as(closed: &CloseOutcome) -> Standing {
    match closed {
        CloseOutcome::Completed => Standing::Completed,
        CloseOutcome::Cancelled { by, .. } => Standing::Cancelled { by: by.clone() },
        CloseOutcome::Failed { reason } => Standing::Failed { because: reason.clone() },
    }
}

fn inside(row: &SessionRow) -> Inside {
    match (&row.waiting, &row.driven.tool) {
        (Waiting::Work, _) => Inside::Step { limit_ms: STEP_LIMIT_MS },
        (_, Some(_)) => Inside::Call,
        (Waiting::Nothing | Waiting::Agent | Waiting::Gate(_) | Waiting::Parked { .. }, None) => Inside::Turn,
    }
}

fn files(session: &Session) -> Files {
    match &session.workplace {
        None => Files::None,
        // Whoever ends a session keeps its files first.
        Some(workplace) if !workplace.is_gone && Path::new(&workplace.checkout.path).exists() => Files::Kept,
        Some(workplace) if workplace.snapshot.is_some() => Files::Gone(Kept::Snapshot),
        Some(_) => Files::Gone(Kept::Nothing),
    }
}

fn world(shared: &Shared, known: &Known, of: &KnownTask) -> World {
    let places = shared.system.places();
    if room::free_bytes(&places.data).is_some_and(room::is_full) {
        return World::Unfit(Unfit::DiskFull);
    }
    let is_gone = |id| known.workspace(id).is_none_or(|found| !Path::new(&found.common_dir).exists());
    if of.task.workspace.is_some_and(is_gone) {
        return World::Unfit(Unfit::RepositoryGone);
    }
    World::Fit
}
