//! A long walk, killed at every boundary: the same end, and nothing twice.

use std::path::PathBuf;
use std::process::{Command, Output};

use longhaul_core::session::Session;
use longhaul_events::{CloseOutcome, Content, Seq, SessionEvent, SessionId, StepId};
use longhaul_runtime::Places;
use longhaul_store::{Log, SqliteLog, Verdict};
use longhaul_testkit::driver::DIES_AT;
use longhaul_testkit::processes::{command, dies_at_sync, driver};
use longhaul_testkit::{full, open_store};

use crate::driven::DRIVER;

/// After these commits a runner has taken a piece of work and not brought it to its end.
const RUNNER_COMMITS: usize = 2;
/// A runner syncs less often than this.
const MOST_SYNCS: u64 = 9;

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
        self.hear(&walk.output().unwrap())
    }

    fn hear(&mut self, output: &Output) -> bool {
        let said = String::from_utf8_lossy(&output.stdout);
        for line in said.lines() {
            let mut words = line.split(' ').skip(1);
            self.boundaries = words.next().unwrap().parse().unwrap();
            self.session = words.next().map(str::to_owned);
        }
        let died = output.status.code().is_none();
        assert!(died || output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        !died
    }

    /// Goes on until each process is killed at its n-th sync, and says whether the walk ended before.
    fn go_until_commit(&mut self, n: u64) -> bool {
        let own = self.command();
        let mut walk = dies_at_sync(&n.to_string());
        walk.arg(own.get_program()).args(own.get_args()).env("LONGHAUL_HOME", self.home());
        self.hear(&walk.output().unwrap())
    }

    /// What the commands noted of their runs.
    fn ran(&self) -> String {
        std::fs::read_to_string(self.checkout().join("ran")).unwrap()
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
    assert_eq!((&*expected.weighed, &*whole.ran()), ("a\nb\nc\n", "a\nb\nc\n"), "each command ran once");

    // Every day one walk that dies at every boundary in turn; in full one walk for each boundary too.
    let mut often = Walk::new();
    while !often.go(Some(2)) {}
    assert_eq!(story(&often), expected);
    assert_eq!(often.ran(), whole.ran(), "a runner outlives whoever asked for it");
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

/// Not between two calls but inside one: what was written is there or is not, and the next one finds out.
#[test]
fn heavy_a_long_walk_that_dies_at_its_nth_commit_comes_to_the_same_end() {
    let mut whole = Walk::new();
    assert!(whole.go(None));
    let expected = story(&whole);
    let everyday = [2, 4, 6, 8, 15, 40];
    let commits = if full() { (1..200).collect() } else { everyday.to_vec() };
    for n in commits {
        let mut walk = Walk::new();
        let ended = walk.go_until_commit(n);
        assert!(walk.go(None), "it goes on");
        assert_eq!(story(&walk), expected, "killed at commit {n}");
        no_handle_was_used_twice(&walk.events());
        if ended {
            assert!(n > 60, "nobody was killed at commit {n}");
            return;
        }
    }
}

#[test]
fn heavy_a_long_walk_whose_runner_dies_at_its_nth_commit_comes_to_the_same_end() {
    let mut whole = Walk::new();
    assert!(whole.go(None));
    let expected = story(&whole);
    // Each has to wait until the lease of the dead one is over, so they wait together.
    let seen: Vec<usize> = std::thread::scope(|scope| {
        let rounds: Vec<_> = (1..=MOST_SYNCS)
            .map(|n| {
                let expected = &expected;
                scope.spawn(move || {
                    let mut walk = Walk::new();
                    let mut dying = walk.command();
                    dying.env(DIES_AT, n.to_string());
                    assert!(walk.hear(&dying.output().unwrap()), "whoever asked goes on");
                    assert_eq!(story(&walk), *expected, "killed at commit {n}");
                    no_handle_was_used_twice(&walk.events());
                    runners(&walk)
                })
            })
            .collect();
        rounds.into_iter().map(|round| round.join().unwrap()).collect()
    });
    let all = runners(&whole);
    // One that died before it took the work or with its last commit leaves nothing to do again.
    assert!(seen.iter().filter(|runners| **runners == all + 1).count() >= RUNNER_COMMITS, "{seen:?}");
    assert_eq!(seen.last(), Some(&all), "{seen:?}");
}

fn runners(walk: &Walk) -> usize {
    walk.events().iter().filter(|event| matches!(event, SessionEvent::DriverTaken { .. })).count()
}

/// A session whose only step is a command that says that it began, then takes its time.
fn slow(walk: &mut Walk, rerun: &str) {
    let text = format!(
        "longhaul: 1\nid: test.slow\nname: Slow\nversion: 1.0.0\nsteps:\n  - {{ id: slow, run: {{ command: [sh, -c, \"echo began >> weighed; sleep 2\"] }}, into: done{rerun} }}\n  - {{ id: end, prompt: End. }}\n"
    );
    let file = walk.folder.path().join("slow.yml");
    std::fs::write(&file, text).unwrap();
    let mut start = walk.command();
    start.arg("--workflow").arg(&file);
    let mut child = start.stdout(std::process::Stdio::null()).spawn().unwrap();
    let began = walk.checkout().join("weighed");
    let start = std::time::Instant::now();
    while !began.exists() {
        assert!(start.elapsed().as_secs() < 60, "the command never began");
        std::thread::sleep(std::time::Duration::from_millis(5)); // tidy: another process writes the file
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let log = walk.log();
    let name = log.stream_names().unwrap().into_iter().find(|name| name.starts_with("session/")).unwrap();
    walk.session = name.strip_prefix("session/").map(str::to_owned);
}

/// The process that took the session's lease last.
fn runner(walk: &Walk) -> i32 {
    let taken = walk.events().into_iter().rev().find_map(|event| match event {
        SessionEvent::DriverTaken { driver, .. } => Some(driver.process),
        _ => None,
    });
    i32::try_from(taken.unwrap()).unwrap()
}

fn kill(process: i32) {
    let process = nix::unistd::Pid::from_raw(process);
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGKILL).unwrap();
}

#[test]
fn a_runner_outlives_whoever_started_it() {
    let mut walk = Walk::new();
    slow(&mut walk, "");
    assert!(walk.go(None), "the walk goes on from what the runner did");
    assert_eq!(story(&walk).weighed, "began\n");
}

#[test]
fn heavy_a_command_whose_runner_died_is_run_again_only_if_it_may_be() {
    for (rerun, expected) in [(", rerun: true", "began\nbegan\n"), ("", "began\n")] {
        let mut walk = Walk::new();
        slow(&mut walk, rerun);
        kill(runner(&walk));
        let parked =
            |walk: &Walk| walk.events().iter().any(|event| matches!(event, SessionEvent::Parked { .. }));
        let output = walk.command().output().unwrap();
        let weighed = std::fs::read_to_string(walk.checkout().join("weighed")).unwrap();
        assert_eq!(weighed, expected, "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(parked(&walk), rerun.is_empty(), "an unknown outcome is for a person");
        assert_eq!(output.status.success(), !rerun.is_empty());
    }
}
