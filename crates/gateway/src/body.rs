//! Contents on their way through, and answers of our own.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};

pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What goes through, piece by piece.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// An answer that is being made.
pub type Answer = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// What answers requests for the tools of a session.
pub type Handler = Arc<dyn Fn(Request<Body>) -> Answer + Send + Sync>;

/// What comes in, as it comes in.
pub(crate) fn incoming(body: Incoming) -> Body {
    body.map_err(BoxError::from).boxed_unsync()
}

/// All of it, if it is no longer than this and comes to its end.
pub(crate) async fn collected(mut body: Body, most: usize) -> Result<Bytes, BoxError> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame?.into_data() else { continue };
        if bytes.len() + piece.len() > most {
            return Err("it is too long".into());
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes.into())
}

pub(crate) fn whole(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// An answer of our own, in words.
pub fn text(status: StatusCode, words: impl Into<String>) -> Response<Body> {
    let mut response = Response::new(whole(words.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// An answer of our own, as JSON.
pub(crate) fn json(status: StatusCode, value: &serde_json::Value) -> Response<Body> {
    let mut response = Response::new(whole(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
