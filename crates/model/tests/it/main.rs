//! Models are asked through a real gateway, and answered by servers that speak the real protocols.

mod answers;
mod failures;
mod prefixes;
mod support;
