//! The workspace aggregate: a registered repository, and whether a person trusts what its `.longhaul/` says.

use longhaul_events::{Channel, Digest, Seq, TrustedFile, WorkspaceEvent, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::canonical::sha256;

/// Raised whenever the same events fold to another state, or the state has another shape.
pub const FOLD_VERSION: u32 = 1;

/// As long as the name of a folder may be.
const LONGEST_NAME: usize = 255;

/// Of how many files the record says what each was: an event is no archive.
const MOST_LISTED: usize = 500;

/// What the events of a workspace amount to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    pub id: WorkspaceId,
    pub seq: Seq,
    pub name: String,
    pub common_dir: String,
    pub checkout: Option<String>,
    pub trusted: Option<Trust>,
    pub removed: bool,
}

/// A person's word about one exact content of `.longhaul/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trust {
    pub hash: Digest,
    pub by: String,
    pub channel: Channel,
}

/// How the trusted content compares with the one that is there now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustState {
    /// There is no `.longhaul/`, so there is nothing to trust.
    Absent,
    Trusted,
    /// It was trusted, and has changed since.
    Changed,
    Untrusted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Register { name: String, common_dir: String, checkout: Option<String> },
    Trust { hash: Digest, files: Vec<TrustedFile>, by: String, channel: Channel },
    Remove { by: String },
}

/// Why the domain says no.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("the workspace is not registered; run `longhaul workspace add`")]
    NotRegistered,
    #[error(
        "trust needs a person at a terminal or the console, not the channel `{channel:?}`; run `longhaul workspace trust` in a terminal"
    )]
    WeakChannel { channel: Channel },
    #[error(
        "a name of {letters} letters is too long for a list; give one of at most {LONGEST_NAME} with `--name`"
    )]
    NameTooLong { letters: usize },
}

impl Rejection {
    /// The page that explains it.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotRegistered => "E0302",
            Self::WeakChannel { .. } => "E0303",
            Self::NameTooLong { .. } => "E0305",
        }
    }
}

/// The id of the repository with this common directory. The same path gives the same id, so two processes
/// that register it at once meet in one stream.
pub fn id_of(common_dir: &str) -> WorkspaceId {
    let digest = sha256(format!("longhaul/workspace/1\0{common_dir}").as_bytes());
    WorkspaceId::from_bytes(std::array::from_fn(|n| digest.0[n]))
}

/// A person in front of this machine.
const fn may_trust(channel: Channel) -> bool {
    match channel {
        Channel::Terminal | Channel::Console => true,
        Channel::Client | Channel::Forge => false,
    }
}

impl Workspace {
    fn new(id: WorkspaceId) -> Self {
        Self {
            id,
            seq: Seq(0),
            name: String::new(),
            common_dir: String::new(),
            checkout: None,
            trusted: None,
            removed: true,
        }
    }

    /// Folds a history; a workspace without one is like one that was removed.
    pub fn fold<'a>(id: WorkspaceId, events: impl IntoIterator<Item = &'a WorkspaceEvent>) -> Self {
        let mut workspace = Self::new(id);
        events.into_iter().for_each(|event| workspace.apply(event));
        workspace
    }

    /// Says which facts a command would add. Reads state, changes nothing.
    pub fn decide(&self, command: Command) -> Result<Vec<WorkspaceEvent>, Rejection> {
        match command {
            Command::Register { name, .. } if name.chars().count() > LONGEST_NAME => {
                Err(Rejection::NameTooLong { letters: name.chars().count() })
            }
            Command::Register { name, common_dir, checkout } => {
                Ok(self.register(WorkspaceEvent::Registered { name, common_dir, checkout }))
            }
            Command::Trust { .. } | Command::Remove { .. } if self.removed => Err(Rejection::NotRegistered),
            Command::Trust { hash: _, files: _, by: _, channel } if !may_trust(channel) => {
                Err(Rejection::WeakChannel { channel })
            }
            Command::Trust { hash, files, by, channel } => {
                let count = files.len() as u64;
                let listing = (files.len() <= MOST_LISTED).then_some(files);
                Ok(vec![WorkspaceEvent::Trusted { hash, files: count, by, channel, listing }])
            }
            Command::Remove { by } => Ok(vec![WorkspaceEvent::Removed { by }]),
        }
    }

    /// Registering what is registered in the same words adds nothing.
    fn register(&self, event: WorkspaceEvent) -> Vec<WorkspaceEvent> {
        let mut after = self.clone();
        after.apply(&event);
        after.seq = self.seq;
        if after == *self { Vec::new() } else { vec![event] }
    }

    /// Takes in one more fact. Total: what is in the log has happened.
    pub fn apply(&mut self, event: &WorkspaceEvent) {
        self.seq = self.seq.plus(1);
        match event {
            WorkspaceEvent::Registered { name, common_dir, checkout } => {
                self.name.clone_from(name);
                self.common_dir.clone_from(common_dir);
                self.checkout.clone_from(checkout);
                self.removed = false;
            }
            WorkspaceEvent::Trusted { hash, files: _, by, channel, listing: _ } => {
                self.trusted = Some(Trust { hash: *hash, by: by.clone(), channel: *channel });
            }
            WorkspaceEvent::Removed { by: _ } => {
                self.removed = true;
                self.trusted = None;
            }
        }
    }

    /// Whether what is there now is what a person trusted.
    pub fn trust_state(&self, present: Option<Digest>) -> TrustState {
        match (present, &self.trusted) {
            (None, _) => TrustState::Absent,
            (Some(_), None) => TrustState::Untrusted,
            (Some(present), Some(trust)) if trust.hash == present => TrustState::Trusted,
            (Some(_), Some(_)) => TrustState::Changed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registered() -> WorkspaceEvent {
        WorkspaceEvent::Registered { name: "shop".into(), common_dir: "/shop/.git".into(), checkout: None }
    }

    fn trusted(hash: Digest) -> WorkspaceEvent {
        let (by, channel) = ("ada".into(), Channel::Terminal);
        WorkspaceEvent::Trusted { hash, files: 1, by, channel, listing: None }
    }

    fn workspace(events: &[WorkspaceEvent]) -> Workspace {
        Workspace::fold(id_of("/shop/.git"), events)
    }

    fn register() -> Command {
        Command::Register { name: "shop".into(), common_dir: "/shop/.git".into(), checkout: None }
    }

    #[test]
    fn registering_twice_adds_nothing_the_second_time() {
        assert_eq!(workspace(&[]).decide(register()), Ok(vec![registered()]));
        assert_eq!(workspace(&[registered()]).decide(register()), Ok(vec![]));
    }

    #[test]
    fn removal_forgets_trust() {
        let removed = WorkspaceEvent::Removed { by: "ada".into() };
        let back = workspace(&[registered(), trusted(Digest::ZERO), removed, registered()]);
        assert_eq!(back.trust_state(Some(Digest::ZERO)), TrustState::Untrusted);
    }

    #[test]
    fn trust_is_for_one_content_only() {
        let workspace = workspace(&[registered(), trusted(Digest::ZERO)]);
        assert_eq!(workspace.trust_state(Some(Digest::ZERO)), TrustState::Trusted);
        assert_eq!(workspace.trust_state(Some(sha256(b"edited"))), TrustState::Changed);
        assert_eq!(workspace.trust_state(None), TrustState::Absent);
    }

    #[test]
    fn the_record_says_what_each_file_was_unless_they_are_too_many() {
        let file = |n: usize| TrustedFile {
            path: n.to_string(),
            kind: longhaul_events::FileKind::Regular,
            sha256: Digest::ZERO,
        };
        for (count, is_listed) in [(2, true), (MOST_LISTED, true), (MOST_LISTED + 1, false)] {
            let given: Vec<TrustedFile> = (0..count).map(file).collect();
            let (by, channel) = ("ada".to_owned(), Channel::Terminal);
            let trust = Command::Trust { hash: Digest::ZERO, files: given.clone(), by, channel };
            let events = workspace(&[registered()]).decide(trust).unwrap();
            let [WorkspaceEvent::Trusted { files, listing, .. }] = &events[..] else { panic!("{events:?}") };
            assert_eq!((*files, listing), (count as u64, &is_listed.then_some(given)));
        }
    }

    #[test]
    fn a_client_cannot_trust_and_nobody_can_trust_the_unregistered() {
        let trust = |channel| Command::Trust { hash: Digest::ZERO, files: vec![], by: "x".into(), channel };
        let weak = Rejection::WeakChannel { channel: Channel::Client };
        assert_eq!(workspace(&[registered()]).decide(trust(Channel::Client)), Err(weak));
        assert_eq!(workspace(&[]).decide(trust(Channel::Terminal)), Err(Rejection::NotRegistered));
        assert_eq!(workspace(&[]).decide(Command::Remove { by: "x".into() }), Err(Rejection::NotRegistered));
    }
}
