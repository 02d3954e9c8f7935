//! Numbers within limits.

use serde_json::{Map, Number, Value, json};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Whole,
    Any,
}

/// Beyond this a float no longer knows every whole number.
const EXACT: f64 = 9_007_199_254_740_992.0;

pub(super) fn guesses(schema: &Map<String, Value>, kind: Kind) -> Vec<Value> {
    let lowest = limit(schema, "minimum");
    let above = limit(schema, "exclusiveMinimum");
    let highest = limit(schema, "maximum");
    let below = limit(schema, "exclusiveMaximum");
    let low = strictest(lowest, above, f64::max);
    let high = strictest(highest, below, f64::min);

    let mut numbers = vec![1.0, 0.0];
    numbers.extend(low.into_iter().flat_map(|low| [low, low + 1.0, low.floor() + 1.0]));
    numbers.extend(high.into_iter().flat_map(|high| [high, high - 1.0, high.ceil() - 1.0]));
    if let (Some(low), Some(high)) = (low, high) {
        numbers.push(f64::midpoint(low, high));
    }
    if let Some(step) = limit(schema, "multipleOf").filter(|step| *step > 0.0) {
        let start = low.or(high.map(|high| (high / step).floor() * step)).unwrap_or(step);
        let first = (start / step).ceil() * step;
        numbers.splice(0..0, [first, first + step]);
    }
    let within = |number: &f64| {
        low.is_none_or(|low| *number >= low)
            && high.is_none_or(|high| *number <= high)
            && above.is_none_or(|above| *number > above)
            && below.is_none_or(|below| *number < below)
            && (kind == Kind::Any || number.fract() == 0.0)
    };
    let made = numbers.into_iter().filter(within).filter_map(value);
    // The limits as they were written: whole numbers beyond a float's reach stay what they are.
    let written = ["minimum", "maximum"].into_iter().filter_map(|key| schema.get(key).cloned());
    made.chain(written).collect()
}

fn limit(schema: &Map<String, Value>, key: &str) -> Option<f64> {
    schema.get(key).and_then(Value::as_f64)
}

fn strictest(one: Option<f64>, other: Option<f64>, choose: fn(f64, f64) -> f64) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(choose(one, other)),
        (one, other) => one.or(other),
    }
}

fn value(number: f64) -> Option<Value> {
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole, and within what both can say")]
        return Some(json!(number as i64));
    }
    Number::from_f64(number).map(Value::Number)
}
