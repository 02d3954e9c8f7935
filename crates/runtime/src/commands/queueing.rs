//! Tasks that wait for their turn, and the triggers that open them: what is taken in is on disk when this returns.

use std::collections::BTreeMap;

use longhaul_core::intake::{self, History};
use longhaul_core::task::{Command, First, NewTask, Source, Task};
use longhaul_events::{
    Caps, Content, Digest, Intake, Orders, Priority, Seq, StreamId, TaskEvent, TaskId, Timestamp,
    TriggerEvent, TriggerId, WorkspaceId,
};
use longhaul_store::State;
use serde_json::Value;

use super::Commands;
use super::task::TaskSlot;
use crate::error::{Error, TaskError};
use crate::recorder::{Aggregate, Batch, Piece};

/// How often a decision is made anew because somebody else wrote first.
const ATTEMPTS: usize = 64;

/// A task that is to wait for its turn.
#[derive(Debug, Clone, PartialEq)]
pub struct NewQueued {
    pub goal: String,
    pub source: Source,
    pub pipeline: String,
    pub until: Option<String>,
    pub workspace: Option<WorkspaceId>,
    pub priority: Priority,
    pub deadline: Option<Timestamp>,
    pub budget: Option<Caps>,
    pub orders: Orders,
    pub by: String,
}

/// Something that may start a task, and what was thought of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Occasion {
    pub what: OccasionKind,
    pub judged: Judged,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OccasionKind {
    Delivered {
        /// As the sender calls it, if it does.
        delivery: Option<String>,
        body: Digest,
        /// What tells it from every other delivery to the trigger.
        key: String,
    },
    Ticked {
        due: Timestamp,
    },
    /// `call` tells two calls apart.
    Fired {
        by: String,
        call: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Judged {
    Wanted(Box<NewQueued>),
    /// A task that is open is for the same.
    Duplicate(TaskId),
    NotWanted(String),
    Refused(String),
    Skipped(String),
}

/// Which trigger it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerName {
    pub name: String,
    pub workspace: Option<WorkspaceId>,
}

impl TriggerName {
    pub fn id(&self) -> TriggerId {
        intake::trigger_id(self.workspace, &self.name)
    }
}

impl OccasionKind {
    /// What the id of its task is made from.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Delivered { key, .. } => intake::occasion(key),
            Self::Ticked { due } => format!("due {}", due.0),
            Self::Fired { call, .. } => format!("call {call}"),
        }
    }

    fn event(self, outcome: Intake) -> TriggerEvent {
        match self {
            Self::Delivered { delivery, body, key: _ } => TriggerEvent::Delivered { delivery, body, outcome },
            Self::Ticked { due } => TriggerEvent::Ticked { due, outcome },
            Self::Fired { by, call: _ } => TriggerEvent::Fired { by, outcome },
        }
    }
}

/// A trigger with the moment at which it is written to.
struct TriggerSlot {
    history: History,
    at: Timestamp,
}

impl Aggregate for TriggerSlot {
    type Event = TriggerEvent;

    fn seq(&self) -> Seq {
        self.history.seq
    }

    fn apply(&mut self, event: &TriggerEvent) {
        self.history.apply(self.at, event);
    }

    fn state(&self) -> State {
        let bytes = serde_json::to_vec(&self.history).expect("a history has string keys only");
        State { fold_version: intake::FOLD_VERSION, bytes }
    }
}

impl Commands {
    /// Puts a task into the queue.
    pub fn queue_task(&self, new: NewQueued) -> Result<TaskId, Error> {
        let id = TaskId::from_bytes(self.entropy.bytes());
        let mut batch = self.recorder.batch(self.clock.now(), self.recorder.log.state_epoch());
        add_task(&mut batch, id, new);
        if batch.commit()? { Ok(id) } else { Err(Error::TooManyConflicts) }
    }

    /// Takes in what came to a trigger, all of it in one commit, and says what became of each. The same again, from any
    /// process, opens no second task.
    pub fn take_in(&self, trigger: &TriggerName, occasions: &[Occasion]) -> Result<Vec<Intake>, Error> {
        for _ in 0..ATTEMPTS {
            let (epoch, at) = (self.recorder.log.state_epoch(), self.clock.now());
            let history = self.trigger_history(trigger.id())?;
            let mut batch = self.recorder.batch(at, epoch);
            let outcomes = self.open_wanted(&mut batch, trigger.id(), occasions)?;
            let mut events = Vec::new();
            if history.seq == Seq(0) {
                let TriggerName { name, workspace } = trigger.clone();
                events.push(TriggerEvent::Named { name, workspace });
            }
            let kinds = occasions.iter().map(|occasion| occasion.what.clone());
            events.extend(kinds.zip(&outcomes).map(|(what, outcome)| what.event(outcome.clone())));
            let state = TriggerSlot { history, at };
            batch.add(Piece { stream: trigger.id().into(), state, events });
            if batch.commit()? {
                return Ok(outcomes);
            }
        }
        Err(Error::TooManyConflicts)
    }

    fn open_wanted(
        &self,
        batch: &mut Batch<'_>,
        trigger: TriggerId,
        occasions: &[Occasion],
    ) -> Result<Vec<Intake>, Error> {
        // What names one thing is done by one task, also if it comes twice in one breath.
        let mut named: BTreeMap<String, TaskId> = BTreeMap::new();
        let mut opened: Vec<TaskId> = Vec::new();
        let mut outcomes = Vec::new();
        for Occasion { what, judged } in occasions {
            let outcome = match judged {
                Judged::Duplicate(task) => Intake::Duplicate { task: *task },
                Judged::NotWanted(because) => Intake::NotWanted { because: because.clone() },
                Judged::Refused(because) => Intake::Refused { because: because.clone() },
                Judged::Skipped(because) => Intake::Skipped { because: because.clone() },
                Judged::Wanted(new) => {
                    let task = intake::task_id(trigger, &what.key());
                    let source = new.source.is_one_thing().then(|| new.source.to_string());
                    let same = source.as_ref().and_then(|source| named.get(source)).copied();
                    if let Some(task) = same {
                        Intake::Duplicate { task }
                    } else if opened.contains(&task) || self.recorder.log.head(task.into())?.is_some() {
                        Intake::Duplicate { task }
                    } else {
                        add_task(batch, task, NewQueued::clone(new));
                        opened.push(task);
                        named.extend(source.map(|source| (source, task)));
                        Intake::Task { task }
                    }
                }
            };
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    /// What is on record of a trigger.
    pub fn trigger_history(&self, id: TriggerId) -> Result<History, Error> {
        let stream = StreamId::from(id);
        let Some(head) = self.recorder.log.head(stream)? else { return Ok(History::new(id)) };
        let stored = head.state.filter(|state| state.fold_version == intake::FOLD_VERSION);
        if let Some(history) = stored.and_then(|state| serde_json::from_slice::<History>(&state.bytes).ok())
            && history.seq == head.seq
        {
            return Ok(history);
        }
        let mut history = History::new(id);
        for decision in &self.recorder.log.read(stream, Seq(0), usize::MAX)? {
            for event in decision.readable_events::<TriggerEvent>()? {
                history.apply(decision.at, &event);
            }
        }
        Ok(history)
    }

    /// Has a task wait for its turn again.
    pub fn requeue(&self, id: TaskId, because: &str, due: Timestamp, by: &str) -> Result<bool, Error> {
        self.decide_task(id, |task| {
            let before = self.task_state(task)?;
            let (because, by) = (because.to_owned(), by.to_owned());
            Ok(task.decide(Command::Requeue { before, because, due, by }).map_err(TaskError::from)?)
        })
    }

    /// Leaves a task to a person.
    pub fn hand_over(&self, id: TaskId, because: &str, by: &str) -> Result<bool, Error> {
        self.decide_task(id, |task| {
            let now = self.task_state(task)?;
            let (because, by) = (because.to_owned(), by.to_owned());
            Ok(task.decide(Command::HandOver { now, because, by }).map_err(TaskError::from)?)
        })
    }

    /// Puts on record what a person says to whoever works on a task.
    pub fn tell_task(&self, id: TaskId, words: &str, by: &str) -> Result<bool, Error> {
        self.decide_task(id, |task| {
            let now = self.task_state(task)?;
            let (words, by) = (Content::Inline(Value::String(words.to_owned())), by.to_owned());
            Ok(task.decide(Command::Tell { now, words, by }).map_err(TaskError::from)?)
        })
    }

    /// Puts on record that a person settled an entry of the inbox.
    pub fn reply(&self, id: TaskId, entry: &str, words: Option<&str>, by: &str) -> Result<bool, Error> {
        self.decide_task(id, |task| {
            let (entry, words, by) = (entry.to_owned(), words.map(str::to_owned), by.to_owned());
            Ok(task.decide(Command::Reply { entry, words, by }).map_err(TaskError::from)?)
        })
    }
}

fn add_task(batch: &mut Batch<'_>, id: TaskId, new: NewQueued) {
    let NewQueued { goal, source, pipeline, until, workspace, priority, deadline, budget, orders, by } = new;
    let goal = Content::Inline(Value::String(goal));
    let first = First::Queue(orders);
    let events: Vec<TaskEvent> = Task::open(NewTask {
        goal,
        source,
        pipeline,
        until,
        workspace,
        priority,
        deadline,
        budget,
        by,
        first,
    });
    batch.add(Piece { stream: id.into(), state: TaskSlot { id, task: None }, events });
}
