//! What caches need: the same bytes for the same beginning, and marks where the protocol wants them.

use longhaul_model::{Request, Wire, ask};
use longhaul_testkit::model_server::{Answer, Asked};
use serde_json::{Value, json};

use crate::support::{Waiting, World, layers, provider, results, said, tools, user};

/// Marks wander with the newest message; no cache counts them among what it compares.
fn unmarked(asked: &Asked) -> String {
    let text = String::from_utf8(asked.bytes.clone()).unwrap();
    text.replace(r#","cache_control":{"type":"ephemeral"}"#, "")
}

/// A conversation of a few turns, with calls; the requests as they came.
fn conversation(wire: Wire) -> Vec<Asked> {
    let world = World::new(|asked| match asked.number {
        4 => Answer::say("Done."),
        number => Answer::say("Next.")
            .and_call("look", &json!({ "at": number }))
            .and_call("read", &json!({ "b": 1, "a": 2 })),
    });
    let (system, tools) = (layers(), tools());
    let mut messages = vec![user("Find it.")];
    for turn in 0..4 {
        // What may be answered changes with the budget, and must not change what comes before.
        let max_output = 4000 - turn * 7;
        let request =
            Request { model: "gpt-5.1", system: &system, tools: &tools, messages: &messages, max_output };
        let door = world.door(provider(wire));
        let reply = ask(&door, wire, &request, &Waiting::default()).unwrap();
        let sent = world.server.asked().pop().unwrap().bytes.len();
        assert_eq!(request.bytes(&door, wire), u64::try_from(sent).unwrap(), "{wire}");
        messages.push(said(&reply));
        messages.push(results(&reply, "found"));
    }
    world.server.asked()
}

#[test]
fn a_request_has_the_bytes_of_the_one_before_up_to_what_is_new() {
    for wire in Wire::ALL {
        let asked = conversation(wire);
        for pair in asked.windows(2) {
            let (before, after) = (unmarked(&pair[0]), unmarked(&pair[1]));
            let shared = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
            let last = pair[0].messages().last().unwrap();
            let last = last.to_string().replace(r#","cache_control":{"type":"ephemeral"}"#, "");
            let end = before.rfind(&last).unwrap() + last.len();
            assert!(shared >= end, "{wire}: they part at {shared}, before {end}:\n{before}\n{after}");
        }
        // And the same request has the same bytes.
        let again: Vec<Vec<u8>> = conversation(wire).into_iter().map(|asked| asked.bytes).collect();
        let bytes: Vec<Vec<u8>> = asked.into_iter().map(|asked| asked.bytes).collect();
        assert_eq!(bytes, again, "{wire}");
    }
}

fn marked(asked: &Asked, pointer: &str) -> bool {
    asked.body.pointer(pointer).is_some_and(|block| block["cache_control"] == json!({ "type": "ephemeral" }))
}

#[test]
fn messages_mark_tools_the_stable_layers_and_the_newest_words() {
    let asked = conversation(Wire::AnthropicMessages);
    let last = asked.last().unwrap();
    assert_eq!(last.messages().len(), 7);
    for pointer in ["/tools/1", "/system/1", "/messages/4/content/1", "/messages/6/content/1"] {
        assert!(marked(last, pointer), "{pointer}: {:#}", last.body);
    }
    let marks = String::from_utf8_lossy(&last.bytes).matches("cache_control").count();
    assert_eq!(marks, 4, "a request with more marks is refused");
    let first = String::from_utf8_lossy(&asked[0].bytes).matches("cache_control").count();
    assert_eq!(first, 3);
}

#[test]
fn the_other_wires_name_the_conversation_where_that_is_known() {
    for wire in [Wire::OpenAiChat, Wire::OpenAiResponses] {
        let asked = conversation(wire);
        let keys: Vec<&Value> = asked.iter().map(|asked| &asked.body["prompt_cache_key"]).collect();
        assert!(keys[0].is_string() && keys.iter().all(|key| *key == keys[0]), "{wire}: {keys:?}");
        assert!(!String::from_utf8_lossy(&asked[0].bytes).contains("cache_control"));
    }
    let world = World::playing(Vec::new());
    let messages = [user("Go.")];
    let request = Request { model: "llama3", system: &[], tools: &[], messages: &messages, max_output: 9 };
    ask(&world.door("ollama"), Wire::OpenAiChat, &request, &Waiting::default()).unwrap();
    let asked = &world.server.asked()[0];
    assert_eq!(asked.body.get("prompt_cache_key"), None, "who does not know it may refuse it");
    assert_eq!(asked.body["max_tokens"], 9);
}
