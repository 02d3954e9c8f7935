//! Questions that agents ask of people: what is asked, what may be answered, and what the agent does without an answer.
//!
//! They are on record as reports. Those of earlier releases hold a question and perhaps options, and are read as well.

use longhaul_events::Reason;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::workflow::scope::cut;

/// More than this nobody reads before they answer.
const MOST_OPTIONS: usize = 10;
const QUESTION_LETTERS: usize = 2000;
const OPTION_LETTERS: usize = 200;
/// As much as stands in an event itself, so that lists can show it.
const MOST_BYTES: usize = 3500;

/// A question of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// What the agent does if nobody answers. Questions of earlier releases do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    #[serde(default)]
    pub urgency: Urgency,
}

/// How soon a person should look. The later one is the more urgent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    Low,
    #[default]
    Normal,
    High,
}

impl Urgency {
    pub const WORDS: [(&'static str, Self); 3] =
        [("low", Self::Low), ("normal", Self::Normal), ("high", Self::High)];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }

    fn of(word: &str) -> Option<Self> {
        Self::WORDS.into_iter().find(|(known, _)| *known == word).map(|(_, urgency)| urgency)
    }
}

impl Question {
    /// What a report says. Total: what is on record was taken once, by this release or an earlier one.
    pub fn read(report: &Value) -> Self {
        let text = report["question"].as_str().unwrap_or_default();
        let options = report["options"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Self {
            text: cut(text, QUESTION_LETTERS),
            options: options.take(MOST_OPTIONS).map(|option| cut(option, OPTION_LETTERS)).collect(),
            default: report["default"].as_str().map(|default| cut(default, OPTION_LETTERS)),
            urgency: report["urgency"].as_str().and_then(Urgency::of).unwrap_or_default(),
        }
    }

    /// What is wrong with a question that is about to be asked, beyond its schema.
    pub fn unfit(report: &Value) -> Vec<Reason> {
        let options: Vec<&str> =
            report["options"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut reasons = Vec::new();
        if report.to_string().len() > MOST_BYTES {
            let message = format!("the question has more than {MOST_BYTES} bytes");
            reasons.push(Reason::new(
                "question_too_long",
                message,
                "ask shorter, and say the rest in your notes",
            ));
        }
        if options.len() > MOST_OPTIONS {
            let message = format!("there are {} options, and {MOST_OPTIONS} are the most", options.len());
            reasons.push(Reason::new("too_many_options", message, "ask for less at once"));
        }
        if options.iter().any(|option| option.trim().is_empty()) {
            reasons.push(Reason::new("empty_option", "an option is empty", "give each option a text"));
        }
        let default = report["default"].as_str().unwrap_or_default();
        if !options.is_empty() && !options.contains(&default) {
            let message = format!("`default` is `{}`, and no option is", cut(default, OPTION_LETTERS));
            reasons.push(Reason::new("unknown_default", message, "give one of `options` as `default`"));
        }
        reasons
    }

    /// What a person means: the number of an option stands for it, anything else for itself.
    pub fn answer<'a>(&'a self, typed: &'a str) -> &'a str {
        let typed = typed.trim();
        let number =
            typed.parse::<usize>().ok().filter(|_| self.options.iter().all(|option| option != typed));
        let chosen = number.and_then(|number| self.options.get(number.checked_sub(1)?));
        chosen.map_or(typed, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_of_an_earlier_release_is_read() {
        let old = Question::read(&json!({ "question": "Which?", "options": ["a", "b"] }));
        let expected = Question {
            text: "Which?".into(),
            options: vec!["a".into(), "b".into()],
            default: None,
            urgency: Urgency::Normal,
        };
        assert_eq!(old, expected);
        assert_eq!(Question::read(&json!("garbage")).text, "");
    }

    #[test]
    fn a_default_is_one_of_the_options() {
        let codes = |report: Value| -> Vec<String> {
            Question::unfit(&report).into_iter().map(|reason| reason.code).collect()
        };
        assert_eq!(codes(json!({ "question": "Which?", "default": "the first" })), [""; 0]);
        assert_eq!(codes(json!({ "question": "?", "options": ["a"], "default": "a" })), [""; 0]);
        assert_eq!(codes(json!({ "question": "?", "options": ["a"], "default": "b" })), ["unknown_default"]);
        let many: Vec<String> = (0..11).map(|number| number.to_string()).collect();
        assert_eq!(codes(json!({ "question": "?", "options": many, "default": "0" })), ["too_many_options"]);
        assert_eq!(codes(json!({ "question": "?", "options": ["", "a"], "default": "a" })), ["empty_option"]);
        assert_eq!(codes(json!({ "question": "?".repeat(4000), "default": "a" })), ["question_too_long"]);
    }

    #[test]
    fn the_number_of_an_option_stands_for_it_unless_an_option_is_that_number() {
        let asked = |options: [&str; 2]| Question {
            text: "Which?".into(),
            options: options.map(str::to_owned).to_vec(),
            default: None,
            urgency: Urgency::Normal,
        };
        let letters = asked(["keep", "drop"]);
        for (typed, meant) in
            [("2", "drop"), (" keep ", "keep"), ("3", "3"), ("0", "0"), ("neither", "neither")]
        {
            assert_eq!(letters.answer(typed), meant);
        }
        assert_eq!(asked(["2", "1"]).answer("1"), "1", "what is written there is meant");
    }
}
