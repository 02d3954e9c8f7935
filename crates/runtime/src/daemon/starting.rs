//! Those who start tasks: a fetch or a checkout takes its time, and the loop does not wait for it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use longhaul_core::recovery::STARTS;
use longhaul_core::task::Rejection;
use longhaul_events::{SessionId, TaskId, Timestamp};

use super::line::Line;
use super::{DAEMON, Shared};
use crate::driving::Drive;
use crate::error::{Error, Kind, TaskError};
use crate::queueing::Turn;

/// How many are started at once.
const AT_ONCE: usize = 4;
/// How often a start that the world did not let be is tried before a person is asked.
const MOST_TRIES: u32 = 5;

/// Something that has to be started.
#[derive(Debug, Clone)]
enum Job {
    /// A task whose turn it is.
    Task { task: TaskId, because: String },
    /// A start that was cut short.
    Finish { task: TaskId, session: SessionId },
}

impl Job {
    const fn task(&self) -> TaskId {
        match self {
            Self::Task { task, .. } | Self::Finish { task, .. } => *task,
        }
    }
}

struct Done {
    job: Job,
    result: Result<Drive, Error>,
}

pub(super) struct Starters {
    shared: Arc<Shared>,
    waiting: VecDeque<Job>,
    under_way: BTreeMap<TaskId, Job>,
    /// How often the start of a task went wrong.
    failures: BTreeMap<TaskId, u32>,
    sender: SyncSender<Done>,
    receiver: Receiver<Done>,
}

impl Starters {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let (sender, receiver) = sync_channel(AT_ONCE);
        let (waiting, under_way, failures) = (VecDeque::new(), BTreeMap::new(), BTreeMap::new());
        Self { shared, waiting, under_way, failures, sender, receiver }
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.under_way.is_empty() || !self.waiting.is_empty()
    }

    /// Whether a task is being started.
    pub(super) fn has(&self, task: TaskId) -> bool {
        self.under_way.contains_key(&task) || self.waiting.iter().any(|job| job.task() == task)
    }

    pub(super) fn start(&mut self, task: TaskId, because: String) {
        self.add(Job::Task { task, because });
    }

    /// Goes on with a start that was cut short, unless somebody is at it.
    pub(super) fn finish(&mut self, task: TaskId, session: SessionId) {
        self.add(Job::Finish { task, session });
    }

    fn add(&mut self, job: Job) {
        if !self.has(job.task()) {
            self.waiting.push_back(job);
            self.fill();
        }
    }

    fn fill(&mut self) {
        while self.under_way.len() < AT_ONCE {
            let Some(job) = self.waiting.pop_front() else { return };
            let (shared, sender, mine) = (Arc::clone(&self.shared), self.sender.clone(), job.clone());
            let thread = std::thread::Builder::new().name("starter".to_owned());
            let spawned = thread.spawn(move || {
                let result = perform(&shared, &mine);
                // Nobody hears it when the daemon ends; then the next one looks.
                let _ = sender.send(Done { job: mine, result });
            });
            match spawned {
                Ok(_) => drop(self.under_way.insert(job.task(), job)),
                Err(error) => {
                    tracing::warn!(%error, task = %job.task(), "could not start a task now");
                    self.waiting.push_front(job);
                    return;
                }
            }
        }
    }

    /// Takes in which starts are done.
    pub(super) fn collect(&mut self, line: &mut Line, now: Timestamp) {
        while let Ok(Done { job, result }) = self.receiver.try_recv() {
            let task = job.task();
            self.under_way.remove(&task);
            match result {
                Ok(drive) => {
                    self.failures.remove(&task);
                    tracing::info!(%task, session = %drive.session, agent = %drive.agent, "started");
                    drive.warnings.iter().for_each(|warning| tracing::info!(%task, %warning, "started"));
                }
                Err(error) => self.failed(line, &job, &error, now),
            }
        }
        self.fill();
    }

    /// What the world did not let be is tried again after a pause; what cannot be is a person's to settle.
    fn failed(&mut self, line: &mut Line, job: &Job, error: &Error, now: Timestamp) {
        let task = job.task();
        // Somebody else was quicker, or wants no more of it.
        if matches!(
            error,
            Error::Task(TaskError::Rejected(
                Rejection::StillOpen { .. }
                    | Rejection::Ending { .. }
                    | Rejection::Over { .. }
                    | Rejection::Completed { .. }
            ))
        ) {
            return;
        }
        let failures = self.failures.entry(task).or_default();
        *failures += 1;
        tracing::warn!(%error, %task, failures = *failures, "could not start a task");
        let may_pass = matches!(error.kind(), Kind::Environment | Kind::Conflict) && !is_settled(error);
        if may_pass && *failures < MOST_TRIES {
            let seed = task.as_bytes().iter().fold(0_u64, |seed, byte| seed << 8 | u64::from(*byte));
            line.not_before.insert(task, now.plus_ms(STARTS.pause_ms(*failures, seed)));
            return;
        }
        self.failures.remove(&task);
        if let Err(error) = self.shared.commands.hand_over(task, &error.to_string(), DAEMON) {
            tracing::warn!(%error, %task, "could not hand a task over");
        }
    }
}

/// What no waiting mends, though it is the world's fault.
fn is_settled(error: &Error) -> bool {
    matches!(
        error,
        Error::Task(TaskError::NoRepository { .. } | TaskError::Damaged { .. })
            | Error::Git(
                longhaul_git::Error::NotARepository { .. } | longhaul_git::Error::PathMissing { .. }
            )
    )
}

fn perform(shared: &Shared, job: &Job) -> Result<Drive, Error> {
    let Shared { system, commands, .. } = shared;
    match job {
        Job::Task { task, because } => {
            let turn = Turn { task: *task, by: DAEMON.to_owned(), because: Some(because.clone()) };
            system.start_queued(commands, &turn)
        }
        Job::Finish { session, .. } => system.finish_start(commands, &commands.load_session(*session)?),
    }
}
