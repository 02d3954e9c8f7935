//! Whatever goes wrong has its type, on every wire.

use std::sync::Arc;
use std::time::{Duration, Instant};

use longhaul_gateway::{Estimate, Limited, Meter, Refused, Usage, Verdict};
use longhaul_model::{Door, Failure, Request, Wire, ask};
use longhaul_testkit::model_server::{Answer, Fault, ModelServer};

use crate::support::{Waiting, Wants, World, provider, user};

fn failure(wire: Wire, fault: Fault) -> Failure {
    World::playing(vec![Answer::fail(fault)]).ask(wire, &[user("Go.")]).unwrap_err()
}

#[test]
fn limits_keys_and_room_are_told_apart() {
    for wire in Wire::ALL {
        let limited = failure(wire, Fault::RateLimit { retry_after: Some("7".to_owned()) });
        assert!(
            matches!(limited, Failure::RateLimit { retry_after_ms: Some(7000), .. }),
            "{wire}: {limited:?}"
        );
        let limited = failure(wire, Fault::RateLimit { retry_after: None });
        assert!(matches!(limited, Failure::RateLimit { retry_after_ms: None, .. }), "{wire}: {limited:?}");
        let overloaded = failure(wire, Fault::Overloaded { retry_after: None });
        assert!(matches!(overloaded, Failure::Overloaded { .. }), "{wire}: {overloaded:?}");
        let used_up = failure(wire, Fault::UsageLimit { resets_at_s: Some(1_900_000_000) });
        assert!(
            matches!(used_up, Failure::UsageLimit { resets_at_ms: Some(1_900_000_000_000), .. }),
            "{wire}: {used_up:?}"
        );
        let used_up = failure(wire, Fault::UsageLimit { resets_at_s: None });
        assert!(matches!(used_up, Failure::UsageLimit { resets_at_ms: None, .. }), "{wire}: {used_up:?}");
        let auth = failure(wire, Fault::Auth);
        assert!(matches!(auth, Failure::Auth { .. }), "{wire}: {auth:?}");
        let overflow = failure(wire, Fault::ContextOverflow);
        assert!(matches!(overflow, Failure::ContextOverflow { .. }), "{wire}: {overflow:?}");
        let bad = failure(wire, Fault::BadRequest("there is no such model".to_owned()));
        assert_eq!(bad, Failure::BadRequest { message: "there is no such model".to_owned() }, "{wire}");
        let trouble = failure(wire, Fault::Status(500));
        assert!(matches!(trouble, Failure::Overloaded { .. }), "{wire}: {trouble:?}");
        let between = failure(wire, Fault::Status(504));
        assert!(matches!(between, Failure::Network { .. }), "{wire}: {between:?}");
    }
}

#[test]
fn an_answer_that_breaks_off_or_is_none_is_no_answer() {
    for wire in Wire::ALL {
        assert_eq!(failure(wire, Fault::CutAfter(0)), Failure::CutOff, "{wire}");
        assert_eq!(failure(wire, Fault::CutAfter(2)), Failure::CutOff, "{wire}");
        let garbage = failure(wire, Fault::Garbage);
        assert!(matches!(garbage, Failure::Garbage { .. }), "{wire}: {garbage:?}");
        let overloaded = failure(wire, Fault::ErrorAfter(1));
        assert!(matches!(overloaded, Failure::Overloaded { .. }), "{wire}: {overloaded:?}");
        let page = failure(wire, Fault::Status(200));
        assert!(matches!(page, Failure::Garbage { .. }), "{wire}: {page:?}");
    }
}

#[test]
fn an_answer_without_end_is_not_kept() {
    for wire in Wire::ALL {
        let endless = failure(wire, Fault::Endless);
        let Failure::Garbage { message } = endless else { panic!("{wire}: {endless:?}") };
        assert!(message.contains("16 MB"), "{wire}: {message}");
    }
}

#[test]
fn silence_is_endured_as_long_as_patience_lasts() {
    for wire in Wire::ALL {
        for fault in [Fault::Hang, Fault::HangAfter(0), Fault::HangAfter(1)] {
            let world = World::playing(vec![Answer::fail(fault.clone())]);
            let waiting = Waiting::patient_for(Duration::from_millis(300));
            let stalled = world.ask_watched(wire, &[user("Go.")], &waiting).unwrap_err();
            let Failure::Stalled { ms } = stalled else { panic!("{wire} {fault:?}: {stalled:?}") };
            assert!(ms >= 300, "{wire} {fault:?}: {ms}");
        }
    }
}

#[test]
fn who_only_shows_that_it_is_there_is_waited_for_longer_and_not_for_ever() {
    for wire in Wire::ALL {
        let world = World::playing(vec![Answer::fail(Fault::OnlyPings)]);
        let patience = Duration::from_millis(200);
        let waiting = Waiting::patient_for(patience);
        let stalled = world.ask_watched(wire, &[user("Go.")], &waiting).unwrap_err();
        let Failure::Stalled { ms } = stalled else { panic!("{wire}: {stalled:?}") };
        assert!(ms >= 1000, "{wire}: {ms}");
        assert!(waiting.heard.borrow().contains(&"alive".to_owned()), "{wire}");
    }
}

#[test]
fn whoever_is_called_off_ends_at_once() {
    for wire in Wire::ALL {
        let slow = Answer::say("x".repeat(2400)).dripping(Duration::from_millis(10));
        for (answer, wants) in [
            (Answer::fail(Fault::Hang), Wants::Looks(3)),
            (Answer::fail(Fault::HangAfter(1)), Wants::Looks(3)),
            // Pieces come faster than anybody looks up.
            (slow, Wants::Pieces(5)),
        ] {
            let world = World::playing(vec![answer]);
            let waiting = Waiting::wanting(wants);
            let begun = Instant::now();
            assert_eq!(world.ask_watched(wire, &[user("Go.")], &waiting), Err(Failure::Stopped), "{wire}");
            assert!(begun.elapsed() < Duration::from_secs(10), "{wire}: {:?}", begun.elapsed());
            if let Wants::Pieces(_) = wants {
                assert!(waiting.heard.borrow().len() < 60, "{wire}: {}", waiting.heard.borrow().len());
            }
        }
        let world = World::playing(Vec::new());
        let nobody = Waiting::wanting(Wants::Looks(0));
        assert_eq!(world.ask_watched(wire, &[user("Go.")], &nobody), Err(Failure::Stopped));
        assert_eq!(world.server.tally().requests, 0, "what nobody wants is not asked");
    }
}

/// Refuses everything, or cuts after so many tokens.
#[derive(Debug)]
struct Cap {
    most_output: Option<u64>,
}

impl Meter for Cap {
    fn admit(&self, _: &Estimate) -> Result<(), Refused> {
        let refused = Refused { cap: "session.tokens".to_owned(), words: "nothing is left".to_owned() };
        if self.most_output.is_some() { Ok(()) } else { Err(refused) }
    }

    fn count(&self, usage: &Usage) -> Verdict {
        match self.most_output {
            Some(most) if usage.output_tokens > most => {
                Verdict::Cut(Refused { cap: "session.tokens".to_owned(), words: "no more".to_owned() })
            }
            Some(_) | None => Verdict::GoOn,
        }
    }

    fn settle(&self, _: &Usage) {}

    fn limited(&self, _: &Limited) {}
}

#[test]
fn our_own_cap_is_no_limit_of_the_provider() {
    for wire in Wire::ALL {
        let server = ModelServer::playing(Vec::new()).unwrap();
        let world = World::behind(server, Arc::new(Cap { most_output: None }));
        let refused = world.ask(wire, &[user("Go.")]).unwrap_err();
        let Failure::OverCap { message } = refused else { panic!("{wire}: {refused:?}") };
        assert!(message.contains("session.tokens") && message.contains("nothing is left"), "{message}");
        assert_eq!(world.server.tally().requests, 0);

        let server = ModelServer::playing(vec![Answer::say("x".repeat(4000)).overlong()]).unwrap();
        let world = World::behind(server, Arc::new(Cap { most_output: Some(100) }));
        assert_eq!(world.ask(wire, &[user("Go.")]), Err(Failure::CutOff), "{wire}");
    }
}

#[test]
fn who_is_not_there_is_a_matter_of_the_network_and_who_is_unknown_of_the_request() {
    for wire in Wire::ALL {
        let world = World::playing(Vec::new());
        let messages = [user("Go.")];
        let request = Request { model: "m", system: &[], tools: &[], messages: &messages, max_output: 9 };
        let outcome = |door: &Door| ask(door, wire, &request, &Waiting::default()).unwrap_err();
        let provider = provider(wire);
        let gone = outcome(&world.door(&format!("gone-{provider}")));
        assert!(matches!(gone, Failure::Network { .. }), "{wire}: {gone:?}");
        let nobody = outcome(&Door { socket: "/nowhere/s.sock".into(), ..world.door(provider) });
        assert!(matches!(nobody, Failure::Network { .. }), "{wire}: {nobody:?}");
        let unknown = outcome(&world.door("somebody"));
        assert!(matches!(unknown, Failure::BadRequest { .. }), "{wire}: {unknown:?}");
        let stranger = outcome(&Door { token: "lh-guessed".to_owned(), ..world.door(provider) });
        assert!(matches!(stranger, Failure::Auth { .. }), "{wire}: {stranger:?}");
        assert_eq!(world.server.tally().requests, 0);
    }
}
