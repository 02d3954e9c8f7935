//! How the store fails. Each variant is something else to do, not somewhere else in the code.

use std::io;
use std::path::PathBuf;

use longhaul_events::{Digest, Seq};

/// A fault of the store or of what lies under it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the database is damaged ({what}); run `longhaul doctor --recover`")]
    Damaged { what: String },
    #[error("stream `{stream}` is quarantined: {reason}; see `longhaul doctor`")]
    Quarantined { stream: String, reason: String },
    #[error(
        "the database needs a release that knows schema {needed}, this one knows {known}; update `longhaul`"
    )]
    TooNew { needed: u32, known: u32 },
    #[error(
        "a newer release has changed the database so that this one may only read it (needs schema {needed}, knows {known}); restart with the newer `longhaul`"
    )]
    ReadOnlyForThisRelease { needed: u32, known: u32 },
    #[error("the disk is full, nothing was stored; make room and try again")]
    DiskFull,
    #[error("`{}` cannot be written; check its owner and permissions", path.display())]
    NotWritable { path: PathBuf },
    #[error("another process kept the database locked for {waited_ms} ms; try again")]
    Busy { waited_ms: u64 },
    #[error(
        "the disk reported a fault while storing, so it is not known whether it was stored; ask again with the same handle"
    )]
    OutcomeUnknown(#[source] Option<rusqlite::Error>),
    #[error("the disk reported a fault ({0}); look at its health, then try again")]
    DiskFault(#[source] rusqlite::Error),
    #[error(
        "the value was taken out, but traces of it may remain in the files ({}); run `longhaul redact` again",
        after_the_commit(.0)
    )]
    TracesRemain(#[source] Box<StoreError>),
    #[error(
        "nothing was changed: the value is part of a name, or a word that the workflow cannot do without, in {stream}; if it must go even though that session may no longer be followed, use `--force`"
    )]
    InNames { stream: String },
    #[error("blob {hash} {problem}")]
    Blob { hash: Digest, problem: BlobProblem },
    #[error("other processes use the database (`{}` is locked); stop them first: {doing} needs it alone", lock.display())]
    InUse { lock: PathBuf, doing: &'static str },
    #[error(
        "`{}` was deleted, moved or replaced while it was in use, so what was just written is lost; stop all `longhaul` processes and run `longhaul doctor`",
        path.display()
    )]
    Replaced { path: PathBuf },
    #[error("`{}` is not a Longhaul database; name another file, or move it away", path.display())]
    NotOurs { path: PathBuf },
    #[error("`{}` was not restored and nothing was changed: {why}; name another backup", backup.display())]
    UnfitBackup { backup: PathBuf, why: String },
    #[error(
        "`{}` was set aside and cannot be read ({why}), so nobody knows which blob files it needs, and nothing was collected; move it to another folder or delete it, then try again",
        path.display()
    )]
    SetAsideUnreadable { path: PathBuf, why: String },
    #[error("there is no database at `{}` yet; any command that writes makes one", path.display())]
    Absent { path: PathBuf },
    #[error("could not {doing} `{}`: {source}; check the path and the disk", path.display())]
    File { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("the database refused: {0}; this is a bug, please report it")]
    Sql(#[source] rusqlite::Error),
    #[error("a bug in Longhaul stopped the write: {0}; please report it")]
    Bug(String),
}

/// The words of a failure that came when the commit was done: by then something *was* stored.
fn after_the_commit(error: &StoreError) -> String {
    match error {
        StoreError::DiskFull => "the disk is full: make room first".to_owned(),
        other => other.to_string(),
    }
}

/// Why a blob cannot be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlobProblem {
    Missing,
    /// It may well be there; "may not look" is not "is gone".
    Unreadable(io::ErrorKind),
    Damaged,
    Dropped,
}

impl std::fmt::Display for BlobProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("is not in the store; restore it from a backup"),
            Self::Unreadable(why) => {
                write!(f, "cannot be read ({why}); check the permissions of its file and the disk")
            }
            Self::Damaged => f.write_str("is damaged; restore it from a backup"),
            Self::Dropped => f.write_str("was collected when its retention ended; restore it from a backup"),
        }
    }
}

impl StoreError {
    /// The page that explains it.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Damaged { .. }
            | Self::NotOurs { .. }
            | Self::UnfitBackup { .. }
            | Self::SetAsideUnreadable { .. } => "E0101",
            Self::Quarantined { .. } => "E0102",
            Self::TooNew { .. } => "E0103",
            Self::ReadOnlyForThisRelease { .. } => "E0104",
            Self::DiskFull => "E0105",
            Self::Busy { .. } => "E0106",
            Self::NotWritable { .. } | Self::File { .. } | Self::Absent { .. } => "E0107",
            Self::OutcomeUnknown(_) | Self::DiskFault(_) | Self::TracesRemain(_) => "E0108",
            Self::Blob { .. } => "E0109",
            Self::InUse { .. } => "E0110",
            Self::InNames { .. } => "E0113",
            Self::Replaced { .. } => "E0112",
            Self::Sql(_) | Self::Bug(_) => "E0199",
        }
    }

    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged { what: what.into() }
    }

    pub(crate) fn file(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::DiskFull
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::NotWritable { path },
            _ => Self::File { doing, path, source },
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let rusqlite::Error::SqliteFailure(failure, _) = &error else {
            // A value of another type than the one that we wrote.
            return Self::damaged(error.to_string());
        };
        match failure.code {
            // Our statements are fixed and tested: if one no longer fits, the schema was damaged.
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::Unknown
            | ErrorCode::TypeMismatch => Self::damaged(error.to_string()),
            ErrorCode::DiskFull => Self::DiskFull,
            ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
                Self::NotWritable { path: PathBuf::from("the data directory") }
            }
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                Self::Busy { waited_ms: crate::sqlite::connection::BUSY_LIMIT_MS }
            }
            ErrorCode::SystemIoFailure => Self::DiskFault(error),
            _ => Self::Sql(error),
        }
    }
}

/// Why an append did not happen.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    #[error("stream `{stream}` is at {actual}, not at {expected}: somebody else wrote; read it again")]
    Conflict { stream: String, expected: Seq, actual: Seq },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for AppendError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}
