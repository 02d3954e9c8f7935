//! One request of our own to a server that a person named: what is told to a collector, a notification. For nobody's
//! session, and so on no socket.
//!
//! It never follows to another address, and it never tries again: who asks decides that.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::http::uri::Uri;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::Error;
use crate::body::{Body, collected, incoming};
use crate::upstream::Base;

/// What a server says beyond this is of no interest.
const MOST_BYTES: usize = 64 * 1024;

/// Sends requests from a thread that may wait.
#[derive(Debug)]
pub struct Poster {
    runtime: Runtime,
}

/// Where something is sent, and what is shown there.
#[derive(Clone)]
pub struct Target {
    base: Base,
    /// Path and query, as it was named.
    path: String,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl fmt::Debug for Target {
    /// What is shown in headers is nobody's business.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({}{})", self.base.authority(), self.base.path())
    }
}

/// What is sent.
#[derive(Debug)]
pub struct Post {
    pub content_type: &'static str,
    pub body: Vec<u8>,
    /// How long all of it may take.
    pub patience: Duration,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replied {
    pub status: u16,
    /// For how long the server wants to be left alone.
    pub retry_after: Option<Duration>,
    pub body: Vec<u8>,
}

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    #[error("nothing came back within {}s", .0.as_secs())]
    Silent(Duration),
    #[error("it was not reached: {0}")]
    Network(#[source] std::io::Error),
    #[error("what came back is not HTTP: {0}")]
    Garbage(#[source] hyper::Error),
}

/// Why nobody is known to have got what was sent to an address that is a secret. None of these holds anything of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    #[error("the address cannot be used: {0}; keep it anew, as in `https://hooks.example.com/…`")]
    Address(&'static str),
    #[error("nobody could be reached there ({0})")]
    Unreachable(String),
    #[error("no answer came within {} seconds", .0.as_secs())]
    TimedOut(Duration),
    #[error("the answer broke off")]
    Broken,
    #[error("it was answered with status {0}")]
    Status(u16),
}

/// Sends one JSON value to an address that is a secret itself. For threads that may wait, and never within an asynchronous
/// task.
pub fn post_json(address: &str, value: &Value, patience: Duration) -> Result<(), HookError> {
    let target = Target::new(address.trim(), &[]).map_err(|error| match error {
        Error::Address { problem, .. } => HookError::Address(problem),
        _ => HookError::Address("it cannot be sent to"),
    })?;
    let poster = Poster::new().map_err(|_| HookError::Unreachable("no thread could be had".to_owned()))?;
    let body = value.to_string().into_bytes();
    match poster.send(&target, Post { content_type: "application/json", body, patience }) {
        Ok(Replied { status: 200..=299, .. }) => Ok(()),
        Ok(Replied { status, .. }) => Err(HookError::Status(status)),
        Err(PostError::Silent(patience)) => Err(HookError::TimedOut(patience)),
        Err(PostError::Garbage(_)) => Err(HookError::Broken),
        Err(PostError::Network(error)) => Err(HookError::Unreachable(kind_of(&error))),
    }
}

/// The kind alone: what libraries say beyond that may name the host.
fn kind_of(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::InvalidData => "its certificate is not trusted here".to_owned(),
        kind => kind.to_string(),
    }
}

impl Target {
    /// A full address, such as `https://collector.example.com/v1/traces`, and headers, whose values are secret.
    pub fn new(address: &str, headers: &[(String, String)]) -> Result<Self, Error> {
        let header = |(name, value): &(String, String)| {
            let name = HeaderName::try_from(name.as_str()).map_err(|_| Error::Header)?;
            let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| Error::Header)?;
            value.set_sensitive(true);
            Ok((name, value))
        };
        let headers: Result<Vec<_>, Error> = headers.iter().map(header).collect();
        let base = Base::new(address)?;
        let uri: Uri = address.parse().expect("it was read a moment ago");
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Self { base, path, headers: headers? })
    }

    fn request(&self, post: &mut Post) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(std::mem::take(&mut post.body).into()));
        *request.method_mut() = hyper::Method::POST;
        *request.uri_mut() = self.path.parse().expect("it is the path of an address");
        let headers = request.headers_mut();
        let host = HeaderValue::from_str(self.base.authority()).expect("it is the host of an address");
        headers.insert(HOST, host);
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("longhaul/", env!("CARGO_PKG_VERSION"))));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(post.content_type));
        headers.extend(self.headers.iter().cloned());
        request
    }
}

impl Poster {
    pub fn new() -> Result<Self, Error> {
        Ok(Self { runtime: Builder::new_current_thread().enable_all().build().map_err(Error::Start)? })
    }

    /// Sends it and waits for what comes back.
    pub fn send(&self, target: &Target, mut post: Post) -> Result<Replied, PostError> {
        let patience = post.patience;
        let request = target.request(&mut post);
        self.runtime.block_on(async {
            let replied = tokio::time::timeout(patience, replied(&target.base, request)).await;
            replied.unwrap_or(Err(PostError::Silent(patience)))
        })
    }
}

async fn replied(base: &Base, request: Request<Full<Bytes>>) -> Result<Replied, PostError> {
    let stream = base.connect().await.map_err(PostError::Network)?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(PostError::Garbage)?;
    // Given up with the answer: it is driven from here, and by nobody else.
    let answer = async {
        let response = sender.send_request(request).await.map_err(PostError::Garbage)?;
        Ok(read(response).await)
    };
    let mut connection = std::pin::pin!(connection);
    let mut answer = std::pin::pin!(answer);
    tokio::select! {
        biased;
        replied = &mut answer => replied,
        ended = &mut connection => match ended {
            Ok(()) => answer.await,
            Err(error) => Err(PostError::Garbage(error)),
        },
    }
}

/// Its number says enough; of its words as much as comes.
async fn read(response: Response<hyper::body::Incoming>) -> Replied {
    let status = response.status().as_u16();
    let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let body: Body = incoming(response.into_body());
    let body = collected(body, MOST_BYTES).await.map(|bytes| bytes.to_vec()).unwrap_or_default();
    Replied { status, retry_after: seconds.map(Duration::from_secs), body }
}
