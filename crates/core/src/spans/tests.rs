//! A session in, spans out; and what is sent is read back with the messages that OpenTelemetry publishes.

mod sent;

use longhaul_events::{
    Account, AgentAct, AgentCall, CallOrder, CallOutcome, CloseOutcome, Content, Digest, Epoch, GateKind,
    Held, ModelUsage, NodeId, Nonce, Place, Reason, SessionKey, StepId, Taint, TokenCount, TurnFault,
    Verdict,
};
use proptest::prelude::*;
use serde_json::json;

use super::*;

const SESSION: SessionId = SessionId::from_bytes([1; 8]);
const PARENT: SessionId = SessionId::from_bytes([2; 8]);
const TASK_ID: TaskId = TaskId::from_bytes([3; 8]);
const WORDS: &str = "words that somebody said";

fn text() -> Content {
    Content::Inline(json!(WORDS))
}

fn node(number: u64) -> NodeId {
    NodeId(Seq(number))
}

fn nonce() -> Nonce {
    Nonce::from_bytes([0; 5])
}

fn step(name: &str) -> StepId {
    StepId(name.to_owned())
}

fn opened(parent: Option<SessionId>) -> SessionEvent {
    let key = SessionKey::from_bytes([9; 16]);
    SessionEvent::Opened { key, goal: text(), workspace: None, parent, task: Some(TASK_ID) }
}

fn pinned() -> SessionEvent {
    SessionEvent::WorkflowPinned {
        id: "team.fix".to_owned(),
        version: "1.0.0".to_owned(),
        hash: Digest::ZERO,
        workflow: Content::Inline(json!({})),
        checkout: None,
    }
}

fn handed_out(name: &str, number: u64) -> SessionEvent {
    SessionEvent::StepHandedOut {
        node: node(number),
        after: None,
        step: step(name),
        prompt: text(),
        nonce: nonce(),
        place: Place::default(),
    }
}

fn finished(number: u64) -> SessionEvent {
    SessionEvent::StepFinished {
        node: node(number),
        nonce: nonce(),
        payload: text(),
        payload_hash: Digest::ZERO,
        answer: text(),
        epoch: None,
    }
}

fn closed(outcome: CloseOutcome) -> SessionEvent {
    SessionEvent::Closed { outcome }
}

fn agent(act: AgentAct) -> SessionEvent {
    SessionEvent::Agent { node: Some(node(3)), act }
}

fn assigned() -> SessionEvent {
    agent(AgentAct::Assigned {
        agent: "anthropic/claude-haiku".to_owned(),
        settings: Content::Inline(json!({})),
        because: None,
        taint: Taint::default(),
    })
}

fn requested(request: u64) -> SessionEvent {
    agent(AgentAct::Requested { request, held: Held::default(), bytes: 0 })
}

fn billed(request: u64) -> SessionEvent {
    agent(AgentAct::Billed {
        request,
        provider: "anthropic".to_owned(),
        model: "claude-haiku".to_owned(),
        usage: ModelUsage { input: 100, cache_read: 60, cache_write: 0, output: 5 },
        cost_micros: 42,
        held: Held::default(),
    })
}

fn answered(account: Account, tools: &[&str]) -> SessionEvent {
    let call = |tool: &&str| AgentCall {
        tool: (*tool).to_owned(),
        arguments: Content::Inline(json!({ "path": WORDS })),
        expect_exit: None,
        id: None,
    };
    agent(AgentAct::Answered {
        turn: 1,
        said: text(),
        calls: tools.iter().map(call).collect(),
        order: CallOrder::OneByOne,
        usage: TokenCount { input: 7, output: 3 },
        ms: 200,
        cost_micros: 9,
        account,
        echo: None,
    })
}

fn call_started(call: u32) -> SessionEvent {
    agent(AgentAct::CallStarted { turn: 1, call })
}

fn call_finished(call: u32, outcome: CallOutcome, ms: u64) -> SessionEvent {
    let (tool, result) = ("bash".to_owned(), text());
    agent(AgentAct::CallFinished { turn: 1, call, tool, outcome, exit: Some(1), result, ms })
}

fn failed(fault: TurnFault) -> SessionEvent {
    agent(AgentAct::Failed {
        turn: 1,
        fault,
        message: WORDS.to_owned(),
        ms: 50,
        retry_after_ms: None,
        resets_at: None,
    })
}

/// One event after the other, numbered from one, at these moments.
fn told(events: &[(i64, SessionEvent)], telling: Telling) -> Vec<Span> {
    let noted =
        (1..).zip(events).map(|(seq, (at, event))| Noted { seq: Seq(seq), at: Timestamp(*at), event });
    spans(SESSION, noted, telling)
}

fn own_loop() -> Vec<(i64, SessionEvent)> {
    vec![
        (1000, opened(Some(PARENT))),
        (1000, pinned()),
        (1000, handed_out("look", 3)),
        (1010, assigned()),
        (1100, requested(1)),
        (1400, billed(1)),
        (1410, answered(Account::Bills, &["bash"])),
        (1420, call_started(0)),
        (1900, call_finished(0, CallOutcome::Refused, 470)),
        (2000, finished(3)),
        (2010, closed(CloseOutcome::Completed)),
    ]
}

/// What tells spans apart at a glance.
fn shown(spans: &[Span]) -> Vec<String> {
    let line = |span: &Span| {
        let attributes: Vec<String> = span
            .attributes
            .iter()
            .map(|(name, value)| match value {
                Attribute::Text(text) => format!("{name}={text}"),
                Attribute::Number(number) => format!("{name}={number}"),
            })
            .collect();
        format!("{} {}..{} {}", span.name, span.start.0, span.end.0, attributes.join(" "))
    };
    spans.iter().map(line).collect()
}

#[test]
fn a_session_of_our_own_loop_is_a_tree_in_the_trace_of_its_task() {
    let spans = told(&own_loop(), Telling::WithoutContent);
    let session = SESSION.to_string();
    let expected = [
        "chat claude-haiku 1100..1400 gen_ai.operation.name=chat gen_ai.conversation.id=SESSION \
         gen_ai.provider.name=anthropic gen_ai.request.model=claude-haiku gen_ai.usage.input_tokens=100 \
         gen_ai.usage.output_tokens=5 gen_ai.usage.cache_read.input_tokens=60 longhaul.cost_micros=42",
        "execute_tool bash 1420..1890 gen_ai.operation.name=execute_tool gen_ai.conversation.id=SESSION \
         gen_ai.tool.name=bash error.type=refused longhaul.exit_code=1",
        "invoke_agent anthropic/claude-haiku 1000..2000 gen_ai.operation.name=invoke_agent \
         gen_ai.conversation.id=SESSION gen_ai.agent.name=anthropic/claude-haiku longhaul.step=look \
         gen_ai.usage.input_tokens=100 gen_ai.usage.output_tokens=5 longhaul.cost_micros=42",
        "invoke_workflow team.fix 1000..2010 gen_ai.operation.name=invoke_workflow gen_ai.conversation.id=SESSION \
         gen_ai.workflow.name=team.fix longhaul.workflow.version=1.0.0 longhaul.task=TASK longhaul.outcome=completed",
    ]
    .map(|line| line.replace("SESSION", &session).replace("TASK", &TASK_ID.to_string()));
    assert_eq!(shown(&spans), expected);
    let [chat, tool, step, workflow] = &spans[..] else { panic!("{spans:#?}") };
    assert!(spans.iter().all(|span| span.trace == trace_of(TASK_ID)));
    assert_eq!(workflow.parent, Some(span_of(PARENT, Seq(1))));
    assert_eq!(step.parent, Some(workflow.id));
    assert_eq!((chat.parent, tool.parent), (Some(step.id), Some(step.id)));
    assert_eq!((chat.kind, tool.kind), (SpanKind::Client, SpanKind::Internal));
    let ids: std::collections::BTreeSet<SpanId> = spans.iter().map(|span| span.id).collect();
    assert_eq!(ids.len(), spans.len());
}

#[test]
fn what_was_said_is_left_out_unless_somebody_asked_for_it() {
    let without = format!("{:?}", told(&own_loop(), Telling::WithoutContent));
    assert!(!without.contains(WORDS), "{without}");
    let with = told(&own_loop(), Telling::WithContent);
    let [chat, tool, step, workflow] = &with[..] else { panic!("{with:#?}") };
    assert_eq!(workflow.text(GOAL), Some(WORDS));
    let said =
        |role: &str| json!([{ "role": role, "parts": [{ "type": "text", "content": WORDS }] }]).to_string();
    assert_eq!(chat.text(OUTPUT), Some(said("assistant").as_str()));
    assert_eq!(step.text(INPUT), Some(said("user").as_str()));
    assert_eq!(tool.text(ARGUMENTS), Some(json!({ "path": WORDS }).to_string().as_str()));
    assert_eq!(tool.text(RESULT), Some(WORDS));
}

#[test]
fn a_turn_without_a_bill_is_a_chat_of_its_own() {
    let events = [
        (0, opened(None)),
        (0, handed_out("look", 2)),
        (500, answered(Account::Turn, &[])),
        (600, failed(TurnFault::RateLimit)),
        (
            700,
            agent(AgentAct::Observed {
                turn: 1,
                tool: "edit".to_owned(),
                title: WORDS.to_owned(),
                outcome: CallOutcome::Done,
                ms: 40,
            }),
        ),
    ];
    let spans = told(&events, Telling::WithoutContent);
    let short: Vec<(&str, i64, i64, Option<&str>)> =
        spans.iter().map(|span| (span.name.as_str(), span.start.0, span.end.0, span.text(ERROR))).collect();
    assert_eq!(
        short,
        [
            ("chat", 300, 500, None),
            ("chat", 550, 600, Some("rate_limit")),
            ("execute_tool edit", 660, 700, None),
        ]
    );
    assert_eq!((spans[0].number(INPUT_TOKENS), spans[0].number(COST)), (Some(7), Some(9)));
}

#[test]
fn how_a_turn_went_wrong_is_told_with_its_request() {
    let events = [
        (0, opened(None)),
        (0, handed_out("look", 2)),
        (1, requested(1)),
        (9, billed(1)),
        (10, failed(TurnFault::Garbage)),
    ];
    let spans = told(&events, Telling::WithoutContent);
    assert_eq!(spans.len(), 1, "{spans:#?}");
    assert_eq!((spans[0].name.as_str(), spans[0].text(ERROR)), ("chat claude-haiku", Some("garbage")));
}

#[test]
fn a_call_that_was_cut_off_does_not_last_until_somebody_noticed() {
    let night = 36_000_000;
    let events = [
        (0, opened(None)),
        (0, handed_out("look", 2)),
        (10, answered(Account::Bills, &["bash"])),
        (20, call_started(0)),
        (night, call_finished(0, CallOutcome::Interrupted, 0)),
    ];
    let spans = told(&events, Telling::WithoutContent);
    assert_eq!((spans[0].start.0, spans[0].end.0, spans[0].text(ERROR)), (20, 20, Some("interrupted")));
}

#[test]
fn gates_and_work_of_the_engines_own_are_told_too() {
    let gate = SessionEvent::GateOpened {
        gate: node(5),
        after: None,
        step: step("ask"),
        kind: GateKind::Gate,
        question: text(),
        accepts: longhaul_events::Channel::Terminal,
        until: Timestamp(99_000),
        place: Place::default(),
    };
    let approved = SessionEvent::GateAnswered {
        gate: node(5),
        verdict: Verdict::Approved,
        by: WORDS.to_owned(),
        channel: longhaul_events::Channel::Terminal,
        words: text(),
    };
    let began =
        SessionEvent::WorkBegan { work: node(2), after: None, step: step("test"), place: Place::default() };
    let started = SessionEvent::WorkStarted { work: node(2), epoch: Epoch(1), what: text() };
    let result = Content::Inline(json!({ "outcome": "failed", "output": WORDS }));
    let done = SessionEvent::WorkFinished { work: node(2), epoch: Epoch(1), result };
    let spans = told(
        &[(0, opened(None)), (10, began), (30, started), (90, done), (100, gate), (5000, approved)],
        Telling::WithoutContent,
    );
    let session = SESSION.to_string();
    let expected = [
        "work test 30..90 gen_ai.conversation.id=SESSION longhaul.step=test longhaul.outcome=failed error.type=failed",
        "gate ask 100..5000 gen_ai.conversation.id=SESSION longhaul.step=ask longhaul.outcome=approved",
    ]
    .map(|line| line.replace("SESSION", &session));
    assert_eq!(shown(&spans), expected);
}

#[test]
fn what_is_parked_and_taken_up_again_is_two_stretches() {
    let parked = SessionEvent::Parked {
        node: node(3),
        after: None,
        step: step("look"),
        reasons: vec![Reason::new("budget_money", WORDS, WORDS)],
        place: Place::default(),
        waits: None,
    };
    let unparked =
        SessionEvent::Unparked { node: node(2), nonce: nonce(), step: step("look"), by: WORDS.to_owned() };
    let spans = told(
        &[
            (0, opened(None)),
            (10, handed_out("look", 2)),
            (20, parked),
            (9000, unparked),
            (9010, finished(2)),
            (9020, closed(CloseOutcome::Failed { reason: WORDS.to_owned() })),
        ],
        Telling::WithoutContent,
    );
    let short: Vec<(&str, i64, i64, Option<&str>)> =
        spans.iter().map(|span| (span.name.as_str(), span.start.0, span.end.0, span.text(ERROR))).collect();
    assert_eq!(
        short,
        [
            ("invoke_agent", 10, 20, Some("budget_money")),
            ("invoke_agent", 9000, 9010, None),
            ("invoke_workflow", 0, 9020, Some("failed")),
        ]
    );
    assert!(!format!("{spans:?}").contains(WORDS));
}

#[test]
fn a_session_that_is_asked_for_more_has_a_second_span() {
    let more = SessionEvent::Continued { phase: 1, text: text() };
    let spans = told(
        &[
            (0, opened(None)),
            (5, closed(CloseOutcome::Completed)),
            (100, more),
            (100, handed_out("more", 4)),
            (110, finished(4)),
            (110, closed(CloseOutcome::Completed)),
        ],
        Telling::WithoutContent,
    );
    let roots: Vec<&Span> = spans.iter().filter(|span| span.name == "invoke_workflow").collect();
    assert_eq!(roots.iter().map(|span| (span.start.0, span.end.0)).collect::<Vec<_>>(), [(0, 5), (100, 110)]);
    assert_ne!(roots[0].id, roots[1].id);
    assert_eq!(spans[1].parent, Some(roots[1].id));
}

/// Events of any kind in any order: an import may bring them.
fn any_event() -> impl Strategy<Value = SessionEvent> {
    let number = 1_u64..6;
    prop_oneof![
        Just(opened(None)),
        Just(pinned()),
        Just(assigned()),
        Just(closed(CloseOutcome::Completed)),
        Just(answered(Account::Bills, &["bash", "read"])),
        Just(answered(Account::Turn, &[])),
        Just(failed(TurnFault::Stalled)),
        number.clone().prop_map(|number| handed_out("look", number)),
        number.clone().prop_map(finished),
        number.clone().prop_map(requested),
        number.clone().prop_map(billed),
        (0_u32..3).prop_map(call_started),
        (0_u32..3, 0_u64..500).prop_map(|(call, ms)| call_finished(call, CallOutcome::Done, ms)),
        number.prop_map(|number| SessionEvent::Forked {
            from: node(number),
            nonce: nonce(),
            left: None,
            restored: None
        }),
    ]
}

proptest! {
    /// Whatever is in a log, and wherever whoever follows it was cut off: the same spans come out, each with an id of its
    /// own, and none ends before it begins.
    #[test]
    fn spans_are_the_same_however_often_and_from_wherever_they_are_made(
        events in prop::collection::vec((0_i64..100_000, any_event()), 0..40),
        cut in 0_usize..40,
    ) {
        let whole = told(&events, Telling::WithContent);
        prop_assert!(whole.iter().all(|span| span.start <= span.end));
        let ids: std::collections::BTreeSet<SpanId> = whole.iter().map(|span| span.id).collect();
        prop_assert_eq!(ids.len(), whole.len());
        // One that follows up to a point, and another that reads up to there and goes on.
        let noted = |from: usize, to: usize| {
            let range = from.min(events.len())..to.min(events.len());
            (range.start + 1..).zip(&events[range]).map(|(seq, (at, event))| {
                (Seq(u64::try_from(seq).unwrap()), Timestamp(*at), event)
            }).collect::<Vec<_>>()
        };
        let feed = |tracer: &mut Tracer, part: Vec<(Seq, Timestamp, &SessionEvent)>| -> Vec<Span> {
            part.into_iter().flat_map(|(seq, at, event)| tracer.take(Noted { seq, at, event })).collect()
        };
        let mut first = Tracer::new(SESSION, Telling::WithContent);
        let mut pieces = feed(&mut first, noted(0, cut));
        let mut second = Tracer::new(SESSION, Telling::WithContent);
        feed(&mut second, noted(0, cut));
        pieces.extend(feed(&mut second, noted(cut, usize::MAX)));
        prop_assert_eq!(pieces, whole);
    }
}
