//! How many tokens a request may need, without a tokenizer: by what the provider counted of the one before.

use longhaul_core::budget::{Price, Pricing};
use longhaul_core::transcript::{Measured, Room};
use longhaul_events::TokenCount;

use super::ModelFacts;
use crate::asker::Means;

/// Before anything was counted: fewer bytes to a token than most texts have.
const CAUTIOUS_BYTES: u64 = 3;
/// A token is never so many bytes that this much more of them is none.
const MOST_BYTES: u64 = 8;
/// An answer of less than this is none that anybody waits for.
const LEAST_OUTPUT: u64 = 1024;
/// How much of the window a conversation may fill before it is shortened, in hundredths.
const FILLED: u64 = 70;
/// In hundredths.
const METER_MARGIN: u64 = 6;
const MILLION: u64 = 1_000_000;

/// A conversation, and what was counted of it before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    /// Of the conversation alone.
    pub(super) bytes: u64,
    pub(super) measured: Option<Measured>,
    pub(super) fixed_bytes: u64,
}

impl Measure {
    /// How many tokens the next request may have, rather too many than too few.
    pub(super) fn input(&self) -> u64 {
        let bytes = self.bytes + self.fixed_bytes;
        let Some((known, tokens)) = self.known() else { return bytes.div_ceil(CAUTIOUS_BYTES) };
        match bytes.checked_sub(known) {
            Some(more) => tokens + scaled(more, tokens, known) * 5 / 4,
            None => scaled(bytes, tokens, known) * 11 / 10,
        }
    }

    /// So many bytes were so many tokens.
    fn known(&self) -> Option<(u64, u64)> {
        let Measured { bytes, tokens } = self.measured?;
        let bytes = (bytes + self.fixed_bytes).max(1);
        Some((bytes, tokens.clamp(bytes.div_ceil(MOST_BYTES), bytes)))
    }

    /// How long an answer may be: what the model gives, what fits beside the input, and what the session may still use. If
    /// that is next to nothing, more is asked for, so that it is seen to be too much.
    pub(super) fn output(&self, model: &ModelFacts, means: Means) -> u64 {
        let input = self.input();
        // The meter is as cautious with all of it as we are with what is new.
        let counted = input.saturating_add(input * METER_MARGIN / 100);
        let by_money = match model.pricing {
            Pricing::Known(price) => payable(price, counted, means.money_micros),
            Pricing::Unknown => u64::MAX,
        };
        let room = model.window.saturating_sub(input);
        let most = [means.tokens.saturating_sub(counted), by_money, room];
        let least = LEAST_OUTPUT.min(model.max_output);
        most.into_iter().fold(model.max_output, u64::min).max(least)
    }

    /// The room for the conversation in a window that also has to hold the answer.
    pub(super) fn room(&self, model: &ModelFacts) -> Room {
        let answer = model.max_output.min(model.window / 4);
        let tokens = (model.window - answer) * FILLED / 100;
        let bytes = match self.known() {
            Some((known, counted)) => scaled(tokens, known, counted.max(1)),
            None => tokens * CAUTIOUS_BYTES,
        };
        let most = bytes.saturating_sub(self.fixed_bytes);
        Room { most, aim: most / 2 }
    }
}

/// How many tokens of an answer can be paid for.
fn payable(price: Price, input: u64, micros: u64) -> u64 {
    let cost = |output| price.at_most(TokenCount { input, output });
    let (asking, million) = (cost(0), cost(MILLION));
    let left = micros.saturating_sub(asking);
    match million - asking {
        0 => u64::MAX,
        per_million => u64::try_from(u128::from(left) * u128::from(MILLION) / u128::from(per_million))
            .unwrap_or(u64::MAX),
    }
}

/// `amount` × `by` ÷ `of`, rounded up.
fn scaled(amount: u64, by: u64, of: u64) -> u64 {
    let scaled = (u128::from(amount) * u128::from(by)).div_ceil(u128::from(of));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: ModelFacts = ModelFacts {
        name: String::new(),
        window: 100_000,
        max_output: 8_000,
        pricing: Pricing::Known(Price::plain(1_000_000, 10_000_000)),
    };

    fn measured(bytes: u64) -> Measure {
        let measured = Some(Measured { bytes: 30_000, tokens: 10_000 });
        Measure { bytes, measured, fixed_bytes: 10_000 }
    }

    #[test]
    fn what_was_counted_tells_of_what_comes() {
        let unknown = Measure { measured: None, ..measured(30_000) };
        assert_eq!(unknown.input(), 13_334);
        assert_eq!(measured(30_000).input(), 10_000);
        assert_eq!(measured(38_000).input(), 12_500, "a quarter more of what is new");
        assert_eq!(measured(10_000).input(), 5_500, "a tenth more of what is left");
    }

    #[test]
    fn a_count_that_cannot_be_is_not_believed() {
        let counted =
            |tokens| Measure { measured: Some(Measured { bytes: 30_000, tokens }), ..measured(30_000) };
        assert_eq!(counted(1).input(), 5_000);
        assert_eq!(counted(u64::MAX / 2).input(), 40_000);
    }

    #[test]
    fn an_answer_is_no_longer_than_there_is_room_and_means_for() {
        let output = |means| measured(30_000).output(&MODEL, means);
        assert_eq!(output(Means::PLENTY), 8_000);
        assert_eq!(output(Means { tokens: 15_000, ..Means::PLENTY }), 4_400);
        assert_eq!(output(Means { money_micros: 40_600, ..Means::PLENTY }), 3_000);
        assert_eq!(output(Means { tokens: 10_100, ..Means::PLENTY }), 1_024, "so that it is too much");
        assert_eq!(measured(300_000).input(), 94_375);
        assert_eq!(measured(300_000).output(&MODEL, Means::PLENTY), 5_625);
    }

    #[test]
    fn the_room_leaves_space_for_the_answer() {
        let room = measured(0).room(&MODEL);
        assert_eq!(
            room,
            Room { most: 92_000 * 70 / 100 * 4 - 10_000, aim: (92_000 * 70 / 100 * 4 - 10_000) / 2 }
        );
        let small = ModelFacts { window: 8_000, ..MODEL };
        assert_eq!(measured(0).room(&small).most, 6_000 * 70 / 100 * 4 - 10_000);
    }
}
