//! What can happen to a registered repository.

use serde::{Deserialize, Serialize};

use crate::content::{Digest, FreeText};

/// A fact about one workspace. Append-only: a changed shape is a new variant and an upcaster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum WorkspaceEvent {
    Registered {
        name: String,
        /// The git directory that all worktrees of the repository share.
        common_dir: String,
        /// The main checkout; none for a bare repository.
        checkout: Option<String>,
    },
    /// A person looked at `.longhaul/` and said that it may act.
    Trusted {
        hash: Digest,
        files: u64,
        by: String,
        channel: Channel,
        /// What it was, file by file; absent where that was not kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        listing: Option<Vec<TrustedFile>>,
    },
    Removed {
        by: String,
    },
}

impl WorkspaceEvent {
    /// Everything in it that is free text.
    pub fn free_texts(&mut self) -> Vec<FreeText<'_>> {
        let words: Vec<&mut String> = match self {
            Self::Registered { name, common_dir, checkout } => {
                [name, common_dir].into_iter().chain(checkout).collect()
            }
            Self::Trusted { by, listing, .. } => {
                let paths = listing.iter_mut().flatten().map(|file| &mut file.path);
                std::iter::once(by).chain(paths).collect()
            }
            Self::Removed { by } => vec![by],
        };
        words.into_iter().map(FreeText::Words).collect()
    }
}

/// A file of a `.longhaul/` that a person trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedFile {
    pub path: String,
    pub kind: FileKind,
    /// Of its content; of where it points, if it is a link.
    pub sha256: Digest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    Regular,
    Executable,
    Symlink,
}

/// The way by which a person said something, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    Client,
    Terminal,
    Console,
    Forge,
}
