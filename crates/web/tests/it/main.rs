//! The doors as strangers, programs and agents find them: real sockets, real requests, raw bytes where they are hostile.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod burst;
mod control;
mod hooks;
mod hostile;
mod world;
