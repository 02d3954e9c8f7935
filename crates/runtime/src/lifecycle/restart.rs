//! Replacing a daemon by another program: first it is seen that the new one could serve, then the old one hands over, and if the
//! new one is not healthy in time the old program serves again. Runners are not touched.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use longhaul_exec::{Finished, Outcome, Program};

use super::binary::Binary;
use super::lock::Holder;
use super::report::Report;
use super::start::{StartDaemon, Started};
use super::status::report_of;
use super::stop::wish;
use super::unit;
use super::wish::Farewell;
use crate::error::{Error, LifecycleError};
use crate::system::System;
use crate::terminal;

/// How long a program may take to say whether it could serve.
const CHECK_WITHIN: Duration = Duration::from_secs(30);
/// One that dies right after its first word was not healthy.
const SETTLES_IN: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(50);
const LINES_TOLD: usize = 4;

#[derive(Debug, Clone)]
pub struct RestartDaemon {
    pub binary: PathBuf,
    /// How long the new one has to become healthy.
    pub wait: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restarted {
    /// Nobody served before.
    Started(Report),
    Replaced {
        before: Holder,
        after: Report,
    },
}

impl System {
    /// Has another program serve in place of the one that does.
    pub fn restart_daemon(&self, restart: &RestartDaemon) -> Result<Restarted, Error> {
        terminal::refuse_agents()?;
        let start = StartDaemon { binary: restart.binary.clone(), wait: restart.wait };
        let Some(before) = self.daemon_to_end()? else {
            return match self.start_daemon(&start)? {
                Started::New(report) | Started::Already(report) => Ok(Restarted::Started(report)),
            };
        };
        // From here on it is brought to an end: in the middle nobody might serve.
        terminal::catch_interrupts();
        self.check_fitness(&restart.binary)?;
        let kept = self.keep_program(&before)?;
        let unit = report_of(&before).and_then(|report| report.unit);
        let after = match &unit {
            Some(unit) => self.replace_in_unit(unit, &before, restart.wait),
            None => self.replace(&before, &start),
        };
        match after {
            Ok(after) => {
                self.forget_programs();
                Ok(Restarted::Replaced { before, after })
            }
            Err(Failure::Unchanged(error)) => Err(error),
            Err(Failure::NotHealthy(because)) => Err(self.go_back(kept, because, restart.wait)),
        }
    }

    fn replace(&self, before: &Holder, start: &StartDaemon) -> Result<Report, Failure> {
        self.have_end(before, Farewell::HandOver).map_err(Failure::Unchanged)?;
        match self.start_daemon(start).and_then(|started| self.settled(&started)) {
            Ok(report) => Ok(report),
            Err(error) => Err(Failure::NotHealthy(first_lines(&error.to_string()))),
        }
    }

    /// The same where a service manager starts daemons: it is asked to.
    fn replace_in_unit(&self, name: &str, before: &Holder, wait: Duration) -> Result<Report, Failure> {
        wish(before, Farewell::HandOver).map_err(Failure::Unchanged)?;
        let restarted = unit::systemctl(&["restart", name]);
        let found = match restarted {
            Ok(()) => self.await_successor(before, wait),
            Err(error) => Err(error.to_string()),
        };
        let because = match found {
            Ok(report) => match self.settled(&Started::New(report)) {
                Ok(report) => return Ok(report),
                Err(error) => error.to_string(),
            },
            Err(because) => because,
        };
        // It would be started again and again beside the one that we go back to.
        let _ = unit::systemctl(&["stop", name]);
        Err(Failure::NotHealthy(first_lines(&because)))
    }

    /// Watches a daemon that says that it is healthy for a moment longer.
    fn settled(&self, started: &Started) -> Result<Report, Error> {
        let (Started::New(report) | Started::Already(report)) = started;
        let start = Instant::now();
        while start.elapsed() < SETTLES_IN {
            let status = self.daemon_status();
            let is_same = status.report.as_ref().is_some_and(|now| now.process == report.process);
            if !is_same || !status.is_healthy() {
                let (how, lines) = ("was healthy and then was not".to_owned(), String::new());
                return Err(LifecycleError::EndedEarly { how, log: self.places().daemon_log(), lines }.into());
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(report.clone())
    }

    /// Has the old program serve again.
    fn go_back(&self, kept: PathBuf, because: String, wait: Duration) -> Error {
        // The new one may be there and not healthy; what it does not heed it does not survive.
        if let Ok(Some(new)) = self.daemon_to_end() {
            let _ = self.have_end(&new, Farewell::HandOver).or_else(|_| self.have_end(&new, Farewell::Now));
        }
        match self.start_daemon(&StartDaemon { binary: kept, wait }) {
            Ok(Started::New(report) | Started::Already(report)) => {
                let (version, process) = (report.version, report.process.process);
                LifecycleError::WentBack { version, process, because }.into()
            }
            Err(error) => {
                LifecycleError::NeitherServes { because, old: first_lines(&error.to_string()) }.into()
            }
        }
    }

    /// Has a program say whether it could serve, while the old one still does.
    fn check_fitness(&self, binary: &Path) -> Result<(), Error> {
        let program = self.daemon_program(binary).args(["daemon", "run", "--check"]).timeout(CHECK_WITHIN);
        let unfit = |because| LifecycleError::Unfit { binary: binary.to_owned(), because };
        let finished = longhaul_exec::run(&program).map_err(|error| unfit(error.to_string()))?;
        if finished.succeeded() { Ok(()) } else { Err(unfit(self.last_words(&finished)).into()) }
    }

    fn last_words(&self, finished: &Finished) -> String {
        let how = match finished.outcome {
            Outcome::Exited(code) => format!("exit code {code}"),
            Outcome::Signalled(signal) => format!("signal {signal}"),
            Outcome::TimedOut => "it took too long".to_owned(),
            Outcome::OutOfRoom | Outcome::Stopped => "it was ended".to_owned(),
        };
        let Ok(scrubber) = self.scrubber() else { return how };
        let said = finished.stderr.to_bytes();
        let said = first_lines(String::from_utf8_lossy(&scrubber.bytes(&said)).trim());
        if said.is_empty() { how } else { format!("{how}: {said}") }
    }

    /// Keeps the program of a daemon where it can be started again, whatever becomes of its file.
    fn keep_program(&self, old: &Holder) -> Result<PathBuf, Error> {
        let folder = self.places().previous_programs();
        let started = old.process.started.unwrap_or_default();
        let kept = folder.join(format!("longhaul-{}-{started}", old.process.process));
        let no_way_back = |because: String| Error::from(LifecycleError::NoWayBack { because });
        keep(old, &folder, &kept).map_err(|error| no_way_back(format!("`{}`: {error}", kept.display())))?;
        let finished = longhaul_exec::run(&Program::new(&kept).arg("--version").timeout(CHECK_WITHIN));
        match finished {
            Ok(finished) if finished.succeeded() => Ok(kept),
            Ok(finished) => Err(no_way_back(self.last_words(&finished))),
            Err(error) => Err(no_way_back(error.to_string())),
        }
    }

    /// Nobody goes back any more: programs that are kept go, unless somebody runs them.
    fn forget_programs(&self) {
        let running = self.daemon_status().report.map(|report| report.binary);
        let Ok(entries) = fs::read_dir(self.places().previous_programs()) else { return };
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            let there = Binary::at(&path);
            let is_running =
                |there: &Binary| running.as_ref().is_some_and(|running| running.path == there.path);
            if !there.as_ref().is_some_and(is_running) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Why a daemon was not replaced.
enum Failure {
    /// The old one still serves.
    Unchanged(Error),
    NotHealthy(String),
}

/// A link where the file is still the one that runs; it costs nothing. Else a copy of what the process has open.
fn keep(old: &Holder, folder: &Path, kept: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let _ = fs::remove_file(kept);
    let path = report_of(old).map(|report| report.binary);
    if let Some(binary) = &path
        && Binary::at(Path::new(&binary.path)).is_some_and(|there| there.is_same_file(binary))
        && fs::hard_link(&binary.path, kept).is_ok()
    {
        return Ok(());
    }
    let image = PathBuf::from(format!("/proc/{}/exe", old.process.process));
    let named = path.map(|binary| PathBuf::from(binary.path));
    let source = if image.exists() { image } else { named.unwrap_or(image) };
    fs::copy(source, kept)?;
    fs::set_permissions(kept, Permissions::from_mode(0o700))
}

/// The beginning of what went wrong, for a sentence that says more.
fn first_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(LINES_TOLD).collect();
    lines.join("; ")
}
