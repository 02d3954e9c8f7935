//! Whole walks, played against the aggregate: answers in, facts out.

mod library;
mod loops;
mod play;
mod ways;
