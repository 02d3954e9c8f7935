//! Telling a service manager how a daemon is doing: datagrams of `NAME=value` lines to the socket in `NOTIFY_SOCKET`.
//! Without one nobody is told, and a manager that does not listen changes nothing.

use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

/// Somebody who wants to be told.
#[derive(Debug)]
pub(super) struct Notifier {
    socket: Option<(UnixDatagram, OsString)>,
    /// How often it wants to hear from us, before it takes us for dead.
    watchdog: Option<Duration>,
}

impl Notifier {
    pub(super) fn of(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let name = variable("NOTIFY_SOCKET").filter(|name| !name.is_empty());
        let socket = name.and_then(|name| Some((patient_for_a_moment()?, name)));
        let number = |name| variable(name)?.to_str()?.parse::<u64>().ok();
        let is_meant = number("WATCHDOG_PID").is_none_or(|id| id == u64::from(std::process::id()));
        let watchdog = number("WATCHDOG_USEC").filter(|us| is_meant && *us > 0).map(Duration::from_micros);
        Self { socket, watchdog }
    }

    /// How long we may be silent: half of what would be too long.
    pub(super) fn beat(&self, usual: Duration) -> Duration {
        self.watchdog.map_or(usual, |watchdog| usual.min(watchdog / 2))
    }

    pub(super) fn tell(&self, words: &str) {
        let Some((socket, name)) = &self.socket else { return };
        if let Err(error) = send(socket, name, words.as_bytes()) {
            tracing::warn!(%error, "the service manager could not be told");
        }
    }
}

/// A manager that does not read must not keep a daemon from ending.
fn patient_for_a_moment() -> Option<UnixDatagram> {
    let socket = UnixDatagram::unbound().ok()?;
    socket.set_write_timeout(Some(Duration::from_millis(200))).ok()?;
    Some(socket)
}

#[cfg(target_os = "linux")]
fn send(socket: &UnixDatagram, name: &OsString, words: &[u8]) -> io::Result<()> {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::net::SocketAddr;

    match name.as_bytes().strip_prefix(b"@") {
        Some(name) => socket.send_to_addr(words, &SocketAddr::from_abstract_name(name)?),
        None => socket.send_to(words, name),
    }
    .map(drop)
}

#[cfg(not(target_os = "linux"))]
fn send(socket: &UnixDatagram, name: &OsString, words: &[u8]) -> io::Result<()> {
    socket.send_to(words, name).map(drop)
}
