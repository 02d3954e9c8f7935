//! What tokens cost, in whole millionths of a dollar.

use longhaul_events::{ModelUsage, TokenCount};
use serde::{Deserialize, Serialize};

use super::Error;

const MILLION: u128 = 1_000_000;
const PERCENT: u128 = 100;

/// What a million tokens cost, in millionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input_micros: u64,
    pub output_micros: u64,
    /// Input that comes from a cache; without it, as all input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_micros: Option<u64>,
    /// Input that goes into a cache; without it, as all input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_micros: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongInput>,
}

/// What becomes of a price, for the whole of a request, when much goes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongInput {
    /// With more tokens than this.
    pub above: u64,
    /// Of all prices for input.
    pub input_percent: u64,
    pub output_percent: u64,
}

/// What is known of an agent's price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pricing {
    Known(Price),
    Unknown,
}

impl Price {
    /// Without caches and surcharges.
    pub const fn plain(input_micros: u64, output_micros: u64) -> Self {
        Self { input_micros, output_micros, cache_read_micros: None, cache_write_micros: None, long: None }
    }

    /// What so many tokens cost where no cache has a part in it. A part of a millionth counts as a whole one.
    pub fn of(self, tokens: TokenCount) -> u64 {
        let TokenCount { input, output } = tokens;
        self.of_usage(&ModelUsage { input, output, ..ModelUsage::default() })
    }

    /// What a request cost.
    pub fn of_usage(self, usage: &ModelUsage) -> u64 {
        let cache_read = usage.cache_read.min(usage.input);
        let cache_write = usage.cache_write.min(usage.input - cache_read);
        let rest = usage.input - cache_read - cache_write;
        let input = self.input_micros;
        let parts = [
            (rest, input),
            (cache_read, self.cache_read_micros.unwrap_or(input)),
            (cache_write, self.cache_write_micros.unwrap_or(input)),
        ];
        let cost = |tokens: u64, micros: u64| u128::from(tokens) * u128::from(micros);
        let inputs =
            parts.into_iter().fold(0_u128, |sum, (tokens, micros)| sum.saturating_add(cost(tokens, micros)));
        let (input_percent, output_percent) = self.percents(usage.input);
        let sum = inputs
            .saturating_mul(input_percent)
            .saturating_add(cost(usage.output, self.output_micros).saturating_mul(output_percent));
        u64::try_from(sum.div_ceil(MILLION * PERCENT)).unwrap_or(u64::MAX)
    }

    /// What so many tokens cost at most, whatever a cache does with them.
    pub fn at_most(self, tokens: TokenCount) -> u64 {
        let dearest =
            [self.cache_read_micros, self.cache_write_micros].into_iter().flatten().max().unwrap_or_default();
        let input_micros = self.input_micros.max(dearest);
        Self { input_micros, cache_read_micros: None, cache_write_micros: None, ..self }.of(tokens)
    }

    pub fn is_free(self) -> bool {
        self.at_most(TokenCount { input: u64::MAX, output: u64::MAX }) == 0
    }

    fn percents(self, input: u64) -> (u128, u128) {
        match self.long {
            Some(LongInput { above, input_percent, output_percent }) if input > above => {
                (input_percent.into(), output_percent.into())
            }
            Some(_) | None => (PERCENT, PERCENT),
        }
    }
}

impl Pricing {
    /// The price, without which no cap on money could be held.
    pub const fn known(self) -> Result<Price, Error> {
        match self {
            Self::Known(price) => Ok(price),
            Self::Unknown => Err(Error::UnknownPrice),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CACHED: Price = Price {
        input_micros: 2_000_000,
        output_micros: 10_000_000,
        cache_read_micros: Some(200_000),
        cache_write_micros: Some(2_500_000),
        long: Some(LongInput { above: 272_000, input_percent: 200, output_percent: 150 }),
    };

    #[test]
    fn what_a_cache_gives_and_takes_has_its_own_price() {
        let usage = ModelUsage { input: 100_000, cache_read: 60_000, cache_write: 30_000, output: 1000 };
        assert_eq!(CACHED.of_usage(&usage), 20_000 + 12_000 + 75_000 + 10_000);
        let plain = Price::plain(2_000_000, 10_000_000);
        assert_eq!(plain.of_usage(&usage), 200_000 + 10_000);
        let wrong = ModelUsage { input: 10, cache_read: 50, cache_write: 50, output: 0 };
        assert_eq!(CACHED.of_usage(&wrong), 2);
    }

    #[test]
    fn a_long_request_costs_more_as_a_whole() {
        let tokens = |input| TokenCount { input, output: 1000 };
        assert_eq!(CACHED.of(tokens(272_000)), 544_000 + 10_000);
        assert_eq!(CACHED.of(tokens(272_001)), 1_088_004 + 15_000);
    }

    #[test]
    fn what_is_set_aside_is_never_less_than_what_it_costs() {
        for cache_write in [0, 50_000, 300_000] {
            let usage = ModelUsage { input: 300_000, cache_read: 0, cache_write, output: 10 };
            let most = CACHED.at_most(TokenCount { input: 300_000, output: 10 });
            assert!(CACHED.of_usage(&usage) <= most, "{cache_write}");
        }
        let only_cached = Price { cache_write_micros: Some(1), ..Price::default() };
        assert!(!only_cached.is_free());
    }
}
