//! What a runner looks after while it acts: its lease, and what the session may use.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use longhaul_core::session::Session;
use longhaul_events::{Epoch, SessionId, Urgency};

use super::switch::{CutShort, StopSwitch};
use super::{Driven, LEASE_MS};
use crate::commands::Commands;
use crate::error::Error;
use crate::stopping::GRACE;

const RENEW_EVERY: Duration = Duration::from_secs(5);
/// How soon a runner notices what others did to its session.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How long nothing may be heard, before it counts as silence for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Inside of a call.
    pub call: Duration,
    /// Between calls: a turn without an answer.
    pub turn: Duration,
}

impl Default for Patience {
    /// The longest silence that was ever seen and was none is six minutes and a half.
    fn default() -> Self {
        Self { call: Duration::from_mins(30), turn: Duration::from_mins(10) }
    }
}

impl Driven<'_> {
    /// Looks after the session while something goes on, and ends that when it may not go on.
    pub(super) fn keeping_lease<T>(&self, stop: &StopSwitch, act: impl FnOnce() -> T) -> T {
        let (done, wait) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let renewed = Instant::now();
                let mut watch = Watch { driven: self, stop, renewed, wished: None, longer: None };
                while wait.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                    watch.look();
                }
            });
            let result = act();
            drop(done);
            result
        })
    }
}

struct Watch<'a> {
    driven: &'a Driven<'a>,
    stop: &'a StopSwitch,
    renewed: Instant,
    /// Since when it is known that somebody wants the session ended.
    wished: Option<Instant>,
    /// For how long calls of this workflow may be silent, once somebody had to know.
    longer: Option<Duration>,
}

impl Watch<'_> {
    fn look(&mut self) {
        self.stop.hurry_to_rest();
        let Driven { commands, id, epoch, .. } = *self.driven;
        if self.renewed.elapsed() >= RENEW_EVERY {
            self.renewed = Instant::now();
            match commands.renew_driver(id, epoch, LEASE_MS) {
                Ok(()) => {}
                Err(Error::Session(_)) => self.stop.stop(),
                Err(error) => tracing::warn!(%error, session = %id, "could not renew the lease"),
            }
        }
        match commands.load_session(id) {
            Ok(session) => self.judge(&session),
            Err(error) => tracing::warn!(%error, session = %id, "could not look at the session"),
        }
    }

    fn judge(&mut self, session: &Session) {
        if let Some(wish) = &session.stop {
            self.stop.wind_down();
            let since = *self.wished.get_or_insert_with(Instant::now);
            if wish.urgency == Urgency::Now || since.elapsed() >= GRACE {
                self.stop.stop();
            }
        }
        if session.lease.as_ref().is_none_or(|lease| lease.epoch != self.driven.epoch) {
            self.stop.stop();
        }
        let Some(calls_for) = self.stop.calls_for() else { return };
        let is_late = session.caps.is_some_and(|caps| self.driven.stopwatch.ms() >= caps.time_ms);
        if is_late {
            self.stop.cut_short(CutShort::TimeIsUp);
        }
        if calls_for >= self.driven.system.patience().call {
            let most = self.longest_call();
            if calls_for >= most {
                let ms = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
                tracing::warn!(session = %self.driven.id, ms, "a call was not heard of any more and is ended");
                self.stop.cut_short(CutShort::Silent { ms });
            }
        }
    }

    /// By what earlier runs needed, and never less than by default.
    fn longest_call(&mut self) -> Duration {
        let Driven { system, commands, id, .. } = *self.driven;
        *self.longer.get_or_insert_with(|| system.longer_patience(commands.reader().as_ref(), id).call)
    }
}

/// How long the session was at work: before this driver, and since.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopwatch {
    pub(super) before_ms: u64,
    pub(super) since: Instant,
}

impl Stopwatch {
    /// Gives the lease back if that cannot be told: whoever looks next must not wait for us.
    pub(super) fn start_or_let_go(commands: &Commands, id: SessionId, epoch: Epoch) -> Result<Self, Error> {
        Self::start(commands, id, epoch).inspect_err(|_| {
            let _ = commands.release_driver(id, epoch);
        })
    }

    pub(super) fn start(commands: &Commands, id: SessionId, epoch: Epoch) -> Result<Self, Error> {
        Ok(Self { before_ms: commands.wall_clock(id)?.ms_before(epoch), since: Instant::now() })
    }

    pub(super) fn ms(&self) -> u64 {
        self.before_ms.saturating_add(u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}
