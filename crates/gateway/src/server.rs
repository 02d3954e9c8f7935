//! Serving: one thread, on the socket of the session and, where nobody inside can relay to it, on a port of this machine.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use longhaul_core::hosts::HostPattern;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::body::{Handler, incoming};
use crate::meter::Meter;
use crate::resolve::{Reach, Wanted};
use crate::route::Door;
use crate::seats::{Seat, Seats};
use crate::socket::{self, Socket};
use crate::token::Token;
use crate::upstream::Upstreams;

/// How long the head of a request may take, and how long a connection may lie idle between two of them.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// The head of a request, at most.
const MOST_HEAD_BYTES: usize = 64 * 1024;
const MOST_HEADERS: usize = 128;
/// How long to wait when the system has no file left for another connection.
const BREATH: Duration = Duration::from_millis(100);
/// How long calls may go on that were begun when it ends; a disk may be slow.
const LAST_PATIENCE: Duration = Duration::from_secs(2);

/// What a gateway serves, and to whom.
pub struct Options {
    /// Where whoever is inside finds it.
    pub socket: PathBuf,
    pub listen: Listen,
    /// The hosts that are let through.
    pub hosts: Vec<HostPattern>,
    pub token: Token,
    pub upstreams: Upstreams,
    pub meter: Arc<dyn Meter>,
    /// The tools of the session.
    pub leaf: Option<Handler>,
    /// Told of each host that is not let through, once.
    pub tell: Arc<dyn Fn(&Wanted) + Send + Sync>,
}

/// Where it listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listen {
    /// Only on the socket, to which somebody inside relays.
    Socket,
    /// Also on a port of this machine, for walls in which nobody relays.
    SocketAndPort,
}

/// A gateway that is open. It closes when this is dropped.
#[derive(Debug)]
pub struct Gateway {
    socket: Socket,
    port: Option<u16>,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Gateway {
    pub fn socket(&self) -> &Path {
        self.socket.path()
    }

    /// The port of this machine, if it has one.
    pub const fn port(&self) -> Option<u16> {
        self.port
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let providers: BTreeMap<_, _> = self.upstreams.iter().collect();
        f.debug_struct("Options")
            .field("socket", &self.socket)
            .field("listen", &self.listen)
            .field("hosts", &self.hosts)
            .field("upstreams", &providers)
            .finish_non_exhaustive()
    }
}

/// Opens a gateway. Somebody can connect when this returns.
pub fn start(options: Options) -> Result<Gateway, Error> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::Start)?;
    let (listener, socket) = socket::open(&options.socket)?;
    listener.set_nonblocking(true).map_err(Error::Start)?;
    let port = match options.listen {
        Listen::Socket => None,
        Listen::SocketAndPort => Some(on_port().map_err(Error::Start)?),
    };
    let number = port.as_ref().map(|(number, _)| *number);
    let stop = CancellationToken::new();
    let Options { hosts, token, upstreams, meter, leaf, tell, .. } = options;
    let door = Arc::new(Door::new(Reach::new(hosts, tell), token, upstreams, meter, leaf));
    let stopped = stop.clone();
    let serve = move || {
        runtime.block_on(async {
            let on_socket = async {
                if let Ok(listener) = UnixListener::from_std(listener) {
                    accept(Listener::Socket(listener), &door).await;
                }
            };
            let on_port = async {
                match port.and_then(|(_, listener)| TcpListener::from_std(listener).ok()) {
                    Some(listener) => accept(Listener::Port(listener), &door).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = on_socket => {}
                () = on_port => {}
                () = stopped.cancelled() => {}
            }
        });
        runtime.shutdown_timeout(LAST_PATIENCE);
    };
    let thread = std::thread::Builder::new().name("gateway".to_owned()).spawn(serve).map_err(Error::Start)?;
    Ok(Gateway { socket, port: number, stop, thread: Some(thread) })
}

fn on_port() -> io::Result<(u16, std::net::TcpListener)> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    Ok((listener.local_addr()?.port(), listener))
}

enum Listener {
    Socket(UnixListener),
    Port(TcpListener),
}

/// Each listener has places of its own, so that strangers on the port take none from the session.
async fn accept(listener: Listener, door: &Arc<Door>) {
    let seats = Arc::new(Seats::default());
    loop {
        let accepted = match &listener {
            Listener::Socket(listener) => listener.accept().await.map(|(stream, _)| {
                if let Some(seat) = seats.take() {
                    tokio::spawn(serve(stream, door.clone(), seat));
                }
            }),
            Listener::Port(listener) => listener.accept().await.map(|(stream, _)| {
                if let Some(seat) = seats.take() {
                    tokio::spawn(serve(stream, door.clone(), seat));
                }
            }),
        };
        if let Err(error) = accepted {
            tracing::debug!(%error, "could not take a connection");
            tokio::time::sleep(BREATH).await;
        }
    }
}

async fn serve<S>(stream: S, door: Arc<Door>, seat: Seat)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let seat = Arc::new(seat);
    let guest = seat.guest.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        seat.guest.asked();
        request.extensions_mut().insert(seat.clone());
        let door = door.clone();
        async move { Ok::<_, Infallible>(door.answer(request.map(incoming)).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE);
    http.max_buf_size(MOST_HEAD_BYTES).max_headers(MOST_HEADERS);
    let served = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
    tokio::select! {
        ended = served => {
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            }
        }
        () = guest.end.cancelled() => {}
    }
}
