//! Ctrl-C, counted instead of obeyed, for whoever has something to end first.

use std::sync::atomic::{AtomicU32, Ordering};

static CAUGHT: AtomicU32 = AtomicU32::new(0);

/// From here on an interrupt does not end this process but is counted. One that is ignored already stays ignored, as of a
/// program in the background.
pub fn catch_interrupts() {
    imp::catch(&imp::INTERRUPT);
}

/// The same for all that asks a process to end: also when it is told to terminate, or its terminal goes.
pub fn catch_endings() {
    imp::catch(&imp::ENDINGS);
}

/// How many interrupts came since they are caught.
pub fn interrupts() -> u32 {
    CAUGHT.load(Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "there is no safe way to handle a signal; the handler only counts")]
mod imp {
    use super::{CAUGHT, Ordering};

    pub(super) const INTERRUPT: [libc::c_int; 1] = [libc::SIGINT];
    pub(super) const ENDINGS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

    extern "C" fn count(_signal: libc::c_int) {
        CAUGHT.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn catch(signals: &[libc::c_int]) {
        signals.iter().for_each(|signal| catch_one(*signal));
    }

    fn catch_one(signal: libc::c_int) {
        // SAFETY: both structures are plain data that the calls fill or read; the handler touches one atomic number and
        // nothing else, which is allowed at any moment.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &raw mut before) != 0
                || before.sa_sigaction == libc::SIG_IGN
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
}

#[cfg(not(target_os = "linux"))]
mod imp {
    /// Elsewhere an interrupt ends this process, and the session goes on.
    pub(super) const fn catch(_signals: &[i32]) {}

    pub(super) const INTERRUPT: [i32; 0] = [];
    pub(super) const ENDINGS: [i32; 0] = [];
}
