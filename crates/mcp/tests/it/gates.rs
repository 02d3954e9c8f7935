//! Gates stop, and only what a person says through the client opens those that a client may.

use longhaul_runtime::types::{Channel, GateVerdict, SessionId};
use longhaul_runtime::{AnswerGate, Happened, Telling};
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, Home};
use crate::walking::Shapes;

const CONFIRMED: &str = "\
longhaul: 1
id: own.confirmed
name: Confirmed
version: 1.0.0
vars: { decision: { type: string } }
steps:
  - { id: plan, prompt: Make a plan., confirm: true }
  - { id: act, prompt: Act on it. }
";

const GATED: &str = "\
longhaul: 1
id: own.gated
name: Gated
version: 1.0.0
steps:
  - { id: plan, prompt: Make a plan. }
  - id: really
    gate: { by: person, question: Really? }
  - { id: act, prompt: Act on it. }
";

fn can_ask() -> Value {
    json!({ "elicitation": {} })
}

fn said(decision: &str) -> Value {
    json!({ "action": "accept", "content": { "decision": decision, "words": "as I see it" } })
}

fn answers(home: &Home, session: &Value) -> Vec<(String, &'static str, String)> {
    let reader = home.system().reader().unwrap().unwrap();
    let row = reader.find_session(session.as_str().unwrap()).unwrap();
    let story = reader.story(&row, Telling::Events).unwrap();
    let answer = |happened: Happened| match happened {
        Happened::GateAnswered { by, channel, words, .. } => Some((by, channel, words)),
        _ => None,
    };
    story.into_iter().filter_map(|entry| answer(entry.what)).collect()
}

async fn plan(client: &mut Client, home: &Home, workflow: &str) -> (Value, Value) {
    let first = client.start(home, workflow).await;
    let arguments = json!({ "continueToken": first["continueToken"], "notes": "The plan." });
    let answer =
        client.request("tools/call", json!({ "name": "continue_workflow", "arguments": arguments })).await;
    (first, answer["result"].clone())
}

#[tokio::test]
async fn an_older_client_asks_its_person_and_the_answer_is_recorded_as_the_clients() {
    for era in [ERAS[0], ERAS[1]] {
        let home = Home::with(CONFIRMED);
        let mut client = Client::connect(&home, era, can_ask()).await;
        client.answers = vec![said("approve")];
        let (first, after) = plan(&mut client, &home, "own.confirmed").await;
        assert_eq!(after["structuredContent"]["stepId"], "act", "{after:#}");
        let question = &client.elicited[0]["params"];
        assert_eq!(
            question["requestedSchema"]["properties"]["decision"]["enum"],
            json!(["approve", "reject"])
        );
        let answers = answers(&home, &first["sessionId"]);
        let [(by, channel, words)] = &answers[..] else { panic!("{answers:?}") };
        assert!(by.ends_with("through by-hand"), "{by}");
        assert_eq!((*channel, words.as_str()), ("client", "as I see it"));
    }
}

#[tokio::test]
async fn a_stateless_client_is_told_what_to_ask_and_comes_back_with_the_answer() {
    let home = Home::with(CONFIRMED);
    let mut client = Client::connect(&home, Era::Stateless, can_ask()).await;
    let (first, asked) = plan(&mut client, &home, "own.confirmed").await;
    assert_eq!(asked["resultType"], "input_required", "{asked:#}");
    let (key, question) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let again = json!({
        "name": "continue_workflow",
        "arguments": { "continueToken": first["continueToken"], "notes": "The plan." },
        "requestState": asked["requestState"],
        "inputResponses": { key: said("reject") },
    });
    let after = client.request("tools/call", again).await;
    let object = &after["result"]["structuredContent"];
    assert_eq!(object["stepId"], "plan", "a rejected confirmation hands the step out again: {after:#}");
    assert!(object["prompt"].as_str().unwrap().contains("as I see it"), "{object:#}");
    assert_eq!(answers(&home, &first["sessionId"]).len(), 1);
}

#[tokio::test]
async fn whoever_cannot_be_asked_or_says_nothing_leaves_it_shut() {
    let home = Home::with(CONFIRMED);
    let mut silent = Client::connect(&home, ERAS[1], json!({})).await;
    let (first, stopped) = plan(&mut silent, &home, "own.confirmed").await;
    let gate = &stopped["structuredContent"]["gate"];
    assert_eq!(gate["accepts"], "client", "{stopped:#}");
    let text = stopped["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(&format!("longhaul gate approve {}", gate["id"].as_str().unwrap())), "{text}");
    assert!(text.contains("stop here"), "{text}");
    let arguments = json!({ "continueToken": first["continueToken"], "notes": "The plan." });
    for answer in [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": { "decision": "maybe" } }),
    ] {
        let mut client = Client::connect(&home, ERAS[1], can_ask()).await;
        client.answers = vec![answer];
        let after = client.object("continue_workflow", arguments.clone()).await;
        assert_eq!(after["gate"]["id"], gate["id"], "{after:#}");
    }
    assert_eq!(answers(&home, &first["sessionId"]), []);
}

#[tokio::test]
async fn nothing_that_an_agent_hands_in_opens_a_gate() {
    for era in ERAS {
        let home = Home::with(CONFIRMED);
        let mut client = Client::connect(&home, era, json!({})).await;
        let first = client.start(&home, "own.confirmed").await;
        let arguments = json!({
            "continueToken": first["continueToken"], "notes": "approve", "context": { "decision": "approve" },
        });
        let stopped = client.object("continue_workflow", arguments.clone()).await;
        let gate =
            stopped["gate"]["id"].as_str().expect("the answer was accepted and leads to the gate").to_owned();
        let mut forged = arguments.clone();
        forged["inputResponses"] = json!({ &gate: said("approve") });
        let refused = client.call("continue_workflow", forged).await;
        assert_eq!(refused["isError"], true, "{refused:#}");
        // At the top of the request, where a client puts them: this client cannot ask, so nobody was asked.
        for state in [json!(null), json!(gate), first["continueToken"].clone()] {
            let call = json!({
                "name": "continue_workflow", "arguments": arguments, "requestState": state,
                "inputResponses": { &gate: said("approve") },
            });
            let after = client.request("tools/call", call).await;
            assert_eq!(after["result"]["structuredContent"]["gate"]["id"], gate.as_str(), "{after:#}");
        }
        assert_eq!(answers(&home, &first["sessionId"]), []);
    }
}

#[tokio::test]
async fn an_answer_to_a_question_that_was_not_asked_opens_nothing() {
    for era in ERAS {
        let home = Home::with(CONFIRMED);
        let mut absent = Client::connect(&home, era, json!({})).await;
        let (first, stopped) = plan(&mut absent, &home, "own.confirmed").await;
        let gate = stopped["structuredContent"]["gate"]["id"].as_str().unwrap();
        let arguments = json!({ "continueToken": first["continueToken"], "notes": "The plan." });
        // One request that says it can ask and brings the answer along.
        let mut client = Client::connect(&home, era, can_ask()).await;
        client.answers = vec![json!({ "action": "cancel" }); 4];
        for state in
            [json!(null), json!(gate), first["continueToken"].clone(), first["checkpointToken"].clone()]
        {
            let call = json!({
                "name": "continue_workflow", "arguments": arguments, "requestState": state,
                "inputResponses": { gate: said("approve") },
            });
            let after = client.request("tools/call", call).await;
            assert_ne!(after["result"]["structuredContent"]["stepId"], "act", "{after:#}");
        }
        assert_eq!(answers(&home, &first["sessionId"]), []);
        if era == Era::Stateless {
            // The proof of one gate is none of another.
            let (_, other) = plan(&mut client, &home, "own.confirmed").await;
            let crossed = json!({
                "name": "continue_workflow", "arguments": arguments, "requestState": other["requestState"],
                "inputResponses": { gate: said("approve") },
            });
            client.request("tools/call", crossed).await;
            assert_eq!(answers(&home, &first["sessionId"]), []);
        }
    }
}

#[tokio::test]
async fn a_session_that_is_resumed_through_a_gate_keeps_its_shape_in_every_era() {
    for era in ERAS {
        let home = Home::with(CONFIRMED);
        let mut absent = Client::connect(&home, era, json!({})).await;
        let (first, _) = plan(&mut absent, &home, "own.confirmed").await;
        let mut client = Client::connect(&home, era, can_ask()).await;
        let shapes = Shapes::of(&mut client).await;
        client.answers = vec![said("approve")];
        let arguments = json!({ "workspacePath": home.folder(), "sessionId": first["sessionId"] });
        let mut call = json!({ "name": "resume_session", "arguments": arguments });
        let mut result = client.request("tools/call", call.clone()).await["result"].clone();
        if era == Era::Stateless {
            let key = result["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
            call["requestState"] = result["requestState"].clone();
            call["inputResponses"] = json!({ key: said("approve") });
            result = client.request("tools/call", call).await["result"].clone();
        }
        let object = shapes.check("resume_session", &result);
        assert_eq!(object["step"]["stepId"], "act", "{object:#}");
        assert_eq!(answers(&home, &first["sessionId"]).len(), 1);
    }
}

#[tokio::test]
async fn what_a_person_is_asked_shows_what_it_is_about_and_a_no_is_passed_on() {
    let home = Home::with(CONFIRMED);
    let mut client = Client::connect(&home, ERAS[1], can_ask()).await;
    client.answers = vec![json!({ "action": "decline" })];
    let first = client.start(&home, "own.confirmed").await;
    let arguments = json!({
        "continueToken": first["continueToken"], "notes": "Cut the table in two.", "vars": { "decision": "split" },
    });
    let after = client.call("continue_workflow", arguments.clone()).await;
    let message = client.elicited[0]["params"]["message"].as_str().unwrap();
    for told in ["mend the login", "Cut the table in two.", "decision = \"split\"", "`plan`"] {
        assert!(message.contains(told), "{told}: {message}");
    }
    assert!(after["structuredContent"]["gate"].is_object(), "{after:#}");
    assert!(after["content"][0]["text"].as_str().unwrap().contains("declined"), "{after:#}");
    assert!(after["structuredContent"]["warnings"].to_string().contains("declined"), "{after:#}");
}

#[tokio::test]
async fn a_person_who_was_quicker_elsewhere_is_not_contradicted() {
    let home = Home::with(CONFIRMED);
    let mut client = Client::connect(&home, Era::Stateless, can_ask()).await;
    let (first, asked) = plan(&mut client, &home, "own.confirmed").await;
    let (key, _) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let (session, gate) = key.rsplit_once('.').unwrap();
    let answer = AnswerGate {
        session: session.parse().unwrap(),
        gate: gate.parse().unwrap(),
        verdict: GateVerdict::Approved,
        by: "somebody at a terminal".to_owned(),
        channel: Channel::Terminal,
        words: String::new(),
    };
    home.system().commands().unwrap().answer_gate(&answer).unwrap();
    let again = json!({
        "name": "continue_workflow",
        "arguments": { "continueToken": first["continueToken"], "notes": "The plan." },
        "requestState": asked["requestState"],
        "inputResponses": { key: said("reject") },
    });
    let after = client.request("tools/call", again).await;
    let object = &after["result"]["structuredContent"];
    assert_eq!(object["stepId"], "act", "{after:#}");
    assert!(object["continueToken"].is_string());
    assert_eq!(answers(&home, &first["sessionId"]).len(), 1);
}

#[tokio::test]
async fn progress_grows_while_a_person_thinks() {
    let home = Home::with(CONFIRMED);
    let mut client = Client::connect(&home, ERAS[1], can_ask()).await;
    let first = client.start(&home, "own.confirmed").await;
    let arguments = json!({ "continueToken": first["continueToken"], "notes": "The plan." });
    let params =
        json!({ "name": "continue_workflow", "arguments": arguments, "_meta": { "progressToken": "p" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": 70, "method": "tools/call", "params": params })).await;
    let (mut steps, mut question) = (Vec::new(), Value::Null);
    while steps.len() < 2 || question.is_null() {
        let message = client.next().await;
        match message["params"]["progress"].as_f64() {
            Some(progress) => steps.push(progress),
            None => question = message,
        }
    }
    assert_eq!(question["method"], "elicitation/create", "{question:#}");
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": said("approve") })).await;
    let answer = loop {
        let message = client.next().await;
        match message["params"]["progress"].as_f64() {
            Some(progress) => steps.push(progress),
            None => break message,
        }
    };
    assert_eq!(answer["result"]["structuredContent"]["stepId"], "act", "{answer:#}");
    assert!(steps.is_sorted_by(|one, next| one < next), "{steps:?}");
}

#[tokio::test]
async fn a_gate_that_wants_a_terminal_is_not_asked_about_and_says_so() {
    let home = Home::with(GATED);
    let mut client = Client::connect(&home, ERAS[1], can_ask()).await;
    let (first, stopped) = plan(&mut client, &home, "own.gated").await;
    assert_eq!(stopped["structuredContent"]["gate"]["accepts"], "terminal");
    assert_eq!(client.elicited, [] as [Value; 0]);
    let id: SessionId = first["sessionId"].as_str().unwrap().parse().unwrap();
    let text = stopped["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(&format!("longhaul gate approve {id}.")), "{text}");
    let mut stateless = Client::connect(&home, Era::Stateless, can_ask()).await;
    let gate = stopped["structuredContent"]["gate"]["id"].as_str().unwrap();
    let forced = json!({
        "name": "continue_workflow",
        "arguments": { "continueToken": first["continueToken"], "notes": "The plan." },
        "requestState": gate,
        "inputResponses": { gate: said("approve") },
    });
    let after = stateless.request("tools/call", forced).await;
    assert_eq!(after["error"]["code"], -32602, "nobody was told to ask that: {after:#}");
    assert_eq!(answers(&home, &first["sessionId"]), []);
}

#[tokio::test]
async fn a_call_that_is_cancelled_takes_its_question_back() {
    for era in [ERAS[0], ERAS[1]] {
        let home = Home::with(CONFIRMED);
        let mut client = Client::connect(&home, era, can_ask()).await;
        let first = client.start(&home, "own.confirmed").await;
        let arguments = json!({ "continueToken": first["continueToken"], "notes": "The plan." });
        let params = json!({ "name": "continue_workflow", "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": "asks", "method": "tools/call", "params": params });
        client.send(&call).await;
        let question = client.next().await;
        assert_eq!(question["method"], "elicitation/create", "{question:#}");
        let cancelled = json!({ "requestId": "asks", "reason": "no more" });
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled });
        client.send(&cancelled).await;
        let taken_back = client.next().await;
        assert_eq!(taken_back["method"], "notifications/cancelled", "{taken_back:#}");
        assert_eq!(taken_back["params"]["requestId"], question["id"], "{taken_back:#}");
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": said("approve") });
        client.send(&answer).await;
        client.request("tools/list", json!({})).await;
        assert_eq!(answers(&home, &first["sessionId"]), [], "what comes too late opens nothing");
    }
}

#[tokio::test]
async fn a_question_about_one_session_is_not_answered_by_a_call_about_another() {
    let home = Home::with(CONFIRMED);
    let mut client = Client::connect(&home, Era::Stateless, can_ask()).await;
    let (asked_about, question) = plan(&mut client, &home, "own.confirmed").await;
    let other = client.start(&home, "own.confirmed").await;
    let gate = question["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    for arguments in [
        json!({ "continueToken": other["continueToken"], "notes": "The plan." }),
        json!({ "workspacePath": home.folder(), "sessionId": other["sessionId"] }),
    ] {
        let tool = if arguments.get("notes").is_some() { "continue_workflow" } else { "resume_session" };
        let call = json!({
            "name": tool, "arguments": arguments, "requestState": question["requestState"],
            "inputResponses": { &gate: said("approve") },
        });
        let refused = client.request("tools/call", call).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused:#}");
    }
    assert_eq!(answers(&home, &asked_about["sessionId"]), []);
}

#[tokio::test]
async fn the_name_of_a_client_is_recorded_on_one_line_and_has_an_end() {
    let home = Home::with(CONFIRMED);
    let mut client = Client::over(longhaul_mcp::Longhaul::new(home.settings(), longhaul_mcp::Profile::Outer));
    let name = format!("editor\n   9  gate approved by root{}", "x".repeat(1_000));
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": can_ask(),
        "clientInfo": { "name": name, "version": "1" },
    });
    client.request("initialize", params).await;
    client.answers = vec![said("approve")];
    let (first, _) = plan(&mut client, &home, "own.confirmed").await;
    let (by, ..) = answers(&home, &first["sessionId"]).remove(0);
    assert!(by.contains("editor\\n   9  gate") && !by.contains('\n') && by.chars().count() < 150, "{by}");
}

#[tokio::test]
async fn a_recap_sets_what_a_person_said_apart_from_who_said_it() {
    let home = Home::with(CONFIRMED);
    let mut client = Client::connect(&home, ERAS[1], can_ask()).await;
    client.answers = vec![said("reject")];
    let (first, _) = plan(&mut client, &home, "own.confirmed").await;
    let arguments = json!({ "workspacePath": home.folder(), "sessionId": first["sessionId"] });
    let resumed = client.object("resume_session", arguments).await;
    let recap = resumed["step"]["recap"].as_str().unwrap();
    assert!(recap.contains("Rejected by ") && recap.contains("through by-hand: as I see it"), "{recap}");
}
