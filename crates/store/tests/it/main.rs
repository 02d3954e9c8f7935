//! The store through its public door.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod contract;
mod damage;
mod keeping;
mod replacing;
mod support;
mod vanishing;
mod watching;
