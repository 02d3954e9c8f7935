//! The table of [`super::next`], row by row.

use super::*;

fn everything() -> Wanted {
    Wanted {
        commit: true,
        subject: None,
        branch: true,
        branch_name: None,
        pull_request: Some(PullWanted::Ready),
        comment: true,
        merge: true,
        close: true,
    }
}

fn seen() -> Seen {
    Seen {
        no_forge: None,
        change: ChangeSeen::Some,
        findings: Vec::new(),
        proof: ProofSeen::Fresh,
        consent: Consent::Given("the rules allow it".to_owned()),
        ticket: Some(3),
        merged: None,
        done: BTreeMap::new(),
    }
}

fn done(acts: &[DeliveryAct]) -> Seen {
    Seen { done: acts.iter().map(|act| (*act, Done::Yes)).collect(), ..seen() }
}

fn end(outcome: DeliveryOutcome, because: &str) -> Next {
    Next::End(End::new(outcome, because))
}

const UNTIL_MERGE: [DeliveryAct; 4] =
    [DeliveryAct::Commit, DeliveryAct::Branch, DeliveryAct::PullRequest, DeliveryAct::Comment];

#[test]
fn the_acts_come_one_after_another_in_a_fixed_order() {
    let mut seen = seen();
    let mut order = Vec::new();
    loop {
        match next(&everything(), &seen) {
            Next::Do(act) => {
                order.push(act);
                seen.done.insert(act, Done::Yes);
                if act == DeliveryAct::Merge {
                    seen.merged = Some(MergedSeen::AsProven);
                }
            }
            Next::Skip(act, because) => panic!("{act:?} was skipped: {because}"),
            Next::End(end) => {
                assert_eq!(end.outcome, DeliveryOutcome::Delivered, "{end:?}");
                break;
            }
        }
    }
    assert_eq!(
        order,
        [
            DeliveryAct::Commit,
            DeliveryAct::Branch,
            DeliveryAct::PullRequest,
            DeliveryAct::Comment,
            DeliveryAct::Merge,
            DeliveryAct::RemoveBranch,
            DeliveryAct::Close
        ]
    );
}

#[test]
fn what_bars_everything_is_told_before_anything_is_done() {
    let nothing = Seen { change: ChangeSeen::Nothing, ..seen() };
    let because = "nothing was changed, so there is nothing to deliver";
    assert_eq!(next(&everything(), &nothing), end(DeliveryOutcome::Refused, because));
    let conflict = Seen { change: ChangeSeen::Conflict(vec!["a.sh".to_owned(), "b".to_owned()]), ..seen() };
    let because = "the base moved, and the change does not go together with it in a.sh, b";
    assert_eq!(next(&everything(), &conflict), end(DeliveryOutcome::Stale, because));
    let finding = Finding { path: ".env".to_owned(), line: 3, rule: "github-token".to_owned() };
    let secret = Seen { findings: vec![finding.clone(), finding], ..seen() };
    let because = "the change holds what looks like a secret: github-token in .env:3, and 1 more";
    assert_eq!(next(&everything(), &secret), end(DeliveryOutcome::Refused, because));
}

#[test]
fn only_what_is_wanted_is_done() {
    let nothing = Wanted::of(&BTreeMap::new());
    let because = "all that was asked for is done";
    assert_eq!(next(&nothing, &seen()), end(DeliveryOutcome::Delivered, because));
    let commit = Wanted { commit: true, ..nothing.clone() };
    assert_eq!(next(&commit, &seen()), Next::Do(DeliveryAct::Commit));
    assert_eq!(next(&commit, &done(&[DeliveryAct::Commit])), end(DeliveryOutcome::Delivered, because));
    let close = Wanted { close: true, ..nothing };
    assert_eq!(next(&close, &seen()), Next::Skip(DeliveryAct::Close, "the change is not merged".to_owned()));
}

#[test]
fn without_a_forge_the_branch_is_made_and_the_rest_is_skipped() {
    let mut seen = Seen { no_forge: Some("there is no forge".to_owned()), ..done(&UNTIL_MERGE[..1]) };
    assert_eq!(next(&everything(), &seen), Next::Do(DeliveryAct::Branch));
    seen.done.insert(DeliveryAct::Branch, Done::Yes);
    for act in [DeliveryAct::PullRequest, DeliveryAct::Comment, DeliveryAct::Merge, DeliveryAct::Close] {
        assert_eq!(next(&everything(), &seen), Next::Skip(act, "there is no forge".to_owned()));
        seen.done.insert(act, Done::Skipped("there is no forge".to_owned()));
    }
    let because = "all that was asked for is done";
    assert_eq!(next(&everything(), &seen), end(DeliveryOutcome::Delivered, because));
}

#[test]
fn a_comment_needs_a_proof_to_show() {
    let bare = Seen { proof: ProofSeen::Missing, ..done(&UNTIL_MERGE[..3]) };
    let skipped = Next::Skip(DeliveryAct::Comment, "there is no proof to show".to_owned());
    assert_eq!(next(&everything(), &bare), skipped);
    let failed = Seen { proof: ProofSeen::NotPassed("it failed".to_owned()), ..bare };
    assert_eq!(next(&everything(), &failed), Next::Do(DeliveryAct::Comment));
}

#[test]
fn a_merge_needs_consent_and_a_proof_that_holds() {
    let ready = done(&UNTIL_MERGE);
    let with =
        |consent: Consent, proof: ProofSeen| next(&everything(), &Seen { proof, consent, ..ready.clone() });
    let given = || Consent::Given(String::new());
    assert_eq!(with(given(), ProofSeen::Fresh), Next::Do(DeliveryAct::Merge));
    assert_eq!(with(given(), ProofSeen::Carried(String::new())), Next::Do(DeliveryAct::Merge));
    let denied = Consent::Denied("never".to_owned());
    assert_eq!(with(denied, ProofSeen::Fresh), end(DeliveryOutcome::Refused, "never"));
    let awaited = Consent::Awaited("a person".to_owned());
    assert_eq!(with(awaited.clone(), ProofSeen::Fresh), Next::End(End::for_a_person("a person")));
    // Whoever has to agree is not asked about what cannot be merged anyway, but told what is missing first.
    assert_eq!(with(awaited, ProofSeen::Missing), Next::End(End::for_a_person("a person")));
    let because = "there is no proof, and nothing is merged without one";
    assert_eq!(with(given(), ProofSeen::Missing), end(DeliveryOutcome::Refused, because));
    assert_eq!(with(given(), ProofSeen::NotPassed("no".to_owned())), end(DeliveryOutcome::Refused, "no"));
    assert_eq!(with(given(), ProofSeen::Stale("old".to_owned())), end(DeliveryOutcome::Stale, "old"));
}

#[test]
fn after_the_merge_the_branch_goes_and_the_ticket_is_closed_whatever_else_has_changed() {
    let merged = Seen {
        merged: Some(MergedSeen::AsProven),
        change: ChangeSeen::Conflict(vec!["a".to_owned()]),
        proof: ProofSeen::Stale(String::new()),
        ..done(&[])
    };
    assert_eq!(next(&everything(), &merged), Next::Do(DeliveryAct::RemoveBranch));
    let gone = Seen { done: BTreeMap::from([(DeliveryAct::RemoveBranch, Done::Yes)]), ..merged.clone() };
    assert_eq!(next(&everything(), &gone), Next::Do(DeliveryAct::Close));
    let no_ticket = Seen { ticket: None, ..gone };
    let because = "the work is not for a ticket of this forge".to_owned();
    assert_eq!(next(&everything(), &no_ticket), Next::Skip(DeliveryAct::Close, because));
    let otherwise = Seen { merged: Some(MergedSeen::Otherwise("another tree".to_owned())), ..merged };
    assert_eq!(next(&everything(), &otherwise), end(DeliveryOutcome::CouldNot, "another tree"));
}
