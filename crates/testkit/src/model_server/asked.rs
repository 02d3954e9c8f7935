//! A request as it came, and what scripts want to know of it in any protocol.

use serde_json::Value;

/// How it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    Messages,
    Chat,
    Responses,
}

/// A request to a model.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The first is 1.
    pub number: usize,
    pub protocol: Protocol,
    /// With its query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub bytes: Vec<u8>,
    pub body: Value,
}

/// What came of a call, as the model is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    pub id: String,
    pub text: String,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The names of the tools it may call; of those in a namespace `NAMESPACE::NAME`.
    pub fn tools(&self) -> Vec<String> {
        let name =
            |tool: &Value| Some(tool["name"].as_str().or(tool["function"]["name"].as_str())?.to_owned());
        let tools = self.body["tools"].as_array().into_iter().flatten();
        let spaced = |tool: &Value| match (name(tool), tool["tools"].as_array()) {
            (Some(space), Some(inner)) => {
                inner.iter().filter_map(name).map(|name| format!("{space}::{name}")).collect()
            }
            (name, _) => Vec::from_iter(name),
        };
        tools.flat_map(spaced).collect()
    }

    /// The messages, or whatever this protocol calls them.
    pub fn messages(&self) -> &[Value] {
        let name = match self.protocol {
            Protocol::Messages | Protocol::Chat => "messages",
            Protocol::Responses => "input",
        };
        self.body[name].as_array().map_or(&[], Vec::as_slice)
    }

    /// What came of all calls so far. Agents repeat their whole conversation, so their number says how far it is.
    pub fn results(&self) -> Vec<ToolResult> {
        let result = |id: &Value, text: &Value| ToolResult {
            id: id.as_str().unwrap_or_default().to_owned(),
            text: words(text),
        };
        let messages = self.messages().iter();
        match self.protocol {
            Protocol::Messages => messages
                .flat_map(|message| message["content"].as_array().into_iter().flatten())
                .filter(|block| block["type"] == "tool_result")
                .map(|block| result(&block["tool_use_id"], &block["content"]))
                .collect(),
            Protocol::Chat => messages
                .filter(|message| message["role"] == "tool")
                .map(|message| result(&message["tool_call_id"], &message["content"]))
                .collect(),
            Protocol::Responses => messages
                .filter(|item| item["type"] == "function_call_output")
                .map(|item| result(&item["call_id"], &item["output"]))
                .collect(),
        }
    }

    /// All words before the conversation and in it, of whomever.
    pub fn told(&self) -> String {
        let before = [&self.body["system"], &self.body["instructions"]];
        let mut told: Vec<String> = before.into_iter().map(words).collect();
        for message in self.messages() {
            told.push(words(&message["content"]));
            told.push(words(&message["output"]));
        }
        told.retain(|words| !words.is_empty());
        told.join("\n")
    }

    /// What was last said by whoever asks, results of calls left out.
    pub fn last_words(&self) -> String {
        let is_theirs = |message: &&Value| message["role"] == "user" && !spoken(message).is_empty();
        self.messages().iter().rev().find(is_theirs).map(spoken).unwrap_or_default()
    }

    /// How much may be answered.
    pub(super) fn limit(&self) -> Option<u64> {
        ["max_tokens", "max_completion_tokens", "max_output_tokens"]
            .iter()
            .find_map(|name| self.body[*name].as_u64())
    }

    /// Whether the request marks what is to be kept.
    pub(super) fn has_cache_marks(&self) -> bool {
        self.protocol != Protocol::Messages || marks(&self.body) > 0
    }

    /// What a cache compares, in the order in which a model reads it.
    pub(super) fn told_in_order(&self) -> String {
        let mut told = String::new();
        for name in ["tools", "system", "instructions", "messages", "input"] {
            if let Some(part) = self.body.get(name) {
                told.push_str(&without_marks(part).to_string());
            }
        }
        told
    }
}

/// The texts of a content, results of calls among them.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts: Vec<String> =
                parts.iter().map(|part| [words(&part["text"]), words(&part["content"])].concat()).collect();
            parts.join("\n")
        }
        _ => String::new(),
    }
}

fn spoken(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            parts.join("\n")
        }
        _ => String::new(),
    }
}

/// How many places are marked to be kept.
pub(super) fn marks(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            usize::from(fields.contains_key("cache_control")) + fields.values().map(marks).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(marks).sum(),
        _ => 0,
    }
}

/// The same without its marks, which no cache compares.
pub(super) fn without_marks(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| *name != "cache_control");
            Value::Object(kept.map(|(name, value)| (name.clone(), without_marks(value))).collect())
        }
        Value::Array(items) => items.iter().map(without_marks).collect(),
        other => other.clone(),
    }
}
