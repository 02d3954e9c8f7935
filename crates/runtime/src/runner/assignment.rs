//! Who works on a session, pinned when it began: enough for any process to go on with it, whatever the settings say by then.

use std::collections::BTreeMap;

use longhaul_agent::{Agent as _, Nobody, Rehearsal, Silence, TurnRequest};
use longhaul_core::cassette;
use longhaul_core::config::{SandboxLevel, SandboxNetwork, SetupCommand};
use longhaul_core::roster::{Definition, Provider};
use longhaul_core::succession::Succession;
use longhaul_core::taint::Worker;
use longhaul_core::workflow::ModelTier;
use longhaul_events::SessionId;
use serde::{Deserialize, Serialize};

use crate::commands::Commands;
use crate::commands::acting::Turns;
use crate::driving::Script;
use crate::error::Error;
use crate::hiring::worker;
use crate::workers::{self, WORKER};

/// What is on record with an assignment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub(crate) struct Assignment {
    pub(crate) who: Who,
    pub(crate) level: SandboxLevel,
    /// What makes the checkout ready, as it was configured when the session began.
    pub(crate) setup: Vec<SetupCommand>,
    /// What can be reached and changed beyond the worktree; nothing, in sessions of earlier releases.
    pub(crate) reach: PinnedReach,
    /// Whose files are read, of a session that has none of its own.
    pub(crate) reads: Option<ReadFiles>,
    /// How often others of the same task had been at the steps of its workflow when it was opened.
    pub(crate) visits: Option<Visits>,
}

/// The visits of steps before a session began: a script is one for the whole task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Visits {
    /// By step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) steps: BTreeMap<String, u32>,
    /// How many go side by side with it that come first: each counts as having been at every step.
    #[serde(default)]
    pub(crate) ahead: u32,
}

impl Visits {
    pub(crate) fn before(&self, step: &str) -> u32 {
        self.steps.get(step).copied().unwrap_or_default().saturating_add(self.ahead)
    }
}

/// The checkout of another session, which is read and not changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFiles {
    pub(crate) path: String,
    /// The common git directory of the repository that it was made from.
    pub(crate) main_dir: String,
}

/// Who does the steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Who {
    Rehearsal(Script),
    Staff(Staff),
}

impl Who {
    /// The hosts that they need beside those of their models.
    pub(crate) fn hosts(&self) -> Vec<String> {
        match self {
            Self::Rehearsal(_) => Vec::new(),
            Self::Staff(staff) => staff.members().flat_map(|member| member.hosts.clone()).collect(),
        }
    }

    /// What the policy for text from outside takes them for.
    pub(crate) fn workers(&self) -> Vec<Worker> {
        match self {
            Self::Rehearsal(_) => vec![Worker::Rehearsal],
            Self::Staff(staff) => staff.members().map(worker).collect(),
        }
    }
}

/// Whoever is asked: one chain for all steps that want nobody else, and one for each tier that a step wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Staff {
    pub(crate) usual: Succession,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) tiers: BTreeMap<ModelTier, Succession>,
    /// Where all of them are asked. Their keys are not here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) providers: BTreeMap<String, Provider>,
}

impl Staff {
    /// The chain for a step.
    pub(crate) fn chain(&self, tier: Option<ModelTier>) -> &Succession {
        tier.and_then(|tier| self.tiers.get(&tier)).unwrap_or(&self.usual)
    }

    /// The same with another chain in the place of the one for a step.
    pub(crate) fn with(mut self, tier: Option<ModelTier>, chain: Succession) -> Self {
        match tier.and_then(|tier| self.tiers.get_mut(&tier)) {
            Some(place) => *place = chain,
            None => self.usual = chain,
        }
        self
    }

    /// Everybody who may be asked.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Definition> {
        self.chains().flat_map(Succession::members)
    }

    /// In whose place somebody else is asked, and who that is.
    pub(crate) fn chains(&self) -> impl Iterator<Item = &Succession> {
        std::iter::once(&self.usual).chain(self.tiers.values())
    }
}

/// What is let through the walls of a session, as it was when it began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PinnedReach {
    pub network: SandboxNetwork,
    pub hosts: Vec<String>,
    /// As they were written, with `~`.
    pub caches: Vec<String>,
}

impl Assignment {
    /// The name that people know whoever is asked by.
    pub(crate) fn agent(&self) -> String {
        match &self.who {
            Who::Rehearsal(_) => "rehearsal".to_owned(),
            Who::Staff(staff) => staff.usual.current().name.clone(),
        }
    }

    /// What its provider calls the model, where that is known.
    pub(crate) fn model(&self) -> Option<String> {
        match &self.who {
            Who::Rehearsal(_) => None,
            Who::Staff(staff) => staff.usual.current().model.clone(),
        }
    }
}

impl Script {
    /// The agent, brought to where the session is, and the turns that it was asked. A script comes to the same place when
    /// it is asked the same again.
    pub(crate) fn rehearsal(&self, commands: &Commands, id: SessionId) -> Result<(Rehearsal, Turns), Error> {
        let mut cassette = cassette::parse(&self.path, &self.text)?;
        // One script for a task: its workers play what it has for them, and nobody else does.
        let is_worker = workers::is_worker(&commands.load_session(id)?);
        cassette.turns.retain(|turn| (turn.when.workflow.as_deref() == Some(WORKER)) == is_worker);
        let mut agent = Rehearsal::new(cassette);
        let turns = commands.each_turn(id, |asked, talk| {
            let answers = talk.last_answers();
            let request = TurnRequest {
                asked,
                answers: &answers,
                told: &[],
                silence: Silence::Skipped,
                asker: &Nobody,
            };
            let _ = agent.turn(&request);
        })?;
        Ok((agent, turns))
    }
}

/// As it lies in the log. The first releases knew rehearsals only.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cassette: Option<String>,
    /// The name of the script, for whoever reads an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    staff: Option<Staff>,
    level: SandboxLevel,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    setup: Vec<SetupCommand>,
    #[serde(default)]
    reach: PinnedReach,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reads: Option<ReadFiles>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    visits: Option<Visits>,
}

impl TryFrom<Stored> for Assignment {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let Stored { cassette, path, staff, level, setup, reach, reads, visits } = stored;
        let who = match (cassette, path, staff) {
            (Some(text), Some(path), None) => Who::Rehearsal(Script { path, text }),
            (None, None, Some(staff)) => Who::Staff(staff),
            _ => return Err("it names neither a cassette with its path nor a staff"),
        };
        Ok(Self { who, level, setup, reach, reads, visits })
    }
}

impl From<Assignment> for Stored {
    fn from(assignment: Assignment) -> Self {
        let Assignment { who, level, setup, reach, reads, visits } = assignment;
        let (cassette, path, staff) = match who {
            Who::Rehearsal(Script { path, text }) => (Some(text), Some(path), None),
            Who::Staff(staff) => (None, None, Some(staff)),
        };
        Self { cassette, path, staff, level, setup, reach, reads, visits }
    }
}

#[cfg(test)]
mod tests {
    use longhaul_core::roster::Roster;

    use super::*;

    #[test]
    fn an_assignment_of_an_earlier_release_is_read_and_stays_as_it_is() {
        let first = r#"{"cassette":"turns: []","path":"a.yml","level":"full"}"#;
        let read: Assignment = serde_json::from_str(first).unwrap();
        let script = Script { path: "a.yml".to_owned(), text: "turns: []".to_owned() };
        assert_eq!(read.who, Who::Rehearsal(script));
        let later = r#"{"cassette":"turns: []","path":"a.yml","level":"none","reach":{"network":"allow_list","hosts":["a.example"],"caches":[]}}"#;
        let read: Assignment = serde_json::from_str(later).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), later);
        assert!(serde_json::from_str::<Assignment>(r#"{"level":"full"}"#).is_err());
    }

    #[test]
    fn a_staff_reads_back_and_a_step_gets_the_chain_of_its_tier() {
        let roster = Roster::bundled();
        let chain = |name| Succession::new(vec![roster.resolve(name).unwrap()]).unwrap();
        let (usual, heavy) = (chain("anthropic/claude-haiku"), chain("anthropic/claude-opus"));
        let provider = roster.provider("anthropic").unwrap().clone();
        let staff = Staff {
            usual,
            tiers: BTreeMap::from([(ModelTier::Heavy, heavy)]),
            providers: BTreeMap::from([(provider.name.clone(), provider)]),
        };
        assert_eq!(staff.chain(Some(ModelTier::Heavy)).current().name, "anthropic/claude-opus");
        assert_eq!(staff.chain(Some(ModelTier::Light)).current().name, "anthropic/claude-haiku");
        let level = SandboxLevel::Full;
        let (who, reach) = (Who::Staff(staff), PinnedReach::default());
        let reads = Some(ReadFiles { path: "/work".to_owned(), main_dir: "/repo/.git".to_owned() });
        let assignment = Assignment { who, level, setup: Vec::new(), reach, reads, visits: None };
        let stored = serde_json::to_string(&assignment).unwrap();
        assert_eq!(serde_json::from_str::<Assignment>(&stored).unwrap(), assignment);
    }
}
