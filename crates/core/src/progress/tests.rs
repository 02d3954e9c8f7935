//! A history in, how far it is out.

use longhaul_events::{
    AgentCall, CallOrder, CallOutcome, Content, Digest, Nonce, Place, Reason, Seq, TokenCount,
};
use serde_json::{Value, json};

use super::*;
use crate::walk::tests::play::compiled;

fn node(number: u64) -> NodeId {
    NodeId(Seq(number))
}

fn handed_out(number: u64, step: &str) -> SessionEvent {
    SessionEvent::StepHandedOut {
        node: node(number),
        after: None,
        step: StepId(step.to_owned()),
        prompt: Content::Inline(Value::Null),
        nonce: Nonce::from_bytes([7; 5]),
        place: Place::default(),
    }
}

fn finished(number: u64) -> SessionEvent {
    SessionEvent::StepFinished {
        node: node(number),
        nonce: Nonce::from_bytes([7; 5]),
        payload: Content::Inline(json!({})),
        payload_hash: Digest::ZERO,
        answer: Content::Inline(json!({})),
        epoch: None,
    }
}

fn act(number: u64, act: AgentAct) -> SessionEvent {
    SessionEvent::Agent { node: Some(node(number)), act }
}

fn answered(turn: u32, tools: &[&str]) -> AgentAct {
    let call = |tool: &&str| AgentCall {
        tool: (*tool).to_owned(),
        arguments: Content::Inline(json!({})),
        expect_exit: None,
        id: None,
    };
    serde_json::from_value(json!({
        "act": "answered",
        "turn": turn,
        "said": { "inline": "so" },
        "calls": tools.iter().map(call).collect::<Vec<_>>(),
        "order": CallOrder::OneByOne,
        "usage": { "input": 100, "output": 7 },
        "ms": 3,
    }))
    .unwrap()
}

fn call_finished(turn: u32, call: u32) -> AgentAct {
    let (tool, result) = (String::new(), Content::Inline(Value::Null));
    AgentAct::CallFinished { turn, call, tool, outcome: CallOutcome::Done, exit: None, result, ms: 1 }
}

/// Two steps are known of; each event comes a second after the one before.
fn progress(events: &[SessionEvent]) -> Progress {
    progress_of(
        "longhaul: 1\nid: t.two\nname: T\nversion: 1.0.0\nsteps:\n  - { id: look, prompt: A }\n  - { id: change, prompt: B }\n",
        events,
    )
}

fn progress_of(workflow: &str, events: &[SessionEvent]) -> Progress {
    let mut progress = Progress::of(&compiled(workflow));
    for (second, event) in (0..).zip(events) {
        progress.apply(Timestamp(second * 1000), event);
    }
    progress
}

fn states(progress: &Progress) -> Vec<StepState> {
    progress.steps.iter().map(|step| step.state).collect()
}

#[test]
fn steps_turns_calls_and_tokens_are_counted_as_they_come() {
    let mut history = vec![handed_out(2, "look")];
    assert_eq!(progress(&history).now, Now::Thinking { turn: 1 });
    history.push(act(2, answered(1, &["read", "grep"])));
    history.push(act(2, AgentAct::CallStarted { turn: 1, call: 1 }));
    let calling = progress(&history);
    assert_eq!(calling.now, Now::Calling { turn: 1, tool: "grep".to_owned() });
    assert_eq!((calling.steps[0].calls, calling.steps[0].calls_done), (2, 0));
    history.push(act(2, call_finished(1, 1)));
    assert_eq!(progress(&history).steps[0].calls_done, 1);
    history.extend([finished(2), handed_out(9, "change")]);
    let later = progress(&history);
    assert_eq!(states(&later), [StepState::Done, StepState::AtWork]);
    assert_eq!(later.tally, Tally { done: 1, total: 2 });
    assert_eq!(later.steps[0].spent_ms, 4000);
    assert_eq!((later.spent.turns, later.spent.tokens), (1, TokenCount { input: 100, output: 7 }));
    history.extend([finished(9), SessionEvent::Closed { outcome: CloseOutcome::Completed }]);
    assert_eq!(progress(&history).now, Now::Over { outcome: CloseOutcome::Completed });
    assert_eq!(progress(&history).tally, Tally { done: 2, total: 2 });
}

#[test]
fn what_waits_for_a_person_says_so_and_goes_on_where_it_stood() {
    let parked = SessionEvent::Parked {
        node: node(5),
        after: Some(node(2)),
        step: StepId("look".to_owned()),
        reasons: vec![Reason::new("stuck", "it only talks", "say something")],
        place: Place::default(),
        waits: None,
    };
    let mut history = vec![handed_out(2, "look"), act(2, answered(1, &[])), parked];
    let waiting = progress(&history);
    assert_eq!(states(&waiting), [StepState::Waits, StepState::Ahead]);
    assert_eq!(waiting.now, Now::Parked { because: "it only talks".to_owned() });
    let (step, by) = (StepId("look".to_owned()), "ada".to_owned());
    history.push(SessionEvent::Unparked { node: node(2), nonce: Nonce::from_bytes([8; 5]), step, by });
    let again = progress(&history);
    assert_eq!((states(&again)[0], again.now), (StepState::AtWork, Now::Thinking { turn: 2 }));
    history.push(finished(2));
    assert_eq!(progress(&history).steps[0].spent_ms, 3000, "two seconds before it was parked, one after");
}

#[test]
fn time_at_a_gate_is_nobodys_work_and_what_was_done_before_a_rewind_counts() {
    let step = StepId("look".to_owned());
    let opened = SessionEvent::GateOpened {
        gate: node(2),
        after: None,
        step: step.clone(),
        kind: longhaul_events::GateKind::Gate,
        question: Content::Inline(json!("Go on?")),
        accepts: longhaul_events::Channel::Client,
        until: Timestamp(99_000),
        place: Place::default(),
    };
    let approved = SessionEvent::GateAnswered {
        gate: node(2),
        verdict: longhaul_events::Verdict::Approved,
        by: "ada".to_owned(),
        channel: longhaul_events::Channel::Client,
        words: Content::Inline(json!("")),
    };
    assert_eq!(progress(&[opened, approved]).steps[0].spent_ms, 0);
    let (reason, by) = (Content::Inline(json!("wrong file")), "ada".to_owned());
    let rewound = SessionEvent::Rewound { to: node(2), reason, by, restore: None };
    let back = progress(&[handed_out(2, "look"), act(2, answered(1, &[])), rewound]);
    assert_eq!((back.steps[0].state, back.steps[0].spent_ms), (StepState::Ahead, 2000));
}

#[test]
fn a_step_that_no_workflow_has_is_shown_too() {
    let follow_up = progress(&[handed_out(2, "follow-up-1")]);
    assert_eq!(follow_up.steps.len(), 3);
    assert_eq!(follow_up.steps[2].state, StepState::AtWork);
    assert_eq!(follow_up.tally, Tally { done: 2, total: 3 });
}

#[test]
fn a_step_that_the_way_led_past_is_skipped_and_counts_as_behind() {
    let workflow = "longhaul: 1\nid: t.past\nname: T\nversion: 1.0.0\nvars:\n  goal: { type: string }\nsteps:\n\
         \x20 - { id: look, prompt: A }\n\
         \x20 - { id: perhaps, when: { var: goal, equals: x }, prompt: B }\n\
         \x20 - { id: asked, when: { var: goal, equals: x }, gate: { by: person, question: Q } }\n\
         \x20 - { id: change, prompt: C }\n\
         \x20 - { id: last, when: { var: goal, equals: x }, prompt: D }\n";
    let mut history = vec![handed_out(2, "look"), finished(2), handed_out(5, "change")];
    let on_the_way = progress_of(workflow, &history);
    assert_eq!(
        states(&on_the_way),
        [StepState::Done, StepState::Skipped, StepState::Skipped, StepState::AtWork, StepState::Ahead]
    );
    assert_eq!(on_the_way.tally, Tally { done: 2, total: 4 });
    history.extend([finished(5), SessionEvent::Closed { outcome: CloseOutcome::Completed }]);
    let over = progress_of(workflow, &history);
    assert_eq!((states(&over)[4], over.tally), (StepState::Skipped, Tally { done: 4, total: 4 }));
}

#[test]
fn a_decision_is_done_when_it_is_made_and_what_it_led_past_is_skipped() {
    let workflow = "longhaul: 1\nid: t.decides\nname: T\nversion: 1.0.0\nsteps:\n\
        \x20 - { id: perhaps, when: { var: goal, equals: x }, gate: { by: person, question: Q } }\n\
        \x20 - { id: route, decide: { policy: routing, with: { classification: x }, into: route } }\n\
        \x20 - { id: last, prompt: Go }\n";
    let decided = SessionEvent::Decided {
        step: StepId("route".to_owned()),
        policy: "routing".to_owned(),
        given: Content::Inline(json!({})),
        decision: "phases".to_owned(),
        because: "it is small".to_owned(),
    };
    let after = progress_of(workflow, &[decided]);
    assert_eq!(states(&after), [StepState::Skipped, StepState::Done, StepState::Ahead]);
}
