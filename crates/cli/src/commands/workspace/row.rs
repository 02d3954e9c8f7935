//! A workspace as it is shown.

use longhaul_runtime::types::{TrustState, rfc3339};
use longhaul_runtime::{Reader, WorkspaceView};
use serde::Serialize;

use crate::error::CliError;
use crate::output::Row;

#[derive(Debug, Serialize)]
pub(super) struct WorkspaceRow {
    pub(super) id: String,
    pub(super) name: String,
    trust: &'static str,
    /// Why trust could not be looked at.
    problem: Option<String>,
    registered_at: String,
    path: String,
}

impl WorkspaceRow {
    fn of(view: WorkspaceView) -> Self {
        let (trust, problem) = match view.trust {
            Ok(TrustState::Absent) => ("absent", None),
            Ok(TrustState::Trusted) => ("trusted", None),
            Ok(TrustState::Changed) => ("changed", None),
            Ok(TrustState::Untrusted) => ("untrusted", None),
            Err(problem) => ("unknown", Some(problem)),
        };
        Self {
            id: view.id.to_string(),
            name: view.name,
            trust,
            problem,
            registered_at: rfc3339(view.registered_at),
            path: view.path,
        }
    }

    /// All that are registered, by name.
    pub(super) fn all(reader: &Reader) -> Result<Vec<Self>, CliError> {
        let mut rows: Vec<Self> = reader.workspaces()?.into_iter().map(Self::of).collect();
        rows.sort_by(|one, other| (&one.name, &one.path).cmp(&(&other.name, &other.path)));
        Ok(rows)
    }
}

impl Row for WorkspaceRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![
            ("ID", self.id.clone()),
            ("NAME", self.name.clone()),
            ("TRUST", self.trust.to_owned()),
            ("PATH", self.path.clone()),
        ]
    }

    fn note(&self) -> Option<String> {
        self.problem.clone()
    }
}
