//! What goes on around work that takes a while: it is told about, it can be cancelled, and there is never too much of it
//! at once.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Interval};

/// How often a client that waits is told that something goes on.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// One request from its beginning to its end. Progress only ever grows, whatever is waited for in between.
pub(crate) struct Waiting<'a> {
    context: &'a RequestContext<RoleServer>,
    token: Option<ProgressToken>,
    ticks: Interval,
    seconds: u32,
}

/// Why there is no outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// Too much else goes on.
    Busy,
    Cancelled,
    /// It panicked.
    Bug,
}

impl<'a> Waiting<'a> {
    pub(crate) fn new(context: &'a RequestContext<RoleServer>) -> Self {
        let ticks = tokio::time::interval_at(Instant::now() + TELL_EVERY, TELL_EVERY);
        Self { context, token: context.meta.get_progress_token(), ticks, seconds: 0 }
    }

    /// Waits, and tells a client that asked for it that it goes on. A request that is cancelled is not waited for.
    pub(crate) async fn on<F: Future>(&mut self, work: F) -> Result<F::Output, Stopped> {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                () = self.context.ct.cancelled() => return Err(Stopped::Cancelled),
                _ = self.ticks.tick(), if self.token.is_some() => self.tell().await,
            }
        }
    }

    async fn tell(&mut self) {
        self.seconds += 1;
        let Some(token) = &self.token else { return };
        let progress = ProgressNotificationParam::new(token.clone(), f64::from(self.seconds));
        // Whoever is gone needs no progress.
        let _ = self.context.peer.notify_progress(progress.with_message("at work")).await;
    }

    /// Waits for work that blocks, on a thread of its own, once there is one for it. What a cancelled request began is
    /// finished, because half of it would be worse.
    pub(crate) async fn blocking<T: Send + 'static>(
        &mut self,
        room: &Room,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Stopped> {
        let permit = if let Ok(permit) = room.permits.clone().try_acquire_owned() {
            permit
        } else {
            let free = tokio::time::timeout(room.patience, room.permits.clone().acquire_owned());
            self.on(free).await?.map_err(|_| Stopped::Busy)?.map_err(|_| Stopped::Busy)?
        };
        let work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        self.on(work).await?.map_err(|error| {
            tracing::error!(%error, "a call ended in a bug");
            Stopped::Bug
        })
    }
}

/// How much may go on at once, and how long one waits for a place.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    permits: Arc<Semaphore>,
    at_once: u32,
    patience: Duration,
}

impl Room {
    pub(crate) fn new(at_once: u32, patience: Duration) -> Self {
        Self { permits: Arc::new(Semaphore::new(at_once as usize)), at_once, patience }
    }

    /// Waits until nothing goes on any more.
    pub(crate) async fn emptied(&self) {
        // Nobody closes it, so this fails never.
        let _ = self.permits.acquire_many(self.at_once).await;
    }
}

impl Stopped {
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Busy => {
                "the server is busy with other calls; make the same call again in a moment, nothing was done"
            }
            Self::Cancelled => "the call was cancelled",
            Self::Bug => {
                "a bug in Longhaul ended this call; make the same call again: what it recorded is recorded, and what it did not is not"
            }
        }
    }
}

impl From<Stopped> for ErrorData {
    fn from(stopped: Stopped) -> Self {
        Self::internal_error(stopped.words(), None)
    }
}
