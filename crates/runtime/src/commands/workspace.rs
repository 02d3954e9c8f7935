//! Commands about workspaces.

use std::path::Path;

use longhaul_core::workspace::{self, Command, Workspace};
use longhaul_events::{Channel, Digest, Seq, StreamId, TrustedFile, WorkspaceEvent, WorkspaceId};
use longhaul_store::State;

use super::Commands;
use crate::error::Error;
use crate::recorder::{Aggregate, Contents, Decided};
use crate::workspaces;

/// What registering came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceChange {
    pub workspace: Workspace,
    /// Whether it was registered like this before.
    pub unchanged: bool,
}

/// A person's word, with the channel that it came through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRequest {
    pub hash: Digest,
    pub files: Vec<TrustedFile>,
    pub by: String,
    pub channel: Channel,
}

impl Aggregate for Workspace {
    type Event = WorkspaceEvent;

    fn seq(&self) -> Seq {
        self.seq
    }

    fn apply(&mut self, event: &WorkspaceEvent) {
        Self::apply(self, event);
    }

    fn state(&self) -> State {
        let bytes = serde_json::to_vec(self).expect("a workspace has string keys only");
        State { fold_version: workspace::FOLD_VERSION, bytes }
    }
}

impl Commands {
    /// Registers the repository that a path is in. Doing it twice changes nothing.
    pub fn add_workspace(&self, path: &Path, name: Option<&str>) -> Result<WorkspaceChange, Error> {
        let located = workspaces::locate(path)?;
        let checkout = located.checkout()?;
        self.decide_workspace(located.id, |workspace| {
            let kept = (!workspace.removed).then(|| workspace.name.clone());
            let name = name.map(str::to_owned).or(kept).unwrap_or_else(|| located.default_name());
            let common_dir = located.common_dir.clone();
            let register = Command::Register { name, common_dir, checkout: checkout.clone() };
            let events = workspace.decide(register)?;
            let mut after = workspace.clone();
            events.iter().for_each(|event| after.apply(event));
            let change = WorkspaceChange { workspace: after, unchanged: events.is_empty() };
            Ok(if change.unchanged { Decided::Nothing(change) } else { Decided::Events(events, change) })
        })
    }

    /// Records that a person trusts one exact content.
    pub fn trust_workspace(&self, id: WorkspaceId, trust: &TrustRequest) -> Result<(), Error> {
        let TrustRequest { hash, files, by, channel } = trust.clone();
        let command = Command::Trust { hash, files, by, channel };
        self.decide_workspace(id, |workspace| Ok(Decided::Events(workspace.decide(command.clone())?, ())))
    }

    /// Takes a repository out of the registry. Its files stay as they are.
    pub fn remove_workspace(&self, id: WorkspaceId, by: &str) -> Result<(), Error> {
        let command = Command::Remove { by: by.to_owned() };
        self.decide_workspace(id, |workspace| Ok(Decided::Events(workspace.decide(command.clone())?, ())))
    }

    fn decide_workspace<Answer>(
        &self,
        id: WorkspaceId,
        mut decide: impl FnMut(&Workspace) -> Result<Decided<WorkspaceEvent, Answer>, Error>,
    ) -> Result<Answer, Error> {
        let recorded = self.recorder.record(self.write(id.into(), &Contents::default()), || {
            let workspace = self.load_workspace(id)?;
            let decided = decide(&workspace)?;
            Ok((workspace, decided))
        });
        recorded.map(|(answer, _)| answer)
    }

    fn load_workspace(&self, id: WorkspaceId) -> Result<Workspace, Error> {
        let stream = StreamId::from(id);
        let decisions = self.recorder.log.read(stream, Seq(0), usize::MAX)?;
        let mut events = Vec::new();
        for decision in &decisions {
            events.extend(decision.readable_events::<WorkspaceEvent>()?);
        }
        Ok(Workspace::fold(id, &events))
    }
}
