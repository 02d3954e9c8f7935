//! A trigger that a person wants to begin its task now, with or without a daemon.

use longhaul_core::trigger::Trigger;
use longhaul_events::{Intake as Became, Taint, TaskId};

use super::served::{Asked, Served};
use crate::commands::queueing::{Judged, Occasion, OccasionKind};
use crate::control::Control;
use crate::error::Error;
use crate::triggers::{TriggerError, TriggerState};

/// What firing a trigger came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fired {
    /// The workspace and the id.
    pub trigger: String,
    pub task: TaskId,
    pub goal: String,
}

impl Control<'_> {
    /// Has a trigger begin its task now. What it wants of a request a person has to say themselves.
    pub fn fire(&self, id: &str, goal: Option<&str>) -> Result<Fired, Error> {
        let by = self.caller.person()?;
        // Those of here first: what a person means is what they see.
        let near = self.system.triggers()?;
        let found = match near.find(id) {
            Ok(_) => near,
            Err(TriggerError::Unknown { .. }) => self.system.all_triggers()?,
            Err(error) => return Err(error.into()),
        };
        let entry = found.find(id)?;
        let (state, full_name) = (entry.state(), entry.full_name());
        match state {
            // One that is off begins nothing by itself.
            TriggerState::Ok | TriggerState::Off => {}
            TriggerState::Untrusted | TriggerState::Invalid | TriggerState::Unserved => {
                return Err(TriggerError::NotServed { id: full_name, state: state.word() }.into());
            }
        }
        let served = Served::of(self.system, &entry)?;
        let goal = match goal {
            Some(goal) if !goal.trim().is_empty() => goal.to_owned(),
            Some(_) | None => goal_of(&served.trigger)?,
        };
        let source = served.trigger.usual_source();
        let asked = Asked { goal: goal.clone(), source, taint: Taint::Clean, by: by.clone() };
        let new = served.task(asked, self.commands.now());
        let what = OccasionKind::Fired { by, call: self.commands.new_session_id().to_string() };
        let occasion = Occasion { what, judged: Judged::Wanted(Box::new(new)) };
        match self.commands.take_in(&served.name, &[occasion])?.pop() {
            Some(Became::Task { task } | Became::Duplicate { task }) => {
                Ok(Fired { trigger: full_name, task, goal })
            }
            Some(
                Became::NotWanted { because } | Became::Refused { because } | Became::Skipped { because },
            ) => Err(TriggerError::NotFired { id: full_name, because }.into()),
            None => Err(Error::TooManyConflicts),
        }
    }
}

/// The goal of a trigger that needs no request for it.
fn goal_of(trigger: &Trigger) -> Result<String, TriggerError> {
    let fixed = trigger.goal.as_ref().and_then(longhaul_core::trigger::TextTemplate::fixed);
    fixed
        .filter(|goal| !goal.trim().is_empty())
        .ok_or_else(|| TriggerError::NoGoal { id: trigger.id.clone() })
}
