//! The inspector in its `--cli` mode: one process for each call, and no memory between them.

use std::process::Command;

use longhaul_testkit::parts::Npm;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Client, Mode, Place};

const SCRIPT: &str = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";

pub(super) struct Inspector<'a> {
    npm: Npm,
    place: &'a Place<'a>,
    mode: Mode,
    /// It keeps a catalogue in its home.
    home: TempDir,
}

impl<'a> Inspector<'a> {
    pub(super) fn new(place: &'a Place<'a>, mode: Mode) -> Self {
        Self { npm: Npm::installed(), place, mode, home: tempfile::tempdir().unwrap() }
    }

    fn command(&self) -> Command {
        let mut inspector = self.npm.node(self.npm.file(SCRIPT));
        let era = match self.mode {
            Mode::Legacy => "legacy",
            Mode::Auto => "modern",
        };
        inspector.env("HOME", self.home.path());
        inspector.args(["--cli", "--quiet", "--format", "json", "--protocol-era", era]);
        inspector
    }

    /// The server comes last: what follows it belongs to it.
    fn finish(&self, inspector: &mut Command) {
        match self.place {
            Place::Port { url, .. } => {
                inspector.args(["--transport", "http", "--server-url", url]);
            }
            Place::Pipes(home) => {
                for (name, value) in home.variables() {
                    inspector.arg("-e").arg(format!("{name}={value}"));
                }
                inspector.arg("--cwd").arg(&home.path);
                inspector.args(["--", env!("CARGO_BIN_EXE_longhaul"), "mcp"]);
            }
        }
    }
}

impl Client for Inspector<'_> {
    fn wish(&mut self, wish: Value) -> Result<Value, Value> {
        let mut inspector = self.command();
        let text = |name: &str| wish[name].as_str().unwrap_or_default().to_owned();
        match text("wish").as_str() {
            // It does not tell; that it connects in this era is what there is to see.
            "version" => return Ok(Value::Null),
            "tools" => inspector.args(["--method", "tools/list", "--strict"]),
            "prompts" => inspector.args(["--method", "prompts/list"]),
            "resources" => inspector.args(["--method", "resources/list"]),
            "read" => inspector.args(["--method", "resources/read", "--uri", &text("uri")]),
            "call" => {
                let arguments = wish["arguments"].to_string();
                inspector.args(["--method", "tools/call", "--tool-name", &text("name")]);
                inspector.args(["--tool-args-json", &arguments])
            }
            "prompt" => {
                inspector.args(["--method", "prompts/get", "--prompt-name", &text("name"), "--prompt-args"]);
                let given = wish["arguments"].as_object().unwrap().iter();
                inspector.args(given.map(|(name, value)| format!("{name}={}", value.as_str().unwrap())))
            }
            other => panic!("the inspector cannot {other}"),
        };
        self.finish(&mut inspector);
        let output = inspector.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        match serde_json::from_str::<Value>(&said) {
            // `--strict` looks for schemas that clients of some models could not use.
            Ok(_) if text("wish") == "tools" && !output.status.success() => {
                Err(json!({ "message": String::from_utf8_lossy(&output.stderr) }))
            }
            Ok(answer) => Ok(answer.get("result").cloned().unwrap_or(answer)),
            Err(_) => Err(json!({ "message": String::from_utf8_lossy(&output.stderr), "said": said })),
        }
    }
}
