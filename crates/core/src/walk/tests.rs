//! Whole walks, played against the aggregate: answers in, facts out.

mod corpus;
mod ending;
mod library;
mod loops;
pub(super) mod play;
mod start;
mod ways;
