//! A home with a server in it, and a client that writes messages by hand, so that nothing of the SDK is between.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use longhaul_mcp::{Limits, Longhaul, Profile, protocol};
use longhaul_runtime::{Places, Settings, System};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// How a client opens the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// `initialize`, then requests.
    Initialized(&'static str),
    /// Every request says all there is to know.
    Stateless,
}

pub(crate) const ERAS: [Era; 3] =
    [Era::Initialized("2025-06-18"), Era::Initialized("2025-11-25"), Era::Stateless];

pub(crate) struct Home {
    _folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        Self { _folder: folder, path }
    }

    /// One with a workflow of the user's own.
    pub(crate) fn with(text: &str) -> Self {
        let home = Self::new();
        let folder = home.path.join("home/config/workflows");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("own.yml"), text).unwrap();
        home
    }

    /// The same in a repository, where commands can be run.
    pub(crate) fn in_git(text: &str) -> Self {
        let home = Self::with(text);
        let mut git = longhaul_testkit::processes::command(Path::new("git"));
        assert!(git.args(["init", "--quiet"]).current_dir(&home.path).status().unwrap().success());
        home
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            places: Places::under(&self.path.join("home")),
            variables: BTreeMap::new(),
            directory: self.path.clone(),
            flags: Vec::new(),
        }
    }

    pub(crate) fn system(&self) -> System {
        System::new(self.settings())
    }

    pub(crate) fn folder(&self) -> String {
        self.path.display().to_string()
    }
}

pub(crate) struct Client {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    server: JoinHandle<std::io::Result<()>>,
    meta: Option<Value>,
    id: u64,
    /// Requests of the server's own, answered with this.
    pub(crate) elicited: Vec<Value>,
    pub(crate) answers: Vec<Value>,
}

impl Client {
    pub(crate) fn over(server: Longhaul) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(theirs);
        let server = tokio::spawn(protocol::serve_lines(server, read, write));
        let (output, input) = tokio::io::split(ours);
        let output = BufReader::new(output).lines();
        Self { input, output, server, meta: None, id: 0, elicited: Vec::new(), answers: Vec::new() }
    }

    /// One whose server has other limits.
    pub(crate) async fn limited(home: &Home, era: Era, limits: Limits) -> Self {
        let mut client = Self::over(Longhaul::with_limits(home.settings(), Profile::Outer, limits));
        client.open(era, json!({})).await;
        client
    }

    pub(crate) async fn connect(home: &Home, era: Era, capabilities: Value) -> Self {
        let mut client = Self::over(Longhaul::new(home.settings(), Profile::Outer));
        client.open(era, capabilities).await;
        client
    }

    pub(crate) async fn open(&mut self, era: Era, capabilities: Value) {
        let info = json!({ "name": "by-hand", "version": "1" });
        match era {
            Era::Initialized(version) => {
                let params =
                    json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": info });
                let result = self.request("initialize", params).await;
                assert_eq!(result["result"]["protocolVersion"], version, "{result:#}");
                self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
            }
            Era::Stateless => {
                self.meta = Some(json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": capabilities,
                    "io.modelcontextprotocol/clientInfo": info,
                }));
                let result = self.request("server/discover", json!({})).await;
                assert_eq!(result["result"]["resultType"], "complete", "{result:#}");
            }
        }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes()).await;
    }

    pub(crate) async fn send_line(&mut self, line: &[u8]) {
        self.input.write_all(line).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    /// The next message, whatever it is.
    pub(crate) async fn next(&mut self) -> Value {
        let line = self.output.next_line().await.unwrap().expect("the server is there");
        serde_json::from_str(&line).expect("nothing but messages comes out")
    }

    /// Sends a request and waits for its answer. Questions on the way are answered as prepared.
    pub(crate) async fn request(&mut self, method: &str, mut params: Value) -> Value {
        self.id += 1;
        let id = self.id;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        loop {
            let message = self.next().await;
            if message["method"] == "elicitation/create" {
                let answer = self.answers.remove(0);
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer })).await;
                self.elicited.push(message);
            } else if message["id"] == id {
                return message;
            }
        }
    }

    /// What a tool answers.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        answer["result"].clone()
    }

    /// The object that a tool answers with.
    pub(crate) async fn object(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        result["structuredContent"].clone()
    }

    pub(crate) async fn start(&mut self, home: &Home, workflow: &str) -> Value {
        let arguments =
            json!({ "workflowId": workflow, "workspacePath": home.folder(), "goal": "mend the login" });
        self.object("start_workflow", arguments).await
    }

    /// Closes its side and waits until the server has ended.
    pub(crate) async fn leave(mut self) {
        self.input.shutdown().await.unwrap();
        drop(self.input);
        self.server.await.unwrap().unwrap();
    }
}
