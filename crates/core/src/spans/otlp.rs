//! Spans and metrics in the form that collectors take: the OpenTelemetry protocol, version 1, in protocol buffers.
//!
//! Written by hand. It is a page, the messages are fixed for good, and what generates them would be many times as much
//! code. Tests read it back with the messages that OpenTelemetry publishes.

mod wire;

use longhaul_events::Timestamp;

use super::{Attribute, ERROR, Histogram, Meters, Series, Span, SpanKind};
use wire::Message;

const SCOPE: &str = "longhaul";
/// Sums since the beginning.
const CUMULATIVE: u64 = 2;
const STATUS_ERROR: u64 = 2;

/// Who tells: attributes of everything that is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resource {
    pub attributes: Vec<(String, String)>,
    pub version: String,
}

/// The body of a request to `/v1/traces`.
pub fn traces(resource: &Resource, spans: &[Span]) -> Vec<u8> {
    let mut of_scope = Message::default();
    of_scope.message(1, &scope(resource));
    spans.iter().for_each(|one| of_scope.message(2, &span(one)));
    request(resource, &of_scope)
}

/// The body of a request to `/v1/metrics`: sums from `since` until `now`.
pub fn metrics(resource: &Resource, meters: &Meters, since: Timestamp, now: Timestamp) -> Vec<u8> {
    let mut of_scope = Message::default();
    of_scope.message(1, &scope(resource));
    let (token_bounds, second_bounds) = Meters::bounds();
    let told = [
        (Meters::TOKENS, "{token}", &meters.tokens, token_bounds),
        (Meters::SECONDS, "s", &meters.seconds, second_bounds),
    ];
    for (name, unit, sums, bounds) in told {
        if !sums.is_empty() {
            let points = sums.iter().map(|(series, sum)| point(series, sum, bounds, (since, now)));
            of_scope.message(2, &metric(name, unit, points));
        }
    }
    request(resource, &of_scope)
}

/// Both requests have this shape: resources, with what each of their scopes tells.
fn request(resource: &Resource, of_scope: &Message) -> Vec<u8> {
    let mut who = Message::default();
    let attributes = resource.attributes.iter();
    attributes.for_each(|(name, value)| who.message(1, &key_value(name, &text(value))));
    let mut of_resource = Message::default();
    of_resource.message(1, &who);
    of_resource.message(2, of_scope);
    let mut request = Message::default();
    request.message(1, &of_resource);
    request.into_bytes()
}

fn scope(resource: &Resource) -> Message {
    let mut scope = Message::default();
    scope.text(1, SCOPE);
    scope.text(2, &resource.version);
    scope
}

fn span(span: &Span) -> Message {
    let mut message = Message::default();
    message.bytes(1, &span.trace.0);
    message.bytes(2, &span.id.0);
    if let Some(parent) = &span.parent {
        message.bytes(4, &parent.0);
    }
    message.text(5, &span.name);
    message.varint(
        6,
        match span.kind {
            SpanKind::Internal => 1,
            SpanKind::Client => 3,
        },
    );
    message.fixed64(7, nanoseconds(span.start));
    message.fixed64(8, nanoseconds(span.end));
    for (name, value) in &span.attributes {
        message.message(9, &key_value(name, &any(value)));
    }
    if span.attribute(ERROR).is_some() {
        let mut status = Message::default();
        status.varint(3, STATUS_ERROR);
        message.message(15, &status);
    }
    message
}

fn metric(name: &str, unit: &str, points: impl Iterator<Item = Message>) -> Message {
    let mut histogram = Message::default();
    points.for_each(|point| histogram.message(1, &point));
    histogram.varint(2, CUMULATIVE);
    let mut metric = Message::default();
    metric.text(1, name);
    metric.text(3, unit);
    metric.message(9, &histogram);
    metric
}

fn point(series: &Series, sum: &Histogram, bounds: &[f64], (since, now): (Timestamp, Timestamp)) -> Message {
    let mut point = Message::default();
    point.fixed64(2, nanoseconds(since));
    point.fixed64(3, nanoseconds(now));
    point.fixed64(4, sum.count);
    point.double(5, sum.sum);
    point.packed(6, sum.buckets.iter().map(|number| number.to_le_bytes()));
    point.packed(7, bounds.iter().map(|bound| bound.to_le_bytes()));
    series.0.iter().for_each(|(name, value)| point.message(9, &key_value(name, &text(value))));
    point
}

fn key_value(name: &str, value: &Message) -> Message {
    let mut pair = Message::default();
    pair.text(1, name);
    pair.message(2, value);
    pair
}

fn any(value: &Attribute) -> Message {
    match value {
        Attribute::Text(words) => text(words),
        Attribute::Number(number) => {
            let mut any = Message::default();
            any.varint(3, number.cast_unsigned());
            any
        }
    }
}

fn text(words: &str) -> Message {
    let mut any = Message::default();
    any.text(1, words);
    any
}

fn nanoseconds(at: Timestamp) -> u64 {
    u64::try_from(at.0).unwrap_or(0).saturating_mul(1_000_000)
}
