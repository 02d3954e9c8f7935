//! The outer process: takes the plan, leaves for namespaces of its own, and ends as the program ended.

use std::fs::File;
use std::io::{self, PipeReader, Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getrlimit, set_parent_process_death_signal, setrlimit,
    waitpid,
};

use super::how::How;
use super::inside::{self, Line};
use super::{Doing as _, Failed};
use crate::sandbox::control::{News, receive_plan, take_over};
use crate::sandbox::plan::{self, Input, Plan};
use crate::sandbox::sys::{self, Forked, Signals};
use crate::sandbox::{Level, capabilities, filter, landlocked, namespaces};

/// What we end with when the program never ran; whoever started us has been told more.
const NEVER_RAN: u8 = 127;

pub(super) fn main() -> ExitCode {
    let Ok((plan, mut control)) = take_plan() else { return ExitCode::from(NEVER_RAN) };
    let started = match plan.level {
        Level::Full => full(&plan, &mut control),
        Level::Reduced | Level::None => in_place(&plan, &mut control),
    };
    started.unwrap_or_else(|failed| report(&mut control, &failed))
}

pub(super) fn report(control: &mut UnixStream, failed: &Failed) -> ExitCode {
    let errno = failed.source.raw_os_error().unwrap_or(libc::EIO);
    let step = match failed.source.raw_os_error() {
        Some(_) => failed.step.clone(),
        None => format!("{} ({})", failed.step, failed.source),
    };
    // If nobody listens any more, nobody waits for the program either.
    let _ = News::Failed { step, errno }.send(control);
    ExitCode::from(NEVER_RAN)
}

/// Lets go of everything that was inherited, and takes the plan from standard input.
fn take_plan() -> io::Result<(Plan, UnixStream)> {
    sys::close_from(3)?;
    let control = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let mut control = UnixStream::from(control);
    let plan = receive_plan(&mut control)?;
    rustix::stdio::dup2_stdin(stdin_of(&plan.command, &control)?)?;
    Ok((plan, control))
}

/// What the program reads: nothing, bytes in memory that it may also seek in, or what is handed over.
fn stdin_of(command: &plan::Command, control: &UnixStream) -> io::Result<OwnedFd> {
    let bytes = match &command.stdin {
        Input::Nothing => return Ok(File::open("/dev/null")?.into()),
        Input::Handed => return take_over(control),
        Input::Bytes(bytes) => bytes,
    };
    let mut file = File::from(memfd_create("stdin", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// Becomes the program, behind the walls that need no namespace.
fn in_place(plan: &Plan, control: &mut UnixStream) -> Result<ExitCode, Failed> {
    set_parent_process_death_signal(Some(Signal::KILL)).doing("tie the program to its supervisor")?;
    capabilities::limit(&plan.limits).doing("set limits")?;
    enter_directory(plan)?;
    if plan.level == Level::Reduced {
        capabilities::drop_all().doing("drop privileges")?;
        landlocked::restrict(plan).doing(landlocked::RESTRICT)?;
        filter::install(plan.level, plan.network).doing("filter system calls")?;
    }
    News::Ready.send(control).doing("tell that the walls are up")?;
    if plan.command.is_trial() {
        return Ok(ExitCode::SUCCESS);
    }
    let error = become_program(&plan.command);
    let _ = News::NotStarted(error.raw_os_error().unwrap_or(libc::EINVAL)).send(control);
    Ok(ExitCode::from(NEVER_RAN))
}

pub(super) fn enter_directory(plan: &Plan) -> Result<(), Failed> {
    let directory = &plan.command.directory;
    rustix::process::chdir(directory).map_err(|source| {
        Failed::new(format!("enter `{}`, which is not in the sandbox", directory.display()), source)
    })
}

/// Returns only if it fails.
pub(super) fn become_program(program: &plan::Command) -> io::Error {
    #[expect(clippy::disallowed_methods, reason = "this is `longhaul-exec`, behind the walls")]
    let mut command = Command::new(&program.name);
    command.args(&program.args).env_clear();
    command.envs(program.variables.iter().map(|(name, value)| (name, value)));
    command.exec()
}

fn full(plan: &Plan, control: &mut UnixStream) -> Result<ExitCode, Failed> {
    set_parent_process_death_signal(Some(Signal::KILL)).doing("tie the program to its supervisor")?;
    sys::set_signals(Signals::Held).doing("hold back signals")?;
    namespaces::enter(plan.network)?;
    let (status, status_writer) = io::pipe().doing("make a pipe")?;
    let (leash, leash_holder) = io::pipe().doing("make a pipe")?;
    match sys::fork().doing("start the first process of the namespace")? {
        Forked::Child => {
            drop((status, leash_holder));
            let line = Line { status: status_writer, leash };
            Ok(inside::main(plan, control, line))
        }
        Forked::Parent(first) => {
            drop((status_writer, leash));
            capabilities::drop_all().doing("drop privileges")?;
            // Else a program that is ended by a signal would leave a picture of our own memory.
            let most = getrlimit(Resource::Core).maximum.map_or(1, |most| most.min(1));
            let nothing = Rlimit { current: Some(most), maximum: Some(most) };
            setrlimit(Resource::Core, nothing).doing("set limits")?;
            // Closed by our end, whatever ends us.
            let _leash = leash_holder;
            Ok(end_like(first, status))
        }
    }
}

/// Waits for the first process of the namespace, and with it for all, and ends as the program did.
fn end_like(first: Pid, mut status: PipeReader) -> ExitCode {
    while matches!(waitpid(Some(first), WaitOptions::empty()), Err(rustix::io::Errno::INTR)) {}
    let mut bytes = [0; How::LENGTH];
    // Without a word it was killed, and so was the program.
    let how =
        status.read_exact(&mut bytes).map_or(How::Signalled(libc::SIGKILL), |()| How::from_bytes(bytes));
    match how {
        How::Exited(code) => ExitCode::from(code),
        How::Signalled(signal) => {
            sys::end_by_signal(signal);
            ExitCode::FAILURE
        }
    }
}
