//! Schedules: each tick opens its task once, however often and by however many it is looked at.

use std::collections::BTreeMap;

use longhaul_core::schedule::{CatchUp, Overlap, Schedule};
use longhaul_core::time::rfc3339;
use longhaul_core::trigger::{Outcome, Start, Switch, examine};
use longhaul_events::{Intake as Became, Taint, TaskId, Timestamp, TriggerId};
use serde_json::Value;

use super::served::{Asked, Served};
use super::{Intake, Shared, lock};
use crate::commands::queueing::{Judged, Occasion, OccasionKind};
use crate::error::Error;

/// A tick that is later than this was missed.
const LATE_MS: u64 = 5 * 60 * 1000;

/// A tick on record that is so far ahead was written by a clock that was wrong, and does not keep all others from coming.
const ABSURD_MS: u64 = 24 * 60 * 60 * 1000;

/// Up to when the ticks of each schedule are dealt with, and when the next one is due.
#[derive(Debug, Default)]
pub(super) struct Clockwork {
    wheels: BTreeMap<TriggerId, Wheel>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Wheel {
    schedule: Schedule,
    done: Timestamp,
    next: Option<Timestamp>,
}

/// What a look at all schedules came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ticks {
    pub opened: Vec<TaskId>,
    /// When something is due next.
    pub next: Option<Timestamp>,
}

impl Intake {
    /// Opens a task for each tick that is due, and says when the next one is. One that cannot be stored keeps no other, and is
    /// tried again with the next look.
    pub fn due_ticks(&self, now: Timestamp) -> Ticks {
        let (mut clockwork, set) = (lock(&self.shared.clockwork), self.shared.set());
        let mut ticks = Ticks::default();
        let mut wheels = BTreeMap::new();
        for served in set.all() {
            let Start::Schedule(schedule) = &served.trigger.start else { continue };
            if served.trigger.switch == Switch::Off {
                continue;
            }
            let id = served.name.id();
            let before = clockwork.wheels.remove(&id).filter(|wheel| wheel.schedule == *schedule);
            match self.shared.turn(served, schedule, before, now) {
                Ok((wheel, task)) => {
                    ticks.opened.extend(task);
                    ticks.next = [ticks.next, wheel.next].into_iter().flatten().min();
                    wheels.insert(id, wheel);
                }
                Err(error) => {
                    tracing::error!(%error, trigger = %served.full_name, "a tick could not be dealt with");
                }
            }
        }
        clockwork.wheels = wheels;
        ticks
    }
}

impl Shared {
    fn turn(
        &self,
        served: &Served,
        schedule: &Schedule,
        before: Option<Wheel>,
        now: Timestamp,
    ) -> Result<(Wheel, Option<TaskId>), Error> {
        let wheel = match before {
            // A clock that was put back does not bring a tick back.
            Some(wheel) if wheel.next.is_none_or(|next| now < next) => return Ok((wheel, None)),
            Some(wheel) => wheel,
            None => {
                let done = self.done_before(served, now)?;
                Wheel { schedule: schedule.clone(), done, next: None }
            }
        };
        // Of several that were missed, the newest stands for all.
        let due = schedule.ticks_between(wheel.done, now, 1).pop();
        let task = due.map(|due| self.tick(served, schedule, due, now)).transpose()?.flatten();
        let done = due.unwrap_or(wheel.done);
        let next = schedule.next_after(done.max(now));
        Ok((Wheel { done, next, ..wheel }, task))
    }

    /// Up to when ticks were dealt with before this process was there. A schedule begins when it is first seen, and that it was
    /// seen is on record: what falls due while nobody is there is known as missed.
    fn done_before(&self, served: &Served, now: Timestamp) -> Result<Timestamp, Error> {
        let id = served.name.id();
        let last = self.commands.trigger_history(id)?.last_due;
        if let Some(last) = last.filter(|last| last.since_ms(now) < ABSURD_MS) {
            return Ok(last);
        }
        match self.commands.trigger_named_at(id)? {
            Some(named) if last.is_none() && named <= now => Ok(named),
            Some(_) => Ok(now),
            None => {
                self.commands.take_in(&served.name, &[])?;
                Ok(now)
            }
        }
    }

    fn tick(
        &self,
        served: &Served,
        schedule: &Schedule,
        due: Timestamp,
        now: Timestamp,
    ) -> Result<Option<TaskId>, Error> {
        let judged = self.judge_tick(served, schedule, due, now)?;
        let occasion = Occasion { what: OccasionKind::Ticked { due }, judged };
        let became = self.commands.take_in(&served.name, &[occasion])?.pop();
        Ok(match became {
            Some(Became::Task { task }) => Some(task),
            Some(
                Became::Duplicate { .. }
                | Became::NotWanted { .. }
                | Became::Refused { .. }
                | Became::Skipped { .. },
            )
            | None => None,
        })
    }

    fn judge_tick(
        &self,
        served: &Served,
        schedule: &Schedule,
        due: Timestamp,
        now: Timestamp,
    ) -> Result<Judged, Error> {
        let is_late = now.since_ms(due) > LATE_MS;
        match schedule.catch_up {
            CatchUp::No if is_late => {
                return Ok(Judged::Skipped(format!("it was due at {}, when nobody was there", rfc3339(due))));
            }
            CatchUp::No | CatchUp::Newest => {}
        }
        match schedule.overlap {
            Overlap::Skip => {
                let before = self.commands.trigger_history(served.name.id())?.last_task;
                if let Some(task) = before
                    && self.commands.is_task_open(task)?
                {
                    return Ok(Judged::Skipped(format!("task {task} of the one before is not over")));
                }
            }
        }
        Ok(match examine(&served.trigger, &Value::Null).1 {
            Outcome::Wanted { goal, source } => {
                let by = format!("trigger {}", served.trigger.id);
                let asked = Asked { goal, source, taint: Taint::Clean, by };
                Judged::Wanted(Box::new(served.task(asked, now)))
            }
            Outcome::NotWanted { because } => Judged::NotWanted(because),
            Outcome::Refused(problem) => Judged::Refused(problem.to_string()),
        })
    }
}
