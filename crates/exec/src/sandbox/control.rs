//! The line between a supervisor and the process that puts up the walls: the plan goes in, news come out. When
//! the supervisor's end closes, all that is inside dies.

use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use super::plan::Plan;

/// Putting up the walls takes milliseconds; a machine that takes this long is not going to.
const PATIENCE: Duration = Duration::from_secs(30);
/// Far more than any step has to say.
const LONGEST_TEXT: u64 = 4096;

/// The supervisor's end.
#[derive(Debug)]
pub(crate) struct Control {
    stream: UnixStream,
}

/// What is told from inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum News {
    /// The walls are up, the program is about to be started.
    Ready,
    /// It runs.
    Started,
    /// It could not be started, with this error.
    NotStarted(i32),
    /// A wall could not be put up.
    Failed { step: String, errno: i32 },
    /// It ended, and left this many processes behind.
    Ended { survivors: u32 },
}

/// Why a program does not run in its sandbox.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The walls are up, but the program cannot be started.
    Program(io::Error),
    Wall {
        step: String,
        source: io::Error,
    },
}

impl Control {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Self { stream }
    }

    /// Sends the plan, and the descriptor that the program is to read if there is one, and waits until it runs.
    pub(crate) fn begin(&mut self, plan: &Plan, stdin: Option<BorrowedFd<'_>>) -> Result<(), Failure> {
        let lost =
            |source| Failure::Wall { step: "talk to the process that puts up the walls".to_owned(), source };
        self.stream.set_read_timeout(Some(PATIENCE)).map_err(lost)?;
        self.stream.set_write_timeout(Some(PATIENCE)).map_err(lost)?;
        send_plan(&mut self.stream, plan).map_err(lost)?;
        if let Some(stdin) = stdin {
            hand_over(&self.stream, stdin).map_err(lost)?;
        }
        let mut ready = false;
        loop {
            match News::receive(&mut self.stream) {
                Ok(News::Ready) => ready = true,
                Ok(News::Started) => return Ok(()),
                Ok(News::NotStarted(errno)) => {
                    return Err(Failure::Program(io::Error::from_raw_os_error(errno)));
                }
                Ok(News::Failed { step, errno }) => {
                    return Err(Failure::Wall { step, source: io::Error::from_raw_os_error(errno) });
                }
                Ok(News::Ended { .. }) => return Err(lost(io::ErrorKind::InvalidData.into())),
                // Where the program takes the place of the process that put up the walls, its start closes the line.
                Err(error) if ready && error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(lost(error)),
            }
        }
    }

    /// How many processes the program left behind, if it was told. Asked when all of them are dead.
    pub(crate) fn survivors(&mut self) -> Option<usize> {
        self.stream.set_nonblocking(true).ok()?;
        match News::receive(&mut self.stream) {
            Ok(News::Ended { survivors }) => usize::try_from(survivors).ok(),
            Ok(News::Ready | News::Started | News::NotStarted(_) | News::Failed { .. }) | Err(_) => None,
        }
    }
}

fn send_plan(stream: &mut UnixStream, plan: &Plan) -> io::Result<()> {
    let bytes = plan.encode();
    stream.write_all(&(bytes.len() as u64).to_le_bytes())?;
    stream.write_all(&bytes)
}

/// A descriptor goes with a byte: without one the kernel carries none.
fn hand_over(stream: &UnixStream, descriptor: BorrowedFd<'_>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    let descriptors = [descriptor];
    beside.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(stream, &[IoSlice::new(&[0])], &mut beside, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The other end of [`hand_over`].
pub(super) fn take_over(stream: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(stream, &mut [IoSliceMut::new(&mut byte)], &mut beside, RecvFlags::CMSG_CLOEXEC)?;
    let taken = beside.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    taken.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The other end of [`send_plan`]. Who sends is whoever started us, and may be believed.
pub(super) fn receive_plan(stream: &mut UnixStream) -> io::Result<Plan> {
    let mut length = [0; 8];
    stream.read_exact(&mut length)?;
    let mut bytes = Vec::new();
    stream.take(u64::from_le_bytes(length)).read_to_end(&mut bytes)?;
    Plan::decode(&bytes)
}

impl News {
    pub(super) fn send(&self, stream: &mut UnixStream) -> io::Result<()> {
        let (tag, number, text) = match self {
            Self::Ready => (b'r', 0, ""),
            Self::Started => (b's', 0, ""),
            Self::NotStarted(errno) => (b'n', errno.cast_unsigned(), ""),
            Self::Failed { step, errno } => (b'f', errno.cast_unsigned(), &**step),
            Self::Ended { survivors } => (b'e', *survivors, ""),
        };
        let mut message = vec![tag];
        message.extend(number.to_le_bytes());
        message.extend((text.len() as u64).to_le_bytes());
        message.extend(text.as_bytes());
        stream.write_all(&message)
    }

    fn receive(stream: &mut UnixStream) -> io::Result<Self> {
        let (mut tag, mut number, mut length) = ([0; 1], [0; 4], [0; 8]);
        stream.read_exact(&mut tag)?;
        stream.read_exact(&mut number)?;
        stream.read_exact(&mut length)?;
        let mut text = Vec::new();
        stream.take(u64::from_le_bytes(length).min(LONGEST_TEXT)).read_to_end(&mut text)?;
        let number = u32::from_le_bytes(number);
        Ok(match tag {
            [b'r'] => Self::Ready,
            [b's'] => Self::Started,
            [b'n'] => Self::NotStarted(number.cast_signed()),
            [b'f'] => Self::Failed {
                step: String::from_utf8_lossy(&text).into_owned(),
                errno: number.cast_signed(),
            },
            [b'e'] => Self::Ended { survivors: number },
            _ => return Err(io::ErrorKind::InvalidData.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_arrive_as_they_were_sent() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        let failed = News::Failed { step: "make namespaces".to_owned(), errno: 1 };
        let all = [News::Ready, News::Started, News::NotStarted(2), failed, News::Ended { survivors: 3 }];
        for news in all {
            news.send(&mut here).unwrap();
            assert_eq!(News::receive(&mut there).unwrap(), news);
        }
    }

    #[test]
    fn what_is_no_news_is_an_error_and_takes_no_memory() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        here.write_all(&[0xff; 13]).unwrap();
        drop(here);
        assert!(News::receive(&mut there).is_err());
    }
}
