//! What goes wrong on purpose: said in a file, so that tests and people can try how deliveries take it.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Rule};

/// One line of `faults.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub on: FaultOn,
    pub when: FaultMoment,
    #[serde(rename = "do")]
    pub act: FaultAct,
    /// How often it still happens.
    #[serde(default = "once")]
    pub times: u64,
    /// How long it takes where it is slow.
    #[serde(default)]
    pub ms: u64,
}

const fn once() -> u64 {
    1
}

/// What is asked of the forge when it goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultOn {
    OpenIssue,
    Close,
    Label,
    Comment,
    OpenPull,
    EditPull,
    Review,
    Check,
    Merge,
    Push,
    RemoveBranch,
    /// Whatever changes nothing.
    Look,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultMoment {
    Before,
    /// It was done, and whoever asked does not learn of it.
    After,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultAct {
    /// Nobody can be reached; after the effect: nobody knows.
    Fail,
    Refuse,
    /// A rule that asks for somebody else's word.
    RefuseUnreviewed,
    Auth,
    RateLimit,
    /// It takes its time, after leaving a file that says so.
    Slow,
}

impl Fault {
    pub(super) fn happen(&self, folder: &Path) -> Result<(), Failure> {
        match (self.act, self.when) {
            (FaultAct::Fail, FaultMoment::Before) => Err(Failure::Network("a fault on purpose".to_owned())),
            (FaultAct::Fail, FaultMoment::After) => {
                Err(Failure::UnknownOutcome("a fault on purpose".to_owned()))
            }
            (FaultAct::Refuse, _) => Err(Failure::refused(Rule::Other, "a fault on purpose")),
            (FaultAct::RefuseUnreviewed, _) => {
                Err(Failure::refused(Rule::ReviewRequired, "somebody else has to approve it"))
            }
            (FaultAct::Auth, _) => Err(Failure::Auth("a fault on purpose".to_owned())),
            (FaultAct::RateLimit, _) => Err(Failure::RateLimit { seconds: Some(0) }),
            (FaultAct::Slow, _) => {
                // Whoever waits for this moment sees it by the file.
                let seen_by = folder.join("slow");
                let _ = fs::write(&seen_by, format!("{:?}\n", self.on));
                // tidy: being slow is what it is for
                thread::sleep(Duration::from_millis(self.ms));
                let _ = fs::remove_file(seen_by);
                Ok(())
            }
        }
    }
}
