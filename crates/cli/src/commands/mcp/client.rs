//! The agents that we can write ourselves into, and where each keeps its settings.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Map, Value, json};

/// The name of our entry, everywhere.
pub(super) const NAME: &str = "longhaul";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Gemini CLI.
    Gemini,
}

/// How its settings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    Toml,
}

impl Client {
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::Vscode => "Visual Studio Code",
            Self::Gemini => "Gemini CLI",
        }
    }

    pub(super) const fn syntax(self) -> Syntax {
        match self {
            Self::Codex => Syntax::Toml,
            Self::Claude | Self::Cursor | Self::Vscode | Self::Gemini => Syntax::Json,
        }
    }

    /// The key under which it keeps its servers.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Codex => "mcp_servers",
            Self::Vscode => "servers",
            Self::Claude | Self::Cursor | Self::Gemini => "mcpServers",
        }
    }

    /// The file, for the user whose home this is.
    pub(super) fn file(self, home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
        let own = |name: &str| variable(name).filter(|path| path.is_absolute());
        match self {
            Self::Claude => own("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.to_owned()).join(".claude.json"),
            Self::Codex => own("CODEX_HOME").unwrap_or_else(|| home.join(".codex")).join("config.toml"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::Vscode if cfg!(target_os = "macos") => {
                home.join("Library/Application Support/Code/User/mcp.json")
            }
            Self::Vscode => {
                own("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("Code/User/mcp.json")
            }
            Self::Gemini => home.join(".gemini/settings.json"),
        }
    }

    /// Our entry.
    pub(super) fn entry(self, program: &str) -> Map<String, Value> {
        let mut entry = Map::new();
        if matches!(self, Self::Claude | Self::Vscode) {
            entry.insert("type".to_owned(), json!("stdio"));
        }
        entry.insert("command".to_owned(), json!(program));
        entry.insert("args".to_owned(), json!(["mcp"]));
        entry
    }

    /// What to paste by hand.
    pub(super) fn snippet(self, program: &str) -> String {
        match self.syntax() {
            Syntax::Toml => {
                format!("[{}.{NAME}]\ncommand = {}\nargs = [\"mcp\"]\n", self.key(), json!(program))
            }
            Syntax::Json => {
                let whole = json!({ self.key(): { NAME: self.entry(program) } });
                serde_json::to_string_pretty(&whole).expect("an entry has string keys only") + "\n"
            }
        }
    }
}

/// Whether arguments that somebody wrote start the server: then they are theirs to keep.
pub(super) fn serves(arguments: &Value) -> bool {
    let words = arguments.as_array().into_iter().flatten().filter_map(Value::as_str);
    words.into_iter().find(|word| !word.starts_with('-')) == Some("mcp")
}

/// Whether an entry starts us, wherever we lay when it was written and whatever we were called.
pub(super) fn is_ours(command: Option<&str>, arguments: Option<&Value>) -> bool {
    let Some(command) = command else { return false };
    let name = Path::new(command).file_name();
    // A copy under another name is told by how it is started: by its whole path, and with our own word first.
    let is_renamed = || Path::new(command).is_absolute() && arguments.is_some_and(begins_with_us);
    name.is_some_and(|name| name == NAME) || is_renamed()
}

fn begins_with_us(arguments: &Value) -> bool {
    arguments.as_array().and_then(|words| words.first()).is_some_and(|first| first == "mcp")
}
