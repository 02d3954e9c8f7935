//! The demo: how long it takes, how soon it goes on after its process was killed, and how much of it is ours.
//!
//! Whose time it is is seen from outside: while the demo or its runner has a child, an agent's command, git or a check is at
//! work; while neither has one, the engine is. So what agents do in our own process counts against us.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::{Args, Bar, Limit, median, quantile};
use crate::driver::Failure;
use crate::processes::command;

pub(super) const NAMES: &[&str] = &[
    "demo_seconds",
    "demo_crash_seconds",
    "demo_recovery_ms",
    "demo_engine_percent",
    "demo_git_percent",
    "demo_commands_percent",
];

const ROUNDS: usize = 3;
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// How long each was at work.
#[derive(Debug, Default)]
struct Shares {
    engine: Duration,
    git: Duration,
    /// Of agents and checks.
    commands: Duration,
}

impl Shares {
    fn percent(&self, part: Duration) -> f64 {
        100.0 * part.as_secs_f64() / (self.engine + self.git + self.commands).as_secs_f64()
    }
}

pub(super) fn run(args: &Args) -> Result<Vec<Bar>, Failure> {
    let (mut whole, mut crashed, mut recovery) = (Vec::new(), Vec::new(), Vec::new());
    let (mut engine, mut git, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        whole.push(Demo::start(&args.longhaul, &[])?.end()?.0);
        let (seconds, shown) = Demo::start(&args.longhaul, &["--crash"])?.end()?;
        crashed.push(seconds);
        recovery.push(shown["crash"]["backAfterMs"].as_f64().ok_or("nobody was killed")?);
        let shares = Demo::start(&args.longhaul, &[])?.watched()?;
        engine.push(shares.percent(shares.engine));
        git.push(shares.percent(shares.git));
        commands.push(shares.percent(shares.commands));
    }
    Ok(vec![
        Bar::new(NAMES[0], median(&whole), "s", Limit::AtMost(20.0)),
        Bar::new(NAMES[1], median(&crashed), "s", Limit::AtMost(20.0)),
        Bar::new(NAMES[2], quantile(&recovery, 1.0), "ms", Limit::AtMost(1000.0)),
        Bar::new(NAMES[3], median(&engine), "%", Limit::AtMost(10.0)),
        Bar::new(NAMES[4], median(&git), "%", Limit::Reported),
        Bar::new(NAMES[5], median(&commands), "%", Limit::Reported),
    ])
}

/// A demo that is under way.
struct Demo {
    _folder: TempDir,
    process: Child,
    began: Instant,
}

impl Demo {
    fn start(longhaul: &Path, more: &[&str]) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let mut demo = command(longhaul);
        demo.args(["demo", "--json"]).args(more).env("TMPDIR", folder.path()).env("HOME", folder.path());
        let began = Instant::now();
        let process = demo.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        Ok(Self { _folder: folder, process, began })
    }

    /// Waits for it, and says how many seconds it took and what it told.
    fn end(self) -> Result<(f64, Value), Failure> {
        let output = self.process.wait_with_output()?;
        if !output.status.success() {
            return Err(format!("the demo ended with {}", output.status).into());
        }
        Ok((self.began.elapsed().as_secs_f64(), serde_json::from_slice(&output.stdout)?))
    }

    /// The same, with a look at whose time it is.
    fn watched(self) -> Result<Shares, Failure> {
        let demo = self.process.id();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let watching = scope.spawn(|| watch(demo, &is_over));
            let ended = self.end();
            is_over.store(true, Ordering::Relaxed);
            let shares = watching.join().map_err(|_| "nobody watched")?;
            ended.map(|_| shares)
        })
    }
}

fn watch(demo: u32, is_over: &AtomicBool) -> Shares {
    let mut shares = Shares::default();
    let mut before = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        // More than one may have been started; those that have nothing to do end at once.
        let (runners, mut at_work): (Vec<Process>, Vec<Process>) =
            children(demo).into_iter().partition(Process::is_runner);
        at_work.extend(runners.iter().flat_map(|runner| children(runner.id)));
        let took = before.elapsed();
        before = Instant::now();
        let whose = if at_work.is_empty() {
            &mut shares.engine
        } else if at_work.iter().all(Process::is_git) {
            &mut shares.git
        } else {
            &mut shares.commands
        };
        *whose += took;
        // tidy: looks at other processes from outside, seldom enough not to be what is measured
        thread::sleep(LOOK_EVERY);
    }
    shares
}

/// A process that lives, with the words that it was started with.
struct Process {
    id: u32,
    words: Vec<u8>,
}

impl Process {
    fn word(&self, nth: usize) -> Option<&[u8]> {
        self.words.split(|byte| *byte == 0).nth(nth)
    }

    fn is_runner(&self) -> bool {
        self.word(1) == Some(b"runner")
    }

    fn is_git(&self) -> bool {
        self.word(0).is_some_and(|program| program.ends_with(b"git"))
    }
}

/// Whoever any thread of a process has started and that lives. One that is dead has no words left: nobody has asked yet how
/// it ended, and that is on us.
fn children(process: u32) -> Vec<Process> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let of_thread =
        |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).unwrap_or_default();
    let ids = |text: String| text.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>();
    let words = |id: u32| fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let found = threads.map(of_thread).flat_map(ids).map(|id| Process { id, words: words(id) });
    found.filter(|process| !process.words.is_empty()).collect()
}
