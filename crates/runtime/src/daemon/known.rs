//! What the daemon knows of tasks that are not over, kept up to date from the log: each look costs only what is new.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_core::task::{Task, TaskState};
use longhaul_core::workspace::Workspace;
use longhaul_events::{SessionId, StreamId, TaskId, Timestamp, WorkspaceId};
use longhaul_store::views::{Board, Row, SessionRow, TaskRow};

use crate::commands::Commands;
use crate::error::Error;
use crate::lifecycle::Counts;
use crate::reader::task_view;

/// A task that is not over.
#[derive(Debug, Clone)]
pub(super) struct KnownTask {
    pub(super) task: Task,
    pub(super) state: TaskState,
    pub(super) opened_at: Timestamp,
    /// The session of its newest attempt, as far as it is here.
    pub(super) root: Option<SessionId>,
    /// How many attempts somebody began to work on.
    pub(super) attempts: u32,
}

#[derive(Debug)]
pub(super) struct Known {
    board: Board,
    open: BTreeMap<TaskId, KnownTask>,
    sessions_of: BTreeMap<TaskId, BTreeSet<SessionId>>,
    /// Tasks that cannot be read, with why. They keep no other from anything.
    pub(super) damaged: BTreeMap<TaskId, String>,
}

impl Known {
    pub(super) fn load(commands: &Commands) -> Result<Self, Error> {
        let board = commands.board()?;
        let mut known =
            Self { board, open: BTreeMap::new(), sessions_of: BTreeMap::new(), damaged: BTreeMap::new() };
        let all: Vec<StreamId> = known.board.rows().map(|(stream, _)| *stream).collect();
        known.take(&all);
        Ok(known)
    }

    /// Takes in what was committed since the last look.
    pub(super) fn follow(&mut self, commands: &Commands) -> Result<(), Error> {
        let changed = commands.follow_board(&mut self.board)?;
        self.take(&changed);
        Ok(())
    }

    fn take(&mut self, changed: &[StreamId]) {
        let mut tasks = BTreeSet::new();
        for stream in changed {
            match self.board.row(*stream) {
                Some(Row::Task(row)) => drop(tasks.insert(row.id)),
                Some(Row::Session(row)) => {
                    if let Some(task) = row.task {
                        self.sessions_of.entry(task).or_default().insert(row.id);
                        tasks.insert(task);
                    } else if row.status != longhaul_store::views::SessionStatus::Open {
                        self.board.forget(*stream);
                    }
                }
                Some(Row::Workspace(_) | Row::Trigger(_) | Row::Service(_)) | None => {}
            }
        }
        tasks.into_iter().for_each(|task| self.judge(task));
    }

    fn judge(&mut self, id: TaskId) {
        let Some(Row::Task(row)) = self.board.row(id.into()) else { return };
        let row: TaskRow = (**row).clone();
        let ids = self.sessions_of.get(&id).cloned().unwrap_or_default();
        let sessions: Vec<SessionRow> = ids.iter().filter_map(|id| self.session(*id)).cloned().collect();
        match task_view(row, &sessions) {
            Ok(view) if view.state.is_open() => {
                let is_begun =
                    |id: &SessionId| sessions.iter().any(|row| row.id == *id && row.driven.agent.is_some());
                let attempts = view.task.attempts.iter().filter(|id| is_begun(id)).count();
                self.damaged.remove(&id);
                self.open.insert(
                    id,
                    KnownTask {
                        root: view.root.as_ref().map(|root| root.id),
                        attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
                        state: view.state,
                        opened_at: view.opened_at,
                        task: view.task,
                    },
                );
            }
            // What a person might still want of one that failed is looked at once more by supervision.
            Ok(view)
                if matches!(view.state, TaskState::Over(_)) && may_come_back(&view.task, &view.state) =>
            {
                let root = view.root.as_ref().map(|root| root.id);
                let attempts = u32::try_from(view.task.attempts.len()).unwrap_or(u32::MAX);
                let (task, state, opened_at) = (view.task, view.state, view.opened_at);
                self.open.insert(id, KnownTask { task, state, opened_at, root, attempts });
            }
            Ok(_) => self.forget(id, &ids),
            Err(problem) => {
                self.open.remove(&id);
                self.damaged.insert(id, problem.problem);
            }
        }
    }

    /// What is over is needed no more; its rows are made again if it goes on.
    fn forget(&mut self, id: TaskId, sessions: &BTreeSet<SessionId>) {
        self.open.remove(&id);
        self.sessions_of.remove(&id);
        self.board.forget(id.into());
        sessions.iter().for_each(|session| self.board.forget((*session).into()));
    }

    pub(super) fn tasks(&self) -> impl Iterator<Item = (&TaskId, &KnownTask)> {
        self.open.iter()
    }

    pub(super) fn task(&self, id: TaskId) -> Option<&KnownTask> {
        self.open.get(&id)
    }

    pub(super) fn session(&self, id: SessionId) -> Option<&SessionRow> {
        match self.board.row(id.into()) {
            Some(Row::Session(row)) => Some(row),
            Some(Row::Task(_) | Row::Workspace(_) | Row::Trigger(_) | Row::Service(_)) | None => None,
        }
    }

    /// A repository that is registered.
    pub(super) fn workspace(&self, id: WorkspaceId) -> Option<&Workspace> {
        match self.board.row(id.into()) {
            Some(Row::Workspace(row)) if !row.workspace.removed => Some(&row.workspace),
            Some(Row::Workspace(_) | Row::Task(_) | Row::Session(_) | Row::Trigger(_) | Row::Service(_))
            | None => None,
        }
    }

    /// How many tasks there are of each kind.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for known in self.open.values() {
            match known.state {
                TaskState::Queued => counts.queued += 1,
                TaskState::Open | TaskState::Ending => counts.running += 1,
                TaskState::Waits(_) | TaskState::HandedOver(_) => counts.waiting += 1,
                TaskState::Over(_) | TaskState::NotHere => {}
            }
        }
        counts
    }

    /// Whether a process should be at work for anything.
    pub(super) fn has_running(&self) -> bool {
        self.open.values().any(|known| matches!(known.state, TaskState::Open | TaskState::Ending))
    }
}

/// Whether the daemon has still to say what becomes of a task of the queue that came to nothing.
fn may_come_back(task: &Task, state: &TaskState) -> bool {
    use longhaul_core::outcome::Outcome;
    let came_to_nothing = matches!(state, TaskState::Over(Outcome::Failed(_) | Outcome::CouldNot(_)));
    came_to_nothing && task.orders.is_some() && task.cancelled.is_none()
}
