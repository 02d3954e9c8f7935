//! A session in a list.

use longhaul_runtime::types::{
    Checkout, CloseOutcome, Live, Outcome, SessionRow, SessionStatus, Waiting, rfc3339,
};
use longhaul_runtime::{Error, System, WaitsFor, live_of, outcome_of};
use serde::Serialize;

use crate::commands::hired::REHEARSAL;
use crate::moment;
use crate::output::Row;
use crate::usage::Usage;

#[derive(Debug, Serialize)]
pub(crate) struct SessionLine {
    pub(super) id: String,
    /// The session that led to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
    /// The task that it is part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<String>,
    /// How far below others it stands in a list.
    #[serde(skip)]
    pub(super) level: usize,
    /// `agent`, `work`, `gate`, `parked`, `open`; `completed`, `failed`, `cancelled`; `damaged`.
    state: &'static str,
    /// The gate that it waits at, the reason why it was parked or failed, or what is damaged.
    detail: Option<String>,
    workflow: Option<String>,
    step: Option<String>,
    steps_finished: u64,
    /// What an open session is doing: `thinking`, `tool(NAME)`, `idle`, `parked`, `stuck` or `lost`.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Live>,
    /// How it came out, if it does not go on by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    /// What is left of the cassette of a rehearsal that is complete: the two do not fit each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    unplayed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(flatten)]
    pub(super) usage: Option<Usage>,
    workspace: Option<String>,
    checkout: Option<Checkout>,
    opened_at: String,
    updated_at: String,
    goal: String,
}

impl SessionLine {
    pub(crate) fn of(row: SessionRow) -> Self {
        let (state, detail) = state(&row);
        Self {
            id: row.id.to_string(),
            parent: row.parent.map(|parent| parent.to_string()),
            task: row.task.map(|task| task.to_string()),
            level: 0,
            usage: Usage::of(&row.driven),
            status: live_of(&row),
            outcome: outcome_of(&row),
            unplayed: None,
            agent: row.driven.agent,
            state,
            detail,
            workflow: row.workflow,
            step: row.step.map(|step| step.0),
            steps_finished: row.steps_finished,
            workspace: row.workspace.map(|workspace| workspace.to_string()),
            checkout: row.checkout,
            opened_at: rfc3339(row.opened_at),
            updated_at: rfc3339(row.updated_at),
            goal: row.goal,
        }
    }

    /// The same, with what only shows when its turns are held against its cassette.
    pub(crate) fn with_cassette(system: &System, rows: Vec<SessionRow>) -> Result<Vec<Self>, Error> {
        // The write side is opened only where something may be left over.
        let is_over = |row: &SessionRow| row.driven.agent.is_some() && row.status != SessionStatus::Open;
        let commands = if rows.iter().any(is_over) { system.existing_commands()? } else { None };
        let reader =
            if rows.iter().any(|row| row.waiting == Waiting::Work) { system.reader()? } else { None };
        let line = |row: SessionRow| {
            let unplayed = commands.as_ref().and_then(|commands| system.unplayed(commands, &row));
            let waits = reader.as_ref().map(|reader| reader.waits_for(&row)).transpose()?.flatten();
            Ok(Self { unplayed, ..Self::of(row) }.waiting_for(waits))
        };
        rows.into_iter().map(line).collect()
    }

    /// The same, with for whom below it it waits.
    fn waiting_for(self, waits: Option<WaitsFor>) -> Self {
        let Some(waits) = waits else { return self };
        let (detail, outcome) = (Some(waits.in_words()), waits.outcome());
        Self { detail, outcome, status: self.status.map(|_| Live::Parked), ..self }
    }

    /// The same, so far below others.
    pub(crate) fn at_level(self, level: usize) -> Self {
        Self { level, ..self }
    }

    /// For people, who would take `agent` for one that is at work.
    fn waits(&self) -> String {
        match (self.state, &self.status, &self.agent) {
            ("agent" | "work", Some(status), Some(_)) => status.to_string(),
            ("agent", _, _) => "waits for agent".to_owned(),
            ("gate", _, _) => "waits at gate".to_owned(),
            ("work", _, _) => "at work".to_owned(),
            ("parked", _, _) => self.outcome.as_ref().map_or("parked", Outcome::word).to_owned(),
            (state, _, _) => state.to_owned(),
        }
    }

    /// A line of a tree.
    pub(crate) fn in_tree(&self) -> String {
        let workflow = self.workflow.as_deref().unwrap_or("no workflow");
        format!("{}{} {workflow}: {}", "  ".repeat(self.level), self.id, self.in_words())
    }

    /// In a sentence.
    pub(super) fn in_words(&self) -> String {
        let detail = self.detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
        match (self.state, &self.step) {
            ("agent", Some(step)) if self.agent.is_some() => {
                let (agent, status) = (self.agent.as_deref().unwrap_or_default(), self.waits());
                format!("`{agent}` does `{step}`: {status}")
            }
            ("agent", Some(step)) => format!("waits for an agent to do `{step}`"),
            ("work", Some(step)) => match &self.detail {
                Some(waits) => format!("{waits}, at `{step}`"),
                None => format!("the engine performs `{step}`"),
            },
            ("gate", Some(step)) => format!("waits at the gate of `{step}`{detail}"),
            ("parked", Some(step)) => format!("{} at `{step}`{detail}", self.waits()),
            (state, _) => match &self.unplayed {
                Some(unplayed) => format!("{state}, but {unplayed}"),
                None => format!("{state}{detail}"),
            },
        }
    }
}

fn state(row: &SessionRow) -> (&'static str, Option<String>) {
    if let Some(damage) = &row.damage {
        return ("damaged", Some(damage.clone()));
    }
    match (&row.status, &row.waiting) {
        (SessionStatus::Closed(CloseOutcome::Completed), _) => ("completed", None),
        (SessionStatus::Closed(CloseOutcome::Failed { reason }), _) => ("failed", Some(reason.clone())),
        (SessionStatus::Closed(CloseOutcome::Cancelled { by, reason }), _) => {
            ("cancelled", Some(reason.clone().unwrap_or_else(|| format!("by {by}"))))
        }
        (SessionStatus::Open, Waiting::Nothing) => ("open", None),
        (SessionStatus::Open, Waiting::Agent) => ("agent", None),
        (SessionStatus::Open, Waiting::Work) => ("work", None),
        (SessionStatus::Open, Waiting::Gate(gate)) => ("gate", Some(format!("{}.{}", row.id, gate.gate))),
        (SessionStatus::Open, Waiting::Parked { because, .. }) => ("parked", Some(because.clone())),
    }
}

impl Row for SessionLine {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        vec![
            ("ID", format!("{}{}", "  ".repeat(self.level), self.id)),
            ("STATE", self.waits()),
            ("WORKFLOW", or_dash(&self.workflow)),
            ("STEP", or_dash(&self.step)),
            ("CHANGED", moment::shown(&self.updated_at)),
            ("GOAL", self.goal.clone()),
        ]
    }

    fn note(&self) -> Option<String> {
        let told = self.detail.clone().or_else(|| self.unplayed.clone());
        let is_rehearsal = self.agent.as_deref() == Some(REHEARSAL);
        let rehearsal = is_rehearsal.then(|| "a rehearsal".to_owned());
        let notes: Vec<String> = rehearsal.into_iter().chain(told).collect();
        (!notes.is_empty()).then(|| notes.join(", "))
    }
}
