//! Going on with what waited for something that comes by itself.

use longhaul_core::session::{Command, Rejection};
use longhaul_events::{Nonce, SessionId, Timestamp};

use super::Commands;
use crate::calendar::awaited;
use crate::error::Error;
use crate::recorder::{Contents, Decided};

impl Commands {
    /// Takes up what was parked, if its wait is over. The node of the park makes that happen once.
    pub(crate) fn wake(&self, id: SessionId, now: Timestamp) -> Result<bool, Error> {
        let woken = self.decide(id, &Contents::default(), |session| {
            let Some(node) = session.node().filter(|_| awaited(session).is_some()) else {
                return Ok(Decided::Nothing(false));
            };
            let nonce = Nonce::from_bytes(self.entropy.bytes());
            match session.decide(Command::Wake { node, nonce, now }) {
                Ok(events) => Ok(Decided::Events(events, true)),
                Err(Rejection::NotDue | Rejection::Stopping { .. }) => Ok(Decided::Nothing(false)),
                Err(rejection) => Err(rejection.into()),
            }
        });
        match woken {
            Err(Error::Session(Rejection::Closed)) => Ok(false),
            woken => woken,
        }
    }
}
