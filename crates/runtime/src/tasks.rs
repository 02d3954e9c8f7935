//! What a person does with a task as a whole: end its tree, try it again, change what it is to be.

mod again;

use longhaul_core::outcome::Outcome;
use longhaul_core::parking::ParkCode;
use longhaul_core::session::{At, NewBudget, Session};
use longhaul_core::task::{Source, TaskState};
use longhaul_core::units::{parse_duration_ms, parse_money_micros};
use longhaul_core::workflow::answer::judge_text;
use longhaul_events::{Caps, Priority, SessionId, TaskChange, TaskId, Timestamp};
use longhaul_store::views::SessionStatus;

use crate::budgeting;
use crate::commands::Commands;
use crate::error::{Error, TaskError};
use crate::reader::TaskView;
use crate::stopping::Stop;
use crate::system::System;
use crate::terminal;

pub use again::Again;

/// What somebody wants changed in a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSetting {
    /// As in `priority=high`.
    pub assignments: Vec<String>,
    pub because: Option<String>,
}

impl System {
    /// Ends a task with all its sessions, and returns when that is seen to be so. A person's to do.
    pub fn cancel_task(&self, commands: &Commands, id: TaskId, stop: &Stop) -> Result<(), Error> {
        terminal::refuse_agents()?;
        check_because(stop.reason.as_deref())?;
        commands.cancel_task(id, &stop.by, stop.reason.as_deref())?;
        self.stop_all(commands, &open_sessions(commands, id)?, stop)
    }

    /// Changes a task. Says what was new. A person's to do.
    pub fn set_task(&self, commands: &Commands, id: TaskId, new: &TaskSetting) -> Result<Vec<String>, Error> {
        terminal::refuse_agents()?;
        check_because(new.because.as_deref())?;
        let by = terminal::user_name();
        // All of them are read before one is written.
        let changes: Result<Vec<TaskChange>, Error> =
            new.assignments.iter().map(|text| change(text, commands.now())).collect();
        let mut changed = Vec::new();
        for (change, text) in changes?.iter().zip(&new.assignments) {
            if commands.set_task(id, change, &by, new.because.as_deref())? {
                changed.push(text.clone());
            }
        }
        Ok(changed)
    }

    /// Gives a task as a whole another cap on money, as in `money=30usd`. What waits for want of it goes on. A person's to do.
    pub fn change_task_budget(&self, commands: &Commands, view: &TaskView, text: &str) -> Result<(), Error> {
        terminal::refuse_agents()?;
        let task_money_micros = money(text)?;
        if let TaskState::Over(Outcome::Completed { .. }) = view.state {
            return Err(TaskError::NothingToPay { task: view.id }.into());
        }
        let root = view.root.as_ref().and_then(|root| root.driven.caps);
        let caps = view.task.budget.or(root).ok_or(TaskError::NotPaid { task: view.id })?;
        let change = TaskChange::Budget(with_task_money(caps, task_money_micros));
        let open = open_sessions(commands, view.id)?;
        // All of them are looked at before one is given anything.
        for id in &open {
            check_task_money(commands, *id, task_money_micros)?;
        }
        commands.set_task(view.id, &change, &terminal::user_name(), None)?;
        for id in open {
            self.give_task_money(commands, id, task_money_micros)?;
        }
        Ok(())
    }

    fn give_task_money(
        &self,
        commands: &Commands,
        id: SessionId,
        task_money_micros: u64,
    ) -> Result<(), Error> {
        let session = commands.load_session(id)?;
        let Some(caps) = session.caps.filter(|_| session.agent.is_some()) else { return Ok(()) };
        let budget = NewBudget { caps: with_task_money(caps, task_money_micros), by: terminal::user_name() };
        // What waits for other means takes that of the task anew when it gets them.
        if budgeting::is_out_of_means(&session) && !waits_for_task_money(&session) {
            return Ok(());
        }
        self.give_budget(commands, &session, &budget)
    }
}

/// Whoever waits for the money of the task needs enough of it. What waits for something else goes on waiting.
fn check_task_money(commands: &Commands, id: SessionId, task_money_micros: u64) -> Result<(), Error> {
    let session = commands.load_session(id)?;
    match session.caps.filter(|_| session.agent.is_some() && waits_for_task_money(&session)) {
        Some(caps) => budgeting::enough(commands, &session, &with_task_money(caps, task_money_micros)),
        None => Ok(()),
    }
}

impl Commands {
    /// Refuses to do the same work twice: another task that is open has the same source.
    pub(crate) fn refuse_duplicate(&self, source: &Source) -> Result<(), Error> {
        match others(self, source, None)?.first() {
            Some(task) => Err(TaskError::Duplicate { source_name: source.to_string(), task: *task }.into()),
            None => Ok(()),
        }
    }

    /// Two may have started the same at one moment. The one whose task is in the log first goes on.
    pub(crate) fn yield_to_earlier(&self, source: &Source, session: SessionId) -> Result<(), Error> {
        let Some(task) = self.load_session(session)?.task else { return Ok(()) };
        for other in others(self, source, Some(task))? {
            if self.first_position(other.into())? < self.first_position(task.into())? {
                let duplicate = TaskError::Duplicate { source_name: source.to_string(), task: other };
                self.cancel_session(session, &terminal::user_name(), Some(&duplicate.to_string()))?;
                return Err(duplicate.into());
            }
        }
        Ok(())
    }
}

/// Where both were given together, as to a run, both change.
const fn with_task_money(caps: Caps, task_money_micros: u64) -> Caps {
    let is_one = caps.money_micros == caps.task_money_micros;
    let money_micros = if is_one { task_money_micros } else { caps.money_micros };
    Caps { task_money_micros, money_micros, ..caps }
}

fn waits_for_task_money(session: &Session) -> bool {
    match &session.at {
        At::Parked(park) => ParkCode::of(&park.code) == Some(ParkCode::BudgetTaskMoney),
        At::Nothing | At::Step(_) | At::Work(_) | At::Gate(_) => false,
    }
}

/// The sessions of a task that are open, the root first.
fn open_sessions(commands: &Commands, id: TaskId) -> Result<Vec<SessionId>, Error> {
    let Some(reader) = commands.reader() else { return Ok(Vec::new()) };
    let view = reader.find_task(&id.to_string())?;
    let open = view.sessions.into_iter().filter(|row| row.status == SessionStatus::Open);
    Ok(open.map(|row| row.id).collect())
}

/// Other tasks that are open and have this source, which names one thing.
fn others(commands: &Commands, source: &Source, own: Option<TaskId>) -> Result<Vec<TaskId>, Error> {
    let Some(reader) = commands.reader().filter(|_| source.is_one_thing()) else { return Ok(Vec::new()) };
    let name = source.to_string();
    let is_other = |view: &TaskView| view.task.source == name && view.state.is_open() && Some(view.id) != own;
    Ok(reader.tasks()?.0.into_iter().filter(is_other).map(|view| view.id).collect())
}

fn check_because(because: Option<&str>) -> Result<(), Error> {
    let reasons = judge_text("the reason", because.unwrap_or_default());
    if reasons.is_empty() { Ok(()) } else { Err(Error::BadAnswer(reasons)) }
}

/// Reads `priority=high` and the like.
fn change(text: &str, now: Timestamp) -> Result<TaskChange, Error> {
    let bad = |problem: &str| TaskError::BadChange { text: text.to_owned(), problem: problem.to_owned() };
    let (key, value) = text.split_once('=').ok_or_else(|| bad("there is no `=` in it"))?;
    match key.trim() {
        "priority" => {
            let known = Priority::WORDS.iter().find(|(word, _)| *word == value.trim());
            let (_, priority) = known.ok_or_else(|| bad("a priority is low, normal, high or urgent"))?;
            Ok(TaskChange::Priority(*priority))
        }
        "deadline" => Ok(TaskChange::Deadline(deadline(value.trim(), now).map_err(|problem| bad(&problem))?)),
        _ => Err(bad("only `priority` and `deadline` can be set; `longhaul task budget` gives money").into()),
    }
}

/// From now on so long, or none.
pub(crate) fn deadline(text: &str, now: Timestamp) -> Result<Option<Timestamp>, String> {
    if text == "none" {
        return Ok(None);
    }
    let ms = parse_duration_ms(text)
        .map_err(|_| "a deadline is so far from now, such as `2d` or `6h`, or `none`".to_owned())?;
    Ok(Some(now.plus_ms(ms)))
}

fn money(text: &str) -> Result<u64, TaskError> {
    let bad = |problem: String| TaskError::BadBudget { problem };
    let amount = text.strip_prefix("money=").unwrap_or(text).trim();
    match parse_money_micros(amount) {
        Ok(0) => Err(bad("a cap of 0 lets nothing be done".to_owned())),
        Ok(micros) => Ok(micros),
        Err(error) => Err(bad(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::commands::task::{TaskOrigin, TaskWish};
    use crate::places::Places;
    use crate::system::Settings;
    use crate::{Error, NewWalk};

    const WORKFLOW: &str =
        "longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\nsteps:\n  - { id: look, prompt: Look. }\n";

    fn begin(system: &System, commands: &Commands, source: &Source) -> SessionId {
        let (workflow, goal) = ("team.fix".to_owned(), "fix it".to_owned());
        let walk = NewWalk { workflow, goal, vars: serde_json::Map::new() };
        let wish = TaskWish::New(TaskOrigin::of(source.clone()));
        system.begin_for(commands, walk, &wish).unwrap().session_id.parse().unwrap()
    }

    #[test]
    fn one_thing_is_done_by_one_task_and_of_two_that_start_at_once_the_first_in_the_log_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let (home, directory) = (folder.path().join("home"), folder.path().join("work"));
        std::fs::create_dir_all(home.join("config/workflows")).unwrap();
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(home.join("config/workflows/team.fix.yml"), WORKFLOW).unwrap();
        let (places, variables) = (Places::under(&home), BTreeMap::new());
        let system = System::new(Settings { places, variables, directory, flags: Vec::new() });
        let commands = system.commands().unwrap();
        let source: Source = "item:LH-TSK-0012".parse().unwrap();
        commands.refuse_duplicate(&source).unwrap();
        let first = begin(&system, &commands, &source);
        let task = commands.load_session(first).unwrap().task.unwrap();
        let refused = commands.refuse_duplicate(&source).unwrap_err();
        assert!(
            matches!(refused, Error::Task(TaskError::Duplicate { task: named, .. }) if named == task),
            "{refused}"
        );
        commands.refuse_duplicate(&"item:LH-TSK-0013".parse().unwrap()).unwrap();
        // Somebody who had looked before the first was there.
        let second = begin(&system, &commands, &source);
        commands.yield_to_earlier(&source, first).unwrap();
        commands.yield_to_earlier(&source, second).unwrap_err();
        assert!(commands.load_session(first).unwrap().closed.is_none());
        assert!(commands.load_session(second).unwrap().closed.is_some());
        commands.cancel_session(first, "ada", None).unwrap();
        commands.refuse_duplicate(&source).unwrap();
        begin(&system, &commands, &Source::CLI);
        commands.refuse_duplicate(&Source::CLI).unwrap();
    }

    #[test]
    fn two_who_try_a_task_again_at_once_make_one_attempt() {
        let folder = tempfile::tempdir().unwrap();
        let (home, directory) = (folder.path().join("home"), folder.path().join("work"));
        std::fs::create_dir_all(home.join("config/workflows")).unwrap();
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(home.join("config/workflows/team.fix.yml"), WORKFLOW).unwrap();
        let (places, variables) = (Places::under(&home), BTreeMap::new());
        let system = System::new(Settings { places, variables, directory, flags: Vec::new() });
        let commands = system.commands().unwrap();
        let session = begin(&system, &commands, &Source::CLI);
        commands.cancel_session(session, "ada", None).unwrap();
        let task = commands.load_session(session).unwrap().task.unwrap();
        let tried: Vec<bool> = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let commands = system.commands().unwrap();
                        let view = commands.reader().unwrap().find_task(&task.to_string()).unwrap();
                        system.retry_task(&commands, &view, None).is_ok()
                    })
                })
                .collect();
            tries.into_iter().map(|tried| tried.join().unwrap()).collect()
        });
        assert_eq!(tried.iter().filter(|is_ok| **is_ok).count(), 1, "{tried:?}");
        assert_eq!(commands.load_task(task).unwrap().attempts.len(), 2);
    }

    #[test]
    fn what_a_person_types_is_read_or_told_what_belongs_there() {
        let now = Timestamp(1000);
        assert_eq!(change("priority=high", now).unwrap(), TaskChange::Priority(Priority::High));
        assert_eq!(change("deadline=1s", now).unwrap(), TaskChange::Deadline(Some(Timestamp(2000))));
        assert_eq!(change("deadline=none", now).unwrap(), TaskChange::Deadline(None));
        for text in ["priority", "priority=soon", "deadline=tomorrow", "goal=x", "="] {
            let message = change(text, now).unwrap_err().to_string();
            assert!(message.contains("sets nothing; write `priority=high`"), "{message}");
        }
        assert_eq!((money("money=30usd").unwrap(), money("2usd").unwrap()), (30_000_000, 2_000_000));
        for text in ["", "money=", "tokens=5k", "0usd", "30"] {
            assert!(money(text).is_err(), "{text}");
        }
    }
}
