//! One JSON value to an address that is a secret itself. Asks once, follows nobody, and says nothing of the address.

use std::io;
use std::time::Duration;

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper::http::uri::Uri;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::runtime::Builder;

use crate::upstream::Peer;

/// Why nobody is known to have got it. None of these holds anything of the address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
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

/// Sends it and waits for the head of the answer. For threads that may wait, and never within an asynchronous task.
pub fn post_json(address: &str, value: &Value, patience: Duration) -> Result<(), PostError> {
    let uri: Uri = address.trim().parse().map_err(|_| PostError::Address("it cannot be read"))?;
    let peer = Peer::of(&uri).map_err(PostError::Address)?;
    // Its own, for this one request: when it is dropped the connection is closed, whatever was under way on it.
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| unreachable(&error))?;
    runtime.block_on(async {
        let sent = tokio::time::timeout(patience, send(&peer, &uri, value));
        sent.await.unwrap_or(Err(PostError::TimedOut(patience)))
    })
}

async fn send(peer: &Peer, uri: &Uri, value: &Value) -> Result<(), PostError> {
    let request = request(peer, uri, value).map_err(|_| PostError::Address("it cannot be sent to"))?;
    let stream = peer.connect().await.map_err(|error| unreachable(&error))?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|_| PostError::Broken)?;
    tokio::spawn(connection);
    let answer = sender.send_request(request).await.map_err(|_| PostError::Broken)?;
    let status = answer.status();
    if status.is_success() { Ok(()) } else { Err(PostError::Status(status.as_u16())) }
}

fn request(peer: &Peer, uri: &Uri, value: &Value) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let mut host = HeaderValue::try_from(peer.authority())?;
    host.set_sensitive(true);
    Request::post(target)
        .header(HOST, host)
        .header(USER_AGENT, concat!("longhaul/", env!("CARGO_PKG_VERSION")))
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(value.to_string().into()))
}

/// The kind alone: what libraries say beyond that may name the host.
fn unreachable(error: &io::Error) -> PostError {
    let kind = match error.kind() {
        io::ErrorKind::InvalidData => "its certificate is not trusted here".to_owned(),
        kind => kind.to_string(),
    };
    PostError::Unreachable(kind)
}
