//! Triggers: what has a task begun while nobody is at the keyboard.
//!
//! A file says what to wait for (a signed request, a time, or only a person) and what to do then. Everything that
//! arrives is judged by [`judge`]: wanted, not wanted because of something, or refused for a reason. Nothing here talks to
//! anybody, counts, or remembers; whether a delivery came before is for the log to say, by its [`Key`].
//!
//! What a request says was written by somebody outside. It becomes text of a goal and nothing else: which pipeline runs,
//! with whose agent and for how much, stands in the file alone.

mod delivery;
mod file;
mod judge;
mod offered;
mod path;
mod reading;
mod secret;
mod signature;
#[cfg(test)]
mod tests;
mod text;
mod when;

use std::ops::Range;

use longhaul_events::{Caps, Priority};

use crate::schedule::Schedule;

pub use delivery::{Delivery, Key, LONGEST_DELIVERY_ID, MOST_BODY_BYTES};
pub use file::{Read, read};
pub use judge::{
    Evidence, Judged, Line, Outcome, Problem, Shown, Wanted, authenticate, examine, judge, payload_of,
};
pub use offered::{OFFERED, Offer};
pub use path::{BadPath, JsonPath};
pub use reading::Owner;
pub use secret::{SecretName, hide_literals};
pub use signature::Scheme;
pub use text::{BadText, TextTemplate};
pub use when::{Test, When};

/// How often a task is tried unless its trigger says otherwise.
pub const MAX_ATTEMPTS: u32 = 3;
/// A trigger that takes whatever comes may take no more a day.
pub const MOST_PER_DAY: u64 = 10_000;

/// One trigger as its file has it, with what it extends put in.
#[derive(Debug, Clone, PartialEq)]
pub struct Trigger {
    pub id: String,
    /// Where its entry begins and ends in the file, in bytes.
    pub span: Range<usize>,
    pub switch: Switch,
    /// What it waits for.
    pub start: Start,
    /// The workspace that it works in, where its file is not that workspace's own.
    pub workspace: Option<String>,
    pub when: Option<When>,
    /// How many tasks a day it may begin that no condition chose; only where there is no condition.
    pub catch_all: Option<u64>,
    /// What is wanted. A trigger of a later release may have none.
    pub goal: Option<TextTemplate>,
    /// The one thing that the task is for; without it, the trigger itself.
    pub source: Option<TextTemplate>,
    pub work: Work,
}

/// Whether it does anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Switch {
    #[default]
    On,
    Off,
}

/// What a trigger waits for.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    Webhook(Webhook),
    Schedule(Schedule),
    /// Known, and not served by this release.
    Github,
    /// Only a person, with `longhaul trigger fire`.
    Hand,
}

impl Start {
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Webhook(_) => "webhook",
            Self::Schedule(_) => "schedule",
            Self::Github => "github",
            Self::Hand => "hand",
        }
    }
}

/// Requests that somebody signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    pub secret: SecretName,
    /// What carries the signature.
    pub header: String,
    pub same_body: SameBody,
}

impl Webhook {
    /// How requests are signed, which the header says.
    pub fn scheme(&self) -> Scheme {
        Scheme::of(&self.header)
    }
}

/// What to make of a request with the same signed bytes as an earlier one.
///
/// A header with an id for the delivery, such as `X-GitHub-Delivery`, is not part of what is signed. Whoever once saw a
/// signed request could send it again under a new id, so by default equal bytes are the same delivery for good: only what
/// the signature covers can tell two deliveries apart. A sender whose bodies repeat, such as `{"status": "failed"}`,
/// needs `new`, and then whoever can see its requests can have its tasks done again. Standard Webhooks sign the id, so
/// there the id counts and nobody has to choose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SameBody {
    #[default]
    Duplicate,
    New,
}

/// How a task is done that a trigger begins. None of it ever comes from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// The pipeline or workflow that leads there; without one that of the settings.
    pub pipeline: Option<String>,
    pub agent: Option<String>,
    pub priority: Priority,
    /// After it arrived.
    pub deadline_ms: Option<u64>,
    pub budget: Budget,
    pub max_attempts: u32,
    pub labels: Vec<String>,
}

/// What a task may use; what is not said is as in the settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// For all of the task.
    pub money_micros: Option<u64>,
    /// For each of its sessions.
    pub tokens: Option<u64>,
    pub time_ms: Option<u64>,
    pub turns: Option<u64>,
}

impl Budget {
    /// The caps of the settings with these in their place.
    pub fn over(self, caps: Caps) -> Caps {
        Caps {
            tokens: self.tokens.unwrap_or(caps.tokens),
            time_ms: self.time_ms.unwrap_or(caps.time_ms),
            turns: self.turns.unwrap_or(caps.turns),
            // A session costs no more than its task may.
            money_micros: self.money_micros.map_or(caps.money_micros, |money| money.min(caps.money_micros)),
            task_money_micros: self.money_micros.unwrap_or(caps.task_money_micros),
            day_money_micros: caps.day_money_micros,
        }
    }
}

/// Whether a text can be the id of a trigger: `[a-z0-9-]{1,64}`.
pub fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}
