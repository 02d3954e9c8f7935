//! What is sent, read back with the messages that OpenTelemetry publishes.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1 as proto;
use prost::Message as _;

use super::super::otlp::{self, Resource};
use super::*;

fn resource() -> Resource {
    let attributes = vec![("service.name".to_owned(), "longhaul".to_owned())];
    Resource { attributes, version: "0.1.0".to_owned() }
}

fn pairs(attributes: &[KeyValue]) -> Vec<(String, Value)> {
    let pair = |pair: &KeyValue| (pair.key.clone(), pair.value.clone().unwrap().value.unwrap());
    attributes.iter().map(pair).collect()
}

#[test]
fn what_is_sent_is_what_collectors_read() {
    let spans = told(&own_loop(), Telling::WithoutContent);
    let request = ExportTraceServiceRequest::decode(otlp::traces(&resource(), &spans).as_slice()).unwrap();
    let [of_resource] = &request.resource_spans[..] else { panic!("{request:?}") };
    let name = [("service.name".to_owned(), Value::StringValue("longhaul".to_owned()))];
    assert_eq!(pairs(&of_resource.resource.as_ref().unwrap().attributes), name);
    let [of_scope] = &of_resource.scope_spans[..] else { panic!("{of_resource:?}") };
    let scope = InstrumentationScope {
        name: "longhaul".to_owned(),
        version: "0.1.0".to_owned(),
        ..Default::default()
    };
    assert_eq!(of_scope.scope, Some(scope));
    assert_eq!(of_scope.spans.len(), spans.len());
    for (sent, span) in of_scope.spans.iter().zip(&spans) {
        assert_eq!(sent.trace_id, span.trace.0);
        assert_eq!(sent.span_id, span.id.0);
        assert_eq!(sent.parent_span_id, span.parent.unwrap().0);
        assert_eq!(sent.name, span.name);
        let kind = match span.kind {
            SpanKind::Internal => proto::span::SpanKind::Internal,
            SpanKind::Client => proto::span::SpanKind::Client,
        };
        assert_eq!(sent.kind(), kind);
        let nanoseconds = |at: Timestamp| u64::try_from(at.0).unwrap() * 1_000_000;
        assert_eq!(sent.start_time_unix_nano, nanoseconds(span.start));
        assert_eq!(sent.end_time_unix_nano, nanoseconds(span.end));
        let value = |value: &Attribute| match value {
            Attribute::Text(text) => Value::StringValue(text.clone()),
            Attribute::Number(number) => Value::IntValue(*number),
        };
        let wanted: Vec<(String, Value)> =
            span.attributes.iter().map(|(name, attribute)| ((*name).to_owned(), value(attribute))).collect();
        assert_eq!(pairs(&sent.attributes), wanted);
        let is_error =
            sent.status.as_ref().is_some_and(|status| status.code() == proto::status::StatusCode::Error);
        assert_eq!(is_error, span.attribute(ERROR).is_some());
    }
}

#[test]
fn sums_of_requests_to_models_are_read_too() {
    let mut meters = Meters::default();
    let spans = told(&own_loop(), Telling::WithoutContent);
    spans.iter().chain(&spans).for_each(|span| meters.take(span));
    let body = otlp::metrics(&resource(), &meters, Timestamp(500), Timestamp(2000));
    let request = ExportMetricsServiceRequest::decode(body.as_slice()).unwrap();
    let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
    let names: Vec<(&str, &str)> =
        metrics.iter().map(|metric| (metric.name.as_str(), metric.unit.as_str())).collect();
    assert_eq!(names, [("gen_ai.client.token.usage", "{token}"), ("gen_ai.client.operation.duration", "s")]);
    let points = |index: usize| match metrics[index].data.clone().unwrap() {
        Data::Histogram(histogram) => {
            assert_eq!(histogram.aggregation_temporality, 2);
            histogram.data_points
        }
        other => panic!("{other:?}"),
    };
    let [input, output] = &points(0)[..] else { panic!("{metrics:?}") };
    assert_eq!((input.count, input.sum, output.sum), (2, Some(200.0), Some(10.0)));
    assert_eq!((input.start_time_unix_nano, input.time_unix_nano), (500_000_000, 2_000_000_000));
    assert_eq!(input.bucket_counts.len(), input.explicit_bounds.len() + 1);
    // A hundred is above 64, and not above 256.
    assert_eq!((input.bucket_counts[4], input.bucket_counts.iter().sum::<u64>()), (2, 2));
    let about = |name: &str, value: &str| (name.to_owned(), Value::StringValue(value.to_owned()));
    let wanted = [
        about("gen_ai.operation.name", "chat"),
        about("gen_ai.provider.name", "anthropic"),
        about("gen_ai.request.model", "claude-haiku"),
        about("gen_ai.token.type", "input"),
    ];
    assert_eq!(pairs(&input.attributes), wanted);
    let [seconds] = &points(1)[..] else { panic!("{metrics:?}") };
    assert_eq!((seconds.count, seconds.sum), (2, Some(0.6)));
}

proptest! {
    /// Numbers of every length, and texts of any letters.
    #[test]
    fn anything_is_read_back_as_it_was(name in any::<String>(), number in any::<i64>(), text in any::<String>()) {
        let mut span = told(&own_loop(), Telling::WithoutContent).swap_remove(0);
        span.name.clone_from(&name);
        span.attributes = vec![(STEP, Attribute::Number(number)), (GOAL, Attribute::Text(text.clone()))];
        let request = ExportTraceServiceRequest::decode(otlp::traces(&resource(), &[span]).as_slice()).unwrap();
        let sent = &request.resource_spans[0].scope_spans[0].spans[0];
        prop_assert_eq!(&sent.name, &name);
        let wanted = vec![(STEP.to_owned(), Value::IntValue(number)), (GOAL.to_owned(), Value::StringValue(text))];
        prop_assert_eq!(pairs(&sent.attributes), wanted);
    }
}
