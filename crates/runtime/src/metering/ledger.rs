//! What the requests of one driver may use, are using and have used: numbers only.

use std::collections::BTreeMap;

use longhaul_core::budget::Price;
use longhaul_events::{Held, ModelUsage, TokenCount};
use longhaul_gateway::{Estimate, Usage, UsageSource};

use crate::commands::billing::MeasuredRequest;

/// A token is seldom shorter than this, so that what is foreseen before there is any bill is rather too much.
const FEWEST_BYTES_PER_TOKEN: u64 = 3;
/// How much more than the last bill says is foreseen, in parts of a hundred.
const MARGIN: u128 = 5;
/// What an answer may hold where neither the request nor the data of the model says.
const LONGEST_ANSWER: u64 = 32_000;

/// The requests that are under way, and what is learnt from those that are over.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    open: BTreeMap<u64, Open>,
    /// How many bytes made how many tokens, of the newest bill of each model.
    measured: BTreeMap<Asked, Measure>,
    /// What is neither used nor set aside.
    free: Free,
}

/// Whom a request asks.
type Asked = (String, Option<String>);

#[derive(Debug, Clone, Copy)]
struct Measure {
    bytes: u64,
    tokens: u64,
}

/// What is left of what may be used, when all that is set aside is gone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Free {
    pub(crate) tokens: u64,
    pub(crate) money_micros: u64,
}

/// A request that is under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    /// Its number on record.
    pub(super) request: u64,
    pub(super) held: Held,
    pub(super) price: Price,
    pub(super) bytes: u64,
    /// How much more than was held for it is used already.
    beyond: Free,
}

impl Open {
    pub(super) fn new(request: u64, held: Held, price: Price, bytes: u64) -> Self {
        Self { request, held, price, bytes, beyond: Free::default() }
    }
}

impl Ledger {
    /// What a request may use at most.
    pub(super) fn foresee(&self, estimate: &Estimate, longest_answer: Option<u64>) -> TokenCount {
        let asked = (estimate.provider.clone(), estimate.model.clone());
        let input = match self.measured.get(&asked) {
            Some(measure) => measure.foresee(estimate.input_bytes),
            None => estimate.input_bytes.div_ceil(FEWEST_BYTES_PER_TOKEN),
        };
        let output = estimate.max_output_tokens.or(longest_answer).unwrap_or(LONGEST_ANSWER);
        TokenCount { input, output }
    }

    /// Takes in what a request came to.
    pub(super) fn learn(&mut self, request: &MeasuredRequest) {
        let MeasuredRequest { provider, model, bytes, tokens } = request.clone();
        if bytes > 0 && tokens > 0 {
            self.measured.insert((provider, Some(model)), Measure { bytes, tokens });
        }
    }

    /// A request of the gateway goes out.
    pub(super) fn begin(&mut self, number: u64, open: Open, free: Free) {
        self.free = free;
        self.open.insert(number, open);
    }

    /// Whether what is used by now still fits, all requests that are under way together.
    pub(super) fn fits(&mut self, usage: &Usage) -> bool {
        let Some(open) = self.open.get_mut(&usage.request) else { return true };
        let (used, held) = (model_usage(usage), open.held);
        let tokens = used.input.saturating_add(used.output);
        let held_tokens = held.tokens.input.saturating_add(held.tokens.output);
        open.beyond = Free {
            tokens: tokens.saturating_sub(held_tokens),
            money_micros: open.price.of_usage(&used).saturating_sub(held.cost_micros),
        };
        if open.beyond == Free::default() {
            return true;
        }
        let all = self.open.values().fold(Free::default(), |sum, open| Free {
            tokens: sum.tokens.saturating_add(open.beyond.tokens),
            money_micros: sum.money_micros.saturating_add(open.beyond.money_micros),
        });
        all.tokens <= self.free.tokens && all.money_micros <= self.free.money_micros
    }

    /// A request is over. What it was is to be put on record.
    pub(super) fn end(&mut self, usage: &Usage) -> Option<Open> {
        let open = self.open.remove(&usage.request)?;
        if usage.source == UsageSource::Reported && usage.input_tokens > 0 && open.bytes > 0 {
            let asked = (usage.provider.clone(), usage.model.clone());
            self.measured.insert(asked, Measure { bytes: open.bytes, tokens: usage.input_tokens });
        }
        Some(open)
    }

    pub(super) fn set_free(&mut self, free: Free) {
        self.free = free;
    }
}

impl Measure {
    fn foresee(self, bytes: u64) -> u64 {
        let tokens = u128::from(bytes) * u128::from(self.tokens) * (100 + MARGIN);
        u64::try_from(tokens.div_ceil(u128::from(self.bytes) * 100)).unwrap_or(u64::MAX)
    }
}

pub(super) fn model_usage(usage: &Usage) -> ModelUsage {
    ModelUsage {
        input: usage.input_tokens,
        cache_read: usage.cache_read_tokens,
        cache_write: usage.cache_write_tokens,
        output: usage.output_tokens,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(request: u64, input_bytes: u64) -> Estimate {
        let (provider, model) = ("anthropic".to_owned(), Some("m".to_owned()));
        Estimate { request, provider, model, input_bytes, max_output_tokens: Some(50) }
    }

    fn usage(request: u64, input_tokens: u64, output_tokens: u64) -> Usage {
        let (provider, model) = ("anthropic".to_owned(), Some("m".to_owned()));
        Usage {
            request,
            provider,
            model,
            input_tokens,
            cache_read_tokens: 0,
            cache_write_tokens: 0,
            output_tokens,
            source: UsageSource::Reported,
        }
    }

    fn open(input: u64, output: u64) -> Open {
        Open::new(1, Held { tokens: TokenCount { input, output }, cost_micros: 0 }, Price::default(), 400)
    }

    #[test]
    fn what_is_foreseen_comes_from_the_last_bill_as_soon_as_there_is_one() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.foresee(&estimate(0, 400), None), TokenCount { input: 134, output: 50 });
        ledger.begin(0, open(134, 50), Free::default());
        ledger.end(&usage(0, 100, 5)).unwrap();
        assert_eq!(ledger.foresee(&estimate(1, 800), None), TokenCount { input: 210, output: 50 });
        let mut next_driver = Ledger::default();
        let (provider, model) = ("anthropic".to_owned(), "m".to_owned());
        next_driver.learn(&MeasuredRequest { provider, model, bytes: 400, tokens: 100 });
        assert_eq!(
            next_driver.foresee(&estimate(1, 800), None).input,
            210,
            "whoever comes next knows it too"
        );
        let unbounded = Estimate { max_output_tokens: None, ..estimate(1, 800) };
        assert_eq!(ledger.foresee(&unbounded, Some(64)).output, 64);
        assert_eq!(ledger.foresee(&unbounded, None).output, LONGEST_ANSWER);
        let other = Estimate { model: Some("another".to_owned()), ..estimate(1, 300) };
        assert_eq!(ledger.foresee(&other, None).input, 100, "another model counts otherwise");
    }

    #[test]
    fn what_goes_beyond_what_was_held_shares_what_is_free() {
        let mut ledger = Ledger::default();
        ledger.begin(0, open(100, 50), Free { tokens: 30, money_micros: 0 });
        assert!(ledger.fits(&usage(0, 100, 80)) && !ledger.fits(&usage(0, 100, 81)));
        ledger.begin(1, open(100, 50), Free { tokens: 30, money_micros: 0 });
        assert!(ledger.fits(&usage(0, 100, 70)) && ledger.fits(&usage(1, 100, 60)));
        assert!(!ledger.fits(&usage(1, 100, 61)), "20 and 11 are more than 30");
        ledger.end(&usage(0, 100, 70)).unwrap();
        ledger.set_free(Free { tokens: 11, money_micros: 0 });
        assert!(ledger.fits(&usage(1, 100, 61)));
    }

    #[test]
    fn money_is_cut_by_what_it_costs() {
        let mut ledger = Ledger::default();
        let price = Price { input_micros: 1_000_000, output_micros: 2_000_000, ..Price::default() };
        let held = Held { tokens: TokenCount { input: 10, output: 10 }, cost_micros: 30 };
        let free = Free { tokens: 1000, money_micros: 4 };
        ledger.begin(0, Open::new(1, held, price, 40), free);
        assert!(ledger.fits(&usage(0, 10, 12)) && !ledger.fits(&usage(0, 10, 13)));
    }
}
