//! Starting a program in a sandbox of macOS: the system's own wrapper puts up the walls. Untested.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::{Spawned, explain, marks};
use crate::mark::{self, Mark};
use crate::sandbox::{Level, wrapper};
use crate::{Error, Program, Sandbox, Stdin};

/// There are none: nothing is left to be done once the wrapper runs.
#[derive(Debug)]
pub(crate) enum Walls {}

pub(super) fn spawn(program: &Program, sandbox: &Sandbox, mark: &Mark) -> Result<Spawned, Error> {
    let directory = program.directory.clone().or_else(|| std::env::current_dir().ok());
    let directory: PathBuf = directory.unwrap_or_else(|| "/".into());
    let mut words = match sandbox.level {
        Level::Full | Level::Reduced => wrapper(sandbox, &directory),
        Level::None => Vec::new(),
    };
    words.push(program.name.clone());
    words.extend(program.args.iter().cloned());
    #[expect(clippy::disallowed_methods, reason = "this is the place that the ban points to")]
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(directory).env_clear();
    command.envs(program.variables_inside(sandbox)).env(mark::VARIABLE, marks(program, mark));
    command.stdin(match program.stdin {
        Stdin::Null => Stdio::null(),
        Stdin::Bytes(_) | Stdin::Talk => Stdio::piped(),
    });
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().map_err(|source| explain(program, source))?;
    Ok(Spawned { child, walls: None })
}

impl Walls {
    pub(crate) fn put_up(&mut self, _program: &Program) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) fn left_behind(&mut self) -> Option<usize> {
        match *self {}
    }

    pub(crate) fn own_processes(&self) -> usize {
        match *self {}
    }
}
