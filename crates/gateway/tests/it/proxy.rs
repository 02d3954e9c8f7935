//! Hosts that are let through, and hosts that are not.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use longhaul_gateway::Listen;

use crate::support::{Made, Server, ok, rest, status};

#[test]
fn a_tunnel_joins_the_client_to_a_listed_host_and_each_side_ends_by_itself() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let world = Made::letting(&[address.to_string()]).open();
    let mut client = world.connect();
    write!(client, "CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n{}\r\n", world.pass()).unwrap();
    let (mut server, _) = server.accept().unwrap();
    let mut head = [0; 12];
    client.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    while !client_line(&mut client).is_empty() {}
    client.write_all(b"question").unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(rest(&mut server), "question");
    server.write_all(b"answer").unwrap();
    drop(server);
    assert_eq!(rest(client), "answer");
}

fn client_line(client: &mut impl std::io::Read) -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while client.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
        line.push(byte[0]);
    }
    String::from_utf8(line).unwrap().trim_end().to_owned()
}

#[test]
fn a_host_that_is_not_listed_is_refused_with_the_remedy_and_told_of_once() {
    let world = Made::letting(&["docs.example.com".to_owned()]).open();
    for _ in 0..2 {
        let answer = world.say("CONNECT evil.example:443 HTTP/1.1\r\nHost: docs.example.com\r\n\r\n");
        assert_eq!(status(&answer), 403, "{answer}");
        assert!(answer.contains("`evil.example:443` is not let through"), "{answer}");
        assert!(answer.contains("add `evil.example` to `sandbox.hosts`"), "{answer}");
    }
    assert_eq!(status(&world.get("http://evil.example:8080/")), 403);
    let told = world.told.lock().unwrap().clone();
    assert_eq!(told.len(), 2, "{told:?}");
}

#[test]
fn a_plain_request_goes_to_the_host_of_its_target_without_what_is_for_the_proxy() {
    let server = Server::answering(ok("text/plain", "hello"));
    let world = Made::letting(&[server.address.to_string()]).open();
    let answer = world.say(format!(
        "POST http://{}/a?b=c HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: Basic c2VjcmV0\r\nProxy-Connection: keep-alive\r\nX-Own: 1\r\nContent-Length: 4\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\n\r\nbody",
        server.address
    ));
    assert_eq!(status(&answer), 200, "{answer}");
    assert!(answer.ends_with("hello"), "{answer}");
    let heard = server.heard().pop().unwrap().to_ascii_lowercase();
    assert!(heard.starts_with("post /a?b=c http/1.1\r\n"), "{heard}");
    assert!(
        heard.contains(&format!("host: {}\r\n", server.address)) && heard.ends_with("\r\n\r\nbody"),
        "{heard}"
    );
    assert!(heard.contains("x-own: 1"), "{heard}");
    for gone in ["proxy-", "evil.example", "x-hop"] {
        assert!(!heard.contains(gone), "{gone} is in {heard}");
    }
}

#[test]
fn a_host_that_does_not_answer_is_no_refusal() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let world = Made::letting(&[gone.to_string()]).open();
    assert_eq!(status(&world.say(format!("CONNECT {gone} HTTP/1.1\r\nHost: {gone}\r\n\r\n"))), 502);
    assert!(world.told.lock().unwrap().is_empty());
}

#[test]
fn nobody_gets_anywhere_without_the_token_by_socket_or_port() {
    let server = Server::answering(ok("text/plain", "hello"));
    let address = server.address;
    for listen in [Listen::Socket, Listen::SocketAndPort] {
        let world = Made { listen, ..Made::letting(&[address.to_string()]) }.open();
        let on_port = |text: String| {
            let mut stream = TcpStream::connect(("127.0.0.1", world.gateway.port().unwrap())).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
            rest(stream)
        };
        let say = |text: String| match listen {
            Listen::Socket => world.say_as_stranger(text),
            Listen::SocketAndPort => {
                let both = [world.say_as_stranger(text.clone()), on_port(text)];
                assert_eq!(status(&both[0]), status(&both[1]));
                both[1].clone()
            }
        };
        let plain = |header: &str| {
            say(format!("GET http://{address}/ HTTP/1.1\r\nHost: x\r\n{header}Connection: close\r\n\r\n"))
        };
        assert_eq!(status(&plain("")), 407);
        assert_eq!(status(&plain("Proxy-Authorization: Bearer lh-guess\r\n")), 407);
        assert_eq!(status(&plain(&world.pass())), 200);
        let tunnel = say(format!("CONNECT {address} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
        assert_eq!(status(&tunnel), 407);
        let tools =
            |header: &str| say(format!("GET /mcp HTTP/1.1\r\nHost: x\r\n{header}Connection: close\r\n\r\n"));
        assert_eq!(status(&tools("")), 401);
        assert_eq!(status(&tools(&format!("Authorization: Bearer {}\r\n", world.token.reveal()))), 200);
    }
}

#[test]
fn when_it_is_closed_nothing_of_it_is_left_and_tunnels_end() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let world = Made::letting(&[address.to_string()]).open();
    let mut client = world.connect();
    write!(client, "CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n{}\r\n", world.pass()).unwrap();
    let (inner, _) = server.accept().unwrap();
    let socket = world.gateway.socket().to_owned();
    drop(world.gateway);
    assert!(!socket.exists());
    assert_eq!(rest(inner), "");
    let _ = rest(client);
}
