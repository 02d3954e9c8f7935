//! What a run may use: held before a request, counted by the provider's own figures, and never more than the cap.

use std::time::Duration;

use longhaul_testkit::model_server::{Answer, Asked};
use serde_json::{Value, json};

use super::{World, fixes_it, id_of};
use crate::run::kill_runners;
use crate::running::wait_until;
use crate::walking::one;

/// Reads for ever, a little otherwise each time.
fn never_ends(asked: &Asked) -> Answer {
    let words = "I look at it once more. ".repeat(20);
    Answer::say(words).and_call(
        "bash",
        &json!({ "command": format!("echo {} ; head -c 3000 /dev/zero | tr '\\0' x", asked.number) }),
    )
}

#[test]
fn a_run_stays_within_its_tokens_by_the_providers_own_count() {
    for cap in [20_000_u64, 60_000] {
        let world = World::new(never_ends);
        let budget = format!("tokens={cap}");
        let told = one(&world.run(&["--agent", "anthropic/claude-haiku", "--budget", &budget]));
        assert_eq!(told["outcome"]["reason"], "budget_tokens", "{told}");
        let tally = world.server.tally();
        let used = tally.input_tokens + tally.output_tokens;
        assert!(used <= cap + cap / 50, "{used} of {cap}");
        assert!(used > cap / 2, "{used} of {cap}: it could have gone on");
        let spent = told["used"]["input"].as_u64().unwrap() + told["used"]["output"].as_u64().unwrap();
        assert_eq!(spent, used, "what is on record is what was used");
    }
}

#[test]
fn money_is_capped_by_what_the_model_costs_and_more_of_it_goes_on() {
    let world = World::new(never_ends);
    let told = one(&world.run(&["--agent", "anthropic/claude-opus", "--budget", "money=0.30usd"]));
    assert_eq!(told["outcome"]["reason"], "budget_money", "{told}");
    assert!(told["used"]["money_micros"].as_u64().unwrap() <= 300_000, "{told}");
    let before = world.server.tally().requests;
    let id = id_of(&told);
    world.command(&["session", "resume", &id, "--budget", "money=0.60usd"]).go().succeeded();
    wait_until("it goes on", || world.server.tally().requests > before);
    world.command(&["stop", &id, "--now"]).go();
}

#[test]
fn a_model_that_nobody_knows_the_price_of_is_not_asked() {
    let world = World::new(fixes_it);
    let refused = world.run(&["--agent", "anthropic/a-model-of-next-year"]);
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("what a turn of this agent costs"), "{}", refused.stderr);
    assert_eq!(world.server.tally().requests, 0);
}

#[test]
fn a_runner_that_is_killed_asks_the_turn_that_was_under_way_once_more_and_no_other() {
    let world = World::new(|asked| fixes_it(asked).dripping(Duration::from_millis(40)));
    let goal = ["run", "--workflow", "team.fix", "--goal", "fix it", "--json"];
    let arguments = [&goal[..], &["--agent", "anthropic/claude-haiku"]].concat();
    let running = world.command(&arguments).start();
    let mut kills = 0;
    for requests in [1, 3] {
        wait_until("a request is under way", || world.server.tally().requests >= requests);
        kills += kill_runners(&world.home);
    }
    let ended = running.wait_with_output().unwrap();
    let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(told["outcome"]["kind"], "completed", "{told}");
    let turns = world.acts(&id_of(&told), &["answered"]).len();
    let requests = usize::try_from(world.server.tally().requests).unwrap();
    assert!(kills > 0 && requests <= turns + kills, "{requests} requests, {turns} turns, {kills} kills");
    assert_eq!(turns, 4);
    // What was under way when they died counts as used, because nobody knows better.
    let (requested, billed) =
        (world.acts(&id_of(&told), &["requested"]), world.acts(&id_of(&told), &["billed"]));
    assert!(requested.len() - billed.len() <= kills, "{} and {}", requested.len(), billed.len());
}
