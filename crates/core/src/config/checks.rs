//! `checks:`: the commands that tell whether the files of a workspace are in order.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

use crate::units::parse_duration_ms;
use crate::workflow::step::{Check, OnEmpty};

/// How long a check may run unless it says otherwise.
const TIMEOUT_MS: u64 = 15 * 60 * 1000;

#[derive(Debug)]
pub(super) struct Section(Vec<Entry>);

impl Section {
    pub(super) fn read(self) -> Result<Vec<Check>, String> {
        self.0.into_iter().map(Entry::check).collect()
    }
}

impl<'de> Deserialize<'de> for Section {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(AnyOfChecks).map(Self)
    }
}

/// Takes whatever stands there, to say what belongs there if it is no list.
struct AnyOfChecks;

impl<'de> Visitor<'de> for AnyOfChecks {
    type Value = Vec<Entry>;

    fn expecting(&self, words: &mut fmt::Formatter<'_>) -> fmt::Result {
        words.write_str("a list under `checks:`, each as in `- { name: test, run: [cargo, test] }`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut checks = Vec::new();
        while let Some(check) = list.next_element()? {
            checks.push(check);
        }
        Ok(checks)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    run: Vec<String>,
    timeout: Option<Spanned<String>>,
    empty: Option<OnEmpty>,
}

impl Entry {
    fn check(self) -> Result<Check, String> {
        let Self { name, run, timeout, empty } = self;
        if name.trim().is_empty() || run.first().is_none_or(String::is_empty) {
            return Err(format!("check `{name}` needs a name and a command, as in `run: [cargo, test]`"));
        }
        let timeout_ms = match timeout {
            None => TIMEOUT_MS,
            Some(text) => parse_duration_ms(&text.value)
                .map_err(|problem| format!("line {}: check `{name}`: {problem}", text.referenced.line()))?,
        };
        Ok(Check { name, run, timeout_ms, empty: empty.unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse_file, resolve};
    use super::*;

    fn empty_of(entry: &str) -> Result<OnEmpty, String> {
        let text = format!("checks:\n  - {entry}\n");
        let layer = parse_file("ws.yml", &text).map_err(|error| error.to_string())?;
        Ok(resolve(&[layer]).unwrap().checks[0].empty)
    }

    #[test]
    fn a_check_without_tests_fails_unless_it_may_pass() {
        assert_eq!(empty_of("{ name: test, run: [make] }"), Ok(OnEmpty::Fail));
        assert_eq!(empty_of("{ name: test, run: [make], empty: fail }"), Ok(OnEmpty::Fail));
        assert_eq!(empty_of("{ name: test, run: [make], empty: pass }"), Ok(OnEmpty::Pass));
        let wrong = empty_of("{ name: test, run: [make], empty: maybe }").unwrap_err();
        assert!(wrong.contains("maybe") && wrong.contains("one of fail, pass"), "{wrong}");
    }

    #[test]
    fn what_is_pinned_says_nothing_of_what_is_usual() {
        let check = Check { name: "a".into(), run: vec!["b".into()], timeout_ms: 1, empty: OnEmpty::Fail };
        assert_eq!(
            serde_json::to_string(&check).unwrap(),
            r#"{"name":"a","run":["b"],"timeout_ms":1}"#,
            "sessions of earlier releases pinned it so"
        );
    }
}
