//! A driver process whose every word is written down.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use longhaul_testkit::processes::driver;

pub(crate) const DRIVER: &str = env!("CARGO_BIN_EXE_longhaul-driver");

/// What a driver has said so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    /// The handle to go on with.
    pub(crate) handle: Option<String>,
    /// The last step that it began.
    pub(crate) tried: u64,
    /// The last step that was acknowledged.
    pub(crate) acked: u64,
    pub(crate) errors: Vec<String>,
}

impl Said {
    fn hear(&mut self, line: &str) {
        let mut words = line.split(' ');
        match (words.next(), words.next(), words.next()) {
            (Some("open"), Some(handle), _) => self.handle = Some(handle.to_owned()),
            (Some("try"), Some(n), _) => self.tried = n.parse().unwrap(),
            (Some("ack"), Some(n), Some(handle)) => {
                self.acked = n.parse().unwrap();
                self.handle = Some(handle.to_owned());
            }
            (Some("error"), Some(code), _) => self.errors.push(code.to_owned()),
            _ => {}
        }
    }

    /// What a next process needs to go on exactly where this one was.
    pub(crate) fn command(&self, home: &Path) -> Command {
        let mut command = driver(DRIVER, home, "advance");
        if let Some(handle) = &self.handle {
            command.args(["--handle", handle, "--from", &(self.acked + 1).to_string()]);
        }
        command
    }
}

/// A running driver.
pub(crate) struct Driven {
    pub(crate) child: Child,
    listener: JoinHandle<Said>,
}

impl Driven {
    /// Starts `command`; what it says is added to what was said before.
    pub(crate) fn start(mut command: Command, mut said: Said) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let listener = std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| said.hear(&line));
            said
        });
        Self { child, listener }
    }

    pub(crate) fn kill(mut self) -> Said {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.listener.join().unwrap()
    }

    /// Waits for its end, and says whether it ended well.
    pub(crate) fn finish(mut self) -> (Said, bool) {
        let ended_well = self.child.wait().unwrap().success();
        (self.listener.join().unwrap(), ended_well)
    }
}

/// Runs a driver to its end.
pub(crate) fn run(command: Command, said: Said) -> (Said, bool) {
    Driven::start(command, said).finish()
}
