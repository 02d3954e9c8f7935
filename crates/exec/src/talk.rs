//! Talking with a program while it runs: lines in, lines out. Must never block on a pipe, nor keep more than it is
//! asked to: the other side may neither read nor stop writing.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio, read, write};

/// Some systems refuse to poll for longer than `c_int::MAX` milliseconds.
const LONGEST_POLL: Duration = Duration::from_hours(1);

/// Our ends of the pipes of a program that was started with [`crate::Stdin::Talk`]. Its stderr is captured as always.
#[derive(Debug)]
pub struct Talk {
    /// `None` after the end, ours or its.
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    unsent: VecDeque<u8>,
    is_closing: bool,
}

/// What came from a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// So many bytes.
    Bytes(usize),
    /// Nothing in that time.
    Nothing,
    /// Nothing will come any more.
    End,
}

impl Talk {
    pub(crate) fn new(child: &mut Child) -> io::Result<Self> {
        let stdin: Option<OwnedFd> = child.stdin.take().map(Into::into);
        let stdout: Option<OwnedFd> = child.stdout.take().map(Into::into);
        for pipe in stdin.iter().chain(&stdout) {
            ioctl_fionbio(pipe, true)?;
        }
        Ok(Self { stdin, stdout, unsent: VecDeque::new(), is_closing: false })
    }

    /// Takes bytes that go out as the program reads them, while somebody listens.
    pub fn say(&mut self, bytes: &[u8]) {
        if self.stdin.is_some() && !self.is_closing {
            self.unsent.extend(bytes);
        }
    }

    /// How much the program has not read yet, what lies in the pipe excepted.
    pub fn unsent_bytes(&self) -> usize {
        self.unsent.len()
    }

    /// Closes its stdin once all that was said is sent.
    pub fn finish_saying(&mut self) {
        self.is_closing = true;
        self.close_if_done();
    }

    /// Sends what is to be sent until something comes, at most for so long.
    pub fn listen(&mut self, chunk: &mut [u8], longest: Duration) -> io::Result<Heard> {
        let deadline = Instant::now() + longest.min(LONGEST_POLL);
        loop {
            let Some(stdout) = &self.stdout else { return Ok(Heard::End) };
            match read(stdout, &mut *chunk) {
                Ok(0) => {
                    self.stdout = None;
                    return Ok(Heard::End);
                }
                Ok(count) => return Ok(Heard::Bytes(count)),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            self.send();
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Heard::Nothing);
            }
            self.wait(left)?;
        }
    }

    /// Writes what fits. A program need not read its input; that it stopped is its own affair.
    fn send(&mut self) {
        while let (Some(stdin), false) = (&self.stdin, self.unsent.is_empty()) {
            match write(stdin, self.unsent.as_slices().0) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    self.stdin = None;
                    self.unsent.clear();
                }
            }
        }
        self.close_if_done();
    }

    fn close_if_done(&mut self) {
        if self.is_closing && self.unsent.is_empty() {
            self.stdin = None;
        }
    }

    fn wait(&self, longest: Duration) -> io::Result<()> {
        let mut polled = Vec::new();
        polled.extend(self.stdout.as_ref().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
        let sending = self.stdin.as_ref().filter(|_| !self.unsent.is_empty());
        polled.extend(sending.map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::OUT)));
        let timeout = Timespec::try_from(longest).expect("an hour fits into a timespec");
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
