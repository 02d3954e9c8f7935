//! Takes secrets out of what is about to be stored or shown.
//!
//! Known values are found in every spelling that a JSON document, a URL or a header gives them, see [`escapes`];
//! values that only look like secrets are found by the rules of [`rules`]. Scrubbing is a net, not a proof: a secret that
//! was cut in two, compressed or encrypted passes.

mod escapes;
mod rules;

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use longhaul_events::{FreeText, StreamEvent};
use serde_json::Value;

/// Shorter "secrets" would blot out ordinary words.
pub const SHORTEST_SECRET: usize = 4;

/// What an address makes of one byte, as in `%20`.
const ESCAPED: usize = 3;

/// A value that must not be stored.
#[derive(Clone)]
pub struct Secret {
    pub name: String,
    /// As bytes: an environment variable may hold any.
    pub value: Vec<u8>,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secret({})", self.name)
    }
}

/// Finds secrets and puts a mark in their place.
pub struct Scrubber {
    known: Option<AhoCorasick>,
    /// The mark for each pattern of `known`.
    marks: Vec<String>,
    patterns: Vec<Vec<u8>>,
    longest_bytes: usize,
    rules: Option<rules::Rules>,
}

impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scrubber").field("marks", &self.marks).finish_non_exhaustive()
    }
}

impl Scrubber {
    /// For everything that is stored: known values become `[secret:NAME]`, look-alikes `[secret:RULE]`.
    pub fn new(secrets: &[Secret]) -> Self {
        let marked = secrets.iter().map(|secret| (&secret.value[..], format!("[secret:{}]", secret.name)));
        Self { rules: Some(rules::Rules::new(Case::AsWritten)), ..Self::of_values(marked) }
    }

    /// For redaction: exactly this value becomes `[redacted]`.
    pub fn redacting(value: &str) -> Self {
        Self::of_values(std::iter::once((value.as_bytes(), "[redacted]".to_owned())))
    }

    fn of_values<'a>(values: impl Iterator<Item = (&'a [u8], String)>) -> Self {
        let (mut patterns, mut marks) = (Vec::new(), Vec::new());
        for (value, mark) in values.filter(|(value, _)| value.len() >= SHORTEST_SECRET) {
            for spelling in spellings(value) {
                patterns.push(spelling);
                marks.push(mark.clone());
            }
        }
        let longest_bytes = patterns.iter().map(Vec::len).max().unwrap_or(0) * ESCAPED;
        let known = automaton(&patterns, Case::AsWritten);
        Self { known, marks, patterns, longest_bytes, rules: None }
    }

    /// The same for texts whose case was changed on the way, such as the names of hosts.
    pub fn in_any_case(&self) -> Self {
        let known = automaton(&self.patterns, Case::Any);
        let rules = self.rules.as_ref().map(|_| rules::Rules::new(Case::Any));
        let (marks, patterns) = (self.marks.clone(), self.patterns.clone());
        Self { known, marks, patterns, longest_bytes: self.longest_bytes, rules }
    }

    /// How long a known value may be where it is written down. Whoever cuts a text before it is clean keeps this far
    /// from the cut.
    pub const fn longest_bytes(&self) -> usize {
        self.longest_bytes
    }

    pub fn finds_any(&self, bytes: &[u8]) -> bool {
        self.known.as_ref().is_some_and(|known| knows(known, bytes))
            || self.rules.as_ref().is_some_and(|rules| rules.first(bytes, 0).is_some())
    }

    /// The name of the first secret, or the rule that takes something for one.
    pub fn first_rule(&self, bytes: &[u8]) -> Option<String> {
        let known = self.known.as_ref().and_then(|known| places(known, bytes).into_iter().next());
        let name = |mark: &str| mark.trim_start_matches("[secret:").trim_end_matches(']').to_owned();
        let known = known.map(|found| name(&self.marks[found.pattern]));
        known.or_else(|| self.rules.as_ref().and_then(|rules| rules.first_name(bytes)).map(str::to_owned))
    }

    /// Bytes without secrets; borrowed when there was nothing to take out.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.finds_any(bytes) {
            return Cow::Borrowed(bytes);
        }
        let mut clean = match &self.known {
            Some(known) => self.without_known(known, bytes),
            None => bytes.to_vec(),
        };
        if let Some(rules) = &self.rules {
            clean = rules.replace(&clean);
        }
        Cow::Owned(clean)
    }

    fn without_known(&self, known: &AhoCorasick, bytes: &[u8]) -> Vec<u8> {
        let mut clean = Vec::with_capacity(bytes.len());
        let mut done = 0;
        for found in places(known, bytes) {
            // What begins inside the one before is part of the same secret.
            if found.start >= done {
                clean.extend_from_slice(&bytes[done..found.start]);
                clean.extend_from_slice(self.marks[found.pattern].as_bytes());
            }
            done = done.max(found.end);
        }
        clean.extend_from_slice(&bytes[done..]);
        clean
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

/// Whether capitals and small letters are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    AsWritten,
    Any,
}

fn automaton(patterns: &[Vec<u8>], case: Case) -> Option<AhoCorasick> {
    (!patterns.is_empty()).then(|| {
        AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(case == Case::Any)
            .build(patterns)
            .expect("patterns are far below the automaton's limits")
    })
}

/// A place where a known value stands, in whatever spelling.
struct Found {
    start: usize,
    end: usize,
    pattern: usize,
}

fn knows(known: &AhoCorasick, bytes: &[u8]) -> bool {
    known.is_match(bytes) || escapes::readings(bytes).iter().any(|plain| known.is_match(&plain.bytes))
}

/// All places, in order; of those that begin together the longest first.
fn places(known: &AhoCorasick, bytes: &[u8]) -> Vec<Found> {
    let mut found: Vec<Found> = known
        .find_iter(bytes)
        .map(|hit| Found { start: hit.start(), end: hit.end(), pattern: hit.pattern().as_usize() })
        .collect();
    for plain in escapes::readings(bytes) {
        found.extend(known.find_iter(&plain.bytes).map(|hit| Found {
            start: plain.places[hit.start()],
            end: plain.places[hit.end()],
            pattern: hit.pattern().as_usize(),
        }));
    }
    found.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
    found
}

/// The ways in which a value may appear beside its escapes: as it is, in a form, in base 64.
fn spellings(value: &[u8]) -> Vec<Vec<u8>> {
    let mut spellings = vec![
        value.to_vec(),
        value.iter().map(|byte| if *byte == b' ' { b'+' } else { *byte }).collect(),
        STANDARD_NO_PAD.encode(value).into_bytes(),
        URL_SAFE_NO_PAD.encode(value).into_bytes(),
    ];
    spellings.extend(as_text(value));
    spellings.sort();
    spellings.dedup();
    spellings
}

/// What is left of a value that is not UTF-8 where somebody made text of it, if that still tells it apart.
fn as_text(value: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(value);
    let kept = text.chars().filter(|letter| *letter != char::REPLACEMENT_CHARACTER).count();
    (matches!(text, Cow::Owned(_)) && kept >= SHORTEST_SECRET).then(|| text.into_owned().into_bytes())
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
        let json = Value::String(VALUE.to_owned()).to_string();
        let in_json = &json[1..json.len() - 1];
        let ascii = in_json.replace('ä', r"\u00e4");
        let nested = Value::String(ascii.clone()).to_string();
        let escaped: Vec<String> = VALUE.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let url = escaped.concat();
        let spelled = [
            VALUE.to_owned(),
            in_json.to_owned(),
            in_json.replace('/', r"\/"),
            ascii.clone(),
            ascii.replace("00e4", "00E4"),
            ascii.replace('+', r"\u002B"),
            nested[1..nested.len() - 1].to_owned(),
            url.to_lowercase().replace("%68", "h"),
            url,
            "hunter2%22/p%c3%a4ss%0aword+tail%3D=".to_owned(),
            STANDARD_NO_PAD.encode(VALUE),
            STANDARD_NO_PAD.encode(VALUE).replace('/', r"\/"),
            URL_SAFE_NO_PAD.encode(VALUE),
        ];
        for spelling in spelled {
            let text = format!("before {spelling} after");
            assert!(scrubber().finds_any(text.as_bytes()), "{text}");
            assert_eq!(scrubber().text(&text), "before [secret:DB] after", "{spelling}");
        }
    }

    #[test]
    fn a_value_whose_case_was_changed_is_found_by_whoever_expects_that() {
        let known = Secret { name: "DB".into(), value: "Hunter2-Is-Mine".into() };
        let scrubber = Scrubber::new(&[known]);
        let host = "a.hunter2-is-mine.akiaiosfodnn7example.evil.example";
        assert_eq!(scrubber.text(host), host);
        let clean = "a.[secret:DB].[secret:aws-access-key].evil.example";
        assert_eq!(scrubber.in_any_case().text(host), clean);
        assert_eq!(
            scrubber.in_any_case().text(&host.to_ascii_uppercase()).to_lowercase(),
            clean.to_lowercase()
        );
        assert!(!format!("{scrubber:?}").contains("Mine"), "{scrubber:?}");
    }

    #[test]
    fn a_value_with_spaces_is_found_in_a_form() {
        let scrubber = Scrubber::redacting("open sesame, please");
        assert_eq!(scrubber.text("q=open+sesame%2C+please&x=1"), "q=[redacted]&x=1");
    }

    #[test]
    fn a_value_that_is_not_utf8_is_found_as_it_is_and_in_what_others_made_of_it() {
        let value = b"latin-\xe9-secret".to_vec();
        let scrubber = Scrubber::new(&[Secret { name: "L".into(), value: value.clone() }]);
        assert_eq!(&*scrubber.bytes(&value), b"[secret:L]");
        assert_eq!(scrubber.text("a latin-\u{fffd}-secret z"), "a [secret:L] z");
        assert_eq!(scrubber.text("latin-%E9-secret"), "[secret:L]");
        assert_eq!(scrubber.text(&STANDARD_NO_PAD.encode(&value)), "[secret:L]");
        let garbage = Scrubber::new(&[Secret { name: "G".into(), value: vec![0xff; 12] }]);
        assert_eq!(
            garbage.text(&"\u{fffd}".repeat(12)),
            "\u{fffd}".repeat(12),
            "any garbage looks like this"
        );
    }

    #[test]
    fn several_values_and_escapes_in_one_text_are_all_taken_out() {
        let secrets = [("A", "pass/word"), ("B", "héllo")]
            .map(|(name, value)| Secret { name: name.into(), value: value.into() });
        let text = r#"{"a":"pass\/word","b":"h\u00e9llo","c":"\u0041 pass/word%"}"#;
        let clean = r#"{"a":"[secret:A]","b":"[secret:B]","c":"\u0041 [secret:A]%"}"#;
        assert_eq!(Scrubber::new(&secrets).text(text), clean);
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
            task: None,
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
