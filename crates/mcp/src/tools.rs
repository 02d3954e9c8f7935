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

use longhaul_runtime::leaf::{self as leaf_table, Effect};
use longhaul_runtime::types::{Epoch, Handle, SessionId};
use longhaul_runtime::{AnswerGate, Error, Worth};
use rmcp::model::{JsonObject, Tool as ToolEntry, ToolAnnotations};
use serde_json::Value;

use crate::arguments::Arguments;
use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::reply::{Reply, SentToken};
use crate::words::{self, Audience};

/// One tool: what a client is told of it, and what it does.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) input: fn() -> Value,
    pub(crate) output: fn() -> Value,
    pub(crate) effect: Effect,
    pub(crate) run: fn(&Desk, &Arguments) -> Result<Reply, Refusal>,
    /// Gives an answer the shape that `output` declares, also one that was reached by way of a gate.
    pub(crate) wrap: fn(Reply) -> Reply,
}

/// The session that an agent works on, and the driver that prompts it, if it is one of ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Post {
    pub(crate) session: SessionId,
    pub(crate) driver: Option<Epoch>,
}

/// A tool as one server offers it.
#[derive(Clone, Copy)]
pub(crate) enum Offer {
    Outer(&'static Tool),
    Leaf(&'static leaf_table::Tool, Post),
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
            Self::Leaf(tool, post) => leaf::call(desk, tool, post, &fields),
        }
    }

    pub(crate) fn wrap(self, reply: Reply) -> Reply {
        match self {
            Self::Outer(tool) => (tool.wrap)(reply),
            Self::Leaf(..) => reply,
        }
    }
}

/// An answer that has its shape already.
fn as_it_is(reply: Reply) -> Reply {
    reply
}

fn annotations(title: &str, effect: Effect) -> ToolAnnotations {
    ToolAnnotations::with_title(title)
        .read_only(effect == Effect::Reads)
        .destructive(false)
        .idempotent(effect != Effect::Records)
        .open_world(false)
}

/// What agents that people drive are offered.
pub(crate) const OUTER: [&Tool; 6] =
    [&list::TOOL, &inspect::TOOL, &start::TOOL, &r#continue::TOOL, &checkpoint::TOOL, &resume::TOOL];

impl Tool {
    fn entry(&self) -> ToolEntry {
        ToolEntry::new(self.name, self.description, object((self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(object((self.output)()))
            .with_annotations(annotations(self.title, self.effect))
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
        let token = SentToken::among(&fields);
        let reply = Arguments::new(fields, &known).and_then(|arguments| (self.run)(desk, &arguments));
        reply.unwrap_or_else(|refusal| refused(desk, &refusal, token.as_ref()))
    }
}

/// Where a session stands, for a call that was interrupted by a question; `None` if we did not ask it.
pub(crate) fn standing(desk: &Desk, question: &Handle, token: Option<&SentToken>) -> Option<Reply> {
    let id = question.session;
    let asked = desk.commands_for(id).and_then(|commands| {
        let is_ours = commands.has_asked(question)?;
        is_ours.then(|| desk.system().session_view(&commands, id)).transpose()
    });
    match asked {
        Ok(view) => view.map(|view| Reply::step(view, Audience::Outer)),
        Err(Error::UnknownSession(_)) => None,
        Err(error) => Some(refused(desk, &error.into(), token)),
    }
}

/// Puts on record what a person said at a gate. If they were quicker elsewhere, that counts.
pub(crate) fn answer_gate(desk: &Desk, answer: &AnswerGate, token: Option<&SentToken>) -> Reply {
    let id = answer.session;
    let commands = match desk.commands_for(id) {
        Ok(commands) => commands,
        Err(error) => return refused(desk, &error.into(), token),
    };
    let error = match desk.system().answer_gate(&commands, answer) {
        Ok(view) => return Reply::step(view, Audience::Outer),
        Err(error) => error,
    };
    let is_past = error.is_gate_gone();
    let refusal = Refusal::from(error);
    match desk.system().session_view(&commands, id) {
        Ok(view) if is_past => {
            let mut reply = Reply::step(view, Audience::Outer);
            reply.warn(words::ANSWERED_ELSEWHERE);
            reply
        }
        Ok(view) => Reply::refused_at(&refusal, view, Audience::Outer),
        Err(_) => refused(desk, &refusal, token),
    }
}

/// A refusal with a handle: the one that was sent while it is as good as before, else where the session stands.
pub(crate) fn refused(desk: &Desk, refusal: &Refusal, token: Option<&SentToken>) -> Reply {
    refused_to(desk, refusal, token, Reader::outer())
}

/// Who is refused, and how far they may look.
#[derive(Clone, Copy)]
struct Reader {
    audience: Audience,
    /// The only session that they may see.
    only: Option<SessionId>,
}

impl Reader {
    const fn outer() -> Self {
        Self { audience: Audience::Outer, only: None }
    }
}

fn refused_to(desk: &Desk, refusal: &Refusal, token: Option<&SentToken>, reader: Reader) -> Reply {
    if let Some(cause) = &refusal.cause {
        desk.forget_if_broken(cause);
    }
    let handle = token.and_then(|token| token.text.parse::<Handle>().ok());
    let Some(handle) = handle.filter(|handle| reader.only.is_none_or(|only| only == handle.session)) else {
        return Reply::refused(refusal, None);
    };
    // The store could not be used just now: nothing was written, and the token is what it was.
    if matches!(refusal.cause, Some(Error::Store(_))) {
        return Reply::refused(refusal, token);
    }
    let is_for_something_else = matches!(refusal.cause, Some(Error::NotForNotes | Error::NotForAnswers));
    let worth = desk.commands_for(handle.session).and_then(|commands| match commands.worth(&handle)? {
        Worth::Open if is_for_something_else => {
            Ok(Worth::Past(Box::new(commands.session_view(handle.session)?)))
        }
        worth @ (Worth::Open | Worth::Past(_) | Worth::Nothing) => Ok(worth),
    });
    match worth {
        Ok(Worth::Past(view)) => Reply::refused_at(refusal, *view, reader.audience),
        Ok(Worth::Nothing) | Err(Error::UnknownSession(_)) => Reply::refused(refusal, None),
        Ok(Worth::Open) | Err(_) => Reply::refused(refusal, token),
    }
}

fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(fields) => Arc::new(fields),
        other => unreachable!("a schema is an object: {other}"),
    }
}
