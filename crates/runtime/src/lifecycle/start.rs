//! Starting a daemon that outlives us. It is started when it says that it is healthy, and not before.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use longhaul_core::units::show_duration;
use longhaul_exec::{Detached, Outcome, Plea, Program};

use super::folder;
use super::lock::{self, Holder, Lookup};
use super::report::{Report, Stage};
use super::status::report_of;
use crate::error::{Error, LifecycleError};
use crate::runner::is_alive;
use crate::system::System;
use crate::terminal;

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long a daemon that is not healthy may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(5);
/// A log beyond this is begun anew, and the old one kept once.
const LONG_LOG_BYTES: u64 = 4 << 20;
const LINES_TOLD: usize = 8;
/// What a service manager says to the daemon that it started is not for another.
const OF_MANAGERS: [&str; 8] = [
    "NOTIFY_SOCKET",
    "WATCHDOG_USEC",
    "WATCHDOG_PID",
    "INVOCATION_ID",
    "SYSTEMD_EXEC_PID",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
];

/// A daemon that is to be started.
#[derive(Debug, Clone)]
pub struct StartDaemon {
    pub binary: PathBuf,
    /// How long it has to become healthy.
    pub wait: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    New(Report),
    /// Somebody serves already, and is healthy.
    Already(Report),
}

impl System {
    /// Starts a daemon and waits until it is healthy, or says why it is not.
    pub fn start_daemon(&self, start: &StartDaemon) -> Result<Started, Error> {
        terminal::refuse_agents()?;
        let deadline = Instant::now() + start.wait;
        match lock::look(self.places()) {
            Lookup::Nobody | Lookup::Died(_) => self.start_new(start, deadline),
            Lookup::Here(_) | Lookup::Unnamed => self.await_other(start, deadline),
            Lookup::Elsewhere(holder) => Err(LifecycleError::Elsewhere { holder: holder.in_words() }.into()),
        }
    }

    fn start_new(&self, start: &StartDaemon, deadline: Instant) -> Result<Started, Error> {
        let mut log = Log::open(&self.places().daemon_log())?;
        let mut child = self.detach_daemon(&start.binary, &log.file)?;
        loop {
            if let Some(outcome) = child.ended() {
                // Of two that start at once one gives way; whoever started it is served by the other.
                if let Lookup::Here(_) | Lookup::Unnamed = lock::look(self.places()) {
                    return self.await_other(start, deadline);
                }
                let (log, lines) = (log.path.clone(), log.last_lines(self));
                return Err(LifecycleError::EndedEarly { how: how(outcome), log, lines }.into());
            }
            let report = self.report_of_process(child.id());
            match &report {
                Some(report) if report.stage == Stage::Healthy => return Ok(Started::New(report.clone())),
                Some(_) | None if Instant::now() >= deadline => {
                    end(&mut child);
                    let because = why_not(report.as_ref());
                    let (path, lines) = (log.path.clone(), log.last_lines(self));
                    let waited = shown(start.wait);
                    return Err(LifecycleError::NotHealthy { waited, because, log: path, lines }.into());
                }
                Some(_) | None => thread::sleep(LOOK_EVERY),
            }
        }
    }

    /// Waits until somebody else's daemon is healthy. It is not ours to end.
    fn await_other(&self, start: &StartDaemon, deadline: Instant) -> Result<Started, Error> {
        loop {
            let report = match lock::look(self.places()) {
                Lookup::Here(holder) => report_of(&holder),
                Lookup::Unnamed => None,
                Lookup::Nobody | Lookup::Died(_) => return self.start_new(start, deadline),
                Lookup::Elsewhere(holder) => {
                    return Err(LifecycleError::Elsewhere { holder: holder.in_words() }.into());
                }
            };
            match report {
                Some(report) if report.stage == Stage::Healthy => return Ok(Started::Already(report)),
                report if Instant::now() >= deadline => {
                    let who = report.as_ref().map_or(0, |report| report.process.process);
                    let holder =
                        format!("process {who}, which is not healthy ({})", why_not(report.as_ref()));
                    return Err(LifecycleError::Held { holder }.into());
                }
                Some(_) | None => thread::sleep(LOOK_EVERY),
            }
        }
    }

    fn report_of_process(&self, process: u32) -> Option<Report> {
        match lock::look(self.places()) {
            Lookup::Here(holder) if holder.process.process == process => report_of(&holder),
            Lookup::Here(_) | Lookup::Died(_) | Lookup::Nobody | Lookup::Unnamed | Lookup::Elsewhere(_) => {
                None
            }
        }
    }

    fn detach_daemon(&self, binary: &Path, log: &File) -> Result<Detached, Error> {
        let program = self.daemon_program(binary).args(["daemon", "run"]);
        longhaul_exec::detach_into(&program, log).map_err(Error::Runner)
    }

    /// A program of ours that serves this installation, wherever it is started from.
    pub(super) fn daemon_program(&self, binary: &Path) -> Program {
        let mut program = Program::new(binary).directory("/");
        for name in OF_MANAGERS {
            program = program.remove_variable(name);
        }
        if let Some(home) = self.variable("LONGHAUL_HOME".as_ref()) {
            program = program.set_variable("LONGHAUL_HOME", home);
        }
        for flag in &self.settings().flags {
            program = program.args(["--config", flag]);
        }
        program
    }

    /// Waits for the healthy report of another process than this, for somebody else to start it.
    pub(super) fn await_successor(&self, before: &Holder, wait: Duration) -> Result<Report, String> {
        let start = Instant::now();
        loop {
            let found = match lock::look(self.places()) {
                Lookup::Here(holder) if holder.process != before.process => report_of(&holder),
                Lookup::Here(_)
                | Lookup::Nobody
                | Lookup::Died(_)
                | Lookup::Unnamed
                | Lookup::Elsewhere(_) => None,
            };
            match found {
                Some(report) if report.stage == Stage::Healthy => return Ok(report),
                found if start.elapsed() >= wait => return Err(why_not(found.as_ref())),
                Some(_) | None => thread::sleep(LOOK_EVERY),
            }
        }
    }
}

fn why_not(report: Option<&Report>) -> String {
    match report {
        None => "it has not said anything".to_owned(),
        Some(report) => match report.stage {
            Stage::Starting => "it is still starting".to_owned(),
            Stage::Healthy => "it is healthy".to_owned(),
            Stage::Draining | Stage::Stopping => "it is about to end".to_owned(),
            Stage::Troubled => report.because.clone().unwrap_or_else(|| "it does not say why".to_owned()),
        },
    }
}

fn how(outcome: Outcome) -> String {
    match outcome {
        Outcome::Exited(code) => format!("ended with exit code {code}"),
        Outcome::Signalled(signal) => format!("was killed by signal {signal}"),
        Outcome::TimedOut | Outcome::OutOfRoom | Outcome::Stopped => "was ended".to_owned(),
    }
}

/// A time as people say it: no fractions of a second, unless it is less than one.
pub(super) fn shown(time: Duration) -> String {
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    show_duration(if ms < 1000 { ms } else { ms / 1000 * 1000 })
}

/// Ends a daemon that we have just started, and sees it dead.
fn end(child: &mut Detached) {
    let start = Instant::now();
    child.ask(Plea::End);
    while child.ended().is_none() {
        if start.elapsed() >= ENDS_WITHIN {
            child.ask(Plea::Die);
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Sees a daemon dead, as far as it was seen alive.
pub(super) fn is_gone(holder: &Holder, system: &System) -> bool {
    match lock::look(system.places()) {
        Lookup::Here(other) | Lookup::Elsewhere(other) => other.process != holder.process,
        Lookup::Unnamed => false,
        Lookup::Nobody | Lookup::Died(_) => !is_alive(&holder.process),
    }
}

/// What a daemon prints, from here on.
struct Log {
    path: PathBuf,
    file: File,
    from: u64,
}

impl Log {
    fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::WriteFile { path: path.to_owned(), source };
        folder::own(path.parent().unwrap_or(Path::new("/")))?;
        if fs::metadata(path).is_ok_and(|found| found.len() >= LONG_LOG_BYTES) {
            fs::rename(path, path.with_extension("log.1")).map_err(failed)?;
        }
        let file =
            OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path).map_err(failed)?;
        let from = file.metadata().map_err(failed)?.len();
        Ok(Self { path: path.to_owned(), file, from })
    }

    /// The end of what was printed since, indented, without secrets.
    fn last_lines(&mut self, system: &System) -> String {
        let mut bytes = Vec::new();
        let read = self.file.seek(SeekFrom::Start(self.from)).and_then(|_| self.file.read_to_end(&mut bytes));
        let (Ok(_), Ok(scrubber)) = (read, system.scrubber()) else { return String::new() };
        let bytes = scrubber.bytes(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(LINES_TOLD)..].join("\n")
    }
}
