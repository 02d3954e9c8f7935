//! Order, conditions, jumps, gates, work.

use longhaul_events::Verdict;
use serde_json::json;

use super::play::Play;
use crate::session::At;
use crate::walk::Coordinator;

fn head(rest: &str) -> String {
    format!(
        "longhaul: 1\nid: test.walk\nname: Test\nversion: 1.0.0\nvars:\n  goal: {{ type: string }}\n  risk: {{ enum: [low, high], default: low }}\n  n: {{ type: integer, default: 0 }}\n{rest}"
    )
}

#[test]
fn steps_come_in_the_order_of_the_file() {
    let mut play =
        Play::of(&head("steps:\n  - { id: one, prompt: One. }\n  - { id: two, prompt: Two. }\n"), &json!({}));
    assert_eq!(play.go(), ["one", "two", "completed"]);
}

#[test]
fn a_step_whose_condition_is_false_is_passed_with_its_values() {
    let text = head(
        "steps:\n  - { id: one, prompt: One. }\n  - { id: two, prompt: Two., when: { var: risk, equals: high } }\n  - { id: three, prompt: Three. }\n",
    );
    let mut play = Play::of(&text, &json!({}));
    play.answer(&json!({ "notes": "done" })).unwrap();
    assert_eq!(play.at(), "three");
    let why = play.why();
    assert!(
        why[0].starts_with("two skipped: ") && why[0].contains("low") && why[0].contains("high"),
        "{why:?}"
    );
    assert_eq!(why[1], "three taken: ");
}

#[test]
fn a_skipped_step_does_not_come_back() {
    let text = head(
        "steps:\n  - { id: one, prompt: One., when: { var: risk, equals: high } }\n  - { id: two, prompt: Two. }\n  - { id: three, prompt: Three. }\n",
    );
    let mut play = Play::of(&text, &json!({}));
    play.answer(&json!({ "notes": "x", "vars": { "risk": "high" } })).unwrap();
    assert_eq!(play.go(), ["three", "completed"]);
}

#[test]
fn a_jump_is_taken_as_often_as_it_may() {
    let text = head(
        "steps:\n  - { id: one, prompt: One. }\n  - { id: two, prompt: Two., jumpIf: { when: { var: risk, equals: low }, to: one, maxJumps: 2 } }\n  - { id: three, prompt: Three. }\n",
    );
    let mut play = Play::of(&text, &json!({}));
    assert_eq!(play.go(), ["one", "two", "one", "two", "one", "two", "three", "completed"]);
}

#[test]
fn a_refused_answer_hands_the_step_out_again_until_attempts_are_used_up() {
    let mut play = Play::of(&head("steps:\n  - { id: one, prompt: One., attempts: 3 }\n"), &json!({}));
    for n in 0..3 {
        let before = play.session.handle().unwrap();
        let reasons = play.answer(&json!({ "notes": "  " })).unwrap_err();
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        if n < 2 {
            assert_ne!(play.session.handle().unwrap(), before, "a refusal gives a fresh handle");
        }
    }
    assert_eq!(play.at(), "parked:one");
}

#[test]
fn what_the_next_step_requires_is_asked_of_whoever_answers_before_it() {
    let text = head(
        "steps:\n  - { id: one, prompt: One., produces: {} }\n  - { id: two, prompt: Two., requires: [plan] }\n",
    )
    .replace("  n: ", "  plan: { type: string }\n  n: ");
    let mut play = Play::of(&text, &json!({}));
    let reasons = play.answer(&json!({ "notes": "x" })).unwrap_err();
    assert!(reasons[0].message.contains("`plan`") && reasons[0].message.contains("`two`"), "{reasons:?}");
    play.answer(&json!({ "notes": "x", "vars": { "plan": "p" } })).unwrap();
    assert_eq!(play.at(), "two");
}

#[test]
fn a_gate_stops_the_way_until_it_is_answered() {
    let text = head(
        "steps:\n  - { id: one, prompt: One. }\n  - { id: look, gate: { by: person, question: \"Ship {{goal}}?\" } }\n  - { id: two, prompt: Two. }\n",
    );
    let mut play = Play::of(&text, &json!({}));
    play.answer(&json!({ "notes": "x" })).unwrap();
    assert_eq!(play.at(), "gate:look");
    play.gate(Verdict::Approved);
    assert_eq!(play.at(), "two");

    let mut play = Play::of(&text, &json!({}));
    play.answer(&json!({ "notes": "x" })).unwrap();
    play.gate(Verdict::Rejected);
    assert_eq!(play.at(), "failed: rejected");
}

#[test]
fn a_coordinator_opens_its_gate_by_its_rules_or_leaves_it_to_a_person() {
    let text = head(
        "steps:\n  - { id: one, prompt: One. }\n  - { id: look, gate: { by: coordinator, accept: [ { when: { var: risk, equals: low } } ], else: person, question: \"Go?\" } }\n  - { id: two, prompt: Two. }\n",
    );
    for (risk, coordinator, end) in [
        ("low", Coordinator::Parent, "completed"),
        ("high", Coordinator::Parent, "gate:look"),
        // Nobody but the agent says that the risk is low.
        ("low", Coordinator::Nobody, "gate:look"),
    ] {
        let mut play = Play::of(&text, &json!({ "risk": risk }));
        play.coordinator = coordinator;
        assert_eq!(play.go().last().unwrap(), end);
    }
}

#[test]
fn a_confirmation_that_nobody_is_asked_for_is_no_open_gate() {
    let text = head(
        "steps:\n  - { id: one, prompt: One., confirm: { by: person, when: { var: risk, equals: high } } }\n  - { id: two, prompt: Two. }\n",
    );
    let mut play = Play::of(&text, &json!({}));
    play.answer(&json!({ "notes": "x" })).unwrap();
    assert_eq!(play.at(), "two");
    assert_eq!(play.why(), ["one not_asked: risk is \"low\", wanted \"high\"", "two taken: "]);

    let mut play = Play::of(&text, &json!({ "risk": "high" }));
    play.answer(&json!({ "notes": "x" })).unwrap();
    assert_eq!(play.at(), "gate:one");
}

#[test]
fn a_confirmation_comes_after_the_answer_and_before_the_next_step() {
    let text = head("steps:\n  - { id: one, prompt: One., confirm: true }\n  - { id: two, prompt: Two. }\n");
    let mut play = Play::of(&text, &json!({}));
    play.answer(&json!({ "notes": "x" })).unwrap();
    assert_eq!(play.at(), "gate:one");
    play.gate(Verdict::Rejected);
    assert_eq!(play.at(), "one", "what is not confirmed is asked again");
    assert!(play.prompt().contains("Not confirmed"), "{}", play.prompt());
    play.answer(&json!({ "notes": "better" })).unwrap();
    play.gate(Verdict::Approved);
    assert_eq!(play.at(), "two");
}

#[test]
fn work_is_the_engines_and_its_result_becomes_a_var() {
    let text = head(
        "steps:\n  - { id: test, run: { command: [make, test] }, into: checks }\n  - { id: fix, prompt: \"It {{checks.outcome}}.\", when: { var: checks.outcome, equals: failed } }\n  - { id: end, prompt: End. }\n",
    );
    let mut play = Play::of(&text, &json!({}));
    assert_eq!(play.at(), "work:test");
    play.work(&json!({ "outcome": "failed", "exit": 2 }));
    assert_eq!(play.at(), "fix");
    assert!(play.prompt().contains("It failed."), "{}", play.prompt());
    let mut play = Play::of(&text, &json!({}));
    play.work(&json!({ "outcome": "passed", "exit": 0 }));
    assert_eq!(play.at(), "end");
}

#[test]
fn work_that_fails_with_nobody_to_see_it_parks_the_session() {
    let text =
        head("steps:\n  - { id: test, run: { command: [make, test] } }\n  - { id: end, prompt: End. }\n");
    let mut play = Play::of(&text, &json!({}));
    play.work(&json!({ "outcome": "could_not_run" }));
    assert_eq!(play.at(), "parked:test");
}

#[test]
fn a_workflow_goes_on_with_what_was_delivered_or_is_stale_and_never_with_anything_else() {
    let steps = |into: &str| {
        head(&format!(
            "steps:\n  - {{ id: ship, deliver: {{ commit: auto, merge: by_policy }}{into} }}\n  - {{ id: end, prompt: End. }}\n"
        ))
    };
    for (into, outcome, code, at) in [
        (", into: shipped", "delivered", "", "end"),
        (", into: shipped", "stale", "", "end"),
        (", into: shipped", "refused", "", "parked:ship"),
        (", into: shipped", "refused", "review_required", "parked:ship"),
        (", into: shipped", "could_not", "", "parked:ship"),
        (", into: shipped", "something new", "", "parked:ship"),
        ("", "delivered", "", "end"),
        ("", "stale", "", "parked:ship"),
    ] {
        let mut play = Play::of(&steps(into), &json!({}));
        assert_eq!(play.at(), "work:ship");
        play.work(&json!({ "outcome": outcome, "because": "so", "code": code }));
        assert_eq!(play.at(), at, "{into} {outcome}");
        if let At::Parked(park) = &play.session.at {
            let known = match (outcome, code) {
                (_, "review_required") => "review_required",
                ("stale", _) => "delivery_stale",
                ("refused", _) => "delivery_refused",
                (_, _) => "delivery_could_not",
            };
            assert_eq!(park.code, known, "{outcome}");
        }
    }
}

#[test]
fn an_agent_cannot_set_what_a_merge_goes_by() {
    let text =
        head("steps:\n  - { id: one, prompt: One. }\n  - { id: ship, deliver: { merge: by_policy } }\n");
    let text = text.replace("  n: ", "  merge_rule: { type: object }\n  n: ");
    let mut play = Play::of(&text, &json!({}));
    for name in ["proof", "merge_rule"] {
        let forged = json!({ "notes": "x", "vars": { name: { "decision": "auto", "outcome": "passed" } } });
        assert!(play.answer(&forged).is_err(), "{name}");
    }
}

#[test]
fn a_text_that_would_grow_beyond_reading_is_refused() {
    let many = "{{plan}}".repeat(30);
    let text = head(&format!("steps:\n  - {{ id: one, prompt: One. }}\n  - {{ id: two, prompt: {{ goal: \"{many}\", procedure: [\"{many}\", \"{many}\", \"{many}\", \"{many}\"] }} }}\n"))
        .replace("  n: ", "  plan: { type: string }\n  n: ");
    let mut play = Play::of(&text, &json!({}));
    let plan = "x".repeat(200 * 1024);
    let reasons = play.answer(&json!({ "notes": "x", "vars": { "plan": plan } })).unwrap_err();
    assert_eq!(reasons[0].code, "prompt_too_large");
    play.answer(&json!({ "notes": "x", "vars": { "plan": "short" } })).unwrap();
    assert_eq!(play.at(), "two");
}

#[test]
fn an_agent_cannot_set_what_the_engine_sets() {
    let text = head(
        "steps:\n  - { id: one, prompt: One. }\n  - { id: test, run: { command: [make] }, into: checks }\n",
    );
    let mut play = Play::of(&text, &json!({}));
    let forged = json!({ "notes": "x", "vars": { "checks": { "outcome": "passed" } } });
    assert!(play.answer(&forged).is_err());
}
