//! What becomes of a request: wanted, not wanted, or refused.
//!
//! The signature is looked at before anything else, and nothing of the answer tells a stranger what else there is.

use longhaul_events::Timestamp;
use serde_json::Value;

use super::delivery::{Delivery, Key, MOST_BODY_BYTES};
use super::signature::{self, Check};
use super::text::{Values, cut};
use super::{Start, Switch, Trigger, Webhook};
use crate::task::Source;
use crate::time::rfc3339;

/// What is known when a request is judged, beside the request.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// What the name in the file stands for, if there is such a secret.
    pub secret: Option<&'a str>,
    pub now: Timestamp,
}

impl std::fmt::Debug for Evidence<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evidence").field("now", &self.now).finish_non_exhaustive()
    }
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Judged {
    Wanted(Wanted),
    /// It is signed, and it is not for this trigger.
    NotWanted {
        because: String,
    },
    Refused(Problem),
}

/// A task that a request asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Tainted: somebody outside wrote part of it.
    pub goal: String,
    pub source: Source,
    /// What makes it the same as another one.
    pub key: Key,
    /// What the sender calls the delivery, to find it again there.
    pub delivery: Option<String>,
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("trigger `{trigger}` takes no requests; it starts by `{start}`")]
    NoWebhook { trigger: String, start: &'static str },
    #[error("the secret `{name}` is not there; run `longhaul secret set {name}`")]
    NoSecret { name: String },
    #[error("the secret is no base64 after `whsec_`; set the one that the sender shows")]
    UnusableSecret,
    #[error("the header `{header}` is missing; have the sender sign its requests")]
    Unsigned { header: String },
    #[error("the header `{header}` stands there twice")]
    HeaderTwice { header: String },
    #[error("the header `{header}` does not hold what it should")]
    Malformed { header: String },
    #[error("the signature is wrong; compare the secrets of both sides")]
    WrongSignature,
    #[error("it was signed at {} and it is {}, which is too far apart; set the clocks", rfc3339(*sent), rfc3339(*now))]
    OutOfTime { sent: Timestamp, now: Timestamp },
    #[error("the body has {bytes} bytes, and {MOST_BODY_BYTES} is the most")]
    TooLarge { bytes: usize },
    #[error("the body is not JSON ({problem}); have the sender send `application/json`")]
    NotJson { problem: String },
    #[error(
        "`{path}` leads to nothing that `{field}` could take; change the template, or add a condition `{{ path: {path}, exists: true }}`"
    )]
    NoValue { field: &'static str, path: String },
    #[error("the goal is blank; change its template")]
    BlankGoal,
    #[error("`{text}` is no source of one thing; change the template of `source`")]
    BadSource { text: String },
}

impl Problem {
    /// Whether it shows that nobody with the secret sent it, or that nobody can tell.
    pub const fn is_unsigned(&self) -> bool {
        match self {
            Self::NoSecret { .. }
            | Self::UnusableSecret
            | Self::Unsigned { .. }
            | Self::HeaderTwice { .. }
            | Self::Malformed { .. }
            | Self::WrongSignature
            | Self::OutOfTime { .. } => true,
            Self::NoWebhook { .. }
            | Self::TooLarge { .. }
            | Self::NotJson { .. }
            | Self::NoValue { .. }
            | Self::BlankGoal
            | Self::BadSource { .. } => false,
        }
    }
}

/// One line of what a trigger makes of a request, for whoever tries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// How deep it stands below others.
    pub depth: usize,
    pub what: String,
    /// What the request has there.
    pub value: Option<String>,
    pub shown: Shown,
}

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Holds,
    Fails,
    /// Nothing is asked, something is told.
    Told,
}

impl Shown {
    pub(super) const fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::Holds => "yes",
            Self::Fails => "no",
            Self::Told => "-",
        }
    }
}

/// Says what becomes of a request to a trigger.
pub fn judge(trigger: &Trigger, delivery: &Delivery, evidence: Evidence<'_>) -> Judged {
    match look_into(trigger, delivery, evidence) {
        Ok(judged) => judged,
        Err(problem) => Judged::Refused(problem),
    }
}

fn look_into(trigger: &Trigger, delivery: &Delivery, evidence: Evidence<'_>) -> Result<Judged, Problem> {
    let Start::Webhook(webhook) = &trigger.start else {
        return Err(Problem::NoWebhook { trigger: trigger.id.clone(), start: trigger.start.word() });
    };
    if delivery.body.len() > MOST_BODY_BYTES {
        return Err(Problem::TooLarge { bytes: delivery.body.len() });
    }
    authenticate(webhook, delivery, evidence)?;
    let payload = payload_of(&delivery.body)?;
    if trigger.switch == Switch::Off {
        return Ok(Judged::NotWanted { because: format!("trigger `{}` is off", trigger.id) });
    }
    match examine(trigger, &payload).1 {
        Outcome::Wanted { goal, source } => {
            let (key, id) = (delivery.key(webhook), delivery.id().map(str::to_owned));
            Ok(Judged::Wanted(Wanted { goal, source, key, delivery: id }))
        }
        Outcome::NotWanted { because } => Ok(Judged::NotWanted { because }),
        Outcome::Refused(problem) => Err(problem),
    }
}

/// Says nothing if somebody with the secret sent a request, and otherwise why that cannot be told.
pub fn authenticate(webhook: &Webhook, delivery: &Delivery, evidence: Evidence<'_>) -> Result<(), Problem> {
    // Everybody can sign with an empty key.
    let secret = evidence.secret.filter(|secret| !secret.is_empty());
    let secret = secret.ok_or_else(|| Problem::NoSecret { name: webhook.secret.as_str().to_owned() })?;
    signature::verify(&Check { delivery, header: &webhook.header, secret, now: evidence.now })
}

/// The value of a body.
pub fn payload_of(body: &[u8]) -> Result<Value, Problem> {
    serde_json::from_slice(body).map_err(|error| Problem::NotJson { problem: error.to_string() })
}

/// What a trigger makes of a payload, whoever it is from.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Wanted { goal: String, source: Source },
    NotWanted { because: String },
    Refused(Problem),
}

/// Says what a trigger makes of a payload, and how it came to that, line by line.
pub fn examine(trigger: &Trigger, payload: &Value) -> (Vec<Line>, Outcome) {
    let mut lines = Vec::new();
    if let Some(when) = &trigger.when {
        let verdict = when.judge(payload);
        lines.extend(verdict.lines);
        if !verdict.holds {
            return (lines, Outcome::NotWanted { because: verdict.because });
        }
    }
    let mut told = |what: &str, value: String| {
        lines.push(Line { depth: 0, what: what.to_owned(), value: Some(value), shown: Shown::Told });
    };
    let outcome = match (goal_of(trigger, payload), source_of(trigger, payload)) {
        (Err(problem), _) | (_, Err(problem)) => Outcome::Refused(problem),
        (Ok(goal), Ok(source)) => {
            told("goal", goal.clone());
            told("source", source.to_string());
            Outcome::Wanted { goal, source }
        }
    };
    (lines, outcome)
}

fn goal_of(trigger: &Trigger, payload: &Value) -> Result<String, Problem> {
    let template = trigger.goal.as_ref().ok_or(Problem::BlankGoal)?;
    let goal = template
        .fill(payload, Values::Any)
        .map_err(|path| Problem::NoValue { field: "goal", path: path.to_string() })?;
    if goal.trim().is_empty() { Err(Problem::BlankGoal) } else { Ok(goal) }
}

/// Only what names one thing may come from a request: nobody outside says that a person or a clock asked.
fn source_of(trigger: &Trigger, payload: &Value) -> Result<Source, Problem> {
    let Some(template) = &trigger.source else { return Ok(trigger.usual_source()) };
    let text = template
        .fill(payload, Values::Names)
        .map_err(|path| Problem::NoValue { field: "source", path: path.to_string() })?;
    let source = text.parse::<Source>().ok().filter(Source::is_one_thing);
    source.ok_or_else(|| Problem::BadSource { text: cut(text, 80) })
}

impl Trigger {
    /// What a task is from that names no one thing.
    pub fn usual_source(&self) -> Source {
        match &self.start {
            Start::Webhook(_) | Start::Github => Source::webhook(&self.id),
            Start::Schedule(_) => Source::cron(&self.id),
            Start::Hand => Source::CLI,
        }
    }
}
