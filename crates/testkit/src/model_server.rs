//! Models that say what a test wants, on loopback, in the protocols of the real ones: Messages, chat completions and
//! responses, whole or in pieces.
//!
//! A script looks at each request as it came and says what to answer, or what goes wrong. The server counts for itself
//! what it got and what it sent, and refuses what the real ones would refuse. It knows nothing of agents.

mod answer;
mod asked;
mod fault;
pub(crate) mod http;
mod messages;
mod open_ai;
mod protocol;
mod sent;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use serde_json::{Value, json};

pub use answer::{Answer, Fault, Stop};
pub use asked::{Asked, Protocol, ToolResult};

/// Of what is sent and received, so many bytes are a token here.
pub const BYTES_PER_TOKEN: u64 = 4;

/// Looks at a request and decides.
pub type Script = Box<dyn Fn(&Asked) -> Answer + Send + Sync>;

/// The server. Ends when it is dropped.
pub struct ModelServer {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

/// The server's own count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often a model was asked, whatever came of it.
    pub requests: u64,
    /// How many of these were not answered by a model: limits, keys, breaches of the protocol.
    pub refused: u64,
    /// All input of what was answered, what came from a cache among it.
    pub input_tokens: u64,
    /// What was sent of answers, of those that broke off too.
    pub output_tokens: u64,
}

struct Shared {
    script: Script,
    book: Mutex<Book>,
    ended: AtomicBool,
}

#[derive(Debug, Default)]
struct Book {
    asked: Vec<Asked>,
    tally: Tally,
    /// What was said in earlier requests, which a cache would know.
    known: Vec<String>,
}

impl std::fmt::Debug for ModelServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ModelServer {
    /// Answers as the script says.
    pub fn start(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script: Box::new(script),
            book: Mutex::default(),
            ended: AtomicBool::new(false),
        });
        let served = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if served.has_ended() {
                    return;
                }
                let served = served.clone();
                // A client that goes away in the middle is no matter of ours.
                thread::spawn(move || served.talk(&stream));
            }
        });
        Ok(Self { address, shared })
    }

    /// Gives these answers one after another, and then says that there are no more.
    pub fn playing(answers: Vec<Answer>) -> io::Result<Self> {
        Self::start(move |asked| match answers.get(asked.number - 1) {
            Some(answer) => answer.clone(),
            None => Answer::say("The script is over."),
        })
    }

    /// The base address, as clients of Messages want it.
    pub fn anthropic_base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base address, as clients of chat completions and responses want it.
    pub fn open_ai_base(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests to a model so far, refused ones too.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.book().asked.clone()
    }

    pub fn tally(&self) -> Tally {
        self.shared.book().tally
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees that it has ended.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("nobody panics while something is noted")
    }

    fn talk(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut input = io::BufReader::new(stream);
        while let Some(request) = http::read(&mut input)? {
            self.answer(stream, &request)?;
        }
        Ok(())
    }

    fn answer(&self, out: &TcpStream, request: &http::Request) -> io::Result<()> {
        let path = request.path.split('?').next().unwrap_or_default();
        let path = path.strip_prefix("/v1").unwrap_or(path);
        match (request.method.as_str(), path) {
            ("POST", "/messages") => self.ask(out, request, Protocol::Messages),
            ("POST", "/chat/completions") => self.ask(out, request, Protocol::Chat),
            ("POST", "/responses") => self.ask(out, request, Protocol::Responses),
            ("POST", "/messages/count_tokens") => {
                http::respond(out, "200 OK", &[], &json!({ "input_tokens": tokens(request.body.len()) }))
            }
            ("GET", "/models") => http::respond(out, "200 OK", &[], &models()),
            ("HEAD", _) => http::bare(out),
            _ => {
                let error = json!({ "type": "not_found_error", "message": "there is no such thing here" });
                http::respond(out, "404 Not Found", &[], &json!({ "type": "error", "error": error }))
            }
        }
    }

    fn ask(&self, out: &TcpStream, request: &http::Request, protocol: Protocol) -> io::Result<()> {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let asked = {
            let mut book = self.book();
            let number = book.asked.len() + 1;
            let asked = Asked {
                number,
                protocol,
                path: request.path.clone(),
                headers: request.headers.clone(),
                bytes: request.body.clone(),
                body,
            };
            book.asked.push(asked.clone());
            book.tally.requests += 1;
            asked
        };
        if let Err(breach) = protocol::check(&asked) {
            self.book().tally.refused += 1;
            return fault::refuse(out, protocol, &breach);
        }
        let answer = (self.script)(&asked);
        if let Some(fault) = &answer.fault
            && fault.comes_before_the_answer()
        {
            self.book().tally.refused += 1;
            return fault::give(out, protocol, fault, &|| self.has_ended());
        }
        let input = {
            let mut book = self.book();
            let input = sent::Input::of(&asked, &book.known);
            book.known.push(asked.told_in_order());
            book.tally.input_tokens += input.total;
            input
        };
        let whole = sent::Whole::of(&asked, &answer, input);
        if asked.body["stream"] != true || answer.is_whole {
            let body = match protocol {
                Protocol::Messages => messages::whole(&whole),
                Protocol::Chat => open_ai::chat_whole(&whole),
                Protocol::Responses => open_ai::response_whole(&whole),
            };
            self.book().tally.output_tokens += whole.output_tokens();
            return http::respond(out, "200 OK", &[], &body);
        }
        let pieces = match protocol {
            Protocol::Messages => messages::pieces(&whole),
            Protocol::Chat => open_ai::chat_pieces(&whole),
            Protocol::Responses => open_ai::response_pieces(&whole),
        };
        // Before a piece goes out, so that whoever has the answer finds it counted.
        let count = |before: u64, piece: u64| {
            let more = (before + piece).div_ceil(BYTES_PER_TOKEN) - before.div_ceil(BYTES_PER_TOKEN);
            self.book().tally.output_tokens += more;
        };
        let line = sent::Line { out, protocol, count: &count, has_ended: &|| self.has_ended() };
        line.send(&answer, &pieces)
    }
}

fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(BYTES_PER_TOKEN)
}

/// In the form of both, since nobody minds what it does not know.
fn models() -> Value {
    let model = json!({
        "id": "scripted", "object": "model", "created": 1_700_000_000, "owned_by": "longhaul",
        "type": "model", "display_name": "Scripted", "created_at": "2026-01-01T00:00:00Z",
    });
    json!({ "object": "list", "data": [model], "has_more": false, "first_id": "scripted", "last_id": "scripted" })
}

#[cfg(test)]
mod tests;
