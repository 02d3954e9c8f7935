//! Handles, leases and answers, over the log in memory and over SQLite.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use longhaul_core::handle::Handle;
use longhaul_core::scrub::{Scrubber, Secret};
use longhaul_core::session::{self, Rejection};
use longhaul_events::{CloseOutcome, Driver, Epoch, NodeId, Seq, SessionEvent, SessionId, StepId, Timestamp};
use longhaul_store::{Access, MemoryLog, Options, SqliteLog};
use serde_json::{Value, json};

use super::Commands;
use super::opaque::{Answered, FinishRequest, NewSession, Next, StepRequest, ThenRequest};
use crate::clock::{Clock, Entropy};
use crate::error::Error;

#[derive(Default)]
struct Hand(AtomicI64);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

struct Desk {
    commands: Commands,
    clock: Arc<Hand>,
}

impl Desk {
    fn in_memory() -> Self {
        let clock = Arc::new(Hand::default());
        let log = Arc::new(MemoryLog::default());
        let commands = Commands::over(log, scrubber(), clock.clone(), Entropy::seeded(1));
        Self { commands, clock }
    }

    fn at(folder: &Path) -> Self {
        let options = Options { folder: folder.to_owned(), poke: None, access: Access::Write };
        let clock = Arc::new(Hand::default());
        let store = Arc::new(SqliteLog::open(&options).unwrap());
        let commands = Commands::over_store(store, scrubber(), clock.clone(), Entropy::System);
        Self { commands, clock }
    }

    fn open(&self) -> SessionId {
        self.commands.open_session(NewSession { goal: json!("goal"), workspace: None, parent: None }).unwrap()
    }

    fn first(&self) -> (SessionId, Handle) {
        let id = self.open();
        (id, self.commands.hand_out(id, step("one"), None).unwrap())
    }

    fn finish(&self, handle: Handle, payload: Value) -> Result<Answered, Error> {
        self.commands.finish_step(finish(handle, payload))
    }

    fn advance(&self, handle: Handle, payload: Value) -> Handle {
        match self.finish(handle, payload).unwrap().next {
            Next::Step(next) => next,
            Next::Closed => panic!("closed"),
        }
    }
}

fn scrubber() -> Scrubber {
    Scrubber::new(&[Secret { name: "CANARY".into(), value: "sing-little-bird".into() }])
}

fn step(name: &str) -> StepRequest {
    StepRequest { step: StepId(name.into()), prompt: json!("Do it.") }
}

fn finish(handle: Handle, payload: Value) -> FinishRequest {
    let answer = json!({"accepted": payload});
    FinishRequest { handle, payload, answer, then: ThenRequest::HandOut(step("next")), epoch: None }
}

fn driver(process: u32) -> Driver {
    Driver { host: "laptop".into(), process, started: None }
}

#[test]
fn the_same_call_gets_the_same_answer_for_ever() {
    let desk = Desk::in_memory();
    let (_, handle) = desk.first();
    let first = desk.finish(handle, json!({"a": 1, "b": [2.0]})).unwrap();
    let Next::Step(mut next) = first.next else { panic!("closed") };
    for n in 0..200 {
        next = desk.advance(next, json!(n));
    }
    let again = desk.finish(handle, json!({"b": [2], "a": 1.0})).unwrap();
    assert_eq!(again, Answered { replayed: true, ..first });
}

#[test]
fn other_content_under_a_used_handle_is_refused_with_both_shown() {
    let desk = Desk::in_memory();
    let (_, handle) = desk.first();
    desk.finish(handle, json!("mine")).unwrap();
    let Err(Error::DifferentPayload { recorded, sent }) = desk.finish(handle, json!("yours")) else {
        panic!()
    };
    assert_eq!((recorded, sent), (json!("mine"), json!("yours")));
}

#[test]
fn an_answer_survives_closing_and_the_end_is_said_again() {
    let desk = Desk::in_memory();
    let (id, handle) = desk.first();
    let last =
        FinishRequest { then: ThenRequest::Close(CloseOutcome::Completed), ..finish(handle, json!(1)) };
    assert_eq!(desk.commands.finish_step(last.clone()).unwrap().next, Next::Closed);
    assert_eq!(desk.commands.finish_step(last).unwrap().next, Next::Closed);
    assert_eq!(desk.commands.current_handle(id).unwrap(), None);
}

#[test]
fn answers_come_from_any_process() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (Desk::at(folder.path()), Desk::at(folder.path()));
    let (_, handle) = one.first();
    let large = json!("x".repeat(200_000));
    let first = one.finish(handle, large.clone()).unwrap();
    assert_eq!(two.finish(handle, large).unwrap(), Answered { replayed: true, ..first });
}

#[test]
fn two_who_finish_at_once_agree() {
    let folder = tempfile::tempdir().unwrap();
    let desks = [Desk::at(folder.path()), Desk::at(folder.path()), Desk::at(folder.path())];
    let (_, mut handle) = desks[0].first();
    for n in 0..20 {
        let answers: Vec<Answered> = std::thread::scope(|scope| {
            let calls = desks.iter().map(|desk| scope.spawn(move || desk.finish(handle, json!(n)).unwrap()));
            let calls: Vec<_> = calls.collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        assert_eq!(answers.iter().filter(|answer| !answer.replayed).count(), 1, "accepted once");
        assert!(answers.iter().all(|answer| answer.next == answers[0].next));
        let Next::Step(next) = answers[0].next else { panic!("closed") };
        handle = next;
    }
}

#[test]
fn a_forged_or_foreign_handle_is_refused() {
    let desk = Desk::in_memory();
    let (_, handle) = desk.first();
    let (_, other) = desk.first();
    let forged = handle.to_string().replace(&other.session.to_string(), &handle.session.to_string());
    let mixed =
        forged.rsplit_once('.').unwrap().0.to_owned() + "." + other.to_string().rsplit_once('.').unwrap().1;
    let mixed: Handle = mixed.parse().unwrap();
    assert!(matches!(desk.finish(mixed, json!(1)), Err(Error::ForgedHandle(_))));
    let nobody = SessionId::from_bytes([9; 8]).to_string();
    let nobody: Handle = handle.to_string().replace(&handle.session.to_string(), &nobody).parse().unwrap();
    assert!(matches!(desk.finish(nobody, json!(1)), Err(Error::UnknownSession(_))));
}

#[test]
fn asking_for_an_older_node_gives_a_fresh_handle_and_using_it_forks() {
    let desk = Desk::in_memory();
    let (id, first) = desk.first();
    let second = desk.advance(first, json!(1));
    assert_eq!(desk.commands.ask_again(id, second.node, None).unwrap(), second, "the newest stays the same");
    let again = desk.commands.ask_again(id, first.node, None).unwrap();
    assert_ne!(again, first);
    let branch = desk.advance(again, json!("another way"));
    assert_eq!(desk.commands.current_handle(id).unwrap(), Some(branch));
    assert!(matches!(desk.finish(second, json!(2)), Err(Error::Superseded)), "the old branch was left");
    assert!(desk.finish(first, json!(1)).unwrap().replayed, "what was answered stays answered");
    assert!(desk.finish(again, json!("another way")).unwrap().replayed);
    let back = desk.commands.ask_again(id, second.node, None).unwrap();
    desk.advance(back, json!("back on the first way"));
}

#[test]
fn a_node_that_was_never_handed_out_is_refused() {
    let desk = Desk::in_memory();
    let (id, _) = desk.first();
    for node in [1, 3, 999] {
        let refused = desk.commands.ask_again(id, NodeId(Seq(node)), None);
        assert!(matches!(refused, Err(Error::Session(Rejection::NoSuchNode { .. }))), "{node}");
    }
}

#[test]
fn a_driver_keeps_others_out_until_its_lease_ends_and_is_then_fenced_off() {
    let desk = Desk::in_memory();
    let (id, handle) = desk.first();
    let commands = &desk.commands;
    let one = commands.take_driver(id, &driver(1), 1000).unwrap();
    let held = |result: Result<Epoch, Error>| matches!(result, Err(Error::Session(Rejection::Driven { .. })));
    assert!(held(commands.take_driver(id, &driver(2), 1000)));
    assert!(matches!(desk.finish(handle, json!(1)), Err(Error::Session(Rejection::Driven { .. }))));
    desk.clock.0.store(900, Ordering::Relaxed);
    commands.renew_driver(id, one, 1000).unwrap();
    desk.clock.0.store(1500, Ordering::Relaxed);
    assert!(held(commands.take_driver(id, &driver(2), 1000)), "renewed until 1900");
    desk.clock.0.store(1900, Ordering::Relaxed);
    let two = commands.take_driver(id, &driver(2), 1000).unwrap();
    let late = FinishRequest { epoch: Some(one), ..finish(handle, json!(1)) };
    let refused = commands.finish_step(late).unwrap_err();
    assert!(matches!(refused, Error::Session(Rejection::StaleDriver { .. })), "{refused}");
    let right = FinishRequest { epoch: Some(two), ..finish(handle, json!(1)) };
    assert!(!commands.finish_step(right).unwrap().replayed);
    commands.release_driver(id, two).unwrap();
    assert!(commands.notice_expiry(id, two).is_err());
}

#[test]
fn a_state_of_another_release_is_folded_anew() {
    let desk = Desk::in_memory();
    let (id, handle) = desk.first();
    let before = desk.commands.load_session(id).unwrap();
    let log = desk.commands.recorder.log.clone();
    let later = longhaul_store::State { fold_version: session::FOLD_VERSION + 1, bytes: b"{}".to_vec() };
    let noticed = SessionEvent::HandleReissued { node: handle.node, nonce: handle.nonce };
    let part =
        longhaul_store::StreamAppend::new(id.into(), before.seq, std::slice::from_ref(&noticed), Some(later));
    log.append(longhaul_store::Append {
        at: Timestamp(0),
        state_epoch: 0,
        streams: vec![part],
        blobs: vec![],
    })
    .unwrap();
    let mut expected = before;
    expected.apply(&noticed);
    assert_eq!(desk.commands.load_session(id).unwrap(), expected);
    desk.advance(handle, json!("the memory of this process is refused, and what is in the log counts"));
}

#[test]
fn a_state_that_was_forgotten_is_folded_anew() {
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::at(folder.path());
    let (id, handle) = desk.first();
    let next = desk.advance(handle, json!(1));
    let before = desk.commands.load_session(id).unwrap();
    desk.commands.redact("a value that is nowhere", longhaul_store::Names::Spare).unwrap();
    let store = desk.commands.store.as_ref().unwrap();
    store.redact(&Scrubber::redacting("goal"), longhaul_store::Names::Spare).unwrap();
    assert_eq!(longhaul_store::Log::head(&**store, id.into()).unwrap().unwrap().state, None);
    assert_eq!(desk.commands.load_session(id).unwrap(), before, "replay = live");
    desk.advance(next, json!(2));
}

#[test]
fn what_was_redacted_does_not_come_back_from_the_memory_of_another_process() {
    const WORD: &str = "walrus-and-carpenter";
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (Desk::at(folder.path()), Desk::at(folder.path()));
    let (first, second) = (one.open(), one.open());
    let handle = one.commands.hand_out(first, step(WORD), None).unwrap();
    one.commands.hand_out(second, step(WORD), None).unwrap();
    two.commands.redact(WORD, longhaul_store::Names::TakeOut).unwrap();
    for id in [first, second] {
        one.commands.take_driver(id, &driver(1), 0).unwrap();
        desk_holds_no(WORD, folder.path());
    }
    one.advance(handle, json!(1));
    desk_holds_no(WORD, folder.path());
}

fn desk_holds_no(word: &str, folder: &Path) {
    for file in files(folder) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(word.len()).any(|window| window == word.as_bytes()), "{}", file.display());
    }
}

#[test]
fn a_secret_that_is_a_document_is_kept_out_too() {
    let document = json!({"client": "robot", "private": "key of the kingdom"});
    let secret = Secret { name: "ACCOUNT".into(), value: document.to_string().into() };
    let folder = tempfile::tempdir().unwrap();
    let options = Options { folder: folder.path().to_owned(), poke: None, access: Access::Write };
    let store = Arc::new(SqliteLog::open(&options).unwrap());
    let clock = Arc::new(Hand::default());
    let commands = Commands::over_store(store, Scrubber::new(&[secret]), clock, Entropy::System);
    commands.open_session(NewSession { goal: document.clone(), workspace: None, parent: None }).unwrap();
    let goal = json!({"wrapped": [document.clone()]});
    commands.open_session(NewSession { goal, workspace: None, parent: None }).unwrap();
    desk_holds_no("key of the kingdom", folder.path());
}

#[test]
fn a_secret_is_stored_through_no_entry() {
    const BIRD: &str = "sing-little-bird";
    let folder = tempfile::tempdir().unwrap();
    let desk = Desk::at(folder.path());
    let commands = &desk.commands;
    let goal = json!({BIRD: [BIRD, {"deep": format!("x{BIRD}y")}]});
    let id = commands.open_session(NewSession { goal, workspace: None, parent: None }).unwrap();
    let told = Driver { host: format!("host-{BIRD}"), process: 1, started: None };
    let epoch = commands.take_driver(id, &told, 10).unwrap();
    commands.release_driver(id, epoch).unwrap();
    let secret_step = |size: usize| StepRequest {
        step: StepId(format!("step-{BIRD}")),
        prompt: json!(format!("{BIRD} ").repeat(size)),
    };
    let mut handle = commands.hand_out(id, secret_step(1), None).unwrap();
    for size in [1, 1000, 10_000] {
        let request = FinishRequest {
            handle,
            payload: json!({"notes": BIRD.repeat(size), "n": [1, 2, size]}),
            answer: json!([BIRD.repeat(size)]),
            then: ThenRequest::HandOut(secret_step(size)),
            epoch: None,
        };
        let answered = commands.finish_step(request.clone()).unwrap();
        assert!(!answered.answer.to_string().contains(BIRD));
        assert_eq!(
            commands.finish_step(request.clone()).unwrap(),
            Answered { replayed: true, ..answered.clone() }
        );
        let refused = commands.finish_step(FinishRequest { payload: json!(BIRD), ..request }).unwrap_err();
        assert!(!refused.to_string().contains(BIRD), "{refused}");
        let Next::Step(next) = answered.next else { panic!("closed") };
        handle = next;
    }
    commands.close_session(id, &CloseOutcome::Failed { reason: format!("because {BIRD}") }, None).unwrap();
    commands.remove_workspace(longhaul_events::WorkspaceId::from_bytes([1; 5]), BIRD).unwrap_err();
    longhaul_store::views::Views::new(folder.path()).sessions(&**commands.store.as_ref().unwrap()).unwrap();
    desk_holds_no(BIRD, folder.path());
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}
