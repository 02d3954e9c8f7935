//! Asking, and waiting for what comes.

use std::time::Duration;

use hyper::header::{CONTENT_TYPE, HeaderMap};
use serde_json::Value;
use tokio::runtime::Builder;

use crate::draft::Reply;
use crate::events::{Events, Found};
use crate::failure::Failure;
use crate::request::{Door, Request};
use crate::silence::Silence;
use crate::transport::{Pieces, send};
use crate::wire::{Flow, Reader, Wire};

/// How long the end of an answer may take to come when all of it is there.
const LAST_PATIENCE: Duration = Duration::from_secs(2);

/// Who waits for an answer. Asked often, in the thread that waits, so it must not take long.
pub trait Watch {
    /// Something came.
    fn heard(&self, piece: Piece<'_>);

    /// Whether the answer is still wanted. If not, the request ends at once with [`Failure::Stopped`].
    fn is_wanted(&self) -> bool;

    /// How long nothing may come. Who only shows that it is there gets five times as long.
    fn patience(&self) -> Duration;
}

/// A piece of an answer on its way. The whole is in the [`Reply`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    Said(&'a str),
    Thought(&'a str),
    CallBegun {
        tool: &'a str,
    },
    /// Of the call that was begun last, mostly; JSON that is not complete.
    Arguments(&'a str),
    /// Nothing of the answer, but somebody is there.
    Alive,
}

/// Asks once and waits. For threads that may wait, and never within an asynchronous task.
pub fn ask(door: &Door, wire: Wire, request: &Request<'_>, watch: &dyn Watch) -> Result<Reply, Failure> {
    // Its own, for this one request: when it is dropped the connection is closed, whatever was under way on it.
    let runtime =
        Builder::new_current_thread().enable_all().build().map_err(|error| Failure::network(&error))?;
    runtime.block_on(asked(door, wire, request, watch))
}

async fn asked(door: &Door, wire: Wire, request: &Request<'_>, watch: &dyn Watch) -> Result<Reply, Failure> {
    if !watch.is_wanted() {
        return Err(Failure::Stopped);
    }
    let mut silence = Silence::begin(watch);
    let body = wire.body(door, request);
    let response = silence.wait(send(door, wire, body)).await??;
    silence.is_alive();
    watch.heard(Piece::Alive);
    let (head, body) = response.into_parts();
    let mut pieces = Pieces::of(body);
    if !head.status.is_success() {
        let words = pieces.words(&mut silence).await?;
        return Err(Failure::of_answer(head.status.as_u16(), &head.headers, &words));
    }
    let mut reader = wire.reader(request.model);
    match form(&head.headers) {
        Form::Events => streamed(&mut pieces, &mut *reader, &mut silence, watch).await?,
        Form::Whole => {
            let whole = pieces.whole(&mut silence).await?;
            let answer = serde_json::from_slice(&whole).map_err(|_| Failure::garbage("it is no JSON"))?;
            take_whole(&answer, &mut *reader, watch)?;
        }
        Form::Other(kind) => return Err(Failure::garbage(&format!("it is `{kind}`"))),
    }
    Ok(reader.finish())
}

/// How an answer comes.
enum Form {
    Events,
    Whole,
    Other(String),
}

fn form(headers: &HeaderMap) -> Form {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let plain = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match plain.as_str() {
        "text/event-stream" => Form::Events,
        "application/json" => Form::Whole,
        _ => Form::Other(kind.to_owned()),
    }
}

fn take_whole(answer: &Value, reader: &mut dyn Reader, watch: &dyn Watch) -> Result<(), Failure> {
    // Some say that all is well and send an error.
    if answer["error"].is_object() {
        return Err(Failure::in_stream(answer));
    }
    reader.whole(answer, &mut |piece| watch.heard(piece))
}

async fn streamed(
    pieces: &mut Pieces,
    reader: &mut dyn Reader,
    silence: &mut Silence<'_>,
    watch: &dyn Watch,
) -> Result<(), Failure> {
    let mut events = Events::default();
    let mut tell = |piece: Piece<'_>| watch.heard(piece);
    loop {
        let piece = match pieces.next(silence).await {
            Ok(Some(piece)) => piece,
            Ok(None) | Err(Failure::CutOff) => break,
            Err(failure) => return Err(failure),
        };
        for found in events.take(&piece)? {
            let flow = match found {
                Found::Event(event) => reader.event(&event, &mut tell)?,
                Found::Comment => Flow::IsAlive,
            };
            match flow {
                Flow::GoesOn => silence.progresses(),
                Flow::IsAlive => {
                    silence.is_alive();
                    tell(Piece::Alive);
                }
                Flow::IsOver => {
                    // The gateway counts until its end, and what it counted is to be known when we go on.
                    let _ = tokio::time::timeout(LAST_PATIENCE, pieces.words(silence)).await;
                    return Ok(());
                }
            }
        }
    }
    let is_over = match events.finish() {
        Some(event) => reader.event(&event, &mut tell)? == Flow::IsOver,
        None => false,
    };
    if is_over || reader.may_end() { Ok(()) } else { Err(Failure::CutOff) }
}
