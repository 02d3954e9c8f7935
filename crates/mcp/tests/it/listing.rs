//! What is listed: small, in a fixed order, and without a trace on the disk.

use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, Home};
use crate::walking::TWO;

/// What a client pays for the tools before anything is done, in tokens.
const MOST_TOKENS: usize = 3_000;
const MOST_TOOLS: usize = 12;

#[tokio::test]
async fn the_tools_cost_little() {
    let home = Home::new();
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let listed = client.request("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.len() <= MOST_TOOLS);
    let paid = |tool: &Value| {
        let text = json!([tool["name"], tool["description"], tool["inputSchema"]]).to_string();
        bpe_openai::o200k_base().count(text.as_str())
    };
    let tokens: usize = tools.iter().map(paid).sum();
    assert!(tokens <= MOST_TOKENS, "{tokens} tokens");
    println!("{} tools, {tokens} tokens", tools.len());
    assert!(!home.path.join("home").exists(), "nothing was made by looking");
}

#[tokio::test]
async fn tools_come_in_the_same_order_every_time_and_say_what_they_change() {
    let mut seen = Vec::new();
    for era in ERAS {
        let home = Home::new();
        let mut client = Client::connect(&home, era, json!({})).await;
        let listed = client.request("tools/list", json!({})).await["result"].clone();
        if era == Era::Stateless {
            assert!(listed["ttlMs"].is_u64() && listed["cacheScope"].is_string(), "{listed:#}");
        }
        seen.push(listed["tools"].clone());
    }
    assert!(seen.iter().all(|tools| *tools == seen[0]));
    let reads = |tool: &Value| tool["annotations"]["readOnlyHint"] == true;
    let readers: Vec<&str> = seen[0]
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| reads(tool))
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        readers,
        ["list_workflows", "inspect_workflow"],
        "resuming may expire a gate and ask a person"
    );
}

#[tokio::test]
async fn workflows_are_prompts_and_sessions_are_resources() {
    let home = Home::with(TWO);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let prompts = client.request("prompts/list", json!({})).await;
    let names: Vec<&str> = prompts["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"own.two") && names.contains(&"lh.quick-task"), "{names:?}");
    let asked = json!({ "name": "own.two", "arguments": { "goal": "mend it" } });
    let prompt = client.request("prompts/get", asked).await;
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("`own.two`") && text.contains("mend it"), "{text}");
    let missing = client.request("prompts/get", json!({ "name": "own.two" })).await;
    assert_eq!(missing["error"]["code"], -32602);
    let none = client.request("resources/list", json!({})).await;
    assert_eq!(none["result"]["resources"], json!([]));
    assert!(!home.path.join("home/data").exists(), "nothing was made by looking");
    let first = client.start(&home, "own.two").await;
    let listed = client.request("resources/list", json!({})).await;
    let uri = listed["result"]["resources"][0]["uri"].as_str().unwrap();
    assert_eq!(uri, format!("longhaul://session/{}", first["sessionId"].as_str().unwrap()));
    let read = client.request("resources/read", json!({ "uri": uri })).await;
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("mend the login") && text.contains(first["continueToken"].as_str().unwrap()),
        "{text}"
    );
    let templates = client.request("resources/templates/list", json!({})).await;
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "longhaul://session/{sessionId}");
    let unknown = client.request("resources/read", json!({ "uri": "longhaul://session/no" })).await;
    assert_eq!(unknown["error"]["code"], -32602);
}

#[tokio::test]
async fn any_word_finds_a_workflow_and_the_best_fit_comes_first() {
    let home = Home::with(TWO);
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let found = |query: &str| json!({ "workspacePath": home.folder(), "query": query });
    let listed = client.object("list_workflows", found("please use the two steps workflow")).await;
    assert_eq!(listed["workflows"][0]["workflowId"], "own.two", "{listed:#}");
    let none = client.object("list_workflows", found("zzzz")).await;
    assert_eq!(none["workflows"], json!([]));
}

#[tokio::test]
async fn one_workflow_is_one_workflow() {
    let home = Home::with(&TWO.replace("own.two", "own.zebra"));
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let found = json!({ "workspacePath": home.folder(), "query": "zebra" });
    let listed = client.call("list_workflows", found).await;
    assert!(listed["content"][0]["text"].as_str().unwrap().starts_with("1 workflow. "), "{listed:#}");
}
