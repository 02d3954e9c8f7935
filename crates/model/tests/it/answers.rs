//! What models say, as it arrives: on every wire the same.

use std::time::Duration;

use longhaul_model::{CallResult, End, Message, ModelUsage, Reply, Request, Wire, ask};
use longhaul_testkit::model_server::{Answer, Stop};
use serde_json::{Value, json};

use crate::support::{Waiting, World, provider, results, said, tools, user};

#[test]
fn words_and_all_calls_at_once_arrive_whole_and_in_pieces() {
    for wire in Wire::ALL {
        let long = "I look at both places, because the one may hide what the other shows. ä€𝄞";
        let world = World::playing(vec![
            Answer::say(long)
                .and_call("look", &json!({ "at": 7, "why": "the first of the places is nearer" }))
                .and_call("read", &json!({})),
        ]);
        let waiting = Waiting::default();
        let reply = world.ask_watched(wire, &[user("Find it.")], &waiting).unwrap();
        assert_eq!((reply.text.as_str(), reply.end), (long, End::CallsWanted), "{wire}");
        let calls: Vec<(&str, Value)> =
            reply.calls.iter().map(|call| (call.tool.as_str(), json!(call.arguments))).collect();
        let wanted =
            [("look", json!({ "at": 7, "why": "the first of the places is nearer" })), ("read", json!({}))];
        assert_eq!(calls, wanted, "{wire}");
        assert_ne!(reply.calls[0].id, reply.calls[1].id);
        let heard = waiting.heard.borrow();
        let spoken: String = heard.iter().filter_map(|piece| piece.strip_prefix("said ")).collect();
        assert_eq!(spoken, long, "{wire}");
        assert!(heard.iter().filter(|piece| piece.starts_with("said ")).count() > 2, "{heard:?}");
        assert!(heard.contains(&"call look".to_owned()) && heard.contains(&"call read".to_owned()));
        assert_eq!(reply.model, "gpt-5.1");
    }
}

#[test]
fn an_answer_may_come_in_one_piece_though_it_was_asked_for_in_many() {
    for wire in Wire::ALL {
        let answer =
            Answer::say("I look.").and_call("look", &json!({ "at": 7 })).and_call("read", &json!({}));
        let world = World::playing(vec![answer.clone().thinking("Hm."), answer.thinking("Hm.").whole()]);
        let streamed = world.ask(wire, &[user("Find it.")]).unwrap();
        let mut whole = world.ask(wire, &[user("Find it.")]).unwrap();
        assert_eq!((whole.text.as_str(), whole.end), ("I look.", End::CallsWanted), "{wire}");
        assert_ne!(whole.usage, ModelUsage::default());
        // They differ only in the ids, and in what the cache did.
        whole.usage = streamed.usage;
        let plain = |reply: &Reply| format!("{reply:?}").replace("_2", "_1");
        assert_eq!(plain(&whole), plain(&streamed), "{wire}");
    }
}

#[test]
fn the_results_of_all_calls_reach_the_model_with_the_calls() {
    for wire in Wire::ALL {
        let world = World::playing(vec![
            Answer::say("Both.").and_call("look", &json!({ "at": 1 })).and_call("look", &json!({ "at": 2 })),
            Answer::say("Done."),
        ]);
        let mut messages = vec![user("Find it.")];
        let first = world.ask(wire, &messages).unwrap();
        messages.push(said(&first));
        messages.push(Message::Results(vec![
            CallResult { id: first.calls[0].id.clone(), text: "here".to_owned(), is_error: false },
            CallResult { id: first.calls[1].id.clone(), text: "no such place".to_owned(), is_error: true },
        ]));
        messages.push(user("Somebody says: hurry."));
        let second = world.ask(wire, &messages).unwrap();
        assert_eq!((second.text.as_str(), second.end), ("Done.", End::Done), "{wire}");
        let asked = &world.server.asked()[1];
        let told: Vec<String> = asked.results().into_iter().map(|result| result.text).collect();
        assert_eq!(told[0], "here", "{wire}");
        assert!(told[1].ends_with("no such place"), "{wire}");
        match wire {
            Wire::AnthropicMessages => {
                let block = asked.body.pointer("/messages/2/content/1/is_error");
                assert_eq!(block, Some(&json!(true)));
            }
            Wire::OpenAiChat | Wire::OpenAiResponses => assert_eq!(told[1], "error: no such place"),
        }
        assert_eq!(asked.last_words(), "Somebody says: hurry.", "{wire}");
        assert!(asked.told().contains("The workflow has two steps."), "{wire}");
        assert_eq!(asked.tools(), ["read", "look"], "{wire}");
    }
}

#[test]
fn roles_take_turns_and_nothing_empty_is_sent() {
    let world = World::playing(Vec::new());
    let nothing = Message::Assistant { text: String::new(), calls: Vec::new(), echo: None };
    let messages = [user("One."), user("Two."), nothing, user("Three."), user(" ")];
    for wire in Wire::ALL {
        world.ask(wire, &messages).unwrap();
    }
    let roles = |number: usize| -> Vec<Value> {
        world.server.asked()[number].messages().iter().map(|message| message["role"].clone()).collect()
    };
    assert_eq!(roles(0), ["user"]);
    assert_eq!(roles(1), ["system", "user", "user", "user", "user"]);
    assert_eq!(roles(2), ["user", "user", "user", "user"]);
}

#[test]
fn a_call_that_is_no_json_is_marked_and_can_be_answered() {
    for wire in Wire::ALL {
        let world = World::playing(vec![
            Answer::say("").and_written_call("look", r#"{"at": 7,"#).and_call("read", &json!({ "at": 1 })),
            Answer::say("Sorry."),
        ]);
        let mut messages = vec![user("Find it.")];
        let reply = world.ask(wire, &messages).unwrap();
        assert_eq!(reply.end, End::CallsWanted, "{wire}");
        assert_eq!(reply.calls[0].unreadable().map(|found| found.text), Some(r#"{"at": 7,"#), "{wire}");
        assert_eq!(reply.calls[1].unreadable(), None);
        messages.extend([said(&reply), results(&reply, "refused: not JSON")]);
        assert_eq!(world.ask(wire, &messages).unwrap().text, "Sorry.", "{wire}");
    }
}

#[test]
fn how_an_answer_ended_is_told() {
    for wire in Wire::ALL {
        let world = World::playing(vec![
            Answer::say("I will not.").stopping(Stop::Refusal),
            Answer::say("So far").stopping(Stop::Length),
            Answer::say("x".repeat(60)).and_call("look", &json!({ "at": "y".repeat(60) })),
        ]);
        let ends: Vec<End> = (0..2).map(|_| world.ask(wire, &[user("Go.")]).unwrap().end).collect();
        assert_eq!(ends, [End::Refused, End::MaxOutput], "{wire}");
        // Here the limit is in the middle of a call.
        let (system, tools) = (crate::support::layers(), tools());
        let messages = [user("Go.")];
        let request =
            Request { model: "m", system: &system, tools: &tools, messages: &messages, max_output: 20 };
        let reply = ask(&world.door(provider(wire)), wire, &request, &Waiting::default()).unwrap();
        assert_eq!((reply.end, reply.usage.output), (End::MaxOutput, 20), "{wire}");
        assert!(reply.calls[0].unreadable().is_some(), "{wire}");
    }
}

#[test]
fn the_figures_of_the_provider_are_told_with_what_its_cache_did() {
    for wire in Wire::ALL {
        let world = World::playing(vec![Answer::say("Yes, I do."), Answer::say("Again.")]);
        let mut messages = vec![user("Do you hear?")];
        let first = world.ask(wire, &messages).unwrap();
        messages.extend([said(&first), user("And now?")]);
        let second = world.ask(wire, &messages).unwrap();
        let tally = world.server.tally();
        assert_eq!(first.usage.output + second.usage.output, tally.output_tokens, "{wire}");
        assert_eq!(first.usage.input + second.usage.input, tally.input_tokens, "{wire}");
        assert_eq!(first.usage.cache_read, 0, "{wire}");
        let ModelUsage { input, cache_read, cache_write, .. } = second.usage;
        assert!(cache_read * 2 > input, "{wire}: {:?}", second.usage);
        match wire {
            Wire::AnthropicMessages => assert!(cache_write > 0 && cache_read + cache_write < input),
            Wire::OpenAiChat | Wire::OpenAiResponses => assert_eq!(cache_write, 0),
        }
    }
}

#[test]
fn what_was_thought_goes_back_to_whom_it_came_from_and_to_nobody_else() {
    for wire in Wire::ALL {
        let world = World::playing(vec![
            Answer::call("look", &json!({ "at": 1 })).thinking("It may be here, it may be there."),
        ]);
        let waiting = Waiting::default();
        let mut messages = vec![user("Find it.")];
        let reply = world.ask_watched(wire, &messages, &waiting).unwrap();
        let heard = waiting.heard.borrow().concat();
        assert!(heard.contains("thought It may be here"), "{wire}: {heard}");
        assert!(reply.echo.is_some() && reply.text.is_empty(), "{wire}: {reply:?}");
        messages.extend([said(&reply), results(&reply, "found")]);
        for to in Wire::ALL {
            world.ask(to, &messages).unwrap();
        }
        let kept = match wire {
            Wire::AnthropicMessages => r#""signature":"c2lnbmVkIGJ5IG5vYm9keQ==""#,
            Wire::OpenAiChat => r#""reasoning_content":"It may be here, it may be there.""#,
            Wire::OpenAiResponses => r#""encrypted_content":"bm9ib2R5IGNhbiByZWFkIHRoaXM=""#,
        };
        let has_kept: Vec<bool> = world.server.asked()[1..]
            .iter()
            .map(|asked| String::from_utf8_lossy(&asked.bytes).contains(kept))
            .collect();
        assert_eq!(has_kept, Wire::ALL.map(|to| to == wire), "{wire}");
        // Another model of the same provider could not read it either.
        let request =
            Request { model: "other", system: &[], tools: &tools(), messages: &messages, max_output: 99 };
        ask(&world.door(provider(wire)), wire, &request, &Waiting::default()).unwrap();
        let last = world.server.asked().pop().unwrap();
        assert!(!String::from_utf8_lossy(&last.bytes).contains(kept), "{wire}");
    }
}

#[test]
fn a_slow_answer_is_waited_for_while_it_goes_on() {
    for wire in Wire::ALL {
        let world = World::playing(vec![Answer::say("x".repeat(240)).dripping(Duration::from_millis(60))]);
        let waiting = Waiting::patient_for(Duration::from_millis(500));
        let reply = world.ask_watched(wire, &[user("Go.")], &waiting).unwrap();
        assert_eq!(reply.text.len(), 240, "{wire}");
    }
}

#[test]
fn the_token_is_shown_to_the_gateway_and_the_key_to_the_provider() {
    for wire in Wire::ALL {
        let world = World::playing(Vec::new());
        world.ask(wire, &[user("Go.")]).unwrap();
        let asked = &world.server.asked()[0];
        let key = asked.header("x-api-key").or(asked.header("authorization"));
        assert!(key.is_some_and(|key| key.ends_with("sk-real")), "{wire}: {key:?}");
        let is_versioned = asked.header("anthropic-version").is_some();
        assert_eq!(is_versioned, wire == Wire::AnthropicMessages);
    }
}
