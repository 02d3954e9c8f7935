//! What keeps somebody from being asked to do a workflow.

use longhaul_core::taint;

use super::Kind;

#[derive(Debug, thiserror::Error)]
pub enum HiringError {
    #[error(
        "nobody is named to do it; say `--agent NAME`, or set `agents.default`; `longhaul agent check` tells who can be asked here"
    )]
    NobodyNamed,
    #[error("`agents.tiers.{tier}` names nobody; set it, or say `--agent NAME`")]
    NoTier { tier: &'static str },
    #[error(
        "no model of the tier is one that `{name}` could ask, because none is of its provider; leave `--model` out"
    )]
    NoModelInTier { name: String },
    #[error("there is no provider `{name}` any more; `longhaul agent list` shows who there is")]
    NoProvider { name: String },
    #[error("`{name}` is started as `{program}`, and there is no such program here; {how}")]
    NotInstalled { name: String, program: String, how: String },
    #[error("`{name}` is asked at {base}, and nobody is there: {problem}; {how}")]
    NotThere { name: String, base: String, problem: String, how: String },
    #[error("`{name}` asks for {what}; `longhaul agent check {name}` tells more")]
    NotReady { name: String, what: String },
    #[error(transparent)]
    Tainted(#[from] taint::Refusal),
}

impl HiringError {
    pub(super) const fn code(&self) -> &'static str {
        match self {
            Self::NobodyNamed
            | Self::NoTier { .. }
            | Self::NoModelInTier { .. }
            | Self::NoProvider { .. }
            | Self::NotInstalled { .. }
            | Self::NotThere { .. }
            | Self::NotReady { .. } => "E0910",
            Self::Tainted(_) => "E0912",
        }
    }

    pub(super) const fn kind(&self) -> Kind {
        match self {
            Self::NobodyNamed | Self::NoTier { .. } | Self::NoModelInTier { .. } => Kind::Usage,
            Self::Tainted(_) => Kind::Refused,
            Self::NoProvider { .. }
            | Self::NotInstalled { .. }
            | Self::NotThere { .. }
            | Self::NotReady { .. } => Kind::Environment,
        }
    }
}
