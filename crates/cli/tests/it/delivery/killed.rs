//! Whoever delivers is killed without warning, before and after each effect.

use std::fs;

use longhaul_runtime::forge::{Fault, FaultAct, FaultMoment, FaultOn};
use serde_json::json;

use super::shop::{ALL, Shop};
use crate::running::wait_until;

/// What is asked of a forge in a delivery, in order.
const ACTS: [FaultOn; 6] = [
    FaultOn::Push,
    FaultOn::OpenPull,
    FaultOn::Comment,
    FaultOn::Merge,
    FaultOn::RemoveBranch,
    FaultOn::Close,
];

fn fault(on: FaultOn, when: FaultMoment, act: FaultAct) -> Fault {
    Fault { on, when, act, times: 1, ms: 60_000 }
}

fn ready() -> (Shop, String) {
    let shop = Shop::new(ALL);
    let session = shop.worked("fix the login", |tree| fs::write(tree.join("login.sh"), "exit 0\n").unwrap());
    shop.prove(&session, &json!({ "decision": "auto" }));
    (shop, session)
}

/// Kills a runner at the moment that a fault marks, and has another go on.
fn killed_at(on: FaultOn, when: FaultMoment) {
    let (shop, session) = ready();
    shop.faults(&[fault(on, when, FaultAct::Slow)]);
    let mut runner = shop.runner(&session);
    let mark = shop.local().folder().join("slow");
    wait_until("the moment comes", || mark.exists());
    runner.kill().unwrap();
    runner.wait().unwrap();
    let result = shop.delivered(&session);
    assert_eq!(result["outcome"], "delivered", "{on:?} {when:?}: {result:#}");
    assert_eq!(shop.forge_git(&["show", "main:login.sh"]), "exit 0");
    shop.is_delivered_once(&session);
}

#[test]
fn a_runner_that_is_killed_before_an_effect_is_followed_by_one_that_does_it_once() {
    for on in ACTS {
        killed_at(on, FaultMoment::Before);
    }
}

#[test]
fn a_runner_that_is_killed_after_an_effect_is_followed_by_one_that_sees_that_it_was_done() {
    for on in ACTS {
        killed_at(on, FaultMoment::After);
    }
}

#[test]
fn an_outcome_that_nobody_knows_is_looked_up_and_a_forge_that_is_away_is_asked_again() {
    for when in [FaultMoment::Before, FaultMoment::After] {
        let (shop, session) = ready();
        shop.faults(&ACTS.map(|on| fault(on, when, FaultAct::Fail)));
        let result = shop.delivered(&session);
        assert_eq!(result["outcome"], "delivered", "{when:?}: {result:#}");
        shop.is_delivered_once(&session);
        let found =
            result["receipts"].as_array().unwrap().iter().filter(|one| one["outcome"] == "found").count();
        assert_eq!(found, if when == FaultMoment::After { ACTS.len() } else { 0 }, "{result:#}");
    }
}

#[test]
fn heavy_a_delivery_that_is_killed_at_every_boundary_of_its_log_comes_to_the_same_end() {
    // How many facts a whole delivery puts on record.
    let facts = |shop: &Shop, session: &str| {
        let rows = shop.home.longhaul(&["log", "show", session, "--json"]).succeeded().rows();
        rows.iter().filter(|row| row["event"]["type"] == "delivery").count()
    };
    let (shop, session) = ready();
    assert_eq!(shop.delivered(&session)["outcome"], "delivered");
    let all = facts(&shop, &session);
    assert_eq!(all, 14);
    let every = if longhaul_testkit::full() { 1 } else { 5 };
    for boundary in (1..=all).step_by(every) {
        let (shop, session) = ready();
        let mut runner = shop.runner(&session);
        wait_until("so much is on record", || facts(&shop, &session) >= boundary);
        runner.kill().unwrap();
        runner.wait().unwrap();
        if shop.at(&session) == "ship" {
            assert_eq!(shop.delivered(&session)["outcome"], "delivered", "killed after {boundary} facts");
        }
        shop.is_delivered_once(&session);
    }
}
