//! What can go wrong in the shell, in words for whoever asked.

mod driven;
mod hiring;
mod inbox;
mod lifecycle;
mod task;

use std::path::PathBuf;

use longhaul_core::handle::Malformed;
use longhaul_core::{config, session, workspace};
use longhaul_events::{Reason, SessionId};
use longhaul_store::{ImportError, StoreError};
use serde_json::Value;

pub use driven::DrivenError;
pub use hiring::HiringError;
pub use inbox::InboxError;
pub use lifecycle::LifecycleError;
pub use task::TaskError;

use crate::agents::AddingError;
use crate::forge::ForgeError;
use crate::places::Homeless;
use crate::secrets::SecretsError;
use crate::triggers::TriggerError;
use crate::workflows::Problem;
use crate::worktrees::WorktreeError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("there is no session `{0}`; `longhaul session list --all` shows them")]
    UnknownSession(SessionId),
    #[error("no session has an id that begins with `{0}`; `longhaul session list --all` shows them")]
    NoSuchSession(String),
    #[error("several sessions have an id that begins with `{text}`: {fitting}; type more of it")]
    AmbiguousSession { text: String, fitting: String },
    #[error("no open session has anything of `{0}`; `longhaul session list --all` shows them")]
    NothingToResume(String),
    #[error("there is no gate `{0}`; `longhaul gate list` shows the open ones")]
    NoSuchGate(String),
    #[error("gate `{gate}` is not open any more: {state}; `longhaul gate list` shows the open ones")]
    GateNotOpen { gate: String, state: String },
    #[error("gate `{gate}` takes an answer by `{accepts}` or stronger, not at a terminal; answer it there")]
    WeakTerminal { gate: String, accepts: &'static str },
    #[error("there is no artifact `{0}`; `longhaul artifact list` shows them")]
    NoSuchArtifact(String),
    #[error(
        "session `{session}` is damaged and is not exported as a whole one: {problem}; `longhaul log export` writes it as it is"
    )]
    DamagedSession { session: SessionId, problem: String },
    #[error(
        "the export holds no session, nothing was imported; name a file that `longhaul session export` wrote"
    )]
    NoSessionInExport,
    #[error(
        "line {line} is not part of an export: {problem}; nothing was imported, name a file that `longhaul session export` wrote"
    )]
    NotASessionExport { line: u64, problem: String },
    #[error(
        "nobody is at a terminal to vouch for what the export brings, and it would count as if it had happened here: {claims}; nothing was imported, import it in a terminal"
    )]
    NobodyToVouch { claims: String },
    #[error(
        "the export brings more than a person can read at once and vouch for: {claims}; nothing was imported, export and import one session at a time (`longhaul session export ID`)"
    )]
    TooMuchToVouch { claims: String },
    #[error(transparent)]
    MalformedHandle(#[from] Malformed),
    #[error("the handle was not given out by session `{0}`; copy the one from its last answer")]
    ForgedHandle(SessionId),
    #[error(
        "this is the `continueToken` of a step, which answers it; notes from the middle of a step take its `checkpointToken`"
    )]
    NotForNotes,
    #[error(
        "this is the `checkpointToken` of a step, which only takes notes; an answer takes its `continueToken`"
    )]
    NotForAnswers,
    #[error(
        "the handle was used before with other content; `longhaul session resume ID` shows the handle that is open now, and `longhaul session rewind ID --to STEP --reason TEXT` answers a step anew\nfirst: {recorded}\nnow:   {sent}"
    )]
    DifferentPayload { recorded: Value, sent: Value },
    #[error(
        "the handle is no longer open, because the session went on from another point; `longhaul session resume ID` shows the step that is open now, with its handle"
    )]
    Superseded,
    #[error("{0}")]
    Session(session::Rejection),
    #[error("{0}")]
    Workspace(workspace::Rejection),
    #[error("no workspace is called `{0}`; see `longhaul workspace list`")]
    UnknownWorkspace(String),
    #[error("several workspaces are called `{0}`; name one by its id or path")]
    AmbiguousWorkspace(String),
    #[error("`{}` is not valid UTF-8, and its name is stored in JSON; move the repository", .0.display())]
    PathNotText(PathBuf),
    #[error("`{}` cannot be trusted: {problem}", path.display())]
    Untrustable { path: PathBuf, problem: String },
    #[error("there is no `.longhaul/` in `{}`, so there is nothing to trust; put your settings there first", .0.display())]
    NothingToTrust(PathBuf),
    #[error("`{}` has no checkout to write settings into; run it in a clone that has one", .0.display())]
    NoFilesHere(PathBuf),
    #[error("this needs a person at a terminal, and there is none; run it in one")]
    NoTerminal,
    #[error(
        "an agent cannot do this (`LONGHAUL_SESSION` is set, or `longhaul mcp` serves a process above); a person has to, in a terminal of their own"
    )]
    UnderAgent,
    #[error("not confirmed, nothing was changed; type the word `{word}` to confirm")]
    NotConfirmed { word: &'static str },
    #[error("`.longhaul/` changed while you were looking, nothing was trusted; run it again")]
    ChangedMeanwhile,
    #[error(transparent)]
    Git(#[from] longhaul_git::Error),
    #[error(transparent)]
    Forge(#[from] ForgeError),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error("{0}")]
    Config(#[from] config::Error),
    #[error("could not read `{}`: {source}; check the path and its permissions", path.display())]
    ReadFile { path: PathBuf, source: std::io::Error },
    #[error("`{}` is not a file; put a file there, or take it away", path.display())]
    NotAFile { path: PathBuf },
    #[error("could not write `{}`: {source}; check the path, its permissions and the disk", path.display())]
    WriteFile { path: PathBuf, source: std::io::Error },
    #[error("could not write what was to be shown: {0}; see whether the disk is full")]
    Show(#[source] std::io::Error),
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    #[error(transparent)]
    Import(ImportError),
    #[error(transparent)]
    Homeless(#[from] Homeless),
    #[error("the value to redact has {0} bytes; it needs at least 4, or ordinary words would be blotted out")]
    TooShortToRedact(usize),
    #[error("others kept writing to the stream; try again")]
    TooManyConflicts,
    #[error("the content has no canonical form: {0}; send plain JSON")]
    NotCanonical(#[from] longhaul_core::canonical::Error),
    #[error("the runner could not be started: {0}; run `longhaul doctor`")]
    Runner(#[source] longhaul_exec::Error),
    #[error(transparent)]
    Sandboxed(longhaul_exec::Error),
    #[error(transparent)]
    Driven(#[from] DrivenError),
    #[error(transparent)]
    Task(#[from] TaskError),
    #[error(transparent)]
    Inbox(#[from] InboxError),
    #[error(transparent)]
    Lifecycle(#[from] LifecycleError),
    #[error(transparent)]
    Gateway(#[from] longhaul_gateway::Error),
    #[error("what an earlier runner left running could not be ended: {0}")]
    Leftovers(#[source] longhaul_exec::Error),
    #[error("the checkout of the session cannot be worked in: {0}")]
    Tool(#[source] longhaul_agent::tools::Broken),
    #[error(transparent)]
    Cassette(#[from] longhaul_core::cassette::Error),
    #[error(transparent)]
    Budget(#[from] longhaul_core::budget::Error),
    #[error(transparent)]
    Roster(#[from] longhaul_core::roster::Error),
    #[error(transparent)]
    NoAgent(#[from] longhaul_core::roster::NoAgent),
    #[error("{provider} wants a key, and there is none; {how}run `longhaul secret set {name}`")]
    NoKey { provider: String, name: String, how: String },
    #[error(transparent)]
    Adding(#[from] AddingError),
    #[error("session `{0}` follows no workflow; it was not made by `longhaul session start`")]
    NoWorkflow(SessionId),
    #[error("the workflow of session `{session}` cannot be read: {problem}; run `longhaul doctor`")]
    WorkflowUnreadable { session: SessionId, problem: String },
    #[error("the session cannot start: {}", in_words(.0))]
    BadStart(Vec<Reason>),
    #[error("the answer cannot be taken, nothing was written: {}", in_words(.0))]
    BadAnswer(Vec<Reason>),
    #[error(
        "step `{step}` is not on the way that led to where session `{session}` stands; go back to one of: {steps}"
    )]
    NeverHandedOut { session: SessionId, step: String, steps: String },
    #[error(transparent)]
    Workflow(#[from] Problem),
    #[error("a thread could not be started: {0}; raise the limit of processes, or end something")]
    Thread(#[source] std::io::Error),
    #[error("`{0}` is not a stream; `longhaul log show` lists what there is")]
    UnknownStream(String),
}

/// What kind of failure it is; each has its own exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Usage,
    Refused,
    Environment,
    Conflict,
    Bug,
}

impl From<TriggerError> for Error {
    fn from(error: TriggerError) -> Self {
        Self::Task(TaskError::Trigger(error))
    }
}

impl From<HiringError> for Error {
    fn from(error: HiringError) -> Self {
        Self::Driven(DrivenError::Hiring(error))
    }
}

impl From<longhaul_core::taint::Refusal> for Error {
    fn from(refusal: longhaul_core::taint::Refusal) -> Self {
        HiringError::Tainted(refusal).into()
    }
}

impl Error {
    /// The page that explains it, if there is more to say.
    pub const fn code(&self) -> Option<&'static str> {
        Some(match self {
            Self::Store(error) | Self::Import(ImportError::Store(error)) => error.code(),
            Self::UnknownSession(_)
            | Self::NoSuchSession(_)
            | Self::AmbiguousSession { .. }
            | Self::NothingToResume(_)
            | Self::UnknownStream(_) => "E0201",
            Self::NoSuchGate(_) | Self::GateNotOpen { .. } | Self::WeakTerminal { .. } => "E0209",
            Self::NoSuchArtifact(_) => "E0622",
            Self::DamagedSession { .. } => "E0102",
            Self::MalformedHandle(_) | Self::ForgedHandle(_) | Self::NotForNotes | Self::NotForAnswers => {
                "E0202"
            }
            Self::DifferentPayload { .. } => "E0203",
            Self::Session(rejection) => rejection.code(),
            Self::Workspace(rejection) => rejection.code(),
            Self::Git(error) => return git_code(error),
            Self::Forge(_) => "E0920",
            Self::Worktree(error) => error.code(),
            Self::UnknownWorkspace(_) | Self::AmbiguousWorkspace(_) => "E0302",
            Self::NoTerminal
            | Self::NobodyToVouch { .. }
            | Self::TooMuchToVouch { .. }
            | Self::UnderAgent
            | Self::NotConfirmed { .. } => "E0303",
            Self::Untrustable { .. } | Self::NothingToTrust(_) | Self::ChangedMeanwhile => "E0304",
            Self::Config(_) => "E0401",
            Self::Secrets(error) => return error.code(),
            Self::NoSessionInExport | Self::NotASessionExport { .. } | Self::Import(_) => "E0501",
            Self::NoWorkflow(_) | Self::WorkflowUnreadable { .. } => "E0601",
            Self::BadStart(_) => "E0602",
            Self::BadAnswer(_) => "E0603",
            Self::Superseded | Self::NeverHandedOut { .. } => "E0204",
            Self::Workflow(problem) => problem.code(),
            Self::Sandboxed(
                longhaul_exec::Error::Sandbox { .. }
                | longhaul_exec::Error::SandboxPath { .. }
                | longhaul_exec::Error::SandboxHidden { .. },
            ) => "E0801",
            Self::Gateway(_) => "E0803",
            Self::Cassette(_) => "E0230",
            Self::Budget(_) => "E0901",
            Self::NoKey { .. } => "E0911",
            Self::Roster(_) | Self::NoAgent(_) | Self::Adding(_) => "E0910",
            Self::Driven(error) => return error.code(),
            Self::Task(error) => error.code(),
            Self::Inbox(error) => error.code(),
            Self::Lifecycle(error) => return error.code(),
            Self::PathNotText(_)
            | Self::NoFilesHere(_)
            | Self::ReadFile { .. }
            | Self::NotAFile { .. }
            | Self::WriteFile { .. }
            | Self::Show(_)
            | Self::Homeless(_)
            | Self::Runner(_)
            | Self::Thread(_)
            | Self::Leftovers(_)
            | Self::Tool(_)
            | Self::Sandboxed(_)
            | Self::TooShortToRedact(_)
            | Self::TooManyConflicts
            | Self::NotCanonical(_) => return None,
        })
    }

    /// Whether an answer came to a gate that is not there any more, because somebody was quicker.
    pub const fn is_gate_gone(&self) -> bool {
        matches!(self, Self::Session(session::Rejection::NoSuchGate { .. } | session::Rejection::Closed))
    }

    /// Whether the session has come to its end.
    pub const fn is_ended(&self) -> bool {
        matches!(self, Self::Session(session::Rejection::Closed | session::Rejection::Cancelled))
    }

    // tidy: a flat list
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Store(error) => store_kind(error),
            Self::Import(error) => import_kind(error),
            Self::DifferentPayload { .. }
            | Self::Superseded
            | Self::ChangedMeanwhile
            | Self::TooManyConflicts => Kind::Conflict,
            Self::Budget(error) => budget_kind(error),
            Self::Workflow(problem) => problem.kind(),
            Self::Secrets(error) => error.kind(),
            Self::Driven(error) => error.kind(),
            Self::Task(error) => error.kind(),
            Self::Inbox(error) => error.kind(),
            Self::Lifecycle(error) => error.kind(),
            Self::Adding(error) => error.kind(),
            Self::Worktree(error) => error.kind(),
            Self::MalformedHandle(_)
            | Self::UnknownSession(_)
            | Self::NoSuchSession(_)
            | Self::AmbiguousSession { .. }
            | Self::NothingToResume(_)
            | Self::NoSuchGate(_)
            | Self::NoSuchArtifact(_)
            | Self::UnknownWorkspace(_)
            | Self::AmbiguousWorkspace(_)
            | Self::UnknownStream(_)
            | Self::NotCanonical(_)
            | Self::TooShortToRedact(_)
            | Self::BadAnswer(_)
            | Self::BadStart(_)
            | Self::Cassette(_)
            | Self::NeverHandedOut { .. }
            | Self::Roster(_)
            | Self::NoAgent(_)
            | Self::Config(_) => Kind::Usage,
            Self::Forge(error) => error.kind(),
            Self::Git(error) => git_kind(error),
            Self::ForgedHandle(_)
            | Self::NotForNotes
            | Self::NotForAnswers
            | Self::Session(_)
            | Self::Workspace(_)
            | Self::Untrustable { .. }
            | Self::NothingToTrust(_)
            | Self::NoFilesHere(_)
            | Self::NoTerminal
            | Self::UnderAgent
            | Self::NotConfirmed { .. }
            | Self::NoWorkflow(_)
            | Self::GateNotOpen { .. }
            | Self::WeakTerminal { .. }
            | Self::NoSessionInExport
            | Self::NotASessionExport { .. }
            | Self::NobodyToVouch { .. }
            | Self::TooMuchToVouch { .. } => Kind::Refused,
            Self::PathNotText(_)
            | Self::ReadFile { .. }
            | Self::NotAFile { .. }
            | Self::WriteFile { .. }
            | Self::Show(_)
            | Self::WorkflowUnreadable { .. }
            | Self::DamagedSession { .. }
            | Self::Runner(_)
            | Self::Thread(_)
            | Self::Leftovers(_)
            | Self::Tool(_)
            | Self::Sandboxed(_)
            | Self::Gateway(_)
            | Self::NoKey { .. }
            | Self::Homeless(_) => Kind::Environment,
        }
    }
}

const fn import_kind(error: &ImportError) -> Kind {
    match error {
        ImportError::Store(error) => store_kind(error),
        ImportError::ChangedMeanwhile => Kind::Conflict,
        _ => Kind::Refused,
    }
}

const fn budget_kind(error: &longhaul_core::budget::Error) -> Kind {
    match error {
        longhaul_core::budget::Error::Unreadable { .. } => Kind::Usage,
        longhaul_core::budget::Error::UnknownPrice | longhaul_core::budget::Error::TooLittle { .. } => {
            Kind::Refused
        }
    }
}

const fn git_code(error: &longhaul_git::Error) -> Option<&'static str> {
    match error {
        longhaul_git::Error::NotARepository { .. } => Some("E0301"),
        longhaul_git::Error::NoSuchSnapshot { .. } => Some("E0705"),
        longhaul_git::Error::CheckoutExists { .. }
        | longhaul_git::Error::NotOurCheckout { .. }
        | longhaul_git::Error::Trap { .. }
        | longhaul_git::Error::WouldLose { .. }
        | longhaul_git::Error::Locked { .. } => Some("E0706"),
        _ => None,
    }
}

const fn git_kind(error: &longhaul_git::Error) -> Kind {
    match error {
        longhaul_git::Error::NoSuchSnapshot { .. } => Kind::Usage,
        longhaul_git::Error::CheckoutExists { .. }
        | longhaul_git::Error::NotOurCheckout { .. }
        | longhaul_git::Error::Trap { .. }
        | longhaul_git::Error::WouldLose { .. } => Kind::Refused,
        _ => Kind::Environment,
    }
}

const fn store_kind(error: &StoreError) -> Kind {
    match error {
        StoreError::Sql(_) | StoreError::Bug(_) => Kind::Bug,
        StoreError::Busy { .. } | StoreError::InUse { .. } => Kind::Conflict,
        StoreError::InNames { .. } => Kind::Refused,
        StoreError::Damaged { .. }
        | StoreError::Quarantined { .. }
        | StoreError::TooNew { .. }
        | StoreError::ReadOnlyForThisRelease { .. }
        | StoreError::DiskFull
        | StoreError::NotWritable { .. }
        | StoreError::OutcomeUnknown(_)
        | StoreError::DiskFault(_)
        | StoreError::TracesRemain(_)
        | StoreError::Blob { .. }
        | StoreError::Replaced { .. }
        | StoreError::NotOurs { .. }
        | StoreError::UnfitBackup { .. }
        | StoreError::SetAsideUnreadable { .. }
        | StoreError::Absent { .. }
        | StoreError::File { .. } => Kind::Environment,
    }
}

impl From<session::Rejection> for Error {
    fn from(rejection: session::Rejection) -> Self {
        Self::Session(rejection)
    }
}

impl From<workspace::Rejection> for Error {
    fn from(rejection: workspace::Rejection) -> Self {
        Self::Workspace(rejection)
    }
}

impl From<ImportError> for Error {
    fn from(error: ImportError) -> Self {
        Self::Import(error)
    }
}

/// Reasons in one text, for places that have no room for a list.
fn in_words(reasons: &[Reason]) -> String {
    reasons.iter().map(|reason| format!("{}; {}", reason.message, reason.fix)).collect::<Vec<_>>().join("\n")
}
