//! The daemon as its events tell it: which process serves, what is paused, who was told of what.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use longhaul_events::{DaemonEvent, DaemonId, Driver, Seq, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::canonical::sha256;

/// Raised whenever the same events fold to another state, or the state has another shape.
pub const FOLD_VERSION: u32 = 1;

/// Of so many it is remembered that somebody was told. What is older has gone away or is told once more.
const MOST_NOTIFIED: usize = 500;

/// What the events of a daemon amount to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    pub id: DaemonId,
    pub seq: Seq,
    /// The process that said last that it serves, unless it said that it ends.
    pub process: Option<Driver>,
    pub version: Option<String>,
    /// Nothing new is started at all.
    pub paused: Option<Pause>,
    /// Nothing new is started in these.
    pub paused_in: BTreeMap<WorkspaceId, Pause>,
    /// Entries with the way, the newest last.
    pub notified: VecDeque<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    pub by: String,
    pub because: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Start { process: Driver, version: String },
    Stop { because: String },
    Pause { workspace: Option<WorkspaceId>, pause: Pause },
    Resume { workspace: Option<WorkspaceId>, by: String },
    Notify { entry: String, way: String },
}

/// The daemon of a machine.
pub fn daemon_id(host: &str) -> DaemonId {
    let digest = sha256(format!("daemon\0{host}").as_bytes()).0;
    DaemonId::from_bytes(std::array::from_fn(|n| digest[n]))
}

impl Service {
    /// What is known of a daemon of which nothing is on record.
    pub fn new(id: DaemonId) -> Self {
        Self {
            id,
            seq: Seq(0),
            process: None,
            version: None,
            paused: None,
            paused_in: BTreeMap::new(),
            notified: VecDeque::new(),
        }
    }

    /// Takes in one more fact. Total: what is in the log has happened.
    pub fn apply(&mut self, event: &DaemonEvent) {
        self.seq = self.seq.plus(1);
        match event {
            DaemonEvent::Started { process, version } => {
                self.process = Some(process.clone());
                self.version = Some(version.clone());
            }
            DaemonEvent::Stopped { .. } => self.process = None,
            DaemonEvent::QueuePaused { workspace, by, because } => {
                let pause = Pause { by: by.clone(), because: because.clone() };
                match workspace {
                    Some(workspace) => drop(self.paused_in.insert(*workspace, pause)),
                    None => self.paused = Some(pause),
                }
            }
            DaemonEvent::QueueResumed { workspace, .. } => match workspace {
                Some(workspace) => drop(self.paused_in.remove(workspace)),
                None => self.paused = None,
            },
            DaemonEvent::Notified { entry, way } => {
                self.notified.push_back((entry.clone(), way.clone()));
                if self.notified.len() > MOST_NOTIFIED {
                    self.notified.pop_front();
                }
            }
        }
    }

    /// Says which facts a command would add. What is so already adds nothing.
    pub fn decide(&self, command: Command) -> Vec<DaemonEvent> {
        match command {
            Command::Start { process, version } => vec![DaemonEvent::Started { process, version }],
            Command::Stop { because } => vec![DaemonEvent::Stopped { because }],
            Command::Pause { workspace, pause: Pause { by, because } } => {
                let is_so = self.pause_of(workspace).is_some();
                if is_so { Vec::new() } else { vec![DaemonEvent::QueuePaused { workspace, by, because }] }
            }
            Command::Resume { workspace, by } => {
                let is_so = self.pause_of(workspace).is_none();
                if is_so { Vec::new() } else { vec![DaemonEvent::QueueResumed { workspace, by }] }
            }
            Command::Notify { entry, way } => {
                let is_so = self.notified.iter().any(|(known, by)| *known == entry && *by == way);
                if is_so { Vec::new() } else { vec![DaemonEvent::Notified { entry, way }] }
            }
        }
    }

    /// What pauses exactly this: all, or one repository.
    pub fn pause_of(&self, workspace: Option<WorkspaceId>) -> Option<&Pause> {
        match workspace {
            Some(workspace) => self.paused_in.get(&workspace),
            None => self.paused.as_ref(),
        }
    }

    /// The repositories that are paused by themselves.
    pub fn paused_workspaces(&self) -> BTreeSet<WorkspaceId> {
        self.paused_in.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: Option<WorkspaceId> = Some(WorkspaceId::from_bytes([1; 5]));

    fn after(service: &mut Service, command: Command) -> usize {
        let events = service.decide(command);
        events.iter().for_each(|event| service.apply(event));
        events.len()
    }

    #[test]
    fn all_and_one_repository_are_paused_apart_and_each_once() {
        let mut service = Service::new(daemon_id("here"));
        let pause = |workspace| {
            let pause = Pause { by: "ada".into(), because: None };
            Command::Pause { workspace, pause }
        };
        let resume = |workspace| Command::Resume { workspace, by: "ada".into() };
        assert_eq!(after(&mut service, resume(None)), 0);
        assert_eq!((after(&mut service, pause(SHOP)), after(&mut service, pause(SHOP))), (1, 0));
        assert!(service.paused.is_none());
        assert_eq!(after(&mut service, pause(None)), 1);
        assert_eq!(after(&mut service, resume(SHOP)), 1);
        assert!(service.paused.is_some() && service.paused_workspaces().is_empty());
    }

    #[test]
    fn somebody_is_told_once_in_each_way_and_what_is_long_ago_is_forgotten() {
        let mut service = Service::new(daemon_id("here"));
        let notify = |n: usize, way: &str| Command::Notify { entry: n.to_string(), way: way.into() };
        assert_eq!((after(&mut service, notify(0, "a")), after(&mut service, notify(0, "a"))), (1, 0));
        assert_eq!(after(&mut service, notify(0, "b")), 1);
        for n in 1..=MOST_NOTIFIED {
            after(&mut service, notify(n, "a"));
        }
        assert_eq!(service.notified.len(), MOST_NOTIFIED);
        assert_eq!(after(&mut service, notify(0, "a")), 1);
    }

    #[test]
    fn one_that_ended_serves_no_more_and_one_that_died_is_followed_by_another() {
        let mut service = Service::new(daemon_id("here"));
        let start = |process| {
            let process = Driver { host: "here".into(), process, started: None };
            Command::Start { process, version: "1".into() }
        };
        after(&mut service, start(1));
        after(&mut service, start(2));
        assert_eq!(service.process.as_ref().map(|driver| driver.process), Some(2));
        after(&mut service, Command::Stop { because: "asked".into() });
        assert_eq!(service.process, None);
    }
}
