//! Requests of people who mean no good. None of them passes.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use longhaul_web::Limits;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::world::{SECRET, World, signature};

const BODY: &str = r#"{"n": 1}"#;

fn head(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn what_is_not_signed_as_it_should_be_is_refused_in_the_same_words() {
    let world = World::new();
    let right = signature(BODY);
    let digits = right.rsplit_once('=').unwrap().1.to_owned();
    let mut answers = Vec::new();
    for lines in [
        vec![],
        vec!["X-Hub-Signature-256: ".to_owned()],
        vec!["X-Hub-Signature-256: sha256=".to_owned()],
        vec![format!("X-Hub-Signature-256: sha256={}", "0".repeat(64))],
        vec![format!("X-Hub-Signature-256: sha1={digits}")],
        vec![format!("X-Hub-Signature-256: sha256={}", &digits[1..])],
        vec![format!("X-Hub-Signature-256: {SECRET}")],
        vec![format!("X-Hub-Signature: sha256={digits}")],
        vec![right.clone(), right.clone()],
        vec![right.clone(), format!("x-hub-signature-256: sha256={}", "0".repeat(64))],
        vec![signature("{}")],
        vec![format!("X-Hub-Signature-256: sha256={digits}, sha256={digits}")],
    ] {
        let lines: Vec<String> = std::iter::once("Host: x".to_owned()).chain(lines).collect();
        let answer = world.request("POST /hooks/shop/hook", &lines, BODY.as_bytes()).unwrap();
        assert_eq!(answer.status, 401, "{lines:?}: {answer:?}");
        answers.push(answer.body);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(world.tasks().len(), 0);
}

#[test]
fn a_path_that_is_not_exactly_a_trigger_leads_nowhere() {
    let world = World::new();
    for path in [
        "/hooks/shop/hooks",
        "/hooks/other/hook",
        "/hooks/shop/nightly",
        "/hooks/shop/hook/",
        "/hooks/shop/./hook",
        "/hooks/shop/%68ook",
        "/hooks/shop%2Fhook",
        "/hooks/../hooks/shop/hook",
        "/hooks/shop/hook/../../../v1/status",
        "/hooks/SHOP/hook",
        "/hooks/shop/hook%00",
        "/hooks//hook",
    ] {
        let lines = vec!["Host: x".to_owned(), signature(BODY)];
        let answer = world.request(&format!("POST {path}"), &lines, BODY.as_bytes()).unwrap();
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
    }
    for method in ["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT"] {
        let lines = vec!["Host: x".to_owned(), signature(BODY)];
        let answer = world.request(&format!("{method} /hooks/shop/hook"), &lines, BODY.as_bytes());
        assert!(answer.is_none_or(|answer| answer.status == 405 || answer.status == 400), "{method}");
    }
    assert_eq!(world.tasks().len(), 0);
}

#[test]
fn what_is_too_large_is_refused_before_it_is_read() {
    let world = World::new();
    // Only the head is sent: whoever waited for the body would wait for ever.
    let declared =
        "POST /hooks/shop/hook HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1048577\r\n\r\n";
    assert_eq!(world.raw(declared.as_bytes()).unwrap().status, 413);
    let enormous = "POST /hooks/shop/hook HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 99999999999999999999999\r\n\r\n";
    assert!(world.raw(enormous.as_bytes()).is_none_or(|answer| answer.status == 400 || answer.status == 413));
    // One that does not say how much there is.
    let mut chunked = b"POST /hooks/shop/hook HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..20 {
        chunked.extend_from_slice(b"10000\r\n");
        chunked.extend_from_slice(&vec![b' '; 0x10000]);
        chunked.extend_from_slice(b"\r\n");
    }
    assert!(world.raw(&chunked).is_none_or(|answer| answer.status == 413));
    let heads =
        format!("POST /hooks/shop/hook HTTP/1.1\r\nHost: x\r\nX-Long: {}\r\n\r\n", "a".repeat(100_000));
    assert!(world.raw(heads.as_bytes()).is_none_or(|answer| answer.status == 431));
    let many: Vec<String> = (0..500).map(|n| format!("X-{n}: y\r\n")).collect();
    let many = format!("POST /hooks/shop/hook HTTP/1.1\r\nHost: x\r\n{}\r\n", many.concat());
    assert!(world.raw(many.as_bytes()).is_none_or(|answer| answer.status == 431 || answer.status == 400));
    // A body of exactly the most is looked at.
    let full = format!("{{\"n\": \"{}\"}}", "a".repeat((1 << 20) - 9));
    assert_eq!((full.len(), world.deliver(&full, &[]).status), (1 << 20, 202));
}

#[test]
fn two_ways_to_read_the_same_bytes_are_none() {
    let world = World::new();
    let sign = signature(BODY);
    for bytes in [
        format!(
            "POST /hooks/shop/hook HTTP/1.1\r\nHost: x\r\n{sign}\r\nContent-Length: 8\r\nContent-Length: 9\r\n\r\n{BODY}"
        ),
        format!("POST /hooks/shop/hook HTTP/1.1\r\nHost: x\r\n{sign}\r\nContent-Length: -8\r\n\r\n{BODY}"),
        format!(
            "POST /hooks/shop/hook HTTP/1.1\r\nHost: x\r\n{sign}\r\nContent-Length: 8\r\n folded: 1\r\n\r\n{BODY}"
        ),
        format!("POST /hooks/shop/hook HTTP/1.1\r\nHost: x\r\n{sign}\r\nContent-Length : 8\r\n\r\n{BODY}"),
        format!(
            "POST /hooks/shop/hook HTTP/1.1\r\nHost: x\r\n{sign}\r\nTransfer-Encoding: chunked, identity\r\n\r\n{BODY}"
        ),
        format!("POST /hooks/shop/hook HTTP/9.9\r\nHost: x\r\n{sign}\r\nContent-Length: 8\r\n\r\n{BODY}"),
        format!("POST /hooks/shop/hook\r\n\r\n{BODY}"),
        "\r\n\r\n\r\n\r\n".to_owned(),
        "\u{0}\u{1}\u{2}".to_owned(),
    ] {
        let answer = world.raw(bytes.as_bytes());
        assert!(answer.is_none_or(|answer| answer.status == 400 || answer.status == 408), "{bytes:?}");
    }
    // Whoever says both is taken at the word that leaves nothing behind, and the connection is not used again.
    let smuggled = format!(
        "POST /hooks/shop/hook HTTP/1.1\r\nHost: x\r\n{}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n",
        signature("")
    );
    assert!(
        world
            .raw(smuggled.as_bytes())
            .is_none_or(|answer| answer.status == 400 || answer.status == 401 || answer.status == 422)
    );
    assert_eq!(world.tasks().len(), 0);
}

#[test]
fn whoever_drips_is_let_go_in_time_and_keeps_nobody_else() {
    let patience = Duration::from_millis(300);
    let limits = Limits { head_patience: patience, body_patience: patience, ..Limits::default() };
    let world = World::with(limits);
    let began = Instant::now();
    let mut slow: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(world.address()).unwrap()).collect();
    for (n, stream) in slow.iter_mut().enumerate() {
        // Half of them stop in their head, half in their body.
        let sign = signature(BODY);
        let head =
            format!("POST /hooks/shop/hook HTTP/1.1\r\nHost: x\r\n{sign}\r\nContent-Length: 8\r\n\r\n{{\"n");
        let sent = if n % 2 == 0 { &head[..40] } else { &head[..] };
        stream.write_all(sent.as_bytes()).unwrap();
    }
    assert_eq!(world.deliver(r#"{"n": 2}"#, &[]).status, 202, "somebody in a hurry is answered meanwhile");
    for mut stream in slow {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let text = String::from_utf8_lossy(&answer);
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 408"), "{text}");
    }
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(world.tasks().len(), 1);
}

#[test]
fn a_secret_that_somebody_sends_is_nowhere_afterwards() {
    let world = World::new();
    let body = format!(r#"{{"n": "leak {SECRET}"}}"#);
    let answers = [
        world.deliver(&body, &[&format!("X-GitHub-Delivery: {SECRET}")]),
        world.deliver(&format!(r#"{{"m": "{SECRET}"}}"#), &[&format!("X-Note: {SECRET}")]),
        world.deliver(&format!("{SECRET}, and no JSON"), &[]),
        world
            .request(
                "POST /hooks/shop/hook",
                &head(&["Host: x", &format!("X-Hub-Signature-256: {SECRET}")]),
                body.as_bytes(),
            )
            .unwrap(),
        world.request(&format!("POST /hooks/shop/{SECRET}"), &head(&["Host: x"]), body.as_bytes()).unwrap(),
        world.call("GET /metrics", ""),
        world.call("GET /v1/status", ""),
        world.call("GET /v1/tasks", ""),
        world.call("GET /v1/triggers", ""),
        world.call(&format!("GET /v1/tasks/t-none?{SECRET}"), ""),
    ];
    for answer in &answers {
        assert!(!format!("{answer:?}").contains(SECRET), "{answer:?}");
    }
    assert_eq!(world.tasks().len(), 1);
    for file in below(&world.places().data).into_iter().chain(below(&world.places().state)) {
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()), "{}", file.display());
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(below(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

/// Pieces that requests are made of, right and wrong.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let right = signature(BODY).into_bytes();
    prop_oneof![
        Just(b"POST /hooks/shop/hook HTTP/1.1\r\n".to_vec()),
        Just(b"GET /v1/status HTTP/1.1\r\n".to_vec()),
        Just(b"POST /v1/daemon/stop HTTP/1.1\r\n".to_vec()),
        Just(b"Host: localhost\r\n".to_vec()),
        Just(b"Content-Length: 8\r\n".to_vec()),
        Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
        Just([b"X-Wrong".to_vec(), right].concat()),
        Just(b"Content-Type: application/json\r\n".to_vec()),
        Just(b"Authorization: Bearer x\r\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(BODY.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..30),
    ]
}

#[test]
fn whatever_bytes_come_nobody_gets_in_and_the_doors_stay_open() {
    let patience = Duration::from_millis(50);
    let world = World::with(Limits { head_patience: patience, body_patience: patience, ..Limits::default() });
    let requests = prop::collection::vec(piece(), 0..12);
    let mut runner = TestRunner::new(ProptestConfig { cases: 150, ..ProptestConfig::default() });
    let held = runner.run(&requests, |pieces| {
        if let Some(answer) = world.raw(&pieces.concat()) {
            prop_assert!((400..500).contains(&answer.status), "{answer:?}");
        }
        Ok(())
    });
    held.unwrap();
    assert_eq!(world.tasks().len(), 0);
    assert_eq!(world.call("GET /v1/status", "").status, 200);
}
