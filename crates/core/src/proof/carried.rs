//! A proof that holds for a newer base.

use super::{CheckEntry, Outcome, Proof};

/// A proof for a base that moved elsewhere: what the checks said is carried, and says so.
#[must_use]
pub fn carried(proof: &Proof, base: &str, merged_tree: &str, because: &str) -> Proof {
    let check = |check: &CheckEntry| match check.outcome {
        Outcome::Passed | Outcome::Carried => {
            CheckEntry { outcome: Outcome::Carried, because: because.to_owned(), ..check.clone() }
        }
        Outcome::Failed | Outcome::CouldNotRun | Outcome::Skipped => check.clone(),
    };
    Proof {
        base: base.to_owned(),
        merged_tree: Some(merged_tree.to_owned()),
        checks: proof.checks.iter().map(check).collect(),
        ..proof.clone()
    }
    .sealed()
}
