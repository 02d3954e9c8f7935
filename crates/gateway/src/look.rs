//! A look at a provider from outside of any session: whether it is there, takes the key, and which models it has.

use std::future::Future;
use std::io;
use std::time::Duration;

use hyper::header::{ACCEPT, ACCEPT_ENCODING, HOST, HeaderName, HeaderValue};
use hyper::{Method, Request};

use crate::body::{collected, whole};
use crate::proxy;
use crate::upstream::{Protocol, Upstream};

/// No list of models is longer.
const MOST_BYTES: usize = 16 * 1024 * 1024;
const ANTHROPIC_VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));

/// What a provider answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Upstream {
    /// Whether somebody takes a connection.
    pub fn is_there(&self, patience: Duration) -> bool {
        self.reach(patience).is_ok()
    }

    /// Connects, and says why that does not work.
    pub fn reach(&self, patience: Duration) -> io::Result<()> {
        waited(patience, async { self.connect().await.map(drop) })
    }

    /// Asks for the list of models, with the key; nothing is counted and nothing costs.
    pub fn models(&self, patience: Duration) -> io::Result<Looked> {
        waited(patience, async {
            let request = self.question().map_err(io::Error::other)?;
            let answer = proxy::send(self.connect().await?, request).await.map_err(io::Error::other)?;
            let status = answer.status().as_u16();
            let body = collected(answer.into_body(), MOST_BYTES).await.map_err(io::Error::other)?;
            Ok(Looked { status, body: body.to_vec() })
        })
    }

    fn question(&self) -> Result<Request<crate::Body>, hyper::http::Error> {
        let query = match self.protocol {
            Protocol::Anthropic => "?limit=1000",
            Protocol::OpenAi => "",
        };
        let mut request = Request::builder()
            .method(Method::GET)
            .uri(format!("{}{query}", self.path_of("v1/models")))
            .header(HOST, self.authority())
            .header(ACCEPT, "application/json")
            .header(ACCEPT_ENCODING, "identity")
            .body(whole(""))?;
        let (name, value) = self.key.clone();
        request.headers_mut().insert(name, value);
        if self.protocol == Protocol::Anthropic {
            let (name, value) = ANTHROPIC_VERSION;
            request.headers_mut().insert(name, value);
        }
        Ok(request)
    }
}

/// Waits on this thread, for so long and no longer.
fn waited<T>(patience: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let waiting = async { tokio::time::timeout(patience, work).await };
    let done = runtime.block_on(waiting);
    // A name that is still being looked up is nobody's to wait for.
    runtime.shutdown_background();
    done.unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "no answer came in time")))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread;

    use super::*;
    use crate::upstream::Credential;

    fn answering(answer: &'static str) -> (String, thread::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let mut heard = Vec::new();
            while !heard.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                client.read_exact(&mut byte).unwrap();
                heard.extend(byte);
            }
            client.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(heard).unwrap()
        });
        (base, server)
    }

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn a_provider_is_asked_for_its_models_with_the_key() {
        let (base, server) = answering("HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{\"data\":[]}");
        let upstream =
            Upstream::showing(&base, Protocol::Anthropic, &Credential::XApiKey("the-key")).unwrap();
        let looked = upstream.models(MINUTE).unwrap();
        assert_eq!(looked, Looked { status: 200, body: b"{\"data\":[]}".to_vec() });
        let heard = server.join().unwrap();
        assert!(heard.starts_with("GET /v1/models?limit=1000 HTTP/1.1\r\n"), "{heard}");
        assert!(heard.contains("x-api-key: the-key\r\n") && heard.contains("anthropic-version: "), "{heard}");
    }

    #[test]
    fn who_does_not_answer_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let silent = Upstream::showing(&base, Protocol::OpenAi, &Credential::Nothing).unwrap();
        assert!(silent.is_there(MINUTE));
        let error = silent.models(Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(listener);
        assert!(!silent.is_there(MINUTE));
    }

    #[test]
    fn a_key_that_no_header_can_hold_is_refused_and_not_shown() {
        let error =
            Upstream::showing("http://a.example", Protocol::OpenAi, &Credential::Bearer("a\nreal-key"))
                .unwrap_err();
        assert!(!error.to_string().contains("real-key"), "{error}");
    }
}
