//! Where a delivery stands: whose files, which base, which forge, and what was proven.

use std::collections::BTreeSet;

use longhaul_core::delivery::{
    ChangeSeen, DeliverySettings, End, Finding, Moved, ProofSeen, Proven, Scan, Wanted,
};
use longhaul_core::session::Session;
use longhaul_core::workflow::step::Deliver;
use longhaul_core::workflow::{StepKind, VarWriter, Vars, Workflow};
use longhaul_events::{SessionId, TaskId};
use longhaul_forge::{Forge, LocalForge};
use longhaul_git::{ChangeKind, Joined, ObjectId, Snapshots, remote_address, secure_base};
use serde_json::Value;

use super::{Delivering, Trouble, change_of, could_not, refused, wanted};
use crate::commands::walking::WorkOrder;
use crate::error::Error;
use crate::worktrees::Place;

/// How many sessions may be one above the other.
const MOST_ABOVE: usize = 64;
/// What a merge goes by. No answer of an agent may set it.
const ENGINES_OWN: [&str; 2] = ["proof", "merge_rule"];

/// All that stays the same while a delivery runs.
pub(super) struct Ground {
    pub(super) place: Place,
    pub(super) snapshots: Snapshots,
    pub(super) forge: Option<Box<dyn Forge>>,
    pub(super) no_forge: Option<String>,
    pub(super) wanted: Wanted,
    pub(super) settings: DeliverySettings,
    /// The tree of the files as they are.
    pub(super) change: ObjectId,
    pub(super) proof: Option<Value>,
    pub(super) rule: Option<Value>,
    pub(super) ticket: Option<u64>,
    pub(super) goal: String,
    pub(super) summary: Option<String>,
    /// The pipeline or a label says that something was broken.
    pub(super) is_bug: bool,
    pub(super) agent: Option<String>,
    pub(super) branch: String,
    pub(super) task: Option<TaskId>,
    scrubber: longhaul_core::scrub::Scrubber,
}

/// What the change comes to on the newest base.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) base: Option<ObjectId>,
    pub(super) tree: Option<ObjectId>,
    pub(super) change: ChangeSeen,
    pub(super) findings: Vec<Finding>,
    pub(super) doubts: Vec<Finding>,
    moved: Option<Moved>,
}

impl Target {
    pub(super) fn unknown() -> Self {
        let (findings, doubts) = (Vec::new(), Vec::new());
        Self { base: None, tree: None, change: ChangeSeen::Nothing, findings, doubts, moved: None }
    }
}

impl Ground {
    /// The inner error is an end: something that a delivery needs is not there.
    pub(super) fn of(
        by: Delivering<'_>,
        step: &Deliver,
        order: &WorkOrder,
    ) -> Result<Result<Self, End>, Error> {
        let session = by.commands.load_session(by.id)?;
        let workflow = by.commands.workflow_of(&session)?;
        if let Some(step) = set_by_an_agent(&workflow) {
            return Ok(Err(refused(format!(
                "step `{step}` lets an agent set what a merge goes by; only the engine may"
            ))));
        }
        let agent = session.agent.clone();
        let task = by.commands.task_of(&session)?;
        let Some(holder) = holder(by, session)? else {
            return Ok(Err(could_not(
                "the session has no worktree of its own to deliver from; start it with `longhaul run`",
            )));
        };
        let Some(kept) = by.system.keep_worktree(by.commands, holder.id, "before the delivery")? else {
            return Ok(Err(could_not(
                "the worktree of the session is gone; bring it back with `longhaul worktree restore`",
            )));
        };
        if let Some(left_out) = kept.left_out.first() {
            return Ok(Err(could_not(format!("not all of the change can be read: {left_out}"))));
        }
        let change = by.system.task_files(by.commands, by.id)?.tree()?;
        let agent = agent.or_else(|| holder.agent.clone());
        let goal = by.commands.goal_of(holder.id)?;
        let place = Place::of(holder)?;
        let snapshots = place.snapshots(by.system.places())?;
        let (forge, no_forge) = match remote_address(&place.main)? {
            Some(address) => forge_at(&address),
            None => (None, Some("the repository has no remote, and so no forge".to_owned())),
        };
        let wanted = wanted(step, order);
        let branch = wanted.branch_name.clone().unwrap_or_else(|| branch_of(&place));
        let scope = order.scope();
        let var = |name: &str| scope.lookup(name).value().filter(|value| !value.is_null()).cloned();
        let own = |name: &str| var(name).filter(|_| is_engines(&workflow, name));
        let (proof, rule, source) = (own("proof"), own("merge_rule"), own("source"));
        let said = [task.as_ref().map(|task| task.source.as_str()), source.as_ref().and_then(Value::as_str)];
        let ticket = forge
            .as_deref()
            .and_then(|forge| said.into_iter().flatten().find_map(|said| ticket(said, forge)));
        Ok(Ok(Self {
            settings: step.pinned.clone().unwrap_or_default(),
            scrubber: by.system.scrubber_with(by.system.file_secrets(&place))?,
            place,
            snapshots,
            forge,
            no_forge,
            wanted,
            change,
            proof,
            rule,
            ticket,
            goal,
            summary: summary(order),
            is_bug: workflow.id.ends_with(".bugfix") || var("labels").as_ref().is_some_and(names_a_bug),
            agent,
            branch,
            task: task.map(|task| task.id),
        }))
    }

    pub(super) fn session(&self) -> SessionId {
        self.place.session.id
    }

    /// What the change comes to on the newest base.
    pub(super) fn look(&self) -> Result<Target, Trouble> {
        let base = self.newest_base()?;
        let base_tree = self.snapshots.tree_of_commit(&base)?;
        let joined = self.snapshots.join(&self.place.base, &self.change, &base)?;
        let change = change_of(&joined, &base_tree);
        let tree = if let Joined::Tree(tree) = joined { Some(tree) } else { None };
        let mut scan = Scan::new(&self.scrubber);
        if let Some(tree) = &tree {
            for change in self.snapshots.changes_between(&base_tree, tree)? {
                if change.kind != ChangeKind::Deleted {
                    scan.name(&change.path.to_string_lossy());
                }
            }
            self.snapshots
                .each_added_line(&base_tree, tree, &mut |path, line, text| scan.line(path, line, text))?;
        }
        let (findings, doubts) = (scan.findings, scan.doubts);
        let moved =
            self.proof.as_ref().and_then(Proven::of).and_then(|proven| self.moved(&proven, &base).ok());
        Ok(Target { base: Some(base), tree, change, findings, doubts, moved })
    }

    fn newest_base(&self) -> Result<ObjectId, Trouble> {
        let branch = &self.place.own.base_branch;
        let Some(forge) = &self.forge else {
            let kept = format!("{}-newest", self.session());
            return Ok(secure_base(&self.place.main, &kept, Some(branch))?.commit);
        };
        let session = self.session().to_string();
        Ok(self.snapshots.bring_branch(&session, &forge.address(), branch)?)
    }

    /// What git says about a proof. An error is as good as a stale one: what it names is not there.
    fn moved(&self, proven: &Proven, base: &ObjectId) -> Result<Moved, Trouble> {
        let missing = || could_not("the proof names no base");
        let proven_base = ObjectId::parse(&proven.base).ok_or_else(|| Trouble::Ends(missing()))?;
        let joined = self.snapshots.join(&self.place.base, &self.change, &proven_base)?;
        let names = |old: &ObjectId, new: &ObjectId| -> Result<BTreeSet<String>, Trouble> {
            let changes = self.snapshots.changes_between(old, new)?;
            Ok(changes.into_iter().map(|change| change.path.to_string_lossy().into_owned()).collect())
        };
        let tree = if let Joined::Tree(tree) = joined { Some(tree) } else { None };
        let change_files = match &tree {
            Some(tree) => names(&proven_base, tree)?,
            None => BTreeSet::new(),
        };
        Ok(Moved {
            tree_on_proven_base: tree.map(|tree| tree.to_string()),
            base: base.to_string(),
            base_files: names(&proven_base, base)?,
            change_files,
        })
    }

    pub(super) fn judge_proof(&self, target: &Target) -> ProofSeen {
        ProofSeen::judge(self.proof.as_ref(), target.moved.as_ref(), self.settings.freshness)
    }

    /// Whether a base that somebody merged onto is one that the proof still holds for.
    pub(super) fn holds_on(&self, base: &ObjectId) -> bool {
        let moved =
            self.proof.as_ref().and_then(Proven::of).and_then(|proven| self.moved(&proven, base).ok());
        let judged = ProofSeen::judge(self.proof.as_ref(), moved.as_ref(), self.settings.freshness);
        matches!(judged, ProofSeen::Fresh | ProofSeen::Carried(_))
    }
}

/// The session whose checkout it is: the nearest above that has one.
fn holder(by: Delivering<'_>, session: Session) -> Result<Option<Session>, Error> {
    let mut session = session;
    for _ in 0..MOST_ABOVE {
        if session.workplace.is_some() {
            return Ok(Some(session));
        }
        let Some(parent) = session.parent else { return Ok(None) };
        session = by.commands.load_session(parent)?;
    }
    Ok(None)
}

/// A linked worktree stands on its own branch, which must not move below it.
fn branch_of(place: &Place) -> String {
    match place.own.kind {
        longhaul_events::CheckoutKind::Borrowed => place.own.branch.clone(),
        longhaul_events::CheckoutKind::Linked => format!("{}-delivery", place.own.branch),
    }
}

fn forge_at(address: &str) -> (Option<Box<dyn Forge>>, Option<String>) {
    match LocalForge::find(address, LocalForge::OURS) {
        Some(forge) => (Some(Box::new(forge)), None),
        None => (None, Some("the remote is no forge that this release knows".to_owned())),
    }
}

/// What the hand-off says was done.
fn summary(order: &WorkOrder) -> Option<String> {
    let scope = order.scope();
    ["handoff", "coding_handoff", "coding"].iter().find_map(|name| {
        let value = scope.lookup(&format!("{name}.summary"));
        value.value().and_then(Value::as_str).map(str::to_owned)
    })
}

fn names_a_bug(labels: &Value) -> bool {
    let mut labels = labels.as_array().into_iter().flatten().filter_map(Value::as_str);
    labels.any(|label| label.eq_ignore_ascii_case("bug"))
}

/// The number in `forge:NAME#3`, if that is the forge that we deliver to.
fn ticket(source: &str, forge: &dyn Forge) -> Option<u64> {
    let (name, number) = source.strip_prefix("forge:")?.rsplit_once('#')?;
    let is_meant = name.is_empty() || name == forge.name();
    number.parse().ok().filter(|_| is_meant)
}

fn is_engines(workflow: &Workflow, name: &str) -> bool {
    match &workflow.vars {
        Vars::Declared(declared) => {
            declared.get(name).is_some_and(|declaration| declaration.writer == VarWriter::Engine)
        }
        Vars::Open => false,
    }
}

/// A step whose answer would set what a merge goes by.
fn set_by_an_agent(workflow: &Workflow) -> Option<String> {
    let found = workflow.all_steps().into_iter().find(|step| {
        let StepKind::Prompt(prompt) = &step.kind else { return false };
        let outputs = prompt.outputs.iter().filter_map(|output| output.into.as_deref());
        let mut set = prompt.produces.keys().map(String::as_str).chain(outputs);
        set.any(|name| ENGINES_OWN.contains(&name))
    });
    found.map(|step| step.id.clone())
}

/// What of git's is for a person to see.
pub(super) fn git_end(error: &longhaul_git::Error) -> End {
    let words = error.to_string();
    if matches!(error, longhaul_git::Error::SigningFailed { .. }) { refused(words) } else { could_not(words) }
}
