//! The bundled pipelines through the binary: what is good lands, and what is not ends at a person.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Home, Outcome, git, program};
use crate::walking::one;

const CHECK: &str = "checks:\n  - { name: test, run: [sh, tests/run.sh] }\n";

/// A trusted repository with a bug, a check that shows it, and its forge.
fn shop() -> Home {
    let home = Home::new();
    let repository = home.repository("repo");
    fs::create_dir_all(home.join("user")).unwrap();
    fs::write(home.join("user/.gitconfig"), "[user]\n  name = Ada\n  email = ada@example.org\n").unwrap();
    fs::create_dir_all(repository.join("tests")).unwrap();
    fs::write(repository.join("login.sh"), "test \"$1\" -gt 3\n").unwrap();
    fs::write(repository.join("billing.sh"), "exit 0\n").unwrap();
    fs::write(repository.join("package.json"), r#"{"dependencies":{"pad":"^1.4.0"}}"#).unwrap();
    fs::write(repository.join("tests/run.sh"), "echo 1..1\nsh login.sh 3 && echo ok 1\n").unwrap();
    fs::write(repository.join(".longhaul/config.yml"), CHECK).unwrap();
    git(&repository, &["checkout", "--quiet", "-B", "main"]);
    git(&repository, &["add", "--all"]);
    git(&repository, &["commit", "--quiet", "--message=begin"]);
    home.longhaul(&["forge", "init", "forge.git"]).succeeded();
    let forge = home.join("forge.git");
    git(&repository, &["remote", "add", "origin", forge.to_str().unwrap()]);
    git(&repository, &["push", "--quiet", "origin", "main"]);
    home.run(&["workspace", "add"]).inside("repo").go().succeeded();
    home.trust("repo");
    home
}

/// What the rehearsal agent plays: each visit of a step has its own turns.
struct Cassette(Vec<Value>);

impl Cassette {
    /// Classified as small, with an intent that names the script.
    fn new() -> Self {
        Self::with_side_effects(&json!([]))
    }

    fn with_side_effects(side_effects: &Value) -> Self {
        let mut cassette = Self(Vec::new());
        cassette.complete(
            ("lh.classify", "classify"),
            1,
            &json!({
                "kind": "classification", "complexity": "small", "risk": "low", "maturity": "ready", "hasUI": false,
                "touchesArchitecture": false, "because": "one line of one script",
            }),
        );
        cassette.complete(
            ("lh.intent", "intent"),
            1,
            &json!({
                "kind": "intent", "interpretation": "Let the third attempt through as well", "scope": ["login.sh"],
                "expected_files": ["login.sh"], "side_effects": side_effects, "risks": [], "is_destructive": false,
                "confidence": "high",
            }),
        );
        cassette
    }

    fn complete(&mut self, at: (&str, &str), visit: u64, artifact: &Value) {
        let matched = json!({ "workflow": at.0, "step": at.1, "visit": visit });
        self.0.push(json!({ "match": matched, "complete": { "notes": "Done.", "artifacts": [artifact] } }));
    }

    fn says(&mut self, at: (&str, &str), visit: u64) {
        let matched = json!({ "workflow": at.0, "step": at.1, "visit": visit });
        self.0.push(json!({ "match": matched, "complete": { "notes": "Done." } }));
    }

    fn does(&mut self, at: (&str, &str), visit: u64, command: &str) {
        let matched = json!({ "workflow": at.0, "step": at.1, "visit": visit });
        self.0.push(
            json!({ "match": matched, "tools": [{ "bash": { "command": command, "expect_exit": 0 } }] }),
        );
    }

    fn codes(&mut self, command: &str) {
        self.does(("lh.coding", "code"), 1, command);
        self.says(("lh.coding", "code"), 1);
        self.complete(("lh.coding", "handoff"), 1, &handed_over());
    }

    fn fixes(&mut self, visit: u64, command: &str) {
        self.does(("lh.fix", "fix"), visit, command);
        self.complete(("lh.fix", "fix"), visit, &handed_over());
    }

    /// A round of both reviewers, with what the first of them finds.
    fn reviews(&mut self, visit: u64, findings: &Value) {
        for (family, found) in [("correctness", findings.clone()), ("tests", json!([]))] {
            let workflow = format!("lh.review.{family}");
            self.says((&workflow, "look"), visit);
            self.complete(
                (&workflow, "verdict"),
                visit,
                &json!({
                    "kind": "review_verdict", "family": family, "findings": found, "summary": "Read it all.",
                    "criteria": [{ "id": "goal", "outcome": "met", "evidence": "sh tests/run.sh prints ok 1" }],
                }),
            );
        }
    }

    /// One more reviewer, asked for a second opinion.
    fn second_opinion(&mut self, visit: u64) {
        self.says(("lh.review.correctness", "look"), visit);
        let verdict = json!({
            "kind": "review_verdict", "family": "correctness", "findings": critical(), "summary": "So it is.",
            "criteria": [{ "id": "goal", "outcome": "met", "evidence": "sh tests/run.sh prints ok 1" }],
        });
        self.complete(("lh.review.correctness", "verdict"), visit, &verdict);
    }

    fn audits(&mut self, kinds: &[&str]) {
        for kind in kinds {
            let workflow = format!("lh.audit.{kind}");
            let clean = json!({
                "kind": "audit_verdict", "verdict": "clean", "findings": [], "summary": "Looked.",
            });
            self.complete((&workflow, "verdict"), 1, &clean);
        }
    }

    fn run(&self, home: &Home) -> Outcome {
        let path = home.join("run.yml");
        fs::write(&path, json!({ "cassette": 1, "turns": self.0 }).to_string()).unwrap();
        let path = path.display().to_string();
        let goal = "let the third attempt through";
        home.run(&["run", goal, "--pipeline", "lh.pipeline.quick", "--cassette", &path, "--json"])
            .inside("repo")
            .go()
    }
}

fn handed_over() -> Value {
    json!({
        "kind": "coding_handoff", "summary": "The boundary is inside now", "files": ["login.sh"],
        "criteria": [{ "id": "goal", "how": "sh tests/run.sh" }], "side_effects": [],
        "tests_run": [{ "command": "sh tests/run.sh", "outcome": "passed" }],
    })
}

fn critical() -> Value {
    json!([{
        "severity": "Critical", "category": "lock out", "file": "login.sh", "line": 1,
        "evidence": "`sh login.sh 3` exits 1", "fix": "compare with -ge",
    }])
}

const MEND: &str = "sed -i s/-gt/-ge/ login.sh";

fn main_of(home: &Home) -> String {
    let output =
        program("git").args(["show", "main:login.sh"]).current_dir(home.join("forge.git")).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The steps of the gates at which a person is waited for.
fn gates(home: &Home) -> Vec<String> {
    let rows = home.longhaul(&["gate", "list", "--json"]).succeeded().rows();
    rows.iter().map(|row| row["step"].as_str().unwrap_or_default().to_owned()).collect()
}

fn why(home: &Home) -> String {
    let rows = home.longhaul(&["session", "list", "--all", "--json"]).succeeded().rows();
    let root = rows.iter().find(|row| row["parent"].is_null()).unwrap()["id"].as_str().unwrap().to_owned();
    home.longhaul(&["session", "show", &root, "--why"]).succeeded().stdout
}

#[test]
fn a_small_task_goes_from_goal_to_main_without_asking_anybody() {
    let home = shop();
    let mut cassette = Cassette::new();
    cassette.codes(MEND);
    cassette.reviews(1, &json!([]));
    // A file that is called `login` is looked at by one more.
    cassette.audits(&["security"]);
    let outcome = cassette.run(&home);
    let told = one(&outcome);
    assert_eq!(told["outcome"]["kind"], "completed", "{outcome}\n{}", why(&home));
    assert_eq!(main_of(&home), "test \"$1\" -ge 3\n");
    let why = why(&home);
    for decided in [
        "`route`: policy `routing` says route",
        "`intent-rule`: policy `intent` says go",
        "`recheck`: policy `recheck` says keep",
        "`scope`: policy `scope` says inside",
        "`review`: policy `review` says pass",
        "`merge-rule`: policy `merge` says auto",
    ] {
        assert!(why.contains(decided), "{decided}: {why}");
    }
}

#[test]
fn a_reviewer_who_keeps_finding_a_critical_leads_to_a_person_and_not_to_main() {
    let home = shop();
    let mut cassette = Cassette::new();
    cassette.codes(MEND);
    cassette.reviews(1, &critical());
    cassette.fixes(1, "echo '# looked at it' >> login.sh");
    cassette.reviews(2, &critical());
    cassette.second_opinion(3);
    cassette.run(&home);
    assert_eq!(gates(&home), ["review-gate"], "{}", why(&home));
    assert!(why(&home).contains("a fix changed nothing: Critical/lock out/login.sh/-"), "{}", why(&home));
    assert_eq!(main_of(&home), "test \"$1\" -gt 3\n");
}

#[test]
fn work_outside_the_scope_that_is_not_taken_back_leads_to_a_person() {
    let home = shop();
    let mut cassette = Cassette::new();
    cassette.codes(&format!("{MEND}; echo 'exit 1' > billing.sh"));
    cassette.reviews(1, &json!([]));
    cassette.fixes(1, "true");
    cassette.reviews(2, &json!([]));
    cassette.run(&home);
    assert_eq!(gates(&home), ["review-gate"], "{}", why(&home));
    assert!(why(&home).contains("`billing.sh` lies outside of what was declared"), "{}", why(&home));
    assert_eq!(main_of(&home), "test \"$1\" -gt 3\n");
}

#[test]
fn whoever_edits_the_checks_is_seen_at_once_and_is_checked_by_the_old_ones() {
    let home = shop();
    let mut cassette = Cassette::new();
    let easy = "printf 'checks:\\n  - { name: test, run: [\"true\"] }\\n' > .longhaul/config.yml";
    cassette.codes(&format!("{easy} || true"));
    cassette.reviews(1, &json!([]));
    let outcome = cassette.run(&home);
    let why = why(&home);
    // Where the folder cannot be written at all nothing was changed, which is no success either.
    let refused = why.contains("nothing was changed");
    assert!(refused || gates(&home) == ["recheck-gate"], "{outcome}\n{why}");
    assert_eq!(main_of(&home), "test \"$1\" -gt 3\n");
    let checks: PathBuf = home.join("repo/.longhaul/config.yml");
    assert_eq!(fs::read_to_string(checks).unwrap(), CHECK);
}

#[test]
fn another_major_version_of_a_dependency_is_left_to_a_person() {
    let home = shop();
    let mut cassette = Cassette::with_side_effects(&json!(["`package.json` asks for a newer `pad`"]));
    cassette.codes(&format!("{MEND}; sed -i s/1.4.0/2.0.0/ package.json"));
    cassette.reviews(1, &json!([]));
    cassette.audits(&["production", "security"]);
    cassette.run(&home);
    assert_eq!(gates(&home), ["handover"], "{}", why(&home));
    assert!(why(&home).contains("`pad` goes from ^1.4.0 to ^2.0.0"), "{}", why(&home));
    assert_eq!(main_of(&home), "test \"$1\" -gt 3\n");
}
