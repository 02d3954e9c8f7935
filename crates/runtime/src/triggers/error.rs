//! Why something with a trigger was not done, in words for whoever asked.

use std::path::PathBuf;

use longhaul_core::yaml_edit;

use crate::error::Kind;

#[derive(Debug, thiserror::Error)]
pub enum TriggerError {
    #[error("there is no trigger `{id}`; {}", advice(meant.as_ref()))]
    Unknown { id: String, meant: Option<String> },
    #[error(
        "several triggers are called `{id}`: {fitting}; name one in full, or give one of them another id"
    )]
    Ambiguous { id: String, fitting: String },
    #[error("there is no template `{name}`; there are {known}")]
    UnknownOffer { name: String, known: String },
    #[error(
        "`{0}` is no id of a trigger; use small letters, digits and `-`, at most 64, as in `nightly-audit`"
    )]
    BadId(String),
    #[error("there is a trigger `{id}` already in `{path}`; choose another with `--id`")]
    Taken { id: String, path: String },
    #[error("`{path}` has errors, so nothing was changed; put them right:\n{}", errors.join("\n"))]
    Invalid { path: String, errors: Vec<String> },
    #[error("`{}` was left as it is: {source}", path.display())]
    Edit { path: PathBuf, source: yaml_edit::Error },
    #[error("`{}` changed while it was looked at, so it was left as it is; run it again", path.display())]
    Changed { path: PathBuf },
    #[error("this folder is in no repository, and a trigger works in one; run it there")]
    NoWorkspace,
    #[error("trigger `{id}` takes requests; give one with `--payload FILE`")]
    NoPayload { id: String },
    #[error(
        "trigger `{id}` takes no requests, so `--payload` and `--header` say nothing to it; leave them out"
    )]
    NotForRequests { id: String },
    #[error("trigger `{id}` is {state}, so it begins nothing; `longhaul trigger validate` says more")]
    NotServed { id: String, state: &'static str },
    #[error("the goal of trigger `{id}` comes from a request; say what is wanted with `--goal TEXT`")]
    NoGoal { id: String },
    #[error("trigger `{id}` began nothing: {because}")]
    NotFired { id: String, because: String },
}

impl TriggerError {
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } | Self::Ambiguous { .. } | Self::UnknownOffer { .. } | Self::BadId(_) => {
                "E0261"
            }
            Self::Taken { .. }
            | Self::Invalid { .. }
            | Self::Edit { .. }
            | Self::Changed { .. }
            | Self::NoWorkspace
            | Self::NoPayload { .. }
            | Self::NotForRequests { .. }
            | Self::NotServed { .. }
            | Self::NoGoal { .. }
            | Self::NotFired { .. } => "E0262",
        }
    }

    pub const fn kind(&self) -> Kind {
        match self {
            Self::Unknown { .. }
            | Self::Ambiguous { .. }
            | Self::UnknownOffer { .. }
            | Self::BadId(_)
            | Self::NoPayload { .. }
            | Self::NotForRequests { .. }
            | Self::NoGoal { .. } => Kind::Usage,
            Self::Taken { .. }
            | Self::Invalid { .. }
            | Self::Edit { .. }
            | Self::NoWorkspace
            | Self::NotServed { .. }
            | Self::NotFired { .. } => Kind::Refused,
            Self::Changed { .. } => Kind::Conflict,
        }
    }
}

fn advice(meant: Option<&String>) -> String {
    match meant {
        Some(id) => format!("did you mean `{id}`?"),
        None => "`longhaul trigger list` shows what there is".to_owned(),
    }
}
