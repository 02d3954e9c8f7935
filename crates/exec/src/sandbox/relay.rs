//! Hands connections to a port inside on to the gateway's socket. Knows nothing of what goes through.

use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// More at once than any agent has use for; the next waits in the listener's queue.
const MOST_CONNECTIONS: usize = 256;
const STACK_BYTES: usize = 64 * 1024;
/// After a failed accept, as when descriptors have run out for a moment.
const PAUSE: Duration = Duration::from_millis(20);

/// Takes the port, before the program that will connect to it is started.
pub(super) fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

/// Serves until the process ends.
pub(super) fn serve(listener: TcpListener, socket: &'static Path) -> io::Result<()> {
    let open = Arc::new(AtomicUsize::new(0));
    spawn(move || {
        loop {
            if open.load(Ordering::Acquire) >= MOST_CONNECTIONS {
                thread::sleep(PAUSE);
                continue;
            }
            let Ok((inside, _)) = listener.accept() else {
                thread::sleep(PAUSE);
                continue;
            };
            let guard = Guard::of(&open);
            // Without a thread the connection is dropped, which its other end sees.
            let _ = spawn(move || {
                let _ = join(inside, socket);
                drop(guard);
            });
        }
    })
}

/// Counts a connection while it lives.
struct Guard(Arc<AtomicUsize>);

impl Guard {
    fn of(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(count))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn join(inside: TcpStream, socket: &Path) -> io::Result<()> {
    let outside = UnixStream::connect(socket)?;
    let (mut from_inside, mut to_outside) = (inside.try_clone()?, outside.try_clone()?);
    let there = spawn_joined(move || {
        let _ = io::copy(&mut from_inside, &mut to_outside);
        // The end of one direction is passed on; the other may have more to say.
        let _ = to_outside.shutdown(Shutdown::Write);
    })?;
    let (mut from_outside, mut to_inside) = (outside, inside);
    let _ = io::copy(&mut from_outside, &mut to_inside);
    let _ = to_inside.shutdown(Shutdown::Write);
    let _ = there.join();
    Ok(())
}

pub(super) fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    spawn_joined(work).map(drop)
}

fn spawn_joined(work: impl FnOnce() + Send + 'static) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().stack_size(STACK_BYTES).spawn(work)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn both_directions_go_through_and_each_ends_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let outside = UnixListener::bind(&path).unwrap();
        let listener = listen(0).unwrap();
        let address = listener.local_addr().unwrap();
        serve(listener, Box::leak(path.into_boxed_path())).unwrap();

        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(b"question").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let (mut server, _) = outside.accept().unwrap();
        let mut heard = String::new();
        server.read_to_string(&mut heard).unwrap();
        server.write_all(b"answer to ").unwrap();
        server.write_all(heard.as_bytes()).unwrap();
        drop(server);
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "answer to question");
    }
}
