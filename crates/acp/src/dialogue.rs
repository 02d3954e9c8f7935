//! JSON-RPC, one message a line, over the pipes of a program. Knows no method. Must never wait longer than it is told
//! to, nor trust a line.

use std::borrow::Cow;
use std::time::Duration;

use longhaul_exec::{Heard, Talk};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::lines::Lines;

/// Agents send whole files as one line.
pub(crate) const LONGEST_LINE_BYTES: usize = 8 * 1024 * 1024;
/// What may wait for an agent that does not read.
const MOST_UNSENT_BYTES: usize = 16 * 1024 * 1024;
/// Lines that mean nothing between two messages, before we call it broken: some agents write a greeting or a warning to stdout.
const MOST_NOISE: u32 = 200;
const CHUNK_BYTES: usize = 64 * 1024;

pub(crate) const NO_SUCH_METHOD: i64 = -32601;

#[derive(Debug)]
pub(crate) struct Dialogue {
    talk: Talk,
    lines: Lines,
    chunk: Vec<u8>,
    last_id: i64,
    noise: u32,
}

/// A message of the agent's.
#[derive(Debug)]
pub(crate) enum Message {
    /// It wants an answer under this id.
    Request {
        id: Box<RawValue>,
        method: String,
        params: Box<RawValue>,
    },
    Notice {
        method: String,
        params: Box<RawValue>,
    },
    /// An answer to what we asked.
    Answer {
        id: i64,
        result: Result<Box<RawValue>, Refusal>,
    },
}

/// Why an agent does not do what it was asked.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Refusal {
    #[serde(default)]
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) data: Option<serde_json::Value>,
}

/// Why there is nothing more to be heard.
#[derive(Debug)]
pub(crate) enum Trouble {
    Ended,
    TooLong,
    Deaf,
    Broken(String),
}

impl Dialogue {
    pub(crate) fn new(talk: Talk) -> Self {
        let lines = Lines::new(LONGEST_LINE_BYTES);
        Self { talk, lines, chunk: vec![0; CHUNK_BYTES], last_id: 0, noise: 0 }
    }

    /// Asks, and says under which id the answer will come.
    pub(crate) fn ask(&mut self, method: &'static str, params: &impl Serialize) -> i64 {
        self.last_id += 1;
        self.send(&Sent { id: Some(&number(self.last_id)), method: Some(method), ..Sent::with(params) });
        self.last_id
    }

    pub(crate) fn tell(&mut self, method: &'static str, params: &impl Serialize) {
        self.send(&Sent { method: Some(method), ..Sent::with(params) });
    }

    pub(crate) fn answer(&mut self, id: &RawValue, result: &impl Serialize) {
        let result = Some(raw(result));
        self.send(&Sent { id: Some(id), result, ..Sent::EMPTY });
    }

    pub(crate) fn refuse(&mut self, id: &RawValue, code: i64, message: &str) {
        self.send(&Sent { id: Some(id), error: Some(SentError { code, message }), ..Sent::EMPTY });
    }

    fn send(&mut self, message: &Sent<'_>) {
        let mut line = serde_json::to_vec(message).expect("a message of ours is plain data");
        line.push(b'\n');
        self.talk.say(&line);
    }

    /// The next message, if one comes in that time.
    pub(crate) fn next(&mut self, longest: Duration) -> Result<Option<Message>, Trouble> {
        loop {
            while let Some(line) = self.lines.next().map_err(|_| Trouble::TooLong)? {
                if let Some(message) = self.read(&line)? {
                    return Ok(Some(message));
                }
            }
            if self.talk.unsent_bytes() > MOST_UNSENT_BYTES {
                return Err(Trouble::Deaf);
            }
            match self.talk.listen(&mut self.chunk, longest) {
                Ok(Heard::Bytes(count)) => self.lines.push(&self.chunk[..count]),
                Ok(Heard::Nothing) => return Ok(None),
                Ok(Heard::End) => return Err(Trouble::Ended),
                Err(error) => return Err(Trouble::Broken(format!("its pipe cannot be read: {error}"))),
            }
        }
    }

    /// `None` for what means nothing.
    fn read(&mut self, line: &[u8]) -> Result<Option<Message>, Trouble> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        if line[0] != b'{' {
            return self.shrug(line);
        }
        let received: Received<'_> = serde_json::from_slice(line)
            .map_err(|error| Trouble::Broken(format!("{error} in `{}`", start_of(line))))?;
        Ok(match received.into_message() {
            Some(message) => {
                self.noise = 0;
                Some(message)
            }
            None => self.shrug(line)?,
        })
    }

    fn shrug(&mut self, line: &[u8]) -> Result<Option<Message>, Trouble> {
        self.noise += 1;
        tracing::debug!(line = start_of(line), "an agent wrote a line that means nothing");
        if self.noise > MOST_NOISE {
            return Err(Trouble::Broken(format!("it prints what is no message: `{}`", start_of(line))));
        }
        Ok(None)
    }
}

#[derive(Serialize)]
struct Sent<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<SentError<'a>>,
}

#[derive(Serialize)]
struct SentError<'a> {
    code: i64,
    message: &'a str,
}

impl Sent<'_> {
    const EMPTY: Self =
        Self { jsonrpc: "2.0", id: None, method: None, params: None, result: None, error: None };

    fn with(params: &impl Serialize) -> Self {
        Self { params: Some(raw(params)), ..Self::EMPTY }
    }
}

/// A message as it comes. Fields that nobody knows are left out.
#[derive(Deserialize)]
struct Received<'a> {
    #[serde(default, borrow)]
    id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<Refusal>,
}

impl Received<'_> {
    fn into_message(self) -> Option<Message> {
        let params = || self.params.map_or_else(|| raw(&()), ToOwned::to_owned);
        match (self.method, self.id) {
            (Some(method), Some(id)) => {
                let method = method.into_owned();
                Some(Message::Request { id: id.to_owned(), method, params: params() })
            }
            (Some(method), None) => Some(Message::Notice { method: method.into_owned(), params: params() }),
            (None, Some(id)) => {
                let id = id.get().parse().ok()?;
                let result = match (self.error, self.result) {
                    (Some(refusal), _) => Err(refusal),
                    (None, result) => Ok(result.map_or_else(|| raw(&()), ToOwned::to_owned)),
                };
                Some(Message::Answer { id, result })
            }
            (None, None) => None,
        }
    }
}

fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).expect("a message of ours is plain data")
}

fn number(number: i64) -> Box<RawValue> {
    raw(&number)
}

/// Enough of a line to know it again.
fn start_of(line: &[u8]) -> String {
    const SHOWN: usize = 120;
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).into_owned();
    if line.len() > SHOWN { format!("{text}…") } else { text }
}
