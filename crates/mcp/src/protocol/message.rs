//! From one line to one message, or to the error that answers it. Never panics, whatever the line is.

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, JsonRpcRequest, RequestId,
    ServerJsonRpcMessage,
};
use serde_json::Value;

use super::id;

/// The longest line that is read. A session takes notes and artifacts of a megabyte each, and few of them at a time.
pub const MOST_BYTES: usize = 8 << 20;

/// The most values that one message may hold. A tiny value takes some hundred bytes of memory while a message is read,
/// fifty times what it takes on the line.
pub const MOST_VALUES: usize = 150_000;

/// Requests that the SDK has a type for. What does not fit its type must not pass for an unknown method.
const KNOWN: [&str; 14] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "resources/subscribe",
    "resources/unsubscribe",
    "completion/complete",
    "logging/setLevel",
];

/// What a line is.
#[derive(Debug)]
pub enum Incoming {
    Message(Box<ClientJsonRpcMessage>),
    /// No message; this is what to say.
    Bad(Box<ServerJsonRpcMessage>),
    /// Only white space.
    Nothing,
}

/// Reads a line.
pub fn read(line: &[u8]) -> Incoming {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Incoming::Nothing;
    }
    if has_too_many_values(line) {
        let message = format!(
            "the message holds more than {MOST_VALUES} values and was not read; write them to a file and name its path"
        );
        return bad(ErrorCode::INVALID_REQUEST, message, id::within(line));
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            let message =
                format!("this cannot be read as JSON: {error}; send one JSON-RPC message in each line");
            // Whoever sent a request waits for an answer that names it.
            return bad(ErrorCode::PARSE_ERROR, message, id::within(line));
        }
    };
    match value {
        Value::Object(_) => object(value),
        Value::Array(_) => {
            let message = "batches are not part of this protocol; send one JSON-RPC message in each line";
            bad(ErrorCode::INVALID_REQUEST, message.to_owned(), None)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let message = "a JSON-RPC message is an object; send one in each line";
            bad(ErrorCode::INVALID_REQUEST, message.to_owned(), None)
        }
    }
}

/// What to say to a line that was not read to its end.
pub fn too_long() -> ServerJsonRpcMessage {
    let message = format!("the line is longer than {MOST_BYTES} bytes and was not read; send less at a time");
    ServerJsonRpcMessage::error(ErrorData::new(ErrorCode::INVALID_REQUEST, message, None), None)
}

/// Whether a message asks for what the newest revision does not have any more. Over HTTP the SDK knows from the headers
/// which revision is spoken, and its answer is that there is no such method, whatever the parameters are.
pub(super) fn asks_for_what_was_removed(line: &[u8]) -> bool {
    const REMOVED: [&str; 5] =
        ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
    #[derive(serde::Deserialize)]
    struct Named {
        method: String,
    }
    !has_too_many_values(line)
        && serde_json::from_slice::<Named>(line).is_ok_and(|named| REMOVED.contains(&named.method.as_str()))
}

/// What to say to a request without a body.
pub(super) fn empty() -> ServerJsonRpcMessage {
    let message = "there is no message; send one JSON-RPC message in each request";
    ServerJsonRpcMessage::error(ErrorData::new(ErrorCode::INVALID_REQUEST, message, None), None)
}

fn object(value: Value) -> Incoming {
    let method = value.get("method").and_then(Value::as_str).map(str::to_owned);
    let id = match value.get("id").map(id::read) {
        None => None,
        Some(Ok(id)) => Some(id),
        // It would pass for a notification, and whoever sent it would wait for ever.
        Some(Err(problem)) => return bad(ErrorCode::INVALID_REQUEST, problem, None),
    };
    let known = method.filter(|method| KNOWN.contains(&method.as_str()));
    if let Some(method) = &known
        && id.is_none()
    {
        let message = format!("`{method}` is a request and needs an `id`, a whole number or a text");
        return bad(ErrorCode::INVALID_REQUEST, message, None);
    }
    let is_version = value.get("jsonrpc").is_some_and(|version| version == "2.0");
    match (serde_json::from_value::<ClientJsonRpcMessage>(value), known) {
        (Ok(message), None) => Incoming::Message(Box::new(message)),
        (Ok(message), Some(method)) => match &message {
            JsonRpcMessage::Request(JsonRpcRequest { request: ClientRequest::CustomRequest(_), .. }) => {
                unfit(&method, id)
            }
            _ => Incoming::Message(Box::new(message)),
        },
        (Err(_), Some(method)) if is_version => unfit(&method, id),
        (Err(_), _) => {
            let message = "this is no JSON-RPC 2.0 message: it needs `\"jsonrpc\": \"2.0\"` and a `method`, or an \
                           `id` with a `result` or an `error`";
            bad(ErrorCode::INVALID_REQUEST, message.to_owned(), id)
        }
    }
}

fn unfit(method: &str, id: Option<RequestId>) -> Incoming {
    let message = format!("the parameters of `{method}` do not fit; compare them with the protocol");
    bad(ErrorCode::INVALID_PARAMS, message, id)
}

/// Counts what begins or follows a value, without making any.
fn has_too_many_values(line: &[u8]) -> bool {
    // Each has at least a letter of its own and one that ends it.
    if line.len() / 2 <= MOST_VALUES {
        return false;
    }
    let (mut values, mut in_text, mut is_escaped) = (0, false, false);
    for byte in line {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' | b':' if !in_text => values += 1,
            _ => {}
        }
    }
    values > MOST_VALUES
}

fn bad(code: ErrorCode, message: String, id: Option<RequestId>) -> Incoming {
    Incoming::Bad(Box::new(ServerJsonRpcMessage::error(ErrorData::new(code, message, None), id)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(line: &str) -> Value {
        match read(line.as_bytes()) {
            Incoming::Bad(answer) => {
                let answer = serde_json::to_value(&*answer).unwrap();
                json!([answer["error"]["code"], answer["id"]])
            }
            Incoming::Message(message) => json!(format!("{message:?}").split('(').next()),
            Incoming::Nothing => Value::Null,
        }
    }

    #[test]
    fn what_is_no_message_is_answered_with_an_error_that_names_its_id_if_it_has_one() {
        assert_eq!(said("{\"jsonrpc\": \"2.0\", \"id\": 1, \"meth"), json!([-32700, null]));
        assert_eq!(said("\u{0}\u{1}binary"), json!([-32700, null]));
        assert_eq!(said(&"[".repeat(100_000)), json!([-32700, null]));
        assert_eq!(said("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]"), json!([-32600, null]));
        assert_eq!(said("7"), json!([-32600, null]));
        assert_eq!(said("{\"id\": 5}"), json!([-32600, 5]));
        assert_eq!(said("{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"ping\"}"), json!([-32600, "a"]));
        assert_eq!(
            said("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"tools/list\"}"),
            json!([-32600, null])
        );
    }

    #[test]
    fn many_tiny_values_are_refused_and_one_long_text_is_not() {
        let call = |value: &str| {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\",\"params\":{{\"a\":{value}}}}}")
        };
        assert_eq!(said(&call(&format!("[{}0]", "0,".repeat(MOST_VALUES)))), json!([-32600, 1]));
        assert_eq!(said(&call(&format!("[{}0]", "0,".repeat(MOST_VALUES / 2)))), json!("Request"));
        assert_eq!(said(&call(&format!("\"{}\"", ",\\\"[{".repeat(MOST_VALUES)))), json!("Request"));
    }

    #[test]
    fn parameters_of_the_wrong_type_are_not_taken_for_an_unknown_method() {
        let call = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":7}}";
        assert_eq!(said(call), json!([-32602, 9]));
        for method in ["tools/call", "tools/list", "ping", "initialize"] {
            let list = format!("{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"{method}\",\"params\":[1]}}");
            assert_eq!(said(&list), json!([-32602, 9]), "{list}");
        }
    }

    #[test]
    fn a_request_that_cannot_be_read_is_answered_by_its_id() {
        let request = |rest: &str| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{{\"id\":3,\"x\":{rest}}}}}"
            )
        };
        assert_eq!(said(&request("\"\\ud83d\"")), json!([-32700, "a"]));
        assert_eq!(said(&request(&format!("{}{}", "[".repeat(200), "]".repeat(200)))), json!([-32700, "a"]));
        assert_eq!(said(&request(&format!("[{}0]", "0,".repeat(MOST_VALUES)))), json!([-32600, "a"]));
    }

    #[test]
    fn what_is_wrong_with_an_id_is_said() {
        for (id, problem) in [
            ("9223372036854775808", "too large"),
            ("1.5", "not a whole number"),
            ("true", "a truth value"),
            ("null", "null"),
            ("[]", "a list"),
        ] {
            for method in ["ping", "no/such", "notifications/initialized"] {
                let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"}}");
                let Incoming::Bad(answer) = read(line.as_bytes()) else { panic!("{line}") };
                let answer = serde_json::to_value(&*answer).unwrap();
                assert_eq!(answer["error"]["code"], -32600, "{line}");
                assert!(answer["error"]["message"].as_str().unwrap().contains(problem), "{line}: {answer}");
            }
        }
    }

    #[test]
    fn messages_pass_and_empty_lines_are_nothing() {
        assert_eq!(said("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"), json!("Request"));
        assert_eq!(said("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}"), json!("Request"));
        assert_eq!(
            said("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"),
            json!("Notification")
        );
        assert_eq!(said(" \t\r"), Value::Null);
    }
}
