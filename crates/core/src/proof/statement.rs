//! The proof as an in-toto Statement (version 1), so that any tool for attestations can carry and check it.

use serde_json::{Value, json};

use super::Proof;

pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";

/// Names the form of the predicate. A UUID belongs to whoever drew it, for ever and without a host; the fragment is for
/// people.
pub const PREDICATE_TYPE: &str = "urn:uuid:5c2f7f0e-6b1d-4a53-9a0c-2f1f0b7c9d41#longhaul-proof-v1";

/// The proof about the tree that the checks saw, or about the task's own where nothing was merged.
pub fn statement(proof: &Proof) -> Value {
    let (name, tree) = match &proof.merged_tree {
        Some(tree) => ("merge result", tree),
        None => ("files of the task", &proof.tree),
    };
    json!({
        "_type": STATEMENT_TYPE,
        "subject": [{ "name": name, "digest": { "gitTree": tree } }],
        "predicateType": PREDICATE_TYPE,
        "predicate": proof.json(),
    })
}
