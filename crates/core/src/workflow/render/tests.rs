//! What must be seen, and in which order.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;

/// Every text of this workflow has a number of its own, so that a test can see which are shown.
fn workflow() -> Workflow {
    let step = json!({
        "id": "look", "title": "Look at\n{{goal}}", "attempts": 10, "role": "role01", "guidance": ["step-guidance02"],
        "system_prompt": "step-system03", "references": ["spec", "gone"], "requires": ["goal04"],
        "model": "heavy", "budget": {"tokens": 405, "time_ms": 6000, "money_micros": 1_500_000},
        "confirm": {"by": "person"},
        "kind": {
            "kind": "prompt", "notes": "required", "ask_for_files": true,
            "body": {"blocks": {
                "goal": "goal05 {{goal}}", "constraints": ["constraint06\nsecond line"], "procedure": ["procedure07", "procedure08"],
                "output_required": [["key09", "output10"]], "verify": ["verify11"],
            }},
            "fragments": [
                {"text": "fragment12"},
                {"when": {"var": {"path": "goal", "tests": []}}, "text": "fragment13"},
                {"when": {"var": {"path": "unset", "tests": []}}, "text": "hidden"},
            ],
            "produces": {"var14": "string"},
            "outputs": [{"contract": "contract15", "required": true}],
            "validate": [{"one": {"demand": {"contains": "x"}, "message": "rule16"}}],
            "assessments": [{"id": "assessment17", "purpose": "purpose18", "dimensions": [
                {"id": "dimension19", "purpose": "purpose20", "levels": ["level21", "level22"], "required": true},
            ]}],
            "control": {"loop_id": "loop23"},
            "functions": [{"name": "function24", "definition": "definition25", "parameters": [
                {"name": "parameter26", "type": "string", "required": true, "description": "about27", "enum": ["choice28"]},
            ]}],
            "function_calls": [{"call": "call29"}],
            "audit": {"prompt": "audit30", "rubric": ["rubric31"]},
            "verification": {"command": "command32", "prompt": "verification33"},
        },
    });
    let workflow = json!({
        "format": "native", "id": "lh.test", "name": "name34", "version": "1.0.0", "about": "about35",
        "catalog": {"description": "description36"}, "vars": {"declared": {"optional37": {"kind": "any", "writer": "agent"}}},
        "guidance": ["guidance38"], "preconditions": ["precondition39"], "clarifications": ["clarification40"],
        "system_prompt": "system41",
        "references": [{"id": "spec", "title": "title42", "source": "source43", "purpose": "purpose44",
            "authoritative": true, "resolve_from": "workspace"}],
        "contracts": {"contract15": {"schema": {"title": "schema45"}, "example": {"text": "example46"}}},
        "steps": [step],
    });
    serde_json::from_value(workflow).expect("the compiled form")
}

fn rendered(workflow: &Workflow, opening: Opening) -> Rendered {
    let vars: BTreeMap<String, Arc<Value>> =
        BTreeMap::from([("goal".into(), Arc::new(json!("the {{role}}")))]);
    step(workflow, &workflow.steps[0], &Scope::new(&vars), opening)
}

/// The numbers in the text's marks, without those that are missing.
fn shown(text: &str) -> Vec<usize> {
    let is_shown = |number: &usize| {
        let mark = format!("{number:02}");
        text.match_indices(&mark)
            .any(|(at, _)| text[..at].ends_with(|letter: char| letter.is_ascii_alphabetic()))
    };
    (1..=46).filter(is_shown).collect()
}

#[test]
fn the_first_step_shows_everything_that_an_author_wrote() {
    let Rendered { title, prompt } = rendered(&workflow(), Opening::Start);
    assert_eq!(title, "Look at the {{role}}");
    assert_eq!(shown(&prompt), (1..=46).collect::<Vec<_>>(), "{prompt}");
    assert!(!prompt.contains("hidden"));
    assert!(prompt.contains("Ask for the files"));
    assert!(prompt.contains("- Budget: 405 tokens, 6 seconds, 1.50 USD."));
    assert!(prompt.contains("- `gone`"));
    assert!(prompt.contains("goal05 the {{role}}"), "a value is not a template");
    assert!(prompt.contains("- constraint06\n  second line"));
}

#[test]
fn later_steps_leave_out_what_was_said_at_the_start() {
    let of_the_start = [34, 35, 36, 38, 39, 40, 41];
    let wanted: Vec<usize> = (1..=46).filter(|number| !of_the_start.contains(number)).collect();
    assert_eq!(shown(&rendered(&workflow(), Opening::Later).prompt), wanted);
    let resumed = shown(&rendered(&workflow(), Opening::Resume).prompt);
    let told_again: Vec<usize> = of_the_start.into_iter().filter(|number| resumed.contains(number)).collect();
    assert_eq!(told_again, [34, 38, 41]);
}

#[test]
fn what_to_hand_in_comes_last() {
    let prompt = rendered(&workflow(), Opening::Later).prompt;
    let (_, last) = prompt.split_once("## What to hand in").expect("the section");
    assert!(!last.contains("\n## "));
    for part in
        ["`notes`", "rule16", "var14", "\"kind\":\"contract15\"", "assessment17", "\"loopId\":\"loop23\""]
    {
        assert!(last.contains(part), "{part} in {last}");
    }
}

#[test]
fn a_small_step_is_a_small_text() {
    let step = json!({"id": "do", "title": "Do it", "attempts": 10,
        "kind": {"kind": "prompt", "notes": "required", "body": {"text": "Make {{goal}} pass.\n"}}});
    let mut workflow = workflow();
    workflow.vars = super::super::Vars::Open;
    workflow.steps = vec![serde_json::from_value(step).expect("a step")];
    assert_eq!(
        rendered(&workflow, Opening::Later).prompt,
        "# Do it\n\nMake the {{role}} pass.\n\n## What to hand in\n\n\
         - `notes`: what you did, what you found and how you know it. Required."
    );
}

#[test]
fn a_fence_is_longer_than_what_it_holds() {
    assert_eq!(fenced("", "a ``` b"), "````\na ``` b\n````");
    assert_eq!(fenced("json", "{}"), "```json\n{}\n```");
}
