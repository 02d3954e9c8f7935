//! A loop over a mind that plays its part, and a session that grows by what it does.

use std::cell::{Cell, Ref, RefCell};
use std::collections::VecDeque;
use std::sync::Mutex;

use longhaul_core::budget::Price;
use longhaul_core::cassette::{Asked, Order};
use longhaul_core::transcript::Unread;
use longhaul_events::{
    Account, AgentAct, AgentCall, CallOrder, CallOutcome, Content, NodeId, Nonce, Place, Seq, SessionEvent,
    SessionKey, StepId, TokenCount, TurnFault,
};
use longhaul_model::{End, ModelUsage};
use serde_json::{Value, json};

use super::*;
use crate::asker::Means;
use crate::turn::{Call, Silence};

const NODE: NodeId = NodeId(Seq(2));

/// What a mind was asked.
#[derive(Debug, Clone, PartialEq)]
struct Heard {
    system: Vec<Layer>,
    messages: Vec<Message>,
    max_output: u64,
}

/// Answers from a list.
#[derive(Debug, Default)]
struct Scripted {
    answers: Mutex<VecDeque<Result<Reply, Failure>>>,
    heard: Mutex<Vec<Heard>>,
}

impl Mind for &'static Scripted {
    fn ask(&self, request: &Request<'_>, watch: &dyn Watch) -> Result<Reply, Failure> {
        // Only what is of the answer counts as heard.
        watch.heard(Piece::Alive);
        watch.heard(Piece::Said("so"));
        self.heard.lock().unwrap().push(Heard {
            system: request.system.to_vec(),
            messages: request.messages.to_vec(),
            max_output: request.max_output,
        });
        self.answers.lock().unwrap().pop_front().expect("it is asked no more often than it has answers")
    }
}

/// A session in memory.
#[derive(Debug)]
struct Session {
    transcript: RefCell<Transcript>,
    turns: Cell<u32>,
    means: Means,
    heard: Cell<u32>,
}

impl Session {
    fn begun() -> Self {
        let mut transcript = Transcript::default();
        let key = SessionKey::from_bytes([0; 16]);
        let goal = Content::Inline(json!("Fix the login"));
        transcript.apply(&SessionEvent::Opened { key, goal, workspace: None, parent: None, task: None });
        let prompt = Content::Inline(json!({ "title": "look", "text": "Look." }));
        let (step, nonce, place) = (StepId("look".into()), Nonce::from_bytes([0; 5]), Place::default());
        let handed_out = SessionEvent::StepHandedOut { node: NODE, after: None, step, prompt, nonce, place };
        transcript.apply(&handed_out);
        Self {
            transcript: RefCell::new(transcript),
            turns: Cell::new(0),
            means: Means::PLENTY,
            heard: Cell::new(0),
        }
    }

    fn act(&self, act: AgentAct) {
        self.transcript.borrow_mut().apply(&SessionEvent::Agent { node: Some(NODE), act });
    }

    /// Puts a turn on record, and answers each of its calls.
    fn take(&self, turn: Turn, result: &str) {
        self.turns.set(self.turns.get() + 1);
        let number = self.turns.get();
        let calls: Vec<AgentCall> = turn
            .calls
            .into_iter()
            .map(|call: Call| AgentCall {
                tool: call.tool,
                arguments: Content::Inline(Value::Object(call.arguments)),
                expect_exit: None,
                id: call.id,
            })
            .collect();
        let count = u32::try_from(calls.len()).unwrap();
        self.act(AgentAct::Answered {
            turn: number,
            said: Content::Inline(json!(turn.say)),
            calls,
            order: CallOrder::OneByOne,
            usage: TokenCount { input: turn.usage.input, output: turn.usage.output },
            ms: 1,
            cost_micros: 0,
            account: Account::Bills,
            echo: turn.echo.map(Content::Inline),
        });
        for call in 0..count {
            let (tool, result) = (String::new(), Content::Inline(json!(result)));
            let outcome = CallOutcome::Done;
            self.act(AgentAct::CallFinished { turn: number, call, tool, outcome, exit: None, result, ms: 1 });
        }
    }

    fn compacted(&self, compaction: Compaction) {
        let Compaction { plan, recap } = compaction;
        self.act(AgentAct::Compacted {
            turn: self.turns.get() + 1,
            results_until: plan.results_until,
            turns_until: plan.turns_until,
            longest_result: plan.longest_result,
            recap: recap.map(|recap| Content::Inline(json!(recap))),
        });
    }

    fn asked<T>(&self, ask: impl FnOnce(&TurnRequest<'_>) -> T) -> T {
        let asked = Asked { workflow: "w".into(), step: "look".into(), visit: 1 };
        ask(&TurnRequest { asked: &asked, answers: &[], told: &[], silence: Silence::Skipped, asker: self })
    }
}

impl Asker for Session {
    fn transcript(&self) -> Result<Ref<'_, Transcript>, Unread> {
        Ok(self.transcript.borrow())
    }

    fn read(&self, content: &Content) -> Result<Value, Unread> {
        match content {
            Content::Inline(value) => Ok(value.clone()),
            Content::Blob(_) => Err(Unread("there are no blobs here".to_owned())),
        }
    }

    fn means(&self) -> Result<Means, Unread> {
        Ok(self.means)
    }

    fn is_wanted(&self) -> bool {
        true
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn heard(&self) {
        self.heard.set(self.heard.get() + 1);
    }
}

fn said(text: &str, calls: &[(&str, &str, Value)]) -> Reply {
    let call = |(id, tool, arguments): &(&str, &str, Value)| WantedCall {
        id: (*id).to_owned(),
        tool: (*tool).to_owned(),
        arguments: arguments.as_object().unwrap().clone(),
    };
    Reply {
        text: text.to_owned(),
        calls: calls.iter().map(call).collect(),
        echo: Some(json!({ "wire": "anthropic" })),
        end: if calls.is_empty() { End::Done } else { End::CallsWanted },
        usage: ModelUsage { input: 400, output: 7, ..ModelUsage::default() },
        model: "m".to_owned(),
    }
}

fn scripted(answers: Vec<Result<Reply, Failure>>) -> (OwnLoop<&'static Scripted>, &'static Scripted) {
    let mind: &'static Scripted =
        Box::leak(Box::new(Scripted { answers: Mutex::new(answers.into()), heard: Mutex::default() }));
    let pricing = Pricing::Known(Price::plain(1, 1));
    let model = ModelFacts { name: "m".to_owned(), window: 20_000, max_output: 2_000, pricing };
    let layers = Layers { texts: vec!["Base.".to_owned(), "Workflow.".to_owned()] };
    let read =
        ToolSpec { name: "read".into(), description: "Reads.".into(), input: json!({ "type": "object" }) };
    (OwnLoop::new(mind, model, Telling { layers, tools: vec![read] }), mind)
}

fn turned(reply: Reply) -> Turn {
    let (mut agent, _) = scripted(vec![Ok(reply)]);
    Session::begun().asked(|request| agent.turn(request)).unwrap()
}

#[test]
fn a_model_is_told_all_that_happened_and_what_it_wants_is_a_turn() {
    let first = said("I look.", &[("t1", "read", json!({ "path": "a" }))]);
    let (mut agent, mind) = scripted(vec![Ok(first), Ok(said("So.", &[]))]);
    let session = Session::begun();
    let turn = session.asked(|request| agent.turn(request)).unwrap();
    let arguments = json!({ "path": "a" }).as_object().unwrap().clone();
    let call =
        Call { tool: "read".into(), arguments: arguments.clone(), expect_exit: None, id: Some("t1".into()) };
    let echo = json!({ "wire": "anthropic" });
    assert_eq!(
        turn,
        Turn {
            say: "I look.".into(),
            calls: vec![call],
            order: Order::OneByOne,
            usage: Usage { input: 400, output: 7 },
            echo: Some(echo.clone()),
            aside: None,
        }
    );
    session.take(turn, "it says a");
    session.asked(|request| agent.turn(request)).unwrap();
    let heard = mind.heard.lock().unwrap();
    let step = Message::User("This step is out now: `look`\n\nLook.".into());
    let wanted = WantedCall { id: "t1".into(), tool: "read".into(), arguments };
    let result = CallResult { id: "t1".into(), text: "it says a".into(), is_error: false };
    assert_eq!(heard[0].messages, std::slice::from_ref(&step));
    assert_eq!(
        heard[1].messages,
        [
            step,
            Message::Assistant { text: "I look.".into(), calls: vec![wanted], echo: Some(echo) },
            Message::Results(vec![result]),
        ]
    );
    assert_eq!(heard[0].system, heard[1].system);
    assert!(heard[0].system.iter().all(|layer| layer.is_stable));
    assert_eq!(session.heard.get(), 2);
}

#[test]
fn whoever_takes_over_tells_the_same() {
    let turns = || (0..6).map(|turn| Ok(said("On.", &[("x", "read", json!({ "path": turn }))])));
    let (mut agent, mind) = scripted(turns().collect());
    let session = Session::begun();
    for _ in 0..6 {
        let turn = session.asked(|request| agent.turn(request)).unwrap();
        session.take(turn, "so");
    }
    let (mut other, other_mind) = scripted(vec![Ok(said("", &[]))]);
    session.asked(|request| other.turn(request)).unwrap();
    let (heard, anew) = (mind.heard.lock().unwrap(), other_mind.heard.lock().unwrap());
    let last = &heard[5].messages;
    assert_eq!(&anew[0].messages[..last.len()], &last[..]);
    assert_eq!(anew[0].messages.len(), last.len() + 2);
}

#[test]
fn a_long_conversation_is_shortened_and_goes_on_in_its_room() {
    let turns = (0..80).map(|turn| Ok(said("On.", &[("x", "read", json!({ "path": format!("f{turn}") }))])));
    let (mut agent, mind) = scripted(turns.collect());
    let (session, mut times) = (Session::begun(), 0);
    for _ in 0..80 {
        while let Some(compaction) = session.asked(|request| agent.compact(request)).unwrap() {
            session.compacted(compaction);
            times += 1;
        }
        let turn = session.asked(|request| agent.turn(request)).unwrap();
        let bytes: usize = mind.heard.lock().unwrap().last().unwrap().messages.iter().map(bytes).sum();
        // As the provider would count it.
        let usage = Usage { input: bytes as u64 / 4, output: 7 };
        assert!(usage.input < 18_000, "{}", usage.input);
        session.take(Turn { usage, ..turn }, &"x".repeat(2_500));
    }
    assert!((2..=12).contains(&times), "{times}");
}

fn bytes(message: &Message) -> usize {
    match message {
        Message::User(text) => text.len(),
        Message::Assistant { text, calls, .. } => text.len() + calls.len() * 60,
        Message::Results(results) => results.iter().map(|result| result.text.len()).sum(),
    }
}

#[test]
fn a_model_that_has_less_room_than_was_thought_is_told_half_of_it() {
    let turns = (0..4).map(|_| Ok(said("On.", &[("x", "read", json!({}))])));
    let overflow = Err(Failure::ContextOverflow { message: "too long".into() });
    let (mut agent, _) = scripted(turns.chain([overflow]).collect());
    let session = Session::begun();
    for _ in 0..4 {
        let turn = session.asked(|request| agent.turn(request)).unwrap();
        session.take(turn, &"x".repeat(3_000));
    }
    assert_eq!(session.asked(|request| agent.compact(request)), Ok(None));
    let fault = session.asked(|request| agent.turn(request)).unwrap_err();
    assert_eq!(fault.kind(), Some(TurnFault::ContextOverflow));
    let before = session.transcript.borrow().bytes();
    session.act(AgentAct::Failed {
        turn: 5,
        fault: TurnFault::ContextOverflow,
        message: fault.to_string(),
        ms: 1,
        retry_after_ms: None,
        resets_at: None,
    });
    let compaction = session.asked(|request| agent.compact(request)).unwrap().unwrap();
    session.compacted(compaction);
    assert!(session.transcript.borrow().bytes() <= before / 2);
    assert_eq!(session.asked(|request| agent.compact(request)), Ok(None));
}

#[test]
fn what_was_cut_is_not_done_and_said() {
    let calls = [
        ("a", "read", json!({})),
        ("b", "write", json!({ "$unreadable": "{\"path\": \"x", "$problem": "EOF" })),
    ];
    let turn = turned(Reply { end: End::MaxOutput, ..said("Now.", &calls) });
    assert_eq!(turn.calls.len(), 1);
    assert!(turn.aside.unwrap().contains("`write`, was not made"));
    let only_words = turned(Reply { end: End::MaxOutput, ..said("And so on and so", &[]) });
    assert!(only_words.aside.unwrap().starts_with("Your answer was cut at 2k tokens."));
    let nothing_left = turned(Reply { end: End::MaxOutput, ..said("", &calls[1..]) });
    assert_eq!((nothing_left.calls.len(), nothing_left.echo), (0, None));
}

#[test]
fn a_refusal_is_a_turn_that_did_nothing() {
    let turn = turned(Reply { end: End::Refused, ..said("", &[("a", "read", json!({}))]) });
    assert_eq!((turn.say.as_str(), turn.calls.len()), ("(the model refuses to answer)", 0));
}

#[test]
fn only_what_changes_nothing_is_done_at_once() {
    let calls = |tools: &[&str]| {
        let calls: Vec<_> = tools.iter().map(|tool| ("", *tool, json!({}))).collect();
        turned(said("", &calls))
    };
    assert_eq!(calls(&["read", "grep"]).order, Order::AtOnce);
    assert_eq!(calls(&["read", "write"]).order, Order::OneByOne);
    assert_eq!(calls(&["read", "complete_step"]).order, Order::OneByOne);
    let unnamed: Vec<_> = calls(&["read", "read"]).calls.into_iter().map(|call| call.id).collect();
    assert_eq!(unnamed, [None, None], "names that are none are not used");
}

#[test]
fn arguments_that_are_no_json_are_told_to_whoever_wrote_them() {
    let arguments = json!({ "$unreadable": "{", "$problem": "EOF while parsing" });
    let words = unreadable(arguments.as_object().unwrap()).unwrap();
    assert!(words.contains("EOF while parsing"), "{words}");
    assert_eq!(unreadable(json!({ "path": "a" }).as_object().unwrap()), None);
}

#[test]
fn every_failure_is_a_fault_with_what_is_known_of_it() {
    let message = || "m".to_owned();
    let cases = [
        (Failure::Auth { message: message() }, Some(TurnFault::Auth)),
        (Failure::RateLimit { message: message(), retry_after_ms: Some(7) }, Some(TurnFault::RateLimit)),
        (Failure::UsageLimit { message: message(), resets_at_ms: Some(9) }, Some(TurnFault::UsageLimit)),
        (Failure::Overloaded { message: message(), retry_after_ms: Some(7) }, Some(TurnFault::Overloaded)),
        (Failure::ContextOverflow { message: message() }, Some(TurnFault::ContextOverflow)),
        (Failure::BadRequest { message: message() }, Some(TurnFault::BadRequest)),
        (Failure::Network { message: message() }, Some(TurnFault::Network)),
        (Failure::CutOff, Some(TurnFault::CutOff)),
        (Failure::Stalled { ms: 5 }, Some(TurnFault::Stalled)),
        (Failure::Garbage { message: message() }, Some(TurnFault::Garbage)),
        (Failure::OverCap { message: message() }, Some(TurnFault::OverCap)),
        (Failure::Stopped, None),
    ];
    for (failure, kind) in cases {
        let (mut agent, _) = scripted(vec![Err(failure.clone())]);
        let fault = Session::begun().asked(|request| agent.turn(request)).unwrap_err();
        assert_eq!(fault.kind(), kind, "{failure:?}");
        let waits = matches!(kind, Some(TurnFault::RateLimit | TurnFault::Overloaded));
        assert_eq!(fault.retry_after_ms(), waits.then_some(7));
        assert_eq!(fault.resets_at().map(|at| at.0), (kind == Some(TurnFault::UsageLimit)).then_some(9));
    }
}

#[test]
fn what_is_foreseen_is_what_is_asked_for_and_fits_what_is_left() {
    let (mut agent, mind) = scripted(vec![Ok(said("", &[]))]);
    let mut session = Session::begun();
    session.means = Means { tokens: 1_500, ..Means::PLENTY };
    let Foresight::Exactly(usage) = session.asked(|request| agent.foresee(request)) else { unreachable!() };
    assert!(usage.input + usage.output <= 1_500 && usage.output < 2_000, "{usage:?}");
    session.asked(|request| agent.turn(request)).unwrap();
    assert_eq!(mind.heard.lock().unwrap()[0].max_output, usage.output);
}
