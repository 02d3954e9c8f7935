//! Walks from start to end, in every era; every answer fits the schema that its tool declares.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use longhaul_mcp::{Limits, Longhaul, Profile};
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

const LONG: &str = "\
longhaul: 1
id: own.long
name: Long
version: 1.0.0
steps:
  - { id: begin, prompt: Begin. }
  - { id: work, run: { command: [sleep, '60'] }, into: work }
  - { id: last, prompt: End. }
";

/// The declared shapes of answers, by tool.
pub(crate) struct Shapes(BTreeMap<String, jsonschema::Validator>);

impl Shapes {
    pub(crate) async fn of(client: &mut Client) -> Self {
        let listed = client.request("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        let shape = |tool: &Value| {
            let validator = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
            (tool["name"].as_str().unwrap().to_owned(), validator)
        };
        Self(tools.iter().map(shape).collect())
    }

    pub(crate) async fn call(&self, client: &mut Client, tool: &str, arguments: Value) -> Value {
        let result = client.call(tool, arguments).await;
        self.check(tool, &result)
    }

    /// The object of a result, which has the shape that its tool declares.
    pub(crate) fn check(&self, tool: &str, result: &Value) -> Value {
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
        json!({ "checkpointToken": second["checkpointToken"], "notes": "Half.", "vars": { "size": "tiny" } });
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
async fn an_older_handle_leads_on_and_says_how_to_go_back() {
    let home = Home::with(TWO);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let first = client.start(&home, "own.two").await;
    let answer =
        json!({ "continueToken": first["continueToken"], "notes": "x", "context": { "size": "small" } });
    let second = client.object("continue_workflow", answer).await;
    let older = client.object("continue_workflow", json!({ "continueToken": first["continueToken"] })).await;
    assert_eq!((&older["stepId"], &older["continueToken"]), (&json!("act"), &second["continueToken"]));
    let id: SessionId = first["sessionId"].as_str().unwrap().parse().unwrap();
    let length = || home.system().commands().unwrap().session(id).unwrap().seq;
    let before = length();
    let again = client.object("continue_workflow", json!({ "continueToken": first["continueToken"] })).await;
    assert_eq!(again, older, "the way back that was not taken is shown again");
    assert_eq!(length(), before, "and nothing is written for it");
    let warning = older["warnings"][0].as_str().unwrap();
    let back = warning.split('`').find(|word| word.starts_with("s-")).unwrap();
    let anew = json!({ "continueToken": back, "notes": "y", "context": { "size": "large" } });
    let forked = client.object("continue_workflow", anew).await;
    assert_eq!(forked["stepId"], "act");
    assert!(forked["warnings"][0].as_str().unwrap().contains("left behind"), "{forked:#}");
}

#[tokio::test]
async fn a_refusal_shows_the_token_that_is_open_whatever_was_wrong() {
    let home = Home::with(TWO);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let first = client.start(&home, "own.two").await;
    let answer =
        json!({ "continueToken": first["continueToken"], "notes": "x", "context": { "size": "small" } });
    let second = client.object("continue_workflow", answer).await;
    for bad in [
        json!({ "output": 7 }),
        json!({ "intent": "sideways", "notes": "a" }),
        json!({ "note": "a" }),
        json!({ "notes": "something else" }),
    ] {
        let mut arguments = bad;
        arguments["continueToken"] = first["continueToken"].clone();
        let refused = client.call("continue_workflow", arguments).await;
        assert_eq!(refused["isError"], true, "{refused:#}");
        assert_eq!(refused["structuredContent"]["continueToken"], second["continueToken"], "{refused:#}");
    }
}

#[tokio::test]
async fn what_is_refused_names_tools_and_no_commands_of_the_shell() {
    let home = Home::with(TWO);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let folder = home.folder();
    let first = client.start(&home, "own.two").await;
    let answer =
        json!({ "continueToken": first["continueToken"], "notes": "x", "context": { "size": "small" } });
    let second = client.object("continue_workflow", answer).await;
    let changed =
        json!({ "continueToken": first["continueToken"], "notes": "z", "context": { "size": "small" } });
    let last = json!({ "continueToken": second["continueToken"], "notes": "Done." });
    let end = client.object("continue_workflow", last).await;
    assert_eq!(end["isComplete"], true);
    for (tool, arguments) in [
        ("continue_workflow", json!({ "continueToken": "nonsense" })),
        ("continue_workflow", changed),
        ("checkpoint_workflow", json!({ "checkpointToken": second["checkpointToken"], "notes": "late" })),
        ("resume_session", json!({ "workspacePath": folder, "sessionId": "s-zzzz" })),
        ("resume_session", json!({ "workspacePath": folder, "query": "zzzz" })),
        ("start_workflow", json!({ "workspacePath": folder, "workflowId": "no.such", "goal": "g" })),
        ("inspect_workflow", json!({ "workspacePath": folder, "workflowId": "no.such" })),
    ] {
        let refused = client.call(tool, arguments).await;
        let message = refused["structuredContent"]["error"]["message"]
            .as_str()
            .unwrap_or_else(|| panic!("{refused:#}"));
        assert!(!message.contains("`longhaul "), "{tool}: {message}");
    }
}

#[tokio::test]
async fn a_store_that_cannot_be_used_leaves_the_token_that_was_sent() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::with(TWO);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let first = client.start(&home, "own.two").await;
    let good =
        json!({ "continueToken": first["continueToken"], "notes": "x", "context": { "size": "small" } });
    let data = home.path.join("home/data");
    let aside = home.path.join("home/aside");
    std::fs::rename(&data, &aside).unwrap();
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("longhaul.db"), "not a database, and never was one").unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut fresh = Client::connect(&home, Era::Stateless, json!({})).await;
    let refused = fresh.call("continue_workflow", good.clone()).await;
    assert_eq!(refused["isError"], true, "{refused:#}");
    assert!(refused["structuredContent"]["error"]["code"].is_string(), "{refused:#}");
    assert_eq!(refused["structuredContent"]["continueToken"], first["continueToken"], "{refused:#}");
    let uri = format!("longhaul://session/{}", first["sessionId"].as_str().unwrap());
    let read = fresh.request("resources/read", json!({ "uri": uri })).await;
    assert_eq!(read["error"]["code"], -32603, "it is there, and cannot be read: {read:#}");
    assert!(read["error"]["data"]["code"].is_string(), "{read:#}");
    std::fs::remove_dir_all(&data).unwrap();
    std::fs::rename(&aside, &data).unwrap();
    assert_eq!(
        fresh.object("continue_workflow", good).await["stepId"],
        "act",
        "once it is well, so is the server"
    );
}

#[tokio::test]
async fn long_work_is_answered_by_the_deadline() {
    let home = Home::in_git(LONG);
    let limits = Limits { patience: Duration::from_millis(700), ..Limits::default() };
    for era in ERAS {
        let mut client = Client::limited(&home, era, limits).await;
        let shapes = Shapes::of(&mut client).await;
        let first = client.start(&home, "own.long").await;
        let answer = json!({ "continueToken": first["continueToken"], "notes": "Begun." });
        // Nobody does the work here: what is started as a runner is this test, which knows nothing of it.
        for _ in 0..2 {
            let start = Instant::now();
            let working = shapes.call(&mut client, "continue_workflow", answer.clone()).await;
            assert!(working["working"]["since"].is_string(), "{working:#}");
            assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        }
        let session = json!({ "workspacePath": home.folder(), "sessionId": first["sessionId"] });
        let resumed = shapes.call(&mut client, "resume_session", session).await;
        assert!(resumed["step"]["working"].is_object(), "{resumed:#}");
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_the_waiting_and_nothing_else() {
    let home = Home::in_git(LONG);
    let limits = Limits { patience: Duration::from_secs(12), ..Limits::default() };
    let mut client = Client::limited(&home, ERAS[1], limits).await;
    let first = client.start(&home, "own.long").await;
    let answer = json!({ "continueToken": first["continueToken"], "notes": "Begun." });
    let call = json!({ "name": "continue_workflow", "arguments": answer });
    let start = Instant::now();
    client.send(&json!({ "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": call })).await;
    let params = json!({ "requestId": 77, "reason": "enough" });
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
    assert!(client.request("tools/list", json!({})).await["result"].is_object());
    client.leave().await;
    assert!(start.elapsed() < Duration::from_secs(8), "nobody waits for it: {:?}", start.elapsed());
    let limits = Limits { patience: Duration::from_millis(300), ..Limits::default() };
    let mut again = Client::limited(&home, ERAS[1], limits).await;
    let there = again.object("continue_workflow", answer).await;
    assert!(there["working"].is_object(), "what it began goes on, or is begun now: {there:#}");
}

#[tokio::test]
async fn a_client_that_does_not_wait_for_answers_gets_each_of_them_once() {
    const CALLS: u64 = 40;
    let home = Home::with(TWO);
    let mut client = Client::connect(&home, ERAS[1], json!({})).await;
    for id in 1_000..1_000 + CALLS {
        let goal = format!("goal {id}");
        let arguments = json!({ "workflowId": "own.two", "workspacePath": home.folder(), "goal": goal });
        let params = json!({ "name": "start_workflow", "arguments": arguments });
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })).await;
    }
    let mut seen = BTreeMap::new();
    for _ in 0..CALLS {
        let answer = client.next().await;
        let session = answer["result"]["structuredContent"]["sessionId"].as_str().unwrap().to_owned();
        assert_eq!(seen.insert(answer["id"].as_u64().unwrap(), session), None, "{answer:#}");
    }
    let sessions: std::collections::BTreeSet<&String> = seen.values().collect();
    assert_eq!((seen.len(), sessions.len()), (40, 40));
}

#[tokio::test]
async fn what_finds_no_place_is_told_to_call_again_and_keeps_its_token() {
    let home = Home::with(TWO);
    let limits = Limits { patience: Duration::from_millis(200), at_once: 0 };
    let mut first = Client::connect(&home, Era::Stateless, json!({})).await;
    let view = first.start(&home, "own.two").await;
    let mut client = Client::limited(&home, Era::Stateless, limits).await;
    let answer =
        json!({ "continueToken": view["continueToken"], "notes": "x", "context": { "size": "small" } });
    let busy = client.call("continue_workflow", answer.clone()).await;
    assert_eq!(busy["isError"], true, "{busy:#}");
    assert!(busy["content"][0]["text"].as_str().unwrap().contains("busy"), "{busy:#}");
    assert_eq!(busy["structuredContent"]["continueToken"], view["continueToken"]);
    let listed = client.request("prompts/list", json!({})).await;
    assert!(listed["error"]["message"].as_str().unwrap().contains("busy"), "{listed:#}");
    assert_eq!(first.object("continue_workflow", answer).await["stepId"], "act", "nothing was done");
}

/// What an answer costs whoever reads all of it.
fn cost(result: &Value) -> usize {
    let text = result["content"][0]["text"].as_str().unwrap();
    let counter = bpe_openai::o200k_base();
    counter.count(text) + counter.count(result["structuredContent"].to_string().as_str())
}

#[tokio::test]
async fn whatever_was_said_a_lost_memory_costs_no_more_than_the_budget() {
    const BUDGET: usize = 4_000;
    for filler in ["{\"a\":[1,2,\"x\"]}\n", "ünïcödé 日本語 ", "zq9Xk2 "] {
        let home = Home::with(TWO);
        let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
        let long = filler.repeat(999_999 / filler.len());
        let start = json!({ "workflowId": "own.two", "workspacePath": home.folder(), "goal": long });
        let first = client.object("start_workflow", start).await;
        let artifact = json!({ "kind": "findings", "text": filler.repeat(2_000) });
        let answer = json!({
            "continueToken": first["continueToken"], "vars": { "size": "small" },
            "output": { "notesMarkdown": long },
        });
        let second = client.object("continue_workflow", answer).await;
        assert_eq!(second["stepId"], "act", "{}", second["blocked"]);
        let kept = json!({ "checkpointToken": second["checkpointToken"], "notes": artifact.to_string() });
        client.object("checkpoint_workflow", kept).await;
        for (tool, arguments) in [
            ("continue_workflow", json!({ "continueToken": second["continueToken"] })),
            ("resume_session", json!({ "workspacePath": home.folder(), "sessionId": first["sessionId"] })),
        ] {
            let result = client.call(tool, arguments).await;
            let tokens = cost(&result);
            assert!(tokens <= BUDGET, "{tool}: {tokens} tokens of {filler:?}");
            assert!(
                tokens > BUDGET / 5,
                "{tool}: {tokens} tokens of {filler:?}, and there was room for more"
            );
        }
    }
}

const CONTRACTED: &str = "\
longhaul: 1
id: own.contracted
name: Contracted
version: 1.0.0
vars: { size: { type: string }, about: { type: string } }
contracts:
  own.finding:
    kind: finding
    schema: { type: object, required: [kind, where], properties: { kind: { const: finding }, where: { type: string } } }
    example: { kind: finding, where: here }
steps:
  - { id: look, prompt: Look around., produces: { size: string }, output: own.finding }
  - { id: act, prompt: Act on it. }
";

#[tokio::test]
async fn a_recap_tells_what_was_handed_in_and_refusals_only_while_they_matter() {
    let home = Home::with(CONTRACTED);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let mut view = client.start(&home, "own.contracted").await;
    assert_eq!(view["stepId"], "look", "{view:#}");
    for _ in 0..2 {
        let bad = json!({ "continueToken": view["continueToken"], "notes": "I looked." });
        view = client.object("continue_workflow", bad).await;
    }
    let refused = client
        .call("continue_workflow", json!({ "continueToken": view["continueToken"], "notes": "I looked" }))
        .await;
    assert!(refused["content"][0]["text"].as_str().unwrap().starts_with("Not accepted:"), "{refused:#}");
    view = refused["structuredContent"].clone();
    let back = client.object("continue_workflow", json!({ "continueToken": view["continueToken"] })).await;
    let recap = back["recap"].as_str().unwrap();
    assert_eq!(recap.matches("was not accepted").count(), 1, "{recap}");
    assert!(recap.contains("3 times"), "{recap}");
    let good = json!({
        "continueToken": view["continueToken"], "notes": "I looked.", "vars": { "size": "small" },
        "artifacts": [{ "kind": "finding", "where": "auth/expiry.rs:88" }],
    });
    let second = client.object("continue_workflow", good).await;
    assert_eq!(second["stepId"], "act", "{second:#}");
    let undeclared = json!({ "checkpointToken": second["checkpointToken"], "context": { "sise": "x" } });
    let undeclared = client.call("checkpoint_workflow", undeclared).await;
    assert_eq!(undeclared["structuredContent"]["error"]["code"], "E0603", "{undeclared:#}");
    let kept = json!({ "checkpointToken": second["checkpointToken"], "notes": "Half.", "vars": { "about": "the clock" } });
    client.object("checkpoint_workflow", kept).await;
    let back = client.object("continue_workflow", json!({ "continueToken": second["continueToken"] })).await;
    let recap = back["recap"].as_str().unwrap();
    assert!(!recap.contains("not accepted"), "{recap}");
    assert!(recap.contains("auth/expiry.rs:88") && recap.contains("size = \"small\""), "{recap}");
    assert!(
        recap.contains("Half.") && recap.contains("about = \"the clock\"") && !recap.contains("{\"notes\""),
        "{recap}"
    );
}

#[tokio::test]
async fn resuming_takes_an_id_or_words_and_offers_what_is_elsewhere() {
    let home = Home::with(TWO);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let shapes = Shapes::of(&mut client).await;
    let first = client.start(&home, "own.two").await;
    let folder = home.folder();
    let alone = shapes.call(&mut client, "resume_session", json!({ "workspacePath": folder })).await;
    assert_eq!(
        (&alone["step"], alone["candidates"].as_array().unwrap().len()),
        (&Value::Null, 1),
        "{alone:#}"
    );
    let both = json!({ "workspacePath": folder, "sessionId": first["sessionId"], "query": "mend" });
    let both = client.call("resume_session", both).await;
    assert_eq!(both["isError"], true, "{both:#}");
    let words = client.call("resume_session", json!({ "workspacePath": folder, "sessionId": "mend" })).await;
    assert_eq!(words["structuredContent"]["error"]["code"], "E0201", "words are no id: {words:#}");
    assert!(!words["content"][0]["text"].as_str().unwrap().contains("longhaul session"), "{words:#}");
    let short = &first["sessionId"].as_str().unwrap()[..8];
    for found in [json!({ "sessionId": short }), json!({ "query": "mend" })] {
        let mut arguments = found;
        arguments["workspacePath"] = json!(folder);
        let found = shapes.call(&mut client, "resume_session", arguments).await;
        assert_eq!(found["step"]["continueToken"], first["continueToken"], "{found:#}");
    }
}

#[tokio::test]
async fn what_kind_of_model_works_is_taken_in_both_vocabularies_and_said_not_to_matter() {
    let home = Home::with(TWO);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    for tier in ["light", "standard", "heavy", "lightweight", "mid"] {
        let start = json!({ "workflowId": "own.two", "workspacePath": home.folder(), "goal": "g", "modelTier": tier });
        let view = client.object("start_workflow", start).await;
        assert!(view["warnings"].to_string().contains("modelTier"), "{view:#}");
    }
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
