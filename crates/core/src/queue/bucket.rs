//! How fast tasks are started: a bucket of starts for each provider, which fills up again as time passes.
//!
//! Everything is counted in whole numbers: one start is [`A_START`] drops, and a bucket for `n` starts a minute gets `n` drops a
//! millisecond. So nothing is lost by rounding, however often it is looked at.

use std::collections::BTreeMap;

use longhaul_events::Timestamp;

/// As many milliseconds as a minute has.
const A_START: u64 = 60_000;

/// How many starts a minute each provider gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rates {
    /// For each that is not named.
    pub others: u32,
    pub named: BTreeMap<String, u32>,
}

impl Default for Rates {
    fn default() -> Self {
        Self { others: 10, named: BTreeMap::new() }
    }
}

impl Rates {
    fn of(&self, provider: &str) -> u64 {
        u64::from(*self.named.get(provider).unwrap_or(&self.others)).max(1)
    }
}

/// What every bucket holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Buckets {
    pub rates: Rates,
    /// Those that were drawn from. Any other is full.
    levels: BTreeMap<String, Level>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Level {
    drops: u64,
    at: Timestamp,
}

impl Level {
    /// What it holds by now. A clock that went back gives nothing, and keeps nothing from being given later.
    fn by(self, now: Timestamp, rate: u64) -> Self {
        let poured = now.since_ms(self.at).saturating_mul(rate);
        Self { drops: self.drops.saturating_add(poured).min(rate * A_START), at: now }
    }
}

impl Buckets {
    /// All of them full.
    pub const fn new(rates: Rates) -> Self {
        Self { rates, levels: BTreeMap::new() }
    }

    /// When the next start of a provider may be; `None` for at once.
    pub fn next(&self, provider: &str, now: Timestamp) -> Option<Timestamp> {
        let rate = self.rates.of(provider);
        let drops = self.levels.get(provider)?.by(now, rate).drops;
        let missing = A_START.checked_sub(drops).filter(|missing| *missing > 0)?;
        Some(now.plus_ms(missing.div_ceil(rate)))
    }

    /// Counts a start.
    pub fn take(&mut self, provider: &str, now: Timestamp) {
        let rate = self.rates.of(provider);
        let level = match self.levels.get(provider) {
            Some(level) => level.by(now, rate),
            None => Level { drops: rate * A_START, at: now },
        };
        let drops = level.drops.saturating_sub(A_START);
        self.levels.insert(provider.to_owned(), Level { drops, at: now });
    }

    /// The same without those that are full again.
    pub fn tidied(mut self, now: Timestamp) -> Self {
        let rates = &self.rates;
        self.levels.retain(|provider, level| {
            let rate = rates.of(provider);
            *level = level.by(now, rate);
            level.drops < rate * A_START
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn buckets(others: u32) -> Buckets {
        Buckets::new(Rates { others, named: BTreeMap::from([("slow".to_owned(), 1)]) })
    }

    #[test]
    fn a_bucket_gives_what_it_holds_and_then_one_by_one() {
        let mut buckets = buckets(3);
        let now = Timestamp(1000);
        for _ in 0..3 {
            assert_eq!(buckets.next("fast", now), None);
            buckets.take("fast", now);
        }
        assert_eq!(buckets.next("fast", now), Some(Timestamp(21_000)));
        assert_eq!(buckets.next("fast", Timestamp(20_999)), Some(Timestamp(21_000)));
        assert_eq!(buckets.next("fast", Timestamp(21_000)), None);
        assert_eq!(buckets.next("slow", now), None, "each has its own");
        buckets.take("slow", now);
        assert_eq!(buckets.next("slow", now), Some(Timestamp(61_000)));
    }

    #[test]
    fn a_clock_that_goes_back_neither_fills_a_bucket_nor_keeps_it_from_filling() {
        let mut buckets = buckets(1);
        buckets.take("p", Timestamp(1_000_000));
        assert_eq!(buckets.next("p", Timestamp(0)), Some(Timestamp(60_000)));
        let later = buckets.tidied(Timestamp(0));
        assert_eq!(later.next("p", Timestamp(60_000)), None);
    }

    #[test]
    fn what_is_full_again_is_forgotten() {
        let mut buckets = buckets(2);
        buckets.take("p", Timestamp(0));
        assert_eq!(buckets.clone().tidied(Timestamp(29_999)).levels.len(), 1);
        assert_eq!(buckets.tidied(Timestamp(30_000)).levels.len(), 0);
    }

    proptest! {
        #[test]
        fn in_no_minute_are_there_more_starts_than_a_full_bucket_and_what_flows_in(
            rate in 1_u32..20,
            steps in proptest::collection::vec(0_u64..5000, 1..200),
        ) {
            let mut buckets = buckets(rate);
            let mut now = Timestamp(0);
            let mut starts: Vec<Timestamp> = Vec::new();
            for step in steps {
                now = now.plus_ms(step);
                if buckets.next("p", now).is_none() {
                    buckets.take("p", now);
                    starts.push(now);
                }
            }
            let rate = usize::try_from(rate).unwrap();
            for (index, from) in starts.iter().enumerate() {
                let within = starts[index..].iter().filter(|at| at.since_ms(*from) < 60_000).count();
                prop_assert!(within <= 2 * rate, "{within} of {rate}");
            }
        }
    }
}
