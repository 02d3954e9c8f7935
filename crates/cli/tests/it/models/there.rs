//! Servers that are not there when a session would start: told at once, with what to do about it.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use super::{KEY, World, fixes_it};
use crate::walking::one;

/// An address of this machine that nobody listens at.
fn nobody() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

const RUN: [&str; 6] = ["run", "--workflow", "team.fix", "--goal", "fix it", "--json"];

fn sessions(world: &World) -> usize {
    world.home.longhaul(&["session", "list", "--all", "--json"]).rows().len()
}

#[test]
fn a_server_of_ones_own_that_is_down_is_told_at_once() {
    let world = World::new(fixes_it);
    let start = Instant::now();
    let address = nobody();
    let refused = world
        .command(&[&RUN[..], &["--agent", "ollama/small"]].concat())
        .variable("OLLAMA_HOST", &address)
        .go();
    assert_eq!(refused.code, Some(4), "{refused}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    for word in ["E0910", "nobody is there", "ollama", "`longhaul agent check ollama/small`"] {
        assert!(refused.stderr.contains(word), "{word}: {refused}");
    }
    assert_eq!(sessions(&world), 0, "nothing was begun");
}

#[test]
fn an_address_that_leads_nowhere_is_told_at_once() {
    let world = World::new(fixes_it);
    for (base, says) in [
        (format!("http://{}", nobody()), "nobody is there"),
        ("http://no-such-host.invalid/v1".to_owned(), "nobody is there"),
        ("nonsense".to_owned(), "E0"),
        ("ftp://example.com".to_owned(), "neither `https:` nor `http:`"),
    ] {
        let start = Instant::now();
        let refused = world
            .command(&[&RUN[..], &["--agent", "anthropic/claude-haiku"]].concat())
            .variable("ANTHROPIC_BASE_URL", &base)
            .variable("ANTHROPIC_API_KEY", KEY)
            .go();
        assert!(refused.code != Some(0) && refused.stderr.contains(says), "{base}: {refused}");
        assert!(start.elapsed() < Duration::from_secs(15), "{base}: {:?}", start.elapsed());
        let checked = world
            .command(&["agent", "check", "anthropic/claude-haiku"])
            .variable("ANTHROPIC_BASE_URL", &base)
            .variable("ANTHROPIC_API_KEY", KEY)
            .go();
        assert!(checked.code == Some(4) && checked.stdout.contains("to do: "), "{base}: {checked}");
    }
    assert_eq!((sessions(&world), world.server.tally().requests), (0, 0));
}

#[test]
fn one_of_a_chain_who_is_there_is_enough() {
    let world = World::new(fixes_it);
    let chain = "agents.tiers.heavy=ollama/small,openai/gpt-luna";
    let tier = ["--model", "heavy", "-c", chain];
    let arguments = [&RUN[..], &tier].concat();
    let begun =
        world.command(&[&arguments[..], &["--detach"]].concat()).variable("OLLAMA_HOST", nobody()).go();
    let told = one(&begun.succeeded());
    let id = told["sessionId"].as_str().unwrap();
    world.command(&["stop", id, "--now"]).go().succeeded();
}
