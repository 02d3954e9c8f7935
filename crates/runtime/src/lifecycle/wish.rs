//! How a daemon is asked to end. A signal wakes it; a file beside it says in which way. The file names the process that is
//! meant, so one that is left over is nobody's wish.

use std::fs;
use std::path::Path;

use longhaul_events::{Driver, Timestamp};
use serde::{Deserialize, Serialize};

use super::report::write_whole;
use crate::error::Error;

/// How a daemon ends. In each way nothing new is started from then on; a later one is the more urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Farewell {
    /// Another daemon takes its place: runners are left alone.
    HandOver,
    /// What runs comes to its end first, however long that takes.
    Drain,
    /// Runners let go of their sessions at the next safe boundary, and whoever serves next goes on with them.
    Rest,
    /// The same without waiting for calls that are under way.
    Now,
}

impl Farewell {
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::HandOver => "another one takes over",
            Self::Drain => "it was asked to end when its tasks have",
            Self::Rest => "it was asked to end",
            Self::Now => "it was asked to end at once",
        }
    }
}

/// Somebody's wish that one daemon ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wish {
    pub(super) of: Driver,
    pub(super) farewell: Farewell,
    pub(super) by: String,
    /// Tells it apart from the same wish of somebody else.
    pub(super) at: Timestamp,
}

impl Wish {
    pub(super) fn write(&self, path: &Path) -> Result<(), Error> {
        write_whole(path, self)
    }

    /// The wish at a path, if it is for this process.
    pub(super) fn read(path: &Path, own: &Driver) -> Option<Self> {
        let wish: Self = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (wish.of == *own).then_some(wish)
    }
}
