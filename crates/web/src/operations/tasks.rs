//! Tasks as a whole.

use longhaul_runtime::types::{TaskState, Urgency};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Failed, Gives, Operation, Parameter, Reason, Verb, of};
use crate::reply::Reply;
use crate::rows::{DoneRow, TaskRow};

/// The end of a task.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Cancel {
    #[serde(default)]
    because: Option<String>,
    /// Whether the call that is under way is not waited for.
    #[serde(default)]
    now: bool,
}

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "listTasks",
        verb: Verb::Get,
        path: "/v1/tasks",
        about: "The tasks that are not over, the newest first",
        query: &[Parameter { name: "all", about: "`true` shows those that are over too" }],
        takes: None,
        gives: Gives::List(of::<TaskRow>),
        run: list,
    },
    Operation {
        id: "showTask",
        verb: Verb::Get,
        path: "/v1/tasks/{task}",
        about: "One task, by its id, the beginning of it, or one of its sessions; with its whole goal",
        query: &[],
        takes: None,
        gives: Gives::One(of::<TaskRow>),
        run: show,
    },
    Operation {
        id: "cancelTask",
        verb: Verb::Post,
        path: "/v1/tasks/{task}/cancel",
        about: "Ends a task with all its sessions",
        query: &[],
        takes: Some(of::<Cancel>),
        gives: Gives::One(of::<DoneRow>),
        run: cancel,
    },
    Operation {
        id: "retryTask",
        verb: Verb::Post,
        path: "/v1/tasks/{task}/retry",
        about: "Has a task tried again that failed, could not be done, was cancelled or handed over",
        query: &[],
        takes: Some(of::<Reason>),
        gives: Gives::One(of::<DoneRow>),
        run: retry,
    },
];

fn list(call: &Call<'_>) -> Result<Reply, Failed> {
    let reader = call.control().commands.reader();
    let (mut views, _) = reader.map(|reader| reader.tasks()).transpose()?.unwrap_or_default();
    views.retain(|view| call.is_asked("all") || view.state.is_open() || view.state == TaskState::NotHere);
    views.sort_by_key(|view| std::cmp::Reverse((view.updated_at, view.id)));
    Ok(Reply::ok(&views.iter().map(TaskRow::of).collect::<Vec<_>>()))
}

fn show(call: &Call<'_>) -> Result<Reply, Failed> {
    let view = call.control().task(call.part("task"))?;
    let reader = call.control().commands.reader();
    let goal = reader.map(|reader| reader.goal_of_task(&view)).transpose()?;
    let row = TaskRow::of(&view);
    Ok(Reply::ok(&TaskRow { goal: goal.unwrap_or_else(|| row.goal.clone()), ..row }))
}

fn cancel(call: &Call<'_>) -> Result<Reply, Failed> {
    call.caller.person()?;
    let Cancel { because, now } = call.body()?;
    let urgency = if now { Urgency::Now } else { Urgency::AfterGrace };
    let view = call.control().task(call.part("task"))?;
    call.control().cancel(&view, urgency, because.as_deref())?;
    Ok(Reply::ok(&DoneRow::of_task(view.id)))
}

fn retry(call: &Call<'_>) -> Result<Reply, Failed> {
    call.caller.person()?;
    let Reason { because } = call.body()?;
    let view = call.control().task(call.part("task"))?;
    let retried = call.control().retry(&view, because.as_deref())?;
    Ok(Reply::ok(&DoneRow::of_task(view.id).retried(&retried)))
}
