//! The one thread of the intake: takes all that waits, and stores it with one commit for each trigger.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use longhaul_core::intake::{self, History};
use longhaul_core::trigger;
use longhaul_events::{Intake as Outcome, Taint, TaskId, Timestamp, TriggerId};

use super::memory::{self, Before, Memory};
use super::served::{Asked, Mark, Served, mark};
use super::sources::Sources;
use super::{Answer, Arrived, Shared};
use crate::commands::queueing::{Judged, Occasion, OccasionKind};
use crate::error::Error;

/// How often it is looked whether files of triggers changed.
const LOOK_EVERY: Duration = Duration::from_secs(2);

pub(super) type Answering = Box<dyn FnOnce(Answer) + Send>;

/// What the thread is asked.
pub(super) enum Message {
    Arrived(Box<Arrived>, Answering),
    Reload(SyncSender<Result<(), Error>>),
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Arrived(..) => "Arrived",
            Self::Reload(_) => "Reload",
        })
    }
}

pub(super) struct Drain {
    shared: Arc<Shared>,
    receiver: Receiver<Message>,
    most: usize,
    memory: Memory,
    sources: Sources,
    mark: Option<Mark>,
}

/// A delivery whose sender waits for an answer.
struct Waiting {
    arrived: Box<Arrived>,
    answer: Answering,
}

/// What was found out about a delivery before it is stored.
enum Sorted {
    /// It is told, and nothing is written.
    Known(Answer),
    Store(Judged),
}

impl Drain {
    pub(super) fn load(shared: Arc<Shared>, receiver: Receiver<Message>, most: usize) -> Result<Self, Error> {
        let (memory, sources) = (Memory::load(&shared.commands)?, Sources::load(&shared.commands)?);
        Ok(Self { shared, receiver, most, memory, sources, mark: None })
    }

    /// Serves until nobody can send any more, and all that was sent is stored.
    pub(super) fn serve(mut self) {
        loop {
            let first = match self.receiver.recv_timeout(LOOK_EVERY) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => {
                    self.reload_if_changed();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let mut waiting = Vec::new();
            self.take(first, &mut waiting);
            while waiting.len() < self.most {
                let Ok(message) = self.receiver.try_recv() else { break };
                self.take(message, &mut waiting);
            }
            self.store_all(waiting);
        }
    }

    fn take(&mut self, message: Message, waiting: &mut Vec<Waiting>) {
        match message {
            Message::Arrived(arrived, answer) => waiting.push(Waiting { arrived, answer }),
            // Nobody waits for what became of it if they are gone.
            Message::Reload(told) => drop(told.send(self.reload())),
        }
    }

    /// One commit for each trigger. One that cannot be stored keeps no other.
    fn store_all(&mut self, waiting: Vec<Waiting>) {
        let mut by_trigger: BTreeMap<TriggerId, Vec<Waiting>> = BTreeMap::new();
        for one in waiting {
            by_trigger.entry(one.arrived.served.name.id()).or_default().push(one);
        }
        for waiting in by_trigger.into_values() {
            let (arrived, answers): (Vec<Box<Arrived>>, Vec<Answering>) =
                waiting.into_iter().map(|one| (one.arrived, one.answer)).unzip();
            let stored = catch_unwind(AssertUnwindSafe(|| self.store(&arrived)));
            let told = match stored {
                Ok(Ok(told)) => told,
                Ok(Err(error)) => {
                    tracing::error!(%error, "deliveries could not be stored; their senders are told to come again");
                    vec![Answer::Failed(error.to_string()); answers.len()]
                }
                Err(_) => vec![Answer::Failed("the intake panicked; see its log".to_owned()); answers.len()],
            };
            answers.into_iter().zip(told).for_each(|(answer, told)| answer(told));
        }
    }

    /// Stores what came to one trigger, and says of each what became of it.
    fn store(&mut self, arrived: &[Box<Arrived>]) -> Result<Vec<Answer>, Error> {
        let Some(first) = arrived.first() else { return Ok(Vec::new()) };
        let shared = Arc::clone(&self.shared);
        let (commands, name) = (&shared.commands, &first.served.name);
        let now = commands.now();
        let mut room = Room::of(&commands.trigger_history(name.id())?, &first.served, now);
        let mut sorted = Vec::new();
        let mut named: BTreeMap<&str, TaskId> = BTreeMap::new();
        for one in arrived {
            sorted.push(self.sort(one, &mut named, &mut room, now)?);
        }
        let occasions = arrived.iter().zip(&sorted).filter_map(|(one, sorted)| match sorted {
            Sorted::Known(_) => None,
            Sorted::Store(judged) => Some(Occasion { what: one.what(), judged: judged.clone() }),
        });
        let occasions: Vec<Occasion> = occasions.collect();
        let outcomes = if occasions.is_empty() { Vec::new() } else { commands.take_in(name, &occasions)? };
        let mut outcomes = outcomes.into_iter();
        let told = arrived.iter().zip(sorted).map(|(one, sorted)| match sorted {
            Sorted::Known(answer) => answer,
            Sorted::Store(_) => {
                let outcome = outcomes.next().expect("each occasion has an outcome");
                self.memory.take(name.id(), one.id.as_deref(), one.body, &outcome);
                answer_of(outcome)
            }
        });
        Ok(told.collect())
    }

    /// What is to become of a delivery, by what came before it.
    fn sort<'a>(
        &mut self,
        one: &'a Arrived,
        named: &mut BTreeMap<&'a str, TaskId>,
        room: &mut Room,
        now: Timestamp,
    ) -> Result<Sorted, Error> {
        let trigger = one.served.name.id();
        let wanted = match &one.judged {
            trigger::Judged::Wanted(wanted) => wanted,
            trigger::Judged::NotWanted { because } => {
                return Ok(match self.memory.before(trigger, &memory::by_body(one.body)) {
                    Some(Before::NotWanted { told: true }) => {
                        Sorted::Known(Answer::NotWanted(because.clone()))
                    }
                    Some(Before::NotWanted { told: false } | Before::Task { .. }) | None => {
                        Sorted::Store(Judged::NotWanted(because.clone()))
                    }
                });
            }
            trigger::Judged::Refused(problem) => {
                return Ok(Sorted::Store(Judged::Refused(problem.to_string())));
            }
        };
        // By what tells it apart, and by what its sender calls it.
        let marks = [Some(one.key.clone()), one.id.as_deref().map(memory::by_id)];
        for mark in marks.into_iter().flatten() {
            match self.memory.before(trigger, &mark) {
                Some(Before::Task { task, told: true }) => return Ok(Sorted::Known(Answer::Duplicate(task))),
                Some(Before::Task { task, told: false }) => {
                    return Ok(Sorted::Store(Judged::Duplicate(task)));
                }
                Some(Before::NotWanted { .. }) | None => {}
            }
        }
        let task = intake::task_id(trigger, &intake::occasion(&one.key));
        let same_name = one.id.as_deref().and_then(|id| named.get(id)).copied();
        let before = same_name.filter(|before| *before != task);
        let source = self.sources.open(&self.shared.commands, &wanted.source)?;
        if let Some(same) = before.or(source.filter(|open| *open != task)) {
            return Ok(Sorted::Store(Judged::Duplicate(same)));
        }
        if self.shared.commands.has_task(task)? {
            return Ok(Sorted::Store(Judged::Duplicate(task)));
        }
        if let Some(because) = room.full() {
            return Ok(Sorted::Store(Judged::Skipped(because)));
        }
        room.take();
        named.extend(one.id.as_deref().map(|id| (id, task)));
        let asked = Asked {
            goal: wanted.goal.clone(),
            source: wanted.source.clone(),
            taint: Taint::Outside,
            by: format!("trigger {}", one.served.trigger.id),
        };
        Ok(Sorted::Store(Judged::Wanted(Box::new(one.served.task(asked, now)))))
    }

    fn reload_if_changed(&mut self) {
        match mark(&self.shared.system, &self.shared.commands) {
            Ok(mark) if Some(&mark) == self.mark.as_ref() => {}
            Ok(_) | Err(_) => {
                if let Err(error) = self.reload() {
                    tracing::warn!(%error, "triggers could not be read anew; those from before count");
                }
            }
        }
    }

    /// Reads all files. What came in before this is judged by what counted before.
    pub(super) fn reload(&mut self) -> Result<(), Error> {
        let shared = &self.shared;
        // Before the files: what changes meanwhile is seen the next time.
        let mark = mark(&shared.system, &shared.commands)?;
        let found = shared.system.all_triggers()?;
        let set = shared.set().reloaded(&shared.system, &found);
        for trouble in &set.troubles {
            tracing::warn!(about = %trouble.about, problem = %trouble.problem, "triggers");
        }
        *shared.set.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(set);
        self.mark = Some(mark);
        Ok(())
    }
}

impl Arrived {
    fn what(&self) -> OccasionKind {
        OccasionKind::Delivered { delivery: self.id.clone(), body: self.body, key: self.key.clone() }
    }
}

/// How many tasks a trigger may still open today.
struct Room {
    cap: Option<u64>,
    opened: u64,
}

impl Room {
    fn of(history: &History, served: &Served, now: Timestamp) -> Self {
        Self { cap: served.trigger.catch_all, opened: history.tasks_on(now) }
    }

    fn full(&self) -> Option<String> {
        let cap = self.cap.filter(|cap| self.opened >= *cap)?;
        Some(format!("it takes whatever comes, and {cap} tasks a day are the most"))
    }

    const fn take(&mut self) {
        self.opened += 1;
    }
}

fn answer_of(outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Task { task } => Answer::Task(task),
        Outcome::Duplicate { task } => Answer::Duplicate(task),
        Outcome::NotWanted { because } => Answer::NotWanted(because),
        Outcome::Refused { because } => Answer::Refused(because),
        Outcome::Skipped { because } => Answer::Skipped(because),
    }
}
