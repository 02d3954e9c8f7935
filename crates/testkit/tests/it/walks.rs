//! A long walk, killed at every boundary: the same end, and nothing twice.

use std::path::PathBuf;
use std::process::Command;

use longhaul_core::session::Session;
use longhaul_events::{CloseOutcome, Content, Seq, SessionEvent, SessionId, StepId};
use longhaul_runtime::Places;
use longhaul_store::{Log, SqliteLog, Verdict};
use longhaul_testkit::processes::{command, driver};
use longhaul_testkit::{full, open_store};

use crate::driven::DRIVER;

struct Walk {
    folder: tempfile::TempDir,
    session: Option<String>,
    boundaries: u64,
}

impl Walk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let walk = Self { folder, session: None, boundaries: 0 };
        std::fs::create_dir(walk.checkout()).unwrap();
        let made = command("git").args(["init", "--quiet"]).arg(walk.checkout()).status().unwrap();
        assert!(made.success());
        walk
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn checkout(&self) -> PathBuf {
        self.folder.path().join("checkout")
    }

    fn command(&self) -> Command {
        let mut walk = driver(DRIVER, &self.home(), "walk");
        walk.arg("--checkout").arg(self.checkout()).env("LONGHAUL_HOME", self.home());
        if let Some(session) = &self.session {
            walk.args(["--session", session]);
        }
        walk
    }

    /// Goes on until it ends or dies, and says whether it ended.
    fn go(&mut self, die_at: Option<u64>) -> bool {
        let mut walk = self.command();
        walk.args(die_at.map(|at| format!("--die-at={at}")));
        let output = walk.output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        for line in said.lines() {
            let mut words = line.split(' ').skip(1);
            self.boundaries = words.next().unwrap().parse().unwrap();
            self.session = words.next().map(str::to_owned);
        }
        let died = output.status.code().is_none();
        assert!(died || output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        !died
    }

    fn log(&self) -> SqliteLog {
        open_store(&Places::under(&self.home()).data).unwrap()
    }

    fn id(&self) -> SessionId {
        self.session.as_ref().unwrap().parse().unwrap()
    }

    fn events(&self) -> Vec<SessionEvent> {
        let log = self.log();
        let name = format!("session/{}", self.id());
        assert_eq!(log.verify_stream(&name).unwrap().verdict, Verdict::Intact);
        let decisions = log.read(self.id().into(), Seq(0), usize::MAX).unwrap();
        decisions.iter().flat_map(|decision| decision.events::<SessionEvent>().unwrap()).collect()
    }
}

/// What a walk came to: the steps that were finished with their answers, the work, the vars at the end.
#[derive(Debug, PartialEq)]
struct Story {
    finished: Vec<(StepId, Content)>,
    work: Vec<StepId>,
    vars: Vec<String>,
    weighed: String,
    outcome: Option<CloseOutcome>,
}

fn story(walk: &Walk) -> Story {
    let events = walk.events();
    let session = Session::fold(walk.id(), &events).unwrap();
    let mut out: Option<StepId> = None;
    let (mut finished, mut work) = (Vec::new(), Vec::new());
    for event in events {
        match event {
            SessionEvent::StepHandedOut { step, .. } => out = Some(step),
            SessionEvent::StepFinished { payload, .. } => finished.push((out.take().unwrap(), payload)),
            SessionEvent::WorkBegan { step, .. } => work.push(step),
            _ => {}
        }
    }
    let vars = session.vars.iter().filter(|(name, _)| *name != "weighed");
    Story {
        finished,
        work,
        vars: vars.map(|(name, content)| format!("{name}={content:?}")).collect(),
        weighed: std::fs::read_to_string(walk.checkout().join("weighed")).unwrap(),
        outcome: session.closed,
    }
}

fn no_handle_was_used_twice(events: &[SessionEvent]) {
    let mut used: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            SessionEvent::StepFinished { node, nonce, .. } => Some((*node, nonce.to_string())),
            _ => None,
        })
        .collect();
    let all = used.len();
    used.sort();
    used.dedup();
    assert_eq!(used.len(), all);
}

#[test]
fn heavy_a_long_walk_that_is_killed_at_every_boundary_comes_to_the_same_end() {
    let mut whole = Walk::new();
    assert!(whole.go(None));
    let expected = story(&whole);
    assert_eq!(expected.outcome, Some(CloseOutcome::Completed));
    assert!(expected.finished.len() >= 40, "{} steps", expected.finished.len());
    assert_eq!(expected.weighed, "a\nb\nc\n", "each command ran once");

    // Every day one walk that dies at every boundary in turn; in full one walk for each boundary too.
    let mut often = Walk::new();
    while !often.go(Some(2)) {}
    assert_eq!(story(&often), expected);
    no_handle_was_used_twice(&often.events());

    if full() {
        for boundary in 1..=whole.boundaries {
            let mut walk = Walk::new();
            assert!(!walk.go(Some(boundary)) || boundary > whole.boundaries);
            assert!(walk.go(None));
            assert_eq!(story(&walk), expected, "killed at boundary {boundary}");
        }
    }
}
