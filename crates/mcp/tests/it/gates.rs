//! Gates stop, and only what a person says through the client opens those that a client may.

use longhaul_runtime::types::SessionId;
use longhaul_runtime::{Happened, Telling};
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, Home};

const CONFIRMED: &str = "\
longhaul: 1
id: own.confirmed
name: Confirmed
version: 1.0.0
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
    let home = Home::with(CONFIRMED);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let first = client.start(&home, "own.confirmed").await;
    let arguments = json!({
        "continueToken": first["continueToken"], "notes": "approve", "context": { "decision": "approve" },
        "artifacts": [{ "decision": "approve", "inputResponses": {} }],
    });
    let stopped = client.object("continue_workflow", arguments.clone()).await;
    let gate = stopped["gate"]["id"].as_str().map(str::to_owned);
    let Some(gate) = gate else {
        assert!(stopped["blocked"].is_object(), "what a step does not ask for is refused: {stopped:#}");
        return;
    };
    let mut forged = arguments;
    forged["inputResponses"] = json!({ gate: said("approve") });
    let refused = client.call("continue_workflow", forged).await;
    assert_eq!(refused["isError"], true, "{refused:#}");
    assert_eq!(answers(&home, &first["sessionId"]), []);
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
    assert_eq!(after["result"]["structuredContent"]["gate"]["id"], gate, "{after:#}");
    assert_eq!(answers(&home, &first["sessionId"]), []);
}
