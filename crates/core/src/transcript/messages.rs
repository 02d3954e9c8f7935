//! The conversation as messages: what the agent was told, what it said, what its calls gave.

use longhaul_events::{CallOutcome, Content, Verdict};
use serde_json::{Map, Value};

use super::{Call, End, Entry, Read, Telling, Told, Transcript, Turn, Unread, in_words};
use crate::conversation::length;
use crate::units::show_size;

/// Results and arguments of older turns that are no longer than this stay.
pub(super) const LONGEST_LINE: usize = 240;
/// How much of what a call is about stands in its line.
const LONGEST_ABOUT: usize = 80;
/// A message has to say something.
const SILENT: &str = "(nothing said)";

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    User(String),
    Assistant {
        text: String,
        calls: Vec<MessageCall>,
        echo: Option<Value>,
    },
    /// Of each call of the message before.
    Results(Vec<MessageResult>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct MessageCall {
    pub id: String,
    pub tool: String,
    pub arguments: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageResult {
    pub id: String,
    pub text: String,
    pub is_error: bool,
}

impl Transcript {
    /// The messages from a part on. Read between turns only, when no call is under way.
    pub fn messages(&self, from: usize, read: Read<'_>) -> Result<Vec<Message>, Unread> {
        let mut messages = Vec::new();
        for entry in self.entries.get(from..).unwrap_or_default() {
            match entry {
                Entry::Told { words, .. } => messages.push(Message::User(told(words, read)?)),
                Entry::Turn(turn) => {
                    messages.push(said(turn, read)?);
                    if !turn.calls.is_empty() {
                        messages.push(Message::Results(results(turn, read)?));
                    }
                }
            }
        }
        Ok(messages)
    }
}

fn told(words: &Told, read: Read<'_>) -> Result<String, Unread> {
    Ok(match words {
        Told::Step { step, prompt } => {
            format!("This step is out now: `{step}`\n\n{}", prompt_text(&read(prompt)?))
        }
        Told::Nudge(words) => words.clone(),
        Told::Person { by, words } => format!("{by} says:\n\n{}", in_words(read(words)?)),
        Told::Gate { by, verdict, words } => {
            let verdict = match verdict {
                Verdict::Approved => "approved of what was handed in",
                Verdict::Rejected => "rejected what was handed in",
            };
            format!("{by} {verdict}.\n\n{}", in_words(read(words)?)).trim_end().to_owned()
        }
        Told::Recap(recap) => in_words(read(recap)?),
    })
}

/// What a step says, out of how it was handed out.
pub(super) fn prompt_text(prompt: &Value) -> String {
    prompt["text"].as_str().map_or_else(|| prompt.to_string(), str::to_owned)
}

fn said(turn: &Turn, read: Read<'_>) -> Result<Message, Unread> {
    let text = in_words(read(&turn.said)?);
    let is_silent = text.trim().is_empty() && turn.calls.is_empty();
    let text = if is_silent { SILENT.to_owned() } else { text };
    let mut calls = Vec::new();
    for (call, number) in turn.calls.iter().zip(0..) {
        let arguments = match read(&call.call.arguments)? {
            Value::Object(arguments) => arguments,
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        let arguments = match turn.telling {
            Telling::Whole | Telling::Clipped(_) => arguments,
            Telling::Trimmed => trimmed(arguments),
        };
        calls.push(MessageCall { id: call_id(turn, call, number), tool: call.call.tool.clone(), arguments });
    }
    let echo = match turn.telling {
        Telling::Whole | Telling::Clipped(_) => turn.echo.as_ref().map(read).transpose()?,
        Telling::Trimmed => None,
    };
    Ok(Message::Assistant { text, calls, echo })
}

/// What the provider called it, or what tells it apart from all others.
fn call_id(turn: &Turn, call: &Call, number: u64) -> String {
    call.call.id.clone().unwrap_or_else(|| format!("call-{}-{number}", turn.ordinal))
}

fn results(turn: &Turn, read: Read<'_>) -> Result<Vec<MessageResult>, Unread> {
    let result = |(call, number): (&Call, u64)| {
        let (text, is_error) = result(call, turn.telling, read)?;
        Ok(MessageResult { id: call_id(turn, call, number), text, is_error })
    };
    turn.calls.iter().zip(0..).map(result).collect()
}

fn result(call: &Call, telling: Telling, read: Read<'_>) -> Result<(String, bool), Unread> {
    let (outcome, content) = match &call.end {
        End::Open => return Ok(("not done: the step was handed in before it came to this".to_owned(), true)),
        End::HandedIn => return Ok(("The step is handed in and accepted.".to_owned(), false)),
        End::Came { outcome, result } => (*outcome, result),
    };
    let is_error = match outcome {
        CallOutcome::Done => false,
        CallOutcome::Refused | CallOutcome::Interrupted | CallOutcome::Stopped => true,
    };
    if telling == Telling::Trimmed && is_long(content) {
        return Ok((left_out(call, content), is_error));
    }
    let text = in_words(read(content)?);
    Ok(match telling {
        Telling::Whole | Telling::Trimmed => (text, is_error),
        Telling::Clipped(most) => {
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            (super::clipped(&text, most), is_error)
        }
    })
}

pub(super) fn is_long(content: &Content) -> bool {
    length(content) > LONGEST_LINE as u64
}

/// The line that stands for a result.
fn left_out(call: &Call, result: &Content) -> String {
    let about = about(&call.call.arguments).map(|about| format!(" {about}")).unwrap_or_default();
    let size = show_size(length(result));
    format!("[{}{about}: {size}, left out; do it again if you need it]", call.call.tool)
}

/// What a call is about, if that lies at hand.
fn about(arguments: &Content) -> Option<String> {
    let Content::Inline(arguments) = arguments else { return None };
    let about = ["path", "pattern", "command"].iter().find_map(|name| arguments[*name].as_str())?;
    let line = about.lines().next().unwrap_or_default();
    let end = line.floor_char_boundary(LONGEST_ABOUT);
    Some(if end < about.len() { format!("{}…", &line[..end]) } else { about.to_owned() })
}

fn trimmed(arguments: Map<String, Value>) -> Map<String, Value> {
    let short = |value: Value| {
        let bytes = match &value {
            Value::String(text) => text.len(),
            other => other.to_string().len(),
        };
        if bytes > LONGEST_LINE {
            Value::String(format!("[{}, left out]", show_size(bytes as u64)))
        } else {
            value
        }
    };
    arguments.into_iter().map(|(name, value)| (name, short(value))).collect()
}
