//! Tasks as they are loaded, decided on and stored: a root session and its task are opened in one append.

use longhaul_core::session::{OpenSession, Session};
use longhaul_core::task::{self, Command, First, NewTask, Newest, Source, Task, TaskState};
use longhaul_events::{
    Caps, Position, Priority, Seq, SessionId, StreamId, TaskChange, TaskEvent, TaskId, Timestamp,
};
use longhaul_store::State;

use super::Commands;
use super::session::Unopened;
use super::walking::StartSession;
use crate::error::{Error, TaskError};
use crate::recorder::{Aggregate, Contents, Decided, Piece, Stored};
use crate::terminal;

/// How often a decision is made anew because somebody else wrote first.
const ATTEMPTS: usize = 64;

/// What a root session is started for.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskWish {
    New(TaskOrigin),
    /// One more attempt at a task.
    Again {
        task: TaskId,
        by: String,
        because: Option<String>,
    },
}

/// What a new task has beside its goal.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskOrigin {
    pub source: Source,
    pub priority: Priority,
    pub deadline: Option<Timestamp>,
    pub budget: Option<Caps>,
    pub until: Option<String>,
    /// Of the ticket that it is for.
    pub labels: Vec<String>,
    pub by: String,
}

impl TaskOrigin {
    /// A task that somebody here wants done.
    pub fn of(source: Source) -> Self {
        let by = terminal::user_name();
        let (priority, labels) = (Priority::Normal, Vec::new());
        Self { source, priority, deadline: None, budget: None, until: None, labels, by }
    }
}

impl Default for TaskWish {
    fn default() -> Self {
        Self::New(TaskOrigin::of(Source::CLI))
    }
}

/// A task, also one that is only about to be opened.
pub(crate) struct TaskSlot {
    pub(super) id: TaskId,
    pub(super) task: Option<Task>,
}

impl Aggregate for TaskSlot {
    type Event = TaskEvent;

    fn seq(&self) -> Seq {
        self.task.as_ref().map_or(Seq(0), |task| task.seq)
    }

    fn apply(&mut self, event: &TaskEvent) {
        match &mut self.task {
            Some(task) => task.apply(event),
            None => self.task = Task::begin(self.id, event),
        }
    }

    fn state(&self) -> State {
        let task = self.task.as_ref().expect("the first event of a task opens it");
        let bytes = serde_json::to_vec(task).expect("a task has string keys only");
        State { fold_version: task::FOLD_VERSION, bytes }
    }
}

impl Commands {
    /// Opens a root session, and with it a task or one more attempt at one: both, or neither.
    pub(super) fn open_root(
        &self,
        id: SessionId,
        open: &OpenSession,
        start: &StartSession,
        wish: &TaskWish,
    ) -> Result<Stored<Unopened>, Error> {
        let new = TaskId::from_bytes(self.entropy.bytes());
        for _ in 0..ATTEMPTS {
            let epoch = self.recorder.log.state_epoch();
            let (slot, events) = match wish {
                TaskWish::New(origin) => {
                    (TaskSlot { id: new, task: None }, Task::open(new_task(id, open, start, origin)))
                }
                TaskWish::Again { task, by, because } => {
                    let task = self.load_task(*task)?;
                    let (before, by, because) = (self.task_state(&task)?, by.clone(), because.clone());
                    let attempt = Command::Attempt { session: id, before, by, because };
                    let events = task.decide(attempt).map_err(TaskError::from)?;
                    (TaskSlot { id: task.id, task: Some(task) }, events)
                }
            };
            let session = Session::open(OpenSession { task: Some(slot.id), ..open.clone() });
            let unopened = Unopened { id, opened: None };
            let first = Piece { stream: slot.id.into(), state: slot, events };
            let second = Piece { stream: id.into(), state: unopened, events: session };
            let mut batch = self.recorder.batch(self.clock.now(), epoch);
            batch.add(first);
            let stored = batch.add(second);
            if batch.commit()? {
                return Ok(stored);
            }
        }
        Err(Error::TooManyConflicts)
    }

    /// Opens a session below another one. It belongs to the same task.
    pub(super) fn open_below(
        &self,
        id: SessionId,
        open: &OpenSession,
        parent: SessionId,
    ) -> Result<Stored<Unopened>, Error> {
        let task = self.load_session(parent)?.task;
        let open = OpenSession { task, ..open.clone() };
        let recorded = self.recorder.record(self.write(id.into(), &Contents::default()), || {
            Ok((Unopened { id, opened: None }, Decided::Events(Session::open(open.clone()), ())))
        });
        recorded.map(|((), stored)| stored)
    }

    pub(crate) fn load_task(&self, id: TaskId) -> Result<Task, Error> {
        let mut events = Vec::new();
        for decision in &self.recorder.log.read(StreamId::from(id), Seq(0), usize::MAX)? {
            events.extend(decision.readable_events::<TaskEvent>()?);
        }
        Task::fold(id, &events).ok_or_else(|| TaskError::NoSuch(id.to_string()).into())
    }

    /// The task of a session. A session from elsewhere may name one that is not here.
    pub(crate) fn task_of(&self, session: &Session) -> Result<Option<Task>, Error> {
        match session.task.map(|task| self.load_task(task)) {
            Some(Ok(task)) => Ok(Some(task)),
            Some(Err(Error::Task(TaskError::NoSuch(_)))) | None => Ok(None),
            Some(Err(error)) => Err(error),
        }
    }

    /// Where in the log the first decision of a stream stands.
    pub(crate) fn first_position(&self, stream: StreamId) -> Result<Option<Position>, Error> {
        let first = self.recorder.log.read(stream, Seq(0), 1)?;
        Ok(first.first().map(|decision| decision.position))
    }

    /// How a task is doing, by the session of its newest attempt.
    pub(crate) fn task_state(&self, task: &Task) -> Result<TaskState, Error> {
        let newest = match task.root().map(|root| self.load_session(root)) {
            Some(Ok(session)) => newest(&session),
            Some(Err(Error::UnknownSession(_))) => Newest::NotHere,
            None => Newest::None,
            Some(Err(error)) => return Err(error),
        };
        Ok(TaskState::of(task, newest))
    }

    /// Puts on record that nobody wants more of a task. Its sessions are ended by whoever asked.
    pub(crate) fn cancel_task(&self, id: TaskId, by: &str, because: Option<&str>) -> Result<(), Error> {
        self.decide_task(id, |task| {
            let (now, by, because) = (self.task_state(task)?, by.to_owned(), because.map(str::to_owned));
            Ok(task.decide(Command::Cancel { now, by, because }).map_err(TaskError::from)?)
        })
        .map(|_| ())
    }

    /// Changes what a task is to be. Says whether that was anything new.
    pub(crate) fn set_task(
        &self,
        id: TaskId,
        change: &TaskChange,
        by: &str,
        because: Option<&str>,
    ) -> Result<bool, Error> {
        self.decide_task(id, |task| {
            let (change, by, because) = (change.clone(), by.to_owned(), because.map(str::to_owned));
            Ok(task.decide(Command::Set { change, by, because }).map_err(TaskError::from)?)
        })
    }

    pub(super) fn decide_task(
        &self,
        id: TaskId,
        mut decide: impl FnMut(&Task) -> Result<Vec<TaskEvent>, Error>,
    ) -> Result<bool, Error> {
        let recorded = self.recorder.record(self.write(id.into(), &Contents::default()), || {
            let task = self.load_task(id)?;
            let events = decide(&task)?;
            let slot = TaskSlot { id, task: Some(task) };
            let decided =
                if events.is_empty() { Decided::Nothing(false) } else { Decided::Events(events, true) };
            Ok((slot, decided))
        });
        recorded.map(|(is_new, _)| is_new)
    }
}

fn new_task(id: SessionId, open: &OpenSession, start: &StartSession, origin: &TaskOrigin) -> NewTask {
    let TaskOrigin { source, priority, deadline, budget, until, labels: _, by } = origin.clone();
    NewTask {
        goal: open.goal.clone(),
        source,
        pipeline: start.workflow.id.clone(),
        until,
        workspace: start.workspace,
        priority,
        deadline,
        budget,
        by,
        first: First::Attempt(id),
    }
}

fn newest(session: &Session) -> Newest {
    match (session.closed.is_some(), session.outcome()) {
        (_, None) => Newest::GoesOn,
        (true, Some(outcome)) => Newest::Closed(outcome),
        (false, Some(outcome)) => Newest::Halted(outcome),
    }
}
