//! What a delivery comes to, for the workflow and for people.

use longhaul_core::delivery::{Done, End};
use longhaul_events::DeliveryAct;
use longhaul_git::ObjectId;
use serde_json::{Map, Value, json};

use super::Delivery;

/// The result of one that could not even begin.
pub(super) fn bare(end: &End) -> Value {
    let mut value = json!({
        "outcome": end.outcome.word(), "because": end.because, "commit": null, "branch": null,
        "pull_request": null, "merged": null, "closed": null, "receipts": [],
    });
    if let Some(code) = end.code {
        value["code"] = json!(code.code());
    }
    value
}

impl Delivery<'_> {
    pub(super) fn result(&self, end: &End) -> Value {
        let mut value = bare(end);
        let is_done = |act: DeliveryAct| self.done.get(&act) == Some(&Done::Yes);
        if let Some(commit) = &self.commit {
            value["commit"] = json!(commit.as_str());
        }
        if is_done(DeliveryAct::Branch) || self.merged.is_some() {
            value["branch"] = json!(self.ground.branch);
        }
        if let Some(pull) = &self.pull {
            value["pull_request"] = json!({ "number": pull.number, "url": pull.url });
        }
        if let Some(merged) = &self.merged {
            let [tree, onto] = [&merged.tree, &merged.onto].map(|id| id.as_ref().map(ObjectId::as_str));
            value["merged"] = json!({ "commit": merged.commit.as_str(), "tree": tree, "onto": onto });
        }
        if is_done(DeliveryAct::Close) {
            value["closed"] = json!(self.ground.ticket);
        }
        for (key, found) in [("findings", &self.target.findings), ("doubts", &self.target.doubts)] {
            if !found.is_empty() {
                value[key] = json!(found);
            }
        }
        value["receipts"] = Value::Array(self.receipts());
        value
    }

    /// What was done for this session, in order, and what was left out.
    fn receipts(&self) -> Vec<Value> {
        let mut told: Vec<Value> = Vec::new();
        for known in &self.history {
            let Some(receipt) = &known.receipt else { continue };
            let mut entry = Map::new();
            entry.insert("act".to_owned(), json!(known.act.word()));
            entry.insert("outcome".to_owned(), json!(if known.found { "found" } else { "done" }));
            entry.insert("receipt".to_owned(), receipt.clone());
            told.push(Value::Object(entry));
        }
        let skipped = self.done.iter().filter_map(|(act, done)| match done {
            Done::Skipped(because) => {
                Some(json!({ "act": act.word(), "outcome": "skipped", "because": because }))
            }
            Done::Yes => None,
        });
        told.extend(skipped);
        told
    }
}
