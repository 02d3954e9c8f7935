//! The first process of a sandbox: builds the root, starts the program, hands connections on, buries the dead, and
//! goes when the program or anybody outside goes.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, set_parent_process_death_signal, wait};

use super::how::How;
use super::outside::{become_program, enter_directory, report};
use super::{Doing as _, Failed};
use crate::sandbox::control::News;
use crate::sandbox::plan::Plan;
use crate::sandbox::sys::{self, Forked, Signals};
use crate::sandbox::{Level, Network, capabilities, filter, landlocked, layout, namespaces, relay, root};

const PAUSE: Duration = Duration::from_millis(2);

/// The line to the outer process.
pub(super) struct Line {
    /// Takes how the program ended.
    pub(super) status: PipeWriter,
    /// Ends when the outer process does.
    pub(super) leash: PipeReader,
}

pub(super) fn main(plan: &Plan, control: &mut UnixStream, line: Line) -> ExitCode {
    let program = match put_up_walls(plan).and_then(|listener| start(plan, control, listener)) {
        Ok(Some(program)) => program,
        Ok(None) => return ExitCode::FAILURE,
        Err(failed) => return report(control, &failed),
    };
    match watch(control, line.leash) {
        Ok(()) => attend(plan, control, program, line.status),
        Err(failed) => report(control, &failed),
    }
}

/// After this nobody here has any privilege, and no call goes past the filter.
fn put_up_walls(plan: &Plan) -> Result<Option<TcpListener>, Failed> {
    root::build(plan)?;
    namespaces::bring_up(plan.network).doing("bring the loopback device up")?;
    let listener = match (&plan.gateway, plan.network) {
        (Some(gateway), Network::None | Network::AllowList) => {
            Some(relay::listen(gateway.port).doing("listen for the gateway")?)
        }
        (Some(_), Network::Open) | (None, _) => None,
    };
    capabilities::drop_all().doing("drop privileges")?;
    set_parent_process_death_signal(Some(Signal::KILL)).doing("tie the sandbox to its supervisor")?;
    filter::install(Level::Full, plan.network).doing("filter system calls")?;
    Ok(listener)
}

/// Starts the program and then, not before it is forked, the first thread. `None` in the forked process when it
/// could not become the program.
fn start(
    plan: &Plan,
    control: &mut UnixStream,
    listener: Option<TcpListener>,
) -> Result<Option<Pid>, Failed> {
    News::Ready.send(control).doing("tell that the walls are up")?;
    let (mut news, teller) = io::pipe().doing("make a pipe")?;
    let program = match sys::fork().doing("start the program")? {
        Forked::Child => {
            become_or_tell(plan, control, teller);
            return Ok(None);
        }
        Forked::Parent(program) => program,
    };
    drop(teller);
    let mut told = Vec::new();
    news.read_to_end(&mut told).doing("see the program start")?;
    // The other process has told it, and ends.
    if !told.is_empty() {
        return Ok(None);
    }
    News::Started.send(control).doing("tell that the program runs")?;
    if let Some(listener) = listener {
        relay::serve(listener, Path::new(layout::GATEWAY_SOCKET)).doing("hand connections on")?;
    }
    Ok(Some(program))
}

/// Becomes the program, which closes `teller`; else tells why not.
fn become_or_tell(plan: &Plan, control: &mut UnixStream, mut teller: PipeWriter) {
    // A session of its own: no terminal, and no group that reaches beyond the sandbox.
    let begun = rustix::process::setsid().doing("leave the session").and_then(|_| {
        sys::set_signals(Signals::Free).doing("let signals through")?;
        capabilities::limit(&plan.limits).doing("set limits")?;
        enter_directory(plan)?;
        landlocked::second_wall(plan).doing(landlocked::RESTRICT)
    });
    if let Err(failed) = begun {
        report(control, &failed);
    } else if plan.command.is_trial() {
        return;
    } else {
        let error = become_program(&plan.command);
        let _ = News::NotStarted(error.raw_os_error().unwrap_or(libc::EINVAL)).send(control);
    }
    let _ = teller.write_all(&[1]);
}

/// Kills everything as soon as the supervisor or the outer process is gone.
fn watch(control: &UnixStream, leash: PipeReader) -> Result<(), Failed> {
    let control = control.try_clone().doing("watch the supervisor")?;
    relay::spawn(move || {
        // Nothing is ever sent on either.
        let mut lines = [PollFd::new(&control, PollFlags::IN), PollFd::new(&leash, PollFlags::IN)];
        while matches!(poll(&mut lines, None), Err(Errno::INTR)) {}
        sys::signal_everybody(libc::SIGKILL);
    })
    .doing("watch the supervisor")
}

/// Buries the dead until the program is among them, then ends the rest.
fn attend(plan: &Plan, control: &mut UnixStream, program: Pid, mut status: PipeWriter) -> ExitCode {
    let ended = loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, ended))) if pid == program => break ended,
            Ok(_) | Err(Errno::INTR) => {}
            // Our child is gone unseen, which nobody can bring about.
            Err(_) => return ExitCode::FAILURE,
        }
    };
    let survivors = if is_alone() { 0 } else { living() };
    let _ = News::Ended { survivors }.send(control);
    if survivors > 0 {
        sys::signal_everybody(libc::SIGTERM);
        bury_for(plan.grace);
    }
    let _ = status.write_all(&How::of(ended).to_bytes());
    ExitCode::SUCCESS
}

/// Whether all who came from the program are dead and buried; whoever lost their parent is our child.
fn is_alone() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// How many processes there are beside this one. Zombies are dead.
fn living() -> u32 {
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let alive = ids.filter(|id| *id != 1).filter(|id| {
        let stat = std::fs::read(format!("/proc/{id}/stat")).unwrap_or_default();
        let state = stat.iter().rposition(|byte| *byte == b')').and_then(|end| stat.get(end + 2));
        state.is_some_and(|state| !matches!(state, b'Z' | b'X'))
    });
    u32::try_from(alive.count()).unwrap_or(u32::MAX)
}

/// Buries whoever ends within the grace. The others die with us.
fn bury_for(grace: Duration) {
    let deadline = Instant::now().checked_add(grace);
    while deadline.is_none_or(|deadline| Instant::now() < deadline) {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => thread::sleep(PAUSE),
            Err(_) => return,
        }
    }
}
