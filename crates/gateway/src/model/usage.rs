//! Reading what an answer used, while it goes by: whole answers, and streams of events, of all protocols.

use hyper::header::{CONTENT_TYPE, HeaderMap};
use serde_json::Value;

use crate::meter::{Estimate, Usage, UsageSource};
use crate::upstream::Protocol;

/// Of a whole answer this much is kept to be read at its end; of a line of a stream too.
const MOST_KEPT: usize = 8 * 1024 * 1024;
/// Where nobody says how many tokens there are, this many bytes are one.
pub(super) const BYTES_PER_TOKEN: u64 = 4;

/// How an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    Events,
}

/// What is known of one answer so far.
#[derive(Debug)]
pub(super) struct Count {
    form: Form,
    /// The whole answer, or the line of a stream that is not yet complete.
    kept: Vec<u8>,
    /// The rest of a line that was too long is still to come.
    is_skipping: bool,
    reported: Option<Reported>,
    output_bytes: u64,
    pub(super) estimate: Estimate,
    protocol: Protocol,
    error: Option<(Option<String>, Option<String>)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Reported {
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
}

impl Count {
    pub(super) fn new(protocol: Protocol, estimate: Estimate, headers: &HeaderMap) -> Self {
        let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let form = if kind.starts_with("text/event-stream") { Form::Events } else { Form::Whole };
        Self {
            form,
            kept: Vec::new(),
            is_skipping: false,
            reported: None,
            output_bytes: 0,
            estimate,
            protocol,
            error: None,
        }
    }

    /// Takes a piece of the answer. Says whether more is known now.
    pub(super) fn take(&mut self, piece: &[u8]) -> bool {
        match self.form {
            Form::Whole => {
                if self.kept.len() + piece.len() <= MOST_KEPT {
                    self.kept.extend_from_slice(piece);
                }
                false
            }
            Form::Events => self.take_lines(piece),
        }
    }

    fn take_lines(&mut self, piece: &[u8]) -> bool {
        let mut is_news = false;
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let ends = part.ends_with(b"\n");
            if !self.is_skipping {
                self.kept.extend_from_slice(part);
                self.is_skipping = self.kept.len() > MOST_KEPT;
            }
            if ends {
                let line = std::mem::take(&mut self.kept);
                if !std::mem::take(&mut self.is_skipping) {
                    is_news |= self.line(&line);
                }
            }
        }
        is_news
    }

    fn line(&mut self, line: &[u8]) -> bool {
        let Some(data) = line.strip_prefix(b"data:") else { return false };
        let Ok(event) = serde_json::from_slice::<Value>(data.trim_ascii()) else { return false };
        self.look_for_error(&event);
        let written = written(self.protocol, &event);
        self.output_bytes += written;
        let reported = self.look(&event) || self.look(&event["message"]) || self.look(&event["response"]);
        reported || written > 0
    }

    /// The end has come; a whole answer is read now.
    pub(super) fn finish(&mut self) {
        match self.form {
            Form::Whole => {
                let whole = std::mem::take(&mut self.kept);
                match serde_json::from_slice::<Value>(&whole) {
                    Ok(answer) => {
                        self.look_for_error(&answer);
                        self.look(&answer);
                    }
                    Err(_) => self.output_bytes += u64::try_from(whole.len()).unwrap_or(u64::MAX),
                }
            }
            Form::Events => {
                let _ = self.take_lines(b"\n");
            }
        }
    }

    /// Takes what a provider calls `usage`; a later one adds what an earlier one did not have.
    fn look(&mut self, holder: &Value) -> bool {
        let usage = &holder["usage"];
        if !usage.is_object() {
            return false;
        }
        let first = |names: &[&str]| names.iter().find_map(|name| usage.pointer(name)?.as_u64());
        let mut known = self.reported.unwrap_or_default();
        let cache_read = first(&[
            "/cache_read_input_tokens",
            "/prompt_tokens_details/cached_tokens",
            "/input_tokens_details/cached_tokens",
        ]);
        known.cache_read = cache_read.unwrap_or(known.cache_read);
        known.cache_write = first(&["/cache_creation_input_tokens"]).unwrap_or(known.cache_write);
        if let Some(input) = first(&["/input_tokens", "/prompt_tokens"]) {
            known.input = match self.protocol {
                // There what comes from a cache is told apart, elsewhere it is among the input.
                Protocol::Anthropic => input + known.cache_read + known.cache_write,
                Protocol::OpenAi => input,
            };
        }
        known.output = first(&["/output_tokens", "/completion_tokens"]).unwrap_or(known.output);
        self.reported = Some(known);
        true
    }

    fn look_for_error(&mut self, answer: &Value) {
        let error = &answer["error"];
        if error.is_object() {
            let text = |name: &str| error[name].as_str().map(str::to_owned);
            self.error = Some((text("type").or_else(|| text("code")), text("message")));
        }
    }

    pub(super) fn error(&self) -> (Option<String>, Option<String>) {
        self.error.clone().unwrap_or_default()
    }

    /// What was used so far. The provider's figures may come late; until then the longer of both counts.
    pub(super) fn usage(&self) -> Usage {
        let estimated = self.output_bytes.div_ceil(BYTES_PER_TOKEN);
        let (known, source) = match self.reported {
            Some(known) if known.output >= estimated || self.form == Form::Whole => {
                (known, UsageSource::Reported)
            }
            Some(known) => (Reported { output: estimated, ..known }, UsageSource::Estimated),
            None => {
                let input = self.estimate.input_bytes.div_ceil(BYTES_PER_TOKEN);
                (Reported { input, output: estimated, ..Reported::default() }, UsageSource::Estimated)
            }
        };
        Usage {
            request: self.estimate.request,
            provider: self.estimate.provider.clone(),
            model: self.estimate.model.clone(),
            input_tokens: known.input,
            cache_read_tokens: known.cache_read,
            cache_write_tokens: known.cache_write,
            output_tokens: known.output,
            source,
        }
    }

    /// What was used in all, once the provider has said its last.
    pub(super) fn total(&self) -> Usage {
        match self.reported {
            Some(known) if known.output > 0 => {
                Usage { output_tokens: known.output, source: UsageSource::Reported, ..self.usage() }
            }
            Some(_) | None => self.usage(),
        }
    }
}

/// How many bytes of an answer an event of a stream brings.
fn written(protocol: Protocol, event: &Value) -> u64 {
    let length =
        |value: &Value| value.as_str().map_or(0, |text| u64::try_from(text.len()).unwrap_or(u64::MAX));
    match protocol {
        Protocol::Anthropic => {
            let delta = &event["delta"];
            ["text", "thinking", "partial_json"].iter().map(|name| length(&delta[*name])).sum()
        }
        Protocol::OpenAi => {
            // Chat has choices with a delta; responses have the delta as a text.
            let delta = &event["choices"][0]["delta"];
            let calls = delta["tool_calls"].as_array().into_iter().flatten();
            let calls: u64 = calls.map(|call| length(&call["function"]["arguments"])).sum();
            length(&delta["content"]) + length(&delta["reasoning_content"]) + calls + length(&event["delta"])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(protocol: Protocol, kind: &'static str) -> Count {
        let estimate = Estimate {
            request: 7,
            provider: "p".to_owned(),
            model: Some("m".to_owned()),
            input_bytes: 400,
            max_output_tokens: Some(10),
        };
        Count::new(protocol, estimate, &HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().unwrap())]))
    }

    /// The answer comes in pieces of every length.
    fn figures(protocol: Protocol, kind: &'static str, answer: &str) -> (u64, u64, u64, u64, UsageSource) {
        let mut seen = None;
        for length in [1, 7, answer.len()] {
            let mut count = count(protocol, kind);
            answer.as_bytes().chunks(length).for_each(|piece| {
                count.take(piece);
            });
            count.finish();
            let Usage { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, source, .. } =
                count.total();
            let figures = (input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, source);
            assert_eq!(*seen.get_or_insert(figures), figures, "in pieces of {length}");
        }
        seen.unwrap()
    }

    const EVENTS: &str = "text/event-stream; charset=utf-8";
    const WHOLE: &str = "application/json";

    #[test]
    fn messages_are_counted_whole_and_in_events() {
        let whole = r#"{"type":"message","usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":5,"output_tokens":20}}"#;
        assert_eq!(figures(Protocol::Anthropic, WHOLE, whole), (18, 5, 3, 20, UsageSource::Reported));
        let events = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":5,\"output_tokens\":1}}}\n\n\
            event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello there\"}}\n\n\
            event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":42}}\n\n\
            event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
        assert_eq!(figures(Protocol::Anthropic, EVENTS, events), (15, 5, 0, 42, UsageSource::Reported));
    }

    #[test]
    fn chat_completions_are_counted_whole_and_in_events() {
        let whole = r#"{"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":20}}}"#;
        assert_eq!(figures(Protocol::OpenAi, WHOLE, whole), (30, 20, 0, 4, UsageSource::Reported));
        let events = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\r\n\r\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\r\n\r\ndata: [DONE]\r\n\r\n";
        assert_eq!(figures(Protocol::OpenAi, EVENTS, events), (9, 0, 0, 2, UsageSource::Reported));
    }

    #[test]
    fn responses_are_counted_whole_and_in_events() {
        let whole = r#"{"object":"response","usage":{"input_tokens":8,"output_tokens":6,"input_tokens_details":{"cached_tokens":2}}}"#;
        assert_eq!(figures(Protocol::OpenAi, WHOLE, whole), (8, 2, 0, 6, UsageSource::Reported));
        let events = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Hello\"}\n\n\
            event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":8,\"output_tokens\":6}}}\n\n";
        assert_eq!(figures(Protocol::OpenAi, EVENTS, events), (8, 0, 0, 6, UsageSource::Reported));
    }

    #[test]
    fn a_stream_without_figures_is_counted_by_its_length() {
        let events =
            format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", "x".repeat(400));
        assert_eq!(figures(Protocol::OpenAi, EVENTS, &events), (100, 0, 0, 100, UsageSource::Estimated));
    }

    #[test]
    fn while_it_goes_on_the_longer_count_holds() {
        let mut count = count(Protocol::Anthropic, EVENTS);
        count.take(b"data: {\"message\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n");
        assert_eq!(count.usage().output_tokens, 1);
        let long = format!("data: {{\"delta\":{{\"text\":\"{}\"}}}}\n", "x".repeat(400));
        assert!(count.take(long.as_bytes()));
        assert_eq!((count.usage().input_tokens, count.usage().output_tokens), (10, 100));
    }

    #[test]
    fn a_line_without_an_end_is_not_kept() {
        let mut count = count(Protocol::OpenAi, EVENTS);
        let piece = vec![b'x'; 1024 * 1024];
        for _ in 0..20 {
            count.take(&piece);
        }
        assert!(count.kept.len() <= MOST_KEPT + piece.len(), "{}", count.kept.len());
        count.take(b"\ndata: {\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n");
        assert_eq!(count.usage().output_tokens, 2);
    }
}
