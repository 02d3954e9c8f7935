//! Whole walks, played against the aggregate: answers in, facts out.

mod corpus;
mod decide;
mod ending;
mod library;
mod loops;
pub(crate) mod play;
mod start;
mod ways;
