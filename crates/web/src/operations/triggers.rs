//! Triggers.

use longhaul_runtime::control::TriggerOnRecord;
use longhaul_runtime::types::rfc3339;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Failed, Gives, Operation, Verb, of};
use crate::hooks;
use crate::reply::Reply;
use crate::rows::{DoneRow, TriggerRow};

/// A trigger that shall begin its task now.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fire {
    /// What is wanted, where the trigger takes that from a request.
    #[serde(default)]
    goal: Option<String>,
}

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "listTriggers",
        verb: Verb::Get,
        path: "/v1/triggers",
        about: "All triggers of all workspaces, and what came of each",
        query: &[],
        takes: None,
        gives: Gives::List(of::<TriggerRow>),
        run: list,
    },
    Operation {
        id: "fireTrigger",
        verb: Verb::Post,
        path: "/v1/triggers/{workspace}/{trigger}/fire",
        about: "Has a trigger begin its task now",
        query: &[],
        takes: Some(of::<Fire>),
        gives: Gives::One(of::<DoneRow>),
        run: fire,
    },
];

fn list(call: &Call<'_>) -> Result<Reply, Failed> {
    let rows: Vec<TriggerRow> = call.control().triggers()?.iter().map(row).collect();
    Ok(Reply::ok(&rows))
}

fn row(trigger: &TriggerOnRecord) -> TriggerRow {
    let counts = trigger.record.map(|record| record.counts).unwrap_or_default();
    TriggerRow {
        name: trigger.full_name.clone(),
        state: trigger.state.word().to_owned(),
        start: trigger.start.to_owned(),
        path: (trigger.start == "webhook").then(|| format!("{}{}", hooks::PREFIX, trigger.full_name)),
        last_at: trigger.record.map(|record| rfc3339(record.last_at)),
        last_task: trigger.record.and_then(|record| record.last_task).map(|task| task.to_string()),
        tasks: counts.tasks,
        duplicates: counts.duplicates,
        not_wanted: counts.not_wanted,
        refused: counts.refused,
        skipped: counts.skipped,
    }
}

fn fire(call: &Call<'_>) -> Result<Reply, Failed> {
    call.caller.person()?;
    let Fire { goal } = call.body()?;
    let name = format!("{}/{}", call.part("workspace"), call.part("trigger"));
    let fired = call.control().fire(&name, goal.as_deref())?;
    Ok(Reply::ok(&DoneRow::of_task(fired.task)))
}
