//! Merging in a local forge: noted, done, and put on record; whoever comes after a death finishes it.

use longhaul_git::{Author, Bare, MergeKind, ObjectId};

use super::files::{Item, Locked, Merging};
use super::{git, id};
use crate::failure::{Failure, Rule};
use crate::kinds::{CheckOutcome, MergeMethod, MergePull, Merged, Pull, PullState, Readiness, ReviewVerdict};

pub(super) fn merge(
    bare: &Bare,
    files: &Locked,
    wanted: &MergePull,
    account: &str,
) -> Result<Merged, Failure> {
    let pull = files.pull(wanted.number)?;
    if let Some(merged) = &pull.merged {
        if merged.head == wanted.head {
            return Ok(merged.clone());
        }
        return Err(Failure::HeadMoved { expected: wanted.head.clone(), found: merged.head.clone() });
    }
    if pull.state == PullState::Closed {
        return Err(Failure::refused(Rule::Other, format!("pull request #{} is closed", pull.number)));
    }
    let missing = |branch: &str| Failure::NotFound(format!("branch `{branch}`"));
    let head = bare.branch(&pull.head).map_err(git)?.ok_or_else(|| missing(&pull.head))?;
    if head.as_str() != wanted.head {
        return Err(Failure::HeadMoved { expected: wanted.head.clone(), found: head.to_string() });
    }
    let base = bare.branch(&pull.base).map_err(git)?.ok_or_else(|| missing(&pull.base))?;
    if let Some(expected) = wanted.base.as_ref().filter(|expected| base.as_str() != **expected) {
        return Err(Failure::BaseMoved { expected: expected.clone(), found: base.to_string() });
    }
    permit(files, &pull, &wanted.head)?;
    let by = Author { name: account.to_owned(), email: format!("{account}@localhost") };
    let kind = match wanted.method {
        MergeMethod::Squash => MergeKind::Squash,
        MergeMethod::Merge => MergeKind::Merge,
        MergeMethod::Rebase => MergeKind::Rebase,
    };
    let (message, at_s) = (wanted.message.as_str(), wanted.at_s);
    let merging = longhaul_git::Merging { base: &base, head: &head, kind, message, by: &by, at_s };
    let commit = bare.merged(&merging).map_err(git)?.ok_or(Failure::Conflict)?;
    let merged = Merged { commit: commit.to_string(), head: head.to_string(), method: wanted.method };
    let noted = Merging { merged: merged.clone(), from: base.to_string() };
    files.put(&Item::Pull { pull: pull.clone(), merging: Some(noted) })?;
    match bare.move_branch(&pull.base, &commit, &base) {
        Ok(()) => {}
        Err(error) => {
            // Somebody pushed past the forge. What was noted did not happen.
            files.put_pull(&pull)?;
            let found = bare.branch(&pull.base).map_err(git)?;
            let found = found.filter(|found| *found != base).ok_or_else(|| git(error))?;
            return Err(Failure::BaseMoved { expected: base.to_string(), found: found.to_string() });
        }
    }
    finish(files, pull, &merged)?;
    Ok(merged)
}

/// What a forge insists on before it merges.
fn permit(files: &Locked, pull: &Pull, head: &str) -> Result<(), Failure> {
    if pull.readiness == Readiness::Draft {
        return Err(Failure::refused(Rule::Draft, format!("pull request #{} is a draft", pull.number)));
    }
    if let Some(review) = pull.reviews.iter().find(|review| review.verdict == ReviewVerdict::ChangesRequested)
    {
        let because = format!("`{}` asked for changes to pull request #{}", review.author, pull.number);
        return Err(Failure::refused(Rule::ChangesRequested, because));
    }
    let rules = files.rules()?;
    // A word about an older commit is no word about this one.
    let approves = |review: &&crate::kinds::Review| {
        review.verdict == ReviewVerdict::Approved && review.author != pull.author && review.commit == head
    };
    let approvals = u64::try_from(pull.reviews.iter().filter(approves).count()).unwrap_or(u64::MAX);
    if approvals < rules.reviews {
        let because = format!(
            "pull request #{} has {approvals} of {} approvals by others than `{}`",
            pull.number, rules.reviews, pull.author
        );
        return Err(Failure::refused(Rule::ReviewRequired, because));
    }
    let checks = files.checks(head)?;
    let passed = |name: &&String| {
        checks.iter().any(|check| check.name == **name && check.outcome == CheckOutcome::Passed)
    };
    if let Some(name) = rules.checks.iter().find(|name| !passed(name)) {
        return Err(Failure::refused(Rule::CheckRequired, format!("check `{name}` has not passed")));
    }
    Ok(())
}

fn finish(files: &Locked, mut pull: Pull, merged: &Merged) -> Result<(), Failure> {
    pull.state = PullState::Merged;
    pull.merged = Some(merged.clone());
    files.put_pull(&pull)
}

/// Finishes or forgets what somebody noted and did not live to see.
pub(super) fn settle(bare: &Bare, files: &mut Locked) -> Result<(), Failure> {
    for (pull, merging) in files.merging()? {
        let commit: ObjectId = id(&merging.merged.commit)?;
        let tip = bare.branch(&pull.base).map_err(git)?;
        let has_happened = match tip {
            Some(tip) => bare.is_in(&commit, &tip).map_err(git)?,
            None => false,
        };
        if has_happened {
            finish(files, pull, &merging.merged)?;
        } else {
            files.put_pull(&pull)?;
        }
    }
    Ok(())
}
