//! Chat completions, as OpenAI wrote them and everybody else speaks them: Ollama, vLLM, llama.cpp, OpenRouter.
//!
//! Servers differ in what they send and what they refuse. What is sent is what all of them take.

use longhaul_events::ModelUsage;
use serde_json::{Map, Value, json};

use super::shared::{cache_key, joined, reasons, result_text, takes_cache_key, text, written};
use super::{Flow, Wire};
use crate::ask::Piece;
use crate::draft::{Draft, DraftCall, End, Reply, echo, echoed};
use crate::failure::Failure;
use crate::request::{Door, Message, Request, ToolSpec, WantedCall};

const WIRE: Wire = Wire::OpenAiChat;
/// What some servers want back of what a model thought, each under its own name.
const THOUGHTS: [&str; 2] = ["reasoning_content", "reasoning_details"];

pub(super) fn body(door: &Door, request: &Request<'_>) -> Value {
    let mut body = json!({ "model": request.model });
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    let mut messages = Vec::new();
    let system = joined(request.system);
    if !system.is_empty() {
        // One, and the first: the templates of many local models take no other.
        messages.push(json!({ "role": "system", "content": system }));
    }
    request.messages.iter().for_each(|message| add(&mut messages, request.model, message));
    body["messages"] = messages.into();
    // OpenAI's newer models refuse the old name, other servers do not know the new one, and both at once is an error.
    let is_new = door.provider == "openai" || door.provider == "azure" || reasons(request.model);
    let limit = if is_new { "max_completion_tokens" } else { "max_tokens" };
    body[limit] = request.max_output.max(1).into();
    body["stream"] = true.into();
    body["stream_options"] = json!({ "include_usage": true });
    if takes_cache_key(door) {
        body["prompt_cache_key"] = cache_key(request).into();
    }
    body
}

fn tool(tool: &ToolSpec) -> Value {
    let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.input });
    json!({ "type": "function", "function": function })
}

fn add(messages: &mut Vec<Value>, model: &str, message: &Message) {
    match message {
        Message::User(text) => messages.push(json!({ "role": "user", "content": text })),
        // It says nothing, and some refuse a message without content.
        Message::Assistant { text, calls, .. } if text.is_empty() && calls.is_empty() => {}
        Message::Assistant { text, calls, echo } => {
            let mut said = json!({ "role": "assistant" });
            said["content"] = if text.is_empty() { Value::Null } else { text.as_str().into() };
            if !calls.is_empty() {
                said["tool_calls"] = calls.iter().map(call).collect();
            }
            let kept = echoed(echo.as_ref(), WIRE, model).and_then(|kept| kept.first()?.as_object());
            for (name, thoughts) in kept.into_iter().flatten() {
                said[name] = thoughts.clone();
            }
            messages.push(said);
        }
        Message::Results(results) => messages.extend(results.iter().map(|result| {
            let content = result_text(&result.text, result.is_error);
            json!({ "role": "tool", "tool_call_id": result.id, "content": content })
        })),
    }
}

fn call(call: &WantedCall) -> Value {
    let function = json!({ "name": call.tool, "arguments": written(&call.arguments) });
    json!({ "id": call.id, "type": "function", "function": function })
}

/// Reads a completion.
#[derive(Debug)]
pub(super) struct Reader {
    asked: String,
    draft: Draft,
    /// The provider's name for the answer, to make names for calls that come without.
    id: String,
    thoughts: Map<String, Value>,
}

impl Reader {
    pub(super) fn new(asked: &str) -> Self {
        Self { asked: asked.to_owned(), draft: Draft::default(), id: String::new(), thoughts: Map::new() }
    }

    fn head(&mut self, event: &Value) {
        if self.id.is_empty() {
            text(event, "id").clone_into(&mut self.id);
        }
        if let Some(model) = event["model"].as_str().filter(|model| !model.is_empty()) {
            self.draft.model = Some(model.to_owned());
        }
        let usage = &event["usage"];
        if usage.is_object() {
            let figure = |pointer| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
            self.draft.usage = ModelUsage {
                input: figure("/prompt_tokens"),
                cache_read: figure("/prompt_tokens_details/cached_tokens"),
                cache_write: figure("/prompt_tokens_details/cache_write_tokens"),
                output: figure("/completion_tokens"),
            };
        }
    }

    /// Takes a delta, or a whole message, which has the same parts.
    fn take(&mut self, part: &Value, tell: &mut dyn FnMut(Piece<'_>)) {
        for name in ["content", "refusal"] {
            let words = text(part, name);
            if !words.is_empty() {
                self.draft.text.push_str(words);
                tell(Piece::Said(words));
            }
        }
        if !text(part, "refusal").is_empty() {
            self.draft.end = Some(End::Refused);
        }
        let thought = ["reasoning_content", "reasoning"].map(|name| text(part, name));
        if let Some(thought) = thought.into_iter().find(|thought| !thought.is_empty()) {
            tell(Piece::Thought(thought));
        }
        THOUGHTS.iter().for_each(|name| grow(&mut self.thoughts, name, &part[*name]));
        for (place, call) in (0_u64..).zip(part["tool_calls"].as_array().into_iter().flatten()) {
            self.take_call(place, call, tell);
        }
    }

    /// Calls are told apart by their index; where servers count wrong or not at all, by a new name.
    fn take_call(&mut self, place: u64, part: &Value, tell: &mut dyn FnMut(Piece<'_>)) {
        let index = part["index"].as_u64().unwrap_or(place);
        let (id, function) = (text(part, "id"), &part["function"]);
        let tool = text(function, "name");
        let is_known = self
            .draft
            .call(index)
            .is_some_and(|known| id.is_empty() || known.id.is_empty() || known.id == id);
        if !is_known {
            let nth = self.draft.calls.len();
            let id = if id.is_empty() { format!("call_{}_{nth}", self.id) } else { id.to_owned() };
            self.draft.calls.push(DraftCall { index, id, tool: tool.to_owned(), ..DraftCall::default() });
            tell(Piece::CallBegun { tool });
        }
        let Some(call) = self.draft.call(index) else { return };
        if call.tool.is_empty() {
            tool.clone_into(&mut call.tool);
        }
        match &function["arguments"] {
            Value::String(piece) => {
                call.written.push_str(piece);
                tell(Piece::Arguments(piece));
            }
            // Some write the object itself.
            Value::Object(whole) => call.written = written(whole),
            _ => {}
        }
    }

    fn end(&mut self, choice: &Value) {
        let Some(reason) = choice["finish_reason"].as_str() else { return };
        let end = match reason {
            "tool_calls" | "function_call" => End::CallsWanted,
            "length" => End::MaxOutput,
            "content_filter" => End::Refused,
            _ => End::Done,
        };
        if self.draft.end != Some(End::Refused) {
            self.draft.end = Some(end);
        }
    }

    fn has_come(&self) -> bool {
        !self.draft.text.is_empty() || !self.draft.calls.is_empty() || self.draft.end.is_some()
    }
}

/// Adds a piece of what was thought: texts grow, and lists grow item by item.
fn grow(thoughts: &mut Map<String, Value>, name: &str, piece: &Value) {
    match (thoughts.get_mut(name), piece) {
        (_, Value::Null) => {}
        (Some(Value::String(grown)), Value::String(piece)) => grown.push_str(piece),
        (Some(Value::Array(grown)), Value::Array(pieces)) => {
            pieces.iter().for_each(|piece| grow_item(grown, piece));
        }
        (Some(_) | None, _) => {
            thoughts.insert(name.to_owned(), piece.clone());
        }
    }
}

/// Pieces with the same index are one item.
fn grow_item(items: &mut Vec<Value>, piece: &Value) {
    let place = piece["index"].as_u64();
    let known = items.iter_mut().find(|item| place.is_some() && item["index"].as_u64() == place);
    let (Some(Value::Object(item)), Some(fields)) = (known, piece.as_object()) else {
        items.push(piece.clone());
        return;
    };
    for (name, value) in fields {
        match (item.get_mut(name), value) {
            (Some(Value::String(grown)), Value::String(more))
                if ["text", "summary"].contains(&name.as_str()) =>
            {
                grown.push_str(more);
            }
            (_, Value::Null) => {}
            _ => {
                item.insert(name.clone(), value.clone());
            }
        }
    }
}

impl super::Reader for Reader {
    fn event(&mut self, event: &Value, tell: &mut dyn FnMut(Piece<'_>)) -> Result<Flow, Failure> {
        if event["error"].is_object() {
            return Err(Failure::in_stream(event));
        }
        if event == "[DONE]" {
            return if self.has_come() { Ok(Flow::IsOver) } else { Err(Failure::CutOff) };
        }
        self.head(event);
        let choice = &event["choices"][0];
        self.take(&choice["delta"], tell);
        self.end(choice);
        Ok(Flow::GoesOn)
    }

    fn whole(&mut self, answer: &Value, tell: &mut dyn FnMut(Piece<'_>)) -> Result<(), Failure> {
        let choice = &answer["choices"][0];
        if !choice["message"].is_object() {
            return Err(Failure::garbage("the answer is no completion"));
        }
        self.head(answer);
        self.take(&choice["message"], tell);
        self.end(choice);
        Ok(())
    }

    /// Not all servers say `[DONE]`; all say why they finished.
    fn may_end(&self) -> bool {
        self.draft.end.is_some()
    }

    fn finish(self: Box<Self>) -> Reply {
        let thoughts = self.thoughts;
        let echo = (!thoughts.is_empty()).then(|| echo(WIRE, &self.asked, vec![Value::Object(thoughts)]));
        self.draft.finish(&self.asked, echo)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Reader as _;
    use super::*;

    fn read(chunks: &[Value]) -> (Reader, Vec<Result<Flow, Failure>>) {
        let mut reader = Reader::new("m");
        let flows = chunks.iter().map(|chunk| reader.event(chunk, &mut |_| {})).collect();
        (reader, flows)
    }

    fn delta(delta: &Value) -> Value {
        json!({ "id": "c1", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
    }

    #[test]
    fn calls_are_told_apart_however_a_server_counts_them() {
        let function = |name: &str, arguments: &Value| json!({ "name": name, "arguments": arguments });
        let (reader, _) = read(&[
            // All of them the first, with names of their own.
            delta(
                &json!({ "tool_calls": [{ "index": 0, "id": "a", "function": function("look", &json!("{\"at\":1}")) }] }),
            ),
            delta(
                &json!({ "tool_calls": [{ "index": 0, "id": "b", "function": function("look", &json!("{\"at\"")) }] }),
            ),
            delta(&json!({ "tool_calls": [{ "index": 0, "id": "b", "function": { "arguments": ":2}" } }] })),
        ]);
        let reply = Box::new(reader).finish();
        let calls: Vec<(&str, Value)> =
            reply.calls.iter().map(|call| (call.id.as_str(), json!(call.arguments))).collect();
        assert_eq!(calls, [("a", json!({ "at": 1 })), ("b", json!({ "at": 2 }))]);

        let mut reader = Reader::new("m");
        // Whole, without names, and with the object itself.
        let calls = json!([{ "function": function("look", &json!({ "at": 1 })) }, { "function": function("read", &json!("")) }]);
        let answer = json!({ "id": "c1", "choices": [{ "message": { "tool_calls": calls }, "finish_reason": "stop" }] });
        reader.whole(&answer, &mut |_| {}).unwrap();
        let reply = Box::new(reader).finish();
        let ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!((ids, reply.end), (vec!["call_c1_0", "call_c1_1"], End::CallsWanted));
        assert_eq!(json!(reply.calls[0].arguments), json!({ "at": 1 }));
    }

    #[test]
    fn a_stream_may_end_when_it_said_why_and_not_before() {
        let (reader, flows) = read(&[delta(&json!({ "content": "so" }))]);
        assert_eq!((reader.may_end(), flows), (false, vec![Ok(Flow::GoesOn)]));
        let finished = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
        assert!(read(&[delta(&json!({ "content": "so" })), finished]).0.may_end());
        let (_, flows) = read(&[json!("[DONE]")]);
        assert_eq!(flows, [Err(Failure::CutOff)], "nothing came before it");
    }

    #[test]
    fn thoughts_that_come_in_pieces_go_back_whole() {
        let piece = |text: &str, signature: Value| {
            delta(
                &json!({ "reasoning_details": [{ "type": "reasoning.text", "index": 0, "text": text, "signature": signature }] }),
            )
        };
        let (reader, _) = read(&[piece("It is ", Value::Null), piece("here.", json!("sig"))]);
        let reply = Box::new(reader).finish();
        let whole =
            json!([{ "type": "reasoning.text", "index": 0, "text": "It is here.", "signature": "sig" }]);
        let said = Message::Assistant { text: "So.".to_owned(), calls: Vec::new(), echo: reply.echo };
        let mut messages = Vec::new();
        add(&mut messages, "m", &said);
        assert_eq!(messages[0]["reasoning_details"], whole);
    }
}
