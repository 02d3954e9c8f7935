//! The Messages protocol of Anthropic.

use longhaul_events::ModelUsage;
use serde_json::{Value, json};

use super::shared::text;
use super::{Flow, Wire};
use crate::ask::Piece;
use crate::draft::{Draft, DraftCall, End, Reply, echo, echoed};
use crate::failure::Failure;
use crate::request::{CallResult, Layer, Message, Request, ToolSpec, WantedCall};

const WIRE: Wire = Wire::AnthropicMessages;

/// What may change from one request to the next comes after the messages, and the bytes before stay. Of the four marks
/// that a request may have, two wander with the newest messages; a provider does not count them among what it compares.
pub(super) fn body(request: &Request<'_>) -> Value {
    let mut body = json!({ "model": request.model });
    if !request.tools.is_empty() {
        body["tools"] = tools(request.tools);
    }
    let system = system(request.system);
    if !system.is_empty() {
        body["system"] = system.into();
    }
    body["messages"] = messages(request).into();
    body["max_tokens"] = request.max_output.max(1).into();
    body["stream"] = true.into();
    body
}

fn mark(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}

fn tools(tools: &[ToolSpec]) -> Value {
    let spec = |tool: &ToolSpec| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input });
    let mut specs: Vec<Value> = tools.iter().map(spec).collect();
    specs.last_mut().into_iter().for_each(mark);
    specs.into()
}

fn system(layers: &[Layer]) -> Vec<Value> {
    let told: Vec<&Layer> = layers.iter().filter(|layer| !layer.text.trim().is_empty()).collect();
    let mut blocks: Vec<Value> =
        told.iter().map(|layer| json!({ "type": "text", "text": layer.text })).collect();
    if let Some(last) = told.iter().rposition(|layer| layer.is_stable) {
        mark(&mut blocks[last]);
    }
    blocks
}

/// Roles take turns: what the same one says in a row is one message.
fn messages(request: &Request<'_>) -> Vec<Value> {
    let mut said: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for message in request.messages {
        let (role, blocks) = match message {
            Message::User(text) => ("user", text_block(text).into_iter().collect()),
            Message::Assistant { text, calls, echo } => {
                let kept = echoed(echo.as_ref(), WIRE, request.model);
                ("assistant", kept.map_or_else(|| own_blocks(text, calls), |kept| kept_blocks(kept, calls)))
            }
            Message::Results(results) => ("user", results.iter().map(result_block).collect()),
        };
        match said.last_mut() {
            Some((last, earlier)) if *last == role => earlier.extend(blocks),
            Some(_) | None if blocks.is_empty() => {}
            Some(_) | None => said.push((role, blocks)),
        }
    }
    let theirs = said.iter_mut().rev().filter(|(role, _)| *role == "user");
    theirs.take(2).filter_map(|(_, blocks)| blocks.last_mut()).for_each(mark);
    said.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

/// An empty text is refused.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }))
}

fn call_block(call: &WantedCall) -> Value {
    json!({ "type": "tool_use", "id": plain_id(&call.id), "name": call.tool, "input": call.arguments })
}

fn result_block(result: &CallResult) -> Value {
    let mut block =
        json!({ "type": "tool_result", "tool_use_id": plain_id(&result.id), "content": result.text });
    if result.is_error {
        block["is_error"] = true.into();
    }
    block
}

/// The id may come from another provider, before a session fell back to this one, which takes only these letters.
fn plain_id(id: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || "_-".contains(letter) { letter } else { '_' }
    };
    id.chars().map(plain).collect()
}

fn own_blocks(text: &str, calls: &[WantedCall]) -> Vec<Value> {
    text_block(text).into_iter().chain(calls.iter().map(call_block)).collect()
}

/// The blocks as they came, in their order, with those calls only that were kept.
fn kept_blocks(kept: &[Value], calls: &[WantedCall]) -> Vec<Value> {
    let kept = kept.iter().filter_map(|block| match text(block, "type") {
        "tool_use" => calls.iter().find(|call| call.id == text(block, "id")).map(call_block),
        "text" => text_block(text(block, "text")),
        _ => Some(block.clone()),
    });
    kept.collect()
}

/// Reads a message. The blocks are kept as they come, since some are wanted back with their signatures.
#[derive(Debug)]
pub(super) struct Reader {
    asked: String,
    draft: Draft,
    blocks: Vec<(u64, Value)>,
}

impl Reader {
    pub(super) fn new(asked: &str) -> Self {
        Self { asked: asked.to_owned(), draft: Draft::default(), blocks: Vec::new() }
    }

    fn begin(&mut self, message: &Value) {
        self.draft.model = message["model"].as_str().map(str::to_owned);
        self.count(&message["usage"]);
    }

    /// Later figures take the place of earlier ones, where they are given.
    fn count(&mut self, usage: &Value) {
        let ModelUsage { input, cache_read, cache_write, output } = self.draft.usage;
        let fresh = input.saturating_sub(cache_read).saturating_sub(cache_write);
        let figure = |name: &str, before: u64| usage[name].as_u64().unwrap_or(before);
        let cache_read = figure("cache_read_input_tokens", cache_read);
        let cache_write = figure("cache_creation_input_tokens", cache_write);
        let input = figure("input_tokens", fresh).saturating_add(cache_read).saturating_add(cache_write);
        self.draft.usage =
            ModelUsage { input, cache_read, cache_write, output: figure("output_tokens", output) };
    }

    fn begin_block(
        &mut self,
        index: u64,
        block: &Value,
        tell: &mut dyn FnMut(Piece<'_>),
    ) -> Result<(), Failure> {
        if !block.is_object() {
            return Err(Failure::garbage("a block came that is none"));
        }
        match text(block, "type") {
            "text" => self.say(text(block, "text"), tell),
            "tool_use" => {
                let input = block["input"].as_object().filter(|input| !input.is_empty());
                self.draft.calls.push(DraftCall {
                    index,
                    id: text(block, "id").to_owned(),
                    tool: text(block, "name").to_owned(),
                    written: input.map(super::shared::written).unwrap_or_default(),
                });
                tell(Piece::CallBegun { tool: text(block, "name") });
            }
            // Kinds that we do not know are kept all the same, and shown to the provider again.
            _ => {}
        }
        let mut kept = block.clone();
        if let Some(fields) = kept.as_object_mut().filter(|_| text(block, "type") == "tool_use") {
            // The call has it.
            fields.remove("input");
        }
        self.blocks.push((index, kept));
        Ok(())
    }

    fn say(&mut self, words: &str, tell: &mut dyn FnMut(Piece<'_>)) {
        if !words.is_empty() {
            self.draft.text.push_str(words);
            tell(Piece::Said(words));
        }
    }

    fn go_on(&mut self, event: &Value, tell: &mut dyn FnMut(Piece<'_>)) -> Result<(), Failure> {
        let index = event["index"].as_u64().unwrap_or_default();
        let delta = &event["delta"];
        let grows = match text(delta, "type") {
            "text_delta" => {
                self.say(text(delta, "text"), tell);
                "text"
            }
            "thinking_delta" => {
                tell(Piece::Thought(text(delta, "thinking")));
                "thinking"
            }
            "signature_delta" => "signature",
            "input_json_delta" => {
                let piece = text(delta, "partial_json");
                let unexpected = || Failure::garbage("a piece of a call came that was not begun");
                self.draft.call(index).ok_or_else(unexpected)?.written.push_str(piece);
                tell(Piece::Arguments(piece));
                return Ok(());
            }
            _ => return Ok(()),
        };
        let block = self.blocks.iter_mut().find(|(at, _)| *at == index);
        let (_, block) =
            block.ok_or_else(|| Failure::garbage("a piece of a block came that was not begun"))?;
        match &mut block[grows] {
            Value::String(grown) => grown.push_str(text(delta, grows)),
            missing => *missing = delta[grows].clone(),
        }
        Ok(())
    }

    fn end(&mut self, delta: &Value) {
        if let Some(reason) = delta["stop_reason"].as_str() {
            self.draft.end = Some(match reason {
                "tool_use" => End::CallsWanted,
                "max_tokens" | "model_context_window_exceeded" => End::MaxOutput,
                "refusal" => End::Refused,
                _ => End::Done,
            });
        }
    }
}

impl super::Reader for Reader {
    fn event(&mut self, event: &Value, tell: &mut dyn FnMut(Piece<'_>)) -> Result<Flow, Failure> {
        match text(event, "type") {
            "message_start" => self.begin(&event["message"]),
            "content_block_start" => {
                let index = event["index"].as_u64().unwrap_or_default();
                self.begin_block(index, &event["content_block"], tell)?;
            }
            "content_block_delta" => self.go_on(event, tell)?,
            "message_delta" => {
                self.count(&event["usage"]);
                self.end(&event["delta"]);
            }
            "message_stop" => return Ok(Flow::IsOver),
            "error" => return Err(Failure::in_stream(event)),
            "content_block_stop" => {}
            // Pings, and whatever is added one day.
            _ => return Ok(Flow::IsAlive),
        }
        Ok(Flow::GoesOn)
    }

    fn whole(&mut self, answer: &Value, tell: &mut dyn FnMut(Piece<'_>)) -> Result<(), Failure> {
        let blocks = answer["content"].as_array();
        let blocks = blocks.ok_or_else(|| Failure::garbage("the answer is no message"))?;
        self.begin(answer);
        for (index, block) in (0_u64..).zip(blocks) {
            self.begin_block(index, block, tell)?;
        }
        self.end(answer);
        Ok(())
    }

    fn may_end(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> Reply {
        let is_signed = |block: &Value| text(block, "type").ends_with("thinking");
        let blocks: Vec<Value> = self.blocks.into_iter().map(|(_, block)| block).collect();
        // Without thoughts the answer can be written again from what it says.
        let echo = blocks.iter().any(is_signed).then(|| echo(WIRE, &self.asked, blocks));
        self.draft.finish(&self.asked, echo)
    }
}
