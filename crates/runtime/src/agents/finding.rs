//! What is found out about agents, for those who show it.

use serde::Serialize;

/// Whether somebody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    Ready,
    /// It is set up and works, and its limit is used up for now.
    UsedUp,
    /// Nobody has set it up.
    Missing,
    /// It is set up, and does not work.
    Failing,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentFinding {
    pub state: AgentState,
    pub finding: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl AgentFinding {
    pub(super) fn ready(finding: impl Into<String>) -> Self {
        Self { state: AgentState::Ready, finding: finding.into(), remedy: None }
    }

    pub(super) fn missing(finding: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state: AgentState::Missing, finding: finding.into(), remedy: Some(remedy.into()) }
    }

    pub(super) fn used_up(finding: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state: AgentState::UsedUp, finding: finding.into(), remedy: Some(remedy.into()) }
    }

    pub(super) fn failing(finding: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state: AgentState::Failing, finding: finding.into(), remedy: Some(remedy.into()) }
    }
}

/// Somebody who can be asked, or could be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    /// What is typed; `PROVIDER/MODEL` stands for any model of a provider.
    pub name: String,
    pub title: String,
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// How it is paid.
    pub paid: String,
    /// Paths of the home that it gets because it signs in by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds_its_own_credentials: Vec<String>,
    /// Whether it is one of the user's files.
    pub own: bool,
    pub state: AgentState,
    pub findings: Vec<AgentFinding>,
}

impl AgentView {
    /// What keeps it from being asked.
    pub fn obstacle(&self) -> Option<&AgentFinding> {
        self.findings.iter().find(|finding| finding.state != AgentState::Ready)
    }

    /// With what was found, which makes its state.
    pub(super) fn found(self, findings: Vec<AgentFinding>) -> Self {
        let worst = findings.iter().map(|finding| finding.state).max();
        Self { state: worst.unwrap_or(AgentState::Ready), findings, ..self }
    }
}

/// A model that something is known of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelView {
    /// What is typed.
    pub name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    pub window: Option<u64>,
    pub max_output: Option<u64>,
    /// In millionths of a dollar for a million tokens.
    pub input_micros: Option<u64>,
    pub output_micros: Option<u64>,
}
