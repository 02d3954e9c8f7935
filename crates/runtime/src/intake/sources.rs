//! Which open task is for which one thing: a ticket is worked on once at a time.

use std::collections::HashMap;

use longhaul_core::task::Source;
use longhaul_events::{Position, TaskId};

use crate::commands::Commands;
use crate::error::Error;

/// The newest task of each thing, as of a position of the log. Whether it is open is asked when that matters.
#[derive(Debug)]
pub(super) struct Sources {
    newest: HashMap<String, TaskId>,
    position: Position,
}

impl Sources {
    pub(super) fn load(commands: &Commands) -> Result<Self, Error> {
        let position = commands.last_position()?;
        let mut newest = HashMap::new();
        if let Some(reader) = commands.reader() {
            let (views, _) = reader.tasks()?;
            for view in views.into_iter().filter(|view| view.state.is_open()) {
                if is_one_thing(&view.task.source) {
                    newest.insert(view.task.source, view.id);
                }
            }
        }
        Ok(Self { newest, position })
    }

    /// The open task for a thing, if there is one.
    pub(super) fn open(&mut self, commands: &Commands, source: &Source) -> Result<Option<TaskId>, Error> {
        if !source.is_one_thing() {
            return Ok(None);
        }
        self.follow(commands)?;
        let name = source.to_string();
        let Some(task) = self.newest.get(&name).copied() else { return Ok(None) };
        if commands.is_task_open(task)? {
            return Ok(Some(task));
        }
        self.newest.remove(&name);
        Ok(None)
    }

    fn follow(&mut self, commands: &Commands) -> Result<(), Error> {
        let (opened, position) = commands.tasks_since(self.position)?;
        self.position = position;
        let things = opened.into_iter().filter(|opened| is_one_thing(&opened.source));
        self.newest.extend(things.map(|opened| (opened.source, opened.task)));
        Ok(())
    }
}

fn is_one_thing(source: &str) -> bool {
    source.parse::<Source>().is_ok_and(|source| source.is_one_thing())
}
