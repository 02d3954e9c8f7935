//! From what went wrong to what a person or a script gets: a message, a page to read, an exit code.

use std::error::Error as StdError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use longhaul_runtime::{Error, Kind, terminal};
use serde_json::json;

use crate::commands::Obstacle;
use crate::output::{Format, Output};

pub(crate) const REFUSED: u8 = 3;
pub(crate) const ENVIRONMENT: u8 = 4;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Runtime(#[from] Error),
    #[error("could not {doing} `{}`: {source}; check the path and its permissions", path.display())]
    File { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("`{}` is there already and is not overwritten; name another file", path.display())]
    Exists { path: PathBuf },
    #[error("`{}` is there already; name another file, or write over it with `--force`", path.display())]
    ExistsUnforced { path: PathBuf },
    #[error("`{}` is not a plain file, and would not survive being written over; name another file, or `-`", path.display())]
    NotAPlainFile { path: PathBuf },
    #[error("{what} cannot be read: {problem}")]
    BadInput { what: &'static str, problem: String },
    #[error("there is no database yet, so there is nothing to {verb}; any command that writes makes one")]
    NoStore { verb: &'static str },
    #[error("the value in `{}` is not UTF-8 text, and only text is stored; check the file", path.display())]
    NotText { path: PathBuf },
    #[error("no value was given, nothing was changed; run it again or use `--value-file`")]
    NoValue,
    #[error("nobody is here to type the value; give it with `--value-file FILE` or `--value-file -`")]
    NobodyToAsk,
    #[error(
        "a value is never an argument: others can see it, and the shell keeps it; think of it as known, and give another one when you are asked, or through standard input"
    )]
    ValueAsArgument,
    #[error("no value was given, nothing was changed; run it again")]
    NoSecret,
    #[error(
        "`--watch` is for people; with `--json`, follow the session with `longhaul session tail ID --json`"
    )]
    WatchWithJson,
    #[error("a rehearsal plays a script; name its file with `--cassette FILE`")]
    NoCassette,
    #[error("only the agent `rehearsal` plays a cassette; leave `--cassette` or `--agent` out")]
    CassetteOfAnother,
    #[error(
        "`--config` stands before and after the command, and only one place counts; write all of them in one"
    )]
    ScatteredSettings,
    #[error("neither `HOME` nor the list of users says where your home is; set `HOME`")]
    NoHome,
    #[error("`{}` was left as it is: {why}; put this into it by hand:\n{snippet}", path.display())]
    Unwritable { path: PathBuf, why: Obstacle, snippet: String },
    #[error("`{}` was left as it is: {why}; take the server `longhaul` out of it by hand", path.display())]
    NotTakenOut { path: PathBuf, why: Obstacle },
    #[error("`--session` is for agents that work on one session; add `--profile leaf`, or leave it out")]
    SessionWithoutLeaf,
    #[error("the MCP server ended: {0}; start it again")]
    Mcp(#[source] io::Error),
    #[error("could not listen on `{address}`: {source}; choose another port, or stop what has it")]
    Listen { address: SocketAddr, source: io::Error },
    #[error(
        "the token of `{name}` is too short or holds spaces; set one of 16 letters or more without spaces"
    )]
    WeakToken { name: &'static str },
    #[error("there is no gateway at `{}`; this is for agents in the sandbox of a session, which find it by `LONGHAUL_GATEWAY`", socket.display())]
    NoGateway { socket: PathBuf },
    #[error(
        "nobody is here to ask, and without `--kind` nothing says how it is driven; give `--kind`, one of acp, command, anthropic, openai-chat, openai-responses"
    )]
    NoKind,
    #[error("no answer was given, nothing was written; run it again")]
    NoAnswer,
    #[error(transparent)]
    Daemon(#[from] longhaul_web::ClientError),
    #[error("`{0}` is not an error code; `longhaul explain` lists them")]
    UnknownCode(String),
    #[error("there is no command `{words}`; {}", advice(meant.as_deref()))]
    UnknownCommand { words: String, meant: Option<String> },
}

fn advice(meant: Option<&str>) -> String {
    meant.map_or_else(
        || "`longhaul help --all` lists them".to_owned(),
        |meant| format!("did you mean `{meant}`?"),
    )
}

impl CliError {
    pub(crate) fn file(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            _ => Self::File { doing, path, source },
        }
    }

    fn code(&self) -> Option<&'static str> {
        match self {
            Self::Runtime(error) => error.code(),
            Self::NoStore { .. } => Some("E0107"),
            Self::BadInput { .. } => Some("E0621"),
            Self::File { .. }
            | Self::Exists { .. }
            | Self::ExistsUnforced { .. }
            | Self::NotAPlainFile { .. }
            | Self::NotText { .. }
            | Self::NoValue
            | Self::NobodyToAsk
            | Self::ValueAsArgument
            | Self::NoSecret
            | Self::NoKind
            | Self::NoAnswer
            | Self::WatchWithJson
            | Self::NoCassette
            | Self::CassetteOfAnother
            | Self::ScatteredSettings
            | Self::NoHome
            | Self::Unwritable { .. }
            | Self::NotTakenOut { .. }
            | Self::SessionWithoutLeaf
            | Self::Mcp(_)
            | Self::Listen { .. }
            | Self::WeakToken { .. }
            | Self::NoGateway { .. }
            | Self::Daemon(_)
            | Self::UnknownCode(_)
            | Self::UnknownCommand { .. } => None,
        }
    }

    const fn kind(&self) -> Kind {
        match self {
            Self::Runtime(error) => error.kind(),
            Self::Exists { .. }
            | Self::ExistsUnforced { .. }
            | Self::NotAPlainFile { .. }
            | Self::NoValue
            | Self::NoSecret
            | Self::NoAnswer
            | Self::Unwritable { .. }
            | Self::NotTakenOut { .. } => Kind::Refused,
            Self::NotText { .. }
            | Self::BadInput { .. }
            | Self::NobodyToAsk
            | Self::NoKind
            | Self::ValueAsArgument
            | Self::WatchWithJson
            | Self::NoCassette
            | Self::CassetteOfAnother
            | Self::ScatteredSettings
            | Self::SessionWithoutLeaf
            | Self::WeakToken { .. }
            | Self::UnknownCode(_)
            | Self::UnknownCommand { .. } => Kind::Usage,
            Self::File { .. }
            | Self::Daemon(_)
            | Self::NoGateway { .. }
            | Self::NoStore { .. }
            | Self::NoHome
            | Self::Mcp(_)
            | Self::Listen { .. } => Kind::Environment,
        }
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        let first: &dyn StdError = self;
        std::iter::successors(Some(first), |error| (*error).source())
            .filter_map(|error| error.downcast_ref::<io::Error>())
            .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Tells the error on standard error, in the format that was asked for.
    pub(crate) fn report(&self, output: &Output) -> ExitCode {
        let exit = match self.kind() {
            Kind::Usage => 2,
            Kind::Refused => REFUSED,
            Kind::Environment => ENVIRONMENT,
            Kind::Conflict => 5,
            Kind::Bug => crate::BUG,
        };
        let message = self.to_string();
        match output.format() {
            Format::Json => {
                let error = json!({"error": {"code": self.code(), "message": message, "exit": exit}});
                output.complain(&error.to_string());
            }
            Format::Table => output.complain(&self.in_words(&message)),
        }
        ExitCode::from(exit)
    }

    fn in_words(&self, message: &str) -> String {
        let mark = self.code().map(|code| format!("[{code}]")).unwrap_or_default();
        // What follows a line break is indented, so that none in a file name makes a line that looks like ours.
        let lines: Vec<String> = message.lines().map(terminal::visible).collect();
        let hint = self.code().map(|code| format!("\nhint: longhaul explain {code}")).unwrap_or_default();
        format!("error{mark}: {}{hint}", lines.join("\n  "))
    }
}

/// Tells a script that its command line was not understood. What people are shown beside it, the usage, is left out.
pub(crate) fn report_usage(shown: &str, exit: u8) {
    let words = shown.split_once("\n\nUsage:").map_or(shown, |(words, _)| words).trim();
    let message = words.strip_prefix("error: ").unwrap_or(words);
    let error = json!({"error": {"code": null, "message": message, "exit": exit}});
    Output::new(Format::Json).complain(&error.to_string());
}
