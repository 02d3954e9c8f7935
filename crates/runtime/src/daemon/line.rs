//! Whose turn it is: what is known, as the plan of the queue wants to see it.

use std::collections::BTreeMap;

use longhaul_core::outcome::Outcome;
use longhaul_core::queue::{
    Attempts, Buckets, Pause, Paused, Place, Plan, Queued, Running, RunningState, Snapshot, Upstream,
    UpstreamState, Work, plan,
};
use longhaul_core::service;
use longhaul_core::task::{Task, TaskState};
use longhaul_events::{QueuePlace, TaskId, Timestamp};

use super::Shared;
use super::governed::Governments;
use super::known::{Known, KnownTask};
use super::starting::Starters;
use crate::commands::Commands;
use crate::error::{Error, TaskError};

/// How often a task that came from nowhere may be tried.
const ONCE: u32 = 1;

/// What is remembered between two plans.
#[derive(Debug, Default)]
pub(super) struct Line {
    buckets: Buckets,
    governments: Governments,
    /// Tasks whose start went wrong and is tried again, with when.
    pub(super) not_before: BTreeMap<TaskId, Timestamp>,
    due: Option<Timestamp>,
}

impl Line {
    pub(super) const fn next_due(&self) -> Option<Timestamp> {
        self.due
    }

    pub(super) fn plan(
        &mut self,
        shared: &Shared,
        known: &Known,
        starters: &Starters,
        now: Timestamp,
    ) -> Result<Plan, Error> {
        let settings = shared.system.standing_in(&shared.system.places().data).config()?.queue;
        self.buckets.rates = settings.rates;
        let mut snapshot = Snapshot {
            now,
            queued: Vec::new(),
            running: Vec::new(),
            limits: settings.limits,
            buckets: self.buckets.clone(),
            paused: paused(&shared.commands.service()?),
            unknown_scope: settings.unknown_scope,
        };
        for (id, task) in known.tasks() {
            match &task.state {
                TaskState::Queued if starters.has(*id) => {
                    snapshot.running.push(running(task, RunningState::Going));
                }
                TaskState::Queued => snapshot.queued.push(self.queued(shared, known, task)?),
                TaskState::Open | TaskState::Ending => {
                    snapshot.running.push(running(task, RunningState::Going));
                }
                TaskState::Waits(_) => snapshot.running.push(running(task, RunningState::Parked)),
                TaskState::HandedOver(_) | TaskState::Over(_) | TaskState::NotHere => {}
            }
        }
        let plan = plan(&snapshot);
        self.buckets = plan.buckets.clone();
        self.due = plan.look_again;
        self.not_before.retain(|id, _| known.task(*id).is_some_and(|task| task.state == TaskState::Queued));
        Ok(plan)
    }

    fn queued(&mut self, shared: &Shared, known: &Known, of: &KnownTask) -> Result<Queued, Error> {
        let (mode, awaited) = self.governments.of(shared, known, of);
        let KnownTask { task, opened_at, attempts, .. } = of;
        let orders = task.orders.as_ref();
        let mut after = Vec::new();
        for id in orders.map(|orders| orders.after.as_slice()).unwrap_or_default() {
            after.push(Upstream { task: *id, state: upstream(&shared.commands, known, *id)? });
        }
        let again = task.requeued.as_ref().map(|again| again.due);
        let due = again.max(self.not_before.get(&task.id).copied());
        Ok(Queued {
            work: work(task),
            priority: task.priority,
            deadline: task.deadline,
            since: *opened_at,
            position: u64::try_from(opened_at.0).unwrap_or_default(),
            place: match task.place {
                QueuePlace::First(since) => Place::First { since },
                QueuePlace::Usual => Place::Usual,
                QueuePlace::Last(since) => Place::Last { since },
            },
            after,
            mode,
            awaited,
            attempts: Attempts { made: *attempts, most: orders.map_or(ONCE, |orders| orders.max_attempts) },
            due,
        })
    }
}

fn work(task: &Task) -> Work {
    let orders = task.orders.as_ref();
    let agent = orders.and_then(|orders| orders.agent.clone());
    // Who is asked as `PROVIDER/MODEL` names its provider; others are limited by name.
    let provider = agent.as_ref().and_then(|agent| agent.split_once('/')).map(|(name, _)| name.to_owned());
    let scope = orders.map(|orders| orders.scope.clone()).unwrap_or_default();
    Work { task: task.id, workspace: task.workspace, pipeline: task.pipeline.clone(), agent, provider, scope }
}

fn running(of: &KnownTask, state: RunningState) -> Running {
    Running { work: work(&of.task), state }
}

/// How a task stands that another one comes after.
fn upstream(commands: &Commands, known: &Known, id: TaskId) -> Result<UpstreamState, Error> {
    let state = match known.task(id) {
        // Whatever came of it so far, somebody has still to say what becomes of it.
        Some(_) => return Ok(UpstreamState::Open),
        None => match commands.load_task(id) {
            Ok(task) => commands.task_state(&task)?,
            Err(Error::Task(TaskError::NoSuch(_))) => TaskState::NotHere,
            Err(error) => return Err(error),
        },
    };
    Ok(match state {
        TaskState::Queued
        | TaskState::Open
        | TaskState::Waits(_)
        | TaskState::Ending
        | TaskState::HandedOver(_) => UpstreamState::Open,
        TaskState::NotHere => UpstreamState::NotHere,
        TaskState::Over(Outcome::Completed { .. }) => UpstreamState::Completed,
        TaskState::Over(Outcome::Cancelled { by, .. }) => UpstreamState::Cancelled { by },
        TaskState::Over(outcome) => UpstreamState::Failed { because: outcome.to_string() },
    })
}

fn paused(service: &service::Service) -> Paused {
    let told = |pause: &service::Pause| Pause { by: pause.by.clone(), because: pause.because.clone() };
    Paused {
        queue: service.paused.as_ref().map(told),
        workspaces: service.paused_in.iter().map(|(id, pause)| (*id, told(pause))).collect(),
    }
}
