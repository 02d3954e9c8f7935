//! What is stored about the files that a session works on.

use serde::{Deserialize, Serialize};

/// A checkout that was made for a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnCheckout {
    /// People and files call it by this.
    pub name: String,
    pub path: String,
    pub kind: CheckoutKind,
    /// The common git directory of the repository that it was made from.
    pub main_dir: String,
    pub branch: String,
    pub base_branch: String,
    pub base_commit: String,
    /// Files in it that are never kept or shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
}

/// How a checkout hangs together with its repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckoutKind {
    /// A clone that reads the objects of the other and never writes to it.
    Borrowed,
    /// As by `git worktree add`.
    Linked,
}

impl OwnCheckout {
    pub(crate) fn words(&mut self) -> impl Iterator<Item = &mut String> {
        [&mut self.path, &mut self.main_dir].into_iter()
    }
}
