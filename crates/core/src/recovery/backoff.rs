//! How long nothing is done before something is tried again: longer each time, and never for all at once.

/// Pauses that double up to a longest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    pub first_ms: u64,
    pub longest_ms: u64,
}

/// Between two attempts at a task.
pub const ATTEMPTS: Backoff = Backoff { first_ms: 30_000, longest_ms: 3_600_000 };

/// Between two runners of a session that does not get on.
pub const STARTS: Backoff = Backoff { first_ms: 1000, longest_ms: 300_000 };

impl Backoff {
    /// The pause before try number `number` + 1: between half of it and all of it, as the seed says.
    pub const fn pause_ms(self, number: u32, seed: u64) -> u64 {
        let doublings = if number == 0 { 0 } else { number - 1 };
        let factor = if doublings < 32 { 1_u64 << doublings } else { u64::MAX };
        let whole = self.first_ms.saturating_mul(factor);
        let whole = if whole < self.longest_ms { whole } else { self.longest_ms };
        let half = whole / 2;
        half + drawn(seed, number) % (whole - half + 1)
    }
}

/// Numbers that look as if nobody had chosen them (`SplitMix64`).
const fn drawn(seed: u64, number: u32) -> u64 {
    let mut bits = seed.wrapping_add((number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_differ_between_sessions() {
        let whole = |number| (0..200).map(|seed| ATTEMPTS.pause_ms(number, seed)).max().unwrap();
        let [first, second, late] = [whole(1), whole(2), whole(40)];
        assert!(
            (29_000..=30_000).contains(&first) && (58_000..=60_000).contains(&second),
            "{first} {second}"
        );
        assert!((3_500_000..=3_600_000).contains(&late), "{late}");
        let moments: BTreeSet<u64> = (0..50).map(|seed| ATTEMPTS.pause_ms(1, seed)).collect();
        assert!(moments.len() > 45, "{moments:?}");
    }

    proptest! {
        #[test]
        fn a_pause_is_between_half_of_it_and_all_of_it(number in 0_u32..100, seed: u64) {
            for backoff in [ATTEMPTS, STARTS] {
                let pause = backoff.pause_ms(number, seed);
                prop_assert!(pause <= backoff.longest_ms && pause >= backoff.first_ms / 2);
                prop_assert_eq!(pause, backoff.pause_ms(number, seed));
            }
        }
    }
}
