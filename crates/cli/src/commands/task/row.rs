//! A task in a list.

use longhaul_runtime::types::{Live, Outcome, Priority, TaskState, rfc3339, show_money};
use longhaul_runtime::{Clock as _, SystemClock, TaskView};
use serde::Serialize;

use crate::commands::hired::REHEARSAL;
use crate::output::Row;

#[derive(Debug, Serialize)]
pub(crate) struct TaskLine {
    pub(super) id: String,
    /// `open`, `waits`, `ending`, `completed`, `failed`, `could not`, `cancelled`; `not here`.
    pub(super) state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<Outcome>,
    pub(super) source: String,
    pub(super) pipeline: String,
    /// The step after which it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<String>,
    pub(super) priority: Priority,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deadline: Option<String>,
    pub(super) attempts: usize,
    /// The root session of the newest attempt.
    pub(super) session: Option<String>,
    /// Its step.
    pub(super) step: Option<String>,
    /// What it is doing: `thinking`, `tool(NAME)`, `idle`, `parked`, `stuck` or `lost`.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Live>,
    /// The session below it that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) waits_for: Option<String>,
    /// How many sessions it has led to, over all attempts.
    pub(super) sessions: usize,
    pub(super) turns: u64,
    pub(super) tokens: u64,
    pub(super) money_micros: u64,
    /// What all of it may cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) budget_micros: Option<u64>,
    opened_at: String,
    updated_at: String,
    #[serde(skip)]
    age_ms: u64,
    pub(super) goal: String,
    /// A script was played in place of an agent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) rehearsal: bool,
}

impl TaskLine {
    pub(crate) fn of(view: &TaskView) -> Self {
        let caps = view.root.as_ref().and_then(|root| root.driven.caps).or(view.task.budget);
        Self {
            id: view.id.to_string(),
            state: view.state.word(),
            outcome: view.state.outcome().cloned(),
            source: view.task.source.clone(),
            pipeline: view.task.pipeline.clone(),
            until: view.task.until.clone(),
            priority: view.task.priority,
            deadline: view.task.deadline.map(rfc3339),
            attempts: view.task.attempts.len(),
            session: view.task.root().map(|root| root.to_string()),
            step: view.root.as_ref().and_then(|root| root.step.as_ref()).map(|step| step.0.clone()),
            status: view.live.clone(),
            waits_for: view.waits_for.map(|session| session.to_string()),
            sessions: view.sessions.len(),
            turns: view.spent.turns,
            tokens: view.spent.tokens.input.saturating_add(view.spent.tokens.output),
            money_micros: view.spent.money_micros,
            budget_micros: view.task.money_micros.or(caps.map(|caps| caps.task_money_micros)),
            opened_at: rfc3339(view.opened_at),
            updated_at: rfc3339(view.updated_at),
            age_ms: SystemClock.now().since_ms(view.opened_at),
            goal: view.goal.clone(),
            rehearsal: view.root.as_ref().is_some_and(|root| root.driven.agent.as_deref() == Some(REHEARSAL)),
        }
    }

    /// What it is doing, in a few words.
    pub(super) fn doing(&self) -> String {
        let at = self.step.as_ref().map(|step| format!(" at `{step}`")).unwrap_or_default();
        match (&self.waits_for, &self.outcome, &self.status) {
            (Some(session), Some(outcome), _) => format!("waits for {session}: {outcome}"),
            (None, Some(outcome), _) if self.state == "waits" => format!("{outcome}{at}"),
            (_, Some(outcome), _) => outcome.to_string(),
            (_, None, Some(status)) => format!("{status}{at}"),
            (_, None, None) => self.state.to_owned(),
        }
    }
}

impl Row for TaskLine {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let session = self.session.clone().unwrap_or_else(|| "-".to_owned());
        let first_line = self.goal.lines().next().unwrap_or_default().to_owned();
        vec![
            ("ID", self.id.clone()),
            ("STATE", self.state.to_owned()),
            ("PRIORITY", self.priority.word().to_owned()),
            ("AGE", age(self.age_ms)),
            ("COST", show_money(self.money_micros)),
            ("SOURCE", self.source.clone()),
            ("SESSION", session),
            ("GOAL", first_line),
        ]
    }

    fn note(&self) -> Option<String> {
        (self.state != "completed").then(|| self.doing())
    }
}

/// The largest unit that fits is enough in a list.
pub(crate) fn age(ms: u64) -> String {
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)];
    let fitting = units.iter().find(|(_, length)| ms >= *length);
    fitting.map_or_else(|| "0s".to_owned(), |(unit, length)| format!("{}{unit}", ms / length))
}

/// Whether anything of it may still happen, or somebody has to say what becomes of it: try it again, or cancel it.
pub(super) fn is_open(view: &TaskView) -> bool {
    let is_unsettled = match &view.state {
        TaskState::Over(Outcome::Failed(_) | Outcome::CouldNot(_)) => view.task.cancelled.is_none(),
        TaskState::Over(_)
        | TaskState::Queued
        | TaskState::Open
        | TaskState::Waits(_)
        | TaskState::Ending
        | TaskState::HandedOver(_)
        | TaskState::NotHere => false,
    };
    is_unsettled || view.state.is_open() || view.state == TaskState::NotHere
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_one_unit() {
        let shown = [0, 999, 1000, 59_999, 60_000, 3_600_000, 90_000_000].map(age);
        assert_eq!(shown, ["0s", "0s", "1s", "59s", "1m", "1h", "1d"]);
    }
}
