//! History in, command, facts out.

mod delivering;
mod limits;

use longhaul_events::{
    CloseOutcome, Content, Digest, Driver, Epoch, NodeId, Nonce, Seq, SessionEvent, SessionId, SessionKey,
    StepId, Taint, Timestamp,
};
use serde_json::json;

use super::*;

const ID: SessionId = SessionId::from_bytes([1; 8]);
const FIRST: Nonce = Nonce::from_bytes([1; 5]);
const SECOND: Nonce = Nonce::from_bytes([2; 5]);
const AGAIN: Nonce = Nonce::from_bytes([9; 5]);
const ANYBODY: Actor = Actor { epoch: None, now: Timestamp(1000) };

fn text(text: &str) -> Content {
    Content::Inline(json!(text))
}

fn opened() -> SessionEvent {
    SessionEvent::Opened {
        key: SessionKey::from_bytes([7; 16]),
        goal: text("goal"),
        workspace: None,
        parent: None,
        task: None,
    }
}

fn driver() -> Driver {
    Driver { host: "laptop".into(), process: 42, started: None }
}

fn taken(epoch: u64, until: i64) -> SessionEvent {
    SessionEvent::DriverTaken { epoch: Epoch(epoch), driver: driver(), expires_at: Timestamp(until) }
}

fn handed_out(node: u64, after: Option<u64>, nonce: Nonce) -> SessionEvent {
    SessionEvent::StepHandedOut {
        node: NodeId(Seq(node)),
        after: after.map(|after| NodeId(Seq(after))),
        step: StepId("build".into()),
        prompt: text("Build it."),
        nonce,
        place: Place::default(),
    }
}

fn finished(node: u64, nonce: Nonce, epoch: Option<u64>) -> SessionEvent {
    SessionEvent::StepFinished {
        node: NodeId(Seq(node)),
        nonce,
        payload: text("built"),
        payload_hash: Digest::ZERO,
        answer: text("good"),
        epoch: epoch.map(Epoch),
    }
}

fn step(nonce: Nonce) -> NewStep {
    NewStep { step: StepId("build".into()), prompt: text("Build it."), nonce, place: Place::default() }
}

fn finish(node: u64, nonce: Nonce, actor: Actor) -> Command {
    let finish = FinishStep {
        node: NodeId(Seq(node)),
        nonce,
        payload: text("built"),
        payload_hash: Digest::ZERO,
        answer: text("good"),
        onward: Arrival::Step(step(AGAIN)).into(),
        restored: None,
    };
    Command::Finish { actor, finish }
}

fn session(events: &[SessionEvent]) -> Session {
    Session::fold(ID, events).unwrap()
}

#[test]
fn a_history_that_does_not_open_is_no_session() {
    assert_eq!(Session::fold(ID, &[taken(1, 5)]), None);
    assert_eq!(Session::fold(ID, &[]), None);
}

#[test]
fn the_first_step_is_named_after_its_event() {
    let command = Command::HandOut { actor: ANYBODY, step: step(FIRST) };
    assert_eq!(session(&[opened()]).decide(command), Ok(vec![handed_out(2, None, FIRST)]));
}

#[test]
fn a_second_step_waits_for_the_first() {
    let command = Command::HandOut { actor: ANYBODY, step: step(SECOND) };
    let rejection = Rejection::StepIsOut { step: StepId("build".into()) };
    assert_eq!(session(&[opened(), handed_out(2, None, FIRST)]).decide(command), Err(rejection));
}

#[test]
fn finishing_hands_out_the_next_step() {
    let session = session(&[opened(), handed_out(2, None, FIRST)]);
    let expected = vec![finished(2, FIRST, None), handed_out(4, Some(2), AGAIN)];
    assert_eq!(session.decide(finish(2, FIRST, ANYBODY)), Ok(expected));
}

#[test]
fn a_handle_is_live_once() {
    let session = session(&[
        opened(),
        handed_out(2, None, FIRST),
        finished(2, FIRST, None),
        handed_out(4, Some(2), SECOND),
    ]);
    let (node, nonce) = (NodeId(Seq(2)), FIRST);
    assert!(!session.is_live(node, nonce));
    assert_eq!(session.decide(finish(2, FIRST, ANYBODY)), Err(Rejection::NotLive { node, nonce }));
}

#[test]
fn using_a_reissued_handle_is_a_fork() {
    let mut history = vec![
        opened(),
        handed_out(2, None, FIRST),
        finished(2, FIRST, None),
        handed_out(4, Some(2), SECOND),
        SessionEvent::HandleReissued { node: NodeId(Seq(2)), nonce: AGAIN },
    ];
    let events = session(&history).decide(finish(2, AGAIN, ANYBODY)).unwrap();
    let forked = SessionEvent::Forked {
        from: NodeId(Seq(2)),
        nonce: AGAIN,
        left: Some(NodeId(Seq(4))),
        restored: None,
    };
    assert_eq!(events, [forked, finished(2, AGAIN, None), handed_out(8, Some(2), AGAIN)]);

    history.extend(events);
    let after = session(&history);
    assert!(!after.is_live(NodeId(Seq(2)), AGAIN), "a reissued handle is live once too");
    assert!(!after.is_live(NodeId(Seq(4)), SECOND), "the branch that was left has no live handle");
    assert!(after.is_live(NodeId(Seq(8)), AGAIN));
}

#[test]
fn a_handle_from_before_does_not_lead_past_a_gate_or_a_park() {
    let before = [
        opened(),
        handed_out(2, None, FIRST),
        finished(2, FIRST, None),
        handed_out(4, Some(2), SECOND),
        SessionEvent::HandleReissued { node: NodeId(Seq(2)), nonce: AGAIN },
    ];
    assert!(session(&before).is_live(NodeId(Seq(2)), AGAIN));
    let parked = SessionEvent::Parked {
        node: NodeId(Seq(6)),
        after: Some(NodeId(Seq(4))),
        step: StepId("build".into()),
        reasons: Vec::new(),
        place: Place::default(),
        waits: None,
    };
    let gate = SessionEvent::GateOpened {
        gate: NodeId(Seq(6)),
        after: Some(NodeId(Seq(4))),
        step: StepId("build".into()),
        kind: GateKind::Gate,
        accepts: Channel::Terminal,
        question: text("Go on?"),
        until: Timestamp(9000),
        place: Place::default(),
    };
    for stop in [parked, gate] {
        let mut history = before.to_vec();
        history.push(stop);
        let (node, nonce) = (NodeId(Seq(2)), AGAIN);
        assert_eq!(
            session(&history).decide(finish(2, AGAIN, ANYBODY)),
            Err(Rejection::NotLive { node, nonce })
        );
    }
}

#[test]
fn going_back_by_older_handles_comes_to_an_end() {
    let mut history = vec![opened(), handed_out(2, None, FIRST)];
    let back = |history: &mut Vec<SessionEvent>| {
        history.push(SessionEvent::HandleReissued { node: NodeId(Seq(2)), nonce: AGAIN });
        let events = session(history).decide(finish(2, AGAIN, ANYBODY))?;
        history.extend(events);
        Ok(())
    };
    for _ in 0..MOST_RETURNS {
        assert_eq!(back(&mut history), Ok(()));
    }
    assert_eq!(back(&mut history), Err(Rejection::TooManyReturns { returns: MOST_RETURNS }));
    let rewound =
        SessionEvent::Rewound { to: NodeId(Seq(2)), by: "ada".into(), reason: text("go"), restore: None };
    history.push(rewound);
    assert_eq!(back(&mut history), Ok(()), "a person has looked at it");
}

#[test]
fn only_so_many_reissued_handles_are_remembered() {
    let mut session = session(&[opened(), handed_out(2, None, FIRST)]);
    for n in 0..40u8 {
        session
            .apply(&SessionEvent::HandleReissued { node: NodeId(Seq(2)), nonce: Nonce::from_bytes([n; 5]) });
    }
    assert_eq!(session.reissued.len(), REISSUED_KEPT);
    assert!(session.is_live(NodeId(Seq(2)), Nonce::from_bytes([39; 5])));
}

#[test]
fn a_node_from_the_future_is_not_reissued() {
    let node = NodeId(Seq(99));
    let command = Command::Reissue { actor: ANYBODY, node, nonce: AGAIN };
    assert_eq!(session(&[opened()]).decide(command), Err(Rejection::NoSuchNode { node }));
}

#[test]
fn a_held_lease_keeps_everybody_else_out() {
    let session = session(&[opened(), taken(1, 2000), handed_out(3, None, FIRST)]);
    let driven = Rejection::Driven { driver: driver(), epoch: Epoch(1), until: Timestamp(2000) };
    assert_eq!(session.decide(finish(3, FIRST, ANYBODY)), Err(driven.clone()));
    let take = Command::TakeDriver { driver: driver(), lease_ms: 10, now: Timestamp(1999) };
    assert_eq!(session.decide(take), Err(driven));
}

#[test]
fn an_expired_lease_is_noticed_by_whoever_comes_next() {
    let session = session(&[opened(), taken(1, 2000)]);
    let take = Command::TakeDriver { driver: driver(), lease_ms: 500, now: Timestamp(3000) };
    let expired = SessionEvent::DriverExpired { epoch: Epoch(1), expired_at: Timestamp(2000) };
    assert_eq!(session.decide(take), Ok(vec![expired, taken(2, 3500)]));
}

#[test]
fn a_driver_that_was_seen_dead_keeps_nobody_waiting() {
    let session = session(&[opened(), taken(1, 2000)]);
    let expired = SessionEvent::DriverExpired { epoch: Epoch(1), expired_at: Timestamp(1200) };
    let notice = |epoch| Command::NoticeDeath { epoch: Epoch(epoch), now: Timestamp(1200) };
    assert_eq!(session.decide(notice(1)), Ok(vec![expired]));
    let stale = Rejection::StaleDriver { epoch: Epoch(2), current: Epoch(1) };
    assert_eq!(session.decide(notice(2)), Err(stale));
}

#[test]
fn a_driver_that_was_replaced_is_refused() {
    let expired = SessionEvent::DriverExpired { epoch: Epoch(1), expired_at: Timestamp(2000) };
    let session = session(&[opened(), taken(1, 2000), expired, taken(2, 9000), handed_out(5, None, FIRST)]);
    let stale = Rejection::StaleDriver { epoch: Epoch(1), current: Epoch(2) };
    let late = Actor { epoch: Some(Epoch(1)), now: Timestamp(2500) };
    assert_eq!(session.decide(finish(5, FIRST, late)), Err(stale.clone()));
    assert_eq!(session.decide(Command::ReleaseDriver { epoch: Epoch(1) }), Err(stale.clone()));
    let renew = Command::RenewDriver { epoch: Epoch(1), lease_ms: 5, now: Timestamp(2500) };
    assert_eq!(session.decide(renew), Err(stale));
}

#[test]
fn a_driver_that_renewed_late_but_was_not_replaced_goes_on() {
    let session = session(&[opened(), taken(1, 2000), handed_out(3, None, FIRST)]);
    let late = Actor { epoch: Some(Epoch(1)), now: Timestamp(9000) };
    let expected = vec![finished(3, FIRST, Some(1)), handed_out(5, Some(3), AGAIN)];
    assert_eq!(session.decide(finish(3, FIRST, late)), Ok(expected));
}

#[test]
fn a_clock_that_jumps_back_never_shortens_a_lease() {
    let session = session(&[opened(), taken(1, 2000)]);
    let renew = Command::RenewDriver { epoch: Epoch(1), lease_ms: 100, now: Timestamp(-50_000) };
    let renewed = SessionEvent::DriverRenewed { epoch: Epoch(1), expires_at: Timestamp(2000) };
    assert_eq!(session.decide(renew), Ok(vec![renewed]));
}

#[test]
fn expiry_is_wanted_once_and_only_when_due() {
    let session = session(&[opened(), taken(1, 2000)]);
    let (epoch, until) = (Epoch(1), Timestamp(2000));
    assert_eq!(session.wanted(), [Effect::NoticeExpiry { epoch, at: until }]);
    let early = Command::NoticeExpiry { epoch, now: Timestamp(1999) };
    assert_eq!(session.decide(early), Err(Rejection::NotExpired { epoch, until }));
    let due = session.decide(Command::NoticeExpiry { epoch, now: until }).unwrap();
    let mut after = session;
    due.iter().for_each(|event| after.apply(event));
    assert_eq!(after.wanted(), []);
}

#[test]
fn a_closed_session_takes_nothing_more_and_wants_nothing() {
    let closed = SessionEvent::Closed { outcome: CloseOutcome::Completed };
    let session = session(&[opened(), taken(1, 2000), handed_out(3, None, FIRST), closed]);
    assert_eq!(session.decide(finish(3, FIRST, ANYBODY)), Err(Rejection::Closed));
    assert_eq!(session.wanted(), []);
}

#[test]
fn the_state_survives_being_written_down() {
    let session = session(&[opened(), taken(1, 2000), handed_out(3, None, FIRST)]);
    let text = serde_json::to_string(&session).unwrap();
    assert_eq!(serde_json::from_str::<Session>(&text).unwrap(), session);
}

fn own_checkout() -> OwnCheckout {
    OwnCheckout {
        name: "q3-fix".into(),
        path: "/checkouts/q3-fix".into(),
        kind: longhaul_events::CheckoutKind::Borrowed,
        main_dir: "/src/.git".into(),
        branch: "longhaul/q3-fix".into(),
        base_branch: "main".into(),
        base_commit: "a0".into(),
        secrets: Vec::new(),
        ports: Vec::new(),
    }
}

fn kept(snapshot: &str) -> Command {
    kept_as(snapshot, KeptAs::Between)
}

fn kept_as(snapshot: &str, as_what: KeptAs) -> Command {
    let because = "step `build` ended".to_owned();
    let (tree, head) = ("c0".to_owned(), None);
    let kept = KeptSnapshot { snapshot: snapshot.to_owned(), tree, head, because, left_out: Vec::new() };
    Command::KeepSnapshot { kept, as_what }
}

#[test]
fn what_a_rewind_wants_back_is_due_until_the_step_begins_with_it() {
    let mut session = session(&[opened(), handed_out(2, None, FIRST)]);
    let first = NodeId(Seq(2));
    let mut go = |command: Command| {
        let events = session.decide(command).unwrap();
        events.iter().for_each(|event| session.apply(event));
        (events.len(), session.workplace.clone().unwrap(), session.node().unwrap())
    };
    go(Command::MakeCheckout { checkout: own_checkout() });
    let (_, begun, _) = go(kept_as("b1", KeptAs::Beginning(first)));
    assert_eq!((begun.begins, begun.due), (Some(first), None));
    assert_eq!(go(kept_as("b1", KeptAs::Beginning(first))).0, 0, "it is known");
    go(kept("b2"));
    let restored = Restored { step: StepId("build".into()), place: Place::default(), vars: BTreeMap::new() };
    let arrival = Arrival::Work { step: StepId("build".into()), place: Place::default() };
    let (reason, by, restore) = (text("go"), "ada".into(), Some("b1".into()));
    let rewind = RewindTo { node: first, reason, by, restored, restore, nonce: FIRST, arrival };
    let (_, wanted, second) = go(Command::Rewind { rewind });
    assert_eq!(wanted.due.as_deref(), Some("b1"));
    assert_ne!(second, first);
    for late in [kept("b3"), kept_as("b4", KeptAs::Beginning(first))] {
        assert_eq!(go(late).1.due.as_deref(), Some("b1"), "whoever is late changes nothing");
    }
    let (events, back, _) = go(kept_as("b1", KeptAs::Beginning(second)));
    assert_eq!((events, back.due, back.begins), (1, None, Some(second)));
    assert_eq!(back.snapshot.as_deref(), Some("b1"));
}

#[test]
fn a_session_has_one_checkout_at_a_time_and_its_snapshots_outlive_it() {
    let mut session = Session::fold(ID, &[opened()]).unwrap();
    let make = || Command::MakeCheckout { checkout: own_checkout() };
    assert_eq!(session.decide(kept("b1")), Err(Rejection::NoCheckout));
    session.decide(make()).unwrap().iter().for_each(|event| session.apply(event));
    let there = Rejection::HasCheckout { name: "q3-fix".into(), path: "/checkouts/q3-fix".into() };
    assert_eq!(session.decide(make()), Err(there));
    session.decide(kept("b1")).unwrap().iter().for_each(|event| session.apply(event));
    assert_eq!(session.decide(kept("b1")), Ok(Vec::new()));
    session.apply(&SessionEvent::Closed { outcome: CloseOutcome::Completed });
    let remove = Command::RemoveCheckout { by: "ada".into(), because: "merged".into() };
    let removed = session.decide(remove.clone()).unwrap();
    assert!(matches!(&removed[..], [SessionEvent::CheckoutRemoved { snapshot: Some(id), .. }] if id == "b1"));
    removed.iter().for_each(|event| session.apply(event));
    assert_eq!(session.decide(remove), Err(Rejection::NoCheckout));
    session.decide(make()).unwrap().iter().for_each(|event| session.apply(event));
    let workplace = session.workplace.unwrap();
    assert_eq!((workplace.is_gone, workplace.snapshot.as_deref()), (false, Some("b1")));
}

fn steer() -> Command {
    Command::Steer { words: text("the other file"), by: "ada".into(), nonce: AGAIN }
}

fn steered(node: u64) -> SessionEvent {
    let act = AgentAct::Steered { words: text("the other file"), by: "ada".into() };
    SessionEvent::Agent { node: Some(NodeId(Seq(node))), act }
}

#[test]
fn a_person_speaks_beside_a_driver_and_takes_up_what_was_parked() {
    let act = AgentAct::Assigned {
        agent: "rehearsal".into(),
        settings: text(""),
        because: None,
        taint: Taint::Clean,
    };
    let assigned = SessionEvent::Agent { node: Some(NodeId(Seq(2))), act };
    let mut history = vec![opened(), handed_out(2, None, FIRST)];
    assert_eq!(session(&history).decide(steer()), Err(Rejection::NotDriven));
    history.extend([assigned, taken(1, 9000)]);
    assert_eq!(session(&history).decide(steer()), Ok(vec![steered(2)]), "the lease is not in the way");
    let reasons = vec![Reason::new("stuck", "it only talks", "say something")];
    let parked = session(&history).decide(Command::Park { epoch: Epoch(1), reasons, waits: None }).unwrap();
    history.extend(parked);
    let (node, nonce) = (NodeId(Seq(2)), AGAIN);
    let unparked = SessionEvent::Unparked { node, nonce, step: StepId("build".into()), by: "ada".into() };
    let taken_up = session(&history).decide(steer()).unwrap();
    assert_eq!(taken_up, [unparked, steered(2)]);
    history.extend(taken_up);
    assert!(session(&history).is_tip(node, nonce), "the step is out again, under a handle of its own");
    history.push(finished(2, AGAIN, None));
    assert_eq!(session(&history).decide(steer()), Err(Rejection::NobodyListens));
    history.push(SessionEvent::Closed { outcome: CloseOutcome::Completed });
    assert_eq!(session(&history).decide(steer()), Err(Rejection::Closed));
}

#[test]
fn what_is_told_is_heard_later_by_who_has_no_step_and_takes_up_nothing() {
    let tell = || Command::Tell { words: text("the other file"), by: "ada".into() };
    let act = AgentAct::Assigned {
        agent: "rehearsal".into(),
        settings: text(""),
        because: None,
        taint: Taint::Clean,
    };
    let assigned = SessionEvent::Agent { node: Some(NodeId(Seq(2))), act };
    let mut history = vec![opened(), handed_out(2, None, FIRST)];
    assert_eq!(session(&history).decide(tell()), Err(Rejection::NotDriven));
    history.extend([assigned, taken(1, 9000)]);
    assert_eq!(session(&history).decide(tell()), Ok(vec![steered(2)]));
    let reasons = vec![Reason::new("budget_money", "it costs too much", "give it more")];
    let mut parked = history.clone();
    parked.extend(session(&history).decide(Command::Park { epoch: Epoch(1), reasons, waits: None }).unwrap());
    assert_eq!(
        session(&parked).decide(tell()),
        Ok(vec![steered(2)]),
        "it stays parked, and hears it when it goes on"
    );
    history.push(finished(2, FIRST, None));
    assert_eq!(session(&history).decide(tell()), Err(Rejection::NobodyListens));
}
