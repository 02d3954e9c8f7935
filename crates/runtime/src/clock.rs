//! Time and chance, so that nothing else has to ask the machine for them.

use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use longhaul_events::Timestamp;

/// Tells the time. The simulated one is in `testkit`.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

/// The machine's own clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Where random bytes come from.
#[derive(Debug)]
pub enum Entropy {
    /// The operating system.
    System,
    /// A seed, for simulations that must be repeatable.
    Seeded(Mutex<u64>),
}

impl Entropy {
    pub fn seeded(seed: u64) -> Self {
        Self::Seeded(Mutex::new(seed))
    }

    pub(crate) fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        match self {
            Self::System => getrandom::fill(&mut bytes).expect("the operating system has randomness to give"),
            Self::Seeded(state) => {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                bytes.iter_mut().for_each(|byte| *byte = next_byte(&mut state));
            }
        }
        bytes
    }
}

/// `SplitMix64`, one byte at a time: enough to tell things apart, and the same everywhere.
fn next_byte(state: &mut u64) -> u8 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)).to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_bytes_again_and_another_seed_gives_others() {
        let bytes = |seed| Entropy::seeded(seed).bytes::<16>();
        assert_eq!(bytes(1), bytes(1));
        assert_ne!(bytes(1), bytes(2));
        assert_ne!(Entropy::System.bytes::<16>(), Entropy::System.bytes::<16>());
    }
}
