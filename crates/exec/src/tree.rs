//! Which processes belong to a program. Must never name a process that the program did not bring about:
//! whatever is named here gets killed.

use std::collections::HashSet;

#[cfg(not(target_os = "linux"))]
mod group;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod sweep;
#[cfg(target_os = "linux")]
mod table;

#[cfg(not(target_os = "linux"))]
pub(crate) use group::{Chosen, Eve, Process, Tree, is_alive, labelled, own_start_ticks, signal};
#[cfg(target_os = "linux")]
pub(crate) use linux::{Chosen, Eve, Process, Tree, is_alive, labelled, own_start_ticks, signal};

/// What of a tree is alive at one moment.
#[derive(Debug, Default)]
pub(crate) struct Living {
    pub(crate) processes: HashSet<Process>,
    /// None of them can be about to fork.
    pub(crate) all_stopped: bool,
}
