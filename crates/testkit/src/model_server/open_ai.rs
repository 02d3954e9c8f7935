//! An answer as chat completions and responses have it.

use serde_json::{Value, json};

use super::sent::{Ended, Sent, SentCall, Whole, parts};

/// What is wanted back unchanged with a thought.
pub(super) const ENCRYPTED: &str = "bm9ib2R5IGNhbiByZWFkIHRoaXM=";

const CREATED: u64 = 1_700_000_000;

fn chat_frame(whole: &Whole, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-{}", whole.number), "object": object, "created": CREATED, "model": whole.model,
        "choices": [],
    })
}

fn chat_usage(whole: &Whole) -> Value {
    let (input, output) = (whole.input, whole.output_tokens());
    json!({
        "prompt_tokens": input.total, "completion_tokens": output, "total_tokens": input.total + output,
        "prompt_tokens_details": { "cached_tokens": input.cache_read },
    })
}

fn function(call: &SentCall, arguments: &str) -> Value {
    json!({ "name": call.tool, "arguments": arguments })
}

const fn finish_reason(ended: Ended) -> &'static str {
    match ended {
        Ended::Said => "stop",
        Ended::Called => "tool_calls",
        Ended::Length => "length",
        Ended::Refused => "content_filter",
    }
}

pub(super) fn chat_whole(whole: &Whole) -> Value {
    let mut message = json!({ "role": "assistant", "content": whole.text });
    if let Some(thought) = &whole.thought {
        message["reasoning_content"] = thought.as_str().into();
    }
    if !whole.calls.is_empty() {
        let call = |call: &SentCall| json!({ "id": call.id, "type": "function", "function": function(call, &call.arguments) });
        message["tool_calls"] = whole.calls.iter().map(call).collect();
    }
    let mut completion = chat_frame(whole, "chat.completion");
    completion["choices"] =
        json!([{ "index": 0, "message": message, "finish_reason": finish_reason(whole.ended) }]);
    completion["usage"] = chat_usage(whole);
    completion
}

pub(super) fn chat_pieces(whole: &Whole) -> Vec<Sent> {
    let chunk = |delta: Value, reason: Option<&str>| {
        let mut chunk = chat_frame(whole, "chat.completion.chunk");
        chunk["choices"] = json!([{ "index": 0, "delta": delta, "finish_reason": reason }]);
        chunk
    };
    let mut pieces = vec![Sent::frame(chunk(json!({ "role": "assistant", "content": "" }), None))];
    for part in parts(whole.thought.as_deref().unwrap_or_default()) {
        pieces.push(Sent::part(chunk(json!({ "reasoning_content": part }), None), part));
    }
    for part in parts(&whole.text) {
        pieces.push(Sent::part(chunk(json!({ "content": part }), None), part));
    }
    for (index, call) in whole.calls.iter().enumerate() {
        let begun =
            json!({ "index": index, "id": call.id, "type": "function", "function": function(call, "") });
        pieces.push(Sent::frame(chunk(json!({ "tool_calls": [begun] }), None)));
        for part in parts(&call.arguments) {
            let more = json!({ "index": index, "function": { "arguments": part } });
            pieces.push(Sent::part(chunk(json!({ "tool_calls": [more] }), None), part));
        }
    }
    pieces.push(Sent::frame(chunk(json!({}), Some(finish_reason(whole.ended)))));
    let mut usage = chat_frame(whole, "chat.completion.chunk");
    usage["usage"] = chat_usage(whole);
    pieces.push(Sent::frame(usage));
    pieces.push(Sent::frame("[DONE]".into()));
    pieces
}

/// The items of a response, in their order.
fn items(whole: &Whole) -> Vec<Value> {
    let number = whole.number;
    let mut items = Vec::new();
    if whole.thought.is_some() {
        items.push(json!({
            "type": "reasoning", "id": format!("rs_{number}"), "summary": [], "encrypted_content": ENCRYPTED,
        }));
    }
    if !whole.text.is_empty() {
        let part = if whole.ended == Ended::Refused {
            json!({ "type": "refusal", "refusal": whole.text })
        } else {
            json!({ "type": "output_text", "text": whole.text, "annotations": [] })
        };
        items.push(json!({
            "type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed",
            "content": [part],
        }));
    }
    items.extend(whole.calls.iter().map(|call| {
        let (space, name) =
            call.tool.split_once("::").map_or((None, &*call.tool), |(space, name)| (Some(space), name));
        let mut item = json!({
            "type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id, "name": name,
            "arguments": call.arguments, "status": "completed",
        });
        if let Some(space) = space {
            item["namespace"] = space.into();
        }
        item
    }));
    items
}

fn response_frame(whole: &Whole) -> Value {
    json!({
        "id": format!("resp_{}", whole.number), "object": "response", "created_at": CREATED,
        "status": "in_progress", "model": whole.model, "output": [], "usage": null, "error": null,
        "incomplete_details": null,
    })
}

pub(super) fn response_whole(whole: &Whole) -> Value {
    let (input, output) = (whole.input, whole.output_tokens());
    let mut response = response_frame(whole);
    response["output"] = items(whole).into();
    response["usage"] = json!({
        "input_tokens": input.total, "output_tokens": output, "total_tokens": input.total + output,
        "input_tokens_details": { "cached_tokens": input.cache_read },
        "output_tokens_details": { "reasoning_tokens": 0 },
    });
    match whole.ended {
        Ended::Said | Ended::Called | Ended::Refused => response["status"] = "completed".into(),
        Ended::Length => {
            response["status"] = "incomplete".into();
            response["incomplete_details"] = json!({ "reason": "max_output_tokens" });
        }
    }
    response
}

pub(super) fn response_pieces(whole: &Whole) -> Vec<Sent> {
    let mut pieces = vec![
        Sent::frame(json!({ "type": "response.created", "response": response_frame(whole) })),
        Sent::frame(json!({ "type": "response.in_progress", "response": response_frame(whole) })),
    ];
    for (index, item) in items(whole).into_iter().enumerate() {
        let mut begun = item.clone();
        let name = match item["type"].as_str().unwrap_or_default() {
            "message" => {
                begun["content"] = json!([]);
                if whole.ended == Ended::Refused { "refusal" } else { "output_text" }
            }
            "function_call" => {
                begun["arguments"] = "".into();
                "function_call_arguments"
            }
            _ => "reasoning_summary_text",
        };
        begun["status"] = "in_progress".into();
        let text = match name {
            "function_call_arguments" => item["arguments"].as_str(),
            "reasoning_summary_text" => whole.thought.as_deref(),
            _ => Some(whole.text.as_str()),
        };
        pieces.push(Sent::frame(
            json!({ "type": "response.output_item.added", "output_index": index, "item": begun }),
        ));
        for part in parts(text.unwrap_or_default()) {
            let event = json!({
                "type": format!("response.{name}.delta"), "item_id": item["id"], "output_index": index,
                "content_index": 0, "delta": part,
            });
            pieces.push(Sent::part(event, part));
        }
        pieces.push(Sent::frame(
            json!({ "type": "response.output_item.done", "output_index": index, "item": item }),
        ));
    }
    let kind = if whole.ended == Ended::Length { "response.incomplete" } else { "response.completed" };
    pieces.push(Sent::frame(json!({ "type": kind, "response": response_whole(whole) })));
    for (number, piece) in pieces.iter_mut().enumerate() {
        piece.event["sequence_number"] = number.into();
    }
    pieces
}
