//! Workflows where they lie: in the workspace, in the user's own folder, in git sources, in the binary.
//!
//! The core compiles given texts; this finds them, says which of them may start, and why the others may not. It
//! reads what others wrote: nothing here runs, follows a link of a workspace, or waits for a file that never ends.

mod catalog;
mod file;
mod found;
mod new;
mod parallel;
mod problem;
mod references;
mod report;
mod sources;
mod start;

pub use catalog::{Catalog, Checked, Entry, State};
pub use file::{STDIN, Unreadable};
pub use found::Origin;
pub(crate) use found::{locate, trust_of};
pub use new::{Created, NewWorkflow, Where, is_id};
pub use problem::Problem;
pub use references::exceeded;
pub use report::Report;
pub use sources::{GitSource, NewSource, UpdatedSource};
pub use start::Startable;

pub use longhaul_core::workflow::diagnostic::{Diagnostic, Place, Severity};
pub use longhaul_core::workflow::preview;
pub use longhaul_core::workflow::schema::{native as native_schema, workrail as workrail_schema};
pub use longhaul_core::workflow::{Format, Preferences};

use crate::error::Error;
use crate::system::System;

impl System {
    /// Every workflow that can be seen from the current folder.
    pub fn catalog(&self) -> Result<Catalog, Error> {
        Catalog::load(self)
    }
}

#[cfg(test)]
mod tests;
