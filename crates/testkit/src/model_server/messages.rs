//! An answer as the Messages protocol has it.

use serde_json::{Value, json};

use super::sent::{Ended, Sent, SentCall, Whole, parts};

/// What is wanted back unchanged with a thought.
pub(super) const SIGNATURE: &str = "c2lnbmVkIGJ5IG5vYm9keQ==";

pub(super) fn whole(whole: &Whole) -> Value {
    let mut message = frame(whole);
    let mut content = Vec::new();
    if let Some(thought) = &whole.thought {
        content.push(json!({ "type": "thinking", "thinking": thought, "signature": SIGNATURE }));
    }
    if !whole.text.is_empty() {
        content.push(json!({ "type": "text", "text": whole.text }));
    }
    for call in &whole.calls {
        let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        content.push(json!({ "type": "tool_use", "id": call_id(call), "name": call.tool, "input": input }));
    }
    message["content"] = content.into();
    message["stop_reason"] = stop_reason(whole.ended).into();
    message["usage"]["output_tokens"] = whole.output_tokens().into();
    message
}

fn frame(whole: &Whole) -> Value {
    let input = whole.input;
    let fresh = input.total - input.cache_read - input.cache_write;
    json!({
        "id": format!("msg_{}", whole.number), "type": "message", "role": "assistant", "model": whole.model,
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": fresh, "cache_creation_input_tokens": input.cache_write,
            "cache_read_input_tokens": input.cache_read, "output_tokens": 1,
        },
    })
}

fn call_id(call: &SentCall) -> String {
    format!("toolu_{}", call.id)
}

const fn stop_reason(ended: Ended) -> &'static str {
    match ended {
        Ended::Said => "end_turn",
        Ended::Called => "tool_use",
        Ended::Length => "max_tokens",
        Ended::Refused => "refusal",
    }
}

/// The same message in the pieces in which it is streamed.
pub(super) fn pieces(whole: &Whole) -> Vec<Sent> {
    let mut pieces = vec![
        Sent::frame(json!({ "type": "message_start", "message": frame(whole) })),
        Sent::frame(json!({ "type": "ping" })),
    ];
    let mut index = 0;
    let mut block = |begun: Value, deltas: Vec<Sent>| {
        let begun = json!({ "type": "content_block_start", "index": index, "content_block": begun });
        pieces.push(Sent::frame(begun));
        pieces.extend(deltas.into_iter().map(|Sent { event, bytes }| {
            let event = json!({ "type": "content_block_delta", "index": index, "delta": event });
            Sent { event, bytes }
        }));
        pieces.push(Sent::frame(json!({ "type": "content_block_stop", "index": index })));
        index += 1;
    };
    if let Some(thought) = &whole.thought {
        let delta = |part| Sent::part(json!({ "type": "thinking_delta", "thinking": part }), part);
        let mut deltas: Vec<Sent> = parts(thought).into_iter().map(delta).collect();
        deltas.push(Sent::frame(json!({ "type": "signature_delta", "signature": SIGNATURE })));
        block(json!({ "type": "thinking", "thinking": "", "signature": "" }), deltas);
    }
    if !whole.text.is_empty() {
        let delta = |part| Sent::part(json!({ "type": "text_delta", "text": part }), part);
        block(json!({ "type": "text", "text": "" }), parts(&whole.text).into_iter().map(delta).collect());
    }
    for call in &whole.calls {
        let delta = |part| Sent::part(json!({ "type": "input_json_delta", "partial_json": part }), part);
        let begun = json!({ "type": "tool_use", "id": call_id(call), "name": call.tool, "input": {} });
        block(begun, parts(&call.arguments).into_iter().map(delta).collect());
    }
    let end = json!({ "stop_reason": stop_reason(whole.ended), "stop_sequence": null });
    let usage = json!({ "output_tokens": whole.output_tokens() });
    pieces.push(Sent::frame(json!({ "type": "message_delta", "delta": end, "usage": usage })));
    pieces.push(Sent::frame(json!({ "type": "message_stop" })));
    pieces
}
