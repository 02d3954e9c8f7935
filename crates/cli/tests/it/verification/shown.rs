//! `longhaul proof`: the proof of a task for people and programs, and the judgement of one that somebody hands over.

use std::fs;

use serde_json::{Value, json};

use super::{check, go, prepared, proof, session};
use crate::support::Home;
use crate::walking::one;

#[test]
fn the_proof_of_a_task_is_shown_in_every_form_and_what_is_shown_can_be_verified() {
    let home = prepared(&format!("checks:\n{}", check("test", "grep -q four a.txt")), "echo four >> a.txt");
    go(&home).succeeded();
    let task = one(&home.longhaul(&["task", "list", "--all", "--json"]));
    let task = task["id"].as_str().unwrap();
    let show = |form: &str| home.longhaul(&["proof", "show", task, "--format", form]).succeeded().stdout;
    let shown: Value = serde_json::from_str(&show("json")).unwrap();
    assert_eq!(shown, proof(&home));
    assert_eq!((&shown["task"], &shown["outcome"]), (&json!(task), &json!("passed")), "{shown:#}");
    let by_session = home.longhaul(&["proof", "show", &session(&home), "--json"]).succeeded();
    assert_eq!(one(&by_session), shown);
    let (text, markdown) = (home.longhaul(&["proof", "show", task]).succeeded().stdout, show("md"));
    assert!(text.contains("passed") && text.contains("test"), "{text}");
    assert!(markdown.contains('|') || markdown.contains('#'), "{markdown}");
    let statement: Value = serde_json::from_str(&show("intoto")).unwrap();
    assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
    for form in ["json", "intoto"] {
        fs::write(home.join("proof.json"), show(form)).unwrap();
        let file = home.join("proof.json").display().to_string();
        let judged = home.run(&["proof", "verify", &file, "--json"]).inside("repo").go().succeeded();
        let judged = one(&judged);
        assert_eq!((&judged["holds"], &judged["outcome"]), (&json!(true), &json!("passed")), "{judged:#}");
        assert!(judged["right"].to_string().contains("the one that the log here has"), "{judged:#}");
    }
    let forged = show("json").replace("\"passed\"", "\"failed\"");
    let judged = home.run(&["proof", "verify", "-"]).stdin(forged).inside("repo").go();
    assert_eq!(judged.code, Some(3), "{judged}");
    assert!(judged.stdout.contains("does NOT hold") && judged.stdout.contains("WRONG: "), "{judged}");
    let judged = Home::new().run(&["proof", "verify", "-"]).stdin(show("json")).go();
    assert_eq!(judged.code, Some(3), "{judged}");
    assert!(judged.stdout.starts_with("nobody can tell here"), "{judged}");
    let nothing = home.run(&["proof", "verify", "-"]).stdin("{}").go();
    assert_eq!(nothing.code, Some(2), "{nothing}");
}
