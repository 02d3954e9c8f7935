//! What can be wrong with starting, ending and replacing a daemon.

use std::path::PathBuf;

use super::Kind;

#[derive(Debug, thiserror::Error)]
pub enum LifecycleError {
    #[error(
        "a daemon serves this data directory already: {holder}; `longhaul daemon status` tells more of it, `longhaul daemon stop` ends it"
    )]
    Held { holder: String },
    #[error(
        "the daemon of this data directory is {holder}, which cannot be seen from here; stop it where it runs"
    )]
    Elsewhere { holder: String },
    #[error(
        "the daemon was not healthy within {waited} and was ended: {because}; `{}` has what it said{}", log.display(), told(lines)
    )]
    NotHealthy { waited: String, because: String, log: PathBuf, lines: String },
    #[error("the daemon {how} before it was healthy; `{}` has what it said{}", log.display(), told(lines))]
    EndedEarly { how: String, log: PathBuf, lines: String },
    #[error(
        "`{}` cannot serve here, so nothing was changed and the daemon goes on: {because}; mend it and restart again", binary.display()
    )]
    Unfit { binary: PathBuf, because: String },
    #[error(
        "the new daemon did not do, and {version} serves again as process {process}: {because}; mend it and restart again"
    )]
    WentBack { version: String, process: u32, because: String },
    #[error(
        "no daemon serves: the new one did not do ({because}), and the old one could not be started again ({old}); run `longhaul daemon start`"
    )]
    NeitherServes { because: String, old: String },
    #[error(
        "the program of the daemon cannot be kept to go back to it, so nothing was changed: {because}; use `longhaul daemon stop` and `longhaul daemon start`"
    )]
    NoWayBack { because: String },
    #[error(
        "the daemon, process {process}, has not ended within {waited}; `longhaul daemon stop --now` does not wait"
    )]
    DoesNotEnd { process: u32, waited: String },
    #[error("the loop of the daemon ended by itself; start it again, and see its log")]
    LoopEnded,
    #[error("`{}` belongs to another user; set `XDG_RUNTIME_DIR` or `LONGHAUL_HOME` to a folder of your own", .0.display())]
    NotOurFolder(PathBuf),
    #[error("`{}` was not written by us, or somebody changed it since, and was left as it is; see `longhaul daemon install --print`, and write over it with `--force`", .0.display())]
    UnitEdited(PathBuf),
    #[error("`{}` was not written by us, or somebody changed it since, and was left as it is; remove it yourself, or with `--force`", .0.display())]
    UnitNotOurs(PathBuf),
    #[error(
        "{what} cannot be written into a unit: {problem}; set it to something plainer, and install again"
    )]
    NotForUnit { what: String, problem: &'static str },
    #[error("`{command}` did not work: {problem}; put that right, or use `longhaul daemon run`")]
    Manager { command: String, problem: String },
}

/// What a program said last, below the message.
fn told(lines: &str) -> String {
    if lines.is_empty() { String::new() } else { format!(":\n{lines}") }
}

impl LifecycleError {
    pub const fn code(&self) -> Option<&'static str> {
        Some(match self {
            Self::Held { .. } | Self::Elsewhere { .. } => "E0950",
            Self::NotHealthy { .. } | Self::EndedEarly { .. } => "E0951",
            Self::Unfit { .. }
            | Self::WentBack { .. }
            | Self::NeitherServes { .. }
            | Self::NoWayBack { .. } => "E0952",
            Self::UnitEdited(_) | Self::UnitNotOurs(_) => "E0953",
            Self::DoesNotEnd { .. }
            | Self::LoopEnded
            | Self::NotOurFolder(_)
            | Self::NotForUnit { .. }
            | Self::Manager { .. } => return None,
        })
    }

    pub const fn kind(&self) -> Kind {
        match self {
            Self::Held { .. } | Self::Elsewhere { .. } => Kind::Conflict,
            Self::UnitEdited(_) | Self::UnitNotOurs(_) | Self::NotForUnit { .. } => Kind::Refused,
            Self::NotHealthy { .. }
            | Self::EndedEarly { .. }
            | Self::Unfit { .. }
            | Self::WentBack { .. }
            | Self::NeitherServes { .. }
            | Self::NoWayBack { .. }
            | Self::DoesNotEnd { .. }
            | Self::LoopEnded
            | Self::NotOurFolder(_)
            | Self::Manager { .. } => Kind::Environment,
        }
    }
}
