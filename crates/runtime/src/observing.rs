//! What can be seen of all work at once: figures, statistics, and what a collector is told. From the log and its views;
//! nothing here decides anything, and whatever goes wrong here keeps nobody from work.

pub mod export;
mod figures;
mod runs;

pub use figures::figures;
pub use runs::{StatsQuery, StatsView};
