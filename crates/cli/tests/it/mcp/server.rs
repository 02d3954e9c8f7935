//! The server as a process, and a client that writes lines by hand.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};

use serde_json::{Value, json};

use crate::support::{Home, program};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Initialized,
    Stateless,
}

pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    meta: Option<Value>,
    id: u64,
    /// What came beside answers.
    pub(crate) aside: Vec<Value>,
}

impl Server {
    pub(crate) fn start(home: &Home, era: Era) -> Self {
        Self::start_with(home, era, &json!({}))
    }

    /// With a client that can do these things.
    pub(crate) fn start_with(home: &Home, era: Era, capabilities: &Value) -> Self {
        let mut command = program(env!("CARGO_BIN_EXE_longhaul"));
        command.arg("mcp").current_dir(&home.path).env_clear().envs(home.variables());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut server = Self { child, input, output, meta: None, id: 0, aside: Vec::new() };
        let info = json!({ "name": "by-hand", "version": "1" });
        match era {
            Era::Initialized => {
                let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info });
                assert_eq!(server.request("initialize", params)["result"]["protocolVersion"], "2025-11-25");
            }
            Era::Stateless => {
                server.meta = Some(json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": capabilities,
                    "io.modelcontextprotocol/clientInfo": info,
                }));
            }
        }
        server
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// The next message; what is none fails the test.
    pub(crate) fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.id += 1;
        if let Some(Value::Object(meta)) = &self.meta {
            for (key, value) in meta {
                params["_meta"][key] = value.clone();
            }
        }
        let message = json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        self.write(format!("{message}\n").as_bytes());
        self.id
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            self.aside.push(message);
        }
    }

    /// Sends a call and does not wait.
    pub(crate) fn send_call(&mut self, tool: &str, arguments: &Value) {
        self.send("tools/call", json!({ "name": tool, "arguments": arguments }));
    }

    pub(crate) fn object(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        answer["result"]["structuredContent"].clone()
    }

    /// The most memory that it has had so far.
    pub(crate) fn largest_kilobytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes its input and takes what it says until it has ended.
    pub(crate) fn end_with_words(mut self) -> String {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
        rest
    }

    /// Closes its input and waits until it has ended.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "nothing is said to nobody");
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap(), stderr)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
