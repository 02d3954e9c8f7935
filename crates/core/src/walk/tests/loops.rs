//! Loops of every kind, nested and with jumps.

use longhaul_events::SessionEvent;
use serde_json::json;

use super::play::Play;

fn head(rest: &str) -> String {
    format!(
        "longhaul: 1\nid: test.walk\nname: Test\nversion: 1.0.0\nvars:\n  goal: {{ type: string }}\n  done: {{ type: boolean, default: false }}\n  list: {{ type: array }}\n{rest}"
    )
}

fn exhausted(play: &Play) -> usize {
    play.events.iter().filter(|event| matches!(event, SessionEvent::LoopExhausted { .. })).count()
}

#[test]
fn a_while_loop_is_judged_at_its_boundaries_only() {
    let text = head(
        "steps:\n  - id: rounds\n    loop: { while: { var: done, equals: false }, max: 5 }\n    steps: [ { id: one, prompt: One. }, { id: two, prompt: Two. } ]\n  - { id: end, prompt: End. }\n",
    );
    let mut play = Play::of(&text, &json!({}));
    play.answer(&json!({ "notes": "x", "vars": { "done": true } })).unwrap();
    assert_eq!(play.at(), "two", "the rest of the body is done");
    play.answer(&json!({ "notes": "x" })).unwrap();
    assert_eq!(play.at(), "end");
}

#[test]
fn a_loop_goes_on_at_its_bound_and_says_so() {
    let text = head(
        "steps:\n  - id: rounds\n    loop: { while: { var: done, equals: false }, max: 3, on_max: continue }\n    steps: [ { id: one, prompt: One. } ]\n  - { id: end, prompt: End. }\n",
    );
    let mut play = Play::of(&text, &json!({}));
    assert_eq!(play.go(), ["one", "one", "one", "end", "completed"]);
    assert_eq!(exhausted(&play), 1);
}

#[test]
fn a_loop_parks_or_fails_at_its_bound_if_it_says_so() {
    for (on_max, end) in [("park", "parked:rounds"), ("fail", "failed: ")] {
        let text = head(&format!(
            "steps:\n  - id: rounds\n    loop: {{ until: {{ var: done }}, max: 2, on_max: {on_max} }}\n    steps: [ {{ id: one, prompt: One. }} ]\n",
        ));
        let mut play = Play::of(&text, &json!({}));
        let seen = play.go();
        assert!(seen.last().unwrap().starts_with(end), "{seen:?}");
    }
}

#[test]
fn a_for_each_loop_shows_each_item_and_its_count() {
    let text = head(
        "steps:\n  - id: each\n    loop: { forEach: list, as: slice }\n    steps: [ { id: one, prompt: \"Do {{slice.title}}.\" } ]\n  - { id: end, prompt: End. }\n",
    );
    let mut play = Play::of(&text, &json!({ "list": [{ "title": "a" }, { "title": "b" }] }));
    assert!(play.prompt().contains("Do a.") && play.prompt().contains("1 of 2"), "{}", play.prompt());
    play.answer(&json!({ "notes": "x", "vars": { "list": [] } })).unwrap();
    assert!(play.prompt().contains("Do b."), "the list is the one of the entry: {}", play.prompt());
    assert_eq!(play.go(), ["one", "end", "completed"]);
}

#[test]
fn an_empty_list_is_done_at_once() {
    let text = head(
        "steps:\n  - id: each\n    loop: { forEach: list }\n    steps: [ { id: one, prompt: One. } ]\n  - { id: end, prompt: End. }\n",
    );
    assert_eq!(Play::of(&text, &json!({ "list": [] })).go(), ["end", "completed"]);
}

#[test]
fn a_list_that_is_missing_or_too_long_is_refused_at_the_entry() {
    let text = head(
        "steps:\n  - { id: make, prompt: Make. }\n  - id: each\n    loop: { forEach: list, max: 2 }\n    steps: [ { id: one, prompt: One. } ]\n",
    );
    let mut play = Play::of(&text, &json!({}));
    let reasons = play.answer(&json!({ "notes": "x" })).unwrap_err();
    assert_eq!(reasons[0].code, "list_expected");
    let reasons = play.answer(&json!({ "notes": "x", "vars": { "list": [1, 2, 3] } })).unwrap_err();
    assert_eq!(reasons[0].code, "list_too_long");
    play.answer(&json!({ "notes": "x", "vars": { "list": [1, 2] } })).unwrap();
    assert_eq!(play.go(), ["one", "one", "completed"]);
}

#[test]
fn nested_loops_keep_their_own_counts() {
    let text = head(
        "steps:\n  - id: outer\n    loop: { for: 2 }\n    steps:\n      - { id: a, prompt: A. }\n      - id: inner\n        loop: { for: 2 }\n        steps: [ { id: b, prompt: B. } ]\n",
    );
    assert_eq!(Play::of(&text, &json!({})).go(), ["a", "b", "b", "a", "b", "b", "completed"]);
}

#[test]
fn jumps_count_anew_in_each_iteration_and_never_when_they_leave_the_loop() {
    let text = head(
        "steps:\n  - id: outer\n    loop: { for: 2 }\n    steps:\n      - { id: a, prompt: A. }\n      - { id: b, prompt: B., jumpIf: { when: { var: done, equals: false }, to: a, maxJumps: 1 } }\n",
    );
    assert_eq!(Play::of(&text, &json!({})).go(), ["a", "b", "a", "b", "a", "b", "a", "b", "completed"]);
    let text = head(
        "steps:\n  - { id: first, prompt: First. }\n  - id: outer\n    loop: { for: 2 }\n    steps:\n      - { id: b, prompt: B., jumpIf: { when: { var: done, equals: false }, to: first, maxJumps: 1 } }\n",
    );
    assert_eq!(
        Play::of(&text, &json!({})).go(),
        ["first", "b", "first", "b", "b", "completed"],
        "a way out of the loop and back in must not count anew"
    );
}

#[test]
fn a_control_artifact_ends_the_loop_at_the_boundary() {
    let text = head(
        "steps:\n  - id: rounds\n    loop: { control: artifact, max: 5 }\n    steps: [ { id: one, prompt: One., output: loop_control }, { id: two, prompt: Two. } ]\n  - { id: end, prompt: End. }\n",
    );
    let mut play = Play::of(&text, &json!({}));
    let kind = play.workflow.contracts["loop_control"].kind.clone().unwrap();
    let say = |decision: &str| json!({ "notes": "x", "artifacts": [{ "kind": kind, "decision": decision }] });
    play.answer(&say("continue")).unwrap();
    play.answer(&json!({ "notes": "x" })).unwrap();
    assert_eq!(play.at(), "one");
    play.answer(&say("stop")).unwrap();
    assert_eq!(play.at(), "two");
    play.answer(&json!({ "notes": "x" })).unwrap();
    assert_eq!(play.at(), "end");
}

#[test]
fn an_iteration_without_anything_to_do_does_not_go_round_for_ever() {
    let text = head(
        "steps:\n  - id: rounds\n    loop: { while: { var: done, equals: false }, max: 1000000, on_max: continue }\n    steps: [ { id: one, prompt: One., when: { var: done } } ]\n  - { id: end, prompt: End. }\n",
    );
    let mut play = Play::of(&text, &json!({}));
    assert_eq!(play.go(), ["end", "completed"]);
    assert_eq!(exhausted(&play), 1);
}

#[test]
fn a_todo_list_shows_how_far_it_is() {
    let text = head(
        "steps:\n  - id: items\n    todo: list\n    steps: [ { id: do, prompt: \"{{item.title}}: {{item.detail}}\" } ]\n",
    );
    let list = json!([{ "title": "a", "detail": "x" }, { "title": "b", "detail": "y" }]);
    let mut play = Play::of(&text, &json!({ "list": list }));
    assert!(play.prompt().contains("a: x") && play.prompt().contains("1 of 2"), "{}", play.prompt());
    assert_eq!(play.go(), ["do", "do", "completed"]);
}
