//! Walks from start to end, in every era; every answer fits the schema that its tool declares.

use std::collections::BTreeMap;

use longhaul_mcp::{Longhaul, Profile};
use longhaul_runtime::types::SessionId;
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, Home};

pub(crate) const TWO: &str = "\
longhaul: 1
id: own.two
name: Two steps
version: 1.0.0
guidance: [Be brief.]
vars: { size: { type: string } }
steps:
  - { id: look, prompt: Look around., produces: { size: string } }
  - { id: act, prompt: Act on it. }
";

/// The declared shapes of answers, by tool.
struct Shapes(BTreeMap<String, jsonschema::Validator>);

impl Shapes {
    async fn of(client: &mut Client) -> Self {
        let listed = client.request("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        let shape = |tool: &Value| {
            let validator = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
            (tool["name"].as_str().unwrap().to_owned(), validator)
        };
        Self(tools.iter().map(shape).collect())
    }

    async fn call(&self, client: &mut Client, tool: &str, arguments: Value) -> Value {
        let result = client.call(tool, arguments).await;
        let object = &result["structuredContent"];
        let problems: Vec<String> = self.0[tool].iter_errors(object).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{tool}: {problems:?} in {object:#}");
        let text = result["content"][0]["text"].as_str().unwrap();
        for handle in ["continueToken", "checkpointToken"] {
            let token = object[handle].as_str().or(object["step"][handle].as_str());
            assert!(token.is_none_or(|token| text.contains(token)), "{tool}: {handle} is not in {text}");
        }
        object.clone()
    }
}

#[tokio::test]
async fn every_answer_of_a_walk_fits_the_schema_of_its_tool_in_every_era() {
    for era in ERAS {
        let home = Home::with(TWO);
        let mut client = Client::connect(&home, era, json!({})).await;
        let shapes = Shapes::of(&mut client).await;
        let folder = home.folder();
        let listed = shapes.call(&mut client, "list_workflows", json!({ "workspacePath": folder })).await;
        let ids =
            listed["workflows"].as_array().unwrap().iter().map(|row| row["workflowId"].as_str().unwrap());
        assert!(ids.into_iter().any(|id| id == "own.two"), "{listed:#}");
        let inspect = json!({ "workspacePath": folder, "workflowId": "own.two", "mode": "preview" });
        let seen = shapes.call(&mut client, "inspect_workflow", inspect).await;
        assert_eq!(seen["steps"].as_array().unwrap().len(), 2);
        let start = json!({ "workspacePath": folder, "workflowId": "own.two", "goal": "mend it" });
        let first = shapes.call(&mut client, "start_workflow", start).await;
        assert!(first["prompt"].as_str().unwrap().contains("Be brief."), "{first:#}");
        let refused = json!({ "continueToken": first["continueToken"], "notes": "I looked." });
        let again = shapes.call(&mut client, "continue_workflow", refused).await;
        assert_eq!(again["stepId"], "look");
        assert!(again["blocked"]["reasons"][0]["fix"].as_str().unwrap().contains("size"), "{again:#}");
        let kept = json!({ "checkpointToken": again["checkpointToken"], "notesMarkdown": "half way" });
        shapes.call(&mut client, "checkpoint_workflow", kept).await;
        let answer = json!({
            "continueToken": again["continueToken"], "intent": "advance",
            "output": { "notesMarkdown": "I looked.", "artifacts": [] }, "contextVariables": { "size": "small" },
        });
        let second = shapes.call(&mut client, "continue_workflow", answer.clone()).await;
        assert_eq!((&second["stepId"], &second["progress"]["done"]), (&json!("act"), &json!(1)));
        assert_eq!(
            shapes.call(&mut client, "continue_workflow", answer).await,
            second,
            "said twice, heard once"
        );
        let resumed = json!({ "workspacePath": folder, "query": "mend" });
        let resumed = shapes.call(&mut client, "resume_session", resumed).await;
        assert_eq!(resumed["step"]["continueToken"], second["continueToken"]);
        let last = json!({ "continueToken": second["continueToken"], "notes": "Done." });
        let end = shapes.call(&mut client, "continue_workflow", last).await;
        assert_eq!(end["isComplete"], true);
        client.leave().await;
    }
}

#[tokio::test]
async fn a_lost_memory_gets_step_plan_and_recap_back() {
    let home = Home::with(TWO);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let first = client.start(&home, "own.two").await;
    let answer = json!({ "continueToken": first["continueToken"], "notes": "It is a race.", "context": { "size": "small" } });
    let second = client.object("continue_workflow", answer).await;
    let checkpoint =
        json!({ "checkpointToken": second["checkpointToken"], "notes": "Half.", "context": { "n": 1 } });
    client.object("checkpoint_workflow", checkpoint).await;
    let back = client.object("continue_workflow", json!({ "continueToken": second["continueToken"] })).await;
    assert_eq!(back["continueToken"], second["continueToken"]);
    assert_eq!(back["plan"], json!([{ "id": "act", "title": "Act", "state": "current" }]), "{back:#}");
    let recap = back["recap"].as_str().unwrap();
    assert!(
        recap.contains("mend the login") && recap.contains("It is a race.") && recap.contains("Half."),
        "{recap}"
    );
    assert!(back["prompt"].as_str().unwrap().contains("Be brief."), "guidance comes again: {back:#}");
}

#[tokio::test]
async fn an_older_handle_shows_its_step_and_says_where_the_session_is() {
    let home = Home::with(TWO);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let first = client.start(&home, "own.two").await;
    let answer =
        json!({ "continueToken": first["continueToken"], "notes": "x", "context": { "size": "small" } });
    let second = client.object("continue_workflow", answer).await;
    let older = client.object("continue_workflow", json!({ "continueToken": first["continueToken"] })).await;
    assert_eq!(older["stepId"], "look");
    assert_ne!(older["continueToken"], first["continueToken"]);
    let warning = older["warnings"][0].as_str().unwrap();
    assert!(warning.contains(second["continueToken"].as_str().unwrap()), "{warning}");
    let anew =
        json!({ "continueToken": older["continueToken"], "notes": "y", "context": { "size": "large" } });
    let forked = client.object("continue_workflow", anew).await;
    assert_eq!(forked["stepId"], "act");
    assert!(forked["warnings"][0].as_str().unwrap().contains("left behind"), "{forked:#}");
}

#[tokio::test]
async fn a_checkpoint_that_is_said_twice_is_kept_once() {
    let home = Home::with(TWO);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let first = client.start(&home, "own.two").await;
    let id: SessionId = first["sessionId"].as_str().unwrap().parse().unwrap();
    let length = || home.system().commands().unwrap().session(id).unwrap().seq;
    let before = length();
    let keep = |notes: &str| json!({ "checkpointToken": first["checkpointToken"], "notes": notes });
    let once = client.object("checkpoint_workflow", keep("a")).await;
    assert_eq!(client.object("checkpoint_workflow", keep("a")).await, once);
    assert_eq!(length(), before.plus(1));
    client.object("checkpoint_workflow", keep("b")).await;
    client.object("checkpoint_workflow", keep("a")).await;
    assert_eq!(length(), before.plus(2));
    assert_eq!(once["continueToken"], first["continueToken"], "nothing advanced");
}

#[tokio::test]
async fn two_servers_on_one_session_agree_at_once() {
    let home = Home::with(TWO);
    let mut one = Client::connect(&home, Era::Stateless, json!({})).await;
    let mut other = Client::connect(&home, ERAS[0], json!({})).await;
    let first = one.start(&home, "own.two").await;
    let answer =
        json!({ "continueToken": first["continueToken"], "notes": "x", "context": { "size": "small" } });
    let second = other.object("continue_workflow", answer.clone()).await;
    assert_eq!(one.object("continue_workflow", answer).await, second);
    let different =
        json!({ "continueToken": first["continueToken"], "notes": "z", "context": { "size": "small" } });
    let refused = one.call("continue_workflow", different).await;
    assert_eq!(refused["isError"], true);
    let object = &refused["structuredContent"];
    assert_eq!(object["error"]["code"], "E0203");
    assert_eq!(
        object["continueToken"], second["continueToken"],
        "a refusal leaves the handle that is open now"
    );
}

#[tokio::test]
async fn what_cannot_be_taken_leaves_the_handle_as_good_as_before() {
    let home = Home::with(TWO);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let first = client.start(&home, "own.two").await;
    for bad in [
        json!({ "output": 7 }),
        json!({ "output": { "notez": "x" } }),
        json!({ "notes": "a", "output": { "notesMarkdown": "b" } }),
        json!({ "intent": "sideways", "notes": "a" }),
        json!({ "intent": "rehydrate", "notes": "a" }),
        json!({ "note": "a" }),
    ] {
        let mut arguments = bad;
        arguments["continueToken"] = first["continueToken"].clone();
        let refused = client.call("continue_workflow", arguments).await;
        assert_eq!(refused["isError"], true, "{refused:#}");
        assert_eq!(refused["structuredContent"]["continueToken"], first["continueToken"], "{refused:#}");
    }
    let good =
        json!({ "continueToken": first["continueToken"], "notes": "x", "context": { "size": "small" } });
    assert_eq!(client.object("continue_workflow", good).await["stepId"], "act");
}

#[tokio::test]
async fn a_client_that_vanishes_in_the_middle_of_a_call_loses_nothing() {
    let home = Home::with(TWO);
    let server = Longhaul::new(home.settings(), Profile::Outer);
    let mut client = Client::over(server.clone());
    client.open(ERAS[1], json!({})).await;
    let first = client.start(&home, "own.two").await;
    let answer =
        json!({ "continueToken": first["continueToken"], "notes": "x", "context": { "size": "small" } });
    let call = json!({ "name": "continue_workflow", "arguments": answer });
    client.send(&json!({ "jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": call })).await;
    drop(client);
    let mut again = Client::over(server);
    again.open(Era::Stateless, json!({})).await;
    let second = again.object("continue_workflow", answer).await;
    assert_eq!(second["stepId"], "act", "the same call gets the same answer, whether it was heard or not");
}
