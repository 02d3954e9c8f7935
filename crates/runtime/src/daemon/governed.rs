//! What a repository asks of its tasks before they start.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use longhaul_core::config::Governance;
use longhaul_core::queue::{ArtifactFrom, ArtifactState, Awaited, Mode, Required};
use longhaul_events::WorkspaceId;

use super::Shared;
use super::known::{Known, KnownTask};
use crate::workspaces;

/// For so long what a repository says, and whether it has something, is not looked up again.
const FRESH: Duration = Duration::from_secs(15);

/// Where the files that a task starts from are looked at.
const BASES: [&str; 2] = ["refs/remotes/origin/HEAD", "HEAD"];

/// What repositories asked for when they were last looked at.
#[derive(Debug, Default)]
pub(super) struct Governments {
    said: BTreeMap<WorkspaceId, Said>,
}

#[derive(Debug)]
struct Said {
    at: Instant,
    mode: Mode,
    required: Vec<(Required, ArtifactState)>,
}

impl Governments {
    /// Whether a task waits for something before it starts, and for what.
    pub(super) fn of(&mut self, shared: &Shared, known: &Known, task: &KnownTask) -> (Mode, Vec<Awaited>) {
        let Some(workspace) = task.task.workspace else { return (Mode::Autonomous, Vec::new()) };
        if self.said.get(&workspace).is_none_or(|said| said.at.elapsed() >= FRESH) {
            self.said.insert(workspace, look(shared, known, workspace));
        }
        let said = &self.said[&workspace];
        let awaited = said.required.iter().map(|(required, state)| Awaited {
            required: required.clone(),
            state: *state,
            since: task.opened_at,
        });
        (said.mode, awaited.collect())
    }
}

fn look(shared: &Shared, known: &Known, workspace: WorkspaceId) -> Said {
    let at = Instant::now();
    let found = known.workspace(workspace);
    let place = found.map(|found| found.checkout.clone().unwrap_or_else(|| found.common_dir.clone()));
    let settings = place.as_ref().map(|place| shared.system.standing_in(Path::new(place)).config());
    // Settings that cannot be read keep nothing from starting: whoever starts it is told, and hands it to a person.
    let Governance { mode, require } = match settings {
        Some(Ok(config)) => config.governance,
        Some(Err(_)) | None => Governance::default(),
    };
    let required = match mode {
        Mode::Autonomous => Vec::new(),
        Mode::Governed => require,
    };
    let required = required.into_iter().map(|one| {
        let state = state(place.as_deref(), &one);
        (one, state)
    });
    Said { at, mode, required: required.collect() }
}

fn state(place: Option<&str>, required: &Required) -> ArtifactState {
    let is_there = match (required.from, place) {
        (ArtifactFrom::Workspace, Some(place)) => workspaces::locate(Path::new(place)).is_ok_and(|located| {
            let has = |base: &str| longhaul_git::has_path(&located.repository, base, &required.artifact);
            BASES.iter().any(|base| has(base).unwrap_or(false))
        }),
        // Items have none before there is a backlog.
        (ArtifactFrom::Item, _) | (ArtifactFrom::Workspace, None) => false,
    };
    if is_there { ArtifactState::There } else { ArtifactState::NotYet }
}
