//! The port: who is let in, and that many are served.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::thread;

use serde_json::{Value, json};

use super::two_steps;
use crate::support::{Home, program};

#[derive(Debug)]
pub(super) struct Port {
    child: Child,
    pub(super) address: String,
    token: Option<String>,
}

impl Port {
    pub(super) fn open(home: &Home, bind: &str) -> Self {
        let mut command = program(env!("CARGO_BIN_EXE_longhaul"));
        command.args(["mcp", "--http", bind]).current_dir(&home.path).env_clear().envs(home.variables());
        let child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut port = Self { child, address: String::new(), token: None };
        for line in BufReader::new(port.child.stderr.take().unwrap()).lines() {
            let line = line.unwrap();
            if let Some(shown) = line.strip_prefix("clients need this token: ") {
                port.token = Some(shown.to_owned());
            }
            if let Some(rest) = line.strip_prefix("listening on http://") {
                port.address = rest.strip_suffix("/mcp").unwrap().replace("0.0.0.0", "127.0.0.1");
                return port;
            }
        }
        panic!("it never listened");
    }

    /// The status and the body of one request.
    fn post(&self, headers: &[(&str, &str)], body: &Value) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = body.to_string();
        let mut request =
            format!("POST /mcp HTTP/1.1\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
        let usual = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
        ];
        let method = ("mcp-method", "tools/call");
        for (name, value) in usual.iter().chain([&method]).chain(headers) {
            write!(request, "{name}: {value}\r\n").unwrap();
        }
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "by-hand", "version": "1" },
        });
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let (status, answer) = self.post(&[("host", &self.address), ("mcp-name", tool)], &body);
        assert_eq!(status, 200, "{answer}");
        let line = answer
            .lines()
            .find_map(|line| line.strip_prefix("data: {"))
            .unwrap_or_else(|| panic!("{answer}"));
        let answer: Value = serde_json::from_str(&format!("{{{line}")).unwrap();
        answer["result"]["structuredContent"].clone()
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn walk(port: &Port, home: &Home) -> Value {
    let folder = home.path.display().to_string();
    let first = json!({ "workflowId": "team.two", "workspacePath": folder, "goal": "tidy up" });
    let first = port.call("start_workflow", &first);
    let answer =
        json!({ "continueToken": first["continueToken"], "notes": "x", "context": { "size": "small" } });
    let second = port.call("continue_workflow", &answer);
    port.call("continue_workflow", &json!({ "continueToken": second["continueToken"], "notes": "y" }))
}

#[test]
fn many_clients_walk_at_once_over_http() {
    let home = Home::new();
    two_steps(&home);
    let port = Port::open(&home, "127.0.0.1:0");
    let ends: Vec<Value> = thread::scope(|scope| {
        let walks: Vec<_> = (0..20).map(|_| scope.spawn(|| walk(&port, &home))).collect();
        walks.into_iter().map(|walk| walk.join().unwrap()).collect()
    });
    assert!(ends.iter().all(|end| end["isComplete"] == true), "{ends:#?}");
}

#[test]
fn other_names_and_pages_are_turned_away() {
    let home = Home::new();
    let port = Port::open(&home, "127.0.0.1:0");
    assert_eq!(port.token, None, "on loopback nobody else comes in");
    let status = |headers: &[(&str, &str)]| port.post(headers, &json!({})).0;
    assert_eq!(status(&[("host", "evil.example")]), 403);
    assert_eq!(status(&[("host", "localhost"), ("origin", "https://evil.example")]), 403);
    assert_ne!(status(&[("host", "localhost"), ("origin", "http://localhost:3000")]), 403);
}

#[test]
fn where_others_can_come_a_token_is_made_and_asked_for() {
    let home = Home::new();
    let port = Port::open(&home, "0.0.0.0:0");
    let token = port.token.clone().expect("it was shown");
    let status = |shown: &str| port.post(&[("host", &port.address), ("authorization", shown)], &json!({})).0;
    assert_eq!(status("Bearer wrong"), 401);
    assert_ne!(status(&format!("Bearer {token}")), 401);
}
