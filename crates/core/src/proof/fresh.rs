//! Whether a proof still says something about the files that are there now.

use super::{CheckEntry, Outcome, Proof};
use crate::policy::settings::Freshness;

/// How things are now.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// The task's own files, as a tree.
    pub tree: &'a str,
    /// The newest commit of the base.
    pub base: &'a str,
    /// The files that differ between the base of the proof and this one.
    pub moved: &'a [String],
}

/// Whether a proof holds now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fresh {
    Yes,
    /// It holds, although the base moved.
    Carried {
        because: String,
    },
    Stale {
        because: String,
    },
}

/// Holds a proof against the files and the base of now.
pub fn is_fresh(proof: &Proof, now: &Now<'_>, freshness: Freshness) -> Fresh {
    if proof.tree != now.tree {
        let because =
            format!("files were edited after it was made (tree {} then, {} now)", proof.tree, now.tree);
        return Fresh::Stale { because };
    }
    if proof.base == now.base {
        return Fresh::Yes;
    }
    let moved = format!("the base moved from {} to {}", proof.base, now.base);
    match freshness {
        Freshness::Strict => {
            Fresh::Stale { because: format!("{moved}, and `freshness: strict` proves again") }
        }
        Freshness::Disjoint => {
            let shared: Vec<&str> = proof
                .files
                .iter()
                .filter(|file| now.moved.iter().any(|other| shares(file, other)))
                .map(String::as_str)
                .collect();
            if shared.is_empty() {
                return Fresh::Carried { because: format!("{moved}, and no file is shared with the change") };
            }
            Fresh::Stale { because: format!("{moved}, and both touch {}", shared.join(", ")) }
        }
    }
}

/// The same file, or a file where the other has a folder.
fn shares(one: &str, other: &str) -> bool {
    let is_above =
        |above: &str, below: &str| below.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
    one == other || is_above(one, other) || is_above(other, one)
}

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
