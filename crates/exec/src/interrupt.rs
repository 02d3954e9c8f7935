//! Ctrl-C and the request to end, counted instead of obeyed, for whoever has something to end first.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

static INTERRUPTS: AtomicU32 = AtomicU32::new(0);
static TERMINATIONS: AtomicU32 = AtomicU32::new(0);

/// From here on an interrupt does not end this process but is counted. One that is ignored already stays ignored, as of a
/// program in the background.
pub fn catch_interrupts() {
    imp::catch(imp::INTERRUPT);
}

/// How many interrupts came since they are caught.
pub fn interrupts() -> u32 {
    INTERRUPTS.load(Ordering::Relaxed)
}

/// From here on being asked to end (SIGTERM) does not end this process but is counted. That it is asked is not ignored, even
/// if whoever started us ignored it.
pub fn catch_terminations() {
    imp::catch(imp::TERMINATION);
}

/// The same for all that asks a process to end: an interrupt, a request, and a terminal that goes, which counts as one.
pub fn catch_endings() {
    [imp::INTERRUPT, imp::TERMINATION, imp::HANGUP].into_iter().for_each(imp::catch);
}

/// How often this process was asked to end since that is caught.
pub fn terminations() -> u32 {
    TERMINATIONS.load(Ordering::Relaxed)
}

/// Waits until a signal that is caught comes, or for so long. What came since the last call counts; several count as one.
pub fn wait_for_signal(limit: Duration) {
    imp::wait(limit);
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "there is no safe way to handle a signal; the handler counts and wakes")]
mod imp {
    use std::os::fd::{AsRawFd as _, OwnedFd};
    use std::sync::OnceLock;
    use std::sync::atomic::AtomicI32;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::pipe::{PipeFlags, pipe_with};

    use super::{INTERRUPTS, Ordering, TERMINATIONS};

    pub(super) const INTERRUPT: libc::c_int = libc::SIGINT;
    pub(super) const TERMINATION: libc::c_int = libc::SIGTERM;
    pub(super) const HANGUP: libc::c_int = libc::SIGHUP;

    /// What a handler writes to, so that whoever waits wakes; none before somebody catches.
    static WAKE: AtomicI32 = AtomicI32::new(-1);
    static PIPE: OnceLock<Option<(OwnedFd, OwnedFd)>> = OnceLock::new();

    extern "C" fn count(signal: libc::c_int) {
        let counted = if signal == INTERRUPT { &INTERRUPTS } else { &TERMINATIONS };
        counted.fetch_add(1, Ordering::Relaxed);
        let wake = WAKE.load(Ordering::Relaxed);
        if wake >= 0 {
            // SAFETY: `write` may be called at any moment; it reads one byte that is always there. The number of its error is
            // put back, because whoever was interrupted may be about to look at its own.
            unsafe {
                let errno = libc::__errno_location();
                let before = *errno;
                libc::write(wake, c"!".as_ptr().cast(), 1);
                *errno = before;
            }
        }
    }

    fn ends() -> Option<&'static (OwnedFd, OwnedFd)> {
        let made = PIPE.get_or_init(|| pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok());
        made.as_ref()
    }

    pub(super) fn catch(signal: libc::c_int) {
        if let Some((_, writer)) = ends() {
            WAKE.store(writer.as_raw_fd(), Ordering::Relaxed);
        }
        // SAFETY: both structures are plain data that the calls fill or read; the handler touches atomic numbers and writes a
        // byte to a pipe that is never closed, which is allowed at any moment.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &raw mut before) != 0
                || (signal == INTERRUPT && before.sa_sigaction == libc::SIG_IGN)
            {
                return;
            }
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(libc::c_int) = count;
            action.sa_sigaction = handler as libc::sighandler_t;
            // Reads and waits go on as if nothing had come.
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }

    pub(super) fn wait(limit: Duration) {
        let Some((reader, _)) = ends() else { return std::thread::sleep(limit) };
        let limit = Timespec::try_from(limit).ok();
        // An interrupted wait is a wait that has ended: somebody has something to look at.
        let _ = poll(&mut [PollFd::new(reader, PollFlags::IN)], limit.as_ref());
        let mut bytes = [0; 64];
        while rustix::io::read(reader, &mut bytes).is_ok_and(|read| read == bytes.len()) {}
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    pub(super) const INTERRUPT: i32 = 2;
    pub(super) const TERMINATION: i32 = 15;
    pub(super) const HANGUP: i32 = 1;

    /// Elsewhere a signal ends this process, and what it had begun goes on by its lease.
    pub(super) const fn catch(_signal: i32) {}

    pub(super) fn wait(limit: std::time::Duration) {
        std::thread::sleep(limit);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn whoever_waits_is_woken_by_a_signal_and_it_is_counted() {
        const LONG: Duration = Duration::from_mins(1);
        catch_terminations();
        let before = terminations();
        let start = Instant::now();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM)
            .expect("we may signal ourselves");
        wait_for_signal(LONG);
        assert_eq!(terminations(), before + 1);
        assert!(start.elapsed() < LONG);
        let start = Instant::now();
        wait_for_signal(Duration::from_millis(20));
        assert!(start.elapsed() >= Duration::from_millis(20), "what came before was heard already");
    }
}
