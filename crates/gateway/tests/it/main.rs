//! The gateway as whoever is inside meets it: over its real socket, with real servers behind it.

mod hostile;
mod model;
mod proxy;
mod support;
