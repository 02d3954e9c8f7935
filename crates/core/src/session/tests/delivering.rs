//! What others have seen cannot be taken back.

use longhaul_events::{DeliveryAct, DeliveryFact};

use super::*;

fn at_work() -> Session {
    session(&[
        opened(),
        handed_out(2, None, FIRST),
        finished(2, FIRST, None),
        SessionEvent::WorkBegan {
            work: NodeId(Seq(4)),
            after: Some(NodeId(Seq(2))),
            step: StepId("ship".into()),
            place: Place::default(),
        },
        taken(1, 9_000),
    ])
}

fn deliver(epoch: u64, act: DeliveryAct) -> Command {
    let fact = DeliveryFact::Intended { act, key: "k".to_owned(), what: text("it") };
    Command::Deliver { epoch: Epoch(epoch), work: NodeId(Seq(4)), fact }
}

fn rewind(node: u64) -> Command {
    let restored = Restored { step: StepId("build".into()), place: Place::default(), vars: BTreeMap::new() };
    let arrival = Arrival::Work { step: StepId("ship".into()), place: Place::default() };
    let (node, reason, by) = (NodeId(Seq(node)), text("go"), "ada".to_owned());
    Command::Rewind { rewind: RewindTo { node, reason, by, restored, restore: None, nonce: AGAIN, arrival } }
}

fn done(session: &mut Session, command: Command) {
    let events = session.decide(command).unwrap();
    events.iter().for_each(|event| session.apply(event));
}

#[test]
fn from_the_intent_of_an_outward_act_on_nothing_leads_behind_it() {
    let mut session = at_work();
    done(&mut session, deliver(1, DeliveryAct::Commit));
    assert!(session.decide(rewind(2)).is_ok(), "nobody has seen a commit");
    done(&mut session, deliver(1, DeliveryAct::Branch));
    let past = Err(Rejection::PastDelivery { step: StepId("ship".into()) });
    assert_eq!(session.decide(rewind(2)), past);
    let held = Actor { epoch: Some(Epoch(1)), ..ANYBODY };
    let reissue = Command::Reissue { actor: held, node: NodeId(Seq(2)), nonce: AGAIN };
    assert_eq!(session.decide(reissue), past, "nor does an older handle");
    assert!(session.decide(rewind(4)).is_ok(), "the delivery itself may be taken up again");
    done(&mut session, rewind(4));
    assert_eq!(session.decide(rewind(2)), past, "also after that");
}

#[test]
fn only_the_driver_puts_an_act_on_record_and_only_for_its_own_work() {
    let session = at_work();
    let stale = Err(Rejection::StaleDriver { epoch: Epoch(2), current: Epoch(1) });
    assert_eq!(session.decide(deliver(2, DeliveryAct::Merge)), stale);
    let fact = DeliveryFact::Intended { act: DeliveryAct::Merge, key: "k".to_owned(), what: text("it") };
    let other = Command::Deliver { epoch: Epoch(1), work: NodeId(Seq(3)), fact };
    assert_eq!(session.decide(other), Err(Rejection::NoSuchWork { work: NodeId(Seq(3)) }));
}
