//! A model that says what a test wants, for real agents: the Messages protocol over HTTP, on loopback.
//!
//! It knows nothing of agents. A script looks at each request as it came and says the one thing to answer.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// What the model does in a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// Says something and ends.
    Say(String),
    /// Calls a tool, and will be asked again with what came of it.
    Call { tool: String, input: Value },
}

/// Looks at a request and decides.
pub type Script = Box<dyn Fn(&Value) -> Turn + Send + Sync>;

/// The server. Ends when it is dropped.
pub struct ScriptedModel {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    script: Script,
    seen: Mutex<Vec<Value>>,
    ended: AtomicBool,
}

impl std::fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedModel").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ScriptedModel {
    pub fn start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { script, seen: Mutex::new(Vec::new()), ended: AtomicBool::new(false) });
        let served = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if served.ended.load(Ordering::Relaxed) {
                    return;
                }
                let served = served.clone();
                // A client that goes away in the middle is no matter of ours.
                thread::spawn(move || served.talk(&stream));
            }
        });
        Ok(Self { address, shared })
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<Value> {
        self.shared.seen.lock().expect("no script panics while it is noted").clone()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees that it has ended.
        let _ = TcpStream::connect(self.address);
    }
}

/// A request, as much of it as matters.
struct Asked {
    path: String,
    body: Vec<u8>,
}

impl Shared {
    fn talk(&self, stream: &TcpStream) -> io::Result<()> {
        let mut input = BufReader::new(stream);
        while let Some(asked) = read(&mut input)? {
            self.answer(stream, &asked)?;
        }
        Ok(())
    }

    fn answer(&self, mut out: &TcpStream, asked: &Asked) -> io::Result<()> {
        let path = asked.path.split('?').next().unwrap_or_default();
        match path {
            "/v1/messages" => {
                let request: Value = serde_json::from_slice(&asked.body).map_err(io::Error::other)?;
                let number = {
                    let mut seen = self.seen.lock().expect("no script panics while it is noted");
                    seen.push(request.clone());
                    seen.len()
                };
                let turn = (self.script)(&request);
                if request["stream"] == true {
                    return stream_of(out, &events(&turn, number));
                }
                respond(&mut out, "200 OK", &message(&turn, number))
            }
            "/v1/messages/count_tokens" => respond(&mut out, "200 OK", &json!({ "input_tokens": 1 })),
            _ => {
                let error = json!({ "type": "not_found_error", "message": "this model only takes messages" });
                respond(&mut out, "404 Not Found", &json!({ "type": "error", "error": error }))
            }
        }
    }
}

fn read(input: &mut impl BufRead) -> io::Result<Option<Asked>> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        input.read_line(&mut line)?;
        let header = line.trim_end();
        if header.is_empty() {
            break;
        }
        let Some((name, value)) = header.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(Asked { path, body }))
}

fn respond(out: &mut impl Write, status: &str, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    let length = body.len();
    write!(
        out,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

fn stream_of(mut out: &TcpStream, events: &[Value]) -> io::Result<()> {
    write!(out, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
    for event in events {
        let name = event["type"].as_str().unwrap_or_default();
        let text = format!("event: {name}\ndata: {event}\n\n");
        write!(out, "{:x}\r\n{text}\r\n", text.len())?;
    }
    write!(out, "0\r\n\r\n")?;
    out.flush()
}

fn block(turn: &Turn, number: usize) -> Value {
    match turn {
        Turn::Say(text) => json!({ "type": "text", "text": text }),
        Turn::Call { tool, input } => {
            json!({ "type": "tool_use", "id": format!("toolu_{number}"), "name": tool, "input": input })
        }
    }
}

const fn stop_reason(turn: &Turn) -> &'static str {
    match turn {
        Turn::Say(_) => "end_turn",
        Turn::Call { .. } => "tool_use",
    }
}

fn message(turn: &Turn, number: usize) -> Value {
    json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "scripted",
        "content": [block(turn, number)], "stop_reason": stop_reason(turn), "stop_sequence": null,
        "usage": { "input_tokens": 1, "output_tokens": 1 },
    })
}

/// The same message in the pieces in which it is streamed.
fn events(turn: &Turn, number: usize) -> Vec<Value> {
    let mut begun = message(turn, number);
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    let mut first = block(turn, number);
    let delta = match turn {
        Turn::Say(text) => {
            first["text"] = json!("");
            json!({ "type": "text_delta", "text": text })
        }
        Turn::Call { input, .. } => {
            first["input"] = json!({});
            json!({ "type": "input_json_delta", "partial_json": input.to_string() })
        }
    };
    let end = json!({ "stop_reason": stop_reason(turn), "stop_sequence": null });
    vec![
        json!({ "type": "message_start", "message": begun }),
        json!({ "type": "content_block_start", "index": 0, "content_block": first }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": end, "usage": { "output_tokens": 1 } }),
        json!({ "type": "message_stop" }),
    ]
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn post(model: &ScriptedModel, path: &str, body: &Value) -> String {
        let mut stream = TcpStream::connect(model.address).unwrap();
        let body = body.to_string();
        write!(stream, "POST {path} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn the_script_decides_what_is_said_whole_or_in_pieces() {
        let call = || Turn::Call { tool: "look".to_owned(), input: json!({ "at": 7 }) };
        let model = ScriptedModel::start(Box::new(move |request| match request["ask"].as_str() {
            Some(word) => Turn::Say(word.to_owned()),
            None => call(),
        }));
        let model = model.unwrap();
        let whole = post(&model, "/v1/messages?beta=true", &json!({ "ask": "hello" }));
        assert!(
            whole.contains(r#""content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn""#),
            "{whole}"
        );
        let pieces = post(&model, "/v1/messages", &json!({ "stream": true }));
        assert!(pieces.contains(r#""partial_json":"{\"at\":7}""#), "{pieces}");
        assert!(pieces.contains("event: message_stop"), "{pieces}");
        assert!(post(&model, "/v1/models", &json!({})).starts_with("HTTP/1.1 404"));
        assert_eq!(model.seen().len(), 2);
    }
}
