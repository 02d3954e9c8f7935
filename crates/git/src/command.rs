//! One run of git in a neutral environment. Must never let `GIT_*` variables, hooks, monitors or remotes
//! have a say.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use longhaul_exec::{Heard, Outcome, Program, Stdin, run, start};

use crate::{Error, ObjectId, Repository};

const TIMEOUT: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(1);
const PIECE_BYTES: usize = 64 * 1024;
const ANSWER_LIMIT_BYTES: usize = 1024 * 1024;

/// The only inherited variables of git's own that stay: where it is installed and how far discovery may go.
const KEPT: [&str; 3] = ["GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"];

const SET: [(&str, &str); 7] = [
    // Messages are told apart by their text.
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    // An id must name its own bytes, not those that `refs/replace` puts in their place.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // A partial clone would fetch what it lacks, with whatever transport its configuration names. The
    // second does it for versions before 2.45, which do not know the first.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
];

const CONFIGURATION: [&str; 4] = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];

/// A git command to be run.
#[derive(Debug)]
pub(crate) struct Git {
    program: Program,
    shown: String,
    answer_limit_bytes: usize,
    timeout: Duration,
}

/// What git answered, with a status for the caller to judge.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    command: String,
}

impl Git {
    /// Git in a directory, finding the repository by itself.
    pub(crate) fn in_directory(directory: &Path) -> Self {
        Self::new().directory(directory)
    }

    /// Git on a repository that was found before.
    pub(crate) fn in_repository(repository: &Repository) -> Self {
        let mut option = OsString::from("--git-dir=");
        option.push(&repository.git_dir);
        Self::new().directory(&repository.git_dir).before_verb(option)
    }

    pub(crate) fn new() -> Self {
        let mut program = Program::new("git").args(CONFIGURATION).timeout(TIMEOUT).grace(GRACE);
        for (name, _) in std::env::vars_os().filter(|(name, _)| redirects(name)) {
            program = program.remove_variable(name);
        }
        for (name, value) in SET {
            program = program.set_variable(name, value);
        }
        Self { program, shown: "git".into(), answer_limit_bytes: ANSWER_LIMIT_BYTES, timeout: TIMEOUT }
    }

    /// For what may take longer than a look at the disk.
    pub(crate) fn timeout(mut self, timeout: Duration) -> Self {
        self.program = self.program.timeout(timeout);
        self.timeout = timeout;
        self
    }

    /// Lets git use these transports and no others, whatever anybody configures.
    pub(crate) fn allow_protocols(mut self, protocols: &str) -> Self {
        self.program = self.program.set_variable("GIT_ALLOW_PROTOCOL", protocols);
        self
    }

    /// A setting that wins over whatever any file says.
    pub(crate) fn setting(self, setting: impl Into<OsString>) -> Self {
        self.before_verb("-c").before_verb(setting)
    }

    /// Knows no configuration but that of the repository itself, which is one of our own making. So nobody's
    /// filters, merge drivers, helpers or aliases exist.
    pub(crate) fn isolated(self) -> Self {
        self.variable("GIT_CONFIG_NOSYSTEM", "1")
            .variable("GIT_CONFIG_GLOBAL", "/dev/null")
            .variable("GIT_ATTR_NOSYSTEM", "1")
    }

    /// Set after all that is removed, so that it counts.
    pub(crate) fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.program = self.program.set_variable(name, value);
        self
    }

    /// By which it is found again if whoever started it was killed.
    pub(crate) fn label(mut self, label: String) -> Self {
        self.program = self.program.label(label);
        self
    }

    /// An option of git itself.
    pub(crate) fn before_verb(mut self, option: impl Into<OsString>) -> Self {
        self.program = self.program.arg(option);
        self
    }

    /// The verb and its arguments. Only these are shown in messages.
    pub(crate) fn args<I>(mut self, args: I) -> Self
    where
        I: IntoIterator<Item: Into<OsString>>,
    {
        for arg in args {
            let arg = arg.into();
            self.shown.push(' ');
            self.shown.push_str(&arg.to_string_lossy());
            self.program = self.program.arg(arg);
        }
        self
    }

    pub(crate) fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.program = self.program.stdin(Stdin::Bytes(bytes));
        self
    }

    pub(crate) fn answer_limit_bytes(mut self, limit: usize) -> Self {
        self.answer_limit_bytes = limit;
        self
    }

    pub(crate) fn run(self) -> Result<Answer, Error> {
        let Self { program, shown: command, answer_limit_bytes, timeout } = self;
        let finished = match run(&program.capture_limit_bytes(answer_limit_bytes)) {
            Ok(finished) => finished,
            Err(longhaul_exec::Error::ProgramNotFound { .. }) => return Err(Error::GitMissing),
            Err(source) => return Err(Error::Run { command, source }),
        };
        let status = status_of(finished.outcome, &command, timeout)?;
        if !finished.stdout.is_complete() {
            return Err(Error::AnswerTooLarge { command, limit_bytes: answer_limit_bytes });
        }
        Ok(Answer { status, stdout: finished.stdout.to_bytes(), stderr: finished.stderr.to_text(), command })
    }

    /// What it prints, piece by piece, so that nobody holds the whole. It ends as soon as somebody cannot take a piece.
    pub(crate) fn each_piece(self, take: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let Self { program, shown: command, timeout, .. } = self;
        let mut running = match start(&program.stdin(Stdin::Talk)) {
            Ok(running) => running,
            Err(longhaul_exec::Error::ProgramNotFound { .. }) => return Err(Error::GitMissing),
            Err(source) => return Err(Error::Run { command, source }),
        };
        let mut talk = running.talk().expect("it was started to be talked with");
        talk.finish_saying();
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            match talk.listen(&mut piece, timeout) {
                Ok(Heard::Bytes(count)) => take(&piece[..count])?,
                Ok(Heard::Nothing) => {}
                Ok(Heard::End) => break,
                Err(_) => return Err(Error::Interrupted { command }),
            }
        }
        let finished = running.wait().map_err(|source| Error::Run { command: command.clone(), source })?;
        match status_of(finished.outcome, &command, timeout)? {
            0 => Ok(()),
            status => {
                let message = finished.stderr.to_text().trim().to_owned();
                Err(Error::Failed { command, status, message })
            }
        }
    }

    pub(crate) fn directory(mut self, directory: &Path) -> Self {
        self.program = self.program.directory(directory);
        self
    }
}

fn status_of(outcome: Outcome, command: &str, timeout: Duration) -> Result<i32, Error> {
    let command = || command.to_owned();
    match outcome {
        Outcome::Exited(status) => Ok(status),
        Outcome::TimedOut => Err(Error::TimedOut { command: command(), timeout }),
        Outcome::Signalled(_) | Outcome::OutOfRoom | Outcome::Stopped => {
            Err(Error::Interrupted { command: command() })
        }
    }
}

impl Answer {
    /// What was printed as text without the line break at its end, if the status is 0.
    pub(crate) fn line(self) -> Result<String, Error> {
        let command = self.command.clone();
        let text = String::from_utf8(self.succeeded()?).map_err(|error| Error::UnknownAnswer {
            command,
            answer: String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })?;
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// The one id that was printed, if the status is 0.
    pub(crate) fn object_id(self) -> Result<ObjectId, Error> {
        let command = self.command.clone();
        let line = self.line()?;
        ObjectId::parse(&line).ok_or(Error::UnknownAnswer { command, answer: line })
    }

    /// What was printed, if the status is 0.
    pub(crate) fn succeeded(self) -> Result<Vec<u8>, Error> {
        if self.status == 0 { Ok(self.stdout) } else { Err(self.failed()) }
    }

    pub(crate) fn failed(self) -> Error {
        Error::Failed { command: self.command, status: self.status, message: self.stderr.trim().to_owned() }
    }

    pub(crate) fn unknown(self) -> Error {
        let answer = String::from_utf8_lossy(&self.stdout).trim().to_owned();
        Error::UnknownAnswer { command: self.command, answer }
    }
}

/// Whether an inherited variable could lead git elsewhere. All of git's own that are not known to be
/// harmless count: `GIT_DIR` and `GIT_CONFIG_KEY_0` as well as what a later version may bring.
fn redirects(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"GIT_") && !KEPT.iter().any(|kept| name == *kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_of_git_counts_as_redirecting_but_the_few_that_are_kept() {
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_KEY_0", "GIT_FROM_THE_FUTURE"]
        {
            assert!(redirects(OsStr::new(name)), "{name}");
        }
        for name in ["GIT_EXEC_PATH", "PATH", "HOME", "DIGIT_DIR"] {
            assert!(!redirects(OsStr::new(name)), "{name}");
        }
    }
}
