//! What an agent without a memory of its own has to be told of its session.

use longhaul_core::transcript::{Foundation, Layers, Transcript};
use longhaul_events::{Content, Seq, SessionEvent, SessionId};
use serde_json::Value;

use super::Commands;
use super::acting::in_words;
use crate::error::Error;

/// A transcript, and how far it was read.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    pub(crate) transcript: Transcript,
    read: Seq,
    /// Values may have been taken out of what was read before this changed.
    epoch: u64,
}

impl Commands {
    /// Takes in what happened since the transcript was last brought up to date, so that a long session is read once.
    pub(crate) fn follow(&self, id: SessionId, followed: &mut Followed) -> Result<(), Error> {
        let epoch = self.recorder.log.state_epoch();
        if followed.epoch != epoch {
            // Whoever remembers what was told must not take it for the same.
            let edition = followed.transcript.edition();
            *followed = Followed { transcript: Transcript::after(edition), read: Seq(0), epoch };
        }
        self.each_decision(id, followed.read, |decision| {
            let events = decision.readable_events::<SessionEvent>()?;
            events.iter().for_each(|event| followed.transcript.apply(event));
            followed.read = decision.last_seq();
            Ok(None::<()>)
        })
        .map(|_| ())
    }

    /// A content, without keeping it: a conversation has too many of them.
    pub(crate) fn content(&self, content: &Content) -> Result<Value, Error> {
        self.value_of(content)
    }

    /// What every request of a session to a model begins with.
    pub(crate) fn layers(&self, id: SessionId) -> Result<Layers, Error> {
        let session = self.load_session(id)?;
        let workflow = self.workflow_of(&session)?;
        let goal = self.each_decision(id, Seq(0), |decision| {
            let events = decision.readable_events::<SessionEvent>()?;
            Ok(events.into_iter().find_map(|event| match event {
                SessionEvent::Opened { goal, .. } => Some(goal),
                _ => None,
            }))
        })?;
        let goal = goal.map(|goal| self.value_of(&goal)).transpose()?.unwrap_or_default();
        let foundation = Foundation { workflow: &workflow, goal: &in_words(&goal), rules: None, brief: None };
        Ok(Layers::of(&foundation))
    }
}
