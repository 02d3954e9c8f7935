//! What needs the store to itself: restoring a backup, salvaging a damaged database.

use std::path::Path;

use longhaul_core::time::rfc3339;
use longhaul_store::{Recovered, Restored};

use crate::clock::{Clock, SystemClock};
use crate::error::Error;
use crate::places::Places;

/// Puts a backup in place. What was there before is set aside, not removed.
pub fn restore(places: &Places, backup: &Path) -> Result<Restored, Error> {
    if crate::terminal::is_under_agent() {
        return Err(Error::UnderAgent); // a backup brings trust along
    }
    Ok(longhaul_store::restore(&places.data, backup, &stamp())?)
}

/// Builds a new database from all that can still prove itself. The damaged one is set aside, not removed.
/// `None` if it is whole: then nothing is changed.
pub fn recover(places: &Places) -> Result<Option<Recovered>, Error> {
    if longhaul_store::is_whole(&places.data)? {
        return Ok(None);
    }
    Ok(Some(longhaul_store::recover(&places.data, &stamp())?))
}

/// A moment that can be part of a file name.
fn stamp() -> String {
    rfc3339(SystemClock.now()).replace([':', '.'], "-")
}
