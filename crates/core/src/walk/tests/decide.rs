//! Policies that are asked on the way.

use longhaul_events::{Content, SessionEvent};
use serde_json::{Value, json};

use super::play::Play;

const ASKED: &str = r#"longhaul: 1
id: test.decide
name: Test
version: 1.0.0
vars: { intent: { type: object }, classification: { type: object } }
steps:
  - { id: say, prompt: Say it. }
  - id: rule
    decide: { policy: intent, with: { intent: "{{intent}}", classification: "{{classification}}" }, into: ruled }
  - { id: look, gate: { by: person, question: "{{ruled.because}}?" }, when: { var: ruled.decision, equals: person } }
  - { id: do, prompt: Do it. }
"#;

fn classification() -> Value {
    json!({ "complexity": "small", "risk": "low", "maturity": "ready", "hasUI": false, "touchesArchitecture": false })
}

fn intent() -> Value {
    json!({
        "interpretation": "Accept a plus sign in mail addresses", "scope": ["src/mail/**"],
        "expected_files": ["src/mail/address.rs"], "is_destructive": false, "confidence": "high",
    })
}

fn decided(play: &Play) -> Vec<(String, String, Value)> {
    let fact = |event: &SessionEvent| match event {
        SessionEvent::Decided { step, decision, given: Content::Inline(given), .. } => {
            Some((step.0.clone(), decision.clone(), given.clone()))
        }
        _ => None,
    };
    play.events.iter().filter_map(fact).collect()
}

#[test]
fn a_policy_is_asked_on_the_way_and_the_way_goes_on() {
    let mut play = Play::of(ASKED, &json!({}));
    let vars = json!({ "intent": intent(), "classification": classification() });
    play.answer(&json!({ "notes": "said", "vars": vars })).unwrap();
    assert_eq!(play.at(), "do");
    let [(step, decision, given)] = decided(&play).try_into().unwrap();
    assert_eq!((step.as_str(), decision.as_str()), ("rule", "go"));
    assert_eq!(given["with"], vars);
    assert_eq!(given["settings"]["intent_gate"], "vague");
    let Some(Content::Inline(ruled)) = play.session.vars.get("ruled") else { panic!() };
    assert_eq!(
        *ruled,
        json!({ "decision": "go", "because": "it is bounded, and its confidence high", "rules": ["intent:clear"] })
    );
}

#[test]
fn what_was_never_said_goes_to_a_person() {
    let mut play = Play::of(ASKED, &json!({}));
    play.answer(&json!({ "notes": "said nothing" })).unwrap();
    assert_eq!(play.at(), "gate:look");
    let question = play.events.iter().rev().find_map(|event| match event {
        SessionEvent::GateOpened { question: Content::Inline(question), .. } => Some(question.clone()),
        _ => None,
    });
    assert_eq!(question.unwrap(), json!("`intent` is not known?"));
}

#[test]
fn no_agent_can_write_the_decision() {
    let mut play = Play::of(ASKED, &json!({}));
    let forged = json!({ "notes": "said", "vars": { "ruled": { "decision": "go" } } });
    assert!(play.answer(&forged).is_err());
    assert_eq!(play.at(), "say");
}

#[test]
fn a_loop_that_only_asks_ends_at_a_person() {
    let text = ASKED.replace(
        "  - { id: look",
        "  - id: round\n    loop: { while: { var: ruled }, max: 900 }\n    steps: [ { id: again, decide: { policy: routing, with: { classification: x } } } ]\n  - { id: look",
    );
    let mut play = Play::of(&text, &json!({}));
    play.answer(&json!({ "notes": "said" })).unwrap();
    assert_eq!(play.at(), "parked:again");
    assert_eq!(decided(&play).len(), 100);
}
