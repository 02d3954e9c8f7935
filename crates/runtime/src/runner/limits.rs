//! Whether a session may use more: asked before each turn, and before what a turn wants done.

use std::time::Duration;

use longhaul_agent::{Fault, Foresight, Means};
use longhaul_core::budget::{self, Exceeded, Price, Used};
use longhaul_core::conversation::Conversation;
use longhaul_core::session::Session;
use longhaul_events::{AgentAct, Caps, Content, Reason, SessionId, Timestamp, TokenCount};
use longhaul_gateway::Limited;

use super::switch::StopSwitch;
use super::watch::Stopwatch;
use crate::commands::Commands;
use crate::error::Error;
use crate::metering::Free;

/// One part of this many.
const KEPT_BACK: u64 = 20;

/// What a session is held to while this driver has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits<'a> {
    pub(super) commands: &'a Commands,
    pub(super) id: SessionId,
    pub(super) price: Price,
    pub(super) stopwatch: Stopwatch,
    pub(super) stop: &'a StopSwitch,
}

impl Limits<'_> {
    /// Why the next turn is not asked for.
    pub(super) fn before_turn(&self, turn: TokenCount) -> Result<Option<Reason>, Error> {
        self.judge(&[], |caps, used| budget::before_turn(caps, used, turn, self.price))
    }

    /// Why nothing of what a turn wants is done. What is not on record yet counts too.
    pub(super) fn before_calls(&self, acts: &[AgentAct]) -> Result<Option<Reason>, Error> {
        self.judge(acts, budget::after_turn)
    }

    /// How long the session may still be at work. Whoever cannot find out does not wait for less.
    pub(super) fn time_left(&self) -> Duration {
        let caps = self.commands.load_session(self.id).ok().and_then(|session| session.caps);
        caps.map_or(Duration::MAX, |caps| {
            Duration::from_millis(caps.time_ms.saturating_sub(self.stopwatch.ms()))
        })
    }

    /// What an answer may use. A little is kept back: who asks and who counts do not foresee quite the same.
    pub(super) fn means(&self) -> Result<Means, Error> {
        let session = self.commands.load_session(self.id)?;
        let Some(Free { tokens, money_micros }) = self.commands.free(&session, self.price)? else {
            return Ok(Means::PLENTY);
        };
        let kept_back = |amount: u64| amount - amount / KEPT_BACK;
        Ok(Means { tokens: kept_back(tokens), money_micros: kept_back(money_micros) })
    }

    fn judge(
        &self,
        acts: &[AgentAct],
        within: impl Fn(&Caps, &Used) -> Result<(), Exceeded>,
    ) -> Result<Option<Reason>, Error> {
        let mut session = self.commands.load_session(self.id)?;
        acts.iter().for_each(|act| session.spent.add(act));
        // Whoever wants it stopped wants nothing more begun, and does not wait for us to look by ourselves.
        if session.stop.is_some() {
            self.stop.wind_down();
        }
        let Some(caps) = session.caps else { return Ok(None) };
        let used = self.commands.used(&session, self.stopwatch.ms(), self.price)?;
        Ok(within(&caps, &used).err().map(|exceeded| exceeded.reason(self.id)))
    }
}

/// A wait that is longer is no pause between two requests any more.
const LONG_WAIT_S: u64 = 15 * 60;

/// What a provider said to an agent that asks by itself. `None` if that may pass within its turn.
pub(super) fn fault(limited: &Limited, now: Timestamp) -> Option<Fault> {
    let message = limited.message.clone().unwrap_or_default();
    let seconds = limited.retry_after.as_deref().and_then(|text| text.trim().parse::<u64>().ok());
    let kind = limited.kind.as_deref().unwrap_or_default();
    let words = message.to_ascii_lowercase();
    let is_used_up = ["usage_limit", "insufficient_quota", "billing"].iter().any(|word| kind.contains(word))
        || words.contains("usage limit")
        || words.contains("quota");
    if is_used_up || seconds.is_some_and(|seconds| seconds > LONG_WAIT_S) {
        let resets_at = seconds.map(|seconds| now.plus_ms(seconds.saturating_mul(1000)));
        return Some(Fault::UsageLimit { message, resets_at });
    }
    None
}

/// What the next turn may use at most.
pub(super) fn estimate(foresight: Foresight, conversation: &Conversation, prompt: &Content) -> TokenCount {
    match foresight {
        Foresight::Exactly(usage) => TokenCount { input: usage.input, output: usage.output },
        Foresight::AtMost { output } => TokenCount { input: conversation.expected_input(prompt), output },
    }
}

impl Commands {
    /// What a session has used of all that is capped. Nobody is asked what others paid if this one pays nothing.
    pub(crate) fn used(&self, session: &Session, time_ms: u64, price: Price) -> Result<Used, Error> {
        let spent = session.spent;
        let mut used = Used {
            tokens: spent.tokens.input.saturating_add(spent.tokens.output),
            time_ms,
            turns: spent.turns,
            money_micros: spent.money_micros,
            task_money_micros: spent.money_micros,
            day_money_micros: spent.money_micros,
        };
        if !price.is_free()
            && let Some(paid) = self.paid_beside(session.id)?
        {
            used.task_money_micros = paid.task_micros;
            used.day_money_micros = paid.day_micros;
        }
        Ok(used)
    }
}
