//! Acts in, the next thing to do out.

use longhaul_events::{Account, Held, Taint, Timestamp};
use serde_json::json;

use super::*;

fn call(tool: &str) -> AgentCall {
    AgentCall { tool: tool.to_owned(), arguments: Content::Inline(json!({})), expect_exit: None, id: None }
}

fn answered(turn: u32, tools: &[&str]) -> AgentAct {
    AgentAct::Answered {
        turn,
        said: Content::Inline(json!("so")),
        calls: tools.iter().map(|tool| call(tool)).collect(),
        order: CallOrder::OneByOne,
        usage: TokenCount { input: 10, output: 1 },
        ms: 1,
        cost_micros: 0,
        account: Account::Turn,
        echo: None,
    }
}

fn started(turn: u32, call: u32) -> AgentAct {
    AgentAct::CallStarted { turn, call }
}

fn finished(turn: u32, call: u32) -> AgentAct {
    let result = Content::Inline(json!("done"));
    AgentAct::CallFinished {
        turn,
        call,
        tool: "read".into(),
        outcome: CallOutcome::Done,
        exit: None,
        result,
        ms: 1,
    }
}

fn failed(turn: u32, fault: TurnFault) -> AgentAct {
    AgentAct::Failed { turn, fault, message: String::new(), ms: 1, retry_after_ms: None, resets_at: None }
}

fn nudged(turn: u32) -> AgentAct {
    AgentAct::Nudged { turn, words: String::new() }
}

fn next(acts: &[AgentAct]) -> Next {
    Conversation::fold(acts).next()
}

const fn ask(turn: u32) -> Next {
    Next::Ask { turn, pause_ms: 0 }
}

#[test]
fn a_turn_leads_to_its_calls_one_by_one_and_then_to_the_next() {
    let mut acts = Vec::new();
    assert_eq!(next(&acts), ask(1));
    acts.push(answered(1, &["read", "edit"]));
    assert_eq!(next(&acts), Next::Call { turn: 1, calls: vec![0] });
    acts.extend([started(1, 0), finished(1, 0)]);
    assert_eq!(next(&acts), Next::Call { turn: 1, calls: vec![1] });
    acts.extend([started(1, 1), finished(1, 1)]);
    assert_eq!(next(&acts), ask(2));
    assert_eq!(Conversation::fold(&acts).usage, TokenCount { input: 10, output: 1 });
}

#[test]
fn calls_that_belong_together_are_made_at_once() {
    let AgentAct::Answered { turn, said, calls, usage, ms, .. } = answered(1, &["read", "grep"]) else {
        unreachable!()
    };
    let acts = [AgentAct::Answered {
        turn,
        said,
        calls,
        order: CallOrder::AtOnce,
        usage,
        ms,
        cost_micros: 0,
        account: Account::Turn,
        echo: None,
    }];
    assert_eq!(next(&acts), Next::Call { turn: 1, calls: vec![0, 1] });
}

#[test]
fn a_call_that_had_begun_is_not_made_again() {
    let mut acts = vec![answered(1, &["bash", "read"]), started(1, 0)];
    assert_eq!(next(&acts), Next::Interrupted { turn: 1, call: 0 });
    let result = Content::Inline(json!("interrupted"));
    acts.push(AgentAct::CallFinished {
        turn: 1,
        call: 0,
        tool: "bash".into(),
        outcome: CallOutcome::Interrupted,
        exit: None,
        result,
        ms: 0,
    });
    assert_eq!(next(&acts), Next::Call { turn: 1, calls: vec![1] });
}

#[test]
fn an_agent_that_only_talks_is_told_so_twice_and_then_stopped() {
    let mut acts = vec![answered(1, &[])];
    for turn in 2..4 {
        assert!(matches!(next(&acts), Next::Nudge { words: NUDGE, .. }), "{turn}");
        acts.push(nudged(turn));
        assert_eq!(next(&acts), ask(turn));
        acts.push(answered(turn, &[]));
    }
    assert_eq!(next(&acts), Next::Stop(Stop::Stuck(Stuck::OnlyTalks)));
    acts.push(AgentAct::Steered { words: Content::Inline(json!("try the other file")), by: "ada".into() });
    assert_eq!(next(&acts), ask(4), "a person set it right");
}

#[test]
fn what_an_agent_was_told_is_there_until_its_next_answer() {
    let mut acts = vec![answered(1, &[])];
    acts.push(AgentAct::Nudged { turn: 2, words: "go on".into() });
    acts.push(AgentAct::Steered { words: Content::Inline(json!("the other file")), by: "ada".into() });
    let told = [Content::Inline(json!("go on")), Content::Inline(json!("the other file"))];
    assert_eq!(Conversation::fold(&acts).told(), told);
    acts.push(answered(2, &["read"]));
    assert!(Conversation::fold(&acts).told().is_empty());
}

#[test]
fn the_same_call_again_and_again_gets_a_hint_and_then_an_end() {
    let mut acts = Vec::new();
    for turn in 1..=3 {
        assert_eq!(next(&acts), ask(turn));
        acts.extend([answered(turn, &["read"]), started(turn, 0), finished(turn, 0)]);
    }
    assert!(matches!(next(&acts), Next::Nudge { words: HINT, .. }));
    acts.push(nudged(4));
    assert_eq!(next(&acts), ask(4));
    let mut other = acts.clone();
    other.extend([answered(4, &["grep"]), started(4, 0), finished(4, 0)]);
    assert_eq!(next(&other), ask(5), "it does something else");
    for turn in 4..=5 {
        acts.extend([answered(turn, &["read"]), started(turn, 0), finished(turn, 0), nudged(turn + 1)]);
    }
    assert_eq!(next(&acts), Next::Stop(Stop::Stuck(Stuck::SameCall)));
}

#[test]
fn the_same_call_is_the_same_whatever_a_provider_calls_it() {
    let mut acts = Vec::new();
    for turn in 1..=3 {
        let mut answer = answered(turn, &["read"]);
        if let AgentAct::Answered { calls, .. } = &mut answer {
            calls[0].id = Some(format!("toolu_{turn}"));
        }
        acts.extend([answer, started(turn, 0), finished(turn, 0)]);
    }
    assert!(matches!(next(&acts), Next::Nudge { words: HINT, .. }));
}

#[test]
fn a_turn_without_an_answer_is_asked_again_with_patience_where_that_helps() {
    let mut acts = Vec::new();
    for (failures, pause_ms) in [(1, 2_000), (2, 4_000), (3, 8_000), (4, 16_000)] {
        acts.push(failed(1, TurnFault::Overloaded));
        assert_eq!(next(&acts), Next::Ask { turn: 1, pause_ms }, "{failures}");
    }
    acts.push(failed(1, TurnFault::Overloaded));
    assert_eq!(next(&acts), Next::Stop(Stop::NoAnswer(TurnFault::Overloaded)));
    assert_eq!(next(&[failed(1, TurnFault::Auth)]), Next::Stop(Stop::NoAnswer(TurnFault::Auth)));
    assert_eq!(
        next(&[failed(1, TurnFault::CutOff), answered(1, &["read"])]),
        Next::Call { turn: 1, calls: vec![0] }
    );
}

#[test]
fn a_command_that_ends_otherwise_than_its_script_says_is_an_end() {
    let mut expecting = call("bash");
    expecting.expect_exit = Some(0);
    let AgentAct::Answered { turn, said, order, usage, ms, .. } = answered(1, &[]) else { unreachable!() };
    let first = AgentAct::Answered {
        turn,
        said,
        calls: vec![expecting],
        order,
        usage,
        ms,
        cost_micros: 0,
        account: Account::Turn,
        echo: None,
    };
    let ended = |outcome, exit| AgentAct::CallFinished {
        turn: 1,
        call: 0,
        tool: "bash".into(),
        outcome,
        exit,
        result: Content::Inline(json!("x")),
        ms: 1,
    };
    let after = |act| next(&[first.clone(), started(1, 0), act]);
    let unexpected = Unexpected { turn: 1, call: 0, expected: 0, exit: Some(1) };
    assert_eq!(after(ended(CallOutcome::Done, Some(1))), Next::Stop(Stop::Unexpected(unexpected)));
    assert_eq!(after(ended(CallOutcome::Done, Some(0))), ask(2));
    assert_eq!(after(ended(CallOutcome::Interrupted, None)), ask(2), "the agent asks for it again");
}

fn left_alone(retry_after_ms: u64) -> AgentAct {
    let (message, resets_at) = (String::new(), Some(Timestamp(1)));
    let retry_after_ms = Some(retry_after_ms);
    AgentAct::Failed { turn: 1, fault: TurnFault::RateLimit, message, ms: 1, retry_after_ms, resets_at }
}

#[test]
fn who_asks_to_be_left_alone_is_left_alone_for_that_long() {
    assert_eq!(next(&[failed(1, TurnFault::RateLimit)]), Next::Ask { turn: 1, pause_ms: 2_000 });
    assert_eq!(next(&[left_alone(7_000)]), Next::Ask { turn: 1, pause_ms: 7_000 });
}

#[test]
fn what_would_fail_again_is_not_asked_again_and_what_may_pass_is() {
    for fault in [TurnFault::BadRequest, TurnFault::OverCap, TurnFault::Auth] {
        assert_eq!(next(&[failed(1, fault)]), Next::Stop(Stop::NoAnswer(fault)));
    }
    assert_eq!(next(&[failed(1, TurnFault::Network)]), Next::Ask { turn: 1, pause_ms: 2_000 });
    let overflows = [(); 3].map(|()| failed(1, TurnFault::ContextOverflow));
    assert_eq!((next(&overflows[..1]), next(&overflows[..2])), (ask(1), ask(1)), "it is told less");
    assert_eq!(next(&overflows), Next::Stop(Stop::NoAnswer(TurnFault::ContextOverflow)));
    let settings = Content::Inline(json!({}));
    let another =
        AgentAct::Assigned { agent: "another".to_owned(), settings, because: None, taint: Taint::Clean };
    assert_eq!(next(&[failed(1, TurnFault::Auth), another]), ask(1));
}

#[test]
fn what_is_only_counted_changes_nothing() {
    let requested = AgentAct::Requested { request: 1, held: Held::default(), bytes: 0 };
    assert_eq!(next(&[answered(1, &["read"]), requested]), Next::Call { turn: 1, calls: vec![0] });
}
