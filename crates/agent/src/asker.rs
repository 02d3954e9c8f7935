//! Who asks for a turn: what it can tell of the session, what may still be used, how long it waits.

use std::cell::Ref;
use std::fmt;
use std::time::Duration;

use longhaul_core::transcript::{Transcript, Unread};
use longhaul_events::Content;
use serde_json::Value;

/// What an agent may ask of whoever asks it. Nothing is looked up before it does, so who has no need of it costs nothing.
pub trait Asker: fmt::Debug {
    /// All that was said and done in the session, as the log has it now.
    fn transcript(&self) -> Result<Ref<'_, Transcript>, Unread>;

    /// A content of it.
    fn read(&self, content: &Content) -> Result<Value, Unread>;

    /// What the session may still use.
    fn means(&self) -> Result<Means, Unread>;

    /// Whether the answer is still wanted.
    fn is_wanted(&self) -> bool;

    /// How long nothing may be heard of it.
    fn patience(&self) -> Duration;

    /// Something of the answer came.
    fn heard(&self);
}

/// What may still be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Means {
    pub tokens: u64,
    pub money_micros: u64,
}

impl Means {
    pub const PLENTY: Self = Self { tokens: u64::MAX, money_micros: u64::MAX };
}

/// Nobody waits for the answer, and nothing is known of any session: for scripts that are only gone through.
#[derive(Debug, Clone, Copy)]
pub struct Nobody;

impl Asker for Nobody {
    fn transcript(&self) -> Result<Ref<'_, Transcript>, Unread> {
        Err(nothing())
    }

    fn read(&self, _content: &Content) -> Result<Value, Unread> {
        Err(nothing())
    }

    fn means(&self) -> Result<Means, Unread> {
        Ok(Means::PLENTY)
    }

    fn is_wanted(&self) -> bool {
        true
    }

    fn patience(&self) -> Duration {
        Duration::ZERO
    }

    fn heard(&self) {}
}

fn nothing() -> Unread {
    Unread("nobody asks".to_owned())
}
