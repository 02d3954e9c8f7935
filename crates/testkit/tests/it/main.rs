//! What the foundation promises, under everything that can go wrong.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod driven;
mod faults;
mod flips;
mod keeping;
mod kills;
mod releases;
mod simulation;
mod walks;
