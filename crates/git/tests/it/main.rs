//! Real git in temporary repositories.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod base;
mod checkout;
mod clean;
mod discover;
mod fetch;
mod folder;
mod head;
mod hostile;
mod hostile_checkout;
mod merging;
mod snapshot;
mod support;
mod watching;
mod whereabouts;
mod work;
