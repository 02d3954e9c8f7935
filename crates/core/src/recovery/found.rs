//! All that is known of a session that should be running.

use longhaul_events::Timestamp;

use crate::outcome::Holder;
use crate::queue::Attempts;

const MINUTE_MS: u64 = 60_000;

/// What was found, in the log and among the processes of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub now: Timestamp,
    pub standing: Standing,
    /// Since when it stands so.
    pub since: Timestamp,
    pub holder: Holder,
    pub quiet: Quiet,
    pub starts: Starts,
    /// Of its task.
    pub attempts: Attempts,
    pub files: Files,
    pub world: World,
    /// A number of the session's own, so that not all come back at once.
    pub seed: u64,
}

/// Where a session stands, by its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    GoesOn,
    /// A person wishes that it ends, and its driver has until then to do so.
    Stopping {
        by: String,
        patience_until: Timestamp,
    },
    HandedOver,
    Gate {
        until: Timestamp,
    },
    Parked {
        code: String,
        because: String,
        wake_at: Option<Timestamp>,
    },
    Completed,
    /// Its workflow or a gate ended it.
    Failed {
        because: String,
    },
    Cancelled {
        by: String,
    },
    /// Its stream is in quarantine.
    Unreadable {
        because: String,
    },
}

/// For how long nothing was heard of whoever holds it, and in what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quiet {
    pub for_ms: u64,
    pub inside: Inside,
}

/// What was under way when something was last heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    /// An agent was asked.
    Turn,
    /// A tool was called.
    Call,
    /// A step of the engine's own, which has a time of its own.
    Step { limit_ms: u64 },
}

impl Quiet {
    /// How long is not too long. A runner judges its own agent and its own calls, so one that renews its lease is
    /// believed for as long as it may ask five times; killing what works hurts as much as waiting for what does not.
    pub const fn allowed_ms(self, holder: Holder) -> u64 {
        match (self.inside, holder) {
            (Inside::Step { limit_ms }, _) => limit_ms.saturating_add(10 * MINUTE_MS),
            (Inside::Turn | Inside::Call, Holder::Active) => 60 * MINUTE_MS,
            (Inside::Call, Holder::Late | Holder::Nobody | Holder::Gone) => 30 * MINUTE_MS,
            (Inside::Turn, Holder::Late | Holder::Nobody | Holder::Gone) => 10 * MINUTE_MS,
        }
    }
}

/// The runners that were started since the session last got on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Starts {
    /// None of them got it any further. 0 if it got on since the last start.
    pub in_vain: u32,
    pub last: Option<Timestamp>,
}

/// The files of its worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Files {
    /// It has none of its own.
    None,
    /// All that was changed is in a snapshot, or nothing was.
    Kept,
    /// Something was changed that no snapshot has, and none can be taken.
    Unkept,
    Gone(Kept),
}

/// What is left of files that are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    Snapshot,
    Nothing,
}

/// Whether anything could run here at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    Fit,
    Unfit(Unfit),
}

/// What keeps everything of a workspace or an agent from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    DiskFull,
    RepositoryGone,
    NoSandbox,
    NoAgent,
    KeyRefused,
    SettingsUnreadable,
}

impl Unfit {
    pub const ALL: [Self; 6] = [
        Self::DiskFull,
        Self::RepositoryGone,
        Self::NoSandbox,
        Self::NoAgent,
        Self::KeyRefused,
        Self::SettingsUnreadable,
    ];

    /// What it is, and what to do.
    pub const fn words(self) -> &'static str {
        match self {
            Self::DiskFull => "the disk is full; make room",
            Self::RepositoryGone => {
                "its repository is gone; put it back, or forget it with `longhaul workspace rm`"
            }
            Self::NoSandbox => "its walls cannot be put up here; `longhaul doctor` says why",
            Self::NoAgent => "its agent cannot be started; `longhaul agent list` says who can",
            Self::KeyRefused => {
                "its provider does not accept the key; set another with `longhaul secret set`"
            }
            Self::SettingsUnreadable => {
                "the settings of its workspace cannot be read; `longhaul config show` says where"
            }
        }
    }
}
