//! Counts and prices as people write them in files of agents and models.

use serde::Deserialize;

use crate::budget::{LongInput, Price, Pricing};
use crate::units::{parse_count, parse_money_micros};

/// `200000` is a number to YAML, and `200k` is a text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Count {
    Number(u64),
    Text(String),
}

impl Count {
    pub(super) fn tokens(self, key: &str) -> Result<u64, String> {
        let count = match self {
            Self::Number(tokens) => tokens,
            Self::Text(text) => parse_count(&text).map_err(|problem| format!("`{key}`: {problem}"))?,
        };
        if count == 0 { Err(format!("`{key}` is 0; leave it out if nobody knows")) } else { Ok(count) }
    }
}

/// Per million tokens; or a word where there is no such price.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum PriceEntry {
    Word(String),
    Known(KnownPrice),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownPrice {
    input: String,
    output: String,
    cache_read: Option<String>,
    cache_write: Option<String>,
    long: Option<Long>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Long {
    above: Count,
    input: String,
    output: String,
}

impl PriceEntry {
    pub(super) fn pricing(self) -> Result<Pricing, String> {
        match self {
            Self::Known(known) => known.price().map(Pricing::Known),
            // Paid by the month: a token more costs nothing more.
            Self::Word(word) if word == "subscription" => Ok(Pricing::Known(Price::default())),
            Self::Word(word) if word == "unknown" => Ok(Pricing::Unknown),
            Self::Word(word) => Err(format!(
                "`price: {word}` is no price; write `price: {{ input: 3usd, output: 15usd }}` (per million tokens), `subscription` or `unknown`"
            )),
        }
    }
}

impl KnownPrice {
    fn price(self) -> Result<Price, String> {
        let money = |text: String| parse_money_micros(&text).map_err(|problem| format!("`price`: {problem}"));
        Ok(Price {
            input_micros: money(self.input)?,
            output_micros: money(self.output)?,
            cache_read_micros: self.cache_read.map(money).transpose()?,
            cache_write_micros: self.cache_write.map(money).transpose()?,
            long: self.long.map(Long::surcharge).transpose()?,
        })
    }
}

impl Long {
    fn surcharge(self) -> Result<LongInput, String> {
        let percent = |text: &str| {
            let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<u64>().ok());
            number
                .filter(|percent| (1..=10_000).contains(percent))
                .ok_or_else(|| format!("`{text}` under `long` is no share of a price; write it as `200%`"))
        };
        Ok(LongInput {
            above: self.above.tokens("above")?,
            input_percent: percent(&self.input)?,
            output_percent: percent(&self.output)?,
        })
    }
}
