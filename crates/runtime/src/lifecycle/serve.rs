//! Serving: the process of a daemon from its lock to its last word. What it does meanwhile is somebody else's loop.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use longhaul_events::Driver;

use super::binary::Binary;
use super::folder;
use super::lock::{Holder, Lock};
use super::notify::Notifier;
use super::report::{Counts, Report, Stage, beat_now_ms};
use super::resting::{self, Rested};
use super::unit;
use super::wish::{Farewell, Wish};
use crate::clock::{Clock as _, SystemClock};
use crate::error::{Error, LifecycleError};
use crate::runner::this_process;
use crate::system::{Settings, System};
use crate::terminal;

/// How often a daemon says that it is there.
const BEAT: Duration = Duration::from_secs(5);
/// How soon others hear of a change, while it starts and while it ends.
const SHORT_BEAT: Duration = Duration::from_millis(50);
/// How long a loop may take to end.
const LOOP_ENDS_IN: Duration = Duration::from_secs(15);
const LOOP_ENDS_AT_ONCE_IN: Duration = Duration::from_secs(2);

/// The loop of a daemon. All calls but `wait` return soon; `stop` and `drain` may be called again, `stop` after `drain`.
pub trait Serve: Send + Sync {
    fn health(&self) -> Health;
    /// Starts nothing new, and ends when what runs has ended.
    fn drain(&self);
    /// Ends, and leaves what runs to itself.
    fn stop(&self);
    /// Returns when it has ended.
    fn wait(&self);
}

/// Begins a loop.
pub type StartServing = fn(System) -> Result<Arc<dyn Serve>, Error>;

/// How a loop is doing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    pub condition: Condition,
    pub counts: Counts,
    /// Where it can be reached.
    pub addresses: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Condition {
    /// It is not ready yet.
    #[default]
    Starting,
    Healthy,
    /// It cannot do what it should, with the reason.
    Troubled(String),
}

/// How a daemon ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub farewell: Farewell,
    /// Whom it asked to rest.
    pub rested: Rested,
}

/// Whether a daemon could serve here, without serving: for a program that is about to replace another.
pub fn check(settings: &Settings) -> Result<(), Error> {
    let system = System::new(settings.clone());
    folder::own(&system.places().run)?;
    let commands = system.commands()?;
    commands.service()?;
    system.config_outside_workspaces().map(drop)
}

/// Serves until somebody asks for its end, and returns when it is over.
pub fn serve(settings: &Settings, version: &'static str, start: StartServing) -> Result<Ended, Error> {
    terminal::refuse_agents()?;
    let system = System::new(settings.clone());
    let places = system.places();
    folder::own(&places.run)?;
    longhaul_exec::catch_interrupts();
    longhaul_exec::catch_terminations();
    let commands = system.commands()?;
    system.check_room()?;
    let process = this_process();
    let holder = Holder { process: process.clone(), version: version.to_owned(), run: places.run.clone() };
    // Given back last of all, when nothing of this daemon is left.
    let _lock = Lock::take(places, &holder)?;
    let notifier = Notifier::of(|name| system.variable(name.as_ref()));
    let mut daemon = Daemon::announced(&system, notifier, process.clone(), version)?;
    commands.service_started(process, version)?;
    let ended = start(System::new(settings.clone())).and_then(|served| {
        let running = Loop::start(served);
        daemon.keep(&running).map(|farewell| daemon.part(&running, farewell))
    });
    let because = match &ended {
        Ok(ended) => ended.farewell.in_words().to_owned(),
        Err(error) => error.to_string(),
    };
    // Not to be able to say so is no reason to stay.
    if let Err(error) = commands.service_stopped(&because) {
        tracing::warn!(%error, "could not put on record that the daemon ended");
    }
    ended
}

/// A loop, and whether it is over.
struct Loop {
    served: Arc<dyn Serve>,
    is_over: Arc<AtomicBool>,
}

impl Loop {
    fn start(served: Arc<dyn Serve>) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (watched, over) = (Arc::clone(&served), Arc::clone(&is_over));
        thread::spawn(move || {
            // Also if it panics: a loop that is gone must not look as if it were there.
            let _over = SetOnDrop(over);
            watched.wait();
        });
        Self { served, is_over }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Has it end, and does not wait for that.
    fn end(&self, farewell: Farewell) {
        let served = Arc::clone(&self.served);
        thread::spawn(move || match farewell {
            Farewell::Drain => served.drain(),
            Farewell::HandOver | Farewell::Rest | Farewell::Now => served.stop(),
        });
    }
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The process of a daemon as others see it. Its report goes when this does.
struct Daemon<'a> {
    system: &'a System,
    notifier: Notifier,
    report: Report,
    /// What was said last, and when.
    said: Option<(Report, Instant)>,
    is_ready: bool,
    signals: u32,
    heeded: Option<Wish>,
}

impl<'a> Daemon<'a> {
    fn announced(
        system: &'a System,
        notifier: Notifier,
        process: Driver,
        version: &str,
    ) -> Result<Self, Error> {
        let report = Report {
            process,
            version: version.to_owned(),
            binary: Binary::own()?,
            since: SystemClock.now(),
            stage: Stage::Starting,
            because: None,
            beat_ms: beat_now_ms(),
            counts: Counts::default(),
            addresses: Vec::new(),
            unit: unit::own_unit(system),
        };
        if let Some(before) = Report::read(&system.places().daemon_report()) {
            tracing::warn!(
                process = before.process.process,
                "the daemon before this one died without a word"
            );
        }
        let _ = fs::remove_file(system.places().daemon_wish());
        report.write(&system.places().daemon_report())?;
        Ok(Self { system, notifier, report, said: None, is_ready: false, signals: 0, heeded: None })
    }

    /// Looks after the loop until somebody wants it ended.
    fn keep(&mut self, running: &Loop) -> Result<Farewell, Error> {
        loop {
            self.look(running);
            let pause = if self.is_ready { self.notifier.beat(BEAT) } else { SHORT_BEAT };
            longhaul_exec::wait_for_signal(pause);
            if let Some(farewell) = self.wanted(None) {
                return Ok(farewell);
            }
            if running.is_over() {
                return Err(LifecycleError::LoopEnded.into());
            }
        }
    }

    fn look(&mut self, running: &Loop) {
        let Health { condition, counts, addresses } = running.served.health();
        (self.report.counts, self.report.addresses) = (counts, addresses);
        let (stage, because) = match condition {
            Condition::Starting => (Stage::Starting, None),
            Condition::Healthy => (Stage::Healthy, None),
            Condition::Troubled(because) => (Stage::Troubled, Some(because)),
        };
        self.say(stage, because);
        if stage == Stage::Healthy && !self.is_ready {
            self.is_ready = true;
            self.notifier.tell("READY=1\n");
        }
        self.notifier.tell("WATCHDOG=1\n");
    }

    /// Writes the report, if there is news in it or the last one is old.
    fn say(&mut self, stage: Stage, because: Option<String>) {
        (self.report.stage, self.report.because) = (stage, because);
        let is_old = |at: &Instant| at.elapsed() >= BEAT / 2;
        if self.said.as_ref().is_some_and(|(said, at)| {
            !is_old(at) && Report { beat_ms: said.beat_ms, ..self.report.clone() } == *said
        }) {
            return;
        }
        self.report.beat_ms = beat_now_ms();
        let places = self.system.places();
        // Somebody may clean the run folder up; it is made anew.
        let write = || self.report.write(&places.daemon_report());
        match write().or_else(|_| folder::own(&places.run).and_then(|()| write())) {
            Ok(()) => self.said = Some((self.report.clone(), Instant::now())),
            // It serves all the same; who asks is told that nothing is heard of it.
            Err(error) => tracing::warn!(%error, "the daemon could not say how it is doing"),
        }
    }

    /// What somebody wants by now that is more than what they wanted before.
    fn wanted(&mut self, before: Option<Farewell>) -> Option<Farewell> {
        let caught = longhaul_exec::interrupts() + longhaul_exec::terminations();
        if caught == self.signals {
            return None;
        }
        let is_first = self.signals == 0 && caught == 1;
        self.signals = caught;
        let wish = Wish::read(&self.system.places().daemon_wish(), &self.report.process);
        let is_new = wish.is_some() && wish != self.heeded;
        let farewell = match wish {
            Some(wish) if is_new => {
                tracing::info!(by = %wish.by, farewell = ?wish.farewell, "asked to end");
                let farewell = wish.farewell;
                self.heeded = Some(wish);
                farewell
            }
            // Two who wish at once send two signals, and the second finds a wish that is heeded already.
            Some(_) if before != Some(Farewell::Drain) => return None,
            Some(_) => Farewell::Rest,
            None if is_first || before == Some(Farewell::Drain) => Farewell::Rest,
            None => Farewell::Now,
        };
        before.is_none_or(|before| farewell > before).then_some(farewell)
    }

    /// Ends the loop, and has runners rest if nobody takes over.
    fn part(&mut self, running: &Loop, mut farewell: Farewell) -> Ended {
        self.notifier.tell("STOPPING=1\n");
        let mut since = Instant::now();
        running.end(farewell);
        while !running.is_over() {
            let stage = if farewell == Farewell::Drain { Stage::Draining } else { Stage::Stopping };
            self.report.counts = running.served.health().counts;
            self.say(stage, Some(farewell.in_words().to_owned()));
            self.notifier.tell("WATCHDOG=1\n");
            longhaul_exec::wait_for_signal(SHORT_BEAT);
            if let Some(more) = self.wanted(Some(farewell)) {
                (farewell, since) = (more, Instant::now());
                running.end(farewell);
            }
            let limit = match farewell {
                Farewell::Drain => continue,
                Farewell::HandOver | Farewell::Rest => LOOP_ENDS_IN,
                Farewell::Now => LOOP_ENDS_AT_ONCE_IN,
            };
            if since.elapsed() >= limit {
                tracing::warn!("the loop of the daemon does not end; it ends with the process");
                break;
            }
        }
        self.say(Stage::Stopping, Some(farewell.in_words().to_owned()));
        let rested = self.have_rest(&mut farewell);
        Ended { farewell, rested }
    }

    fn have_rest(&mut self, farewell: &mut Farewell) -> Rested {
        if matches!(farewell, Farewell::HandOver | Farewell::Drain) {
            return Rested::default();
        }
        let rested = resting::rest(self.system, || {
            self.say(Stage::Stopping, Some("its runners let go of their sessions".to_owned()));
            self.notifier.tell("WATCHDOG=1\n");
            *farewell = self.wanted(Some(*farewell)).unwrap_or(*farewell);
            *farewell
        });
        rested.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not ask runners to rest; they go on by themselves");
            Rested::default()
        })
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.system.places().daemon_report());
        let _ = fs::remove_file(self.system.places().daemon_wish());
    }
}
