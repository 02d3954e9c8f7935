//! Running programs as callers see them. Every program has a supervising thread from its start to its
//! verified end, so bounds hold even while nobody waits.

use std::fs::File;
use std::io::{PipeWriter, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::panic;
use std::process::Child;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::supervisor::{self, Started};
use crate::{Captured, Error, Program, Talk};

/// Runs a program to its end.
pub fn run(program: &Program) -> Result<Finished, Error> {
    start(program)?.wait()
}

/// Starts a program and returns as soon as it runs.
pub fn start(program: &Program) -> Result<Running, Error> {
    let Started { id, control, supervisor, talk } = supervisor::start(program)?;
    Ok(Running { id, stopper: Stopper { control: Arc::new(control) }, supervisor: Some(supervisor), talk })
}

/// Starts a program of our own that outlives this process, and returns its id.
///
/// The one exception to "nothing started here can become a daemon": it is for runners, which take their own
/// session with `setsid` first thing, hold a lease in the log and end by themselves.
pub fn detach(program: &Program) -> Result<u32, Error> {
    crate::spawn::detach(program, None).map(|child| child.id())
}

/// The same for our own daemon, whose output goes into a file, and of which it can be told how it ended while we are there.
pub fn detach_into(program: &Program, output: &File) -> Result<Detached, Error> {
    crate::spawn::detach(program, Some(output)).map(Detached)
}

/// A program that outlives us. Dropping it changes nothing.
#[derive(Debug)]
pub struct Detached(Child);

impl Detached {
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Asks it. As long as its end was not heard of, its id is nobody else's.
    pub fn ask(&mut self, plea: Plea) {
        let pid = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
        if let (Some(pid), None) = (pid, self.ended()) {
            let _ = kill_process(pid, plea.signal());
        }
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<Outcome> {
        let status = self.0.try_wait().ok().flatten()?;
        let signalled = || Outcome::Signalled(status.signal().unwrap_or_default());
        Some(status.code().map_or_else(signalled, Outcome::Exited))
    }
}

/// What another process of ours is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plea {
    /// To end when it can.
    End,
    /// It is not asked: it dies.
    Die,
}

impl Plea {
    const fn signal(self) -> Signal {
        match self {
            Self::End => Signal::TERM,
            Self::Die => Signal::KILL,
        }
    }
}

/// Asks the process with this id that started at this tick, and no other that took its id. Where the system does not tell
/// ticks, the caller knows by other means that the id is still its own. Whether it heeds that is seen, not assumed: see
/// [`is_alive`].
pub fn ask(id: u32, started_ticks: Option<u64>, plea: Plea) {
    crate::tree::signal(id, started_ticks, plea.signal());
}

/// Takes this process out of the session of whoever started it, so that a closed terminal does not end it.
pub fn leave_session() {
    // Fails only for the leader of a process group, which has a session or group of its own already.
    let _ = rustix::process::setsid();
}

/// When this process started, in clock ticks since boot: with its id it names one process only. `None` where the
/// system does not tell.
pub fn started_ticks() -> Option<u64> {
    crate::tree::own_start_ticks()
}

/// Whether the process with this id that started at this tick is alive. Where the system does not tell, nobody is.
pub fn is_alive(id: u32, started_ticks: u64) -> bool {
    crate::tree::is_alive(id, started_ticks)
}

/// A program that was started. Dropping it kills its tree and waits until that is dead.
#[derive(Debug)]
pub struct Running {
    id: u32,
    stopper: Stopper,
    supervisor: Option<JoinHandle<Result<Finished, Error>>>,
    talk: Option<Talk>,
}

impl Running {
    /// The process id, also the id of the process group.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Our ends of its pipes, once, if it was started with [`crate::Stdin::Talk`]. Left here, they are closed when
    /// somebody waits.
    pub fn talk(&mut self) -> Option<Talk> {
        self.talk.take()
    }

    /// Whether it has ended, with all that it left behind, so that `wait` answers at once.
    pub fn is_over(&self) -> bool {
        self.supervisor.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end of the program and of all that it left behind.
    pub fn wait(mut self) -> Result<Finished, Error> {
        self.talk = None;
        self.supervisor
            .take()
            .map(join)
            .expect("only `wait` and `drop` take the supervisor, and each is the last call")
    }

    /// Kills the whole tree and verifies it. A program that had already ended keeps its own outcome.
    pub fn kill(self) -> Result<Finished, Error> {
        self.stopper.stop();
        self.wait()
    }

    /// A handle with which another thread can end the program while this one waits.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(supervisor) = self.supervisor.take() {
            self.stopper.stop();
            if let Ok(Err(error)) = supervisor.join() {
                tracing::warn!(%error, id = self.id, "a dropped program did not end cleanly");
            }
        }
    }
}

/// Ends a running program from another thread.
#[derive(Debug, Clone)]
pub struct Stopper {
    control: Arc<PipeWriter>,
}

impl Stopper {
    /// Asks for the kill and returns at once; `wait` answers when it is verified. Asking again does nothing.
    pub fn stop(&self) {
        // Fails only when the supervisor is gone, and then the program has ended.
        let _ = (&*self.control).write_all(&[1]);
    }
}

/// A program that has ended, with all of its tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub outcome: Outcome,
    pub stdout: Captured,
    pub stderr: Captured,
    /// From the start to the end of the program itself, without the killing of what it left behind.
    pub duration: Duration,
    /// Processes of its tree, itself excepted, that were still alive when it ended or was ended. Counted on
    /// Linux only.
    pub survivors_killed: usize,
}

impl Finished {
    /// Whether the program ended by itself with status 0.
    pub fn succeeded(&self) -> bool {
        self.outcome == Outcome::Exited(0)
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// By itself, with this status.
    Exited(i32),
    /// By a signal that we did not send.
    Signalled(i32),
    /// We killed it because its time was over.
    TimedOut,
    /// We killed it because a disk that it wrote to came below the reserve of its sandbox.
    OutOfRoom,
    /// We killed it because `kill`, a `Stopper` or a drop asked for it.
    Stopped,
}

fn join(supervisor: JoinHandle<Result<Finished, Error>>) -> Result<Finished, Error> {
    supervisor.join().unwrap_or_else(|payload| panic::resume_unwind(payload))
}
