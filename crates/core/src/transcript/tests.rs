//! Events in, messages out.

mod long;

use std::collections::BTreeMap;

use longhaul_events::{
    Account, BlobRef, CallOrder, Digest, Nonce, ReportKind, Restored, Seq, SessionKey, TokenCount,
};
use serde_json::json;

use super::*;
use crate::canonical;
use crate::workflow::Workflow;
use crate::workflow::compile::{Source, Sources, Syntax, compile};

/// Contents above this lie in blobs.
const INLINE: usize = 4096;

/// Events of a session, and the blobs that they name.
#[derive(Debug, Default)]
struct Story {
    events: Vec<SessionEvent>,
    blobs: BTreeMap<Digest, Value>,
}

fn node(number: u64) -> NodeId {
    NodeId(Seq(number))
}

fn text(words: &str) -> Content {
    Content::Inline(json!(words))
}

impl Story {
    fn begun() -> Self {
        let mut story = Self::default();
        let (workspace, parent, key) = (None, None, SessionKey::from_bytes([0; 16]));
        story.add(SessionEvent::Opened { key, goal: text("Fix the login"), workspace, parent, task: None });
        story.step(2, "look");
        story
    }

    fn add(&mut self, event: SessionEvent) -> &mut Self {
        self.events.push(event);
        self
    }

    /// As it would lie in the log.
    fn store(&mut self, value: Value) -> Content {
        let stored = value.to_string();
        if stored.len() <= INLINE {
            return Content::Inline(value);
        }
        let sha256 = canonical::sha256(stored.as_bytes());
        self.blobs.insert(sha256, value);
        Content::Blob(BlobRef { sha256, bytes: stored.len() as u64 })
    }

    fn step(&mut self, at: u64, step: &str) -> &mut Self {
        let prompt = Content::Inline(json!({ "title": step, "text": format!("Do {step}.") }));
        let (nonce, place) = (Nonce::from_bytes([0; 5]), longhaul_events::Place::default());
        let step = StepId(step.to_owned());
        self.add(SessionEvent::StepHandedOut { node: node(at), after: None, step, prompt, nonce, place })
    }

    fn act(&mut self, at: u64, act: AgentAct) -> &mut Self {
        self.add(SessionEvent::Agent { node: Some(node(at)), act })
    }

    fn answers(&mut self, at: u64, turn: u32, said: &str, calls: &[(&str, Value)]) -> &mut Self {
        let calls = calls.iter().map(|(tool, arguments)| AgentCall {
            tool: (*tool).to_owned(),
            arguments: self.store(arguments.clone()),
            expect_exit: None,
            id: None,
        });
        let answered = AgentAct::Answered {
            turn,
            said: text(said),
            calls: calls.collect(),
            order: CallOrder::OneByOne,
            usage: TokenCount { input: 100, output: 1 },
            ms: 1,
            cost_micros: 0,
            account: Account::Bills,
            echo: Some(Content::Inline(json!({ "signed": turn }))),
        };
        self.act(at, answered)
    }

    fn gives(&mut self, at: u64, turn: u32, call: u32, result: &str) -> &mut Self {
        self.ends(at, (turn, call), CallOutcome::Done, result)
    }

    fn ends(&mut self, at: u64, of: (u32, u32), outcome: CallOutcome, result: &str) -> &mut Self {
        let result = self.store(json!(result));
        let (turn, call) = of;
        let tool = String::new();
        self.act(at, AgentAct::CallFinished { turn, call, tool, outcome, exit: None, result, ms: 1 })
    }

    fn hands_in(&mut self, at: u64, payload: Value) -> &mut Self {
        let payload_hash = canonical::hash(&payload).unwrap();
        let payload = self.store(payload);
        let (nonce, answer) = (Nonce::from_bytes([0; 5]), text(""));
        let node = node(at);
        self.add(SessionEvent::StepFinished { node, nonce, payload, payload_hash, answer, epoch: None })
    }

    fn transcript(&self) -> Transcript {
        Transcript::fold(&self.events)
    }

    fn read(&self, content: &Content) -> Result<Value, Unread> {
        match content {
            Content::Inline(value) => Ok(value.clone()),
            Content::Blob(blob) => self.blobs.get(&blob.sha256).cloned().ok_or_else(|| Unread("gone".into())),
        }
    }

    fn messages(&self) -> Vec<Message> {
        self.transcript().messages(0, &|content| self.read(content)).unwrap()
    }
}

fn user(words: &str) -> Message {
    Message::User(words.to_owned())
}

fn assistant(words: &str, calls: &[(&str, &str, Value)], echo: Option<Value>) -> Message {
    let call = |(id, tool, arguments): &(&str, &str, Value)| {
        let arguments = arguments.as_object().unwrap().clone();
        MessageCall { id: (*id).to_owned(), tool: (*tool).to_owned(), arguments }
    };
    Message::Assistant { text: words.to_owned(), calls: calls.iter().map(call).collect(), echo }
}

fn results(results: &[(&str, &str, bool)]) -> Message {
    let result = |(id, text, is_error): &(&str, &str, bool)| MessageResult {
        id: (*id).to_owned(),
        text: (*text).to_owned(),
        is_error: *is_error,
    };
    Message::Results(results.iter().map(result).collect())
}

#[test]
fn steps_turns_and_results_come_in_the_order_in_which_they_happened() {
    let mut story = Story::begun();
    story.answers(2, 1, "I read.", &[("read", json!({ "path": "a" })), ("bash", json!({ "command": "x" }))]);
    story.gives(2, 1, 0, "one");
    story.ends(2, (1, 1), CallOutcome::Refused, "no");
    story.answers(2, 2, "Done.", &[("complete_step", json!({ "notes": "n" })), ("read", json!({}))]);
    story.hands_in(2, json!({ "notes": "n" })).step(9, "change");
    let calls =
        [("call-1-0", "read", json!({ "path": "a" })), ("call-1-1", "bash", json!({ "command": "x" }))];
    let last = [("call-2-0", "complete_step", json!({ "notes": "n" })), ("call-2-1", "read", json!({}))];
    let expected = [
        user("This step is out now: `look`\n\nDo look."),
        assistant("I read.", &calls, Some(json!({ "signed": 1 }))),
        results(&[("call-1-0", "one", false), ("call-1-1", "no", true)]),
        assistant("Done.", &last, Some(json!({ "signed": 2 }))),
        results(&[
            ("call-2-0", "The step is handed in and accepted.", false),
            ("call-2-1", "not done: the step was handed in before it came to this", true),
        ]),
        user("This step is out now: `change`\n\nDo change."),
    ];
    assert_eq!(story.messages(), expected);
}

#[test]
fn a_result_goes_under_the_name_that_the_provider_gave_its_call() {
    let mut story = Story::begun();
    story.answers(2, 1, "", &[("read", json!({}))]);
    if let Some(SessionEvent::Agent { act: AgentAct::Answered { calls, .. }, .. }) = story.events.last_mut() {
        calls[0].id = Some("toolu_7".to_owned());
    }
    story.gives(2, 1, 0, "so");
    let said = &story.messages()[1..];
    assert_eq!(said[0], assistant("", &[("toolu_7", "read", json!({}))], Some(json!({ "signed": 1 }))));
    assert_eq!(said[1], results(&[("toolu_7", "so", false)]));
}

fn steered(words: &str) -> AgentAct {
    AgentAct::Steered { words: text(words), by: "ada".to_owned() }
}

fn nudged(words: &str) -> AgentAct {
    AgentAct::Nudged { turn: 2, words: words.to_owned() }
}

#[test]
fn what_was_said_while_the_agent_answered_is_told_once_and_after_that_answer() {
    let mut story = Story::begun();
    story.act(2, steered("the other file"));
    let before = story.transcript();
    story.answers(2, 1, "", &[]).act(2, nudged("the other file"));
    let told = story.messages();
    assert_eq!(
        told[1..],
        [assistant("(nothing said)", &[], Some(json!({ "signed": 1 }))), user("ada says:\n\nthe other file")]
    );
    assert_ne!(before.edition(), story.transcript().edition(), "who kept the messages has to make them anew");
}

#[test]
fn what_was_heard_stays_where_it_was_heard() {
    let mut story = Story::begun();
    story.act(2, steered("the other file")).answers(2, 1, "Yes.", &[]).act(2, nudged("Go on."));
    let told = story.messages();
    assert_eq!(told[1], user("ada says:\n\nthe other file"));
    assert_eq!(told[3], user("Go on."));
    let mut passed_on = Story::begun();
    passed_on.act(2, steered("faster")).step(5, "change").act(5, nudged("faster"));
    let times =
        passed_on.messages().iter().filter(|message| **message == user("ada says:\n\nfaster")).count();
    assert_eq!((times, passed_on.messages().len()), (1, 3));
}

#[test]
fn what_was_told_stays_as_it_was_while_more_is_added() {
    let mut story = Story::begun();
    let mut before = (story.transcript().edition(), story.messages());
    for turn in 1..20 {
        story.answers(2, turn, "so", &[("read", json!({ "turn": turn }))]).gives(2, turn, 0, "x");
        let now = (story.transcript().edition(), story.messages());
        assert_eq!((now.0, &now.1[..before.1.len()]), (before.0, &before.1[..]));
        let more =
            story.transcript().messages(usize::try_from(turn).unwrap(), &|content| story.read(content));
        assert_eq!(more.unwrap(), now.1[before.1.len()..]);
        before = now;
    }
}

#[test]
fn a_fork_leaves_behind_what_came_from_that_node_on() {
    let mut story = Story::begun();
    story.answers(2, 1, "Looked.", &[("complete_step", json!({}))]).hands_in(2, json!({ "notes": "n" }));
    story.step(5, "change").answers(5, 1, "Changed.", &[("bash", json!({}))]).gives(5, 1, 0, "x");
    let (before, until) = (story.messages()[..3].to_vec(), story.transcript().edition());
    let restored = Restored {
        step: StepId("change".into()),
        place: longhaul_events::Place::default(),
        vars: BTreeMap::new(),
    };
    let (nonce, restored) = (Nonce::from_bytes([0; 5]), Some(Box::new(restored)));
    story.add(SessionEvent::Forked { from: node(5), nonce, left: None, restored }).step(11, "change");
    let messages = story.messages();
    assert_eq!(messages[..3], before);
    assert_eq!(messages[3..], [user("This step is out now: `change`\n\nDo change.")]);
    assert_ne!(story.transcript().edition(), until);
}

#[test]
fn layers_say_what_the_steps_are_called_and_not_what_they_want() {
    let source = "longhaul: 1\nid: t.fix\nname: Fix it\nversion: 1.0.0\nabout: Fixes.\nsteps:\n\
                  \x20 - { id: look, title: Have a look, prompt: SECRET-ONE }\n\
                  \x20 - { id: change, title: Change it, prompt: SECRET-TWO }\n";
    let source = Source { name: "t.yml".into(), text: source.to_owned(), syntax: Syntax::Yaml };
    let outcome = compile(&source, &Sources::default());
    let workflow: Workflow = outcome.value.unwrap_or_else(|| panic!("{:#?}", outcome.diagnostics));
    let foundation = Foundation { workflow: &workflow, goal: "Log in", rules: None, brief: None };
    let layers = Layers::of(&foundation);
    assert_eq!(layers.texts.len(), 2);
    assert!(layers.texts[0].contains("complete_step"));
    assert!(layers.texts[1].contains("Log in") && layers.texts[1].contains("- `change`: Change it"));
    assert!(!layers.texts[1].contains("SECRET"), "{}", layers.texts[1]);
    let given = Foundation { rules: Some("No tabs."), brief: Some("A shop."), ..foundation };
    let more = Layers::of(&given);
    assert_eq!(more.texts[..2], layers.texts[..]);
    assert_eq!(more.texts[2..], ["No tabs.".to_owned(), "A shop.".to_owned()]);
}
