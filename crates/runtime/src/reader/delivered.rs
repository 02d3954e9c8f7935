//! Where the change of a task is: merged, in a pull request, or on a branch that somebody has to merge.

use serde::Serialize;
use serde_json::Value;

use super::{Reader, TaskView};
use crate::error::Error;

/// The vars in which a pipeline keeps what its deliveries came to, the last one first.
const DELIVERIES: [&str; 2] = ["landed", "shipped"];
/// As many letters of a commit as people read.
const SHORT: usize = 7;

/// What became of a change that was delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivered {
    /// The commit that the base branch has of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<DeliveredPull>,
    /// The ticket that was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed: Option<u64>,
    /// Why it is not merged, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeliveredPull {
    pub number: u64,
    pub url: String,
}

impl Reader {
    /// Where the change of a task's newest attempt is; `None` if nothing was delivered.
    pub fn delivered_of_task(&self, view: &TaskView) -> Result<Option<Delivered>, Error> {
        let mut results = Vec::new();
        for name in DELIVERIES {
            results.extend(self.var_of_task(view, name)?);
        }
        Ok(Delivered::of(&results))
    }
}

impl Delivered {
    /// From what deliveries came to, the last one first.
    fn of(results: &[Value]) -> Option<Self> {
        let text = |path: &str| {
            results.iter().find_map(|result| result.pointer(path)).and_then(Value::as_str).map(str::to_owned)
        };
        let found = |key: &str| results.iter().map(|result| &result[key]).find(|value| !value.is_null());
        let pull = found("pull_request").and_then(|pull| {
            Some(DeliveredPull { number: pull["number"].as_u64()?, url: pull["url"].as_str()?.to_owned() })
        });
        let commit = found("commit").and_then(Value::as_str)?.to_owned();
        let merged = text("/merged/commit");
        let skipped = results.iter().flat_map(|result| result["receipts"].as_array().into_iter().flatten());
        let because = skipped
            .filter(|receipt| receipt["act"] == "merge" && receipt["outcome"] == "skipped")
            .find_map(|receipt| receipt["because"].as_str().map(str::to_owned));
        Some(Self {
            because: because.filter(|_| merged.is_none()),
            merged,
            commit: Some(commit),
            branch: found("branch").and_then(Value::as_str).map(str::to_owned),
            pull_request: pull,
            closed: found("closed").and_then(Value::as_u64),
        })
    }

    /// In one line: where it is, and what is left to do.
    pub fn in_words(&self) -> String {
        let pull =
            self.pull_request.as_ref().map(|pull| format!("pull request {} ({})", pull.number, pull.url));
        if let Some(merged) = &self.merged {
            let pull = pull.map(|pull| format!(", {pull}")).unwrap_or_default();
            let closed = self.closed.map(|number| format!(", ticket {number} is closed")).unwrap_or_default();
            return format!("merged as {}{pull}{closed}", short(merged));
        }
        if let Some(pull) = pull {
            return format!("not merged: {pull} is open");
        }
        let because = self.because.as_deref().unwrap_or("nobody was asked to");
        match &self.branch {
            Some(branch) => {
                format!(
                    "not merged: {because}; the commit is on branch `{branch}`, `git merge {branch}` takes it over"
                )
            }
            None => format!("not merged: {because}"),
        }
    }
}

fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn skipped(act: &str) -> Value {
        json!({ "act": act, "outcome": "skipped", "because": "the repository has no remote, and so no forge" })
    }

    #[test]
    fn without_a_forge_it_says_where_the_commit_is_and_how_to_have_it() {
        let shipped = json!({
            "outcome": "delivered", "commit": "0123456789", "branch": "longhaul/x", "pull_request": null,
            "merged": null, "closed": null, "receipts": [skipped("pull_request")],
        });
        let landed =
            json!({ "outcome": "delivered", "commit": null, "branch": null, "receipts": [skipped("merge")] });
        assert_eq!(
            Delivered::of(&[landed, shipped]).unwrap().in_words(),
            "not merged: the repository has no remote, and so no forge; the commit is on branch `longhaul/x`, \
             `git merge longhaul/x` takes it over"
        );
        assert_eq!(Delivered::of(&[]), None);
        assert_eq!(Delivered::of(&[json!({ "outcome": "refused", "commit": null })]), None);
    }

    #[test]
    fn with_a_forge_it_names_pull_request_merge_and_ticket() {
        let pull = json!({ "number": 2, "url": "forge.git#2" });
        let shipped = json!({ "commit": "0123456789", "branch": "longhaul/x", "pull_request": pull });
        let open = Delivered::of(std::slice::from_ref(&shipped)).unwrap();
        assert_eq!(open.in_words(), "not merged: pull request 2 (forge.git#2) is open");
        let landed = json!({ "commit": "0123456789", "merged": { "commit": "abcdef0123" }, "closed": 3 });
        assert_eq!(
            Delivered::of(&[landed, shipped]).unwrap().in_words(),
            "merged as abcdef0, pull request 2 (forge.git#2), ticket 3 is closed"
        );
    }
}
