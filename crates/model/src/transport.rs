//! One request on the socket of a gateway, and what comes back of it.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;

use crate::failure::Failure;
use crate::request::Door;
use crate::silence::Silence;
use crate::wire::Wire;

/// No answer is longer than this. Whoever sends more does not answer.
pub(crate) const MOST_BYTES: usize = 16 * 1024 * 1024;
/// The revision of the Messages protocol; there is no other.
const ANTHROPIC_VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// Sends a request and waits for the head of its answer.
pub(crate) async fn send(door: &Door, wire: Wire, body: Vec<u8>) -> Result<Response<Incoming>, Failure> {
    let stream = UnixStream::connect(&door.socket).await.map_err(|error| Failure::network(&error))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| Failure::network(&error))?;
    tokio::spawn(connection);
    let request = request(door, wire, body).map_err(|error| Failure::network(&error))?;
    sender.send_request(request).await.map_err(|error| Failure::network(&error))
}

fn request(door: &Door, wire: Wire, body: Vec<u8>) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
    let request = Request::post(format!("/model/{}/{}", door.provider, wire.path()))
        .header(HOST, "gateway")
        .header(USER_AGENT, concat!("longhaul/", env!("CARGO_PKG_VERSION")))
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "text/event-stream, application/json");
    let secret = |text: String| {
        HeaderValue::try_from(text).map(|mut value| {
            value.set_sensitive(true);
            value
        })
    };
    let request = match wire {
        Wire::AnthropicMessages => {
            let (name, version) = ANTHROPIC_VERSION;
            request.header("x-api-key", secret(door.token.clone())?).header(name, version)
        }
        Wire::OpenAiChat | Wire::OpenAiResponses => {
            request.header(AUTHORIZATION, secret(format!("Bearer {}", door.token))?)
        }
    };
    request.body(Full::new(body.into()))
}

/// What comes, piece by piece, and not too much of it.
pub(crate) struct Pieces {
    body: Incoming,
    length: usize,
}

impl Pieces {
    pub(crate) const fn of(body: Incoming) -> Self {
        Self { body, length: 0 }
    }

    /// The next piece, or none at a clean end. What breaks off is [`Failure::CutOff`].
    pub(crate) async fn next(&mut self, silence: &mut Silence<'_>) -> Result<Option<Bytes>, Failure> {
        loop {
            let Some(frame) = silence.wait(self.body.frame()).await? else { return Ok(None) };
            let Ok(piece) = frame.map_err(|_| Failure::CutOff)?.into_data() else { continue };
            self.length += piece.len();
            if self.length > MOST_BYTES {
                return Err(Failure::garbage("it is longer than 16 MB, and has no end"));
            }
            return Ok(Some(piece));
        }
    }

    /// All of it.
    pub(crate) async fn whole(&mut self, silence: &mut Silence<'_>) -> Result<Vec<u8>, Failure> {
        let mut whole = Vec::new();
        while let Some(piece) = self.next(silence).await? {
            silence.progresses();
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }

    /// As much of an error as comes: its number says enough.
    pub(crate) async fn words(&mut self, silence: &mut Silence<'_>) -> Result<Vec<u8>, Failure> {
        let mut words = Vec::new();
        loop {
            match self.next(silence).await {
                Ok(Some(piece)) => words.extend_from_slice(&piece),
                Err(Failure::Stopped) => return Err(Failure::Stopped),
                Ok(None) | Err(_) => return Ok(words),
            }
        }
    }
}
