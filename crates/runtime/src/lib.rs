//! The shell around the core: it loads state, lets the core decide, records what was decided, and shows it.
//!
//! Everybody above reaches the system through [`Commands`], which write, and [`Reader`], which only reads.
//! What needs the store to itself is in [`maintenance`].

mod agents;
mod awaiting;
mod beginning;
mod budgeting;
mod calendar;
mod children;
mod clock;
mod commands;
mod config;
pub mod control;
mod coordinating;
mod daemon;
mod delivery;
mod demo;
mod doctor;
mod driving;
mod error;
pub mod forge;
pub mod gateway;
mod half_begun;
mod hiring;
mod inbox;
pub mod intake;
pub mod leaf;
pub mod lifecycle;
mod logs;
pub mod maintenance;
mod metering;
mod notifying;
pub mod observing;
mod opening;
mod places;
mod proofs;
mod queueing;
mod reader;
mod reading;
mod recap;
mod recorder;
mod replaying;
mod resuming;
mod room;
mod runner;
pub mod sandbox;
mod secrets;

mod starting;
mod steering;
mod stopping;
mod system;
mod tasks;
mod telemetry;
mod telling;
pub mod terminal;
mod tickets;
mod trees;
pub mod triggers;
mod walling;
mod workers;
pub mod workflows;
mod workspaces;
mod worktrees;

pub use agents::{
    AddedAgent, AddingError, AgentFinding, AgentState, AgentView, CostView, ModelView, NewAgent,
};
pub use awaiting::Awaited;
pub use beginning::{Begun, Survey};
pub use calendar::UsedUp;
pub use clock::{Clock, Entropy, SystemClock};
pub use commands::Commands;
pub use commands::queueing::{Judged, NewQueued, Occasion, OccasionKind, TriggerName};
pub use commands::task::{TaskOrigin, TaskWish};
pub use commands::walking::{
    Advance, AnswerGate, Checkpoint, PlanState, PlannedStep, Rewind, StartSession, WorkOrder, WorkResult,
    Worth,
};
pub use commands::workspace::{TrustRequest, WorkspaceChange};
pub use daemon::{DAEMON, Daemon};
pub use demo::Demo;
pub use doctor::{Checkup, Diagnosis, Progress, Status};
pub use driving::{Drive, NewDrive, Script};
pub use error::{DrivenError, Error, HiringError, InboxError, Kind, LifecycleError, TaskError};
pub use hiring::Assignee;
pub use inbox::{Desk, Hearing, Replied, ToldTask};
pub use logs::{Follow, KEPT_BYTES, KEPT_DAYS, Level, LogOrigin, LogQuery, LogRow, OldLog};
pub use notifying::{Notified, Notifier, Undelivered};
pub use observing::{StatsQuery, StatsView};
pub use places::Places;
pub use proofs::ProofReport;
pub use queueing::{Turn, script_value};
pub use reader::{
    AgentDid, Artifact, Before, Branch, DamagedTask, Decided, Delivered, DeliveredPull, EventRow, GateEntry,
    GateState, Happened, LogEntry, ProgressBelow, ProgressTail, Ranked, Reader, RecordedRun, Ruled,
    SinceTrusted, StoryEntry, StoryTail, Tail, TaskDecision, TaskView, Telling, ToldCall, WorkspaceView,
    clear_winner, live_of, outcome_of,
};
pub use recap::{Meter, Recap, shortened, tokens};
pub use replaying::{Replay, Replayed};
pub use resuming::ResumeQuery;
pub use runner::{Patience, run_apart, run_work};
pub use secrets::{SecretChange, SecretSet, SecretWarning};
pub use starting::NewWalk;
pub use stopping::Stop;
pub use system::{Settings, System};
pub use tasks::{Again, TaskSetting};
pub use telemetry::{LogFiles, LogFormat, LogOptions, scrub_logs_with, start_logging};
pub use tickets::Ticket;
pub use trees::WaitsFor;
pub use walling::WantedWalls;
pub use workspaces::{TrustCandidate, TrustFile};
pub use worktrees::{
    ChangedFile, Clean, CleanMode, CleanRow, CleanState, Disagreement, KeptRow, MadeWorktree, NewWorktree,
    Orphan, RestoredWorktree, SecretFiles, SetupOutcome, SetupReport, Source, Unmerged, WorktreeError,
    WorktreeFile, WorktreeInfo, WorktreeRow,
};

/// Steps without a workflow, for the harnesses of the store. The product walks.
#[cfg(any(test, feature = "testing"))]
pub mod opaque {
    pub use crate::commands::opaque::{Answered, FinishRequest, NewSession, Next, StepRequest, ThenRequest};
}

/// What the façades take and give, so that nobody above needs the crates below.
pub mod types {
    pub use longhaul_core::briefing::{Audience, Briefing, DaemonLine, DaemonState, Surroundings};
    pub use longhaul_core::config::{Config, KEYS, Origin, Row as ConfigRow, SandboxLevel, SandboxNetwork};
    pub use longhaul_core::conversation::COMPLETE_STEP;
    pub use longhaul_core::handle::Handle;
    pub use longhaul_core::inbox::{Entry, EntryId, Kind as EntryKind, Remedy, Severity, Trouble};
    pub use longhaul_core::init::{CopyKind, Proposal, ProposedCheck, ProposedCommand, ProposedCopy};
    pub use longhaul_core::metrics::{self, DaemonFigures, Figures};
    pub use longhaul_core::outcome::{Because, Live, NOTHING_CHANGED, Outcome};
    pub use longhaul_core::progress::{Now, Progress as SessionProgress, StepProgress, StepState};
    pub use longhaul_core::proof::{self, Proof};
    pub use longhaul_core::question::Urgency as EntryUrgency;
    pub use longhaul_core::retention::{Action, Plan, Target};
    pub use longhaul_core::service::{Pause, Service};
    pub use longhaul_core::session::{ATTEMPTS_LEFT, Spent, channel_word};
    pub use longhaul_core::stats::{self, Budgets, Estimate, Rest, RunEnd, Spread, WorkflowStats};
    pub use longhaul_core::task::{Source as TaskSource, Task, TaskState};
    pub use longhaul_core::time::rfc3339;
    pub use longhaul_core::trigger::{Delivery, MOST_BODY_BYTES, Start, Switch};
    pub use longhaul_core::trust::{Change, Changed};
    pub use longhaul_core::units::{parse_duration_ms, show_count, show_duration, show_money, show_size};
    pub use longhaul_core::walk::view::{Blocked, GateView, StepView};
    pub use longhaul_core::workflow::answer::{Answer, NotesRequired, Requires};
    pub use longhaul_core::workflow::suggest::closest;
    pub use longhaul_core::workflow::{ModelTier, Workflow};
    pub use longhaul_core::workspace::{TrustState, Workspace};
    pub use longhaul_events::{
        CallOutcome, Caps, Channel, Checkout, CheckoutKind, Choice, CloseOutcome, Considered, Content,
        Digest, Driver, Epoch, GateKind, NodeId, Orders, Position, Priority, Reason, ReportKind, Seq,
        SessionId, StepId, StreamId, Taint, TaskChange, TaskId, Timestamp, Urgency, Verdict as GateVerdict,
        Waits, WorkspaceId,
    };
    pub use longhaul_store::views::{
        DrivenRow, GateRow, SessionRow, SessionStatus, TaskRow, Waiting, WorkspaceRow,
    };
    pub use longhaul_store::watch::Woke;
    pub use longhaul_store::{
        Backup, Collected, Exported, Imported, Names, Recovered, Redacted, Restored, StreamReport, Verdict,
    };
}
