//! Our own loop at work on a session that lies in a real store, over a mind that plays its part.

use std::sync::{Arc, Mutex};

use longhaul_agent::{Mind, ModelFacts, OwnLoop, Telling as Told};
use longhaul_core::transcript::Layers;
use longhaul_events::TurnFault;
use longhaul_model::{End, Failure, Message, ModelUsage, Reply, Request, WantedCall, Watch};
use serde_json::Value;

use super::steered::have_done;
use super::*;
use crate::runner::agent::{NoAnswer, StepEnd};

type Answer = Box<dyn FnMut(usize) -> Result<Reply, Failure> + Send>;

/// Answers by the number of the request, and remembers what it was told.
#[derive(Clone)]
struct Played {
    answer: Arc<Mutex<Answer>>,
    told: Arc<Mutex<Vec<Vec<Message>>>>,
}

impl std::fmt::Debug for Played {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Played")
    }
}

impl Mind for Played {
    fn ask(&self, request: &Request<'_>, watch: &dyn Watch) -> Result<Reply, Failure> {
        assert!(watch.is_wanted() && !watch.patience().is_zero());
        let mut told = self.told.lock().unwrap();
        told.push(request.messages.to_vec());
        let mut reply = (self.answer.lock().unwrap())(told.len())?;
        reply.usage =
            ModelUsage { input: bytes(request.messages) / 4 + 1, output: 5, ..ModelUsage::default() };
        Ok(reply)
    }
}

impl Played {
    fn new(answer: impl FnMut(usize) -> Result<Reply, Failure> + Send + 'static) -> Self {
        Self { answer: Arc::new(Mutex::new(Box::new(answer))), told: Arc::default() }
    }

    fn agent(&self) -> OwnLoop<Self> {
        let pricing = Pricing::Known(Price::default());
        let model = ModelFacts { name: "m".into(), window: 12_000, max_output: 2_000, pricing };
        let layers = Layers { texts: vec!["Base.".to_owned()] };
        OwnLoop::new(self.clone(), model, Told { layers, tools: Vec::new() })
    }

    fn told(&self) -> Vec<Vec<Message>> {
        self.told.lock().unwrap().clone()
    }
}

fn bytes(messages: &[Message]) -> u64 {
    let length = |message: &Message| match message {
        Message::User(text) => text.len(),
        Message::Assistant { text, calls, .. } => {
            text.len() + calls.iter().map(|call| json!(call.arguments).to_string().len()).sum::<usize>()
        }
        Message::Results(results) => results.iter().map(|result| result.text.len()).sum(),
    };
    messages.iter().map(length).sum::<usize>() as u64
}

fn says(text: &str, calls: &[(&str, Value)]) -> Reply {
    let calls: Vec<WantedCall> = calls
        .iter()
        .zip(0..)
        .map(|((tool, arguments), number)| WantedCall {
            id: format!("t{number}"),
            tool: (*tool).to_owned(),
            arguments: arguments.as_object().unwrap().clone(),
        })
        .collect();
    let end = if calls.is_empty() { End::Done } else { End::CallsWanted };
    let (text, echo, usage) = (text.to_owned(), None, ModelUsage::default());
    Reply { text, calls, echo, end, usage, model: "m".to_owned() }
}

fn complete() -> Reply {
    says("", &[("complete_step", json!({ "notes": "It is inverted." }))])
}

fn begun(home: &Home) -> SessionId {
    home.assigned("cassette: 1\nturns: []\n")
}

fn told_in(messages: &[Message]) -> String {
    format!("{messages:?}")
}

#[test]
fn a_model_is_told_what_its_calls_gave_and_hands_the_step_in() {
    let home = Home::new();
    let id = begun(&home);
    let played = Played::new(|request| {
        Ok(match request {
            1 => says(
                "I look.",
                &[("read", json!({ "path": "login.sh" })), ("glob", json!({ "pattern": "*" }))],
            ),
            2 => says("", &[("write", json!({ "$unreadable": "{\"path\"", "$problem": "EOF at 7" }))]),
            3 => says("", &[("complete_step", json!({}))]),
            4 => complete(),
            _ => says("", &[("complete_step", json!({ "notes": "Changed." }))]),
        })
    });
    let mut agent = played.agent();
    assert!(matches!(have_done(&home, id, &mut agent), StepEnd::Over));
    let told = played.told();
    assert!(told_in(&told[0]).contains("Look."), "{:?}", told[0]);
    assert!(told_in(&told[1]).contains("test 1 -gt 1"), "{:?}", told[1]);
    assert!(
        told_in(&told[2]).contains("no JSON object, so the call was not made: EOF at 7"),
        "{:?}",
        told[2]
    );
    let Some(Message::Results(refused)) = told[3].last() else { panic!("{:?}", told[3]) };
    assert!(refused[0].is_error, "notes are wanted: {refused:?}");
    for (before, after) in told.iter().zip(&told[1..]) {
        assert_eq!(&after[..before.len()], &before[..], "what was told stays");
    }
    assert!(matches!(have_done(&home, id, &mut agent), StepEnd::Over), "the next step");
    let last = played.told().pop().unwrap();
    assert!(told_in(&last).contains("handed in and accepted") && told_in(&last).contains("Change it."));
    assert_eq!(
        home.system().commands().unwrap().load_session(id).unwrap().closed,
        Some(CloseOutcome::Completed)
    );
}

#[test]
fn another_process_tells_the_same_bytes() {
    let home = Home::new();
    home.commit("long.txt", &"a line\n".repeat(1500));
    let id = begun(&home);
    let path = |request: usize| if request == 1 { "long.txt" } else { "login.sh" };
    let played = Played::new(move |request| match request {
        1..=3 => Ok(says("On.", &[("read", json!({ "path": path(request), "from": request }))])),
        _ => Err(Failure::Auth { message: "no".into() }),
    });
    have_done(&home, id, &mut played.agent());
    let other = Played::new(|_| Err(Failure::Auth { message: "no".into() }));
    let commands = home.system().commands().unwrap();
    let more = NewBudget { caps: limits::PLENTY, by: "ada".to_owned() };
    commands.set_budget(id, &more).unwrap();
    have_done(&home, id, &mut other.agent());
    assert_eq!(other.told()[0], *played.told().last().unwrap());
    assert!(bytes(&other.told()[0]) > 10_000, "long ones come from where they lie");
}

#[test]
fn whoever_only_talks_or_repeats_itself_is_told_so_and_stopped() {
    let home = Home::new();
    let id = begun(&home);
    let played = Played::new(|_| Ok(says("I think.", &[])));
    have_done(&home, id, &mut played.agent());
    let told = played.told();
    assert_eq!(told.len(), 3);
    assert!(told_in(&told[1]).contains("You ended your turn without a call"), "{:?}", told[1]);
    let parked = home.system().commands().unwrap().load_session(id).unwrap();
    assert!(matches!(parked.at, At::Parked(_)), "{:?}", parked.at);

    let id = begun(&home);
    let again = Played::new(|_| Ok(says("", &[("read", json!({ "path": "login.sh" }))])));
    have_done(&home, id, &mut again.agent());
    let told = again.told();
    assert_eq!(told.len(), 5);
    assert!(told_in(&told[3]).contains("You made the same call three times"), "{:?}", told[3]);
}

#[test]
fn what_was_cut_is_told_with_the_next_turn() {
    let home = Home::new();
    let id = begun(&home);
    let played = Played::new(|request| {
        Ok(match request {
            1 => Reply {
                end: End::MaxOutput,
                ..says("", &[("write", json!({ "path": "a", "content": "b" }))])
            },
            _ => complete(),
        })
    });
    have_done(&home, id, &mut played.agent());
    let told = played.told();
    let Some(Message::User(aside)) = told[1].last() else { panic!("{:?}", told[1]) };
    assert!(aside.contains("its last call, to `write`, was not made"), "{aside}");
    assert_eq!(told.len(), 2);
}

#[test]
fn a_long_step_is_compacted_on_record_and_told_the_same_by_whoever_takes_over() {
    let home = Home::new();
    let lines: Vec<String> = (0..1000).map(|line| format!("line {line:06}\n")).collect();
    home.commit("long.txt", &lines.concat());
    let id = begun(&home);
    let played = Played::new(|request| match request {
        1 => Ok(says("", &[("note_fact", json!({ "fact": "The API stays", "evidence": "README" }))])),
        2 => Ok(says("", &[("write", json!({ "path": "made.txt", "content": "x".repeat(6000) }))])),
        3..=60 => {
            let read = json!({ "path": "long.txt", "from": request, "lines": 200 });
            Ok(says("On.", &[("read", read)]))
        }
        _ => Err(Failure::Auth { message: "no".into() }),
    });
    have_done(&home, id, &mut played.agent());
    let told = played.told();
    assert!(told.iter().all(|messages| bytes(messages) / 4 < 10_000));
    let recaps: Vec<String> = home
        .did(id)
        .into_iter()
        .filter_map(|did| match did {
            AgentDid::Compacted { recap, .. } => recap,
            _ => None,
        })
        .collect();
    assert!(recaps.len() >= 2, "{}", recaps.len());
    let last = told_in(told.last().unwrap());
    for wanted in ["The API stays", "made.txt", "Look.", "fix it"] {
        assert!(last.contains(wanted) && recaps.last().unwrap().contains(wanted), "{wanted}: {last}");
    }
    let commands = home.system().commands().unwrap();
    commands.set_budget(id, &NewBudget { caps: limits::PLENTY, by: "ada".to_owned() }).unwrap();
    let other = Played::new(|_| Err(Failure::Auth { message: "no".into() }));
    have_done(&home, id, &mut other.agent());
    assert_eq!(other.told()[0], *told.last().unwrap());
}

#[test]
fn a_model_without_room_is_told_less_twice_and_then_given_up() {
    let home = Home::new();
    home.commit("long.txt", &"a line\n".repeat(800));
    let id = begun(&home);
    let played = Played::new(|request| match request {
        1..=4 => Ok(says("", &[("read", json!({ "path": "long.txt", "from": request }))])),
        _ => Err(Failure::ContextOverflow { message: "prompt is too long".into() }),
    });
    let end = have_done(&home, id, &mut played.agent());
    let StepEnd::NoAnswer(NoAnswer { fault: TurnFault::ContextOverflow, .. }) = end else {
        panic!("{end:?}")
    };
    let sizes: Vec<u64> = played.told().iter().map(|messages| bytes(messages)).collect();
    assert_eq!(sizes.len(), 7, "{sizes:?}");
    assert!(sizes[5] < sizes[4] * 6 / 10 && sizes[6] < sizes[5], "{sizes:?}");
}
