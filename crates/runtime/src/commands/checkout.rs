//! What is put on record about the files of a session.

use longhaul_core::session::{Command, KeptSnapshot, Session};
use longhaul_events::{OwnCheckout, Seq, SessionEvent, SessionId};

use super::Commands;
use crate::error::Error;
use crate::recorder::{Contents, Decided};

impl Commands {
    pub(crate) fn record_checkout(&self, id: SessionId, checkout: &OwnCheckout) -> Result<(), Error> {
        self.put_on_record(id, &|| Command::MakeCheckout { checkout: checkout.clone() })
    }

    pub(crate) fn record_snapshot(&self, id: SessionId, kept: &KeptSnapshot) -> Result<(), Error> {
        self.put_on_record(id, &|| Command::KeepSnapshot { kept: kept.clone() })
    }

    pub(crate) fn record_removal(&self, id: SessionId, by: &str, because: &str) -> Result<(), Error> {
        let (by, because) = (by.to_owned(), because.to_owned());
        self.put_on_record(id, &|| Command::RemoveCheckout { by: by.clone(), because: because.clone() })
    }

    /// What the session is for, in the words of whoever opened it.
    pub(crate) fn goal_of(&self, id: SessionId) -> Result<String, Error> {
        let found =
            self.each_decision(id, Seq(0), |decision| {
                let events = decision.readable_events::<SessionEvent>()?;
                let opened = events.into_iter().next();
                Ok(opened.and_then(|event| {
                    if let SessionEvent::Opened { goal, .. } = event { Some(goal) } else { None }
                }))
            })?;
        let Some(goal) = found else { return Err(Error::UnknownSession(id)) };
        let goal = self.value_of(&goal)?;
        Ok(goal.as_str().map_or_else(String::new, str::to_owned))
    }

    fn put_on_record(&self, id: SessionId, command: &dyn Fn() -> Command) -> Result<(), Error> {
        self.decide(id, &Contents::default(), |session: &Session| {
            let events = session.decide(command())?;
            // What is known already is no decision.
            Ok(if events.is_empty() { Decided::Nothing(()) } else { Decided::Events(events, ()) })
        })
    }
}
