//! Checks of the whole workflow, after routines were expanded.

use super::{Context, Draft};

pub(super) fn check(_draft: &Draft, _context: &Context<'_>) {}
