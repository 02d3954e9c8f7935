//! `bash`: a command, inside the session's walls.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use longhaul_exec::{Error, Outcome, Program};
use serde_json::{Map, Value, json};

use super::{
    Answer, Broken, CANNOT_ENTER, CANNOT_RUN, Desk, MOST_OUTPUT_BYTES, Needs, Tool, ToolError, complain,
    number, text,
};

const DEFAULT_SECONDS: u64 = 120;
const MOST_SECONDS: u64 = 1800;

pub(super) const TOOL: Tool = Tool {
    name: "bash",
    description: "Run a shell command in the checkout, inside the sandbox. Shows how it ended and what it printed. What \
                  it leaves running is ended with it.",
    input,
    needs: Needs::Running,
    run,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": { "type": "string" },
            "seconds": { "type": "integer", "minimum": 1, "maximum": MOST_SECONDS, "description": "How long it may take; 120 unless given." }
        },
        "required": ["command"]
    })
}

fn run(desk: &Desk<'_>, arguments: &Map<String, Value>) -> Result<Answer, ToolError> {
    let command = text(arguments, "command")?;
    if command.trim().is_empty() || command.contains('\0') {
        return Err(complain("give a command"));
    }
    let seconds = number(arguments, "seconds")?.unwrap_or(DEFAULT_SECONDS).clamp(1, MOST_SECONDS);
    let program = Program::new("/bin/sh")
        .args(["-c", command])
        .directory(desk.room.path())
        .timeout(Duration::from_secs(seconds))
        .capture_limit_bytes(MOST_OUTPUT_BYTES);
    let finished = desk.walls.run(program).map_err(|error| broken(desk.room.path(), &error))?;
    let (ended, exit) = match finished.outcome {
        Outcome::Exited(status) => (format!("exit {status}"), Some(status)),
        Outcome::Signalled(signal) => (format!("ended by signal {signal}"), None),
        Outcome::TimedOut => (format!("took longer than {seconds} s and was ended"), None),
        Outcome::OutOfRoom => ("was ended because the disk was nearly full".to_owned(), None),
        Outcome::Stopped => ("was stopped with the session".to_owned(), None),
    };
    let parts = [("stdout", desk.printed(&finished.stdout)), ("stderr", desk.printed(&finished.stderr))];
    let printed: String = parts
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| ["\n", name, ":\n", text.trim_end(), "\n"].concat())
        .collect();
    Ok(Answer { text: format!("{ended}\n{printed}"), exit })
}

fn broken(folder: &Path, error: &Error) -> ToolError {
    if let Some(mode) = closed(folder) {
        let source = std::io::Error::other(format!("`{}` has the permissions {mode:03o}", folder.display()));
        return Broken { what: CANNOT_ENTER.to_owned(), source }.into();
    }
    Broken { what: CANNOT_RUN.to_owned(), source: std::io::Error::other(error.to_string()) }.into()
}

/// The permissions of a folder whose owner may not go into it. An agent can take them away from its own.
fn closed(folder: &Path) -> Option<u32> {
    let mode = std::fs::metadata(folder).ok()?.permissions().mode() & 0o777;
    (mode & 0o500 != 0o500).then_some(mode)
}
