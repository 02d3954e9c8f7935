//! The daemon: takes tasks in their turn, sees to it that what should run does, and hands to people what it cannot.
//!
//! It hosts no session. Each has a runner, a process of its own that outlives the daemon; all that the daemon knows is in
//! the log, so one that is killed loses nothing, and the next one looks and goes on.

mod found;
mod governed;
mod known;
mod line;
mod news;
mod starting;
mod supervising;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use longhaul_core::metrics::{self, DaemonFigures, Figures, QueueState};
use longhaul_core::queue::Plan;
use longhaul_events::Timestamp;
use longhaul_store::watch::Watcher;

use crate::commands::Commands;
use crate::error::Error;
use crate::intake::{Intake, IntakeOptions};
use crate::lifecycle::{Condition, Counts, Health, Serve};
use crate::observing::{self, export};
use crate::system::System;
use known::Known;
use line::Line;
use news::News;
use starting::Starters;
use supervising::Supervision;

/// Who acts where a person would otherwise be named.
pub const DAEMON: &str = "daemon";

/// How often it looks without having been told, while something runs. A process that died tells nobody.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Many commits in a row are one reason to look.
const LOOK_AT_MOST_EVERY: Duration = Duration::from_millis(50);
/// The same while nothing does.
const REST: Duration = Duration::from_secs(2);
/// One that did not look for so long is stuck.
const STUCK: Duration = Duration::from_mins(1);
/// How long a collector may take to be told the last of it.
const LAST_TELLING: Duration = Duration::from_secs(2);

/// A daemon that serves.
#[derive(Debug)]
pub struct Daemon {
    shared: Arc<Shared>,
    intake: Arc<Intake>,
    thread: Mutex<Option<JoinHandle<()>>>,
    news: News,
    export: Mutex<Option<export::Handle>>,
}

/// What the loop and those who ask it share.
#[derive(Debug)]
struct Shared {
    system: System,
    commands: Arc<Commands>,
    counts: Mutex<Counts>,
    wish: AtomicU8,
    born: Instant,
    /// In milliseconds since it was born.
    looked: AtomicU64,
    trouble: Mutex<Option<String>>,
    plan: Mutex<Option<Arc<Plan>>>,
}

/// What is wanted of the loop. The later one is the more urgent.
const SERVE: u8 = 0;
const DRAIN: u8 = 1;
const STOP: u8 = 2;

impl Daemon {
    /// Looks at what there is and begins to serve. Whoever calls holds the lock that there is one of.
    pub fn start(system: System) -> Result<Arc<Self>, Error> {
        let commands = Arc::new(system.commands()?);
        let folder = system.directory().to_owned();
        let intake =
            Intake::start(system.standing_in(&folder), Arc::clone(&commands), IntakeOptions::default())?;
        let (intake, export) = (Arc::new(intake), system.start_export());
        let shared = Arc::new(Shared {
            system,
            commands,
            counts: Mutex::default(),
            wish: AtomicU8::new(SERVE),
            born: Instant::now(),
            looked: AtomicU64::new(0),
            trouble: Mutex::new(None),
            plan: Mutex::new(None),
        });
        let round = Round::new(Arc::clone(&shared), Arc::clone(&intake))?;
        let thread = std::thread::Builder::new().name("daemon".to_owned());
        let no_thread = |source| Error::ReadFile { path: "a thread".into(), source };
        let thread = thread.spawn(move || serve(round)).map_err(no_thread)?;
        let news = News::start(Arc::clone(&shared))?;
        let (thread, export) = (Mutex::new(Some(thread)), Mutex::new(export));
        Ok(Arc::new(Self { shared, intake, thread, news, export }))
    }

    /// What the queue looked like when it was last planned.
    pub fn plan(&self) -> Option<Arc<Plan>> {
        lock(&self.shared.plan).clone()
    }

    /// Figures in the format of Prometheus. Without the views there are those of the daemon alone.
    pub fn metrics(&self) -> String {
        let counts = *lock(&self.shared.counts);
        let is_paused = self.shared.commands.service().is_ok_and(|service| service.paused.is_some());
        let daemon = DaemonFigures {
            uptime_ms: u64::try_from(self.shared.born.elapsed().as_millis()).unwrap_or(u64::MAX),
            queue_length: counts.queued,
            queue: if is_paused { QueueState::Paused } else { QueueState::Running },
            intake: BTreeMap::new(),
        };
        let reader = self.shared.commands.reader();
        let figures = reader.map(|reader| observing::figures(&reader, Some(daemon.clone())));
        let alone = || Figures { daemon: Some(daemon), ..Figures::default() };
        metrics::render(&figures.and_then(Result::ok).unwrap_or_else(alone))
    }

    /// What takes in work.
    pub const fn intake(&self) -> &Arc<Intake> {
        &self.intake
    }

    pub fn system(&self) -> &System {
        &self.shared.system
    }

    pub fn commands(&self) -> &Commands {
        &self.shared.commands
    }
}

impl Serve for Daemon {
    fn health(&self) -> Health {
        let condition = self.shared.condition();
        Health { condition, counts: *lock(&self.shared.counts), addresses: Vec::new() }
    }

    fn drain(&self) {
        self.shared.wish.fetch_max(DRAIN, Ordering::Relaxed);
    }

    fn stop(&self) {
        self.shared.wish.fetch_max(STOP, Ordering::Relaxed);
        self.intake.stop();
    }

    fn wait(&self) {
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            // What it died of is in its log.
            let _ = thread.join();
        }
        self.intake.stop();
        self.news.stop();
        if let Some(export) = lock(&self.export).take() {
            export.stop(LAST_TELLING);
        }
    }
}

impl Shared {
    fn condition(&self) -> Condition {
        let looked = Duration::from_millis(self.looked.load(Ordering::Relaxed));
        let silent = self.born.elapsed().saturating_sub(looked);
        if silent > STUCK {
            return Condition::Troubled(format!("it has not looked for {} s", silent.as_secs()));
        }
        match lock(&self.trouble).clone() {
            Some(because) => Condition::Troubled(because),
            None if self.looked.load(Ordering::Relaxed) == 0 => Condition::Starting,
            None => Condition::Healthy,
        }
    }

    fn beat(&self) {
        let ms = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.looked.store(ms.max(1), Ordering::Relaxed);
    }

    fn now(&self) -> Timestamp {
        self.commands.now()
    }
}

/// Everything that the loop keeps between two looks.
struct Round {
    shared: Arc<Shared>,
    watcher: Watcher,
    known: Known,
    supervision: Supervision,
    line: Line,
    starters: Starters,
    intake: Arc<Intake>,
    /// When the next tick of a schedule is due.
    tick: Option<Timestamp>,
}

fn serve(mut round: Round) {
    loop {
        let shared = Arc::clone(&round.shared);
        shared.beat();
        // One thing that is broken must not keep all others from going on.
        let looked = catch_unwind(AssertUnwindSafe(|| round.look()));
        let trouble = match looked {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("a look of the daemon panicked; see its log".to_owned()),
        };
        if let Some(because) = &trouble {
            tracing::error!(%because, "the daemon could not look at everything");
        }
        *lock(&shared.trouble) = trouble;
        if round.is_over() {
            break;
        }
        std::thread::sleep(LOOK_AT_MOST_EVERY); // tidy: what comes meanwhile is seen by the same look
        let rest = if round.known.has_running() || round.starters.is_busy() { LOOK_EVERY } else { REST };
        if round.watcher.wait(round.until_due(rest)).is_err() {
            // A store that was replaced is opened anew by the next look.
            std::thread::sleep(LOOK_EVERY); // tidy: nothing tells when a store can be opened again
        }
    }
}

impl Round {
    fn new(shared: Arc<Shared>, intake: Arc<Intake>) -> Result<Self, Error> {
        let places = shared.system.places();
        let watcher = Watcher::listening(&places.data, &places.poke_socket())?;
        let known = Known::load(&shared.commands)?;
        let (supervision, line) = (Supervision::default(), Line::default());
        let starters = Starters::new(Arc::clone(&shared));
        Ok(Self { starters, shared, watcher, known, supervision, line, intake, tick: None })
    }

    /// Takes in what is new, sees to what should run, and starts whose turn it is.
    fn look(&mut self) -> Result<(), Error> {
        let now = self.shared.now();
        self.starters.collect(&mut self.line, now);
        if self.shared.wish.load(Ordering::Relaxed) == SERVE {
            self.tick = self.intake.due_ticks(now).next;
        }
        self.known.follow(&self.shared.commands)?;
        self.supervision.look(&self.shared, &self.known, &mut self.starters, now);
        // What was just put on record counts for whose turn it is.
        self.known.follow(&self.shared.commands)?;
        if self.shared.wish.load(Ordering::Relaxed) == SERVE {
            let plan = self.line.plan(&self.shared, &self.known, &self.starters, now)?;
            for start in &plan.start {
                self.starters.start(start.task, start.because.to_string());
            }
            for HandOverOf { task, because } in hand_overs(&plan) {
                if let Err(error) = self.shared.commands.hand_over(task, &because, DAEMON) {
                    tracing::warn!(%error, %task, "could not hand a task over");
                }
            }
            *lock(&self.shared.plan) = Some(Arc::new(plan));
        }
        *lock(&self.shared.counts) = self.known.counts();
        Ok(())
    }

    fn is_over(&self) -> bool {
        match self.shared.wish.load(Ordering::Relaxed) {
            SERVE => false,
            DRAIN => !self.known.has_running() && !self.starters.is_busy(),
            _ => !self.starters.is_busy(),
        }
    }

    /// How long to wait at most: until something is due.
    fn until_due(&self, rest: Duration) -> Duration {
        let now = self.shared.now();
        let due = [self.supervision.next_due(), self.line.next_due(), self.tick].into_iter().flatten().min();
        due.map_or(rest, |due| rest.min(Duration::from_millis(due.since_ms(now).max(10))))
    }
}

struct HandOverOf {
    task: longhaul_events::TaskId,
    because: String,
}

fn hand_overs(plan: &Plan) -> impl Iterator<Item = HandOverOf> {
    plan.hand_over.iter().map(|one| HandOverOf { task: one.task, because: one.why.to_string() })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
