//! The gateway as whoever is inside meets it: over its real socket, with real servers behind it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod hostile;
mod model;
mod posting;
mod proxy;
mod support;
mod tls;
