//! Models are asked through a real gateway, and answered by servers that speak the real protocols.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod failures;
mod prefixes;
mod support;
