//! The agent of the tests, and somebody who watches it.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use longhaul_acp::{Hands, HandsError, Policy, Start, Update, Waiting, Watch};
use longhaul_exec::Program;

/// Far longer than anything here takes.
pub(crate) const LONG: Duration = Duration::from_mins(1);

const AGENT: &str = include_str!("agent.py");

pub(crate) fn agent(how: &str) -> Program {
    Program::new("python3").args(["-I", "-c", AGENT, how]).directory("/").timeout(LONG * 2)
}

pub(crate) fn start(program: Program) -> Start<'static> {
    Start {
        program: program.grace(Duration::from_millis(300)),
        directory: Path::new("/some/where"),
        mcp: None,
        resume: None,
        policy: Policy::WithinWalls,
        model: None,
        mode: None,
        grace: Duration::from_millis(300),
    }
}

/// Starts the agent and prompts it once.
pub(crate) fn turn(how: &str, watcher: &Watcher) -> Result<longhaul_acp::TurnEnd, HandsError> {
    let mut hands = Hands::start(&start(agent(how)), &Watcher::new())?;
    let turn = hands.prompt("go", watcher);
    hands.end().unwrap();
    turn
}

/// Keeps what it hears, and wants the agent until a moment that the test chooses.
pub(crate) struct Watcher {
    pub(crate) heard: RefCell<Vec<Update>>,
    pub(crate) answer: Duration,
    pub(crate) tool: Duration,
    /// Not wanted from the first call of a tool on.
    pub(crate) stops_at_tool: bool,
    pub(crate) is_wanted: Cell<bool>,
}

impl Watcher {
    pub(crate) fn new() -> Self {
        Self {
            heard: RefCell::default(),
            answer: LONG,
            tool: LONG,
            stops_at_tool: false,
            is_wanted: Cell::new(true),
        }
    }
}

impl Watch for Watcher {
    fn heard(&self, update: &Update) {
        if self.stops_at_tool && matches!(update, Update::Began(_)) {
            self.is_wanted.set(false);
        }
        let mut heard = self.heard.borrow_mut();
        if heard.len() < 50 {
            heard.push(update.clone());
        }
    }

    fn is_wanted(&self) -> bool {
        self.is_wanted.get()
    }

    fn patience(&self, waiting: Waiting) -> Duration {
        match waiting {
            Waiting::Answer => self.answer,
            Waiting::Tool => self.tool,
        }
    }
}

/// How many living processes have this text in their environment.
pub(crate) fn marked(text: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let living = entries.filter(|entry| {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(text)
    });
    living.count()
}

pub(crate) fn quickly(began: Instant) {
    assert!(began.elapsed() < LONG / 2, "it took {:?}", began.elapsed());
}
