//! What happened in, a script out that does it again.

use longhaul_events::{
    Account, AgentAct, AgentCall, CallOrder, CallOutcome, Content, NodeId, Seq, StepId, TokenCount, TurnFault,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::budget::{Price, Pricing};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "no",
            "~",
            "1e3",
            "0x1f",
            "- a",
            "a: b",
            "#",
            "2026-01-01",
            "<<",
            "&a",
            "*a"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            fields(inner.boxed()).prop_map(Value::Object),
        ]
    })
}

fn fields(value: BoxedStrategy<Value>) -> impl Strategy<Value = Map<String, Value>> {
    let name = prop_oneof![any::<String>(), Just("<<".to_owned()), "[a-z]{1,6}"];
    btree_map(name, value, 0..4).prop_map(|fields| fields.into_iter().collect())
}

fn arguments() -> impl Strategy<Value = Map<String, Value>> {
    fields(value().boxed()).prop_map(|mut fields| {
        fields.shift_remove("expect_exit");
        fields
    })
}

fn act() -> impl Strategy<Value = Act> {
    let call = (any::<String>(), arguments(), option::of(any::<i32>()))
        .prop_map(|(tool, arguments, expect_exit)| ScriptedCall { tool, arguments, expect_exit });
    let order = prop_oneof![Just(Order::OneByOne), Just(Order::AtOnce)];
    let failure = prop::sample::select(vec![
        Failure::RateLimit,
        Failure::Overloaded,
        Failure::UsageLimit,
        Failure::Auth,
    ]);
    prop_oneof![
        (vec(call, 0..4), order).prop_map(|(calls, order)| Act::Tools { calls, order }),
        fields(value().boxed()).prop_map(Act::Complete),
        (0u64..100_000_000).prop_map(|ms| Act::Fault(Fault::Stall { ms })),
        Just(Act::Fault(Fault::CutStream)),
        Just(Act::Fault(Fault::Garbage)),
        (1u32..9).prop_map(|times| Act::Fault(Fault::Repeat { times })),
        failure.prop_map(|failure| Act::Fault(Fault::Error(failure))),
        Just(Act::Nothing),
    ]
}

fn turn() -> impl Strategy<Value = Scripted> {
    let when = (option::of(any::<String>()), option::of(any::<String>()), option::of(1..99u32))
        .prop_map(|(workflow, step, visit)| When { workflow, step, visit });
    let usage = (any::<u64>(), any::<u64>()).prop_map(|(input, output)| Usage { input, output });
    (when, any::<String>(), usage, act(), any::<bool>()).prop_map(|(when, say, usage, act, optional)| {
        let say = if act == Act::Nothing && say.is_empty() { "…".to_owned() } else { say };
        Scripted { when, say, usage, act, optional }
    })
}

fn pricing() -> impl Strategy<Value = Pricing> {
    let micros = 0..10_000_000_000_u64;
    let known = (micros.clone(), micros)
        .prop_map(|(input_micros, output_micros)| Price { input_micros, output_micros });
    option::of(known).prop_map(|known| known.map_or(Pricing::Unknown, Pricing::Known))
}

proptest! {
    #[test]
    fn what_is_written_reads_back_as_it_was(
        window in any::<u64>(),
        pricing in pricing(),
        max_output in option::of(any::<u64>()),
        turns in vec(turn(), 0..6),
    ) {
        let cassette = Cassette { window, pricing, max_output, turns };
        let text = write(&cassette);
        let read = parse("written.yml", &text);
        prop_assert_eq!(read.as_ref(), Ok(&cassette), "{}", text);
    }
}

fn node(number: u64) -> NodeId {
    NodeId(Seq(number))
}

fn answered(turn: u32, say: &str, calls: &[(&str, Value)]) -> AgentAct {
    let call = |(tool, arguments): &(&str, Value)| AgentCall {
        tool: (*tool).to_owned(),
        arguments: Content::Inline(arguments.clone()),
        expect_exit: None,
    };
    AgentAct::Answered {
        turn,
        said: Content::Inline(json!(say)),
        calls: calls.iter().map(call).collect(),
        order: CallOrder::OneByOne,
        usage: TokenCount { input: 7, output: 2 },
        ms: 1,
        cost_micros: 0,
        account: Account::Turn,
    }
}

fn finished(turn: u32, call: u32, outcome: CallOutcome, exit: Option<i32>) -> AgentAct {
    let (tool, result) = (String::new(), Content::Inline(Value::Null));
    AgentAct::CallFinished { turn, call, tool, outcome, exit, result, ms: 1 }
}

fn failed(turn: u32, fault: TurnFault) -> AgentAct {
    AgentAct::Failed { turn, fault, message: String::new(), ms: 40, retry_after_ms: None, resets_at: None }
}

fn recorded(acts: &[(u64, AgentAct)]) -> Recorded {
    let mut recording = Recording::of("team.fix");
    for (number, act) in acts {
        if !recording.knows(node(*number)) {
            recording.hand_out(node(*number), &StepId("fix".to_owned()));
        }
        recording.take(node(*number), act);
    }
    recording.finish(None)
}

#[test]
fn turns_calls_faults_and_visits_become_a_script() {
    let bash = json!({ "command": "false" });
    let recorded = recorded(&[
        (3, failed(1, TurnFault::RateLimit)),
        (3, failed(1, TurnFault::Stalled)),
        (3, answered(1, "I try.", &[("read", json!({ "path": "a" })), ("bash", bash)])),
        (3, finished(1, 0, CallOutcome::Refused, None)),
        (3, finished(1, 1, CallOutcome::Done, Some(1))),
        (3, answered(2, "", &[])),
        (3, answered(3, "", &[("complete_step", json!({ "notes": "no: \"yes\"" }))])),
        (9, answered(1, "Once more.", &[])),
    ]);
    insta::assert_snapshot!(write(&recorded.cassette), @r#"
    cassette: 1
    window: 200000
    turns:
      - match: { workflow: "team.fix", step: "fix", visit: 1 }
        fault: { error: rate_limit }
      - match: { workflow: "team.fix", step: "fix", visit: 1 }
        fault: { kind: stall, for: "40ms" }
      - match: { workflow: "team.fix", step: "fix", visit: 1 }
        say: "I try."
        usage: { input: 7, output: 2 }
        tools:
          - "read": { "path": "a" }
          - "bash": { "command": "false", "expect_exit": 1 }
      - match: { workflow: "team.fix", step: "fix", visit: 1 }
        usage: { input: 7, output: 2 }
        tools: []
      - match: { workflow: "team.fix", step: "fix", visit: 1 }
        usage: { input: 7, output: 2 }
        complete: { "notes": "no: \"yes\"" }
      - match: { workflow: "team.fix", step: "fix", visit: 2 }
        say: "Once more."
        usage: { input: 7, output: 2 }
    otherwise: fail
    "#);
    assert_eq!(parse("run.yml", &write(&recorded.cassette)).as_ref(), Ok(&recorded.cassette));
    assert!(recorded.remarks.is_empty());
}

#[test]
fn a_call_that_was_interrupted_and_made_again_stands_there_once() {
    let add = json!({ "command": "echo a >> b" });
    let again = recorded(&[
        (3, answered(1, "I add.", &[("bash", add.clone()), ("read", json!({ "path": "b" }))])),
        (3, finished(1, 0, CallOutcome::Interrupted, None)),
        (3, finished(1, 1, CallOutcome::Done, None)),
        (3, answered(2, "Trying again.", &[("bash", add.clone())])),
        (3, finished(2, 0, CallOutcome::Done, Some(0))),
        (3, answered(3, "", &[("complete_step", json!({}))])),
    ]);
    let [first, last] = again.cassette.turns.as_slice() else { panic!("{:?}", again.cassette.turns) };
    let Act::Tools { calls, .. } = &first.act else { panic!("{first:?}") };
    assert_eq!(calls.iter().map(|call| call.expect_exit).collect::<Vec<_>>(), [Some(0), None]);
    assert!(matches!(last.act, Act::Complete(_)));
    let alone = recorded(&[
        (3, answered(1, "I add.", &[("bash", add)])),
        (3, finished(1, 0, CallOutcome::Interrupted, None)),
    ]);
    assert_eq!(alone.cassette.turns.len(), 1, "what is not made again stays");
    assert_eq!(alone.remarks, ["nobody knows how far a call of `bash` came; it is made"]);
}
