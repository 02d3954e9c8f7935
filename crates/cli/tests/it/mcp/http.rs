//! The port: who is let in, and that many are served.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use longhaul_testkit::times;
use serde_json::{Value, json};

use super::two_steps;
use crate::support::{Home, program};
use crate::walking::workflow;

#[derive(Debug)]
pub(super) struct Port {
    child: Child,
    pub(super) address: String,
    token: Option<String>,
}

impl Port {
    pub(super) fn open(home: &Home, bind: &str) -> Self {
        let mut command = program(env!("CARGO_BIN_EXE_longhaul"));
        command.args(["mcp", "--http", bind]);
        Self::start(home, command)
    }

    /// One that may have only so many files open.
    fn open_with_files(home: &Home, files: usize) -> Self {
        let mut command = program("/bin/sh");
        let script = format!("ulimit -n {files}; exec \"$0\" mcp --http 127.0.0.1:0");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_longhaul")]);
        Self::start(home, command)
    }

    fn start(home: &Home, mut command: Command) -> Self {
        command.current_dir(&home.path).env_clear().envs(home.variables());
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
        self.post_bytes(headers, body.to_string().as_bytes())
    }

    fn post_bytes(&self, headers: &[(&str, &str)], body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut request =
            format!("POST /mcp HTTP/1.1\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
        let usual = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
        ];
        let is_named = headers.iter().any(|(name, _)| *name == "mcp-method");
        let method = (!is_named).then_some(&("mcp-method", "tools/call"));
        for (name, value) in usual.iter().chain(method).chain(headers) {
            write!(request, "{name}: {value}\r\n").unwrap();
        }
        stream.write_all(format!("{request}\r\n").as_bytes()).unwrap();
        // It may be turned away before it is read to its end.
        let _ = stream.write_all(body);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta() });
        self.request(tool, &params)["structuredContent"].clone()
    }

    fn request(&self, tool: &str, params: &Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let (status, answer) = self.post(&[("host", &self.address), ("mcp-name", tool)], &body);
        assert_eq!(status, 200, "{answer}");
        let line = answer
            .lines()
            .find_map(|line| line.strip_prefix("data: {"))
            .unwrap_or_else(|| panic!("{answer}"));
        let answer: Value = serde_json::from_str(&format!("{{{line}")).unwrap();
        answer["result"].clone()
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "by-hand", "version": "1" },
    })
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
        let walks: Vec<_> = (0..times(20, 200)).map(|_| scope.spawn(|| walk(&port, &home))).collect();
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

#[test]
fn garbage_is_answered_over_http_as_over_pipes() {
    let home = Home::new();
    let port = Port::open(&home, "127.0.0.1:0");
    let many = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":[{}0]}}",
        "0,".repeat(400_000)
    );
    for (body, code) in [
        (&b"\x00\xff\xfe binary"[..], -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth", -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b"{}", -32600),
        (b"", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":7}}", -32602),
        (many.as_bytes(), -32600),
    ] {
        let (status, answer) = port.post_bytes(&[("host", &port.address)], body);
        let said = answer.split("\r\n\r\n").nth(1).unwrap();
        let said: Value = serde_json::from_str(said).unwrap_or_else(|error| panic!("{error}: {answer}"));
        assert_eq!((status, &said["error"]["code"]), (400, &json!(code)), "{answer}");
    }
    two_steps(&home);
    assert_eq!(walk(&port, &home)["isComplete"], true, "and it goes on");
}

#[test]
fn a_prompt_over_http_invents_no_folder() {
    let home = Home::new();
    let port = Port::open(&home, "127.0.0.1:0");
    let asked = json!({ "name": "lh.quick-task", "arguments": { "goal": "newest first" }, "_meta": meta() });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": asked });
    let headers =
        [("host", port.address.as_str()), ("mcp-method", "prompts/get"), ("mcp-name", "lh.quick-task")];
    let (status, answer) = port.post(&headers, &body);
    assert_eq!(status, 200, "{answer}");
    assert!(
        answer.contains("newest first") && !answer.contains(&home.path.display().to_string()),
        "{answer}"
    );
}

#[test]
fn whoever_answers_over_http_is_somebody_and_one_request_is_no_answer() {
    let home = Home::new();
    workflow(
        &home,
        "team.sure.yml",
        "longhaul: 1\nid: team.sure\nname: Sure\nversion: 1.0.0\nabout: For tests.\nsteps:\n\
         \x20 - { id: plan, title: Plan, prompt: Plan., confirm: true }\n\
         \x20 - { id: act, title: Act, prompt: Act. }\n",
    );
    let port = Port::open(&home, "127.0.0.1:0");
    let folder = home.path.display().to_string();
    let start = json!({ "workflowId": "team.sure", "workspacePath": folder, "goal": "it" });
    let first = port.call("start_workflow", &start);
    let mut meta = meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    let arguments = json!({ "continueToken": first["continueToken"], "notes": "The plan." });
    let yes = json!({ "action": "accept", "content": { "decision": "approve" } });
    let gate = port.call("continue_workflow", &arguments)["gate"]["id"].as_str().unwrap().to_owned();
    let mut call = json!({
        "name": "continue_workflow", "arguments": arguments, "_meta": meta, "inputResponses": { &gate: yes },
    });
    let asked = port.request("continue_workflow", &call);
    assert_eq!(asked["resultType"], "input_required", "an answer that nobody asked for is none: {asked:#}");
    call["requestState"] = asked["requestState"].clone();
    let after = port.request("continue_workflow", &call);
    assert_eq!(after["structuredContent"]["stepId"], "act", "{after:#}");
    let story =
        home.longhaul(&["session", "show", first["sessionId"].as_str().unwrap(), "--json"]).succeeded();
    assert!(story.stdout.contains("somebody through by-hand"), "{story}");
}

#[test]
fn half_a_request_keeps_nobody_out() {
    const SOCKETS: usize = 300;
    let home = Home::new();
    two_steps(&home);
    let port = Port::open_with_files(&home, 256);
    let half: Vec<TcpStream> = (0..SOCKETS)
        .map(|_| {
            let mut stream = TcpStream::connect(&port.address).unwrap();
            stream.write_all(b"POST /mcp HTTP/1.1\r\nhost: loc").unwrap();
            stream
        })
        .collect();
    let before = Instant::now();
    assert_eq!(walk(&port, &home)["isComplete"], true);
    assert!(before.elapsed() < Duration::from_secs(15), "others did not have to be waited for");
    drop(half);
}

#[test]
fn two_hosts_another_host_and_any_type_are_told_apart() {
    let home = Home::new();
    two_steps(&home);
    let port = Port::open(&home, "127.0.0.1:0");
    let raw = |head: &str| {
        let mut stream = TcpStream::connect(&port.address).unwrap();
        stream.write_all(format!("{head}\r\nconnection: close\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(raw("GET /mcp HTTP/1.1\r\nhost: localhost\r\nhost: localhost"), "400");
    assert_eq!(raw("GET http://evil.example/mcp HTTP/1.1\r\nhost: localhost"), "403");
    let params = json!({ "_meta": meta() });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params }).to_string();
    let mut stream = TcpStream::connect(&port.address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\ncontent-type: application/json\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/list\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
