//! Delivering a change: what comes next, given what is wanted, what was done, and what was seen.
//!
//! Pure: [`next`] is asked again after each act, and after each crash, until it says that it is over. The order is fixed;
//! the first row that fits counts.
//!
//! | what was seen | next |
//! |---|---|
//! | merged, and the tree there is another than was proven | could not |
//! | not merged: nothing was changed | refused |
//! | not merged: the change and the base do not go together | stale |
//! | not merged: a secret in what the change adds | refused |
//! | wanted, not done: commit, branch | do it |
//! | pull request wanted: no forge / not done | skip / do it |
//! | comment wanted: no forge, no proof / not done | skip / do it |
//! | merge wanted: no forge | skip |
//! | merge wanted: consent is denied / is still to be given | refused / refused, for a person |
//! | merge wanted: no proof, one that did not pass / stale | refused / stale |
//! | merge wanted: otherwise | do it |
//! | merged: the branch is still there | remove it |
//! | close wanted: no forge, no ticket, not merged / not done | skip / do it |
//! | nothing is left | delivered |

mod consent;
mod freshness;
mod inert;
mod message;
mod paragraphs;
mod scan;
mod settings;
mod template;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use longhaul_events::DeliveryAct;

pub use consent::{Consent, consent, kept_by};
pub use freshness::{Moved, ProofSeen, Proven};
pub use message::{MessageParts, message, subject};
pub use paragraphs::{PullParts, proof_comment, proof_mark, pull_body};
pub use scan::{Finding, Scan};
pub use settings::{DeliverySettings, Freshness, MergeMethod, PullWanted, Sign, Wanted};
pub use template::{PLACES as TEMPLATE_PLACES, filled};

use crate::parking::ParkCode;

/// All that the choice depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Why there is no forge, if there is none.
    pub no_forge: Option<String>,
    pub change: ChangeSeen,
    pub findings: Vec<Finding>,
    pub proof: ProofSeen,
    pub consent: Consent,
    /// The issue that the work is for.
    pub ticket: Option<u64>,
    pub merged: Option<MergedSeen>,
    /// What was done for this change, or left out, and why.
    pub done: BTreeMap<DeliveryAct, Done>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    Yes,
    Skipped(String),
}

/// What there is to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeSeen {
    Some,
    Nothing,
    /// With the newest base, in these files.
    Conflict(Vec<String>),
}

/// What the base branch holds after the merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergedSeen {
    AsProven,
    Otherwise(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    Do(DeliveryAct),
    Skip(DeliveryAct, String),
    End(End),
}

/// How a delivery ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    pub outcome: DeliveryOutcome,
    pub because: String,
    /// What a person finds the session parked for, if it is.
    pub code: Option<ParkCode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    Delivered,
    /// What was proven is not what would be merged: to be proven again.
    Stale,
    Refused,
    CouldNot,
}

impl DeliveryOutcome {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Stale => "stale",
            Self::Refused => "refused",
            Self::CouldNot => "could_not",
        }
    }

    /// What a session is parked for where nobody goes on with it.
    pub const fn code(self) -> Option<ParkCode> {
        match self {
            Self::Delivered => None,
            Self::Stale => Some(ParkCode::DeliveryStale),
            Self::Refused => Some(ParkCode::DeliveryRefused),
            Self::CouldNot => Some(ParkCode::DeliveryCouldNot),
        }
    }
}

impl End {
    pub fn new(outcome: DeliveryOutcome, because: impl Into<String>) -> Self {
        Self { outcome, because: because.into(), code: outcome.code() }
    }

    /// Somebody else's word is missing.
    pub fn for_a_person(because: impl Into<String>) -> Self {
        let code = Some(ParkCode::ReviewRequired);
        Self { outcome: DeliveryOutcome::Refused, because: because.into(), code }
    }
}

/// What comes next.
pub fn next(wanted: &Wanted, seen: &Seen) -> Next {
    let found = match &seen.merged {
        Some(MergedSeen::Otherwise(because)) => {
            Some(Next::End(End::new(DeliveryOutcome::CouldNot, because.clone())))
        }
        Some(MergedSeen::AsProven) => None,
        None => barred(seen).map(Next::End).or_else(|| until_merged(wanted, seen)),
    };
    found.or_else(|| after_merge(wanted, seen)).unwrap_or_else(|| Next::End(delivered(seen)))
}

fn delivered(seen: &Seen) -> End {
    let because = match seen.merged {
        Some(_) => "merged, and the tree there is the one that was proven",
        None => "all that was asked for is done",
    };
    End::new(DeliveryOutcome::Delivered, because)
}

/// What keeps anything from being done at all.
fn barred(seen: &Seen) -> Option<End> {
    match &seen.change {
        ChangeSeen::Nothing => {
            return Some(End::new(
                DeliveryOutcome::Refused,
                "nothing was changed, so there is nothing to deliver",
            ));
        }
        ChangeSeen::Conflict(files) => {
            let files = files.join(", ");
            return Some(End::new(
                DeliveryOutcome::Stale,
                format!("the base moved, and the change does not go together with it in {files}"),
            ));
        }
        ChangeSeen::Some => {}
    }
    let first = seen.findings.first()?;
    let more = match seen.findings.len() {
        1 => String::new(),
        several => format!(", and {} more", several - 1),
    };
    Some(End::new(
        DeliveryOutcome::Refused,
        format!("the change holds what looks like a secret: {} in {}{more}", first.rule, first.place()),
    ))
}

fn until_merged(wanted: &Wanted, seen: &Seen) -> Option<Next> {
    let is_open = |act: DeliveryAct| !seen.done.contains_key(&act);
    if wanted.commit && is_open(DeliveryAct::Commit) {
        return Some(Next::Do(DeliveryAct::Commit));
    }
    if wanted.branch && is_open(DeliveryAct::Branch) {
        return Some(Next::Do(DeliveryAct::Branch));
    }
    if wanted.pull_request.is_some() && is_open(DeliveryAct::PullRequest) {
        return Some(at_forge(seen, DeliveryAct::PullRequest));
    }
    if wanted.comment && is_open(DeliveryAct::Comment) {
        let missing = matches!(seen.proof, ProofSeen::Missing) && seen.no_forge.is_none();
        return Some(if missing {
            Next::Skip(DeliveryAct::Comment, "there is no proof to show".to_owned())
        } else {
            at_forge(seen, DeliveryAct::Comment)
        });
    }
    if wanted.merge && is_open(DeliveryAct::Merge) {
        return Some(merge(seen));
    }
    None
}

fn at_forge(seen: &Seen, act: DeliveryAct) -> Next {
    match &seen.no_forge {
        Some(because) => Next::Skip(act, because.clone()),
        None => Next::Do(act),
    }
}

fn merge(seen: &Seen) -> Next {
    if let Some(because) = &seen.no_forge {
        return Next::Skip(DeliveryAct::Merge, because.clone());
    }
    let end = match (&seen.consent, &seen.proof) {
        (Consent::Denied(because), _) => End::new(DeliveryOutcome::Refused, because.clone()),
        (Consent::Awaited(because), _) => End::for_a_person(because.clone()),
        (Consent::Given(_), ProofSeen::Missing) => {
            End::new(DeliveryOutcome::Refused, "there is no proof, and nothing is merged without one")
        }
        (Consent::Given(_), ProofSeen::NotPassed(because)) => {
            End::new(DeliveryOutcome::Refused, because.clone())
        }
        (Consent::Given(_), ProofSeen::Stale(because)) => End::new(DeliveryOutcome::Stale, because.clone()),
        (Consent::Given(_), ProofSeen::Fresh | ProofSeen::Carried(_)) => return Next::Do(DeliveryAct::Merge),
    };
    Next::End(end)
}

fn after_merge(wanted: &Wanted, seen: &Seen) -> Option<Next> {
    let is_open = |act: DeliveryAct| !seen.done.contains_key(&act);
    if seen.merged.is_some() && is_open(DeliveryAct::RemoveBranch) {
        return Some(Next::Do(DeliveryAct::RemoveBranch));
    }
    if !wanted.close || !is_open(DeliveryAct::Close) {
        return None;
    }
    let skip = |because: &str| Some(Next::Skip(DeliveryAct::Close, because.to_owned()));
    match (&seen.no_forge, seen.ticket, &seen.merged) {
        (Some(because), _, _) => skip(because),
        (None, None, _) => skip("the work is not for a ticket of this forge"),
        (None, Some(_), None) => skip("the change is not merged"),
        (None, Some(_), Some(_)) => Some(Next::Do(DeliveryAct::Close)),
    }
}
