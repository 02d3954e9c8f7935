//! The connections to a port: never more than there are files for, and none that is held open by saying nothing.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

/// How long the head of a request may take, and how long a connection may lie idle between two of them.
const HEAD_PATIENCE: Duration = Duration::from_secs(20);

/// The most connections, where the system allows as many files.
const MOST_CONNECTIONS: usize = 512;
const FEWEST_CONNECTIONS: usize = 8;

/// How long to wait when the system has no file left for another one.
const BREATH: Duration = Duration::from_millis(100);

/// One of them.
#[derive(Debug, Default)]
pub(super) struct Connection {
    is_let_in: AtomicBool,
    end: CancellationToken,
}

impl Connection {
    /// It made a request that the guard let pass.
    pub(super) fn let_in(&self) {
        self.is_let_in.store(true, Ordering::Relaxed);
    }
}

/// Serves until it is stopped, and what was begun is answered.
pub(super) async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    let all = Arc::new(Connections::new(most()));
    let mut served = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = served.join_next(), if !served.is_empty() => continue,
            () = stop.cancelled() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::debug!(%error, "could not take a connection");
                tokio::time::sleep(BREATH).await;
                continue;
            }
        };
        // Dropped if everybody who is here was let in: they were first.
        if let Some(place) = all.enter() {
            served.spawn(answer(stream, router.clone(), place, stop.clone()));
        }
    }
    served.join_all().await;
}

async fn answer(stream: TcpStream, router: Router, place: Place, stop: CancellationToken) {
    let connection = place.connection.clone();
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(connection.clone());
        let mut router = router.clone();
        async move {
            Ok::<_, Infallible>(
                router.call(request.map(Body::new)).await.unwrap_or_else(|never| match never {}),
            )
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE);
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

/// Half of the files: the rest is for the store, and for what calls start.
fn most() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let files = files.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX);
    (files / 2).clamp(FEWEST_CONNECTIONS, MOST_CONNECTIONS)
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
