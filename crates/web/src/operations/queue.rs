//! The queue.

use longhaul_runtime::control::{NewEntry, QueueMove};
use longhaul_runtime::types::{Priority, Taint};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Failed, Gives, Operation, Reason, Verb, of};
use crate::reply::Reply;
use crate::rows::{DoneRow, QueueRow};

/// A task that is to wait for its turn.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Enter {
    goal: String,
    /// The repository: a workspace by its name, id or path.
    workspace: String,
    /// That of the settings, if none is named.
    #[serde(default)]
    pipeline: Option<String>,
    #[serde(default)]
    until: Option<String>,
    #[serde(default)]
    agent: Option<String>,
    /// `low`, `normal`, `high` or `urgent`.
    #[serde(default)]
    priority: Option<String>,
    /// So far from now, as in `2d`.
    #[serde(default)]
    deadline: Option<String>,
    /// As in `tokens=50k,money=2usd`.
    #[serde(default)]
    budget: Option<String>,
    /// Tasks that must be over before.
    #[serde(default)]
    after: Vec<String>,
    /// Patterns of the paths that it is going to touch.
    #[serde(default)]
    scope: Vec<String>,
    #[serde(default)]
    base: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
    /// The goal was written by people that nobody here knows.
    #[serde(default)]
    from_outside: bool,
    #[serde(default)]
    max_attempts: Option<u32>,
}

/// Where a task is put.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Move {
    /// `first`, `usual` or `last`.
    to: String,
}

/// What is paused.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Pausing {
    /// One workspace, by its name, id or path; without one the whole queue.
    #[serde(default)]
    workspace: Option<String>,
    #[serde(default)]
    because: Option<String>,
}

/// What goes on.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Resuming {
    #[serde(default)]
    workspace: Option<String>,
}

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "listQueue",
        verb: Verb::Get,
        path: "/v1/queue",
        about: "The tasks that wait for their turn, whoever is first at the top, with why each waits",
        query: &[],
        takes: None,
        gives: Gives::List(of::<QueueRow>),
        run: list,
    },
    Operation {
        id: "enterQueue",
        verb: Verb::Post,
        path: "/v1/queue",
        about: "Puts a task into the queue",
        query: &[],
        takes: Some(of::<Enter>),
        gives: Gives::One(of::<DoneRow>),
        run: enter,
    },
    Operation {
        id: "moveInQueue",
        verb: Verb::Post,
        path: "/v1/queue/{task}/move",
        about: "Puts a task that waits first, last, or back where its rank puts it",
        query: &[],
        takes: Some(of::<Move>),
        gives: Gives::One(of::<DoneRow>),
        run: move_to,
    },
    Operation {
        id: "leaveQueue",
        verb: Verb::Post,
        path: "/v1/queue/{task}/remove",
        about: "Takes a task out of the queue; it stays on record as cancelled",
        query: &[],
        takes: Some(of::<Reason>),
        gives: Gives::One(of::<DoneRow>),
        run: remove,
    },
    Operation {
        id: "pauseQueue",
        verb: Verb::Post,
        path: "/v1/queue/pause",
        about: "Has nothing new started, at all or in one workspace",
        query: &[],
        takes: Some(of::<Pausing>),
        gives: Gives::One(of::<DoneRow>),
        run: pause,
    },
    Operation {
        id: "resumeQueue",
        verb: Verb::Post,
        path: "/v1/queue/resume",
        about: "Has tasks started again",
        query: &[],
        takes: Some(of::<Resuming>),
        gives: Gives::One(of::<DoneRow>),
        run: resume,
    },
];

fn list(call: &Call<'_>) -> Result<Reply, Failed> {
    let plan = call.inside.daemon.plan();
    let control = call.control();
    let now = control.commands.now();
    let rows: Vec<QueueRow> =
        control.queue(plan.as_deref())?.iter().map(|task| QueueRow::of(task, now)).collect();
    Ok(Reply::ok(&rows))
}

fn enter(call: &Call<'_>) -> Result<Reply, Failed> {
    call.caller.person()?;
    let Enter {
        goal,
        workspace,
        pipeline,
        until,
        agent,
        priority,
        deadline,
        budget,
        after,
        scope,
        base,
        labels,
        from_outside,
        max_attempts,
    } = call.body()?;
    let usual = NewEntry::of(goal);
    let entered = call.control().enter(&NewEntry {
        workspace: Some(workspace),
        pipeline,
        until,
        agent,
        priority: priority.map_or(Ok(Priority::Normal), |text| word(&Priority::WORDS, "priority", &text))?,
        deadline,
        budget,
        after,
        scope,
        base,
        labels,
        taint: if from_outside { Taint::Outside } else { Taint::Clean },
        max_attempts: max_attempts.unwrap_or(usual.max_attempts),
        ..usual
    })?;
    Ok(Reply::ok(&DoneRow { warnings: entered.warnings, ..DoneRow::of_task(entered.task) }))
}

fn move_to(call: &Call<'_>) -> Result<Reply, Failed> {
    call.caller.person()?;
    let Move { to } = call.body()?;
    let to = word(&QueueMove::WORDS, "to", &to)?;
    let task = call.control().task(call.part("task"))?.id;
    let changed = call.control().move_in_queue(task, to)?;
    Ok(Reply::ok(&DoneRow { changed, ..DoneRow::of_task(task) }))
}

fn remove(call: &Call<'_>) -> Result<Reply, Failed> {
    call.caller.person()?;
    let Reason { because } = call.body()?;
    let task = call.control().task(call.part("task"))?.id;
    call.control().leave_queue(task, because.as_deref())?;
    Ok(Reply::ok(&DoneRow::of_task(task)))
}

fn pause(call: &Call<'_>) -> Result<Reply, Failed> {
    call.caller.person()?;
    let Pausing { workspace, because } = call.body()?;
    let changed = call.control().pause(workspace.as_deref(), because.as_deref())?;
    Ok(Reply::ok(&DoneRow::changed(changed)))
}

fn resume(call: &Call<'_>) -> Result<Reply, Failed> {
    call.caller.person()?;
    let Resuming { workspace } = call.body()?;
    let changed = call.control().resume(workspace.as_deref())?;
    Ok(Reply::ok(&DoneRow::changed(changed)))
}

fn word<T: Copy>(words: &[(&'static str, T)], field: &str, text: &str) -> Result<T, Failed> {
    let known = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    known.ok_or_else(|| {
        let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        Failed::Body(format!("`{field}` is one of {}", words.join(", ")))
    })
}
