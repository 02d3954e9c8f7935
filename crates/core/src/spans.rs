//! What a session did, as spans of a trace, in the names that OpenTelemetry has for generative AI.
//!
//! Spans are made from the log and from nothing else, so no process has to survive for them, and making them again gives
//! the same ids. A task is a trace; a session is a span of it, and what its agent, its tools and its models did are below.
//!
//! What people, agents and tools said is left out unless a person asked for it ([`Telling::WithContent`]).

mod histogram;
pub mod otlp;
mod stretch;
#[cfg(test)]
mod tests;
mod tracer;

use longhaul_events::{Seq, SessionEvent, SessionId, TaskId, Timestamp};
use sha2::{Digest as _, Sha256};

pub use histogram::{Histogram, Meters, Series};
pub use tracer::Tracer;

pub const OPERATION: &str = "gen_ai.operation.name";
pub const PROVIDER: &str = "gen_ai.provider.name";
pub const MODEL: &str = "gen_ai.request.model";
pub const CONVERSATION: &str = "gen_ai.conversation.id";
pub const WORKFLOW: &str = "gen_ai.workflow.name";
pub const AGENT: &str = "gen_ai.agent.name";
pub const TOOL: &str = "gen_ai.tool.name";
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub const CACHE_READ: &str = "gen_ai.usage.cache_read.input_tokens";
pub const CACHE_WRITE: &str = "gen_ai.usage.cache_creation.input_tokens";
pub const ERROR: &str = "error.type";
pub(crate) const INPUT: &str = "gen_ai.input.messages";
pub(crate) const OUTPUT: &str = "gen_ai.output.messages";
pub(crate) const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(crate) const RESULT: &str = "gen_ai.tool.call.result";
/// What has no name there.
pub(crate) const TASK: &str = "longhaul.task";
pub(crate) const WORKSPACE: &str = "longhaul.workspace";
pub(crate) const VERSION: &str = "longhaul.workflow.version";
pub(crate) const STEP: &str = "longhaul.step";
pub(crate) const OUTCOME: &str = "longhaul.outcome";
pub(crate) const EXIT: &str = "longhaul.exit_code";
pub(crate) const COST: &str = "longhaul.cost_micros";
pub(crate) const GOAL: &str = "longhaul.goal";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TraceId(pub [u8; 16]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpanId(pub [u8; 8]);

/// Something that took a while.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub trace: TraceId,
    pub id: SpanId,
    pub parent: Option<SpanId>,
    pub name: String,
    pub kind: SpanKind,
    pub start: Timestamp,
    pub end: Timestamp,
    pub attributes: Vec<(&'static str, Attribute)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Inside of us.
    Internal,
    /// A request to somebody else.
    Client,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    Text(String),
    Number(i64),
}

/// Whether what was said is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Telling {
    #[default]
    WithoutContent,
    WithContent,
}

/// One event of a session, with its number and its time.
#[derive(Debug, Clone, Copy)]
pub struct Noted<'a> {
    pub seq: Seq,
    pub at: Timestamp,
    pub event: &'a SessionEvent,
}

/// All spans of a session that are over.
pub fn spans<'a>(
    session: SessionId,
    events: impl IntoIterator<Item = Noted<'a>>,
    telling: Telling,
) -> Vec<Span> {
    let mut tracer = Tracer::new(session, telling);
    events.into_iter().flat_map(|noted| tracer.take(noted)).collect()
}

impl Span {
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.attribute(name)? {
            Attribute::Text(text) => Some(text),
            Attribute::Number(_) => None,
        }
    }

    pub fn number(&self, name: &str) -> Option<i64> {
        match self.attribute(name)? {
            Attribute::Text(_) => None,
            Attribute::Number(number) => Some(*number),
        }
    }

    /// Everything in it that somebody else may have chosen the words of.
    pub fn words(&mut self) -> impl Iterator<Item = &mut String> {
        let texts = self.attributes.iter_mut().filter_map(|(_, value)| match value {
            Attribute::Text(text) => Some(text),
            Attribute::Number(_) => None,
        });
        std::iter::once(&mut self.name).chain(texts)
    }

    /// With one more attribute.
    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Attribute>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    /// The same where there is something to tell.
    #[must_use]
    pub(crate) fn with_some(self, name: &'static str, value: Option<impl Into<Attribute>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Attribute {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

/// The trace of a task.
pub fn trace_of(task: TaskId) -> TraceId {
    TraceId(hashed(&[b"task", task.as_bytes()]))
}

/// Sessions from before there were tasks have one each; what is directly below one is in the same.
pub(crate) fn trace_without_task(session: SessionId) -> TraceId {
    TraceId(hashed(&[b"session", session.as_bytes()]))
}

/// The span of what began with an event of a session. The first event is the session itself.
pub fn span_of(session: SessionId, began: Seq) -> SpanId {
    SpanId(hashed(&[b"span", session.as_bytes(), &began.0.to_be_bytes()]))
}

fn hashed<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut hasher = Sha256::new();
    hasher.update(b"longhaul");
    for part in parts {
        hasher.update([0]);
        hasher.update(part);
    }
    let full: [u8; 32] = hasher.finalize().into();
    // No id is all zeros, which would mean that there is none.
    std::array::from_fn(|n| if n == 0 { full[n] | 1 } else { full[n] })
}
