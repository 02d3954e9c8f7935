//! A home with a repository `shop`, a trigger `hook`, and a daemon whose doors are open. Its queue is paused: nothing starts.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use longhaul_exec::{Program, run};
use longhaul_runtime::lifecycle::Serve as _;
use longhaul_runtime::{Daemon, Places, Settings, System, TaskView};
use longhaul_web::{Client, Inside, Limits, Web, WebOptions};
use serde_json::Value;
use sha2::Sha256;

pub(crate) const SECRET: &str = "kept-between-the-two-of-us";

pub(crate) const HOOK: &str = "
triggers:
  - id: hook
    workspace: shop
    webhook: { secret: $HOOK_SECRET }
    when: { path: $.n, exists: true }
    goal: \"Do {{$.n}}\"
  - id: nightly
    workspace: shop
    schedule: { cron: \"0 2 * * *\", zone: UTC }
    goal: Audit.
";

pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) web: Web,
    pub(crate) daemon: Arc<Daemon>,
}

/// A request over TCP, and what came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// `None` if the other side closed without a word.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() })
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("shop")).unwrap();
        let init = Program::new("git").args(["init", "--quiet"]).directory(path.join("shop"));
        assert!(run(&init).unwrap().succeeded());
        let places = Places::under(&path.join("home"));
        fs::create_dir_all(&places.config).unwrap();
        fs::write(places.triggers(), HOOK).unwrap();
        let commands = system(&path).commands().unwrap();
        commands.add_workspace(&path.join("shop"), None).unwrap();
        commands.pause_queue(None, "ada", Some("a test")).unwrap();
        let daemon = Daemon::start(system(&path)).unwrap();
        let intake = Arc::clone(daemon.intake());
        let metrics = Arc::new(|| "longhaul_up 1\n".to_owned());
        let inside = Inside { daemon: Arc::clone(&daemon), intake, metrics };
        let web = Web::start(
            inside,
            WebOptions {
                listen: Some("127.0.0.1:0".parse().unwrap()),
                socket: places.control_socket(),
                token: places.control_token(),
                limits,
            },
        );
        Self { folder, web: web.unwrap(), daemon }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn places(&self) -> Places {
        Places::under(&self.path().join("home"))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.web.address().unwrap()
    }

    pub(crate) fn token(&self) -> String {
        fs::read_to_string(self.places().control_token()).unwrap()
    }

    pub(crate) fn client(&self) -> Client {
        Client::find(&self.places().control_socket()).unwrap()
    }

    pub(crate) fn tasks(&self) -> Vec<TaskView> {
        system(&self.path()).reader().unwrap().unwrap().tasks().unwrap().0
    }

    /// Sends bytes to the port, and reads until the other side closes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Option<Answer> {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // Whoever is refused early may be closed on before all was sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::parse(&answer)
    }

    /// A request with these lines in its head, after which the connection ends.
    pub(crate) fn request(&self, line: &str, head: &[String], body: &[u8]) -> Option<Answer> {
        let lines = head.iter().map(|header| format!("{header}\r\n")).collect::<Vec<_>>().concat();
        let length = body.len();
        let bytes =
            format!("{line} HTTP/1.1\r\nConnection: close\r\n{lines}Content-Length: {length}\r\n\r\n");
        self.raw(&[bytes.as_bytes(), body].concat())
    }

    /// A delivery as a sender signs it.
    pub(crate) fn deliver(&self, body: &str, more: &[&str]) -> Answer {
        let mut head = vec!["Host: hooks.example".to_owned(), signature(body)];
        head.extend(more.iter().map(|header| (*header).to_owned()));
        self.request("POST /hooks/shop/hook", &head, body.as_bytes()).unwrap()
    }

    /// A call of the control API at the port.
    pub(crate) fn call(&self, line: &str, body: &str) -> Answer {
        let head = self.usual_head();
        self.request(line, &head, body.as_bytes()).unwrap()
    }

    pub(crate) fn usual_head(&self) -> Vec<String> {
        vec![
            format!("Host: {}", self.address()),
            format!("Authorization: Bearer {}", self.token()),
            "Content-Type: application/json".to_owned(),
        ]
    }

    /// The same through the socket, in raw bytes.
    pub(crate) fn at_socket(&self, bytes: &[u8]) -> Option<Answer> {
        let mut stream = UnixStream::connect(self.places().control_socket()).unwrap();
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::parse(&answer)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.web.stop();
        self.daemon.stop();
    }
}

fn system(path: &std::path::Path) -> System {
    System::new(Settings {
        places: Places::under(&path.join("home")),
        variables: BTreeMap::from([("HOOK_SECRET".into(), SECRET.into())]),
        directory: path.to_owned(),
        flags: Vec::new(),
    })
}

/// The header that signs a body.
pub(crate) fn signature(body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    let digest = longhaul_events::Digest(mac.finalize().into_bytes().into());
    format!("X-Hub-Signature-256: sha256={digest}")
}
