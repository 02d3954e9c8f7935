//! The tools, each one command or one query.

mod checkpoint;
mod r#continue;
mod inspect;
mod leaf;
mod list;
mod resume;
mod schema;
mod start;

use std::sync::Arc;

use longhaul_runtime::leaf::LeafTool;
use longhaul_runtime::types::{Handle, SessionId};
use longhaul_runtime::{AnswerGate, Error};
use rmcp::model::{JsonObject, Tool as ToolEntry, ToolAnnotations};
use serde_json::Value;

use crate::arguments::Arguments;
use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::reply::Reply;

/// One tool: what a client is told of it, and what it does.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) input: fn() -> Value,
    pub(crate) output: fn() -> Value,
    pub(crate) effect: Effect,
    pub(crate) run: fn(&Desk, &Arguments) -> Result<Reply, Refusal>,
}

/// What a call may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    /// Writes to the log; called twice with the same arguments, it writes once.
    RecordsOnce,
    Records,
}

/// A tool as one server offers it.
#[derive(Clone, Copy)]
pub(crate) enum Offer {
    Outer(&'static Tool),
    Leaf(&'static LeafTool, SessionId),
}

impl Offer {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Outer(tool) => tool.name,
            Self::Leaf(tool, _) => tool.name,
        }
    }

    pub(crate) fn entry(self) -> ToolEntry {
        match self {
            Self::Outer(tool) => tool.entry(),
            Self::Leaf(tool, _) => leaf::entry(tool),
        }
    }

    /// Runs it. What it refuses is an answer like any other.
    pub(crate) fn call(self, desk: &Desk, fields: JsonObject) -> Reply {
        match self {
            Self::Outer(tool) => tool.call(desk, fields),
            Self::Leaf(tool, session) => leaf::call(desk, tool, session, &fields),
        }
    }
}

/// What agents that people drive are offered.
pub(crate) const OUTER: [&Tool; 6] =
    [&list::TOOL, &inspect::TOOL, &start::TOOL, &r#continue::TOOL, &checkpoint::TOOL, &resume::TOOL];

impl Tool {
    fn entry(&self) -> ToolEntry {
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(self.effect == Effect::Reads)
            .destructive(false)
            .idempotent(self.effect != Effect::Records)
            .open_world(false);
        ToolEntry::new(self.name, self.description, object((self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(object((self.output)()))
            .with_annotations(annotations)
    }

    /// The names of its arguments, aliases among them.
    fn known(&self) -> Vec<String> {
        let schema = (self.input)();
        let names = schema["properties"].as_object().map(|known| known.keys().cloned().collect());
        names.unwrap_or_default()
    }

    fn call(&self, desk: &Desk, fields: JsonObject) -> Reply {
        let known = self.known();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let token = ["continueToken", "checkpointToken"].map(|name| (name, fields.get(name).cloned()));
        let reply = Arguments::new(fields, &known).and_then(|arguments| (self.run)(desk, &arguments));
        reply.unwrap_or_else(|refusal| refused(desk, &refusal, token))
    }
}

/// Where a session stands, for a call that was interrupted by a question.
pub(crate) fn standing(desk: &Desk, id: SessionId) -> Reply {
    let view = desk.commands_for(id).and_then(|commands| desk.system().session_view(&commands, id));
    view.map_or_else(|error| refused(desk, &error.into(), []), Reply::step)
}

/// Puts on record what a person said at a gate.
pub(crate) fn answer_gate(desk: &Desk, answer: &AnswerGate) -> Reply {
    let commands = desk.commands_for(answer.session);
    let view = commands.and_then(|commands| desk.system().answer_gate(&commands, answer));
    view.map_or_else(|error| refused(desk, &error.into(), []), Reply::step)
}

/// A refusal with a handle: where the session stands if the one that was sent is of no use any more, else that one.
fn refused<const N: usize>(
    desk: &Desk,
    refusal: &Refusal,
    sent: [(&'static str, Option<Value>); N],
) -> Reply {
    let token = sent.into_iter().find_map(|(name, value)| Some((name, value?.as_str()?.trim().to_owned())));
    let Some(cause) = &refusal.cause else { return Reply::refused(refusal, token) };
    desk.forget_if_broken(cause);
    if matches!(cause, Error::BadAnswer(_)) {
        return Reply::refused(refusal, token);
    }
    let session = token.and_then(|(_, token)| token.parse::<Handle>().ok()).map(|handle| handle.session);
    let view = session
        .filter(|_| is_said_to_a_holder(cause))
        .and_then(|id| desk.commands_for(id).ok()?.session_view(id).ok());
    view.map_or_else(|| Reply::refused(refusal, None), |view| Reply::refused_at(refusal, view))
}

/// Whether the signature of the handle was found right before this was said. Then a newer one may be shown.
const fn is_said_to_a_holder(cause: &Error) -> bool {
    matches!(
        cause,
        Error::DifferentPayload { .. }
            | Error::Superseded
            | Error::NotForNotes
            | Error::NotForAnswers
            | Error::Session(_)
    )
}

fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(fields) => Arc::new(fields),
        other => unreachable!("a schema is an object: {other}"),
    }
}
