//! One seeded world: a clock that is set by hand, and commands over a log.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use longhaul_core::scrub::Scrubber;
use longhaul_events::Timestamp;
use longhaul_runtime::{Clock, Commands, Entropy};
use longhaul_store::{Access, Log, MemoryLog, Options, SqliteLog, StoreError};

/// A clock that stands still until it is moved, forwards or backwards.
#[derive(Debug, Default)]
pub struct SimulatedClock(AtomicI64);

impl SimulatedClock {
    pub fn advance_ms(&self, by_ms: i64) {
        self.0.fetch_add(by_ms, Ordering::Relaxed);
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

/// Commands over a log, with everything that happens decided by one seed.
#[derive(Debug)]
pub struct World {
    pub commands: Commands,
    pub clock: Arc<SimulatedClock>,
}

impl World {
    pub fn in_memory(seed: u64) -> (Self, Arc<MemoryLog>) {
        let log = Arc::new(MemoryLog::default());
        (Self::over(log.clone(), seed), log)
    }

    pub fn over(log: Arc<dyn Log>, seed: u64) -> Self {
        let clock = Arc::new(SimulatedClock::default());
        let commands = Commands::over(log, Scrubber::new(&[]), clock.clone(), Entropy::seeded(seed));
        Self { commands, clock }
    }
}

/// A store in a folder, made if need be.
pub fn open_store(folder: &Path) -> Result<SqliteLog, StoreError> {
    SqliteLog::open(&Options { folder: folder.to_owned(), poke: None, access: Access::Write })
}
