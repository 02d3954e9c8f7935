//! What goes wrong with a provider: every failure has its own end, and what may pass is asked again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use longhaul_testkit::model_server::{Answer, Asked, Fault, Protocol};
use serde_json::{Value, json};

use super::{World, fixes_it, id_of};
use crate::running::wait_until;
use crate::walking::one;

const AGENT: [&str; 2] = ["--agent", "anthropic/claude-haiku"];

/// Fails in the same way for ever.
fn always(fault: Fault) -> World {
    World::new(move |_| Answer::fail(fault.clone()))
}

/// Fails once, the second time that it is asked, and then does what it should.
fn once(answer: Answer) -> World {
    World::new(move |asked| if asked.number == 2 { answer.clone() } else { fixes_it(asked) })
}

fn in_seconds(seconds: i64) -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap() + seconds
}

#[test]
fn every_failure_that_lasts_ends_in_its_own_state() {
    let bad = Fault::BadRequest("there is no such model".to_owned());
    let at_once = Some("0".to_owned());
    let soon = Fault::RateLimit { retry_after: at_once.clone() };
    let overloaded = Fault::Overloaded { retry_after: at_once };
    for (fault, outcome, reason, requests) in [
        (Fault::Auth, "could_not", "auth", 1),
        (Fault::UsageLimit { resets_at_s: None }, "parked", "usage_limit", 1),
        (bad, "failed", "no_answer", 1),
        (soon, "failed", "no_answer", 5),
        (overloaded, "failed", "no_answer", 5),
        (Fault::ContextOverflow, "failed", "no_answer", 3),
        (Fault::Garbage, "failed", "no_answer", 5),
        (Fault::CutAfter(1), "failed", "no_answer", 5),
    ] {
        let world = always(fault.clone());
        let told = one(&world.run(&AGENT));
        let found = (&told["outcome"]["kind"], &told["outcome"]["reason"]);
        assert_eq!(found, (&json!(outcome), &json!(reason)), "{fault:?}: {told}");
        assert_eq!(world.server.tally().requests, requests, "{fault:?}");
        let failed = world.acts(&id_of(&told), &["failed"]);
        assert_eq!(failed.len() as u64, requests, "{fault:?}: each is on record");
    }
}

#[test]
fn a_provider_that_goes_away_is_asked_again_with_pauses_and_then_given_up() {
    let world = always(Fault::Status(502));
    let start = Instant::now();
    let told = one(&world.run(&AGENT));
    let found = (&told["outcome"]["kind"], &told["outcome"]["reason"]);
    assert_eq!(found, (&json!("failed"), &json!("no_answer")), "{told}");
    assert_eq!(world.server.tally().requests, 5, "it was asked again");
    assert!(start.elapsed() > Duration::from_secs(12), "not at once: {:?}", start.elapsed());
    let id = id_of(&told);
    let faults = world.acts(&id, &["failed"]);
    assert!(faults.iter().all(|failed| failed["fault"] == "network"), "{faults:#?}");
    let reason = parked(&world, &id).unwrap()["reasons"][0].clone();
    assert!(reason["message"].as_str().unwrap().contains("cannot be reached"), "{reason}");
    assert!(reason["fix"].as_str().unwrap().contains("agent check"), "{reason}");
}

#[test]
fn what_the_provider_says_of_a_request_that_it_does_not_take_is_the_reason() {
    let world = always(Fault::BadRequest("max_tokens: 99 is more than this model gives".to_owned()));
    let ended = world.run(&AGENT);
    let park = parked(&world, &id_of(&one(&ended))).unwrap();
    let message = park["reasons"][0]["message"].as_str().unwrap();
    assert!(message.ends_with(": max_tokens: 99 is more than this model gives"), "{message}");
    assert!(message.contains(AGENT[1]), "{message}");
    let shown = world.home.longhaul(&["session", "show", &id_of(&one(&ended))]).succeeded().stdout;
    assert!(shown.contains("max_tokens: 99 is more"), "{shown}");
}

#[test]
fn what_passes_is_asked_again_and_the_rest_goes_on_as_if_nothing_had_been() {
    let wrong = Answer::say("I look.").and_written_call("read", "{\"path\": \"login.sh\"");
    for (answer, more) in [
        (Answer::fail(Fault::CutAfter(1)), 1),
        (Answer::fail(Fault::Garbage), 1),
        (Answer::fail(Fault::RateLimit { retry_after: Some("0".to_owned()) }), 1),
        (Answer::fail(Fault::Overloaded { retry_after: Some("0".to_owned()) }), 1),
        // Not a failure of the turn: it is told what is wrong, and puts it right.
        (wrong, 1),
    ] {
        let world = once(answer.clone());
        let told = one(&world.run(&AGENT).succeeded());
        assert_eq!(told["outcome"]["kind"], "completed", "{answer:?}: {told}");
        assert!(world.server.tally().requests <= 4 + more, "{answer:?}: {:?}", world.server.tally());
    }
}

#[test]
fn arguments_that_are_no_json_are_answered_with_what_is_wrong() {
    let world = World::new(|asked| match asked.number {
        1 => Answer::say("").and_written_call("read", "{\"path\": login.sh}"),
        2 => {
            let told = asked.results().last().map(|result| result.text.clone()).unwrap_or_default();
            assert!(told.contains("no JSON object"), "{told}");
            Answer::call("complete_step", &json!({ "notes": "A." }))
        }
        _ => Answer::call("complete_step", &json!({ "notes": "B." })),
    });
    let told = one(&world.run(&AGENT).succeeded());
    assert_eq!(told["refusedCalls"], 1, "{told}");
}

#[test]
fn a_key_that_is_not_accepted_is_told_with_the_command_that_says_how_to_set_one() {
    let world = always(Fault::Auth);
    let told = one(&world.run(&AGENT));
    let park = parked(&world, &id_of(&told)).unwrap();
    let fix = park["reasons"][0]["fix"].as_str().unwrap();
    assert!(fix.contains(&format!("`longhaul agent check {}`", AGENT[1])), "{fix}");
}

#[test]
fn whoever_cannot_be_asked_is_followed_by_the_next_of_the_chain() {
    let world = World::new(|asked| match asked.protocol {
        Protocol::Messages => Answer::fail(Fault::Auth),
        Protocol::Chat | Protocol::Responses => fixes_it(asked),
    });
    let chain = "agents.tiers.heavy=anthropic/claude-haiku,openai/gpt-luna";
    let told = one(&world.run(&["--model", "heavy", "-c", chain]).succeeded());
    assert_eq!(told["agent"], "openai/gpt-luna", "{told}");
    let assigned = world.acts(&id_of(&told), &["assigned"]);
    let names: Vec<&str> = assigned.iter().filter_map(|act| act["agent"].as_str()).collect();
    assert_eq!(names, ["anthropic/claude-haiku", "openai/gpt-luna"]);
    assert!(assigned[1]["because"].as_str().unwrap().contains("does not accept the key"), "{assigned:?}");
    // The conversation goes on: who comes second is told what the first was, and nothing twice.
    let asked = world.server.asked();
    assert!(asked.iter().filter(|asked| asked.protocol == Protocol::Messages).count() == 1);
    assert!(asked[1].last_words().contains("Look."), "{}", asked[1].told());
}

#[test]
fn when_the_chain_is_at_its_end_what_can_be_waited_for_is_waited_for() {
    let until = in_seconds(3600);
    let world = World::new(move |asked| match asked.protocol {
        Protocol::Messages => Answer::fail(Fault::UsageLimit { resets_at_s: Some(until) }),
        Protocol::Chat | Protocol::Responses => Answer::fail(Fault::Auth),
    });
    let chain = "agents.tiers.heavy=anthropic/claude-haiku,openai/gpt-luna";
    let told = one(&world.run(&["--model", "heavy", "-c", chain, "--detach"]).succeeded());
    let id = id_of(&told);
    wait_until("it is parked", || parked(&world, &id).is_some());
    let park = parked(&world, &id).unwrap();
    assert_eq!(park["reasons"][0]["code"], "usage_limit", "{park}");
    assert_eq!((&park["waits"]["on"], &park["waits"]["until"]), (&json!("anthropic"), &json!(until * 1000)));
}

fn parked(world: &World, id: &str) -> Option<Value> {
    world.events(id).into_iter().rfind(|event| event["type"] == "parked")
}

#[test]
fn a_limit_that_is_used_up_is_waited_for_and_the_session_wakes_once() {
    let until = AtomicU64::new(0);
    let world = World::new(move |asked: &Asked| {
        if asked.number == 1 {
            let reset = in_seconds(3);
            until.store(u64::try_from(reset).unwrap(), Ordering::Relaxed);
            return Answer::fail(Fault::UsageLimit { resets_at_s: Some(reset) });
        }
        assert!(in_seconds(0) >= i64::try_from(until.load(Ordering::Relaxed)).unwrap(), "it came too early");
        fixes_it(asked)
    });
    let told = one(&world.run(&AGENT).succeeded());
    assert_eq!(told["outcome"]["kind"], "completed", "{told}");
    assert_eq!(world.server.tally().requests, 5);
    assert_eq!(world.acts(&id_of(&told), &["woken"]).len(), 1);
}

#[test]
fn whoever_comes_before_a_limit_is_new_again_asks_nobody_and_says_when_it_goes_on() {
    let until = in_seconds(3600);
    let world = World::new(move |_| Answer::fail(Fault::UsageLimit { resets_at_s: Some(until) }));
    let detached = ["--agent", "anthropic/claude-haiku", "--detach"];
    let first = id_of(&one(&world.run(&detached).succeeded()));
    wait_until("the first is parked", || parked(&world, &first).is_some());
    let second = id_of(&one(&world.run(&detached).succeeded()));
    wait_until("the second is parked", || parked(&world, &second).is_some());
    assert_eq!(world.server.tally().requests, 1, "nobody was asked in vain");
    let wakes = |id: &str| parked(&world, id).unwrap()["waits"]["wake_at"].as_i64().unwrap();
    assert!(wakes(&first) >= until * 1000 && wakes(&second) >= until * 1000);
    assert_ne!(wakes(&first), wakes(&second), "not all come back at once");
    let resumed = world.command(&["session", "resume", &first]).go();
    let shown = format!("{}{}", resumed.stdout, resumed.stderr);
    assert!(shown.contains("the limit of `anthropic` is used up until"), "{shown}");
    let listed = world.command(&["agent", "list"]).go();
    let row = listed.stdout.lines().find(|line| line.starts_with("anthropic/MODEL")).unwrap();
    assert!(row.contains("the limit of `anthropic` is used up until 20"), "{listed}");
    let checked = world.command(&["agent", "check", AGENT[1]]).go();
    assert_eq!(checked.code, Some(4), "{checked}");
    assert!(
        checked.stdout.contains("used up") && checked.stdout.contains("to do: wait: 2 sessions"),
        "{checked}"
    );
    let checkup = world.command(&["doctor"]).go();
    assert!(checkup.stdout.contains("limit of `anthropic`"), "{}", checkup.stdout);
}
