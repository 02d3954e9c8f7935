//! A git source as it is shown.

use longhaul_runtime::workflows::GitSource;
use serde::Serialize;

use crate::output::Row;

const SHORT: usize = 12;

#[derive(Debug, Serialize)]
pub(super) struct SourceRow {
    name: String,
    #[serde(rename = "ref")]
    reference: Option<String>,
    commit: String,
    /// The commit before, if this was an update.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    added_by: String,
    address: String,
}

impl SourceRow {
    pub(super) fn of(source: GitSource) -> Self {
        let GitSource { name, address, reference, commit, added_by } = source;
        Self { name, reference, commit, before: None, added_by, address }
    }

    pub(super) fn updated(source: GitSource, before: String) -> Self {
        Self { before: Some(before), ..Self::of(source) }
    }
}

impl Row for SourceRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![
            ("NAME", self.name.clone()),
            ("COMMIT", self.commit.chars().take(SHORT).collect()),
            ("REF", self.reference.clone().unwrap_or_else(|| "HEAD".to_owned())),
            ("ADDRESS", self.address.clone()),
        ]
    }

    fn note(&self) -> Option<String> {
        let before = self.before.as_ref()?;
        Some(if *before == self.commit { "nothing new".to_owned() } else { format!("was {before}") })
    }
}
