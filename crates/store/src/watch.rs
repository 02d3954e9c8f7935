//! Hearing of commits by other processes: a poke on a socket, else a look at SQLite's change counter.
//!
//! A poke carries no data and may be lost; it only says "look now". Nobody polls unless somebody watches.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::error::StoreError;
use crate::sqlite::connection::{self, Mode};
use crate::sqlite::database_path;

/// How often a watcher looks when nobody pokes it.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How soon a writer looks again for a listener that was not there. Listeners poll too, so none is forgotten.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The longest path that fits the address of a Unix socket everywhere.
const LONGEST_SOCKET_PATH: usize = 100;

/// Tells a listener, if there is one, that something was committed.
#[derive(Debug)]
pub(crate) struct Poker {
    socket: Option<UnixDatagram>,
    target: PathBuf,
    /// When nobody was found listening; looking for them again at every commit would cost more than it gives.
    nobody_at: Mutex<Option<Instant>>,
}

impl Poker {
    pub(crate) fn new(target: PathBuf) -> Self {
        let socket = UnixDatagram::unbound().ok().filter(|socket| socket.set_nonblocking(true).is_ok());
        Self { socket, target, nobody_at: Mutex::new(None) }
    }

    /// Best effort: with nobody listening, or too many pokes under way, there is nothing to do.
    pub(crate) fn poke(&self) {
        let Some(socket) = &self.socket else { return };
        let mut nobody_at = self.nobody_at.lock().unwrap_or_else(PoisonError::into_inner);
        if nobody_at.is_some_and(|at| at.elapsed() < LOOK_AGAIN) {
            return;
        }
        let sent = reachable(&self.target, |path| socket.send_to(b"!", path));
        let busy = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
        *nobody_at = sent.is_err_and(|error| !busy(&error)).then(Instant::now);
    }
}

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woke {
    Changed,
    TimedOut,
}

/// Notices commits of other processes, and of other connections of this one.
#[derive(Debug)]
pub struct Watcher {
    connection: Connection,
    seen: i64,
    listener: Option<Listener>,
}

#[derive(Debug)]
struct Listener {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Watcher {
    /// Watches by polling.
    pub fn polling(folder: &Path) -> Result<Self, StoreError> {
        let connection = connection::open(&database_path(folder), Mode::ReadOnly)?;
        let seen = data_version(&connection)?;
        Ok(Self { connection, seen, listener: None })
    }

    /// Watches by being poked at `socket`, of which there is one per data directory: the daemon's.
    pub fn listening(folder: &Path, socket: &Path) -> Result<Self, StoreError> {
        let listener = bind(socket)?;
        Ok(Self { listener: Some(listener), ..Self::polling(folder)? })
    }

    /// Sleeps until something was committed since the last call, or for `timeout`.
    pub fn wait(&mut self, timeout: Duration) -> Result<Woke, StoreError> {
        let deadline = Instant::now() + timeout;
        loop {
            let version = data_version(&self.connection)?;
            if version != self.seen {
                self.seen = version;
                return Ok(Woke::Changed);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Woke::TimedOut);
            }
            self.doze(left.min(POLL_INTERVAL));
        }
    }

    fn doze(&self, duration: Duration) {
        let Some(listener) = &self.listener else { return std::thread::sleep(duration) };
        let mut poke = [0; 8];
        // Both ends of the wait, a poke and the time-out, lead to another look.
        let _ = listener.socket.set_read_timeout(Some(duration.max(Duration::from_millis(1))));
        let _ = listener.socket.recv(&mut poke);
    }
}

fn data_version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
}

/// Binds the socket, taking the place of one that a dead process left behind.
fn bind(path: &Path) -> Result<Listener, StoreError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(StoreError::file("make", folder))?;
    }
    let error = || StoreError::file("listen at", path);
    let socket = match reachable(path, |path| UnixDatagram::bind(path)) {
        Err(busy) if busy.kind() == io::ErrorKind::AddrInUse => {
            let probe = UnixDatagram::unbound().map_err(error())?;
            if reachable(path, |path| probe.connect(path)).is_ok() {
                return Err(StoreError::InUse { lock: path.to_owned(), doing: "listening" });
            }
            fs::remove_file(path).map_err(error())?;
            reachable(path, |path| UnixDatagram::bind(path)).map_err(error())?
        }
        other => other.map_err(error())?,
    };
    Ok(Listener { socket, path: path.to_owned() })
}

/// Gives `use_path` a spelling of `path` that is short enough for a socket address.
fn reachable<T>(path: &Path, use_path: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().len() <= LONGEST_SOCKET_PATH {
        return use_path(path);
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = File::open(folder)?;
    use_path(&PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name))
}
