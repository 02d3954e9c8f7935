//! A gateway of its own for each test, clients that write exactly what they are told, and servers that tell what they saw.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhaul_core::hosts::HostPattern;
use longhaul_gateway::{
    Gateway, Handler, Listen, Meter, Options, StatusCode, Token, Unmetered, Upstreams, start, text,
};
use tempfile::TempDir;

/// Long enough for a slow machine, and short enough to fail.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) gateway: Gateway,
    pub(crate) token: Token,
    pub(crate) told: Arc<Mutex<Vec<String>>>,
    pub(crate) folder: TempDir,
}

pub(crate) struct Made {
    pub(crate) hosts: Vec<String>,
    pub(crate) listen: Listen,
    pub(crate) upstreams: Upstreams,
    pub(crate) meter: Arc<dyn Meter>,
}

impl Default for Made {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            listen: Listen::Socket,
            upstreams: BTreeMap::new(),
            meter: Arc::new(Unmetered),
        }
    }
}

impl Made {
    pub(crate) fn letting(hosts: &[String]) -> Self {
        Self { hosts: hosts.to_vec(), ..Self::default() }
    }

    pub(crate) fn open(self) -> World {
        let folder = tempfile::tempdir().unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let (heard, token) = (told.clone(), Token::random());
        let leaf: Handler = Arc::new(|request| {
            Box::pin(async move { text(StatusCode::OK, format!("tools for {}\n", request.uri())) })
        });
        let options = Options {
            socket: folder.path().join("run/s-test.sock"),
            listen: self.listen,
            hosts: self.hosts.iter().map(|host| HostPattern::parse(host).unwrap()).collect(),
            token: token.clone(),
            upstreams: self.upstreams,
            meter: self.meter,
            leaf: Some(leaf),
            tell: Arc::new(move |wanted| heard.lock().unwrap().push(wanted.to_string())),
        };
        World { gateway: start(options).unwrap(), token, told, folder }
    }
}

impl World {
    pub(crate) fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.gateway.socket()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// What the session shows to the proxy.
    pub(crate) fn pass(&self) -> String {
        format!("Proxy-Authorization: Bearer {}\r\n", self.token.reveal())
    }

    /// Writes this as the session would, with its token unless a model is asked, and reads whatever comes until the
    /// connection ends. A request says `Connection: close`.
    pub(crate) fn say(&self, text: impl AsRef<str>) -> String {
        let text = text.as_ref();
        let (line, after) = text.split_once("\r\n").unwrap_or((text, ""));
        let token = match line.split(' ').nth(1).unwrap_or_default() {
            target if target.starts_with("/model/") => String::new(),
            target if line.starts_with("GET ") && (target.starts_with('/') || target == "*") => {
                format!("Authorization: Bearer {}\r\n", self.token.reveal())
            }
            _ => self.pass(),
        };
        self.say_as_stranger(format!("{line}\r\n{token}{after}"))
    }

    /// Writes exactly this.
    pub(crate) fn say_as_stranger(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect();
        // Whoever is refused early does not read all of it.
        let _ = stream.write_all(bytes.as_ref());
        rest(stream)
    }

    pub(crate) fn get(&self, target: &str) -> String {
        self.say(format!("GET {target} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n"))
    }

    /// It still answers.
    pub(crate) fn lives(&self) {
        assert!(self.get("/mcp").contains("tools for /mcp"), "the gateway does not answer any more");
    }
}

pub(crate) fn rest(mut stream: impl std::io::Read) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(crate) fn status(answer: &str) -> u16 {
    let code = answer.strip_prefix("HTTP/1.1 ").or_else(|| answer.strip_prefix("HTTP/1.0 "));
    code.and_then(|code| code.get(..3)?.parse().ok()).unwrap_or_else(|| panic!("no answer in {answer:?}"))
}

/// A server that answers each connection once, in pieces, and keeps what it was asked.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn answering(pieces: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let book = heard.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (book, pieces) = (book.clone(), pieces.clone());
                std::thread::spawn(move || answer(stream, &book, &pieces));
            }
        });
        Self { address, heard }
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

fn answer(stream: TcpStream, book: &Mutex<Vec<String>>, pieces: &[String]) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut request = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if let Some(given) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = given.trim().parse().unwrap();
        }
        request.push_str(&line);
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    request.push_str(&String::from_utf8_lossy(&body));
    book.lock().unwrap().push(request);
    let mut stream = stream;
    for piece in pieces {
        if stream.write_all(piece.as_bytes()).and_then(|()| stream.flush()).is_err() {
            return;
        }
    }
}

/// A whole answer.
pub(crate) fn ok(kind: &str, body: &str) -> Vec<String> {
    answer_with("200 OK", kind, body)
}

pub(crate) fn answer_with(status: &str, kind: &str, body: &str) -> Vec<String> {
    let length = body.len();
    vec![format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )]
}
