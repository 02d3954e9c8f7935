//! Asking a daemon that runs, through its socket.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::runtime::Builder;

use crate::rows::ErrorRow;
use crate::socket;

/// More is no answer of ours.
const MOST_BYTES: usize = 64 << 20;
/// A task that is ended may take its time.
const PATIENCE: Duration = Duration::from_mins(1);

/// A daemon that answers.
#[derive(Debug, Clone)]
pub struct Client {
    socket: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("the daemon did not answer: {0}; `longhaul daemon status` tells how it is")]
    Gone(#[source] io::Error),
    #[error("the daemon's answer is not what it should be: {0}; it may be of another release, restart it")]
    Strange(String),
    /// It said no, in these words.
    #[error("{message}")]
    Refused { code: Option<String>, message: String, status: u16 },
}

impl Client {
    /// The daemon that listens there; none if nobody does.
    pub fn find(socket: &Path) -> Option<Self> {
        socket::connect(socket).ok().map(|_| Self { socket: socket.to_owned() })
    }

    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        read(&self.ask(Method::GET, path, Bytes::new())?)
    }

    pub fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, ClientError> {
        read(&self.ask(Method::POST, path, Bytes::from(body.to_string()))?)
    }

    /// The text that the daemon answers with.
    pub fn text(&self, path: &str) -> Result<String, ClientError> {
        let bytes = self.ask(Method::GET, path, Bytes::new())?;
        String::from_utf8(bytes.to_vec()).map_err(|error| ClientError::Strange(error.to_string()))
    }

    fn ask(&self, method: Method, path: &str, body: Bytes) -> Result<Bytes, ClientError> {
        let gone = |error: &dyn std::fmt::Display| ClientError::Gone(io::Error::other(error.to_string()));
        let stream = socket::connect(&self.socket).map_err(ClientError::Gone)?;
        stream.set_nonblocking(true).map_err(ClientError::Gone)?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(ClientError::Gone)?;
        let request = Request::builder().method(method).uri(path).header(HOST, "localhost");
        let request = request.header(CONTENT_TYPE, "application/json").body(Full::new(body));
        let request = request.map_err(|error| ClientError::Strange(error.to_string()))?;
        let asked = runtime.block_on(async {
            let stream = UnixStream::from_std(stream)?;
            let shaken = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
            let (mut sender, connection) = shaken.map_err(io::Error::other)?;
            tokio::spawn(connection);
            let answer = async {
                let response = sender.send_request(request).await.map_err(io::Error::other)?;
                let (head, body) = response.into_parts();
                let body = Limited::new(body, MOST_BYTES).collect().await.map_err(io::Error::other)?;
                Ok::<_, io::Error>((head.status, body.to_bytes()))
            };
            tokio::time::timeout(PATIENCE, answer)
                .await
                .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
        });
        let (status, bytes) = asked.map_err(|error| gone(&error))?;
        if status.is_success() {
            return Ok(bytes);
        }
        let ErrorRow { error } = read(&bytes)?;
        Err(ClientError::Refused { code: error.code, message: error.message, status: status.as_u16() })
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ClientError> {
    serde_json::from_slice(bytes).map_err(|error| ClientError::Strange(error.to_string()))
}
