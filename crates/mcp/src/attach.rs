//! A relay without a state of its own: lines on one side, the gateway of a session on the other.
//!
//! Each line is one request, so that it does not matter who serves the gateway by then. If nobody does, or whoever did
//! dies in the middle, the line is sent again for a while: every tool of a session may be called twice, and writes once.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use longhaul_runtime::leaf::{Effect, TOOLS};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::protocol::{Line, Lines, MOST_BYTES, too_long};

/// How long a line waits for somebody to serve the gateway. A runner that died is replaced within a second.
const PATIENCE: Duration = Duration::from_secs(20);
const TRY_EVERY: Duration = Duration::from_millis(100);
/// How many requests are under way at once; more wait.
const AT_ONCE: usize = 16;
/// How long answers may still come when the client has closed its side.
const LAST_PATIENCE: Duration = Duration::from_secs(10);
/// Where a request says in which revision it speaks.
const VERSION_IN_BODY: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
/// What a client is told whose call was answered by nobody.
const UNANSWERED: i64 = -32000;

/// Relays standard input and output until the client closes them.
pub fn attach(socket: &Path, token: Option<&str>) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let gateway = Gateway::new(socket, token);
    let served = runtime.block_on(async {
        let (input, output) = rmcp::transport::stdio_pipes();
        relay(Arc::new(gateway), input, output).await
    });
    // Without waiting for a thread that reads an input which nobody closes.
    runtime.shutdown_background();
    served
}

/// Where everything goes.
#[derive(Debug)]
struct Gateway {
    socket: Box<Path>,
    token: Option<Box<str>>,
    patience: Duration,
    /// The revision that was last agreed on, which later requests name in their head.
    version: Mutex<Option<String>>,
}

async fn relay<R, W>(gateway: Arc<Gateway>, input: R, mut output: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (out, mut waiting) = mpsc::channel::<Vec<u8>>(AT_ONCE);
    // One task writes, so that no line is torn by another.
    let writer = tokio::spawn(async move {
        while let Some(mut line) = waiting.recv().await {
            line.push(b'\n');
            if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
                return;
            }
        }
    });
    let mut lines = Lines::new(input, MOST_BYTES);
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut under_way = JoinSet::new();
    loop {
        let place = room.clone().acquire_owned().await.map_err(io::Error::other)?;
        while under_way.try_join_next().is_some() {}
        match lines.next().await? {
            Line::End => break,
            Line::TooLong => {
                let answer = serde_json::to_vec(&too_long()).map_err(io::Error::other)?;
                let _ = out.send(answer).await;
            }
            Line::Whole(line) if line.trim_ascii().is_empty() => {}
            Line::Whole(line) => {
                let asked = Asked::read(line);
                let (gateway, out, opens) = (gateway.clone(), out.clone(), asked.is("initialize"));
                let told = async move {
                    for answer in gateway.ask(&asked).await {
                        let _ = out.send(answer).await;
                    }
                    drop(place);
                };
                // What it agrees on is said with everything that follows.
                if opens {
                    told.await;
                } else {
                    under_way.spawn(told);
                }
            }
        }
    }
    drop(out);
    let last = async {
        under_way.join_all().await;
        writer.await
    };
    let _ = tokio::time::timeout(LAST_PATIENCE, last).await;
    Ok(())
}

/// A line, and what it says of itself. What is no message is handed on all the same, to be answered as any server would.
#[derive(Debug)]
struct Asked {
    line: Bytes,
    value: Value,
}

impl Asked {
    fn read(line: Vec<u8>) -> Self {
        let value = serde_json::from_slice(&line).unwrap_or_default();
        Self { line: line.into(), value }
    }

    fn is(&self, method: &str) -> bool {
        self.value["method"] == method
    }

    /// Whether it does no harm to ask twice. A tool that nobody knows is refused twice.
    fn may_be_sent_again(&self) -> bool {
        let tool = self.value["params"]["name"].as_str().filter(|_| self.is("tools/call"));
        let known = tool.and_then(|name| TOOLS.iter().find(|tool| tool.name == name));
        known.is_none_or(|tool| tool.effect != Effect::Records)
    }

    /// What the newest revision wants in the head beside the body.
    fn heads(&self) -> Vec<(&'static str, &str)> {
        let text = |pointer: &str| self.value.pointer(pointer).and_then(Value::as_str);
        let Some(version) = text(VERSION_IN_BODY) else { return Vec::new() };
        let named = text("/params/name").or_else(|| text("/params/uri"));
        let mut heads = vec![("mcp-protocol-version", version)];
        heads.extend(text("/method").map(|method| ("mcp-method", method)));
        heads.extend(named.map(|name| ("mcp-name", name)));
        // What fits in no head is missed there, and refused by whoever looks for it.
        heads.retain(|(_, value)| value.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' '));
        heads
    }
}

/// Why a line has no answer.
enum BrokenOff {
    /// Nobody has seen it.
    Unsent(String),
    /// Somebody may have done what it asks.
    Sent(String),
}

impl Gateway {
    fn new(socket: &Path, token: Option<&str>) -> Self {
        let token = token.map(Into::into);
        Self { socket: socket.into(), token, patience: PATIENCE, version: Mutex::default() }
    }

    /// All that is answered to a line: nothing to a notification, one message to a request, or more.
    async fn ask(&self, asked: &Asked) -> Vec<Vec<u8>> {
        let start = Instant::now();
        let mut problem = String::new();
        while start.elapsed() < self.patience {
            match self.send(asked).await {
                Ok(answers) => {
                    if asked.is("initialize") {
                        self.agree(&answers);
                    }
                    return answers;
                }
                Err(BrokenOff::Unsent(error)) => problem = error,
                Err(BrokenOff::Sent(error)) => {
                    problem = error;
                    if !asked.may_be_sent_again() {
                        break;
                    }
                }
            }
            tokio::time::sleep(TRY_EVERY).await;
        }
        let Some(id) = asked.value.get("id") else { return Vec::new() };
        let message = format!(
            "nobody serves the gateway of this session now ({problem}); what was asked may or may not have been done, ask again later"
        );
        let answer =
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": UNANSWERED, "message": message } });
        vec![answer.to_string().into_bytes()]
    }

    async fn send(&self, asked: &Asked) -> Result<Vec<Vec<u8>>, BrokenOff> {
        let unsent = |error: &dyn std::fmt::Display| BrokenOff::Unsent(error.to_string());
        let sent = |error: hyper::Error| BrokenOff::Sent(error.to_string());
        let stream = UnixStream::connect(&*self.socket).await.map_err(|error| unsent(&error))?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| unsent(&error))?;
        tokio::spawn(connection);
        let request = self.request(asked).map_err(|error| unsent(&error))?;
        let response = sender.send_request(request).await.map_err(sent)?;
        answers(response, asked).await.map_err(sent)
    }

    fn request(&self, asked: &Asked) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
        let mut request = Request::post("/mcp")
            .header(HOST, "localhost")
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let heads = asked.heads();
        let agreed = self.version.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(agreed) = agreed.filter(|_| heads.is_empty() && !asked.is("initialize")) {
            request = request.header("mcp-protocol-version", agreed);
        }
        let request = heads.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        request.body(Full::new(asked.line.clone()))
    }

    fn agree(&self, answers: &[Vec<u8>]) {
        let answer: Value =
            answers.last().and_then(|last| serde_json::from_slice(last).ok()).unwrap_or_default();
        let version = answer["result"]["protocolVersion"].as_str().map(str::to_owned);
        *self.version.lock().unwrap_or_else(PoisonError::into_inner) = version;
    }
}

/// The messages of an answer, each on one line.
async fn answers(response: Response<Incoming>, asked: &Asked) -> Result<Vec<Vec<u8>>, hyper::Error> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let are_events = kind.starts_with("text/event-stream");
    let is_json = kind.starts_with("application/json");
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    if are_events {
        let data = body.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
        return Ok(data
            .map(<[u8]>::trim_ascii)
            .filter(|data| !data.is_empty())
            .map(<[u8]>::to_vec)
            .collect());
    }
    if is_json {
        return Ok(one_line(&body).into_iter().collect());
    }
    if !status.is_success() {
        let words = String::from_utf8_lossy(&body).trim().to_owned();
        let error =
            json!({ "code": UNANSWERED, "message": format!("the gateway refused ({status}): {words}") });
        let id = asked.value.get("id");
        return Ok(id
            .map(|id| json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes())
            .into_iter()
            .collect());
    }
    Ok(Vec::new())
}

/// JSON may stand on many lines; between us and a client a line is a message.
fn one_line(body: &[u8]) -> Option<Vec<u8>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    Some(value.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixListener;

    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// One connection: what was asked, and what is answered to it, if anything is.
    fn serve_once(socket: &Path, answer: Option<&str>) -> String {
        let _ = std::fs::remove_file(socket);
        let listener = UnixListener::bind(socket).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = String::new();
        // The last byte of the only line that is sent here.
        while !asked.ends_with('}') {
            let mut piece = [0; 1024];
            let length = stream.read(&mut piece).unwrap();
            asked.push_str(std::str::from_utf8(&piece[..length]).unwrap());
        }
        if let Some(body) = answer {
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
            )
            .unwrap();
        }
        asked
    }

    async fn relayed(gateway: Gateway, line: &str) -> String {
        let (mut client, server) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(server);
        client.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        let (mut answers, mut asking) = tokio::io::split(client);
        asking.shutdown().await.unwrap();
        relay(Arc::new(gateway), input, output).await.unwrap();
        let mut answered = String::new();
        answers.read_to_string(&mut answered).await.unwrap();
        answered
    }

    #[tokio::test]
    async fn a_call_whose_server_died_is_asked_again_of_the_next_and_answered_once() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("gateway.sock");
        let place = socket.clone();
        let servers = std::thread::spawn(move || {
            let first = serve_once(&place, None);
            let second = serve_once(&place, Some(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#));
            (first, second)
        });
        let answered =
            relayed(Gateway::new(&socket, Some("lh-token")), r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#)
                .await;
        assert_eq!(answered, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n");
        let (first, second) = servers.join().unwrap();
        assert_eq!(first, second);
        assert!(first.contains("authorization: Bearer lh-token"), "{first}");
    }

    #[tokio::test]
    async fn where_nobody_serves_a_request_gets_an_error_and_a_notification_gets_nothing() {
        let gateway = || Gateway {
            patience: Duration::from_millis(200),
            ..Gateway::new(Path::new("/nonexistent/gateway.sock"), None)
        };
        let answered = relayed(gateway(), r#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#).await;
        let answer: Value = serde_json::from_str(&answered).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("a"), &json!(UNANSWERED)));
        assert!(answer["error"]["message"].as_str().unwrap().contains("ask again later"), "{answer}");
        assert_eq!(relayed(gateway(), r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await, "");
    }

    #[test]
    fn only_what_would_be_done_twice_is_never_sent_again() {
        let called = |tool: &str| {
            let call =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool } });
            Asked::read(call.to_string().into_bytes()).may_be_sent_again()
        };
        let never: Vec<&str> = TOOLS.iter().map(|tool| tool.name).filter(|tool| !called(tool)).collect();
        assert_eq!(never, ["spawn"]);
        assert!(called("nonsense"));
    }

    #[tokio::test]
    async fn a_worker_is_not_asked_for_twice_when_its_server_dies() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("gateway.sock");
        let place = socket.clone();
        let server = std::thread::spawn(move || serve_once(&place, None));
        let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"spawn"}}"#;
        let answered = relayed(Gateway::new(&socket, None), call).await;
        assert!(answered.contains("may or may not have been done"), "{answered}");
        server.join().unwrap();
    }

    #[test]
    fn what_the_newest_revision_wants_in_the_head_is_taken_from_the_body() {
        let asked = Asked::read(
            br#"{"method":"tools/call","params":{"name":"note_fact","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#.to_vec(),
        );
        assert_eq!(
            asked.heads(),
            [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "note_fact")]
        );
        assert!(Asked::read(b"garbage".to_vec()).heads().is_empty());
    }
}
