//! What keeps somebody from being asked to do a workflow.

use longhaul_core::{roster, taint};

use super::Kind;

#[derive(Debug, thiserror::Error)]
pub enum HiringError {
    #[error(transparent)]
    Unknown(#[from] roster::NoAgent),
    #[error(transparent)]
    Roster(#[from] roster::Error),
    #[error(
        "nobody is named to do it; say `--agent NAME`, or set `agents.default`; `longhaul agent check` tells who can be asked here"
    )]
    NobodyNamed,
    #[error("`agents.tiers.{tier}` names nobody; set it, or say `--agent NAME`")]
    NoTier { tier: &'static str },
    #[error("the tier has no model that `{name}` could ask, because none is of the same provider; leave `--model` out")]
    NoModelInTier { name: String },
    #[error("there is no provider `{name}` any more; `longhaul agent list` shows who there is")]
    NoProvider { name: String },
    #[error(
        "the key for {title} is missing, so nothing was started; {how}, then `longhaul secret set {name}`, or set the environment variable `{name}`"
    )]
    NoKey { title: String, name: String, how: String },
    #[error("`{name}` cannot be driven by this release; `longhaul agent list` shows who can")]
    NotAsked { name: String },
    #[error(transparent)]
    Tainted(#[from] taint::Refusal),
}

impl HiringError {
    pub(super) const fn code(&self) -> &'static str {
        match self {
            Self::Unknown(_)
            | Self::Roster(_)
            | Self::NobodyNamed
            | Self::NoTier { .. }
            | Self::NoModelInTier { .. }
            | Self::NoProvider { .. }
            | Self::NotAsked { .. } => "E1001",
            Self::NoKey { .. } => "E1002",
            Self::Tainted(_) => "E1003",
        }
    }

    pub(super) const fn kind(&self) -> Kind {
        match self {
            Self::Unknown(_)
            | Self::NobodyNamed
            | Self::NoTier { .. }
            | Self::NoModelInTier { .. } => Kind::Usage,
            Self::Tainted(_) => Kind::Refused,
            Self::Roster(_) | Self::NoProvider { .. } | Self::NoKey { .. } | Self::NotAsked { .. } => {
                Kind::Environment
            }
        }
    }
}
