//! Whatever an outsider can hand to the core, made up by a fuzzer: files, conditions, templates, answers.
//!
//! Each target is a function of bytes that panics when a promise is broken. Bytes are read as text, so that seeds can be
//! read by people; behind a `!` they are choices instead, from which something almost valid is built. The same functions
//! run over the seeds in the everyday tests (`crates/core/tests/it/fuzz_seeds.rs`), which include this file by its path.

pub mod advance;
pub mod condition;
mod draw;
mod files;
mod mutate;
pub mod native;
mod play;
mod replay;
pub mod template;
pub mod workrail;
