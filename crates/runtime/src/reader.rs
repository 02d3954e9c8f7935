//! Everything that only reads.

mod agent;
mod artifacts;
mod delivered;
mod events;
mod exporting;
mod family;
mod find;
mod following;
mod gates;
mod living;
mod long_notes;
pub(crate) mod paying;
mod progress;
mod ranking;
mod recording;
mod story;
mod tailing;
mod tasks;
mod trusted;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::session::{self, Session};
use longhaul_core::workspace::{TrustState, Workspace};
use longhaul_events::{Position, Seq, SessionEvent, SessionId, StreamId, Timestamp, WorkspaceId};
use longhaul_store::views::{SessionRow, TriggerRow, Views, WorkspaceRow};
use longhaul_store::watch::{Watcher, Woke};
use longhaul_store::{DamagedRow, Decision, Exported, Finding, Log, SqliteLog, StoreError, StreamReport};
use serde_json::Value;

pub use agent::{AgentDid, ToldCall};
pub use artifacts::Artifact;
pub use delivered::{Delivered, DeliveredPull};
pub(crate) use family::Family;
pub use gates::{Before, GateEntry, GateState};
pub(crate) use living::holder;
pub use living::{live_of, outcome_of};
pub use progress::{ProgressBelow, ProgressTail};
pub use ranking::{Ranked, clear_winner};
pub use recording::RecordedRun;
pub use story::{Branch, Happened, Ruled, StoryEntry, Telling};
pub use tailing::StoryTail;
pub(crate) use tasks::view_among as task_view;
pub(crate) use tasks::with;
pub use tasks::{DamagedTask, Decided, TaskDecision, TaskView};
pub use trusted::SinceTrusted;

use crate::error::Error;
use crate::reading::Decisions;
use crate::workspaces::{self, TrustCandidate};

const BATCH: usize = 500;

/// The read side of the system.
#[derive(Debug)]
pub struct Reader {
    store: Arc<SqliteLog>,
    views: Arc<Views>,
}

/// One event as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRow {
    pub position: Position,
    pub stream: String,
    pub seq: Seq,
    pub at: Timestamp,
    pub event: Value,
    pub redacted: bool,
}

/// What the log holds at one place.
#[derive(Debug, Clone, PartialEq)]
pub enum LogEntry {
    Event(EventRow),
    /// A decision that is no longer what was written.
    Damaged {
        position: Position,
        stream: String,
        reason: String,
    },
}

/// A workspace as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceView {
    pub id: WorkspaceId,
    pub name: String,
    pub path: String,
    pub registered_at: Timestamp,
    /// What was found, or why it could not be looked at.
    pub trust: Result<TrustState, String>,
}

impl Reader {
    pub(crate) fn new(store: Arc<SqliteLog>) -> Self {
        Self { views: Arc::new(Views::new(store.folder())), store }
    }

    /// Over views that somebody has open already.
    pub(crate) const fn with(store: Arc<SqliteLog>, views: Arc<Views>) -> Self {
        Self { store, views }
    }

    pub fn sessions(&self) -> Result<Vec<SessionRow>, Error> {
        Ok(self.views.sessions(&*self.store)?)
    }

    /// The state of one session, without a look at the others; `None` if there is no such session.
    pub(crate) fn session(&self, id: SessionId) -> Result<Option<Session>, Error> {
        let stream = StreamId::from(id);
        let Some(head) = self.store.head(stream)? else { return Ok(None) };
        let stored = head.state.filter(|state| state.fold_version == session::FOLD_VERSION);
        if let Some(session) = stored.and_then(|state| serde_json::from_slice::<Session>(&state.bytes).ok())
            && session.seq == head.seq
        {
            return Ok(Some(session));
        }
        let mut events: Vec<SessionEvent> = Vec::new();
        self.decisions(stream).each(|decision| {
            events.extend(decision.readable_events::<SessionEvent>()?);
            Ok(())
        })?;
        Ok(Session::fold(id, &events))
    }

    /// Why the file of the views could not be used, if rows had to be made from the log alone.
    pub(crate) fn views_trouble(&self) -> Option<String> {
        self.views.trouble()
    }

    /// All registered workspaces, each with a look at its `.longhaul/`.
    pub fn workspaces(&self) -> Result<Vec<WorkspaceView>, Error> {
        Ok(self.workspace_rows()?.into_iter().map(view).collect())
    }

    pub(crate) fn workspace_rows(&self) -> Result<Vec<WorkspaceRow>, Error> {
        Ok(self.views.workspaces(&*self.store)?)
    }

    pub(crate) fn trigger_rows(&self) -> Result<Vec<TriggerRow>, Error> {
        Ok(self.views.triggers(&*self.store)?)
    }

    pub(crate) fn workspaces_registered(&self) -> Result<usize, Error> {
        Ok(self.workspace_rows()?.len())
    }

    pub(crate) fn workspace(&self, id: WorkspaceId) -> Result<Option<Workspace>, Error> {
        let rows = self.workspace_rows()?;
        Ok(rows.into_iter().map(|row| row.workspace).find(|found| found.id == id))
    }

    /// A workspace by id, name, or any path inside its repository.
    pub fn find_workspace(&self, text: &str) -> Result<Workspace, Error> {
        let rows = self.workspace_rows()?;
        let mut matching: Vec<Workspace> =
            rows.into_iter().map(|row| row.workspace).filter(|found| is_called(found, text)).collect();
        match (matching.pop(), matching.is_empty()) {
            (Some(found), true) => Ok(found),
            (Some(_), false) => Err(Error::AmbiguousWorkspace(text.to_owned())),
            (None, _) => {
                self.workspace_at(Path::new(text))?.ok_or_else(|| Error::UnknownWorkspace(text.to_owned()))
            }
        }
    }

    /// The registered workspace that a path is in.
    fn workspace_at(&self, path: &Path) -> Result<Option<Workspace>, Error> {
        let located = match workspaces::locate(path) {
            Ok(located) => located,
            Err(Error::Git(
                longhaul_git::Error::PathMissing { .. } | longhaul_git::Error::NotARepository { .. },
            )) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        self.workspace(located.id)
    }

    /// What a person would trust, seen from a path, or from the workspace's own checkout.
    pub fn trust_candidate(
        &self,
        workspace: &Workspace,
        from: Option<&Path>,
    ) -> Result<TrustCandidate, Error> {
        let own = PathBuf::from(workspace.checkout.as_ref().unwrap_or(&workspace.common_dir));
        let here = from.map(workspaces::locate).transpose();
        let located = match here {
            Ok(Some(located)) if located.id == workspace.id => located,
            _ => workspaces::locate(&own)?,
        };
        workspaces::candidate(&located, workspace.name.clone())
    }

    /// The names of all streams.
    pub fn streams(&self) -> Result<Vec<String>, Error> {
        Ok(self.store.stream_names()?)
    }

    /// The stream that a text names: in full, or by the id alone.
    pub fn find_stream(&self, text: &str) -> Result<String, Error> {
        let names = self.store.stream_names()?;
        let wanted = |name: &&String| *name == text || name.split_once('/').is_some_and(|(_, id)| id == text);
        if let Some(found) = names.iter().find(wanted) {
            return Ok(found.clone());
        }
        match self.find_session(text) {
            Ok(row) => Ok(StreamId::from(row.id).to_string()),
            Err(ambiguous @ Error::AmbiguousSession { .. }) => Err(ambiguous),
            Err(_) => Err(Error::UnknownStream(text.to_owned())),
        }
    }

    /// Shows the events of one stream, or of all streams in the order of commits.
    pub fn events(
        &self,
        stream: Option<&str>,
        show: &mut dyn FnMut(EventRow) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match stream {
            None => self.follow(Position(0), show).map(|_| ()),
            Some(name) => self.stream_events(name, show),
        }
    }

    fn stream_events(
        &self,
        name: &str,
        show: &mut dyn FnMut(EventRow) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let stream: StreamId = name.parse().map_err(|_| Error::UnknownStream(name.to_owned()))?;
        self.decisions(stream).each(|decision| rows(decision).into_iter().try_for_each(&mut *show))
    }

    /// A stream from its beginning.
    fn decisions(&self, stream: StreamId) -> Decisions<'_> {
        Decisions { log: &*self.store, stream, after: Seq(0), batch: BATCH }
    }

    /// Shows what was committed after a position, and says how far it came. A damaged decision is an error
    /// that comes after everything before it was shown.
    pub fn follow(
        &self,
        after: Position,
        show: &mut dyn FnMut(EventRow) -> Result<(), Error>,
    ) -> Result<Position, Error> {
        self.walk(after, &mut |entry| match entry {
            LogEntry::Event(row) => show(row),
            LogEntry::Damaged { stream, reason, .. } => {
                Err(StoreError::Quarantined { stream, reason }.into())
            }
        })
    }

    /// Like [`Self::follow`], but damage is shown too and does not hide what comes after it.
    pub fn walk(
        &self,
        after: Position,
        show: &mut dyn FnMut(LogEntry) -> Result<(), Error>,
    ) -> Result<Position, Error> {
        let mut after = after;
        loop {
            let decisions = self.store.since(after, BATCH)?;
            if decisions.is_empty() {
                return Ok(after);
            }
            for decision in decisions {
                match decision {
                    Ok(decision) => {
                        after = decision.position;
                        rows(&decision).into_iter().map(LogEntry::Event).try_for_each(&mut *show)?;
                    }
                    Err(DamagedRow { position, stream, reason }) => {
                        after = position;
                        show(LogEntry::Damaged { position, stream, reason })?;
                    }
                }
            }
        }
    }

    pub fn last_position(&self) -> Result<Position, Error> {
        Ok(self.store.last_position()?)
    }

    /// Waits for commits of other processes.
    pub fn tail(&self) -> Result<Tail, Error> {
        Ok(Tail { watcher: Watcher::polling(self.store.folder())? })
    }

    pub fn verify_stream(&self, stream: &str) -> Result<StreamReport, Error> {
        Ok(self.store.verify_stream(stream)?)
    }

    /// Where decisions are gone from the log, in words.
    pub fn missing_decisions(&self) -> Result<Vec<String>, Error> {
        Ok(self.store.gaps()?.iter().filter_map(Finding::gap).collect())
    }

    pub(crate) fn findings(&self) -> Result<Vec<Finding>, Error> {
        let mut findings = self.store.verify_structure()?;
        findings.extend(self.store.verify_blobs()?);
        Ok(findings)
    }

    pub(crate) fn disk_used_bytes(&self) -> Result<u64, Error> {
        Ok(self.store.disk_used_bytes()?)
    }

    /// Writes streams as JSON lines.
    pub fn export(&self, streams: &[String], out: &mut dyn Write) -> Result<Exported, Error> {
        Ok(self.store.export(streams, out)?)
    }

    /// Writes streams to a new file, for the owner's eyes only: complete, or not there.
    pub fn export_file(&self, streams: &[String], path: &Path) -> Result<Exported, Error> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let failed = |source| Error::WriteFile { path: path.to_owned(), source };
        fs::metadata(folder).map_err(failed)?;
        let file = tempfile::Builder::new().prefix(".export-").tempfile_in(folder).map_err(failed)?;
        let mut writer = BufWriter::new(file);
        let exported = self.export(streams, &mut writer)?;
        let file = writer.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist_noclobber(path).map_err(|error| failed(error.error))?;
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok(exported)
    }
}

/// Notices commits.
#[derive(Debug)]
pub struct Tail {
    watcher: Watcher,
}

impl Tail {
    pub fn wait(&mut self, timeout: Duration) -> Result<Woke, Error> {
        Ok(self.watcher.wait(timeout)?)
    }
}

/// The stored path counts as a name too: the repository may be gone.
fn is_called(workspace: &Workspace, text: &str) -> bool {
    let path = workspace.checkout.as_ref().unwrap_or(&workspace.common_dir);
    workspace.id.to_string() == text || workspace.name == text || path == text
}

fn view(row: WorkspaceRow) -> WorkspaceView {
    let workspace = row.workspace;
    let trust = match row.damage {
        Some(damage) => Err(damage),
        None => workspaces::present_hash(&workspace)
            .map(|present| workspace.trust_state(present))
            .map_err(|error| error.to_string()),
    };
    WorkspaceView {
        id: workspace.id,
        path: workspace.checkout.unwrap_or(workspace.common_dir),
        name: workspace.name,
        registered_at: row.registered_at,
        trust,
    }
}

/// The events of a decision; one that no longer is JSON is shown as text.
fn rows(decision: &Decision) -> Vec<EventRow> {
    let events = serde_json::from_slice::<Vec<Value>>(&decision.body)
        .unwrap_or_else(|_| vec![Value::String(String::from_utf8_lossy(&decision.body).into_owned())]);
    let row = |(index, event): (u64, Value)| EventRow {
        position: decision.position,
        stream: decision.stream.clone(),
        seq: decision.seq.plus(index),
        at: decision.at,
        event,
        redacted: decision.redacted,
    };
    (0..).zip(events).map(row).collect()
}
