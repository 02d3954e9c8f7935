//! Proofs that somebody hands over, held against the repository that is at hand. Changes nothing.

use longhaul_core::proof::{self, Proof, Unfit};
use longhaul_git::{MergeResult, ObjectId, Proposal, Snapshots};

use crate::error::Error;
use crate::system::System;
use crate::workspaces::{self, Located};

/// What can be said of a proof.
#[derive(Debug, Clone, PartialEq)]
pub struct ProofReport {
    pub proof: Proof,
    /// What was looked at and is right.
    pub right: Vec<String>,
    /// What was looked at and is not.
    pub wrong: Vec<String>,
    /// What nobody could look at here, and why.
    pub open: Vec<String>,
    /// Whether the log here has it, or the files here bear it out: those of the task merge to its result once more. Anybody
    /// can write one that only agrees with itself and names commits that everybody has.
    pub is_known_here: bool,
}

impl ProofReport {
    /// Whether what is here bears it out, and nothing speaks against it.
    pub fn holds(&self) -> bool {
        self.is_known_here && self.wrong.is_empty()
    }
}

impl System {
    /// Reads a proof in either JSON form, and looks whether it is whole and about commits and files of this repository.
    pub fn verify_proof(&self, text: &str) -> Result<ProofReport, Unfit> {
        let (proof, problems) = proof::read(text)?;
        let mut report = ProofReport {
            proof,
            right: vec!["it has the form of a proof".to_owned()],
            wrong: problems.iter().map(ToString::to_string).collect(),
            open: Vec::new(),
            is_known_here: false,
        };
        if problems.is_empty() {
            report
                .right
                .push("its digest is that of what it says, and its parts agree with its outcome".to_owned());
        }
        match workspaces::locate(self.directory()) {
            Ok(located) => {
                if let Err(error) = self.hold_against(&located, &mut report) {
                    report.open.push(format!("the repository could not be asked: {error}"));
                }
            }
            Err(error) => report.open.push(format!("no repository is at hand: {error}")),
        }
        Ok(report)
    }

    fn hold_against(&self, located: &Located, report: &mut ProofReport) -> Result<(), Error> {
        let folder = self.places().snapshots(located.id);
        // Reading makes nothing.
        let snapshots = folder.is_dir().then(|| Snapshots::open(&folder, &located.repository)).transpose()?;
        let proof = report.proof.clone();
        let mut parts = vec![("start", proof.start), ("base", proof.base), ("tree", proof.tree)];
        parts.extend(proof.head.map(|head| ("head", head)));
        parts.extend(proof.merged_tree.map(|tree| ("merge result", tree)));
        let mut known = Vec::new();
        for (name, id) in parts {
            let Some(object) = ObjectId::parse(&id) else {
                report.wrong.push(format!("its {name} `{id}` is no id of git"));
                continue;
            };
            let is_there = match &snapshots {
                Some(snapshots) => snapshots.holds(&object)?,
                None => longhaul_git::resolve(&located.repository, object.as_str()).is_ok(),
            };
            match (is_there, name) {
                (true, _) => {
                    report.right.push(format!("its {name} {id} is here"));
                    known.push((name, object));
                }
                (false, "start" | "base") => {
                    report.wrong.push(format!("its {name} {id} is not in this repository"));
                }
                (false, _) => report.open.push(format!("its {name} {id} is not in this repository")),
            }
        }
        let of = |name: &str| known.iter().find(|(known, _)| *known == name).map(|(_, id)| id);
        let (Some(snapshots), Some(start), Some(tree), Some(onto)) =
            (&snapshots, of("start"), of("tree"), of("base"))
        else {
            return Ok(());
        };
        let was_here = of("merge result").is_some();
        let is_same = merged_again(snapshots, &Proposal { start, tree, onto }, report)?;
        report.is_known_here |= was_here && is_same;
        Ok(())
    }
}

/// Merging the same must give the same. Says whether it did.
fn merged_again(
    snapshots: &Snapshots,
    proposal: &Proposal<'_>,
    report: &mut ProofReport,
) -> Result<bool, Error> {
    let again = match snapshots.merge(proposal)? {
        MergeResult::Clean { tree, .. } => Some(tree.to_string()),
        MergeResult::Conflict { .. } => None,
    };
    match (&report.proof.merged_tree, again) {
        (Some(said), Some(again)) if *said == again => {
            report.right.push("merging its files into its base gives its merge result".to_owned());
            return Ok(true);
        }
        (Some(said), again) => {
            let again = again.unwrap_or_else(|| "a conflict".to_owned());
            report.wrong.push(format!("merging its files into its base gives {again}, and not {said}"));
        }
        (None, _) => {}
    }
    Ok(false)
}
