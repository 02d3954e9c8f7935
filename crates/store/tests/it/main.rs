//! The store through its public door.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod carrying;
mod contract;
mod damage;
mod keeping;
mod redaction;
mod replacing;
mod support;
mod vanishing;
mod views;
mod vouching;
mod watching;
