//! Whether what was proven is what would be merged.

use std::collections::BTreeSet;

use serde_json::Value;

use super::settings::Freshness;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProofSeen {
    Missing,
    NotPassed(String),
    Stale(String),
    Fresh,
    /// The base moved since, where nothing is shared.
    Carried(String),
}

/// What a proof says that it is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proven {
    pub base: String,
    pub merged_tree: String,
}

impl Proven {
    /// `None` unless it names a base and a tree.
    pub fn of(proof: &Value) -> Option<Self> {
        let text = |key: &str| proof[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        Some(Self { base: text("base")?, merged_tree: text("merged_tree")? })
    }
}

/// What git says about a proof, now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The change on top of the base that was proven: its tree, if the two still go together.
    pub tree_on_proven_base: Option<String>,
    /// The newest base.
    pub base: String,
    /// Files that differ between the two bases.
    pub base_files: BTreeSet<String>,
    /// Files that the change touches.
    pub change_files: BTreeSet<String>,
}

impl Moved {
    /// A file of the change that the base touched too, or where it has a folder now.
    fn shared(&self) -> Option<&String> {
        let is_above =
            |above: &str, below: &str| below.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
        let shares = |one: &str, other: &str| one == other || is_above(one, other) || is_above(other, one);
        self.change_files.iter().find(|file| self.base_files.iter().any(|other| shares(file, other)))
    }
}

impl ProofSeen {
    /// What a proof is worth where it says that everything passed.
    pub fn judge(proof: Option<&Value>, moved: Option<&Moved>, freshness: Freshness) -> Self {
        let Some(proof) = proof.filter(|proof| !proof.is_null()) else { return Self::Missing };
        let outcome = proof["outcome"].as_str().unwrap_or("unknown");
        if outcome != "passed" {
            let because = proof["because"].as_str().map(|because| format!(": {because}")).unwrap_or_default();
            return Self::NotPassed(format!("the proof says `{outcome}`{because}"));
        }
        let (Some(proven), Some(moved)) = (Proven::of(proof), moved) else {
            return Self::Stale("the proof does not name the base and the tree that it is of".to_owned());
        };
        if moved.tree_on_proven_base.as_ref() != Some(&proven.merged_tree) {
            return Self::Stale("the files are not the ones that were proven".to_owned());
        }
        if moved.base == proven.base {
            return Self::Fresh;
        }
        match (freshness, moved.shared()) {
            (Freshness::Strict, _) => Self::Stale("the base moved since the proof was made".to_owned()),
            (Freshness::Disjoint, Some(file)) => {
                Self::Stale(format!("the base moved since the proof was made, and `{file}` changed in both"))
            }
            (Freshness::Disjoint, None) => {
                Self::Carried("the base moved since the proof was made, in other files".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn moved(base: &str, base_files: &[&str]) -> Moved {
        let set = |files: &[&str]| files.iter().map(ToString::to_string).collect();
        Moved {
            tree_on_proven_base: Some("t1".to_owned()),
            base: base.to_owned(),
            base_files: set(base_files),
            change_files: set(&["a", "b"]),
        }
    }

    #[test]
    fn each_way_in_which_a_proof_can_stand() {
        let proof = json!({ "outcome": "passed", "base": "b1", "merged_tree": "t1" });
        let judge =
            |proof: &Value, moved: &Moved, freshness| ProofSeen::judge(Some(proof), Some(moved), freshness);
        assert_eq!(ProofSeen::judge(None, None, Freshness::Strict), ProofSeen::Missing);
        assert_eq!(ProofSeen::judge(Some(&Value::Null), None, Freshness::Strict), ProofSeen::Missing);
        let failed =
            json!({ "outcome": "failed", "because": "`test` failed", "base": "b1", "merged_tree": "t1" });
        assert_eq!(
            judge(&failed, &moved("b1", &[]), Freshness::Strict),
            ProofSeen::NotPassed("the proof says `failed`: `test` failed".to_owned())
        );
        assert!(matches!(judge(&json!({}), &moved("b1", &[]), Freshness::Strict), ProofSeen::NotPassed(_)));
        let bare = json!({ "outcome": "passed" });
        assert!(matches!(judge(&bare, &moved("b1", &[]), Freshness::Strict), ProofSeen::Stale(_)));
        for freshness in [Freshness::Strict, Freshness::Disjoint] {
            assert_eq!(judge(&proof, &moved("b1", &[]), freshness), ProofSeen::Fresh);
            let edited = Moved { tree_on_proven_base: Some("t2".to_owned()), ..moved("b1", &[]) };
            assert!(matches!(judge(&proof, &edited, freshness), ProofSeen::Stale(_)));
            let torn = Moved { tree_on_proven_base: None, ..moved("b1", &[]) };
            assert!(matches!(judge(&proof, &torn, freshness), ProofSeen::Stale(_)));
            for shared in ["b", "b/in"] {
                assert!(matches!(judge(&proof, &moved("b2", &[shared]), freshness), ProofSeen::Stale(_)));
            }
        }
        assert!(matches!(judge(&proof, &moved("b2", &["c"]), Freshness::Strict), ProofSeen::Stale(_)));
        assert!(matches!(
            judge(&proof, &moved("b2", &["c", "bb"]), Freshness::Disjoint),
            ProofSeen::Carried(_)
        ));
    }
}
