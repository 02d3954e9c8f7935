//! What a `deliver` step wants, and what a session pins of its settings for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::policy::settings::{Freshness, MergeMethod};

/// What of the settings counts, as it was when the session started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliverySettings {
    /// Empty: who git takes the user for.
    pub name: String,
    pub email: String,
    pub coauthor: bool,
    pub sign: Sign,
    pub method: MergeMethod,
    pub freshness: Freshness,
}

impl Default for DeliverySettings {
    fn default() -> Self {
        Self {
            name: String::new(),
            email: String::new(),
            coauthor: true,
            sign: Sign::Inherit,
            method: MergeMethod::Squash,
            freshness: Freshness::Strict,
        }
    }
}

/// Whether the commit is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// As git is told to.
    Inherit,
    Always,
    Never,
}

/// What is asked for, with all that it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "it is a list of what is wanted, not a state")]
pub struct Wanted {
    pub commit: bool,
    /// The first line of the commit and the title of the pull request, where an author chose it.
    pub subject: Option<String>,
    pub branch: bool,
    /// Where an author chose it.
    pub branch_name: Option<String>,
    pub pull_request: Option<PullWanted>,
    pub comment: bool,
    pub merge: bool,
    pub close: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullWanted {
    Draft,
    Ready,
}

impl Wanted {
    /// The acts of a `deliver` step. What one needs is wanted with it: a merge needs a pull request that is ready, that a
    /// branch, and that a commit.
    pub fn of(settings: &BTreeMap<String, Value>) -> Self {
        let is_on = |key: &str| {
            settings.get(key).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
        };
        let chosen = |key: &str| {
            let text = settings.get(key).and_then(Value::as_str);
            text.filter(|text| *text != "auto").map(str::to_owned)
        };
        let merge = is_on("merge");
        let comment = is_on("comment");
        let asked = match settings.get("pull_request").and_then(Value::as_str) {
            Some("draft") => Some(PullWanted::Draft),
            _ if is_on("pull_request") => Some(PullWanted::Ready),
            _ => None,
        };
        let pull_request = if merge { Some(PullWanted::Ready) } else { asked };
        let pull_request = pull_request.or(comment.then_some(PullWanted::Draft));
        let branch = is_on("branch") || pull_request.is_some();
        let commit = is_on("commit") || branch;
        let (subject, branch_name) = (chosen("commit"), chosen("branch"));
        Self { commit, subject, branch, branch_name, pull_request, comment, merge, close: is_on("close") }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wanted(value: &Value) -> Wanted {
        let fields = value.as_object().unwrap();
        Wanted::of(&fields.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    #[test]
    fn what_an_act_needs_is_wanted_with_it() {
        let nothing = Wanted {
            commit: false,
            subject: None,
            branch: false,
            branch_name: None,
            pull_request: None,
            comment: false,
            merge: false,
            close: false,
        };
        assert_eq!(wanted(&json!({ "close": true })), Wanted { close: true, ..nothing.clone() });
        assert_eq!(
            wanted(&json!({ "commit": "auto", "merge": false })),
            Wanted { commit: true, ..nothing.clone() }
        );
        let branch = Wanted { commit: true, branch: true, ..nothing.clone() };
        assert_eq!(wanted(&json!({ "branch": "auto" })), branch);
        let named = Wanted { branch_name: Some("fix/x".to_owned()), ..branch.clone() };
        assert_eq!(wanted(&json!({ "branch": "fix/x" })), named);
        let draft = Wanted { pull_request: Some(PullWanted::Draft), ..branch.clone() };
        assert_eq!(wanted(&json!({ "pull_request": "draft" })), draft);
        assert_eq!(wanted(&json!({ "comment": "proof" })), Wanted { comment: true, ..draft });
        let ready = Wanted { pull_request: Some(PullWanted::Ready), ..branch };
        assert_eq!(wanted(&json!({ "pull_request": "ready" })), ready);
        assert_eq!(
            wanted(&json!({ "pull_request": "draft", "merge": "by_policy" })),
            Wanted { merge: true, ..ready.clone() }
        );
        assert_eq!(wanted(&json!({ "merge": "by_policy" })), Wanted { merge: true, ..ready });
        let said = wanted(&json!({ "commit": "fix: a thing" }));
        assert_eq!(said.subject.as_deref(), Some("fix: a thing"));
    }
}
