//! A scripted model behind a real gateway, and somebody who waits for it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use longhaul_gateway::{Gateway, Listen, Meter, Options, Protocol, Token, Unmetered, Upstream, start};
use longhaul_model::{
    CallResult, Door, Failure, Layer, Message, Piece, Reply, Request, ToolSpec, Watch, Wire, ask,
};
use longhaul_testkit::model_server::{Answer, Asked, ModelServer};
use serde_json::json;
use tempfile::TempDir;

/// Long enough for a slow machine, and short enough to fail.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) server: ModelServer,
    gateway: Gateway,
    token: Token,
    _folder: TempDir,
}

impl World {
    pub(crate) fn new(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::behind(ModelServer::start(script).unwrap(), Arc::new(Unmetered))
    }

    pub(crate) fn playing(answers: Vec<Answer>) -> Self {
        Self::behind(ModelServer::playing(answers).unwrap(), Arc::new(Unmetered))
    }

    pub(crate) fn behind(server: ModelServer, meter: Arc<dyn Meter>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (token, nobody) = (Token::random(), "http://127.0.0.1:1");
        let upstream = |base: &str, protocol, name: &str, key: &str| {
            Upstream::new(base, protocol, (name.parse().unwrap(), key.parse().unwrap())).unwrap()
        };
        let (messages, open_ai) = (server.anthropic_base(), server.open_ai_base());
        let upstreams = BTreeMap::from([
            ("anthropic".to_owned(), upstream(&messages, Protocol::Anthropic, "x-api-key", "sk-real")),
            ("openai".to_owned(), upstream(&open_ai, Protocol::OpenAi, "authorization", "Bearer sk-real")),
            ("ollama".to_owned(), upstream(&open_ai, Protocol::OpenAi, "authorization", "Bearer none")),
            ("gone-anthropic".to_owned(), upstream(nobody, Protocol::Anthropic, "x-api-key", "sk-real")),
            ("gone-openai".to_owned(), upstream(nobody, Protocol::OpenAi, "authorization", "Bearer sk-real")),
        ]);
        let options = Options {
            socket: folder.path().join("s.sock"),
            listen: Listen::Socket,
            hosts: Vec::new(),
            token: token.clone(),
            upstreams,
            meter,
            leaf: None,
            tell: Arc::new(|_| {}),
        };
        Self { server, gateway: start(options).unwrap(), token, _folder: folder }
    }

    pub(crate) fn door(&self, provider: &str) -> Door {
        Door {
            socket: self.gateway.socket().to_owned(),
            provider: provider.to_owned(),
            token: self.token.reveal().to_owned(),
        }
    }

    pub(crate) fn ask(&self, wire: Wire, messages: &[Message]) -> Result<Reply, Failure> {
        self.ask_watched(wire, messages, &Waiting::default())
    }

    pub(crate) fn ask_watched(
        &self,
        wire: Wire,
        messages: &[Message],
        waiting: &Waiting,
    ) -> Result<Reply, Failure> {
        let (system, tools) = (layers(), tools());
        let request =
            Request { model: "gpt-5.1", system: &system, tools: &tools, messages, max_output: 4000 };
        ask(&self.door(provider(wire)), wire, &request, waiting)
    }
}

pub(crate) const fn provider(wire: Wire) -> &'static str {
    match wire {
        Wire::AnthropicMessages => "anthropic",
        Wire::OpenAiChat | Wire::OpenAiResponses => "openai",
    }
}

pub(crate) fn layers() -> Vec<Layer> {
    [("You work step by step.", true), ("The workflow has two steps.", true), ("It is noon.", false)]
        .map(|(text, is_stable)| Layer { text: text.to_owned(), is_stable })
        .into()
}

pub(crate) fn tools() -> Vec<ToolSpec> {
    ["read", "look"]
        .map(|name| ToolSpec {
            name: name.to_owned(),
            description: format!("Does what {name} says."),
            input: json!({ "type": "object", "properties": { "at": { "type": "integer" } } }),
        })
        .into()
}

pub(crate) fn user(text: &str) -> Message {
    Message::User(text.to_owned())
}

/// A reply as the next request has it.
pub(crate) fn said(reply: &Reply) -> Message {
    Message::Assistant { text: reply.text.clone(), calls: reply.calls.clone(), echo: reply.echo.clone() }
}

/// The same result for each call of a reply.
pub(crate) fn results(reply: &Reply, text: &str) -> Message {
    let result = |id: &String| CallResult { id: id.clone(), text: text.to_owned(), is_error: false };
    Message::Results(reply.calls.iter().map(|call| result(&call.id)).collect())
}

/// Waits, keeps what it heard, and loses interest after so many pieces.
pub(crate) struct Waiting {
    pub(crate) heard: RefCell<Vec<String>>,
    pub(crate) patience: Duration,
    pub(crate) wants: Cell<Wants>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    All,
    /// So many pieces.
    Pieces(usize),
    /// To be asked so many times.
    Looks(usize),
}

impl Default for Waiting {
    fn default() -> Self {
        Self { heard: RefCell::default(), patience: PATIENCE, wants: Cell::new(Wants::All) }
    }
}

impl Waiting {
    pub(crate) fn patient_for(patience: Duration) -> Self {
        Self { patience, ..Self::default() }
    }

    pub(crate) fn wanting(wants: Wants) -> Self {
        Self { wants: Cell::new(wants), ..Self::default() }
    }
}

impl Watch for Waiting {
    fn heard(&self, piece: Piece<'_>) {
        let note = match piece {
            Piece::Said(words) => format!("said {words}"),
            Piece::Thought(words) => format!("thought {words}"),
            Piece::CallBegun { tool } => format!("call {tool}"),
            Piece::Arguments(json) => format!("arguments {json}"),
            Piece::Alive => "alive".to_owned(),
        };
        self.heard.borrow_mut().push(note);
    }

    fn is_wanted(&self) -> bool {
        match self.wants.get() {
            Wants::All => true,
            Wants::Pieces(most) => self.heard.borrow().len() < most,
            Wants::Looks(left) => {
                self.wants.set(Wants::Looks(left.saturating_sub(1)));
                left > 0
            }
        }
    }

    fn patience(&self) -> Duration {
        self.patience
    }
}
