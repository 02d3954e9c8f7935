//! Moves bytes between us and a program's pipes and notices its end. Must never block on a pipe: whoever
//! holds the other end may neither stall the program nor us.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio, ioctl_fionread, read, retry_on_intr, write};

use crate::captured::{Captured, Collector};
use crate::{Program, Stdin};

const CHUNK_BYTES: usize = 64 * 1024;
/// Some systems refuse to poll for longer than `c_int::MAX` milliseconds.
const LONGEST_POLL: Duration = Duration::from_hours(1);

#[derive(Debug)]
pub(crate) struct Pump {
    stdin: Option<Inlet>,
    stdout: Outlet,
    stderr: Outlet,
    /// Has a byte when the program has ended.
    exit: Option<PipeReader>,
    /// Ends or has a byte when somebody asks to stop.
    control: Option<PipeReader>,
    exited_at: Option<Instant>,
    chunk: Vec<u8>,
}

impl Pump {
    /// Takes the pipes of the program. `exit` and `control` are notices: anything to read on them, even the end.
    pub(crate) fn new(
        program: &Program,
        child: &mut Child,
        exit: PipeReader,
        control: PipeReader,
    ) -> io::Result<Self> {
        let stdin = match (&program.stdin, child.stdin.take()) {
            (Stdin::Bytes(bytes), Some(pipe)) => Some(Inlet::new(pipe.into(), bytes.clone())?),
            _ => None,
        };
        let limit = program.capture_limit_bytes;
        Ok(Self {
            stdin,
            stdout: Outlet::new(child.stdout.take().map(Into::into), limit)?,
            stderr: Outlet::new(child.stderr.take().map(Into::into), limit)?,
            exit: Some(exit),
            control: Some(control),
            exited_at: None,
            chunk: vec![0; CHUNK_BYTES],
        })
    }

    /// When the program itself ended.
    pub(crate) fn exited_at(&self) -> Option<Instant> {
        self.exited_at
    }

    pub(crate) fn stop_asked(&self) -> bool {
        self.control.is_none()
    }

    /// Waits until something happens, at most until the deadline, and handles it.
    pub(crate) fn turn(&mut self, deadline: Option<Instant>) -> io::Result<()> {
        let ready = self.wait(deadline)?;
        if ready.contains(&Source::Stdin) && self.stdin.as_mut().is_some_and(|inlet| !inlet.push()) {
            self.stdin = None;
        }
        if ready.contains(&Source::Stdout) {
            self.stdout.pull(&mut self.chunk)?;
        }
        if ready.contains(&Source::Stderr) {
            self.stderr.pull(&mut self.chunk)?;
        }
        if ready.contains(&Source::Exit) {
            self.exit = None;
            self.exited_at = Some(Instant::now());
        }
        if ready.contains(&Source::Control) {
            self.control = None;
        }
        Ok(())
    }

    /// Keeps the pipes moving for this long.
    pub(crate) fn run_for(&mut self, duration: Duration) -> io::Result<()> {
        let deadline = Instant::now() + duration;
        while Instant::now() < deadline {
            self.turn(Some(deadline))?;
        }
        Ok(())
    }

    /// Reads what dead processes left in the pipes, and no more: an unknown holder may write for ever.
    pub(crate) fn finish(mut self) -> io::Result<(Captured, Captured)> {
        Ok((self.stdout.finish(&mut self.chunk)?, self.stderr.finish(&mut self.chunk)?))
    }

    fn wait(&self, deadline: Option<Instant>) -> io::Result<Vec<Source>> {
        let (sources, mut polled): (Vec<_>, Vec<_>) = self
            .watched()
            .into_iter()
            .filter_map(|(source, descriptor, flags)| {
                Some((source, PollFd::from_borrowed_fd(descriptor?, flags)))
            })
            .unzip();
        let longest = deadline.map_or(LONGEST_POLL, |deadline| {
            deadline.saturating_duration_since(Instant::now()).min(LONGEST_POLL)
        });
        let timeout = Timespec::try_from(longest).expect("an hour fits into a timespec");
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
        let ready = sources.into_iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
        Ok(ready.map(|(source, _)| source).collect())
    }

    fn watched(&self) -> [(Source, Option<BorrowedFd<'_>>, PollFlags); 5] {
        [
            (Source::Stdin, self.stdin.as_ref().map(|inlet| inlet.pipe.as_fd()), PollFlags::OUT),
            (Source::Stdout, self.stdout.pipe.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (Source::Stderr, self.stderr.pipe.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (Source::Exit, self.exit.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (Source::Control, self.control.as_ref().map(AsFd::as_fd), PollFlags::IN),
        ]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Stdin,
    Stdout,
    Stderr,
    Exit,
    Control,
}

/// Our end of the program's stdin.
#[derive(Debug)]
struct Inlet {
    pipe: OwnedFd,
    bytes: Vec<u8>,
    written: usize,
}

impl Inlet {
    fn new(pipe: OwnedFd, bytes: Vec<u8>) -> io::Result<Self> {
        ioctl_fionbio(&pipe, true)?;
        Ok(Self { pipe, bytes, written: 0 })
    }

    /// Writes what fits. Answers whether there is more to write.
    fn push(&mut self) -> bool {
        match write(&self.pipe, &self.bytes[self.written..]) {
            Ok(count) => self.written += count,
            Err(Errno::AGAIN | Errno::INTR) => {}
            // A program need not read its input. That it stopped is its own affair.
            Err(_) => return false,
        }
        self.written < self.bytes.len()
    }
}

/// Our end of the program's stdout or stderr.
#[derive(Debug)]
struct Outlet {
    /// `None` after the end.
    pipe: Option<OwnedFd>,
    collector: Collector,
}

impl Outlet {
    fn new(pipe: Option<OwnedFd>, limit: usize) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            ioctl_fionbio(pipe, true)?;
        }
        Ok(Self { pipe, collector: Collector::new(limit) })
    }

    /// Reads once. Answers how many bytes came.
    fn pull(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        let Some(pipe) = &self.pipe else { return Ok(0) };
        match retry_on_intr(|| read(pipe, &mut *chunk)) {
            Ok(0) => self.pipe = None,
            Ok(count) => {
                self.collector.push(&chunk[..count]);
                return Ok(count);
            }
            Err(Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(0)
    }

    fn finish(mut self, chunk: &mut [u8]) -> io::Result<Captured> {
        let mut left = match &self.pipe {
            Some(pipe) => ioctl_fionread(pipe)?,
            None => 0,
        };
        while left > 0 {
            let count = self.pull(chunk)?;
            if count == 0 {
                break;
            }
            left = left.saturating_sub(count as u64);
        }
        // Sees the end if there is one.
        self.pull(chunk)?;
        let held_open = self.pipe.is_some();
        Ok(Captured { held_open, ..self.collector.into_captured() })
    }
}
