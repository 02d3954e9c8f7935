//! An agent that works on one session reaches that session and no other.

use longhaul_mcp::{Longhaul, Profile};
use longhaul_runtime::types::{ReportKind, SessionId};
use longhaul_runtime::{Happened, NewWalk, Telling};
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, Home};
use crate::walking::TWO;

const NAMES: [&str; 8] = [
    "complete_step",
    "report_issue",
    "report_workflow_bug",
    "note_fact",
    "ask_coordinator",
    "read_artifact",
    "write_artifact",
    "spawn",
];

fn begin(home: &Home, goal: &str) -> (SessionId, Value) {
    let (system, new) = (
        home.system(),
        NewWalk { workflow: "own.two".to_owned(), goal: goal.to_owned(), vars: serde_json::Map::new() },
    );
    let view = system.begin(&system.commands().unwrap(), new).unwrap();
    (view.session_id.parse().unwrap(), serde_json::to_value(view).unwrap())
}

async fn leaf(home: &Home, id: SessionId, era: Era) -> Client {
    let mut client = Client::over(Longhaul::new(home.settings(), Profile::Leaf(id)));
    client.open(era, json!({ "elicitation": {} })).await;
    client
}

#[tokio::test]
async fn a_leaf_walks_its_session_and_puts_reports_on_record_once() {
    for era in ERAS {
        let home = Home::with(TWO);
        let (id, first) = begin(&home, "mine");
        let mut client = leaf(&home, id, era).await;
        let listed = client.request("tools/list", json!({})).await;
        let names: Vec<&str> = listed["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, NAMES);
        let issue = json!({ "summary": "the lock file is stale", "severity": "minor" });
        for _ in 0..2 {
            assert_eq!(client.object("report_issue", issue.clone()).await, json!({ "recorded": true }));
        }
        client.object("note_fact", json!({ "fact": "Tests need a database.", "evidence": "README" })).await;
        client.object("ask_coordinator", json!({ "question": "Which?", "default": "the first" })).await;
        client.object("report_workflow_bug", json!({ "summary": "step `act` says nothing" })).await;
        for _ in 0..2 {
            client.object("write_artifact", json!({ "name": "plan", "value": ["look", "act"] })).await;
        }
        let answer =
            json!({ "continueToken": first["continueToken"], "notes": "x", "context": { "size": "small" } });
        let second = client.object("complete_step", answer.clone()).await;
        assert_eq!(second["stepId"], "act");
        assert_eq!(client.object("complete_step", answer).await, second);
        let reader = home.system().reader().unwrap().unwrap();
        let row = reader.find_session(&id.to_string()).unwrap();
        let kind = |happened: &Happened| match happened {
            Happened::Reported { kind, .. } => Some(*kind),
            _ => None,
        };
        let story = reader.story(&row, Telling::Events).unwrap();
        let kinds: Vec<ReportKind> = story.iter().filter_map(|entry| kind(&entry.what)).collect();
        let said = [
            ReportKind::Issue,
            ReportKind::Fact,
            ReportKind::Question,
            ReportKind::WorkflowBug,
            ReportKind::Artifact,
        ];
        assert_eq!(kinds, said);
        let listed = client.object("read_artifact", json!({})).await;
        let id = listed["artifacts"][0]["artifactId"].as_str().unwrap().to_owned();
        assert_eq!(listed["artifacts"][0]["name"], "plan", "{listed:#}");
        let read = client.object("read_artifact", json!({ "artifactId": id })).await;
        assert_eq!(read["artifact"]["value"], json!(["look", "act"]), "{read:#}");
    }
}

#[tokio::test]
async fn a_leaf_reaches_no_other_session() {
    let home = Home::with(TWO);
    let (mine, _) = begin(&home, "mine");
    let (other, view) = begin(&home, "theirs");
    let mut client = leaf(&home, mine, Era::Stateless).await;
    let answer =
        json!({ "continueToken": view["continueToken"], "notes": "x", "context": { "size": "small" } });
    let refused = client.call("complete_step", answer).await;
    assert_eq!(refused["isError"], true, "{refused:#}");
    assert_eq!(refused["structuredContent"]["error"]["code"], "E0202");
    let foreign = client.call("read_artifact", json!({ "artifactId": format!("{other}.5.1") })).await;
    assert_eq!(foreign["isError"], true, "{foreign:#}");
    let resources = client.request("resources/list", json!({})).await;
    assert_eq!(resources["result"]["resources"].as_array().unwrap().len(), 1);
    let read =
        client.request("resources/read", json!({ "uri": format!("longhaul://session/{other}") })).await;
    assert_eq!(read["error"]["code"], -32602, "{read:#}");
    for outer in ["start_workflow", "resume_session", "continue_workflow"] {
        let call = client.request("tools/call", json!({ "name": outer, "arguments": {} })).await;
        assert_eq!(call["error"]["code"], -32602, "{call:#}");
    }
}

#[tokio::test]
async fn what_a_report_lacks_is_named() {
    let home = Home::with(TWO);
    let (id, _) = begin(&home, "mine");
    let mut client = leaf(&home, id, Era::Stateless).await;
    for (tool, arguments) in [
        ("report_issue", json!({ "summary": "x" })),
        ("note_fact", json!({ "fact": " ", "evidence": "y" })),
        ("ask_coordinator", json!({ "question": "x", "default": "a", "urgent": true })),
        ("ask_coordinator", json!({ "question": "x" })),
        ("ask_coordinator", json!({ "question": "x", "default": "a", "urgency": "now" })),
        ("ask_coordinator", json!({ "question": "x", "default": "a", "options": ["b", "c"] })),
        ("report_issue", json!({ "summary": "x", "severity": "huge" })),
        ("ask_coordinator", json!({ "question": "x", "default": "a", "options": [1] })),
        ("write_artifact", json!({ "value": "x" })),
        ("write_artifact", json!({ "name": "x", "value": "x".repeat(300_000) })),
        ("write_artifact", json!({ "name": "x".repeat(200), "value": 1 })),
        ("complete_step", json!({ "notes": "x" })),
        ("complete_step", json!({ "notes": 7 })),
    ] {
        let refused = client.call(tool, arguments).await;
        assert_eq!(refused["isError"], true, "{tool}: {refused:#}");
    }
}

#[tokio::test]
async fn a_leaf_that_knows_nothing_is_shown_its_step_in_the_words_of_its_own_tools() {
    let home = Home::with(TWO);
    let (id, first) = begin(&home, "mine");
    let mut client = leaf(&home, id, ERAS[1]).await;
    let shown = client.call("complete_step", json!({})).await;
    let text = shown["content"][0]["text"].as_str().unwrap();
    assert_eq!(shown["structuredContent"]["continueToken"], first["continueToken"], "{shown:#}");
    assert!(text.contains("call `complete_step` with") && text.contains("`vars` with `size`"), "{text}");
    for other in ["continue_workflow", "checkpointToken", "resume_session", "output."] {
        assert!(!text.contains(other), "{other}: {text}");
    }
    assert_eq!(shown["structuredContent"]["checkpointToken"], Value::Null);
    let again = client.object("complete_step", json!({ "continueToken": first["continueToken"] })).await;
    assert_eq!(again["blocked"], Value::Null, "looking costs no attempt: {again:#}");
    let refused = client
        .call("complete_step", json!({ "continueToken": first["continueToken"], "vars": { "sise": 1 } }))
        .await;
    assert!(refused["structuredContent"]["continueToken"].is_string(), "{refused:#}");
    let prompt = json!({ "name": "own.two", "arguments": { "goal": "g" } });
    let prompt = client.request("prompts/get", prompt).await;
    assert_eq!(prompt["error"]["code"], -32602, "{prompt:#}");
}

#[tokio::test]
async fn each_profile_is_told_about_its_own_tools() {
    let home = Home::with(TWO);
    let (id, _) = begin(&home, "mine");
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let mut leaf = Client::over(Longhaul::new(home.settings(), Profile::Leaf(id)));
    let told = leaf.request("initialize", params.clone()).await;
    let words = told["result"]["instructions"].as_str().unwrap();
    assert!(words.contains("complete_step") && !words.contains("continue_workflow"), "{words}");
    assert_eq!(told["result"]["capabilities"]["prompts"], Value::Null, "{told:#}");
    let mut outer = Client::over(Longhaul::new(home.settings(), Profile::Outer));
    let told = outer.request("initialize", params).await;
    assert!(told["result"]["instructions"].as_str().unwrap().contains("continue_workflow"), "{told:#}");
}
