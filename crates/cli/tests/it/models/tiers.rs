//! Steps that name a tier: each is done by whoever the settings name for it, in one session.

use longhaul_testkit::model_server::Protocol;
use serde_json::json;

use super::{World, fixes_it, id_of};
use crate::walking::{one, workflow};

const WORKFLOW: &str = "longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\nsteps:\n\
    \x20 - { id: look, prompt: Look., model: light }\n  - { id: change, prompt: Change it., model: heavy }\n";

const LIGHT: [&str; 2] = ["-c", "agents.tiers.light=anthropic/claude-haiku"];
const HEAVY: [&str; 2] = ["-c", "agents.tiers.heavy=openai/gpt-luna"];
const USUAL: [&str; 2] = ["--agent", "ollama/small"];

fn world() -> World {
    let world = World::new(fixes_it);
    workflow(&world.home, "team.fix.yml", WORKFLOW);
    world
}

/// Who was asked, request by request.
fn asked(world: &World) -> Vec<Protocol> {
    world.server.asked().iter().map(|asked| asked.protocol).collect()
}

#[test]
fn each_step_is_done_by_the_model_of_its_tier() {
    let world = world();
    let told = one(&world.run(&[&USUAL[..], &LIGHT, &HEAVY].concat()).succeeded());
    assert_eq!(told["outcome"]["kind"], "completed", "{told}");
    assert_eq!(
        asked(&world),
        [Protocol::Messages, Protocol::Messages, Protocol::Responses, Protocol::Responses],
        "who does the rest has nothing to do"
    );
    let models: Vec<String> = world
        .acts(&id_of(&told), &["billed"])
        .iter()
        .map(|bill| bill["provider"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(models, ["anthropic", "anthropic", "openai", "openai"]);
    let second = &world.server.asked()[2];
    let bytes = String::from_utf8_lossy(&second.bytes);
    assert!(bytes.contains("It is inverted."), "who comes second knows what the first handed in: {bytes}");
}

#[test]
fn a_tier_that_nobody_set_is_done_by_whoever_does_the_rest() {
    let world = world();
    let told = one(&world.run(&[&USUAL[..], &HEAVY].concat()).succeeded());
    assert_eq!(told["outcome"]["kind"], "completed", "{told}");
    assert_eq!(asked(&world), [Protocol::Chat, Protocol::Chat, Protocol::Responses, Protocol::Responses]);
    assert_eq!(told["agent"], json!("ollama/small"), "{told}");
}
