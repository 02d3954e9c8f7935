//! What model calls cost, told to whoever keeps the budget. Nothing here knows a price or a cap.

use std::fmt;

/// Keeps the budget of a session. Called while a request waits, so it must not take long.
pub trait Meter: fmt::Debug + Send + Sync {
    /// Whether a request may be made that costs up to this much.
    fn admit(&self, estimate: &Estimate) -> Result<(), Refused>;

    /// What a request has used so far; later counts of the same request take the place of earlier ones.
    fn count(&self, usage: &Usage) -> Verdict;

    /// The provider asks to be left alone for a while, or says that a limit is reached.
    fn limited(&self, limited: &Limited);
}

/// What a request will cost at most, as far as it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// Tells the requests of one gateway apart.
    pub request: u64,
    pub provider: String,
    pub model: Option<String>,
    /// The length of the whole request; about four of them are a token.
    pub input_bytes: u64,
    /// What the request allows for its answer.
    pub max_output_tokens: Option<u64>,
}

/// What one request has used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    pub request: u64,
    pub provider: String,
    pub model: Option<String>,
    /// All input, what came from a cache among it.
    pub input_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    pub output_tokens: u64,
    pub source: UsageSource,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageSource {
    /// The provider's own figures.
    Reported,
    /// Ours, from the length of what came so far; what may have been used at most, where nothing came.
    Estimated,
}

/// What is to become of an answer that is on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    GoOn,
    /// No more of it is handed on.
    Cut(Refused),
}

/// Which cap says no, in words for an agent and for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub cap: String,
    pub words: String,
}

/// What a provider said that has no room for us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limited {
    pub provider: String,
    pub status: u16,
    /// As it was sent: seconds, or a date.
    pub retry_after: Option<String>,
    /// The provider's word for it, and what else it said.
    pub kind: Option<String>,
    pub message: Option<String>,
}

/// Lets everything through and keeps nothing, for sessions that reach no provider.
#[derive(Debug, Clone, Copy)]
pub struct Unmetered;

impl Meter for Unmetered {
    fn admit(&self, _: &Estimate) -> Result<(), Refused> {
        Ok(())
    }

    fn count(&self, _: &Usage) -> Verdict {
        Verdict::GoOn
    }

    fn limited(&self, _: &Limited) {}
}
