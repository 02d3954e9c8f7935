//! A real pseudo-terminal with the binary on it.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};

use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};

use crate::support::{Home, Outcome, program};

pub(crate) const COLUMNS: u16 = 80;

/// The binary with a controlling terminal; standard output and error are pipes, so that only what is said to
/// the person is on the terminal.
pub(crate) struct Terminal {
    home: std::path::PathBuf,
    pty: Pty,
    child: Child,
    shown: Vec<u8>,
}

impl Terminal {
    pub(crate) fn start(home: &Home, arguments: &[&str]) -> Self {
        Self::start_in(home, &home.path, arguments, &[])
    }

    pub(crate) fn start_in(
        home: &Home,
        directory: &Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let command = Command::new(env!("CARGO_BIN_EXE_longhaul"))
            .args(arguments)
            .current_dir(directory)
            .env_clear()
            .envs(home.variables())
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self::spawn(home, command)
    }

    /// With nothing but the terminal, as a person starts it.
    pub(crate) fn whole(home: &Home, arguments: &[&str]) -> Self {
        Self::whole_in(home, &home.path, arguments, &[])
    }

    pub(crate) fn whole_in(
        home: &Home,
        directory: &Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let command = Command::new(env!("CARGO_BIN_EXE_longhaul")).args(arguments).current_dir(directory);
        let command = command.env_clear().envs(home.variables()).env("TERM", "xterm");
        Self::spawn(home, command.envs(variables.iter().copied()))
    }

    fn spawn(home: &Home, command: Command) -> Self {
        let (pty, pts) = open().unwrap();
        pty.resize(Size::new(24, COLUMNS)).unwrap();
        let child = command.spawn(pts).unwrap();
        Self { home: home.path.clone(), pty, child, shown: Vec::new() }
    }

    /// Reads until the terminal has shown a text.
    pub(crate) fn wait_for(&mut self, text: &str) {
        while !self.shown().contains(text) {
            assert!(self.read(), "the terminal ended before `{text}`: {}", self.shown());
        }
    }

    pub(crate) fn type_text(&mut self, text: &str) {
        self.pty.write_all(text.as_bytes()).unwrap();
    }

    /// Waits for the end: the outcome, and all that the terminal has shown.
    pub(crate) fn end(mut self) -> (Outcome, String) {
        while self.read() {}
        let shown = self.shown();
        (Outcome::of(&self.home, &self.child.wait_with_output().unwrap()), shown)
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown)
            .replace(self.home.to_str().unwrap(), "[HOME]")
            .replace("\r\n", "\n")
    }

    /// Reads some more; Linux reports the end of the other side as an error.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let count = self.pty.read(&mut bytes).unwrap_or(0);
        self.shown.extend_from_slice(&bytes[..count]);
        count > 0
    }

    /// Runs the binary in a session without any controlling terminal.
    pub(crate) fn without(home: &Home, arguments: &[&str]) -> Outcome {
        let mut command = program("setsid");
        command.arg("--wait").arg(env!("CARGO_BIN_EXE_longhaul")).args(arguments);
        command.current_dir(&home.path).env_clear().envs(home.variables()).stdin(Stdio::null());
        Outcome::of(&home.path, &command.output().unwrap())
    }
}
