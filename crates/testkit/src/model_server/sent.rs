//! An answer on its way: what it is once the request has limited it, and the pieces in which it goes out.

use std::io;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::answer::{Answer, Fault, Stop};
use super::asked::{Asked, Protocol};
use super::{BYTES_PER_TOKEN, fault, http, tokens};

/// A text goes out in at most so many pieces, of at least so many bytes.
const MOST_PIECES: usize = 200;
const LEAST_PIECE: usize = 24;
/// What is said by who never ends, of which the first piece comes again and again, and how much that is at most.
const ENDLESS_TEXT: usize = 4 * 1024 * 1024;
const ENDLESS_BYTES: u64 = 64 * 1024 * 1024;
/// How often somebody shows that it is there.
const PING_EVERY: Duration = Duration::from_millis(10);

/// What was read, by the server's own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) total: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
}

impl Input {
    /// What was told in earlier requests comes from the cache, up to where it differs.
    pub(super) fn of(asked: &Asked, known: &[String]) -> Self {
        let total = tokens(asked.bytes.len());
        if !asked.has_cache_marks() {
            return Self { total, cache_read: 0, cache_write: 0 };
        }
        let told = asked.told_in_order();
        let shared = |earlier: &String| {
            earlier.bytes().zip(told.bytes()).take_while(|(earlier, now)| earlier == now).count()
        };
        let longest = known.iter().map(shared).max().unwrap_or_default();
        let cache_read = tokens(longest).min(total);
        Self { total, cache_read, cache_write: (total - cache_read).saturating_sub(1) }
    }
}

/// Why the answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Said,
    Called,
    Length,
    Refused,
}

/// All that will be said.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) number: usize,
    pub(super) model: String,
    pub(super) thought: Option<String>,
    pub(super) text: String,
    pub(super) calls: Vec<SentCall>,
    pub(super) ended: Ended,
    pub(super) input: Input,
}

#[derive(Debug)]
pub(super) struct SentCall {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) arguments: String,
}

impl Whole {
    /// As much of it as the request allows.
    pub(super) fn of(asked: &Asked, answer: &Answer, input: Input) -> Self {
        let limit = asked.limit().filter(|_| answer.heeds_limit).unwrap_or(u64::MAX / BYTES_PER_TOKEN);
        let mut left = usize::try_from(limit * BYTES_PER_TOKEN).unwrap_or(usize::MAX);
        let mut is_cut = false;
        let mut take = |text: &str| {
            let end = text.floor_char_boundary(left);
            left -= end;
            is_cut |= end < text.len();
            text[..end].to_owned()
        };
        let thought = answer.thought.as_deref().map(&mut take);
        let text = match answer.fault {
            Some(Fault::Endless) => "again ".repeat(ENDLESS_TEXT / 6),
            Some(_) | None => take(&answer.text),
        };
        let mut calls = Vec::new();
        for (index, call) in answer.calls.iter().enumerate() {
            let id = format!("call_{}_{index}", asked.number);
            calls.push(SentCall { id, tool: call.tool.clone(), arguments: take(&call.arguments) });
        }
        if is_cut {
            // What comes after the cut is not even begun.
            let whole =
                calls.iter().zip(&answer.calls).take_while(|(sent, call)| sent.arguments == call.arguments);
            let begun = whole.count() + 1;
            calls.truncate(begun);
        }
        let ended = match answer.stop {
            Some(Stop::Refusal) => Ended::Refused,
            Some(Stop::Length) => Ended::Length,
            None if is_cut => Ended::Length,
            None if calls.is_empty() => Ended::Said,
            None => Ended::Called,
        };
        let model = asked.body["model"].as_str().unwrap_or("scripted").to_owned();
        Self { number: asked.number, model, thought, text, calls, ended, input }
    }

    pub(super) fn output_tokens(&self) -> u64 {
        let calls: usize = self.calls.iter().map(|call| call.arguments.len()).sum();
        tokens(self.thought.as_deref().unwrap_or_default().len() + self.text.len() + calls)
    }
}

/// An event, and how many bytes of the answer are in it.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) event: Value,
    pub(super) bytes: u64,
}

impl Sent {
    pub(super) const fn frame(event: Value) -> Self {
        Self { event, bytes: 0 }
    }

    pub(super) fn part(event: Value, part: &str) -> Self {
        Self { event, bytes: u64::try_from(part.len()).unwrap_or(u64::MAX) }
    }
}

/// A text in the pieces in which it is sent.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let length = (text.len() / MOST_PIECES).max(LEAST_PIECE);
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.ceil_char_boundary(length.min(rest.len()));
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts
}

/// Where an answer goes out.
pub(super) struct Line<'a> {
    pub(super) out: &'a TcpStream,
    pub(super) protocol: Protocol,
    /// Told how many bytes of the answer went out before, and how many go out now.
    pub(super) count: &'a dyn Fn(u64, u64),
    pub(super) has_ended: &'a dyn Fn() -> bool,
}

impl Line<'_> {
    /// Sends the pieces, or as many as the fault lets through.
    pub(super) fn send(&self, answer: &Answer, pieces: &[Sent]) -> io::Result<()> {
        http::begin_stream(self.out)?;
        if answer.fault == Some(Fault::Garbage) {
            http::chunk(self.out, "data: {\"type\": what is this\n\n<html>\n\n")?;
            return http::end_stream(self.out);
        }
        let (mut said, mut bytes) = (0, 0);
        for piece in pieces {
            match answer.fault {
                Some(Fault::CutAfter(after)) if said >= after => {
                    http::break_off(self.out)?;
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                Some(Fault::HangAfter(after)) if said >= after => return self.hang(),
                Some(Fault::ErrorAfter(after)) if said >= after => {
                    self.event(&fault::event(self.protocol))?;
                    return http::end_stream(self.out);
                }
                Some(Fault::OnlyPings) if piece.bytes > 0 => return self.ping(),
                Some(Fault::Endless) if piece.bytes > 0 => return self.go_on_for_ever(piece),
                Some(_) | None => {}
            }
            (self.count)(bytes, piece.bytes);
            self.event(&piece.event)?;
            bytes += piece.bytes;
            said += usize::from(piece.bytes > 0);
            if let Some(pause) = answer.pause.filter(|_| piece.bytes > 0) {
                // tidy: a model that is slow is what the test is about
                thread::sleep(pause);
            }
        }
        http::end_stream(self.out)
    }

    fn event(&self, event: &Value) -> io::Result<()> {
        http::chunk(self.out, &written(self.protocol, event))
    }

    fn hang(&self) -> io::Result<()> {
        fault::hang(self.out, self.has_ended)
    }

    fn go_on_for_ever(&self, piece: &Sent) -> io::Result<()> {
        let mut bytes = 0;
        while bytes < ENDLESS_BYTES && !(self.has_ended)() {
            (self.count)(bytes, piece.bytes);
            self.event(&piece.event)?;
            bytes += piece.bytes;
        }
        self.hang()
    }

    fn ping(&self) -> io::Result<()> {
        let ping = match self.protocol {
            Protocol::Messages => "event: ping\ndata: {\"type\": \"ping\"}\n\n",
            Protocol::Chat | Protocol::Responses => ": keep-alive\n\n",
        };
        while !(self.has_ended)() {
            http::chunk(self.out, ping)?;
            // tidy: a model that says nothing for long is what the test is about
            thread::sleep(PING_EVERY);
        }
        Err(io::ErrorKind::ConnectionAborted.into())
    }
}

/// An event as it is written. Chat has no names for them, and one that is no JSON.
fn written(protocol: Protocol, event: &Value) -> String {
    let data = event.as_str().map_or_else(|| event.to_string(), str::to_owned);
    match (protocol, event["type"].as_str()) {
        (Protocol::Messages | Protocol::Responses, Some(name)) => format!("event: {name}\ndata: {data}\n\n"),
        (Protocol::Messages | Protocol::Responses, None) | (Protocol::Chat, _) => {
            format!("data: {data}\n\n")
        }
    }
}
