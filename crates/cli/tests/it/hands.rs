//! Real agents with hands of their own, as they come from their registry, behind full walls: each changes a file, hands
//! its step in through the gateway, and leaves nothing behind. Their models are scripted and on loopback, outside.

mod world;

use std::fs;

use longhaul_acp::{Beginning, EndCause, Update};
use longhaul_testkit::model_server::{Answer, Asked};
use serde_json::json;

use world::{Watcher, World};

#[test]
fn heavy_claude_code_does_a_step_behind_walls() {
    does_a_step("claude");
}

#[test]
fn heavy_codex_does_a_step_behind_walls() {
    does_a_step("codex");
}

#[test]
fn heavy_opencode_does_a_step_behind_walls() {
    does_a_step("opencode");
}

fn does_a_step(name: &str) {
    let world = World::new(name, script);
    let watcher = Watcher::default();
    let mut hands = world.start(None, &watcher);
    let turn = hands.prompt("Write hello.txt, then complete the step.", &watcher).unwrap();
    // Some say more beside, such as that they do not know this model.
    let is_said = turn.said.ends_with("All is done.");
    assert!(turn.cause == EndCause::EndTurn && is_said, "{turn:#?} {:#?}", watcher.heard());
    assert_eq!(fs::read_to_string(world.checkout().join("hello.txt")).unwrap(), "hello\n");
    assert_eq!(world.handed_in(), [json!({ "notes": "It is written." })]);
    assert!(
        turn.did.iter().any(|did| did.tool.contains("complete_step") || did.title.contains("complete_step"))
    );

    let session = hands.session().unwrap().to_owned();
    hands.end().unwrap();
    assert_eq!(world.processes(), 0, "something was left behind");
    // Who comes later finds the agent where it was.
    let mut hands = world.start(Some(&session), &watcher);
    assert_eq!(hands.beginning(), Beginning::Resumed);
    let turn = hands.prompt("And now?", &watcher).unwrap();
    assert!(turn.said.ends_with("All is done."), "{turn:#?} {:#?}", watcher.heard());
    let last = world.asked().into_iter().rfind(is_of_the_step).unwrap();
    assert!(last.told().contains("Write hello.txt") && last.told().contains("And now?"), "{}", last.told());
    drop(hands);
    assert_eq!(world.processes(), 0, "something was left behind");
    world.nobody_else_was_asked();
}

#[test]
fn heavy_a_real_agent_is_stopped_in_the_middle_with_all_that_it_started() {
    let world = World::new("codex", |asked, _| match asked.results().len() {
        0 if is_of_the_step(asked) => Answer::call("exec_command", &json!({ "cmd": "sleep 600" })),
        _ => Answer::say("A title"),
    });
    let watcher = Watcher::default();
    let mut hands = world.start(None, &watcher);
    watcher.stop_when(|update| matches!(update, Update::Began(_)));
    let turn = hands.prompt("Sleep.", &watcher).unwrap();
    assert_eq!(turn.cause, EndCause::Cancelled, "{:#?}", watcher.heard());
    hands.end().unwrap();
    assert_eq!(world.processes(), 0, "something was left behind");
}

/// A file, the step, a word: the agent repeats its whole conversation, so the number of results says how far it is.
fn script(asked: &Asked, checkout: &str) -> Answer {
    if !is_of_the_step(asked) {
        return Answer::say("A title");
    }
    let tools = asked.tools();
    let has = |name: &str| tools.iter().any(|tool| tool == name);
    let file = format!("{checkout}/hello.txt");
    match asked.results().len() {
        0 if has("Write") => Answer::call("Write", &json!({ "file_path": file, "content": "hello\n" })),
        0 if has("write") => Answer::call("write", &json!({ "filePath": file, "content": "hello\n" })),
        0 => Answer::call("exec_command", &json!({ "cmd": "echo hello > hello.txt" })),
        1 => {
            let tool = tools.iter().find(|tool| tool.ends_with("complete_step")).unwrap();
            Answer::call(tool, &json!({ "notes": "It is written." }))
        }
        _ => Answer::say("All is done."),
    }
}

/// Agents also ask for titles and summaries; those requests know no tool of ours.
fn is_of_the_step(asked: &Asked) -> bool {
    asked.tools().iter().any(|tool| tool.ends_with("complete_step"))
}
