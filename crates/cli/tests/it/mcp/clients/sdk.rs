//! A client of an SDK, in its own process; its few lines are in `crates/mcp/tests/clients/`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use longhaul_testkit::parts::{Npm, Python};
use serde_json::{Value, json};

use super::{Client, Maker, Mode, Person, Place};

pub(super) struct Sdk {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Sdk {
    pub(super) fn start(maker: Maker, place: &Place, mode: Mode, person: Person) -> Self {
        let mut command = program(maker);
        command.arg(target(place, mode, person).to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }
}

impl Client for Sdk {
    fn wish(&mut self, wish: Value) -> Result<Value, Value> {
        writeln!(self.input.as_mut().unwrap(), "{wish}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{wish}: {error}: {line:?}"));
        match answer.get("bad") {
            Some(bad) => Err(bad.clone()),
            None => Ok(answer["good"].clone()),
        }
    }
}

/// It ends when there is nothing more to wish, and neither it nor our server has anything to complain about.
impl Drop for Sdk {
    fn drop(&mut self) {
        self.input = None;
        let mut complaints = String::new();
        let read = self.child.stderr.take().unwrap().read_to_string(&mut complaints);
        let ended = self.child.wait();
        if std::thread::panicking() {
            // The test fails already; this may say why.
            let _ = std::io::stderr().write_all(complaints.as_bytes());
            return;
        }
        read.unwrap();
        assert_eq!((ended.unwrap().code(), complaints.as_str()), (Some(0), ""));
    }
}

fn program(maker: Maker) -> Command {
    let script = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp/tests/clients").join(name);
    match maker {
        Maker::TypeScript1 => Npm::installed().node(script("typescript-1.mjs")),
        Maker::TypeScript2 => Npm::installed().node(script("typescript-2.mjs")),
        Maker::Python2 => Python::installed().python(script("python_2.py")),
        Maker::Inspector => unreachable!("the inspector is a program of its own"),
    }
}

fn target(place: &Place, mode: Mode, person: Person) -> Value {
    let mode = match mode {
        Mode::Legacy => "legacy",
        Mode::Auto => "auto",
    };
    let person = person == Person::Present;
    match place {
        Place::Port { url, .. } => json!({ "url": url, "mode": mode, "person": person }),
        Place::Pipes(home) => {
            let stdio = json!({
                "command": env!("CARGO_BIN_EXE_longhaul"),
                "args": ["mcp"],
                "env": home.variables(),
                "cwd": home.path,
            });
            json!({ "stdio": stdio, "mode": mode, "person": person })
        }
    }
}
