//! Ctrl-C, counted instead of obeyed, for whoever has something to end first.

use std::sync::atomic::{AtomicU32, Ordering};

static CAUGHT: AtomicU32 = AtomicU32::new(0);

/// From here on an interrupt does not end this process but is counted. One that is ignored already stays ignored, as of a
/// program in the background.
pub fn catch_interrupts() {
    imp::catch();
}

/// How many interrupts came since they are caught.
pub fn interrupts() -> u32 {
    CAUGHT.load(Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "there is no safe way to handle a signal; the handler only counts")]
mod imp {
    use super::{CAUGHT, Ordering};

    extern "C" fn count(_signal: libc::c_int) {
        CAUGHT.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn catch() {
        // SAFETY: both structures are plain data that the calls fill or read; the handler touches one atomic number and
        // nothing else, which is allowed at any moment.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGINT, std::ptr::null(), &raw mut before) != 0
                || before.sa_sigaction == libc::SIG_IGN
            {
                return;
            }
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(libc::c_int) = count;
            action.sa_sigaction = handler as libc::sighandler_t;
            // Reads and waits go on as if nothing had come.
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(libc::SIGINT, &raw const action, std::ptr::null_mut());
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    /// Elsewhere an interrupt ends this process, and the session goes on.
    pub(super) const fn catch() {}
}
