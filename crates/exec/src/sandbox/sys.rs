//! The system calls that no library wraps. The only file with `unsafe`; each wrapper takes and gives plain values.

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd as _};

use rustix::process::Pid;

use super::bpf::Instruction;

/// Which side of a fork we are on.
#[derive(Debug)]
pub(super) enum Forked {
    Child,
    Parent(Pid),
}

/// Forks a process that has one thread, as the process that puts up the walls does.
pub(super) fn fork() -> io::Result<Forked> {
    // SAFETY: nobody else runs in this process, so no lock is held and no data is half changed in the child. Both
    // callers are reached before the first thread is started.
    #[expect(unsafe_code, reason = "no library has a safe fork")]
    let id = unsafe { libc::fork() };
    match id {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        id => Ok(Forked::Parent(Pid::from_raw(id).expect("a child has an id above 0"))),
    }
}

/// Moves this process into namespaces of its own.
pub(super) fn unshare(flags: rustix::thread::UnshareFlags) -> io::Result<()> {
    // SAFETY: it is unsafe for `FILES` alone, which nobody here asks for; descriptors stay what they are.
    #[expect(unsafe_code, reason = "rustix wraps it as unsafe for a flag that is not used")]
    unsafe {
        Ok(rustix::thread::unshare_unsafe(flags)?)
    }
}

/// Adds attributes to a mount and to those below it.
pub(super) fn mount_setattr(tree: impl AsFd, depth: Depth, attributes: u64) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = match depth {
        Depth::All => libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
        Depth::One => libc::AT_EMPTY_PATH,
    };
    // SAFETY: the path is a string with its end, and the kernel reads as many bytes of the attributes as it is told.
    #[expect(unsafe_code, reason = "no library wraps this call")]
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            mem::size_of::<libc::mount_attr>(),
        )
    };
    answer(result)
}

/// How far attributes of a mount reach.
#[derive(Debug, Clone, Copy)]
pub(super) enum Depth {
    One,
    All,
}

/// Closes every descriptor from this number on.
pub(super) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: descriptors that are owned by values of this process are above `first` only where the caller knows of
    // them, and it keeps none: it is called before anything is opened.
    #[expect(unsafe_code, reason = "no library wraps this call")]
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    answer(result)
}

/// Brings the loopback device of this network namespace up.
pub(super) fn loopback_up() -> io::Result<()> {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)?;
    // SAFETY: all zeroes is a valid value of this struct of numbers and characters.
    #[expect(unsafe_code, reason = "a struct of C with a union")]
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP).expect("it is 1");
    // SAFETY: the request is the struct that this call reads, and it lives until the call is over.
    #[expect(unsafe_code, reason = "no library wraps this call")]
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    answer(result.into())
}

/// Puts a filter before every system call of this process and of all that come from it.
pub(super) fn filter_system_calls(filter: &[Instruction]) -> io::Result<()> {
    let filter: Vec<libc::sock_filter> = filter
        .iter()
        .map(|one| libc::sock_filter { code: one.code, jt: one.if_true, jf: one.if_false, k: one.operand })
        .collect();
    let length = u16::try_from(filter.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let program = libc::sock_fprog { len: length, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the program points to `length` instructions that live until the call is over; the kernel checks and
    // copies them, and writes to none.
    #[expect(unsafe_code, reason = "no library wraps this call")]
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) };
    answer(result)
}

/// Whether signals that can be held back are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Signals {
    Held,
    Free,
}

/// Holds all signals back, or lets all through. What is started later inherits it.
pub(super) fn set_signals(signals: Signals) -> io::Result<()> {
    // SAFETY: all zeroes is a valid set, and each of the calls on it only writes to it or reads it.
    #[expect(unsafe_code, reason = "no library wraps these calls")]
    let result = unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        match signals {
            Signals::Held => libc::sigfillset(&raw mut set),
            Signals::Free => libc::sigemptyset(&raw mut set),
        };
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut())
    };
    answer(result.into())
}

/// Ends this process by a signal, as another one ended. Returns only where the signal ends nobody.
pub(super) fn end_by_signal(signal: i32) {
    // SAFETY: two calls with numbers; the handler is the system's own.
    #[expect(unsafe_code, reason = "no library wraps these calls")]
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    // The signal is held back until here.
    let _ = set_signals(Signals::Free);
}

/// Sends a signal to every process of this process namespace but the first.
pub(super) fn signal_everybody(signal: i32) {
    // SAFETY: a call with two numbers. Only the first process of a namespace makes it.
    #[expect(unsafe_code, reason = "no library lets one signal everybody")]
    unsafe {
        libc::kill(-1, signal);
    }
}

/// Which version of Landlock the kernel has; 0 for none.
pub(super) fn landlock_version() -> u32 {
    const ASK_FOR_VERSION: u32 = 1;
    // SAFETY: asked for the version, the call reads nothing behind its pointer, which is null as it wants.
    #[expect(unsafe_code, reason = "the library that wraps the call does not tell")]
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, ASK_FOR_VERSION)
    };
    u32::try_from(version).unwrap_or(0)
}

fn answer(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
