//! What an agent learns from us while it is asked: the session so far, what is left, whether anybody still waits.

use std::cell::{OnceCell, Ref, RefCell};
use std::time::{Duration, Instant};

use longhaul_agent::{Asker, Compaction, Means};
use longhaul_core::transcript::{Transcript, Unread};
use longhaul_events::{AgentAct, Content};
use serde_json::Value;

use super::agent::Hands;
use crate::commands::past::Followed;
use crate::error::Error;

/// The session as agents without a memory of their own are told it. Nothing is read before one of them asks.
#[derive(Debug, Default)]
pub(super) struct Past(RefCell<Followed>);

/// One turn being asked for.
#[derive(Debug)]
pub(super) struct Asking<'a> {
    past: &'a Past,
    hands: &'a Hands<'a>,
    /// When the session has no time left.
    deadline: OnceCell<Option<Instant>>,
    /// Why something could not be read. An agent cannot do anything about it; whoever drives it can.
    trouble: RefCell<Option<Error>>,
}

impl<'a> Asking<'a> {
    pub(super) const fn new(past: &'a Past, hands: &'a Hands<'a>) -> Self {
        Self { past, hands, deadline: OnceCell::new(), trouble: RefCell::new(None) }
    }

    /// Why the agent could not be told what it has to know.
    pub(super) fn take_trouble(&self) -> Option<Error> {
        self.trouble.borrow_mut().take()
    }

    fn unread(&self, error: Error) -> Unread {
        let unread = Unread(error.to_string());
        *self.trouble.borrow_mut() = Some(error);
        unread
    }
}

impl Asker for Asking<'_> {
    fn transcript(&self) -> Result<Ref<'_, Transcript>, Unread> {
        // Whoever looks at it already looks at what there is.
        if let Ok(mut followed) = self.past.0.try_borrow_mut() {
            let Hands { commands, id, .. } = *self.hands;
            commands.follow(id, &mut followed).map_err(|error| self.unread(error))?;
        }
        Ok(Ref::map(self.past.0.borrow(), |followed| &followed.transcript))
    }

    fn read(&self, content: &Content) -> Result<Value, Unread> {
        self.hands.commands.content(content).map_err(|error| self.unread(error))
    }

    fn means(&self) -> Result<Means, Unread> {
        self.hands.limits.left().map_err(|error| self.unread(error))
    }

    fn is_wanted(&self) -> bool {
        !self.hands.stop.is_stopped()
    }

    fn patience(&self) -> Duration {
        let until = self.deadline.get_or_init(|| Instant::now().checked_add(self.hands.limits.time_left()));
        let left = until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
        left.min(self.hands.system.patience().turn)
    }

    fn heard(&self) {}
}

/// What is put on record before less is told.
pub(super) fn compacted(turn: u32, compaction: Compaction) -> AgentAct {
    let Compaction { plan, digest } = compaction;
    AgentAct::Compacted {
        turn,
        results_until: plan.results_until,
        turns_until: plan.turns_until,
        longest_result: plan.longest_result,
        digest: digest.map(|digest| Content::Inline(Value::String(digest))),
    }
}
