//! A client over pipes that does as little as can be, so that the server is what is measured.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::driver::Failure;
use crate::processes::command;

pub(super) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
}

/// What a request without a conversation says of itself.
pub(super) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
    })
}

impl Client {
    pub(super) fn start(longhaul: &Path, home: &Path) -> Result<Self, Failure> {
        let mut server = command(longhaul);
        server.arg("mcp").env("LONGHAUL_HOME", home.join("home")).current_dir(home);
        let mut child = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("standard input was piped above")?;
        let output = BufReader::new(child.stdout.take().ok_or("standard output was piped above")?);
        Ok(Self { child, input, output, id: 0 })
    }

    pub(super) fn request(&mut self, method: &str, mut params: Value) -> Result<Value, Failure> {
        self.id += 1;
        params["_meta"] = meta();
        let message = json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        self.input.write_all(format!("{message}\n").as_bytes())?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let mut answer: Value = serde_json::from_str(&line)?;
        Ok(answer["result"].take())
    }

    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        let mut result = self.request("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        Ok(result["structuredContent"].take())
    }

    pub(super) fn rss_mb(&self) -> Result<f64, Failure> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no `VmRSS`")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It ends by itself when its input does; nobody waits for it to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
