//! What the wires have in common.

use serde_json::{Map, Value};

use crate::request::{Door, Layer, Message, Request};

/// All layers as one text, for wires that take one.
pub(super) fn joined(system: &[Layer]) -> String {
    let texts: Vec<&str> =
        system.iter().map(|layer| layer.text.as_str()).filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

/// What a provider may know a conversation by, so that its requests find the same cache: a digest of how it begins.
pub(super) fn cache_key(request: &Request<'_>) -> String {
    let mut digest = Digest::default();
    digest.add(request.model);
    request.system.iter().filter(|layer| layer.is_stable).for_each(|layer| digest.add(&layer.text));
    request.tools.iter().for_each(|tool| digest.add(&tool.name));
    if let Some(Message::User(text)) = request.messages.first() {
        digest.add(text);
    }
    format!("longhaul-{:016x}", digest.0)
}

/// FNV-1a: the same in every release, unlike the hasher of the standard library. It guards nothing.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Who is known to heed a key for caches. Others refuse what they do not know.
pub(super) fn takes_cache_key(door: &Door) -> bool {
    ["openai", "azure", "openrouter"].contains(&door.provider.as_str())
}

/// Whether it is one of the models that think first. They take other parameters than those before them.
pub(super) fn reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    if let Some(rest) = name.strip_prefix("gpt-") {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        return digits.parse::<u64>().is_ok_and(|version| version >= 5) && !name.contains("chat");
    }
    let mut letters = name.chars();
    letters.next() == Some('o') && letters.next().is_some_and(|second| second.is_ascii_digit())
}

/// What a wire without a mark for errors is told.
pub(super) fn result_text(text: &str, is_error: bool) -> String {
    if is_error { format!("error: {text}") } else { text.to_owned() }
}

pub(super) fn text<'a>(holder: &'a Value, name: &str) -> &'a str {
    holder[name].as_str().unwrap_or_default()
}

/// As the wires of OpenAI write arguments: JSON in a text.
pub(super) fn written(arguments: &Map<String, Value>) -> String {
    serde_json::to_string(arguments).expect("an object of JSON can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_think_first_are_known_by_their_names() {
        for model in ["gpt-5", "gpt-5.1-codex", "openai/gpt-5-mini", "gpt-10", "o3", "o4-mini"] {
            assert!(reasons(model), "{model}");
        }
        for model in ["gpt-4o", "gpt-4.1", "gpt-oss:20b", "gpt-5-chat-latest", "olmo-3", "llama3", "gpt-"] {
            assert!(!reasons(model), "{model}");
        }
    }

    #[test]
    fn the_key_of_a_cache_is_the_same_while_a_conversation_grows() {
        let system = [
            Layer { text: "base".to_owned(), is_stable: true },
            Layer { text: "now".to_owned(), is_stable: false },
        ];
        let messages = [Message::User("a".to_owned()), Message::User("b".to_owned())];
        let request =
            Request { model: "m", system: &system, tools: &[], messages: &messages[..1], max_output: 1 };
        let key = cache_key(&request);
        let grown = Request { messages: &messages, system: &system[..1], max_output: 2, ..request };
        assert_eq!(key, cache_key(&grown));
        assert_ne!(key, cache_key(&Request { messages: &messages[1..], ..request }));
        assert_ne!(key, cache_key(&Request { model: "n", ..request }));
    }
}
