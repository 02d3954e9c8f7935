//! Limits of providers that are used up, and the sessions that wait until they are new again.
//!
//! Nothing runs for a session that waits: when it wants to go on is on record, and whoever looks then has it go on. All
//! that is known of a limit comes from the sessions that wait for it.

use std::collections::BTreeMap;
use std::time::Duration;

use longhaul_core::session::{At, Park, Session};
use longhaul_events::{SessionId, Timestamp, Waits};
use longhaul_store::views::SessionStatus;

use crate::commands::Commands;
use crate::error::Error;
use crate::reader::Reader;
use crate::system::System;

/// Over how long a time sessions that wait for the same come back, at most.
const WIDEST_SPREAD_MS: u64 = 2 * 60 * 1000;

/// A limit that is used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedUp {
    pub provider: String,
    pub until: Timestamp,
    /// How many sessions wait for it.
    pub sessions: u64,
}

/// When a session goes on that waits for a limit. Each has a moment of its own, which its id says, so that not all ask at
/// once; short waits are spread less.
pub(crate) fn waits_for(provider: &str, until: Timestamp, id: SessionId, now: Timestamp) -> Waits {
    let widest = (until.since_ms(now) / 10).clamp(1, WIDEST_SPREAD_MS);
    let drawn = id.to_string().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Waits { on: provider.to_owned(), until, wake_at: until.plus_ms(drawn % widest) }
}

/// What a parked session waits for, if it goes on by itself.
pub(crate) fn awaited(session: &Session) -> Option<&Waits> {
    match &session.at {
        At::Parked(Park { waits, .. }) if session.closed.is_none() => waits.as_ref(),
        At::Parked(_) | At::Nothing | At::Step(_) | At::Work(_) | At::Gate(_) => None,
    }
}

impl Reader {
    /// The limits that are used up at a moment, by provider.
    pub fn used_up(&self, now: Timestamp) -> Result<Vec<UsedUp>, Error> {
        let mut found: BTreeMap<String, UsedUp> = BTreeMap::new();
        for row in self.sessions()? {
            let Some(waits) = row.driven.waits.filter(|waits| waits.until > now) else { continue };
            let (provider, until) = (waits.on.clone(), waits.until);
            let limit = found.entry(waits.on).or_insert(UsedUp { provider, until, sessions: 0 });
            limit.until = limit.until.max(until);
            limit.sessions += 1;
        }
        Ok(found.into_values().collect())
    }

    /// The sessions that may go on by themselves at a moment.
    fn due(&self, now: Timestamp) -> Result<Vec<SessionId>, Error> {
        let rows = self.sessions()?.into_iter();
        let is_due = |waits: &Waits| waits.wake_at <= now;
        Ok(rows
            .filter(|row| row.status == SessionStatus::Open && row.driven.waits.as_ref().is_some_and(is_due))
            .map(|row| row.id)
            .collect())
    }
}

impl System {
    /// Has all sessions go on whose wait is over, each once however many look, and says which.
    pub fn wake_due(&self, commands: &Commands, now: Timestamp) -> Result<Vec<SessionId>, Error> {
        let Some(reader) = commands.reader() else { return Ok(Vec::new()) };
        let mut woken = Vec::new();
        for id in reader.due(now)? {
            // One that is damaged keeps no other from going on.
            match self.wake(commands, id, now) {
                Ok(true) => woken.push(id),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, session = %id, "could not go on with a session that is due");
                }
            }
        }
        Ok(woken)
    }

    /// Has a session go on if its wait is over by now.
    pub(crate) fn wake(&self, commands: &Commands, id: SessionId, now: Timestamp) -> Result<bool, Error> {
        let is_woken = commands.wake(id, now)?;
        if is_woken {
            self.start_runner(id)?;
        }
        Ok(is_woken)
    }

    /// What a parked session waits for, if it goes on by itself.
    pub fn awaited(&self, commands: &Commands, id: SessionId) -> Result<Option<Waits>, Error> {
        Ok(awaited(&commands.load_session(id)?).cloned())
    }
}

/// For how long somebody who follows a session need not look at it.
pub(crate) fn until_due(waits: &Waits, now: Timestamp) -> Duration {
    Duration::from_millis(waits.wake_at.since_ms(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_that_wait_for_the_same_come_back_one_after_another_and_always_at_their_own_time() {
        let (now, until) = (Timestamp(0), Timestamp(5 * 60 * 60 * 1000));
        let wake = |byte: u8| waits_for("p", until, SessionId::from_bytes([byte; 8]), now).wake_at;
        let mut moments: Vec<Timestamp> = (0..50).map(wake).collect();
        assert_eq!(moments, (0..50).map(wake).collect::<Vec<_>>());
        assert!(moments.iter().all(|at| *at >= until && at.since_ms(until) < WIDEST_SPREAD_MS));
        moments.sort_unstable();
        moments.dedup();
        assert!(moments.len() > 45, "{moments:?}");
        let soon = waits_for("p", Timestamp(1000), SessionId::from_bytes([7; 8]), now);
        assert!(soon.wake_at.since_ms(soon.until) < 100, "{soon:?}");
    }
}
