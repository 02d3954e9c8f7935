//! The Responses protocol of OpenAI. Nothing is stored there: all that was said is sent each time, and thoughts come and
//! go encrypted.

use longhaul_events::ModelUsage;
use serde_json::{Value, json};

use super::shared::{cache_key, joined, reasons, result_text, takes_cache_key, text, written};
use super::{Flow, Wire};
use crate::ask::Piece;
use crate::draft::{Draft, DraftCall, End, Reply, echo, echoed};
use crate::failure::Failure;
use crate::request::{Door, Message, Request, ToolSpec, WantedCall};

const WIRE: Wire = Wire::OpenAiResponses;
/// Less is refused.
const LEAST_OUTPUT: u64 = 16;

pub(super) fn body(door: &Door, request: &Request<'_>) -> Value {
    let mut body = json!({ "model": request.model });
    let system = joined(request.system);
    if !system.is_empty() {
        body["instructions"] = system.into();
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    let mut input = Vec::new();
    request.messages.iter().for_each(|message| add(&mut input, request.model, message));
    body["input"] = input.into();
    body["max_output_tokens"] = request.max_output.max(LEAST_OUTPUT).into();
    body["stream"] = true.into();
    body["store"] = false.into();
    if reasons(request.model) {
        // Models that do not think refuse to be asked for it.
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    if takes_cache_key(door) {
        body["prompt_cache_key"] = cache_key(request).into();
    }
    body
}

/// Not strict: that takes a part of JSON Schema only, and our tools check what they get.
fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.input,
        "strict": false,
    })
}

fn add(input: &mut Vec<Value>, model: &str, message: &Message) {
    match message {
        Message::User(text) => {
            let content = json!([{ "type": "input_text", "text": text }]);
            input.push(json!({ "type": "message", "role": "user", "content": content }));
        }
        Message::Assistant { text, calls, echo } => match echoed(echo.as_ref(), WIRE, model) {
            Some(kept) => input.extend(kept.iter().filter_map(|item| kept_item(item, calls))),
            None => input.extend(said(text).into_iter().chain(calls.iter().map(call))),
        },
        Message::Results(results) => input.extend(results.iter().map(|result| {
            let output = result_text(&result.text, result.is_error);
            json!({ "type": "function_call_output", "call_id": result.id, "output": output })
        })),
    }
}

fn said(text: &str) -> Option<Value> {
    let content = json!([{ "type": "output_text", "text": text }]);
    (!text.is_empty()).then(|| json!({ "type": "message", "role": "assistant", "content": content }))
}

fn call(call: &WantedCall) -> Value {
    let arguments = written(&call.arguments);
    json!({ "type": "function_call", "call_id": call.id, "name": call.tool, "arguments": arguments })
}

/// An item as it came, in its place; of calls those only that were kept.
fn kept_item(item: &Value, calls: &[WantedCall]) -> Option<Value> {
    match text(item, "type") {
        "function_call" => calls.iter().find(|call| call.id == text(item, "call_id")).map(call),
        "message" => said(&words_of(item)),
        _ => Some(item.clone()),
    }
}

fn words_of(item: &Value) -> String {
    let parts = item["content"].as_array().into_iter().flatten();
    parts.map(|part| [text(part, "text"), text(part, "refusal")].concat()).collect()
}

/// Reads a response. An item that is done says all that its pieces said, and takes their place.
#[derive(Debug)]
pub(super) struct Reader {
    asked: String,
    draft: Draft,
    /// What was said so far of items that are not done.
    pending: String,
    items: Vec<Value>,
    is_over: bool,
}

impl Reader {
    pub(super) fn new(asked: &str) -> Self {
        let (asked, draft) = (asked.to_owned(), Draft::default());
        Self { asked, draft, pending: String::new(), items: Vec::new(), is_over: false }
    }

    fn begin_item(&mut self, index: u64, item: &Value, tell: &mut dyn FnMut(Piece<'_>)) {
        if text(item, "type") == "function_call" {
            let (id, tool) = (text(item, "call_id").to_owned(), text(item, "name").to_owned());
            tell(Piece::CallBegun { tool: &tool });
            let written = text(item, "arguments").to_owned();
            self.draft.calls.push(DraftCall { index, id, tool, written });
        }
    }

    fn end_item(&mut self, index: u64, item: &Value, tell: &mut dyn FnMut(Piece<'_>)) {
        match text(item, "type") {
            "function_call" => {
                if self.draft.call(index).is_none() {
                    self.begin_item(index, item, tell);
                }
                if let Some(call) = self.draft.call(index) {
                    text(item, "arguments").clone_into(&mut call.written);
                    text(item, "call_id").clone_into(&mut call.id);
                }
            }
            "message" => {
                self.draft.text.push_str(&words_of(item));
                self.pending.clear();
                let mut parts = item["content"].as_array().into_iter().flatten();
                if parts.any(|part| text(part, "type") == "refusal") {
                    self.draft.end = Some(End::Refused);
                }
            }
            _ => {}
        }
        self.items.push(item.clone());
    }

    fn end(&mut self, response: &Value, tell: &mut dyn FnMut(Piece<'_>)) {
        self.is_over = true;
        self.draft.model = response["model"].as_str().map(str::to_owned);
        let figure = |pointer| response["usage"].pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
        self.draft.usage = ModelUsage {
            input: figure("/input_tokens"),
            cache_read: figure("/input_tokens_details/cached_tokens"),
            cache_write: 0,
            output: figure("/output_tokens"),
        };
        if self.items.is_empty() {
            for (index, item) in (0_u64..).zip(response["output"].as_array().into_iter().flatten()) {
                self.end_item(index, item, tell);
            }
        }
        let reason = response["incomplete_details"]["reason"].as_str();
        let end = match (text(response, "status"), reason) {
            ("incomplete", Some("content_filter")) => End::Refused,
            ("incomplete", _) => End::MaxOutput,
            _ => End::Done,
        };
        if self.draft.end != Some(End::Refused) {
            self.draft.end = Some(end);
        }
    }
}

impl super::Reader for Reader {
    fn event(&mut self, event: &Value, tell: &mut dyn FnMut(Piece<'_>)) -> Result<Flow, Failure> {
        let index = event["output_index"].as_u64().unwrap_or_default();
        match text(event, "type") {
            "response.output_item.added" => self.begin_item(index, &event["item"], tell),
            "response.output_item.done" => self.end_item(index, &event["item"], tell),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.pending.push_str(text(event, "delta"));
                tell(Piece::Said(text(event, "delta")));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                tell(Piece::Thought(text(event, "delta")));
            }
            "response.function_call_arguments.delta" => {
                let unexpected = || Failure::garbage("a piece of a call came that was not begun");
                let call = self.draft.call(index).ok_or_else(unexpected)?;
                call.written.push_str(text(event, "delta"));
                tell(Piece::Arguments(text(event, "delta")));
            }
            "response.completed" | "response.incomplete" => {
                self.end(&event["response"], tell);
                return Ok(Flow::IsOver);
            }
            "response.failed" => return Err(Failure::in_stream(&event["response"])),
            "error" => return Err(Failure::in_stream(event)),
            _ if event["error"].is_object() => return Err(Failure::in_stream(event)),
            "keepalive" | "" => return Ok(Flow::IsAlive),
            // There are many more, about parts of what comes in these too.
            _ => {}
        }
        Ok(Flow::GoesOn)
    }

    fn whole(&mut self, answer: &Value, tell: &mut dyn FnMut(Piece<'_>)) -> Result<(), Failure> {
        if !answer["output"].is_array() {
            return Err(Failure::garbage("the answer is no response"));
        }
        self.end(answer, tell);
        Ok(())
    }

    fn may_end(&self) -> bool {
        self.is_over
    }

    fn finish(mut self: Box<Self>) -> Reply {
        self.draft.text.push_str(&self.pending);
        // A thought that is not in it cannot be given back: nothing of it is stored there.
        let is_kept =
            |item: &Value| text(item, "type") != "reasoning" || item["encrypted_content"].as_str().is_some();
        let has_thoughts = |item: &Value| text(item, "type") == "reasoning" && is_kept(item);
        let echo = self.items.iter().any(has_thoughts).then(|| {
            let kept = self.items.iter().filter(|item| is_kept(item)).map(lean).collect();
            echo(WIRE, &self.asked, kept)
        });
        self.draft.finish(&self.asked, echo)
    }
}

/// Without what is kept elsewhere or must not be sent.
fn lean(item: &Value) -> Value {
    let mut item = item.clone();
    if let Some(fields) = item.as_object_mut() {
        fields.remove("status");
        if fields.get("type").is_some_and(|kind| kind == "function_call") {
            fields.remove("arguments");
        }
    }
    item
}
