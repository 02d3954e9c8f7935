//! Worlds for tests: time and chance from one seed, stores that are thrown away, processes to be killed.
//!
//! A dev-dependency only. Nothing here may be reached from the product.

pub mod collector;
mod dice;
pub mod driver;
pub mod model_server;
pub mod parts;
pub mod processes;
mod world;

pub use dice::Dice;
pub use world::{SimulatedClock, World, open_store};

/// How hard the tests try: the everyday run, or the figures of the bars.
pub fn full() -> bool {
    std::env::var("LONGHAUL_TEST_LEVEL").is_ok_and(|level| level == "full")
}

/// The first number every day, the second one under `cargo xtask test --full`.
pub fn times(everyday: u64, in_full: u64) -> u64 {
    if full() { in_full } else { everyday }
}

/// The seed of this run: `SEED=n` to repeat one.
pub fn seed() -> u64 {
    std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_115)
}
