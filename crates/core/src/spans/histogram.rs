//! Metrics of requests to models, summed up from their spans.
//!
//! The sums are from the beginning, not since the last time: what is sent twice is the same then, and counts once.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ERROR, INPUT_TOKENS, MODEL, OPERATION, OUTPUT_TOKENS, PROVIDER, Span};

/// The bounds that the conventions name for tokens.
const TOKEN_BOUNDS: &[f64] = &[
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];
/// And for seconds.
const SECOND_BOUNDS: &[f64] =
    &[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// All sums.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Meters {
    pub tokens: Vec<(Series, Histogram)>,
    pub seconds: Vec<(Series, Histogram)>,
}

/// What a sum is about: attributes and their values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Series(pub BTreeMap<String, String>);

/// How many values there were up to each bound, and above the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    pub count: u64,
    pub sum: f64,
    pub buckets: Vec<u64>,
}

impl Meters {
    pub const TOKENS: &str = "gen_ai.client.token.usage";
    pub const SECONDS: &str = "gen_ai.client.operation.duration";

    /// Takes in one more span. Only requests to models count.
    pub fn take(&mut self, span: &Span) {
        if span.text(OPERATION) != Some("chat") {
            return;
        }
        let labels = [OPERATION, PROVIDER, MODEL].map(|name| (name, span.text(name)));
        let about = |more: (&str, Option<&str>)| {
            let told = labels.iter().chain([&more]).filter_map(|(name, value)| Some((*name, (*value)?)));
            Series(told.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
        };
        #[expect(clippy::cast_precision_loss, reason = "nobody counts so many milliseconds or tokens")]
        let number = |number: u64| number as f64;
        let seconds = number(span.end.since_ms(span.start)) / 1000.0;
        record(&mut self.seconds, about((ERROR, span.text(ERROR))), SECOND_BOUNDS, seconds);
        for (kind, name) in [("input", INPUT_TOKENS), ("output", OUTPUT_TOKENS)] {
            if let Some(tokens) = span.number(name) {
                let tokens = number(u64::try_from(tokens).unwrap_or(0));
                record(&mut self.tokens, about(("gen_ai.token.type", Some(kind))), TOKEN_BOUNDS, tokens);
            }
        }
    }

    /// The bounds of the tokens and of the seconds.
    pub const fn bounds() -> (&'static [f64], &'static [f64]) {
        (TOKEN_BOUNDS, SECOND_BOUNDS)
    }
}

fn record(sums: &mut Vec<(Series, Histogram)>, series: Series, bounds: &[f64], value: f64) {
    let place = sums.iter().position(|(known, _)| *known == series).unwrap_or_else(|| {
        let empty = Histogram { count: 0, sum: 0.0, buckets: vec![0; bounds.len() + 1] };
        sums.push((series, empty));
        sums.len() - 1
    });
    let sum = &mut sums[place].1;
    sum.count += 1;
    sum.sum += value;
    let bucket = bounds.iter().position(|bound| value <= *bound).unwrap_or(bounds.len());
    if let Some(number) = sum.buckets.get_mut(bucket) {
        *number += 1;
    }
}
