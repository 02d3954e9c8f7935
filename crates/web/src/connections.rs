//! The connections to a door: never more than there are files for, and none that is held open by saying nothing.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::caller::Peer;
use crate::server::Limits;

/// The most connections of one door, where the system allows as many files.
const MOST: usize = 512;
const FEWEST: usize = 8;

/// No request of ours has more.
const MOST_HEADERS: usize = 64;
const MOST_HEAD_BYTES: usize = 16 * 1024;

/// How long to wait when the system has no file left for another one.
const BREATH: Duration = Duration::from_millis(100);

/// One of them.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    is_let_in: AtomicBool,
    end: CancellationToken,
}

impl Connection {
    /// It made a request that somebody signed, or that showed the token.
    pub(crate) fn let_in(&self) {
        self.is_let_in.store(true, Ordering::Relaxed);
    }
}

/// A listener of either kind.
#[derive(Debug)]
pub(crate) enum Listener {
    Port(TcpListener),
    Socket(UnixListener),
}

/// What answers a request.
pub(crate) trait Answering: Clone + Send + Sync + 'static {
    fn answer(
        &self,
        peer: Peer,
        connection: Arc<Connection>,
        request: hyper::Request<Incoming>,
    ) -> impl Future<Output = Response> + Send;
}

/// Serves until it is stopped, and what was begun is answered.
pub(crate) async fn serve<A: Answering>(
    listener: Listener,
    answering: A,
    limits: Limits,
    stop: CancellationToken,
) {
    let all = Arc::new(Connections::new(most()));
    let mut served = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener) => accepted,
            _ = served.join_next(), if !served.is_empty() => continue,
            () = stop.cancelled() => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::debug!(%error, "could not take a connection");
                tokio::time::sleep(BREATH).await;
                continue;
            }
        };
        // Dropped if everybody who is here was let in: they were first.
        if let Some(place) = all.enter() {
            let one = One { place, peer, limits, stop: stop.clone() };
            match stream {
                Stream::Port(stream) => drop(served.spawn(one.answer(stream, answering.clone()))),
                Stream::Socket(stream) => drop(served.spawn(one.answer(stream, answering.clone()))),
            }
        }
    }
    served.join_all().await;
}

enum Stream {
    Port(tokio::net::TcpStream),
    Socket(tokio::net::UnixStream),
}

async fn accept(listener: &Listener) -> std::io::Result<(Stream, Peer)> {
    match listener {
        Listener::Port(listener) => {
            let (stream, address) = listener.accept().await?;
            let own = stream.local_addr()?;
            Ok((Stream::Port(stream), Peer::Port { address, own }))
        }
        Listener::Socket(listener) => {
            let (stream, _) = listener.accept().await?;
            let credentials = stream.peer_cred()?;
            let peer = Peer::Socket { user: credentials.uid(), process: credentials.pid() };
            Ok((Stream::Socket(stream), peer))
        }
    }
}

struct One {
    place: Place,
    peer: Peer,
    limits: Limits,
    stop: CancellationToken,
}

impl One {
    async fn answer(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        answering: impl Answering,
    ) {
        let Self { place, peer, limits, stop } = self;
        let connection = Arc::clone(&place.connection);
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let (answering, connection) = (answering.clone(), Arc::clone(&connection));
            async move { Ok::<_, Infallible>(answering.answer(peer, connection, request).await) }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(limits.head_patience)
            .max_headers(MOST_HEADERS)
            .max_buf_size(MOST_HEAD_BYTES);
        let mut served = std::pin::pin!(http.serve_connection(TokioIo::new(stream), service));
        let ended = tokio::select! {
            ended = &mut served => ended,
            () = place.connection.end.cancelled() => return,
            () = stop.cancelled() => {
                served.as_mut().graceful_shutdown();
                served.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

/// A quarter of the files for each door: the rest is for the store, and for what is started.
fn most() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let files = files.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX);
    (files / 4).clamp(FEWEST, MOST)
}

/// Keeps the body of a request as axum wants to see it.
pub(crate) fn for_axum(request: hyper::Request<Incoming>) -> axum::extract::Request {
    request.map(Body::new)
}

#[derive(Debug)]
struct Connections {
    most: usize,
    /// By when they came.
    all: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    next: u64,
    open: BTreeMap<u64, Arc<Connection>>,
}

/// A place among them, given up when it is dropped.
#[derive(Debug)]
struct Place {
    all: Arc<Connections>,
    number: u64,
    connection: Arc<Connection>,
}

impl Connections {
    fn new(most: usize) -> Self {
        Self { most, all: Mutex::default() }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// If there are too many, whoever came first and has shown nothing yet goes.
    fn enter(self: &Arc<Self>) -> Option<Place> {
        let mut book = self.book();
        if book.open.len() >= self.most {
            let is_stranger = |connection: &Connection| !connection.is_let_in.load(Ordering::Relaxed);
            let (number, connection) = book.open.iter().find(|(_, connection)| is_stranger(connection))?;
            connection.end.cancel();
            let number = *number;
            book.open.remove(&number);
        }
        let (number, connection) = (book.next, Arc::new(Connection::default()));
        book.next += 1;
        book.open.insert(number, connection.clone());
        drop(book);
        Some(Place { all: self.clone(), number, connection })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.all.book().open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_shows_nothing_makes_room_for_others_and_whoever_was_let_in_stays() {
        let all = Arc::new(Connections::new(2));
        let (first, second) = (all.enter().unwrap(), all.enter().unwrap());
        first.connection.let_in();
        let third = all.enter().unwrap();
        assert!(second.connection.end.is_cancelled() && !first.connection.end.is_cancelled());
        third.connection.let_in();
        assert!(all.enter().is_none(), "both were let in");
        drop(first);
        assert!(all.enter().is_some(), "one has left");
    }
}
