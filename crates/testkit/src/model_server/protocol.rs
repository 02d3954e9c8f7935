//! What the real servers would refuse, in words near to theirs. Where agents are known to differ and are served all the
//! same, so are they here: a run of messages of one role is one message, and `system` may stand anywhere.

use std::collections::BTreeSet;

use serde_json::Value;

use super::asked::{Asked, Protocol, marks};

/// Of the places in a request that mark what is to be kept.
const MOST_MARKS: usize = 4;
const LEAST_OUTPUT: u64 = 16;

/// Why a request is not answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Breach {
    NoKey,
    Form(String),
}

type Checked = Result<(), String>;

pub(super) fn check(asked: &Asked) -> Result<(), Breach> {
    let has_key = ["x-api-key", "authorization"].iter().any(|name| asked.header(name).is_some());
    if !has_key {
        return Err(Breach::NoKey);
    }
    form(asked).map_err(Breach::Form)
}

fn form(asked: &Asked) -> Checked {
    let body = &asked.body;
    if !body.is_object() {
        return Err("the body is no JSON object".to_owned());
    }
    ensure(body["model"].as_str().is_some_and(|model| !model.is_empty()), "model: Field required")?;
    match asked.protocol {
        Protocol::Messages => messages(asked),
        Protocol::Chat => chat(body),
        Protocol::Responses => responses(body),
    }
}

fn ensure(holds: bool, problem: impl Into<String>) -> Checked {
    if holds { Ok(()) } else { Err(problem.into()) }
}

fn list<'a>(holder: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    holder[name].as_array().into_iter().flatten()
}

fn text<'a>(holder: &'a Value, name: &str) -> &'a str {
    holder[name].as_str().unwrap_or_default()
}

/// Names of tools, in any protocol.
fn tool_name(name: &str, known: &mut BTreeSet<String>) -> Checked {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let fits = (1..=128).contains(&name.len()) && name.bytes().all(is_letter);
    ensure(fits, format!("tools: `{name}` does not match '^[a-zA-Z0-9_-]{{1,128}}$'"))?;
    ensure(known.insert(name.to_owned()), format!("tools: Tool names must be unique: `{name}`"))
}

fn schema(schema: &Value, name: &str) -> Checked {
    ensure(schema["type"] == "object", format!("tools: the schema of `{name}` is no object"))
}

fn messages(asked: &Asked) -> Checked {
    let body = &asked.body;
    ensure(asked.header("anthropic-version").is_some(), "anthropic-version: header is required")?;
    ensure(body["max_tokens"].as_u64().is_some_and(|most| most > 0), "max_tokens: Field required")?;
    let found = marks(body);
    ensure(
        found <= MOST_MARKS,
        format!("A maximum of 4 blocks with cache_control may be provided. Found {found}."),
    )?;
    let mut names = BTreeSet::new();
    for tool in list(body, "tools") {
        tool_name(text(tool, "name"), &mut names)?;
        // What runs at the provider has a type, and no schema.
        if tool.get("type").is_none_or(|kind| kind == "custom") {
            schema(&tool["input_schema"], text(tool, "name"))?;
        }
    }
    for block in list(body, "system") {
        ensure(!text(block, "text").is_empty(), "system: text content blocks must be non-empty")?;
    }
    let turns = turns(body)?;
    ensure(!turns.is_empty(), "messages: at least one message is required")?;
    ensure(turns[0].0 == "user", "messages: first message must use the \"user\" role")?;
    calls_are_answered(&turns)
}

/// The messages with runs of one role put together.
fn turns(body: &Value) -> Result<Vec<(String, Vec<Value>)>, String> {
    let mut turns: Vec<(String, Vec<Value>)> = Vec::new();
    for (index, message) in list(body, "messages").enumerate() {
        let role = text(message, "role");
        ensure(
            ["user", "assistant", "system"].contains(&role),
            format!("messages.{index}.role: Input should be 'user' or 'assistant'"),
        )?;
        let blocks = match &message["content"] {
            Value::String(said) => vec![serde_json::json!({ "type": "text", "text": said })],
            Value::Array(blocks) => blocks.clone(),
            _ => return Err(format!("messages.{index}.content: Field required")),
        };
        ensure(!blocks.is_empty(), format!("messages.{index}: all messages must have non-empty content"))?;
        for block in &blocks {
            ensure(
                !text(block, "type").is_empty(),
                format!("messages.{index}.content: a block has no type"),
            )?;
            let is_blank = block["type"] == "text" && text(block, "text").trim().is_empty();
            ensure(!is_blank, "messages: text content blocks must contain non-whitespace text")?;
        }
        match turns.last_mut() {
            _ if role == "system" => {}
            Some((last, earlier)) if last == role => earlier.extend(blocks),
            Some(_) | None => turns.push((role.to_owned(), blocks)),
        }
    }
    Ok(turns)
}

fn calls_are_answered(turns: &[(String, Vec<Value>)]) -> Checked {
    let ids = |blocks: &[Value], kind: &str, name: &str| -> Vec<String> {
        let blocks = blocks.iter().filter(|block| block["type"] == kind);
        blocks.map(|block| text(block, name).to_owned()).collect()
    };
    let mut known = BTreeSet::new();
    for (index, (_, blocks)) in turns.iter().enumerate() {
        let called = ids(blocks, "tool_use", "id");
        let after = turns.get(index + 1).map(|(_, blocks)| ids(blocks, "tool_result", "tool_use_id"));
        for id in &called {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            ensure(
                !id.is_empty() && id.bytes().all(is_letter),
                format!("messages.{index}: `{id}` is no id of a tool_use"),
            )?;
            ensure(known.insert(id.clone()), format!("messages: `tool_use` ids must be unique: {id}"))?;
            ensure(
                after.as_ref().is_some_and(|after| after.contains(id)),
                format!(
                    "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}"
                ),
            )?;
        }
        let before = index.checked_sub(1).map(|before| ids(&turns[before].1, "tool_use", "id"));
        for id in ids(blocks, "tool_result", "tool_use_id") {
            ensure(
                before.as_ref().is_some_and(|before| before.contains(&id)),
                format!("messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {id}"),
            )?;
        }
    }
    Ok(())
}

fn chat(body: &Value) -> Checked {
    let has = |name: &str| !body[name].is_null();
    ensure(
        !(has("max_tokens") && has("max_completion_tokens")),
        "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
    )?;
    let mut names = BTreeSet::new();
    for tool in list(body, "tools") {
        ensure(tool["type"] == "function", "tools: Invalid value for 'type'")?;
        tool_name(text(&tool["function"], "name"), &mut names)?;
        if tool["function"].get("parameters").is_some() {
            schema(&tool["function"]["parameters"], text(&tool["function"], "name"))?;
        }
    }
    ensure(list(body, "messages").next().is_some(), "messages: at least one message is required")?;
    let mut open: BTreeSet<String> = BTreeSet::new();
    for (index, message) in list(body, "messages").enumerate() {
        let role = text(message, "role");
        if role == "tool" {
            let id = text(message, "tool_call_id");
            ensure(
                open.remove(id),
                format!(
                    "messages.[{index}]: messages with role 'tool' must be a response to a preceding message with 'tool_calls': {id}"
                ),
            )?;
            continue;
        }
        unanswered(&open)?;
        ensure(
            ["system", "developer", "user", "assistant"].contains(&role),
            format!("messages.[{index}].role: Invalid value: '{role}'"),
        )?;
        let calls: Vec<&Value> = list(message, "tool_calls").collect();
        let has_content = message["content"].is_string() || message["content"].is_array();
        ensure(
            has_content || !calls.is_empty(),
            format!("messages.[{index}].content: expected a string, got null"),
        )?;
        for call in calls {
            ensure(
                call["function"]["arguments"].is_string() && !text(&call["function"], "name").is_empty(),
                format!("messages.[{index}].tool_calls: a call has no name or no arguments"),
            )?;
            open.insert(text(call, "id").to_owned());
        }
    }
    unanswered(&open)
}

fn unanswered(open: &BTreeSet<String>) -> Checked {
    let ids: Vec<&str> = open.iter().map(String::as_str).collect();
    ensure(
        ids.is_empty(),
        format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following did not have response messages: {}",
            ids.join(", ")
        ),
    )
}

fn responses(body: &Value) -> Checked {
    if let Some(most) = body["max_output_tokens"].as_u64() {
        ensure(most >= LEAST_OUTPUT, "Invalid 'max_output_tokens': Expected a value >= 16")?;
    }
    let mut names = BTreeSet::new();
    for tool in list(body, "tools").filter(|tool| tool["type"] == "function") {
        tool_name(text(tool, "name"), &mut names)?;
        schema(&tool["parameters"], text(tool, "name"))?;
    }
    ensure(body["input"].is_array() || body["input"].is_string(), "input: Field required")?;
    let is_call = |item: &&Value| ["function_call", "custom_tool_call"].contains(&text(item, "type"));
    let is_output =
        |item: &&Value| ["function_call_output", "custom_tool_call_output"].contains(&text(item, "type"));
    let ids = |items: Vec<&Value>| -> BTreeSet<String> {
        items.into_iter().map(|item| text(item, "call_id").to_owned()).collect()
    };
    let called = ids(list(body, "input").filter(is_call).collect());
    let answered = ids(list(body, "input").filter(is_output).collect());
    if let Some(id) = answered.difference(&called).next() {
        return Err(format!("No tool call found for function call output with call_id {id}."));
    }
    if let Some(id) = called.difference(&answered).next() {
        return Err(format!("No tool output found for function call {id}."));
    }
    for item in list(body, "input").filter(|item| item["type"] == "reasoning") {
        let is_whole = body["store"] != false || item["encrypted_content"].is_string();
        ensure(is_whole, format!("Item with id '{}' not found.", text(item, "id")))?;
    }
    Ok(())
}
