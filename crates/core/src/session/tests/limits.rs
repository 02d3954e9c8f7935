//! Budgets, taking up what was parked, and stopping.

use longhaul_events::{Caps, Held, ModelUsage, Urgency, Waits};

use super::*;

const CAPS: Caps =
    Caps { tokens: 1, time_ms: 2, money_micros: 3, turns: 4, task_money_micros: 5, day_money_micros: 6 };

fn parked(code: &str) -> Vec<SessionEvent> {
    let reasons = vec![Reason::new(code, "so", "do this")];
    let park = SessionEvent::Parked {
        node: NodeId(Seq(3)),
        after: Some(NodeId(Seq(2))),
        step: StepId("build".into()),
        reasons,
        place: Place::default(),
        waits: None,
    };
    vec![opened(), handed_out(2, None, FIRST), park]
}

fn budget() -> Command {
    Command::SetBudget { budget: NewBudget { caps: CAPS, by: "ada".into() }, nonce: AGAIN }
}

fn budgeted(node: u64) -> SessionEvent {
    let act = AgentAct::Budgeted { caps: CAPS, by: "ada".into() };
    SessionEvent::Agent { node: Some(NodeId(Seq(node))), act }
}

fn wish(by: &str, urgency: Urgency) -> Command {
    Command::RequestStop { wish: StopWish { by: by.into(), urgency, reason: None } }
}

fn wished(by: &str, urgency: Urgency) -> SessionEvent {
    SessionEvent::StopRequested { by: by.into(), urgency, reason: None }
}

#[test]
fn what_was_parked_for_want_of_means_goes_on_at_its_old_node() {
    let mut session = session(&parked("budget_tokens"));
    let unparked = SessionEvent::Unparked {
        node: NodeId(Seq(2)),
        nonce: AGAIN,
        step: StepId("build".into()),
        by: "ada".into(),
    };
    let events = session.decide(budget()).unwrap();
    assert_eq!(events, [unparked, budgeted(2)]);
    events.iter().for_each(|event| session.apply(event));
    assert!(session.is_tip(NodeId(Seq(2)), AGAIN));
    assert_eq!(session.caps, Some(CAPS));
}

#[test]
fn a_budget_does_not_lift_what_needs_a_person() {
    let session = session(&parked("stuck"));
    assert_eq!(session.decide(budget()), Ok(vec![budgeted(3)]));
}

#[test]
fn a_budget_is_changed_beside_a_driver_at_work() {
    let session = session(&[opened(), handed_out(2, None, FIRST), taken(1, 5000)]);
    assert_eq!(session.decide(budget()), Ok(vec![budgeted(2)]));
}

#[test]
fn who_stops_first_is_named_and_only_more_urgency_is_new() {
    let mut session = session(&[opened(), handed_out(2, None, FIRST)]);
    let grace = wished("ada", Urgency::AfterGrace);
    assert_eq!(session.decide(wish("ada", Urgency::AfterGrace)), Ok(vec![grace.clone()]));
    session.apply(&grace);
    assert_eq!(session.decide(wish("bob", Urgency::AfterGrace)), Ok(Vec::new()));
    let now = wished("bob", Urgency::Now);
    assert_eq!(session.decide(wish("bob", Urgency::Now)), Ok(vec![now.clone()]));
    session.apply(&now);
    let expected = StopWish { by: "ada".into(), urgency: Urgency::Now, reason: None };
    assert_eq!(session.stop, Some(expected));
}

#[test]
fn nobody_goes_on_with_what_is_to_end_and_the_end_is_the_end() {
    let mut session = session(&[opened(), handed_out(2, None, FIRST), wished("ada", Urgency::AfterGrace)]);
    let stopping = Rejection::Stopping { by: "ada".into() };
    let take = Command::TakeDriver { driver: driver(), lease_ms: 10, now: Timestamp(1) };
    assert_eq!(session.decide(take), Err(stopping.clone()));
    assert_eq!(session.decide(budget()), Err(stopping.clone()));
    assert_eq!(session.decide(rewind()), Err(stopping));
    let outcome = CloseOutcome::Cancelled { by: "ada".into(), reason: None };
    session.apply(&SessionEvent::Closed { outcome });
    assert_eq!(session.stop, None);
    assert_eq!(session.decide(wish("bob", Urgency::Now)), Err(Rejection::Closed));
}

fn rewind() -> Command {
    let (step, place) = (StepId("build".into()), Place::default());
    let restored = Restored { step: step.clone(), place: place.clone(), vars: BTreeMap::new() };
    let rewind = RewindTo {
        node: NodeId(Seq(2)),
        reason: text("go"),
        by: "ada".into(),
        restored,
        restore: None,
        nonce: SECOND,
        arrival: Arrival::Work { step, place },
    };
    Command::Rewind { rewind }
}

fn waiting(until: i64) -> Session {
    let mut events = parked("usage_limit");
    let (on, until) = ("anthropic".to_owned(), Timestamp(until));
    let due = Waits { on, until, wake_at: until.plus_ms(5) };
    if let Some(SessionEvent::Parked { waits, .. }) = events.last_mut() {
        *waits = Some(due);
    }
    session(&events)
}

fn wake(node: u64, now: i64) -> Command {
    Command::Wake { node: NodeId(Seq(node)), nonce: AGAIN, now: Timestamp(now) }
}

#[test]
fn what_waits_for_a_limit_goes_on_once_when_it_is_due() {
    let mut session = waiting(1000);
    assert_eq!(session.decide(wake(3, 1004)), Err(Rejection::NotDue));
    assert_eq!(session.decide(wake(2, 1005)), Err(Rejection::NotDue), "another time that it was parked");
    let events = session.decide(wake(3, 1005)).unwrap();
    let woken = SessionEvent::Agent { node: Some(NodeId(Seq(2))), act: AgentAct::Woken };
    assert_eq!(events.last(), Some(&woken));
    events.iter().for_each(|event| session.apply(event));
    assert!(session.is_tip(NodeId(Seq(2)), AGAIN));
    assert_eq!(session.decide(wake(3, 1005)), Err(Rejection::NotDue), "only once");
}

#[test]
fn what_waits_for_a_person_does_not_go_on_by_itself_and_neither_does_what_is_to_end() {
    let stuck = session(&parked("stuck"));
    assert_eq!(stuck.decide(wake(3, i64::MAX)), Err(Rejection::NotDue));
    let mut session = waiting(1000);
    session.apply(&wished("ada", Urgency::AfterGrace));
    assert!(matches!(session.decide(wake(3, i64::MAX)), Err(Rejection::Stopping { .. })));
}

#[test]
fn a_bill_is_owed_also_when_nobody_drives_the_session_or_it_is_over() {
    let held = Held { cost_micros: 9, ..Held::default() };
    let bill = AgentAct::Billed {
        request: 2,
        provider: "p".into(),
        model: "m".into(),
        usage: ModelUsage { input: 3, ..ModelUsage::default() },
        cost_micros: 4,
        held,
    };
    let closed = [opened(), SessionEvent::Closed { outcome: CloseOutcome::Completed }];
    let owed = session(&closed).decide(Command::Settle { node: None, act: bill.clone() });
    assert_eq!(owed, Ok(vec![SessionEvent::Agent { node: None, act: bill }]));
}
