//! Everything that writes. One command is one decision: loaded, decided, stored whole or not at all.

pub(crate) mod acting;
pub(crate) mod billing;
pub(crate) mod carrying;
pub(crate) mod checkout;
pub(crate) mod delivering;
mod keeping;
mod noting;
#[cfg(any(test, feature = "testing"))]
pub(crate) mod opaque;
pub(crate) mod paying;
pub(crate) mod queueing;
pub(crate) mod receiving;
mod replaying;
mod serving;
pub(crate) mod session;
pub(crate) mod task;
#[cfg(test)]
mod tests;
mod vouching;
mod waking;
pub(crate) mod walking;
pub(crate) mod workspace;

use std::sync::Arc;

use longhaul_core::scrub::Scrubber;
use longhaul_events::StreamId;
use longhaul_store::views::Views;
use longhaul_store::{Log, SqliteLog};

use crate::clock::{Clock, Entropy};
use crate::reader::Reader;
use crate::recorder::{Contents, Recorder, Write};

/// The write side of the system.
pub struct Commands {
    recorder: Recorder,
    /// What only the real store can do: collect, redact, back up.
    store: Option<Arc<SqliteLog>>,
    clock: Arc<dyn Clock>,
    entropy: Entropy,
    recent: session::Recent,
    shelf: walking::Shelf,
    /// Kept open: to open them takes longer than to read them, and whoever drives asks several times for every turn.
    views: Option<Arc<Views>>,
    paid: paying::LastSeen,
}

impl std::fmt::Debug for Commands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Commands").finish_non_exhaustive()
    }
}

impl Commands {
    /// Over any log, for simulations; keeping house needs [`Self::over_store`].
    pub fn over(log: Arc<dyn Log>, scrubber: Scrubber, clock: Arc<dyn Clock>, entropy: Entropy) -> Self {
        Self {
            recorder: Recorder::new(log, scrubber),
            store: None,
            clock,
            entropy,
            recent: session::Recent::default(),
            shelf: walking::Shelf::default(),
            views: None,
            paid: paying::LastSeen::default(),
        }
    }

    pub fn over_store(
        store: Arc<SqliteLog>,
        scrubber: Scrubber,
        clock: Arc<dyn Clock>,
        entropy: Entropy,
    ) -> Self {
        let views = Some(Arc::new(Views::new(store.folder())));
        Self { store: Some(store.clone()), views, ..Self::over(store, scrubber, clock, entropy) }
    }

    /// The read side of the same store, without opening it again; `None` over a log that is no store.
    pub fn reader(&self) -> Option<Reader> {
        Some(Reader::with(self.store.clone()?, self.views.clone()?))
    }

    /// A write that happens now.
    fn write<'a>(&self, stream: StreamId, contents: &'a Contents) -> Write<'a> {
        Write { stream, at: self.clock.now(), contents }
    }
}
