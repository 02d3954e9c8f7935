//! Agents with hands of their own, behind the face of those that are asked for turns: one prompt is one turn.
//!
//! Such an agent works by itself behind the walls of the session and hands its step in through the gateway. What it says
//! that it did is put on record as it comes, and believed no further than that.

mod home;
mod program;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::time::Duration;

use longhaul_acp::{Beginning, CommandStart, EndCause, Hands, HandsError, McpServer, Policy, Start, Update};
use longhaul_acp::{Waiting, Watch};
use longhaul_agent::{Agent, Asker, Fault, Foresight, Turn, TurnRequest};
use longhaul_core::budget::Pricing;
use longhaul_core::cassette::{Order, Usage};
use longhaul_core::conversation::Conversation;
use longhaul_core::roster::{Definition, HandsIn, Kind};
use longhaul_core::transcript::Unread;
use longhaul_core::workflow::answer::Answer;
use longhaul_events::{AgentAct, NodeId};
use longhaul_exec::sandbox::{Level, Sandbox};
use serde_json::json;

use crate::commands::Commands;
use crate::commands::walking::Advance;
use crate::error::Error;
use crate::gateway::{self, SOCKET_VARIABLE, TOKEN_VARIABLE, Token};
use crate::system::{Settings, System};

/// How long an agent may take to end a turn that it was told to stop.
const GRACE: Duration = Duration::from_secs(5);
/// How long it may be silent while it runs a tool of its own.
const TOOL_PATIENCE: Duration = Duration::from_mins(30);
/// So many acts are put on record together, at most.
const BATCH: usize = 16;

const MANNERS: &str = "Longhaul leads you through a workflow, one step at a time. You work in a checkout of a repository, \
     behind walls. Nobody reads along and nobody answers questions: decide what is easiest to undo, and say what you assumed. Do \
     the step below and nothing of a later one. Deliver nothing yourself: no push, no pull request, no comment.";

/// Where such an agent works, and as what.
#[derive(Debug, Clone)]
pub(super) struct Bench {
    pub(super) settings: Settings,
    pub(super) driven: gateway::Driven,
    pub(super) sandbox: Sandbox,
    pub(super) label: String,
    pub(super) checkout: PathBuf,
    pub(super) token: Token,
    /// Where the gateway is found from inside.
    pub(super) port: u16,
    pub(super) socket: PathBuf,
}

/// An agent that is prompted.
#[derive(Debug)]
pub(super) struct Handed {
    definition: Definition,
    bench: Bench,
    commands: Commands,
    running: Option<Hands>,
    /// The step that it was last prompted with.
    prompted: Option<NodeId>,
}

impl Handed {
    pub(super) fn new(definition: Definition, bench: Bench) -> Result<Self, Error> {
        let commands = System::new(bench.settings.clone()).commands()?;
        Ok(Self { definition, bench, commands, running: None, prompted: None })
    }

    /// The agent, started anew.
    fn start(&self, watch: &dyn Watch) -> Result<Hands, HandsError> {
        let made = self.make(watch)?;
        if let Some(session) = made.session() {
            home::remember(&self.bench, &self.definition.name, session);
        }
        Ok(made)
    }

    fn make(&self, watch: &dyn Watch) -> Result<Hands, HandsError> {
        let home = home::made(&self.bench, &self.definition)?;
        let program = program::of(&self.bench, &self.definition, &home)?;
        match &self.definition.kind {
            Kind::Command { command, .. } => Ok(Hands::command(CommandStart {
                program,
                args: command.iter().skip(1).map(|arg| home.filled(arg)).collect(),
                grace: GRACE,
            })),
            Kind::Acp { command } => {
                let policy = match self.bench.sandbox.level {
                    Level::Full | Level::Reduced => Policy::WithinWalls,
                    Level::None => Policy::WithoutWalls,
                };
                let resume = home::remembered(&self.bench, &self.definition.name);
                let program = program.args(command.iter().skip(1).map(|arg| home.filled(arg)));
                let start = Start {
                    program,
                    directory: &self.bench.checkout,
                    mcp: Some(self.tools()),
                    resume: resume.as_deref(),
                    policy,
                    model: self.definition.model.as_deref(),
                    mode: None,
                    grace: GRACE,
                };
                Hands::start(&start, watch)
            }
            Kind::Rehearsal | Kind::Model { .. } => Err(HandsError::Unwanted),
        }
    }

    /// Our own tools, as a server that the agent starts. Some agents hand nothing of their own environment on to it.
    fn tools(&self) -> McpServer {
        let text = |path: &PathBuf| path.display().to_string();
        McpServer {
            name: "longhaul".to_owned(),
            program: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("longhaul")),
            args: vec!["mcp".to_owned(), "--attach".to_owned()],
            env: vec![
                (SOCKET_VARIABLE.to_owned(), text(&self.bench.socket)),
                (TOKEN_VARIABLE.to_owned(), self.bench.token.reveal().to_owned()),
            ],
        }
    }

    /// What it is told: the step, when it has not heard of it, and what somebody said since.
    fn words(&self, node: NodeId, beginning: Beginning, told: &[String]) -> Result<String, Error> {
        let mut words = Vec::new();
        if self.prompted != Some(node) {
            let id = self.bench.driven.session;
            let view = match beginning {
                Beginning::New => self.commands.resumed_view(id)?,
                Beginning::Resumed => self.commands.session_view(id)?,
            };
            if self.prompted.is_none() {
                words.push(MANNERS.to_owned());
            }
            words.extend(view.prompt);
            words.extend(view.continue_token.map(|token| self.how_to_hand_in(&token)));
        }
        words.extend_from_slice(told);
        if words.is_empty() {
            words.push("Go on with the step.".to_owned());
        }
        Ok(words.join("\n\n"))
    }

    fn how_to_hand_in(&self, token: &str) -> String {
        match self.definition.kind {
            Kind::Command { hands_in: HandsIn::ByEnding, .. } => {
                "When the step is done, end; your last words are its notes.".to_owned()
            }
            Kind::Command { .. } | Kind::Acp { .. } | Kind::Rehearsal | Kind::Model { .. } => format!(
                "When the step is done and you have checked that it is, call the tool `complete_step` of the MCP server `longhaul` with `continueToken` set to `{token}`. When it says that the step is taken, end your turn."
            ),
        }
    }

    /// An agent that cannot call a tool has handed in when it has ended.
    fn hand_in(&self, said: &str) -> Result<(), Error> {
        let Kind::Command { hands_in: HandsIn::ByEnding, .. } = self.definition.kind else { return Ok(()) };
        let session = self.commands.load_session(self.bench.driven.session)?;
        let Some(handle) = session.handle() else { return Ok(()) };
        // What it lacks it is told as anybody else is: by the refusal that is on record.
        if let Ok(answer) = Answer::from_payload(&json!({ "notes": said.trim() })) {
            self.commands.advance(&Advance { handle, answer, epoch: Some(self.bench.driven.driver) })?;
        }
        Ok(())
    }

    fn prompt(&mut self, request: &TurnRequest<'_>) -> Result<Turn, Trouble> {
        let session = self.commands.load_session(self.bench.driven.session)?;
        let Some(node) = session.tip().map(|tip| tip.node) else {
            return Err(Trouble::Fault(Fault::Stopped));
        };
        let acts = self.commands.acts_at(session.id, node)?;
        let turn = Conversation::fold(&acts).last_turn().map_or(1, |last| last + 1);
        let listening = Listening::new(request.asker, &self.commands, self.bench.driven, turn);
        // Whether it knows what was before.
        let mut beginning = Beginning::Resumed;
        if self.running.is_none() {
            let started = self.start(&listening)?;
            beginning = started.beginning();
            self.running = Some(started);
        }
        let words = self.words(node, beginning, request.told)?;
        self.prompted = Some(node);
        let Some(running) = &mut self.running else { return Err(Trouble::Fault(Fault::Stopped)) };
        let ended = running.prompt(&words, &listening);
        listening.put_down();
        let ended = ended?;
        if ended.cause == EndCause::Cancelled {
            self.running = None;
            return Err(Trouble::Fault(Fault::Stopped));
        }
        if ended.cause == EndCause::EndTurn {
            self.hand_in(&ended.said)?;
        }
        let usage = ended.usage.unwrap_or_default();
        let usage = Usage { input: usage.input, output: usage.output };
        Ok(Turn::plain(ended.said, Vec::new(), Order::OneByOne, usage))
    }
}

impl Agent for Handed {
    fn turn(&mut self, request: &TurnRequest<'_>) -> Result<Turn, Fault> {
        self.prompt(request).map_err(|trouble| {
            // After trouble nobody knows what it still knows.
            self.running = None;
            self.prompted = None;
            trouble.fault()
        })
    }

    fn window(&self) -> u64 {
        self.definition.window.unwrap_or(u64::MAX)
    }

    fn pricing(&self) -> Pricing {
        self.definition.pricing
    }

    /// What it asks its model is judged request by request.
    fn foresee(&self, _request: &TurnRequest<'_>) -> Foresight {
        Foresight::Exactly(Usage::default())
    }

    fn has_hands(&self) -> bool {
        true
    }

    fn end(&mut self) -> Result<(), String> {
        match self.running.take() {
            Some(running) => running.end().map(|_| ()).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }
}

/// Why a prompt came to nothing.
enum Trouble {
    Fault(Fault),
    Hands(HandsError),
    Ours(Error),
}

impl From<HandsError> for Trouble {
    fn from(error: HandsError) -> Self {
        Self::Hands(error)
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

impl Trouble {
    fn fault(self) -> Fault {
        let error = match self {
            Self::Fault(fault) => return fault,
            Self::Ours(error) => return Fault::Unread(Unread(error.to_string())),
            Self::Hands(error) => error,
        };
        let message = error.to_string();
        match error {
            HandsError::Login { .. } => Fault::Auth { message },
            HandsError::Process(_) | HandsError::Version { .. } | HandsError::Refused { .. } => {
                Fault::BadRequest { message }
            }
            HandsError::Broken { .. } | HandsError::TooLong { .. } | HandsError::Ended { .. } => {
                Fault::Garbage { message }
            }
            HandsError::Silent { ms, .. } => Fault::Stalled { ms },
            HandsError::Deaf { .. } => Fault::Stalled { ms: 0 },
            HandsError::Unwanted => Fault::Stopped,
        }
    }
}

/// Hears an agent at work, and puts on record what it says that it did.
struct Listening<'a> {
    asker: &'a dyn Asker,
    commands: &'a Commands,
    driven: gateway::Driven,
    turn: u32,
    did: RefCell<Vec<AgentAct>>,
    /// The lease is somebody else's by now.
    is_over: Cell<bool>,
}

impl<'a> Listening<'a> {
    fn new(asker: &'a dyn Asker, commands: &'a Commands, driven: gateway::Driven, turn: u32) -> Self {
        Self { asker, commands, driven, turn, did: RefCell::default(), is_over: Cell::new(false) }
    }

    fn put_down(&self) {
        let did = self.did.take();
        if did.is_empty() || self.is_over.get() {
            return;
        }
        let gateway::Driven { session, driver } = self.driven;
        if let Err(error) = self.commands.act(session, driver, &did) {
            self.is_over.set(matches!(error, Error::Session(_)));
            tracing::debug!(%error, %session, "could not put on record what an agent did");
        }
    }
}

impl Watch for Listening<'_> {
    fn heard(&self, update: &Update) {
        self.asker.heard();
        if let Update::Ended(did) = update {
            let (tool, title) = (did.tool.clone(), did.title.clone());
            let (turn, outcome, ms) = (self.turn, did.outcome, did.ms);
            self.did.borrow_mut().push(AgentAct::Observed { turn, tool, title, outcome, ms });
            if self.did.borrow().len() >= BATCH {
                self.put_down();
            }
        }
    }

    fn is_wanted(&self) -> bool {
        self.asker.is_wanted()
    }

    fn patience(&self, waiting: Waiting) -> Duration {
        match waiting {
            Waiting::Answer => self.asker.patience(),
            Waiting::Tool => TOOL_PATIENCE.max(self.asker.patience()),
        }
    }
}
