//! The thread that takes one program from its start to its verified end. Must never let go of a living
//! tree: every way out of here, errors too, goes through the kill.

use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::io::retry_on_intr;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::kill::{self, Ended};
use crate::mark::Mark;
use crate::pump::Pump;
use crate::room::Room;
use crate::spawn::{Spawned, Walls, spawn};
use crate::talk::Talk;
use crate::tree::{Eve, Tree};
use crate::{Error, Finished, Outcome, Program, Stdin};

type Handle = JoinHandle<Result<Finished, Error>>;

/// A program that runs, as its supervisor hands it to whoever asked for it.
pub(crate) struct Started {
    pub(crate) id: u32,
    /// What is written here, or its closing, asks for the kill.
    pub(crate) control: PipeWriter,
    pub(crate) supervisor: Handle,
    pub(crate) talk: Option<Talk>,
}

/// Starts the program and its supervisor.
pub(crate) fn start(program: &Program) -> Result<Started, Error> {
    let failed = |doing, source| Error::Supervise { program: program.name.clone(), doing, source };
    let (reader, control) = io::pipe().map_err(|source| failed("make a pipe", source))?;
    let (started, answer) = mpsc::sync_channel(1);
    let program = program.clone();
    let name = program.name.clone();
    // The thread comes first: no program may lack a supervisor because no thread is to be had.
    let supervisor = thread::Builder::new()
        .name("supervisor".into())
        .spawn(move || {
            let mut supervisor = Supervisor::start(program, reader)?;
            // The caller is waiting for it in this very function.
            let _ = started.send((supervisor.child.id(), supervisor.talk.take()));
            supervisor.run()
        })
        .map_err(|source| Error::Supervise { program: name, doing: "start a thread", source })?;
    match answer.recv() {
        Ok((id, talk)) => Ok(Started { id, control, supervisor, talk }),
        Err(_) => Err(never_started(supervisor)),
    }
}

fn never_started(handle: Handle) -> Error {
    match handle.join() {
        Ok(Err(error)) => error,
        Ok(Ok(_)) => unreachable!("a supervisor that runs says so first"),
        Err(payload) => std::panic::resume_unwind(payload),
    }
}

#[derive(Debug)]
struct Supervisor {
    program: Program,
    child: Child,
    walls: Option<Walls>,
    tree: Tree,
    pump: Pump,
    talk: Option<Talk>,
    room: Option<Room>,
    started_at: Instant,
}

impl Supervisor {
    fn start(program: Program, control: PipeReader) -> Result<Self, Error> {
        let failed = |doing, source| Error::Supervise { program: program.name.clone(), doing, source };
        let mark = Mark::fresh().map_err(|source| failed("draw a mark", source))?;
        let (exit, exit_notice) = io::pipe().map_err(|source| failed("make a pipe", source))?;
        let eve = Eve::now()?;
        let started_at = Instant::now();
        let Spawned { mut child, walls } = spawn(&program, &mark)?;
        let watched = Tree::new(eve, child.id(), mark).and_then(|tree| {
            let watch = || {
                announce_exit(child.id(), exit_notice)?;
                let talk = match program.stdin {
                    Stdin::Talk => Some(Talk::new(&mut child)?),
                    Stdin::Null | Stdin::Bytes(_) => None,
                };
                Ok((talk, Pump::new(&program, &mut child, exit, control)?))
            };
            let (talk, pump) = watch().map_err(|source| failed("watch its pipes", source))?;
            Ok((tree, talk, pump))
        });
        match watched {
            Ok((tree, talk, pump)) => {
                let room = program.sandbox.as_ref().and_then(Room::of);
                Self { program, child, walls, tree, pump, talk, room, started_at }.behind_walls()
            }
            Err(error) => {
                // It has only just begun, and without a tree its own process is all that can be reached.
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// Where there are walls, the program runs only now.
    fn behind_walls(mut self) -> Result<Self, Error> {
        let put_up = match &mut self.walls {
            Some(walls) => walls.put_up(&self.program),
            None => Ok(()),
        };
        if let Err(error) = put_up {
            self.abandon();
            return Err(error);
        }
        Ok(self)
    }

    fn run(mut self) -> Result<Finished, Error> {
        let supervised = self.supervise();
        if supervised.is_err() {
            self.abandon();
        }
        let (cause, ended) = supervised?;
        self.finish(cause, &ended)
    }

    fn supervise(&mut self) -> Result<(Cause, Ended), Error> {
        let cause = self.until_end()?;
        let ended = self.end_tree()?;
        // The waiting thread must be done with the process id before it is reaped and free for others.
        while !ended.survived(self.tree.root()) && self.pump.exited_at().is_none() {
            self.pump.turn(None).map_err(|source| self.failed("wait for the end", source))?;
        }
        Ok((cause, ended))
    }

    fn until_end(&mut self) -> Result<Cause, Error> {
        let deadline = self.program.timeout.and_then(|timeout| self.started_at.checked_add(timeout));
        loop {
            if self.pump.exited_at().is_some() {
                return Ok(Cause::ItsOwn);
            }
            if self.pump.stop_asked() {
                return Ok(Cause::Asked);
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return Ok(Cause::Time);
            }
            if self.room.as_mut().is_some_and(|room| room.is_gone(Instant::now())) {
                return Ok(Cause::Room);
            }
            let next = [deadline, self.room.as_ref().map(Room::next_look)].into_iter().flatten().min();
            self.pump.turn(next).map_err(|source| self.failed("move its output", source))?;
        }
    }

    fn end_tree(&mut self) -> Result<Ended, Error> {
        let Self { tree, pump, program, .. } = self;
        // Pipes keep moving meanwhile: a process may have something to say before it goes.
        let mut pause = |duration: Duration| {
            pump.run_for(duration).map_err(|source| Error::Supervise {
                program: program.name.clone(),
                doing: "move its output",
                source,
            })
        };
        kill::end(&mut || tree.living(), program.grace, &mut pause)
    }

    /// Kills without looking at pipes again, after looking at them failed.
    fn abandon(&mut self) {
        let mut pause = |duration| {
            thread::sleep(duration);
            Ok(())
        };
        match kill::end(&mut || self.tree.living(), Duration::ZERO, &mut pause) {
            Ok(ended) if ended.survivors.is_empty() => {
                let _ = self.child.wait();
            }
            Ok(ended) => tracing::error!(pids = ?ended.survivor_ids(), "processes survived SIGKILL"),
            Err(error) => {
                tracing::error!(%error, id = self.child.id(), "could not kill an abandoned program");
            }
        }
    }

    fn finish(mut self, cause: Cause, ended: &Ended) -> Result<Finished, Error> {
        let root = self.tree.root();
        let status = if ended.survived(root) {
            None
        } else {
            Some(self.child.wait().map_err(|source| self.failed("read its exit status", source))?)
        };
        let outcome = match (cause, status) {
            (Cause::Time, _) => Outcome::TimedOut,
            (Cause::Room, _) => Outcome::OutOfRoom,
            (Cause::Asked, _) | (Cause::ItsOwn, None) => Outcome::Stopped,
            (Cause::ItsOwn, Some(status)) => own_outcome(status),
        };
        let survivors_killed = self.survivors_killed(cause, ended);
        let ended_at = self.pump.exited_at().unwrap_or_else(Instant::now);
        let name = self.program.name;
        let (stdout, stderr) = self.pump.finish().map_err(|source| Error::Supervise {
            program: name,
            doing: "read the rest of its output",
            source,
        })?;
        let finished = Finished {
            outcome,
            stdout,
            stderr,
            duration: ended_at.saturating_duration_since(self.started_at),
            survivors_killed,
        };
        if ended.survivors.is_empty() {
            Ok(finished)
        } else {
            Err(Error::Survived { pids: ended.survivor_ids(), finished: Box::new(finished) })
        }
    }

    /// In a sandbox the first process inside has ended what was left by itself, and told how much that was.
    fn survivors_killed(&mut self, cause: Cause, ended: &Ended) -> usize {
        let killed = ended.killed_beside(self.tree.root());
        match (&mut self.walls, cause) {
            (None, _) => killed,
            (Some(walls), Cause::ItsOwn) => killed + walls.left_behind().unwrap_or(0),
            (Some(walls), Cause::Time | Cause::Asked | Cause::Room) => {
                killed.saturating_sub(walls.own_processes())
            }
        }
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> Error {
        Error::Supervise { program: self.program.name.clone(), doing, source }
    }
}

/// Why a program is over.
#[derive(Debug, Clone, Copy)]
enum Cause {
    ItsOwn,
    Time,
    Asked,
    Room,
}

fn own_outcome(status: ExitStatus) -> Outcome {
    match (status.code(), status.signal()) {
        (Some(code), _) => Outcome::Exited(code),
        (None, Some(signal)) => Outcome::Signalled(signal),
        (None, None) => unreachable!("a process that was waited for has exited or was signalled"),
    }
}

/// Writes to `notice` when the process has ended, and leaves it unreaped: until the tree is dead its id must
/// stay taken, since it also names the group.
fn announce_exit(id: u32, mut notice: PipeWriter) -> io::Result<()> {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw).expect("a process id is a positive i32");
    thread::Builder::new().name("exit notice".into()).spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        // An error means that there is nothing left to wait for, which is the same news.
        let _ = retry_on_intr(|| waitid(WaitId::Pid(pid), options));
        // Not only closed: on systems without `pipe2` another program may have inherited a copy. Fails only
        // when the supervisor is gone.
        let _ = notice.write_all(&[1]);
    })?;
    Ok(())
}
