//! Files of triggers and requests to them, made up by hand and by chance.

mod garbage;
mod judging;
mod offers;
mod reading;
mod signing;

use super::*;

/// The one trigger of a file that must be right.
fn only(text: &str) -> Trigger {
    let read = read(text, Owner::Workspace);
    assert!(!read.has_errors(), "{:?}", read.diagnostics);
    let [trigger] = <[Trigger; 1]>::try_from(read.triggers).unwrap();
    trigger
}
