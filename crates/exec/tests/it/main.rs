//! Real processes: how they end, what is captured, and that nothing of them stays behind.

mod capture;
mod ending;
mod environment;
mod escapes;
mod labels;
mod sandbox;
mod starting;
mod support;
mod talking;
mod tree;
