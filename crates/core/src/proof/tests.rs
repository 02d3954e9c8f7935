//! Proofs from records: what passes, what does not and why, and that nobody can change one unseen.

use serde_json::{Value, json};

use super::*;
use crate::walk::tests::play::compiled;

const TREE: &str = "aaaa";

fn change() -> Value {
    json!({ "base": "b0", "head": "h0", "tree": TREE, "is_empty": false, "lines": 3,
            "files": [{ "path": "src/login.sh", "status": "modified", "added": 2, "removed": 1 }] })
}

fn checks() -> Value {
    json!({ "outcome": "passed", "base": "b1", "head": "h0", "tree": TREE, "merged_tree": "cccc",
            "checks": [{ "name": "test", "outcome": "passed", "exit": 0, "command": ["sh", "t.sh"], "duration_ms": 5,
                         "stdout": "1..1", "stderr": "" }] })
}

fn spec() -> Value {
    json!({ "summary": "s", "criteria": [{ "id": "A1", "text": "equal is enough" }] })
}

fn reviews() -> Value {
    json!([{ "workflow": "lh.review.tests", "session": "s-1", "outcome": "completed", "result": {
        "family": "tests", "summary": "Fine.",
        "findings": [{ "severity": "Minor", "file": "src/login.sh", "line": 3, "evidence": "a name | could be better" }],
        "criteria": [{ "id": "A1", "outcome": "met", "evidence": "tests/run.sh:4" }] } }])
}

/// What is on record when all went well, with one part exchanged.
struct Case {
    change: Value,
    checks: Value,
    spec: Value,
    reviews: Value,
    audits: Value,
    audit_rule: Value,
    scope: Value,
    tree: &'static str,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            change: change(),
            checks: checks(),
            spec: spec(),
            reviews: reviews(),
            audits: Value::Null,
            audit_rule: json!({ "decision": "none", "because": "low risk" }),
            scope: json!({ "decision": "inside", "because": "one file", "findings": [] }),
            tree: TREE,
        }
    }
}

impl Case {
    fn proof(&self) -> Proof {
        fn some(value: &Value) -> Option<&Value> {
            Some(value).filter(|value| !value.is_null())
        }
        let part = |value: &'static str| value.to_owned();
        assemble(&Record {
            rehearsal: false,
            task: None,
            session: part("s-0"),
            goal: part("fix it"),
            start: part("b0"),
            tree: part(self.tree),
            change: some(&self.change),
            checks: some(&self.checks),
            spec: some(&self.spec),
            scope: some(&self.scope),
            reviews: some(&self.reviews),
            audits: some(&self.audits),
            audit_rule: some(&self.audit_rule),
        })
    }

    fn told(&self) -> (Outcome, String) {
        let proof = self.proof();
        (proof.outcome, proof.because)
    }
}

#[test]
fn a_change_that_everything_speaks_for_has_passed_and_names_its_files() {
    let proof = Case::default().proof();
    assert_eq!(proof.outcome, Outcome::Passed, "{}", proof.because);
    assert_eq!((&*proof.start, &*proof.base, proof.head.as_deref()), ("b0", "b1", Some("h0")));
    assert_eq!((&*proof.tree, proof.merged_tree.as_deref()), (TREE, Some("cccc")));
    assert_eq!(proof.files, ["src/login.sh"]);
    assert_eq!(proof.criteria[0].outcome, Outcome::Passed);
    assert_eq!(proof.criteria[0].evidence[0].by, "review tests");
    let stored = proof.json().to_string();
    assert!(!stored.contains("stdout"), "what a check printed is in the log, not in the proof: {stored}");
    assert_eq!(read(&stored), Ok((proof, Vec::new())));
}

#[test]
fn without_a_spec_the_goal_is_what_reviewers_judge() {
    let mut case = Case { spec: Value::Null, ..Case::default() };
    let proof = case.proof();
    let criterion = &proof.criteria[0];
    assert_eq!((&*criterion.id, &*criterion.text), ("goal", "fix it"));
    assert_eq!((proof.outcome, criterion.outcome), (Outcome::CouldNotRun, Outcome::CouldNotRun));
    assert!(proof.because.contains("criterion `goal`: nobody looked at it"), "{}", proof.because);
    case.reviews[0]["result"]["criteria"][0]["id"] = json!("goal");
    let proof = case.proof();
    assert_eq!((proof.outcome, proof.criteria.len()), (Outcome::Passed, 1), "{}", proof.because);
    // Where nobody reviews, nothing is judged, and nothing is promised.
    case.reviews = Value::Null;
    assert_eq!(case.proof().criteria, []);
}

#[test]
fn what_is_missing_or_speaks_against_it_is_told_and_never_passes() {
    let cases: Vec<(Case, Outcome, &str)> = vec![
        (Case { checks: Value::Null, ..Case::default() }, Outcome::CouldNotRun, "no checks were run"),
        (
            Case { checks: json!({ "outcome": "passed", "tree": TREE, "checks": [] }), ..Case::default() },
            Outcome::CouldNotRun,
            "there was no check to run",
        ),
        (
            Case {
                checks: json!({ "outcome": "conflict", "because": "in a.txt", "tree": TREE }),
                ..Case::default()
            },
            Outcome::Failed,
            "does not merge into the newest base: in a.txt",
        ),
        (
            Case {
                checks: json!({ "outcome": "failed", "because": "nothing was changed", "tree": TREE }),
                ..Case::default()
            },
            Outcome::Failed,
            "nothing was changed",
        ),
        (
            Case { change: json!({ "tree": TREE, "is_empty": true, "files": [] }), ..Case::default() },
            Outcome::Failed,
            "nothing was changed",
        ),
        (Case { tree: "bbbb", ..Case::default() }, Outcome::Failed, "files were edited after the checks ran"),
        (
            Case { reviews: Value::Null, ..Case::default() },
            Outcome::CouldNotRun,
            "criterion `A1`: nobody looked at it",
        ),
        (
            Case {
                reviews: json!([{ "workflow": "lh.review.tests", "outcome": "could_not", "result": null }]),
                ..Case::default()
            },
            Outcome::CouldNotRun,
            "review `lh.review.tests`: its session ended as `could_not` without a verdict",
        ),
        (
            Case {
                reviews: json!([{ "outcome": "completed", "result": { "family": "tests", "findings": [{ "severity": "Major" }],
                    "criteria": [{ "id": "A1", "outcome": "met" }] } }]),
                ..Case::default()
            },
            Outcome::Failed,
            "review `tests`: 1 of its findings are Critical or Major",
        ),
        (
            Case {
                reviews: json!([{ "outcome": "completed", "result": { "family": "a", "findings": [],
                    "criteria": [{ "id": "A1", "outcome": "met" }] } },
                    { "outcome": "completed", "result": { "family": "b", "findings": [],
                    "criteria": [{ "id": "A1", "outcome": "not_met" }] } }]),
                ..Case::default()
            },
            Outcome::Failed,
            "criterion `A1`: not met, says review b",
        ),
        (
            Case { audit_rule: json!({ "decision": "some" }), ..Case::default() },
            Outcome::CouldNotRun,
            "audits were wanted, and none is on record",
        ),
        (
            Case {
                audit_rule: json!({ "decision": "some" }),
                audits: json!([{ "workflow": "lh.audit.security", "outcome": "completed", "result": { "verdict": "unsafe", "findings": [] } }]),
                ..Case::default()
            },
            Outcome::Failed,
            "audit `lh.audit.security`: it calls the change unsafe",
        ),
        (
            Case {
                scope: json!({ "decision": "outside", "because": "ci.yml", "findings": [{ "severity": "Major" }] }),
                ..Case::default()
            },
            Outcome::Failed,
            "scope: the change goes beyond what was declared: ci.yml",
        ),
    ];
    for (case, outcome, because) in cases {
        let told = case.told();
        assert_eq!(told.0, outcome, "{told:?}");
        assert!(told.1.contains(because), "{because} is not in {told:?}");
    }
}

#[test]
fn every_way_in_which_a_check_did_not_pass_keeps_its_name() {
    for seen in ["failed", "flaky", "empty", "failing_before", "could_not_run"] {
        let mut ran = checks();
        ran["outcome"] = json!("failed");
        ran["checks"][0]["outcome"] = json!(seen);
        ran["checks"][0]["because"] = json!("so");
        let proof = Case { checks: ran, ..Case::default() }.proof();
        let entry = &proof.checks[0];
        let expected = if seen == "could_not_run" { Outcome::CouldNotRun } else { Outcome::Failed };
        assert_eq!((entry.outcome, entry.seen.as_str(), proof.outcome), (expected, seen, expected));
        assert!(proof.because.contains(&format!("check `test` ({seen}): so")), "{}", proof.because);
    }
}

#[test]
fn a_check_that_just_failed_is_told_with_how_it_ended() {
    let mut ran = checks();
    ran["outcome"] = json!("failed");
    ran["checks"][0]["outcome"] = json!("failed");
    ran["checks"][0]["exit"] = json!(7);
    let proof = Case { checks: ran, ..Case::default() }.proof();
    assert_eq!(proof.because, "check `test` (failed): it ended with 7");
}

#[test]
fn a_criterion_may_be_decided_by_a_check() {
    let spec = json!({ "criteria": [{ "id": "A1", "text": "t", "check": "test" }, { "id": "A2", "text": "u", "check": "lint" }] });
    let proof = Case { spec, reviews: Value::Null, ..Case::default() }.proof();
    assert_eq!(proof.criteria[0].outcome, Outcome::Passed);
    assert_eq!(proof.criteria[1].outcome, Outcome::CouldNotRun);
    assert_eq!(proof.criteria[1].evidence[0].text, "no such check was run");
}

#[test]
fn what_is_carried_to_another_base_says_so_and_is_whole() {
    let proof = Case::default().proof();
    let carried = carried(&proof, "b2", "eeee", "the base moved elsewhere");
    assert_eq!((&*carried.base, carried.merged_tree.as_deref()), ("b2", Some("eeee")));
    let check = &carried.checks[0];
    assert_eq!((check.outcome, &*check.because), (Outcome::Carried, "the base moved elsewhere"));
    assert_eq!(read(&carried.json().to_string()).unwrap().1, []);
}

#[test]
fn a_scope_that_was_left_contradicts_a_proof_that_passed() {
    let mut proof = Case::default().proof();
    proof.scope.outcome = Outcome::Failed;
    let problems = read(&proof.sealed().json().to_string()).unwrap().1;
    let [Unfit::Contradiction { because, .. }] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!(because, "the scope is `failed`");
}

#[test]
fn whoever_changes_a_proof_is_noticed() {
    let proof = Case { reviews: json!([{ "outcome": "failed", "result": null }]), ..Case::default() }.proof();
    assert_eq!(proof.outcome, Outcome::CouldNotRun);
    let mut edited = proof.json();
    edited["outcome"] = json!("passed");
    let problems = read(&edited.to_string()).unwrap().1;
    assert!(matches!(problems[..], [Unfit::Digest { .. }, Unfit::Contradiction { .. }]), "{problems:?}");
    let mut sealed = proof.clone();
    sealed.outcome = Outcome::Passed;
    let problems = read(&sealed.sealed().json().to_string()).unwrap().1;
    assert!(matches!(problems[..], [Unfit::Contradiction { .. }]), "{problems:?}");
    let mut about_others = statement(&proof);
    about_others["subject"][0]["digest"]["gitTree"] = json!("ffff");
    let problems = read(&about_others.to_string()).unwrap().1;
    assert!(matches!(problems[..], [Unfit::Subject { .. }]), "{problems:?}");
}

#[test]
fn what_is_no_proof_is_refused_with_the_reason() {
    let refused = |text: &str| read(text).unwrap_err().to_string();
    assert!(refused("{").starts_with("it is not JSON"));
    assert!(refused("{}").contains("missing field"));
    assert!(refused(r#"{"version": 2}"#).contains("version 2"));
    let mut more = Case::default().proof().json();
    more["extra"] = json!(1);
    assert!(refused(&more.to_string()).contains("extra"));
    assert!(refused(r#"{"_type": "https://in-toto.io/Statement/v0.1"}"#).contains("_type"));
}

#[test]
fn a_statement_is_about_the_merge_result_and_reads_back() {
    let proof = Case::default().proof();
    let value = statement(&proof);
    assert_eq!(value["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(value["subject"], json!([{ "name": "merge result", "digest": { "gitTree": "cccc" } }]));
    assert_eq!(value["predicateType"], PREDICATE_TYPE);
    assert_eq!(read(&value.to_string()), Ok((proof, Vec::new())));
}

#[test]
fn people_read_it_as_a_text() {
    let shown = text(&Case::default().proof());
    let (shown, digest) = shown.rsplit_once("digest ").unwrap();
    assert_eq!(digest.trim().len(), 64);
    insta::assert_snapshot!(shown, @r"
    passed: fix it
      1 check passed on the merge result, and nothing on record speaks against it
      base b1  files aaaa  merge result cccc

    Criterion
      passed         A1 equal is enough
                     review tests says met: tests/run.sh:4

    Check
      passed         test

    Review
      passed         tests  Fine.
                     Minor src/login.sh:3: a name | could be better

    Scope
      passed         scope  one file

    ");
}

#[test]
fn text_of_agents_is_no_markup_in_a_pull_request() {
    let mut said = reviews();
    said[0]["result"]["summary"] = json!("@everyone <script> ![x](http://e.org) | **closes #1**\n# Big");
    let shown = markdown(&Case { reviews: said, ..Case::default() }.proof());
    assert!(
        shown.contains(
            "@\u{200b}everyone &lt;script&gt; \\!\\[x\\](http://e.org) \\| \\*\\*closes \\#1\\*\\* \\# Big"
        ),
        "{shown}"
    );
    assert!(shown.contains("| tests | passed |") && shown.contains("### Proof: passed"), "{shown}");
}

#[test]
fn only_what_the_engine_sets_is_a_source() {
    let workflow = compiled(
        "longhaul: 1\nid: t.p\nname: T\nversion: 1.0.0\nvars: { reviews: { type: array } }\nsteps:\n\
        \x20 - { id: a, prompt: Do., output: { type: object } }\n\
        \x20 - { id: seen, gather: { kind: change } }\n\
        \x20 - { id: here, run: { checks: all }, into: here }\n\
        \x20 - { id: there, run: { checks: all, on: merge }, into: there }\n\
        \x20 - { id: audits, gather: { kind: other, into: audits } }\n",
    );
    let sources = Sources::of(&workflow);
    assert_eq!(sources.checks.iter().collect::<Vec<_>>(), ["there"]);
    assert_eq!(sources.change.iter().collect::<Vec<_>>(), ["change"]);
    assert!(sources.is_own("audits") && sources.is_own("change"));
    assert!(!sources.is_own("reviews"), "the agent may set it");
    assert!(!sources.is_own("a"), "the agent hands it in");
}
