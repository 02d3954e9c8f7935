//! Proofs through the real binary: bound to their files, and in a form that others can check.

use std::collections::BTreeMap;
use std::fs;

use longhaul_runtime::types::Proof;
use longhaul_runtime::types::proof::{markdown, read, statement, text};
use longhaul_runtime::{Places, Settings, System};
use longhaul_testkit::parts::Python;
use serde_json::{Value, json};

use super::{check, go, prepared, proof, session};
use crate::support::Home;
use crate::walking::workflow;

const WITH_A_LATER_EDIT: &str = "longhaul: 1\nid: team.verify\nname: Verify\nversion: 1.0.0\nsteps:\n\
    \x20 - { id: edit, prompt: Change it. }\n\
    \x20 - { id: verify, run: { checks: all, on: merge }, into: checks }\n\
    \x20 - { id: again, prompt: Change more. }\n\
    \x20 - { id: prove, gather: { kind: proof, into: proof } }\n";

fn proven() -> Home {
    let settings = format!("checks:\n{}", check("test", "grep -q mine a.txt"));
    let home = prepared(&settings, "echo mine >> a.txt");
    go(&home).succeeded();
    home
}

#[test]
fn an_edit_after_the_checks_makes_the_proof_fail() {
    let settings = format!("checks:\n{}", check("test", "true"));
    let home = prepared(&settings, "echo mine >> a.txt");
    workflow(&home, "team.verify.yml", WITH_A_LATER_EDIT);
    let before = fs::read_to_string(home.join("run.yml")).unwrap();
    let more = "  - match: { step: again }\n    tools: [ { write: { path: a.txt, content: other } } ]\n  - match: { step: again }\n    complete: { notes: Done. }\n";
    fs::write(home.join("run.yml"), format!("{before}{more}")).unwrap();
    go(&home).succeeded();
    let proof = proof(&home);
    assert_eq!(
        (&proof["outcome"], &proof["checks"][0]["outcome"]),
        (&json!("failed"), &json!("passed")),
        "{proof:#}"
    );
    assert!(
        proof["because"].as_str().unwrap().contains("files were edited after the checks ran"),
        "{proof:#}"
    );
}

#[test]
fn a_proof_is_held_against_the_repository() {
    let home = proven();
    let proof = proof(&home);
    assert_eq!(
        (&proof["outcome"], &proof["session"]),
        (&json!("passed"), &json!(session(&home))),
        "{proof:#}"
    );
    let system = System::new(Settings {
        places: Places::under(&home.longhaul_home()),
        variables: BTreeMap::new(),
        directory: home.join("repo"),
        flags: Vec::new(),
    });
    for shown in [proof.clone(), statement(&read(&proof.to_string()).unwrap().0)] {
        let report = system.verify_proof(&shown.to_string()).unwrap();
        assert!(report.holds() && report.open.is_empty(), "{report:#?}");
        assert!(report.right.iter().any(|said| said.contains("gives its merge result")), "{report:#?}");
    }
    let resealed = |change: &dyn Fn(&mut Proof)| {
        let mut other = read(&proof.to_string()).unwrap().0;
        change(&mut other);
        system.verify_proof(&other.sealed().json().to_string()).unwrap()
    };
    let elsewhere = resealed(&|proof| proof.merged_tree = Some(proof.tree.replace(|_: char| true, "1")));
    assert!(elsewhere.wrong.iter().any(|said| said.contains("merging its files")), "{elsewhere:#?}");
    let unknown = resealed(&|proof| proof.base = proof.base.replace(|_: char| true, "2"));
    assert!(unknown.wrong.iter().any(|said| said.contains("is not in this repository")), "{unknown:#?}");
    // Commits that everybody has bear nothing out.
    let forged = resealed(&|proof| {
        proof.tree = proof.tree.replace(|_: char| true, "3");
        (proof.merged_tree, proof.head) = (Some(proof.tree.clone()), None);
        proof.session = "s-0123456789abc".to_owned();
    });
    assert!(!forged.holds() && forged.wrong.is_empty(), "{forged:#?}");
    let outside = home.system().verify_proof(&proof.to_string()).unwrap();
    assert!(!outside.holds() && outside.wrong.is_empty(), "{outside:#?}");
    assert!(outside.open[0].contains("no repository is at hand"), "{outside:#?}");
}

#[test]
fn a_proof_is_shown_as_text_and_for_a_pull_request() {
    let home = proven();
    let proof = read(&proof(&home).to_string()).unwrap().0;
    assert!(text(&proof).starts_with("passed: fix it\n"), "{}", text(&proof));
    assert!(markdown(&proof).contains("| test | passed |"), "{}", markdown(&proof));
}

/// Has the standard library read a statement, and prints what it made of it.
const CHECKER: &str = "
import json, sys
from google.protobuf.json_format import MessageToDict, Parse
import in_toto_attestation.v1.statement_pb2 as pb
from in_toto_attestation.v1.statement import Statement
read = Parse(open(sys.argv[1]).read(), pb.Statement())
statement = Statement.copy_from_pb(read)
statement.validate()
print(json.dumps(MessageToDict(statement.pb)))
";

#[test]
fn heavy_a_standard_library_verifies_the_in_toto_statement() {
    let home = proven();
    let proof = read(&proof(&home).to_string()).unwrap().0;
    let python = Python::installed();
    fs::write(home.join("check.py"), CHECKER).unwrap();
    let checked = |statement: &Value| {
        fs::write(home.join("statement.json"), statement.to_string()).unwrap();
        python.python(home.join("check.py")).arg(home.join("statement.json")).output().unwrap()
    };
    let good = checked(&statement(&proof));
    assert!(good.status.success(), "{}", String::from_utf8_lossy(&good.stderr));
    let seen: Value = serde_json::from_slice(&good.stdout).unwrap();
    assert_eq!(seen["subject"][0]["digest"]["gitTree"], proof.merged_tree.clone().unwrap());
    assert_eq!(seen["predicate"]["outcome"], "passed");
    let mut bad = statement(&proof);
    bad["subject"] = json!([{ "name": "nothing" }]);
    assert!(!checked(&bad).status.success(), "the library does look");
}
