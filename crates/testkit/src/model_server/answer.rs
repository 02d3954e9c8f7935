//! What a model answers, and what goes wrong.

use std::time::Duration;

use serde_json::Value;

/// What the model does when it is asked once.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub(super) thought: Option<String>,
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
    pub(super) stop: Option<Stop>,
    pub(super) fault: Option<Fault>,
    pub(super) pause: Option<Duration>,
    pub(super) heeds_limit: bool,
    pub(super) is_whole: bool,
}

/// A call, with its arguments as they are written: mostly JSON.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: String,
}

/// Why it stops, where that does not follow from what it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Length,
    Refusal,
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// 429, with what the head says of when to come back.
    RateLimit {
        retry_after: Option<String>,
    },
    /// 529, or 503 where nobody knows that number, with what the head says of when to come back.
    Overloaded {
        retry_after: Option<String>,
    },
    /// What was paid for is used up, until then if that is known.
    UsageLimit {
        resets_at_s: Option<i64>,
    },
    Auth,
    ContextOverflow,
    BadRequest(String),
    /// Any other status, with a page that is no JSON.
    Status(u16),
    /// The request is taken and nothing is said.
    Hang,
    /// So many pieces are said, and then nothing more.
    HangAfter(usize),
    /// The connection is gone after so many pieces.
    CutAfter(usize),
    /// An error of this kind takes the place of the rest.
    ErrorAfter(usize),
    /// What begins as an answer is none.
    Garbage,
    /// It says something again and again and never ends.
    Endless,
    /// It shows that it is there again and again, and says nothing.
    OnlyPings,
}

impl Fault {
    pub(super) const fn comes_before_the_answer(&self) -> bool {
        match self {
            Self::RateLimit { .. }
            | Self::Overloaded { .. }
            | Self::UsageLimit { .. }
            | Self::Auth
            | Self::ContextOverflow
            | Self::BadRequest(_)
            | Self::Status(_)
            | Self::Hang => true,
            Self::HangAfter(_)
            | Self::CutAfter(_)
            | Self::ErrorAfter(_)
            | Self::Garbage
            | Self::Endless
            | Self::OnlyPings => false,
        }
    }
}

impl Answer {
    pub fn say(text: impl Into<String>) -> Self {
        Self { text: text.into(), heeds_limit: true, ..Self::default() }
    }

    pub fn call(tool: impl Into<String>, arguments: &Value) -> Self {
        Self::say("").and_call(tool, arguments)
    }

    pub fn fail(fault: Fault) -> Self {
        Self::say("What nobody will hear to its end, because something goes wrong.").failing(fault)
    }

    /// One more call in the same answer.
    pub fn and_call(self, tool: impl Into<String>, arguments: &Value) -> Self {
        self.and_written_call(tool, arguments.to_string())
    }

    /// A call whose arguments are this, whatever it is.
    pub fn and_written_call(mut self, tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.calls.push(Call { tool: tool.into(), arguments: arguments.into() });
        self
    }

    /// It thinks first; what it thought is wanted back where the protocol says so.
    pub fn thinking(self, thought: impl Into<String>) -> Self {
        Self { thought: Some(thought.into()), ..self }
    }

    pub fn stopping(self, stop: Stop) -> Self {
        Self { stop: Some(stop), ..self }
    }

    pub fn failing(self, fault: Fault) -> Self {
        Self { fault: Some(fault), ..self }
    }

    /// With so much time between two pieces.
    pub fn dripping(self, pause: Duration) -> Self {
        Self { pause: Some(pause), ..self }
    }

    /// In one piece, as some servers answer though they are asked for a stream.
    pub fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    /// As long as it is, whatever the request allows.
    pub fn overlong(self) -> Self {
        Self { heeds_limit: false, ..self }
    }
}
