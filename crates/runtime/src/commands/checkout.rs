//! What is put on record about the files of a session.

use longhaul_core::session::{Command, KeptAs, KeptSnapshot, Session};
use longhaul_events::{AgentAct, NodeId, OwnCheckout, Seq, SessionEvent, SessionId};

use super::Commands;
use crate::error::Error;
use crate::recorder::{Contents, Decided};

/// A call of an agent, by where it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BegunCall {
    pub(crate) node: NodeId,
    pub(crate) turn: u32,
    pub(crate) call: u32,
}

impl Commands {
    pub(crate) fn record_checkout(&self, id: SessionId, checkout: &OwnCheckout) -> Result<(), Error> {
        self.put_on_record(id, &|| Command::MakeCheckout { checkout: checkout.clone() })
    }

    pub(crate) fn record_snapshot(&self, id: SessionId, kept: &KeptSnapshot) -> Result<(), Error> {
        self.record_kept(id, kept, KeptAs::Between)
    }

    pub(crate) fn record_kept(
        &self,
        id: SessionId,
        kept: &KeptSnapshot,
        as_what: KeptAs,
    ) -> Result<(), Error> {
        self.put_on_record(id, &|| Command::KeepSnapshot { kept: kept.clone(), as_what })
    }

    /// The snapshot with which a session began where it once stood, if that is on record.
    pub(crate) fn beginning_of(&self, id: SessionId, node: NodeId) -> Result<Option<String>, Error> {
        let mut found = None;
        self.each_decision(id, Seq(node.0.0.saturating_sub(1)), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                if let SessionEvent::Snapshotted { snapshot, begins: Some(begun), .. } = event
                    && begun == node
                {
                    found = Some(snapshot);
                }
            }
            Ok(None::<()>)
        })?;
        Ok(found)
    }

    /// The files that were kept last before a call was begun, as a tree.
    pub(crate) fn tree_before(&self, id: SessionId, begun: &BegunCall) -> Result<Option<String>, Error> {
        let mut last = None;
        self.each_decision(id, Seq(0), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                if let SessionEvent::Agent { node: Some(node), act: AgentAct::CallStarted { turn, call } } =
                    event
                    && (BegunCall { node, turn, call }) == *begun
                {
                    return Ok(Some(()));
                }
                if let SessionEvent::Snapshotted { tree, .. } = event {
                    last = Some(tree);
                }
            }
            Ok(None)
        })?;
        Ok(last)
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
