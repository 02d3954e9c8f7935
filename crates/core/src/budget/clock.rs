//! How long a session was driven, folded from its events and when they were written.

use longhaul_events::{Content, Epoch, SessionEvent, Timestamp};
use serde::{Deserialize, Serialize};

/// Runs while somebody holds the lease. Of a driver that died, what counts is the time until its session was last written
/// to under its lease: whoever writes later is somebody else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallClock {
    /// By those who let go.
    before_ms: u64,
    running: Option<Stretch>,
    /// Others below it are at work, each with a clock of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    leads: bool,
    /// How long others below it were at work.
    #[serde(default)]
    led_ms: u64,
}

/// Somebody at the wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stretch {
    epoch: Epoch,
    /// What counts of it so far.
    ms: u64,
    /// When the session was last written to.
    last: Timestamp,
    /// The end of the lease.
    until: Timestamp,
}

impl Stretch {
    /// What lies beyond the end of the lease does not count, even if its holder turns out to be alive: it was asleep.
    fn go_on(&mut self, at: Timestamp) {
        self.ms = self.ms.saturating_add(self.pass(at));
    }

    /// What counts of the time since it was last written to.
    fn pass(&mut self, at: Timestamp) -> u64 {
        let counts = at <= self.until;
        let gap_ms = at.since_ms(self.last);
        self.last = at.max(self.last);
        if counts { gap_ms } else { 0 }
    }
}

impl WallClock {
    /// Takes in one more fact and when it was written. Total: what is in the log has happened.
    pub fn apply(&mut self, at: Timestamp, event: &SessionEvent) {
        // That a driver is gone is said by somebody else, and perhaps much later.
        if let Some(stretch) = &mut self.running
            && !matches!(event, SessionEvent::DriverTaken { .. } | SessionEvent::DriverExpired { .. })
        {
            if self.leads {
                self.led_ms = self.led_ms.saturating_add(stretch.pass(at));
            } else {
                stretch.go_on(at);
            }
            if let SessionEvent::DriverRenewed { expires_at, .. } = event {
                stretch.until = *expires_at;
            }
        }
        if let SessionEvent::WorkStarted { what: Content::Inline(what), .. } = event {
            self.leads = what.get("children").is_some();
        }
        if matches!(event, SessionEvent::WorkFinished { .. } | SessionEvent::Rewound { .. }) {
            self.leads = false;
        }
        if matches!(
            event,
            SessionEvent::DriverReleased { .. }
                | SessionEvent::DriverExpired { .. }
                | SessionEvent::Closed { .. }
        ) {
            self.stop();
        }
        if let SessionEvent::DriverTaken { epoch, expires_at, .. } = event {
            self.stop();
            self.running = Some(Stretch { epoch: *epoch, ms: 0, last: at, until: *expires_at });
        }
    }

    fn stop(&mut self) {
        self.before_ms = self.ms();
        self.running = None;
    }

    /// All of it, as far as it is on record.
    pub fn ms(&self) -> u64 {
        self.before_ms.saturating_add(self.running.map_or(0, |stretch| stretch.ms))
    }

    /// How long it waited under its lease for others below it, beside that.
    pub const fn led_ms(&self) -> u64 {
        self.led_ms
    }

    /// What was before a driver took over.
    pub fn ms_before(&self, epoch: Epoch) -> u64 {
        match self.running {
            Some(stretch) if stretch.epoch == epoch => self.before_ms,
            Some(_) | None => self.ms(),
        }
    }
}

#[cfg(test)]
mod tests {
    use longhaul_events::{Driver, NodeId, Seq};
    use serde_json::json;

    use super::*;

    #[test]
    fn while_others_below_are_at_work_only_their_own_clocks_run() {
        let (epoch, work) = (Epoch(1), NodeId(Seq(5)));
        let driver = Driver { host: "here".to_owned(), process: 1, started: None };
        let started = |what| SessionEvent::WorkStarted { work, epoch, what: Content::Inline(what) };
        let finished = || SessionEvent::WorkFinished { work, epoch, result: Content::Inline(json!({})) };
        let told = |what| {
            let mut clock = WallClock::default();
            let expires_at = Timestamp(1_000_000);
            clock.apply(
                Timestamp(0),
                &SessionEvent::DriverTaken { epoch, driver: driver.clone(), expires_at },
            );
            clock.apply(Timestamp(10), &started(what));
            clock.apply(Timestamp(500), &finished());
            clock.apply(Timestamp(520), &SessionEvent::DriverReleased { epoch });
            (clock.ms(), clock.led_ms())
        };
        assert_eq!(told(json!({ "children": [] })), (30, 490));
        assert_eq!(told(json!({ "command": ["make"] })), (520, 0));
    }
}
