//! Whoever is inside may send anything. None of it gets further than it should, and the next request is answered.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::support::{Made, Server, World, ok, rest, status};

fn with_server() -> (World, Server) {
    let server = Server::answering(ok("text/plain", "hello"));
    (Made::letting(&[server.address.to_string()]).open(), server)
}

#[test]
fn a_request_with_two_lengths_is_one_request_or_none() {
    let (world, server) = with_server();
    let inner = format!("GET http://{}/smuggled HTTP/1.1\r\nHost: x\r\n\r\n", server.address);
    let heads = [
        "Content-Length: 0\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding:\x0bchunked\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 5, 6\r\n",
        "Content-Length: -1\r\n",
    ];
    for head in heads {
        let answer = world.say(format!(
            "POST http://{}/first HTTP/1.1\r\nHost: x\r\n{head}Connection: close\r\n\r\n0\r\n\r\n{inner}",
            server.address
        ));
        assert!(!answer.contains("smuggled"), "{head}: {answer}");
        for heard in server.heard() {
            assert!(!heard.contains("smuggled"), "{head}: {heard}");
            let lengths = heard.to_ascii_lowercase().matches("content-length").count();
            let chunked = heard.to_ascii_lowercase().matches("transfer-encoding").count();
            assert!(lengths + chunked <= 1, "{head}: {heard}");
        }
        world.lives();
    }
}

#[test]
fn targets_that_can_be_read_in_two_ways_reach_nobody() {
    let (world, server) = with_server();
    let address = server.address;
    let targets = [
        format!("http://user:pass@{address}/"),
        format!("http://docs.example.com@{address}/"),
        format!("http://{address}%00.example.com/"),
        format!("http://{address}\\@evil.example/"),
        format!("https://{address}/"),
        format!("ftp://{address}/"),
        format!("//{address}/"),
        "http://127.1/".to_owned(),
        "http://2130706433/".to_owned(),
        "http://0x7f.1/".to_owned(),
        "http://[::ffff:127.0.0.1]/".to_owned(),
        "http:///".to_owned(),
        "/mcp%00".to_owned(),
        "/mcp/../model/".to_owned(),
        "*".to_owned(),
    ];
    for target in targets {
        let code = status(&world.get(&target));
        assert!([400, 403, 404].contains(&code), "{target}: {code}");
    }
    assert_eq!(status(&world.get("/mc\0p")), 400);
    assert!(server.heard().is_empty(), "{:?}", server.heard());
    world.lives();
}

#[test]
fn a_tunnel_leads_neither_back_to_us_nor_anywhere_without_a_name() {
    let (world, server) = with_server();
    let socket = world.gateway.socket().display().to_string();
    let targets = [
        socket.as_str(),
        "unix:/run/longhaul/gateway.sock:80",
        "localhost:7411",
        "127.0.0.1:7411",
        "[::1]:7411",
        "0.0.0.0:80",
        "docs.example.com",
        "docs.example.com:0",
        "docs.example.com:443:443",
        "user@docs.example.com:443",
        ":443",
        "169.254.169.254:80",
    ];
    for target in targets {
        let answer = world.say(format!("CONNECT {target} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address));
        assert!([400, 403].contains(&status(&answer)), "{target}: {answer}");
    }
    assert!(server.heard().is_empty());
    world.lives();
}

#[test]
fn the_host_header_opens_nothing() {
    let (world, server) = with_server();
    let address = server.address;
    let answer = world
        .say(format!("GET http://evil.example/ HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"));
    assert_eq!(status(&answer), 403, "{answer}");
    let twice = world.say(format!(
        "GET http://{address}/ HTTP/1.1\r\nHost: {address}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    ));
    assert_eq!(status(&twice), 400, "{twice}");
    let origin = world.say(format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"));
    assert_eq!(status(&origin), 404, "what is not named in the target is not proxied: {origin}");
    assert!(server.heard().is_empty());
}

#[test]
fn heads_without_an_end_are_not_kept() {
    let (world, _server) = with_server();
    let huge = format!("GET /mcp HTTP/1.1\r\nHost: x\r\nX-Huge: {}\r\n\r\n", "a".repeat(1024 * 1024));
    assert_eq!(status(&world.say(huge)), 431);
    let many = "X-Many: 1\r\n".repeat(2000);
    assert_eq!(status(&world.say(format!("GET /mcp HTTP/1.1\r\nHost: x\r\n{many}\r\n"))), 431);
    let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(200_000));
    assert!([414, 431].contains(&status(&world.say(long))));
    for garbage in [
        &b"\0\0\0\0\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET\r\n\r\n",
    ] {
        let mut stream = world.connect();
        stream.write_all(garbage).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let _ = rest(stream);
    }
    world.lives();
}

#[test]
fn whoever_is_slow_keeps_nobody_waiting_and_is_shown_out() {
    let (world, _server) = with_server();
    let mut slow = world.connect();
    slow.write_all(b"GET /mcp HTTP/1.1\r\nHost:").unwrap();
    world.lives();
    let start = Instant::now();
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest);
    assert!(start.elapsed() < Duration::from_secs(29), "it was left connected");
}

#[test]
fn hundreds_who_say_nothing_make_room_for_one_who_does() {
    let (world, _server) = with_server();
    let silent: Vec<UnixStream> = (0..400).map(|_| world.connect()).collect();
    world.lives();
    // The first were shown out; the last are still there.
    let mut first = silent[0].try_clone().unwrap();
    assert_eq!(first.read(&mut [0; 1]).unwrap(), 0);
    drop(silent);
    world.lives();
}

#[test]
fn the_folder_of_sockets_holds_nothing_but_the_socket() {
    let (world, _server) = with_server();
    let names: Vec<_> = std::fs::read_dir(world.folder.path().join("run"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(names, ["s-test.sock"]);
}
