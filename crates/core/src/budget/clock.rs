//! How long a session was driven, folded from its events and when they were written.

use longhaul_events::{Epoch, SessionEvent, Timestamp};
use serde::{Deserialize, Serialize};

/// Runs while somebody holds the lease. Of a driver that died, what counts is the time until it last wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallClock {
    /// By those who let go.
    before_ms: u64,
    /// Who drives, since when, and when it last wrote.
    running: Option<Stretch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stretch {
    epoch: Epoch,
    since: Timestamp,
    last: Timestamp,
}

impl Stretch {
    fn ms(self) -> u64 {
        u64::try_from(self.last.0.saturating_sub(self.since.0)).unwrap_or_default()
    }
}

impl WallClock {
    /// Takes in one more fact and when it was written. Total: what is in the log has happened.
    pub fn apply(&mut self, at: Timestamp, event: &SessionEvent) {
        // That a driver is gone is said by somebody else, and perhaps much later.
        if !matches!(event, SessionEvent::DriverTaken { .. } | SessionEvent::DriverExpired { .. }) {
            self.go_on(at);
        }
        if matches!(event, SessionEvent::DriverReleased { .. } | SessionEvent::DriverExpired { .. }) {
            self.stop();
        }
        if let SessionEvent::DriverTaken { epoch, .. } = event {
            self.stop();
            self.running = Some(Stretch { epoch: *epoch, since: at, last: at });
        }
    }

    fn go_on(&mut self, at: Timestamp) {
        if let Some(stretch) = &mut self.running {
            stretch.last = at.max(stretch.last);
        }
    }

    fn stop(&mut self) {
        self.before_ms = self.ms();
        self.running = None;
    }

    /// All of it, as far as it is on record.
    pub fn ms(&self) -> u64 {
        self.before_ms.saturating_add(self.running.map(Stretch::ms).unwrap_or_default())
    }

    /// What was before a driver took over.
    pub fn ms_before(&self, epoch: Epoch) -> u64 {
        match self.running {
            Some(stretch) if stretch.epoch == epoch => self.before_ms,
            Some(_) | None => self.ms(),
        }
    }
}
