//! A port and calls to it, one connection each.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::client::meta;
use crate::driver::Failure;
use crate::processes::command;

pub(super) struct Port {
    child: Child,
    address: String,
}

impl Port {
    pub(super) fn open(longhaul: &Path, home: &Path) -> Result<Self, Failure> {
        let mut server = command(longhaul);
        server
            .args(["mcp", "--http", "127.0.0.1:0"])
            .env("LONGHAUL_HOME", home.join("home"))
            .current_dir(home);
        let mut child = server.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stderr.take().ok_or("standard error was piped above")?).read_line(&mut line)?;
        let address =
            line.trim().strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.ok_or_else(|| format!("not listening: {line}"))?.to_owned();
        Ok(Self { child, address })
    }

    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta() });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let mut stream = TcpStream::connect(&self.address)?;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, \
             text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let data =
            answer.lines().find_map(|line| line.strip_prefix("data: {")).ok_or_else(|| answer.clone())?;
        let mut answer: Value = serde_json::from_str(&format!("{{{data}"))?;
        Ok(answer["result"]["structuredContent"].take())
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // It serves until it is ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
