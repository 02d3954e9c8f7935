//! What the server says to clients that write exactly what they are told.

use std::io::{Read as _, Write as _};

use super::*;

const MESSAGES: &str = "/v1/messages?beta=true";
const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

fn post(server: &ModelServer, path: &str, body: &Value) -> String {
    let key = "x-api-key: k\r\nanthropic-version: 2023-06-01\r\n";
    say(server, &format!("POST {path} HTTP/1.1\r\n{key}"), &body.to_string())
}

fn say(server: &ModelServer, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    // A connection that is broken off may end in an error.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn asking(path: &str, stream: bool) -> Value {
    let said = json!([{ "role": "user", "content": "look" }]);
    match path {
        RESPONSES => json!({ "model": "m", "stream": stream, "input": said }),
        _ => json!({ "model": "m", "stream": stream, "max_tokens": 1000, "messages": said }),
    }
}

#[test]
fn the_script_decides_what_is_said_whole_or_in_pieces() {
    let server = ModelServer::start(|asked| match asked.last_words().as_str() {
        "look" => Answer::say("I look.").and_call("look", &json!({ "at": 7 })),
        _ => Answer::say("hello"),
    })
    .unwrap();
    for (path, call, end) in [
        (MESSAGES, r#""input":{"at":7}"#, "event: message_stop"),
        (CHAT, r#""arguments":"{\"at\":7}""#, "data: [DONE]"),
        (RESPONSES, r#""arguments":"{\"at\":7}""#, "event: response.completed"),
    ] {
        let whole = post(&server, path, &asking(path, false));
        assert!(whole.starts_with("HTTP/1.1 200 OK") && whole.contains(call), "{whole}");
        assert!(whole.contains("I look."), "{whole}");
        let pieces = post(&server, path, &asking(path, true));
        assert!(pieces.contains(r#"{\"at\":7}"#) && pieces.contains(end), "{pieces}");
    }
    let tally = server.tally();
    // 7 letters and 8 of arguments: four tokens, six times.
    assert_eq!((tally.requests, tally.refused, tally.output_tokens), (6, 0, 24));
    let sent: u64 = server.asked().iter().map(|asked| tokens(asked.bytes.len())).sum();
    assert_eq!(tally.input_tokens, sent);
    assert!(say(&server, "GET /v1/models HTTP/1.1\r\n", "").contains("scripted"));
    assert!(post(&server, "/v1/messages/count_tokens", &json!({})).contains(r#""input_tokens":1"#));
    assert!(post(&server, "/v1/files", &json!({})).starts_with("HTTP/1.1 404"));
    assert_eq!(server.tally().requests, 6);
}

#[test]
fn no_more_is_said_than_the_request_allows() {
    let server = ModelServer::playing(vec![
        Answer::say("x".repeat(100)).and_call("look", &json!({})),
        Answer::say("x".repeat(100)).overlong(),
    ])
    .unwrap();
    let asking =
        json!({ "model": "m", "max_tokens": 10, "messages": [{ "role": "user", "content": "say" }] });
    let cut = post(&server, MESSAGES, &asking);
    assert!(cut.contains(r#""stop_reason":"max_tokens""#) && cut.contains(r#""output_tokens":10"#), "{cut}");
    assert!(post(&server, MESSAGES, &asking).contains(r#""output_tokens":25"#));
    assert!(post(&server, MESSAGES, &asking).contains("The script is over."));
}

#[test]
fn what_broke_off_is_counted_as_far_as_it_was_sent() {
    let server = ModelServer::playing(vec![Answer::say("x".repeat(96)).failing(Fault::CutAfter(2))]).unwrap();
    let cut = post(&server, CHAT, &asking(CHAT, true));
    assert!(!cut.contains("[DONE]"), "{cut}");
    assert_eq!(server.tally().output_tokens, 12);
}

#[test]
fn what_was_told_before_comes_from_the_cache() {
    let server = ModelServer::playing(Vec::new()).unwrap();
    let first = post(&server, CHAT, &asking(CHAT, false));
    assert!(first.contains(r#""cached_tokens":0"#), "{first}");
    assert!(!post(&server, CHAT, &asking(CHAT, false)).contains(r#""cached_tokens":0"#));
    // Messages keep only what is marked.
    let _ = post(&server, MESSAGES, &asking(MESSAGES, false));
    assert!(post(&server, MESSAGES, &asking(MESSAGES, false)).contains(r#""cache_read_input_tokens":0"#));
}

#[test]
fn what_the_real_ones_would_refuse_is_refused() {
    let server = ModelServer::playing(Vec::new()).unwrap();
    let user = json!({ "role": "user", "content": "look" });
    let used = json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "look", "input": {} }] });
    let result =
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "content": "" }] });
    let called = json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "t", "type": "function", "function": { "name": "look", "arguments": "{}" } }] });
    let answered = json!({ "role": "tool", "tool_call_id": "t", "content": "" });
    let call = json!({ "type": "function_call", "call_id": "t", "name": "look", "arguments": "{}" });
    let output = json!({ "type": "function_call_output", "call_id": "t", "output": "" });
    let messages = |said: Value| json!({ "model": "m", "max_tokens": 9, "messages": said });
    let input = |said: Value| json!({ "model": "m", "input": said });
    for (path, body, problem) in [
        (MESSAGES, messages(json!([user, used, result])), ""),
        (MESSAGES, messages(json!([user, used, { "role": "system", "content": "hm" }, result])), ""),
        (MESSAGES, messages(json!([user, used, user])), "without `tool_result`"),
        (MESSAGES, messages(json!([user, used])), "without `tool_result`"),
        (MESSAGES, messages(json!([user, result])), "unexpected `tool_use_id`"),
        (MESSAGES, messages(json!([used, result])), "first message"),
        (MESSAGES, messages(json!([])), "at least one message"),
        (MESSAGES, messages(json!([{ "role": "user", "content": " " }])), "non-whitespace"),
        (MESSAGES, json!({ "model": "m", "messages": [user] }), "max_tokens: Field required"),
        (MESSAGES, json!({ "max_tokens": 9, "messages": [user] }), "model: Field required"),
        (
            MESSAGES,
            json!({ "model": "m", "max_tokens": 9, "messages": [user], "tools": [{ "name": "look" }] }),
            "the schema of `look`",
        ),
        (CHAT, messages(json!([user, called, answered])), ""),
        (CHAT, messages(json!([user, called, user])), "must be followed by tool messages"),
        (CHAT, messages(json!([user, answered])), "must be a response"),
        (CHAT, messages(json!([{ "role": "assistant", "content": null }])), "expected a string"),
        (
            CHAT,
            json!({ "model": "m", "max_tokens": 1, "max_completion_tokens": 1, "messages": [user] }),
            "at the same time",
        ),
        (RESPONSES, input(json!([user, call, output])), ""),
        (RESPONSES, input(json!([user, call])), "No tool output found"),
        (RESPONSES, input(json!([user, output])), "No tool call found"),
        (RESPONSES, json!({ "model": "m", "input": "hi", "max_output_tokens": 3 }), ">= 16"),
        (RESPONSES, json!({ "model": "m" }), "input: Field required"),
    ] {
        let answer = post(&server, path, &body);
        let status = if problem.is_empty() { "HTTP/1.1 200" } else { "HTTP/1.1 400" };
        assert!(answer.starts_with(status) && answer.contains(problem), "{path} {body}: {answer}");
    }
    let keyless = say(&server, "POST /v1/responses HTTP/1.1\r\n", "{}");
    assert!(keyless.starts_with("HTTP/1.1 401"), "{keyless}");
}
