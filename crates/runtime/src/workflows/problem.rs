//! Why a workflow cannot be had, in words for whoever asked.

use std::path::PathBuf;

use super::file::Unreadable;
use crate::error::Kind;

#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("there is no workflow `{id}`; {}", advice(meant.as_ref()))]
    Unknown { id: String, meant: Option<String> },
    #[error("workflow `{path}` has errors, so it cannot start; put them right:\n{}", errors.join("\n"))]
    Invalid { path: String, errors: Vec<String> },
    #[error("workflow `{id}` belongs to `{}`, which is not trusted as it is now; look at it and run `longhaul workspace trust` there", checkout.display())]
    Untrusted { id: String, checkout: PathBuf },
    #[error("`{path}` cannot start, because `{}` is not trusted as it is now; run `longhaul workspace trust` there, or put the file in `{}`", checkout.display(), folder.display())]
    FileInUntrusted { path: String, checkout: PathBuf, folder: PathBuf },
    #[error("`{path}` cannot start in `{}`, which has no `.longhaul/` that a person could trust; put the file in `{}` and start it by its id", checkout.display(), folder.display())]
    FileWithoutFolder { path: String, checkout: PathBuf, folder: PathBuf },
    #[error("`{path}` cannot start outside a git repository, where only bundled workflows and your own do; put it in `{}`", folder.display())]
    FileOutsideGit { path: String, folder: PathBuf },
    #[error("could not read the workflow `{path}`: {problem}")]
    Unreadable { path: String, problem: Unreadable },
    #[error("there is no git source `{name}`; `longhaul workflow source list` shows what there is")]
    UnknownSource { name: String },
    #[error(
        "there is a git source `{name}` already; choose another name with `--name`, or run `longhaul workflow source update {name}`"
    )]
    SourceExists { name: String },
    #[error(
        "`{name}` is not a name for a git source; give one of letters, digits, `-`, `_` and `.` with `--name`"
    )]
    SourceName { name: String },
    #[error(
        "the address holds a password, and addresses are stored; leave it out and let git ask your credential helper"
    )]
    PasswordInAddress,
    #[error(
        "`{address}` has no workflow files in `workflows/` or `.longhaul/workflows/`; check the address and the branch"
    )]
    NothingInSource { address: String },
    #[error("`{}` is not a list of git sources: {problem}; put it right, or remove it and add your sources again", path.display())]
    SourcesFile { path: PathBuf, problem: String },
    #[error("could not {doing} `{}`: {source}; check its permissions and whether the disk is full", path.display())]
    Write { doing: &'static str, path: PathBuf, source: std::io::Error },
    #[error("`{}` is there already and is not overwritten; choose another id or folder", path.display())]
    Exists { path: PathBuf },
    #[error("there is a workflow `{id}` already in `{path}`; choose another id")]
    IdTaken { id: String, path: String },
}

impl Problem {
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "E0610",
            Self::Invalid { .. } => "E0611",
            Self::Untrusted { .. }
            | Self::FileInUntrusted { .. }
            | Self::FileWithoutFolder { .. }
            | Self::FileOutsideGit { .. } => "E0612",
            Self::Unreadable { .. } => "E0613",
            Self::UnknownSource { .. }
            | Self::SourceExists { .. }
            | Self::SourceName { .. }
            | Self::PasswordInAddress
            | Self::NothingInSource { .. }
            | Self::SourcesFile { .. } => "E0614",
            Self::Write { .. } | Self::Exists { .. } | Self::IdTaken { .. } => "E0615",
        }
    }

    pub const fn kind(&self) -> Kind {
        match self {
            Self::Unknown { .. } | Self::UnknownSource { .. } | Self::SourceName { .. } => Kind::Usage,
            Self::Invalid { .. }
            | Self::Untrusted { .. }
            | Self::FileInUntrusted { .. }
            | Self::FileWithoutFolder { .. }
            | Self::FileOutsideGit { .. }
            | Self::SourceExists { .. }
            | Self::PasswordInAddress
            | Self::NothingInSource { .. }
            | Self::Exists { .. }
            | Self::IdTaken { .. } => Kind::Refused,
            Self::Unreadable { .. } | Self::SourcesFile { .. } | Self::Write { .. } => Kind::Environment,
        }
    }
}

fn advice(meant: Option<&String>) -> String {
    match meant {
        Some(id) => format!("did you mean `{id}`?"),
        None => "`longhaul workflow list` shows what there is".to_owned(),
    }
}
