//! The model endpoint: the token for the key, what is counted, and what is cut.

use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex, mpsc};

use longhaul_gateway::{
    Estimate, Limited, Meter, Protocol, Refused, Upstream, Upstreams, Usage, UsageSource, Verdict,
};
use serde_json::Value;

use crate::support::{Made, Server, World, answer_with, ok, rest, status};

const REAL: &str = "sk-the-real-key";
const ASK: &str = r#"{"model":"m-1","max_tokens":64,"messages":[]}"#;

/// Keeps what it is told, and refuses beyond a number of tokens.
#[derive(Debug, Default)]
struct Book {
    admitted: Mutex<Vec<Estimate>>,
    counted: Mutex<Vec<Usage>>,
    settled: Mutex<Vec<Usage>>,
    limits: Mutex<Vec<Limited>>,
    most_input_bytes: Option<u64>,
    most_output: Option<u64>,
}

fn cap(words: &str) -> Refused {
    Refused { cap: "session.tokens".to_owned(), words: words.to_owned() }
}

impl Meter for Book {
    fn admit(&self, estimate: &Estimate) -> Result<(), Refused> {
        self.admitted.lock().unwrap().push(estimate.clone());
        match self.most_input_bytes {
            Some(most) if estimate.input_bytes > most => Err(cap("400 tokens are left")),
            Some(_) | None => Ok(()),
        }
    }

    fn count(&self, usage: &Usage) -> Verdict {
        self.counted.lock().unwrap().push(usage.clone());
        match self.most_output {
            Some(most) if usage.output_tokens > most => Verdict::Cut(cap("no more")),
            Some(_) | None => Verdict::GoOn,
        }
    }

    fn settle(&self, usage: &Usage) {
        self.settled.lock().unwrap().push(usage.clone());
    }

    fn limited(&self, limited: &Limited) {
        self.limits.lock().unwrap().push(limited.clone());
    }
}

fn upstreams(address: std::net::SocketAddr) -> Upstreams {
    let upstream = |base: String, protocol, name: &'static str, value: String| {
        let key = (name.parse().unwrap(), value.parse().unwrap());
        Upstream::new(&base, protocol, key).unwrap()
    };
    BTreeMap::from([
        (
            "anthropic".to_owned(),
            upstream(format!("http://{address}"), Protocol::Anthropic, "x-api-key", REAL.to_owned()),
        ),
        (
            "openai".to_owned(),
            upstream(
                format!("http://{address}/v1"),
                Protocol::OpenAi,
                "authorization",
                format!("Bearer {REAL}"),
            ),
        ),
    ])
}

fn world(server: &Server, book: &Arc<Book>) -> World {
    Made { upstreams: upstreams(server.address), meter: book.clone(), ..Made::default() }.open()
}

fn ask(world: &World, path: &str, token: &str) -> String {
    ask_this(world, path, token, ASK)
}

fn ask_this(world: &World, path: &str, token: &str, body: &str) -> String {
    let length = body.len();
    world.say(format!(
        "POST /model/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{token}Cookie: a=b\r\nAccept-Encoding: gzip\r\nanthropic-version: 2023-06-01\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    ))
}

/// What the one request came to, which is told once.
fn settled(book: &Book) -> Usage {
    let settled = book.settled.lock().unwrap().clone();
    assert_eq!(settled.len(), 1, "{settled:?}");
    settled[0].clone()
}

fn key(world: &World) -> String {
    format!("x-api-key: {}\r\n", world.token.reveal())
}

#[test]
fn the_provider_sees_the_real_key_and_the_session_never_does() {
    let body = r#"{"type":"message","usage":{"input_tokens":3,"output_tokens":5}}"#;
    let mut answer = ok("application/json", body);
    answer[0] = answer[0].replace("Content-Type", "Set-Cookie: account=1\r\nX-Own: kept\r\nContent-Type");
    let server = Server::answering(answer);
    let book = Arc::new(Book::default());
    let world = world(&server, &book);
    let bearer = format!("Authorization: Bearer {}\r\n", world.token.reveal());
    for (path, token) in
        [("anthropic/v1/messages?beta=true", key(&world)), ("openai/chat/completions", bearer)]
    {
        let answer = ask(&world, path, &token);
        assert_eq!(status(&answer), 200, "{answer}");
        assert!(answer.ends_with(body) && answer.contains("x-own: kept"), "{answer}");
        assert!(!answer.contains(REAL) && !answer.contains("account=1"), "{answer}");
    }
    let heard = server.heard();
    assert!(heard[0].starts_with("POST /v1/messages?beta=true HTTP/1.1\r\n"), "{}", heard[0]);
    assert!(heard[0].contains(&format!("x-api-key: {REAL}\r\n")), "{}", heard[0]);
    assert!(heard[1].starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", heard[1]);
    assert!(heard[1].contains(&format!("authorization: Bearer {REAL}\r\n")), "{}", heard[1]);
    for request in &heard {
        assert!(request.ends_with(ASK) && request.contains("accept-encoding: identity"), "{request}");
        assert!(request.contains("anthropic-version: 2023-06-01"), "{request}");
        assert!(!request.contains(world.token.reveal()) && !request.contains("cookie"), "{request}");
    }
    let admitted = book.admitted.lock().unwrap()[0].clone();
    let length = u64::try_from(ASK.len()).unwrap();
    assert_eq!(
        (admitted.model.as_deref(), admitted.max_output_tokens, admitted.input_bytes),
        (Some("m-1"), Some(64), length)
    );
    let counted = book.settled.lock().unwrap()[0].clone();
    assert_eq!((counted.input_tokens, counted.output_tokens, counted.source), (3, 5, UsageSource::Reported));
}

#[test]
fn without_the_token_of_this_session_nobody_is_asked() {
    let server = Server::answering(ok("application/json", "{}"));
    let book = Arc::new(Book::default());
    let (world, other) = (world(&server, &book), world(&server, &book));
    for token in
        [String::new(), key(&other), format!("x-api-key: {REAL}\r\n"), "Authorization: Bearer\r\n".to_owned()]
    {
        let answer = ask(&world, "anthropic/v1/messages", &token);
        assert_eq!(status(&answer), 401, "{answer}");
        assert!(answer.contains(r#""type":"authentication_error""#), "{answer}");
    }
    assert!(ask(&world, "openai/chat/completions", "").contains(r#""code":"invalid_api_key""#));
    assert!(server.heard().is_empty() && book.admitted.lock().unwrap().is_empty());
}

#[test]
fn only_models_can_be_asked_and_only_of_providers_that_are_there() {
    let server = Server::answering(ok("application/json", "{}"));
    let world = world(&server, &Arc::default());
    for path in [
        "anthropic/v1/files",
        "anthropic/v1/messages/batches",
        "anthropic/v1/%2e%2e/x",
        "anthropic/",
        "anthropic",
    ] {
        assert_eq!(status(&ask(&world, path, &key(&world))), 404, "{path}");
    }
    let unknown = ask(&world, "nobody/v1/messages", &key(&world));
    assert!(status(&unknown) == 404 && unknown.contains("`anthropic`, `openai`"), "{unknown}");
    assert!(server.heard().is_empty());
}

#[test]
fn what_is_over_the_cap_is_refused_for_good_in_the_providers_words_and_names_the_cap() {
    let server = Server::answering(ok("application/json", "{}"));
    let book = Arc::new(Book { most_input_bytes: Some(10), ..Book::default() });
    let world = world(&server, &book);
    let answer = ask(&world, "anthropic/v1/messages", &key(&world));
    assert_eq!(status(&answer), 403, "{answer}");
    let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(body["error"]["type"], "permission_error");
    assert_eq!(body["error"]["message"], "longhaul's cap `session.tokens` is reached: 400 tokens are left");
    let answer = ask(&world, "openai/responses", &key(&world));
    let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!((status(&answer), &body["error"]["type"]), (403, &"insufficient_quota".into()));
    assert!(server.heard().is_empty());
}

const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

#[test]
fn a_stream_goes_through_piece_by_piece_and_is_counted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let book = Arc::new(Book::default());
    let upstreams = upstreams(listener.local_addr().unwrap());
    let world = Made { upstreams, meter: book.clone(), ..Made::default() }.open();
    let (go_on, wait) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = vec![0; 64 * 1024];
        let _ = stream.read(&mut asked).unwrap();
        write!(
            stream,
            "{EVENTS}data: {{\"message\":{{\"usage\":{{\"input_tokens\":7,\"output_tokens\":1}}}}}}\n\n"
        )
        .unwrap();
        // The first piece has to be there before the second is written.
        wait.recv().unwrap();
        write!(stream, "data: {{\"usage\":{{\"output_tokens\":9}}}}\n\n").unwrap();
    });
    let mut client = world.connect();
    let length = ASK.len();
    write!(client, "POST /model/anthropic/v1/messages HTTP/1.1\r\nHost: x\r\n{}Content-Length: {length}\r\nConnection: close\r\n\r\n{ASK}", key(&world)).unwrap();
    let mut seen = String::new();
    while !seen.contains("input_tokens") {
        let mut piece = [0; 1024];
        let length = client.read(&mut piece).unwrap();
        assert!(length > 0, "{seen}");
        seen.push_str(std::str::from_utf8(&piece[..length]).unwrap());
    }
    go_on.send(()).unwrap();
    assert!(rest(client).contains("\"output_tokens\":9"));
    let counted = settled(&book);
    assert_eq!((counted.input_tokens, counted.output_tokens, counted.source), (7, 9, UsageSource::Reported));
}

#[test]
fn a_stream_is_cut_when_the_count_says_so() {
    let piece = |text: &str| format!("data: {{\"delta\":{{\"text\":\"{text}\"}}}}\n\n");
    let server = Server::answering(vec![
        EVENTS.to_owned(),
        piece("short"),
        piece(&"x".repeat(4000)),
        piece("never seen"),
    ]);
    let book = Arc::new(Book { most_output: Some(100), ..Book::default() });
    let world = world(&server, &book);
    let answer = ask(&world, "anthropic/v1/messages", &key(&world));
    assert!(!answer.contains("never seen") && !answer.contains("xxx"), "{answer}");
    assert!(!answer.ends_with("0\r\n\r\n"), "a cut must not look like an end: {answer}");
    assert!(settled(&book).output_tokens >= 1002, "what came counts, also what was cut");
}

#[test]
fn a_provider_without_room_is_passed_on_and_told_of() {
    let body = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
    let mut answer = answer_with("429 Too Many Requests", "application/json", body);
    answer[0] = answer[0].replace("Content-Type", "Retry-After: 37\r\nContent-Type");
    let server = Server::answering(answer);
    let book = Arc::new(Book::default());
    let world = world(&server, &book);
    let answer = ask(&world, "anthropic/v1/messages", &key(&world));
    assert!(
        status(&answer) == 429 && answer.contains("retry-after: 37") && answer.ends_with(body),
        "{answer}"
    );
    let limits = book.limits.lock().unwrap().clone();
    assert_eq!(
        limits,
        [Limited {
            provider: "anthropic".to_owned(),
            status: 429,
            retry_after: Some("37".to_owned()),
            kind: Some("rate_limit_error".to_owned()),
            message: Some("slow down".to_owned()),
        }]
    );
    let used = settled(&book);
    assert_eq!((used.input_tokens, used.output_tokens), (0, 0), "nothing was used");
}

#[test]
fn a_provider_that_is_not_there_is_an_error_that_may_pass() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let book = Arc::new(Book::default());
    let world = Made { upstreams: upstreams(gone), meter: book.clone(), ..Made::default() }.open();
    let answer = ask(&world, "anthropic/v1/messages", &key(&world));
    assert!(status(&answer) == 502 && answer.contains("api_error"), "{answer}");
    assert_eq!(settled(&book).input_tokens, 0, "nobody was asked");
}

#[test]
fn to_have_tokens_counted_or_models_listed_costs_nothing() {
    let server = Server::answering(ok("application/json", r#"{"input_tokens":3}"#));
    let book = Arc::new(Book { most_input_bytes: Some(0), ..Book::default() });
    let world = world(&server, &book);
    let answer = ask(&world, "anthropic/v1/messages/count_tokens?beta=true", &key(&world));
    assert_eq!(status(&answer), 200, "{answer}");
    assert!(book.admitted.lock().unwrap().is_empty() && book.settled.lock().unwrap().is_empty());
}

/// What is counted for a request that the provider has and that no head of an answer came for.
fn counted_without_an_answer(
    ask: &str,
    leave: fn(std::net::TcpStream, std::os::unix::net::UnixStream),
) -> Vec<Usage> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let book = Arc::new(Book::default());
    let upstreams = upstreams(listener.local_addr().unwrap());
    let world = Made { upstreams, meter: book.clone(), ..Made::default() }.open();
    let mut client = world.connect();
    let length = ask.len();
    write!(
        client,
        "POST /model/anthropic/v1/messages HTTP/1.1\r\nHost: x\r\n{}Content-Length: {length}\r\n\r\n{ask}",
        key(&world)
    )
    .unwrap();
    let (mut provider, _) = listener.accept().unwrap();
    let mut heard = Vec::new();
    while !heard.ends_with(ask.as_bytes()) {
        let mut piece = [0; 1024];
        let length = provider.read(&mut piece).unwrap();
        heard.extend_from_slice(&piece[..length]);
    }
    assert!(book.settled.lock().unwrap().is_empty());
    leave(provider, client);
    let start = std::time::Instant::now();
    while book.settled.lock().unwrap().is_empty() && start.elapsed() < std::time::Duration::from_secs(30) {
        // tidy: the meter has nobody to wake
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    world.lives();
    book.settled.lock().unwrap().clone()
}

#[test]
fn whoever_leaves_before_an_answer_comes_has_used_what_the_request_may_cost() {
    let input_tokens = u64::try_from(ASK.len().div_ceil(4)).unwrap();
    let most = Usage {
        request: 0,
        provider: "anthropic".to_owned(),
        model: Some("m-1".to_owned()),
        input_tokens,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 64,
        source: UsageSource::Estimated,
    };
    let client_leaves = counted_without_an_answer(ASK, |mut provider, client| {
        drop(client);
        assert_eq!(provider.read(&mut [0; 16]).unwrap_or(0), 0, "the provider is left too");
    });
    assert_eq!(client_leaves, std::slice::from_ref(&most));
    let provider_leaves = counted_without_an_answer(ASK, |provider, client| {
        drop(provider);
        assert_eq!(status(&rest_of_head(client)), 502);
    });
    assert_eq!(provider_leaves, [most]);
}

#[test]
fn whoever_leaves_at_once_has_not_used_more_than_any_model_writes_meanwhile() {
    let ask = r#"{"model":"m-1","max_tokens":64000,"messages":[]}"#;
    let start = std::time::Instant::now();
    let used = counted_without_an_answer(ask, |_, client| drop(client));
    let seconds = start.elapsed().as_secs() + 1;
    assert!((4_000..=4_000 * seconds).contains(&used[0].output_tokens), "{used:?} after {seconds} s");
}

/// As much as shows how it ended.
fn rest_of_head(mut client: impl Read) -> String {
    let mut piece = [0; 1024];
    let length = client.read(&mut piece).unwrap();
    String::from_utf8_lossy(&piece[..length]).into_owned()
}

#[test]
fn a_provider_behind_tls_never_hears_the_key_in_the_clear() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let key = ("x-api-key".parse().unwrap(), REAL.parse().unwrap());
    let upstream =
        Upstream::new(&format!("https://localhost:{}", address.port()), Protocol::Anthropic, key).unwrap();
    let upstreams = BTreeMap::from([("anthropic".to_owned(), upstream)]);
    let world = Made { upstreams, ..Made::default() }.open();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = vec![0; 64 * 1024];
        let length = stream.read(&mut heard).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        heard.truncate(length);
        heard
    });
    let answer = ask(&world, "anthropic/v1/messages", &self::key(&world));
    assert!(status(&answer) == 502 && answer.contains("api_error"), "{answer}");
    let heard = server.join().unwrap();
    assert_eq!(heard[..2], [0x16, 0x03], "it begins as TLS begins");
    assert!(!String::from_utf8_lossy(&heard).contains(REAL));
}

#[test]
fn what_may_come_back_is_the_largest_limit_for_each_answer() {
    let server = Server::answering(ok("application/json", "{}"));
    let book = Arc::new(Book::default());
    let world = world(&server, &book);
    let bodies = [
        (r#"{"max_tokens":1,"max_completion_tokens":5000}"#, Some(5000)),
        (r#"{"max_output_tokens":7,"max_tokens":3,"n":null}"#, Some(7)),
        (r#"{"max_tokens":64,"n":100}"#, Some(6400)),
        (r#"{"max_tokens":18446744073709551615,"n":2}"#, Some(u64::MAX)),
        (r#"{"n":3}"#, None),
    ];
    for (body, most) in bodies {
        ask_this(&world, "openai/v1/chat/completions", &key(&world), body);
        let estimate = book.admitted.lock().unwrap().pop().unwrap();
        assert_eq!(estimate.max_output_tokens, most, "{body}");
    }
}
