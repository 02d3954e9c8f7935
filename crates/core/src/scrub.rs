//! Takes secrets out of what is about to be stored or shown.
//!
//! Known values are found in every spelling that a JSON document, a URL or a header gives them; values that
//! only look like secrets are found by the rules of [`rules`]. Scrubbing is a net, not a proof: a secret that
//! was cut in two, compressed or encrypted passes.

mod rules;

use std::borrow::Cow;
use std::fmt::Write as _;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use longhaul_events::{FreeText, StreamEvent};
use serde_json::Value;

/// Shorter "secrets" would blot out ordinary words.
pub const SHORTEST_SECRET: usize = 4;

/// A value that must not be stored.
#[derive(Clone)]
pub struct Secret {
    pub name: String,
    pub value: String,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secret({})", self.name)
    }
}

/// Finds secrets and puts a mark in their place.
#[derive(Debug)]
pub struct Scrubber {
    known: Option<AhoCorasick>,
    /// The mark for each pattern of `known`.
    marks: Vec<String>,
    rules: Option<rules::Rules>,
}

impl Scrubber {
    /// For everything that is stored: known values become `[secret:NAME]`, look-alikes `[secret:RULE]`.
    pub fn new(secrets: &[Secret]) -> Self {
        let marked = secrets.iter().map(|secret| (&*secret.value, format!("[secret:{}]", secret.name)));
        Self { rules: Some(rules::Rules::new()), ..Self::of_values(marked) }
    }

    /// For redaction: exactly this value becomes `[redacted]`.
    pub fn redacting(value: &str) -> Self {
        Self::of_values(std::iter::once((value, "[redacted]".to_owned())))
    }

    fn of_values<'a>(values: impl Iterator<Item = (&'a str, String)>) -> Self {
        let (mut patterns, mut marks) = (Vec::new(), Vec::new());
        for (value, mark) in values.filter(|(value, _)| value.len() >= SHORTEST_SECRET) {
            for spelling in spellings(value) {
                patterns.push(spelling);
                marks.push(mark.clone());
            }
        }
        let known = (!patterns.is_empty()).then(|| {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&patterns)
                .expect("patterns are far below the automaton's limits")
        });
        Self { known, marks, rules: None }
    }

    pub fn finds_any(&self, bytes: &[u8]) -> bool {
        self.known.as_ref().is_some_and(|known| known.is_match(bytes))
            || self.rules.as_ref().is_some_and(|rules| rules.first(bytes, 0).is_some())
    }

    /// Bytes without secrets; borrowed when there was nothing to take out.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.finds_any(bytes) {
            return Cow::Borrowed(bytes);
        }
        let mut clean = bytes.to_vec();
        if let Some(known) = &self.known {
            let mut replaced = Vec::with_capacity(clean.len());
            known.replace_all_with_bytes(&clean, &mut replaced, |found, _, out| {
                out.extend_from_slice(self.marks[found.pattern().as_usize()].as_bytes());
                true
            });
            clean = replaced;
        }
        if let Some(rules) = &self.rules {
            clean = rules.replace(&clean);
        }
        Cow::Owned(clean)
    }

    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        }
    }

    /// Cleans the free text of an event and leaves its shape alone.
    pub fn event<E: StreamEvent>(&self, event: &mut E) {
        for text in event.free_texts() {
            match text {
                FreeText::Value(value) => self.value(value),
                FreeText::Words(words) => {
                    if let Cow::Owned(clean) = self.text(words) {
                        *words = clean;
                    }
                }
            }
        }
    }

    /// Cleans every string, key and number of a JSON value in place.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if let Cow::Owned(clean) = self.text(&number.to_string()) {
                    *value = Value::String(clean);
                }
            }
            Value::String(text) => {
                if let Cow::Owned(clean) = self.text(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(fields) => {
                let cleaned = std::mem::take(fields).into_iter().map(|(key, mut item)| {
                    self.value(&mut item);
                    (self.text(&key).into_owned(), item)
                });
                *fields = cleaned.collect();
            }
        }
    }
}

/// The ways in which a value may appear in a file: as it is, inside JSON, in a URL, in base 64.
fn spellings(value: &str) -> Vec<String> {
    let json = Value::String(value.to_owned()).to_string();
    let mut spellings = vec![
        value.to_owned(),
        json[1..json.len() - 1].to_owned(),
        json[1..json.len() - 1].replace('/', "\\/"),
        percent_encoded(value),
        STANDARD_NO_PAD.encode(value),
        URL_SAFE_NO_PAD.encode(value),
    ];
    spellings.sort();
    spellings.dedup();
    spellings
}

fn percent_encoded(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const VALUE: &str = "hunter2\"/päss\nword+tail==";

    fn scrubber() -> Scrubber {
        Scrubber::new(&[Secret { name: "DB".into(), value: VALUE.into() }])
    }

    #[test]
    fn a_known_value_is_found_in_every_spelling() {
        for spelling in spellings(VALUE) {
            let text = format!("before {spelling} after");
            assert_eq!(scrubber().text(&text), "before [secret:DB] after");
        }
        assert!(spellings(VALUE).len() >= 5);
    }

    #[test]
    fn strings_keys_and_numbers_of_a_value_are_cleaned() {
        let scrubber = Scrubber::new(&[Secret { name: "PIN".into(), value: "271828".into() }]);
        let mut value = json!({"a": ["x271828y", 271_828, true], "k271828": null});
        scrubber.value(&mut value);
        assert_eq!(value, json!({"a": ["x[secret:PIN]y", "[secret:PIN]", true], "k[secret:PIN]": null}));
    }

    #[test]
    fn an_event_keeps_its_shape_even_if_the_secret_is_one_of_its_words() {
        let secrets = ["inline", "type", "goal", "opened"]
            .map(|value| Secret { name: "W".into(), value: value.into() });
        let key = longhaul_events::SessionKey::from_bytes([1; 16]);
        let opened = |goal| longhaul_events::SessionEvent::Opened {
            key,
            goal: longhaul_events::Content::Inline(goal),
            workspace: None,
            parent: None,
        };
        let mut event = opened(json!({"goal": "inline"}));
        Scrubber::new(&secrets).event(&mut event);
        assert_eq!(event, opened(json!({"[secret:W]": "[secret:W]"})));
    }

    #[test]
    fn clean_text_is_not_copied() {
        assert!(matches!(scrubber().text("nothing to see"), Cow::Borrowed(_)));
        assert!(matches!(scrubber().bytes(b"\xff\x00\xfe"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_value_too_short_to_be_a_secret_is_left_alone() {
        let scrubber = Scrubber::new(&[Secret { name: "X".into(), value: "the".into() }]);
        assert_eq!(scrubber.text("the cat"), "the cat");
    }

    #[test]
    fn the_longer_of_two_secrets_wins() {
        let secrets = [("A", "abcd"), ("B", "abcdefgh")]
            .map(|(name, value)| Secret { name: name.into(), value: value.into() });
        assert_eq!(Scrubber::new(&secrets).text("abcdefgh abcd"), "[secret:B] [secret:A]");
    }

    #[test]
    fn redaction_takes_out_one_value_and_nothing_else() {
        let redact = Scrubber::redacting("topsecret");
        let token = format!("ghp_{}", "a1B2".repeat(9));
        assert_eq!(redact.text(&format!("topsecret {token}")), format!("[redacted] {token}"));
    }

    #[test]
    fn debug_output_names_a_secret_without_showing_it() {
        let secret = Secret { name: "DB".into(), value: VALUE.into() };
        assert_eq!(format!("{secret:?}"), "Secret(DB)");
    }
}
