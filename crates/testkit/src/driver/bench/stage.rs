//! A home and a repository with work to do in it, through the product's own binary.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use longhaul_runtime::types::{CloseOutcome, SessionStatus};
use longhaul_runtime::{Places, Reader, Settings, System};
use serde_json::Value;
use tempfile::TempDir;

use super::cli::finish;
use crate::driver::Failure;
use crate::processes::command;

const WORKFLOW: &str =
    "longhaul: 1\nid: bench.run\nname: Bench\nversion: 1.0.0\nsteps: [ { id: work, prompt: Work. } ]\n";

const RUN: &[&str] = &["run", "--workflow", "bench.run", "--goal", "measure", "--json"];

/// Far more than any of it takes; a bench that hangs says so instead.
const PATIENCE: Duration = Duration::from_mins(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Where sessions are driven.
#[derive(Debug)]
pub(super) struct Stage {
    folder: TempDir,
    longhaul: PathBuf,
}

/// A session that was started.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) session: String,
    pub(super) worktree: PathBuf,
}

/// What is on record of one act.
#[derive(Debug)]
pub(super) struct Act {
    pub(super) did: String,
    /// Of the commit that it is in.
    pub(super) position: u64,
    /// Milliseconds since 1970.
    pub(super) at: i64,
    /// How long it took.
    pub(super) ms: i64,
}

impl Stage {
    /// With a script to play; `turns` is the list of a cassette.
    pub(super) fn set(longhaul: &Path, turns: &str) -> Result<Self, Failure> {
        let stage = Self::bare(longhaul)?;
        fs::write(stage.cassette(), format!("cassette: 1\nturns:\n{turns}"))?;
        Ok(stage)
    }

    /// With nobody in it yet.
    pub(super) fn bare(longhaul: &Path) -> Result<Self, Failure> {
        let stage = Self { folder: tempfile::tempdir()?, longhaul: longhaul.canonicalize()? };
        let workflows = Places::under(&stage.home()).config.join("workflows");
        fs::create_dir_all(&workflows)?;
        fs::write(workflows.join("bench.run.yml"), WORKFLOW)?;
        fs::create_dir_all(stage.repository())?;
        fs::write(stage.repository().join("login.sh"), "test 1 -gt 1\n")?;
        for words in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "--message=one"]] {
            finish(&mut stage.git(words))?;
        }
        Ok(stage)
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn cassette(&self) -> PathBuf {
        self.folder.path().join("run.yml")
    }

    /// Adds an agent to those that are known there.
    pub(super) fn know(&self, name: &str, definition: &str) -> Result<(), Failure> {
        let agents = Places::under(&self.home()).config.join("agents");
        fs::create_dir_all(&agents)?;
        Ok(fs::write(agents.join(format!("{name}.yml")), definition)?)
    }

    fn git(&self, words: &[&str]) -> Command {
        let mut git = command("git");
        git.args(words).current_dir(self.repository()).env("GIT_CONFIG_GLOBAL", "/dev/null");
        for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
            git.env(name, "a@example.org");
        }
        git
    }

    pub(super) fn longhaul(&self, words: &[&str]) -> Command {
        let mut longhaul = command(&self.longhaul);
        longhaul.args(words).env("LONGHAUL_HOME", self.home()).current_dir(self.repository());
        longhaul
    }

    /// `longhaul run` with the script, and more words.
    pub(super) fn run(&self, more: &[&str]) -> Command {
        let mut run = self.longhaul(RUN);
        run.arg("--cassette").arg(self.cassette()).args(more);
        run
    }

    /// `longhaul run` with an agent that is no rehearsal, under way when it returns.
    pub(super) fn run_by(&self, agent: &str) -> Command {
        let mut run = self.longhaul(RUN);
        run.args(["--detach", "--budget", "tokens=50000k,turns=1000", "--agent", agent]);
        run
    }

    pub(super) fn start(&self) -> Result<Started, Failure> {
        Started::by(&mut self.run(&["--detach"]))
    }

    fn reader(&self) -> Result<Option<Reader>, Failure> {
        let settings = Settings {
            places: Places::under(&self.home()),
            variables: BTreeMap::new(),
            directory: self.repository(),
            flags: Vec::new(),
        };
        Ok(System::new(settings).reader()?)
    }

    pub(super) fn sessions(&self) -> Result<Vec<String>, Failure> {
        let Some(reader) = self.reader()? else { return Ok(Vec::new()) };
        Ok(reader.sessions()?.into_iter().map(|row| row.id.to_string()).collect())
    }

    /// How many sessions ended, in whatever way.
    pub(super) fn finished(&self) -> Result<usize, Failure> {
        let Some(reader) = self.reader()? else { return Ok(0) };
        Ok(reader.sessions()?.iter().filter(|row| row.status != SessionStatus::Open).count())
    }

    pub(super) fn completed(&self) -> Result<usize, Failure> {
        let Some(reader) = self.reader()? else { return Ok(0) };
        let completed = SessionStatus::Closed(CloseOutcome::Completed);
        Ok(reader.sessions()?.iter().filter(|row| row.status == completed).count())
    }

    /// What happened between a session and its agent.
    pub(super) fn acts(&self, session: &str) -> Result<Vec<Act>, Failure> {
        let Some(reader) = self.reader()? else { return Ok(Vec::new()) };
        let mut acts = Vec::new();
        reader.events(Some(&format!("session/{session}")), &mut |row| {
            let act = &row.event["act"];
            if let Some(did) = act["act"].as_str() {
                let (did, ms) = (did.to_owned(), act["ms"].as_i64().unwrap_or(0));
                acts.push(Act { did, position: row.position.0, at: row.at.0, ms });
            }
            Ok(())
        })?;
        Ok(acts)
    }

    /// The processes that drive sessions of this home.
    pub(super) fn runners(&self) -> Result<Vec<i32>, Failure> {
        let home = self.home().display().to_string();
        let mut runners = Vec::new();
        for entry in fs::read_dir("/proc")?.flatten() {
            let Some(number) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
                continue;
            };
            let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
            let is_runner = read("cmdline").split(|byte| *byte == 0).nth(1) == Some(b"runner");
            if is_runner && String::from_utf8_lossy(&read("environ")).contains(&home) {
                runners.push(number);
            }
        }
        Ok(runners)
    }

    /// Kills every runner of this home without a warning.
    pub(super) fn kill_runners(&self) -> Result<(), Failure> {
        for runner in self.runners()? {
            let process = nix::unistd::Pid::from_raw(runner);
            nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGKILL)?;
        }
        Ok(())
    }
}

impl Started {
    pub(super) fn by(run: &mut Command) -> Result<Self, Failure> {
        let output = run.output()?;
        let told: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
        let text = |field: &str| told[field].as_str().ok_or("it did not start");
        Ok(Self { session: text("sessionId")?.to_owned(), worktree: text("worktree")?.into() })
    }
}

/// Looks again and again until it is so.
pub(super) fn until(mut is_so: impl FnMut() -> Result<bool, Failure>) -> Result<(), Failure> {
    let start = Instant::now();
    while !is_so()? {
        if start.elapsed() > PATIENCE {
            return Err(format!("it took longer than {PATIENCE:?}").into());
        }
        // tidy: looks at other processes from outside, seldom enough not to be what is measured
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}
