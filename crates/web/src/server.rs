//! Opening the doors, and closing them.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::response::Response;
use hyper::body::Incoming;
use longhaul_runtime::Daemon;
use longhaul_runtime::intake::Intake;
use longhaul_runtime::types::MOST_BODY_BYTES;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

use crate::caller::Peer;
use crate::connections::{self, Answering, Connection, Listener, for_axum};
use crate::control::Control;
use crate::guard::{self, Shown};
use crate::hooks::{self, Hooks};
use crate::reply::Reply;
use crate::socket::{self, Socket};
use crate::token::Token;

/// How many kilobytes of bodies may be in memory at once.
const ROOM_KILOBYTES: usize = 32 * 1024;
/// How many calls are done at once, judging and storing included.
const MOST_BLOCKING: usize = 24;
/// How long what was begun may go on when the doors are closed.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// What the doors lead to.
#[derive(Clone)]
pub struct Inside {
    pub daemon: Arc<Daemon>,
    pub intake: Arc<Intake>,
    /// Figures in the format of Prometheus.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
}

impl std::fmt::Debug for Inside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inside").finish_non_exhaustive()
    }
}

/// How large and how slow a request may be.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub most_body_bytes: usize,
    /// How long its head may take, and how long a connection may lie idle.
    pub head_patience: Duration,
    /// How long its body may take beyond that.
    pub body_patience: Duration,
}

impl Default for Limits {
    /// Ten seconds for a whole request.
    fn default() -> Self {
        let patience = Duration::from_secs(5);
        Self { most_body_bytes: MOST_BODY_BYTES, head_patience: patience, body_patience: patience }
    }
}

#[derive(Debug, Clone)]
pub struct WebOptions {
    /// Where the port is; none for no port.
    pub listen: Option<SocketAddr>,
    /// Where the Unix socket is.
    pub socket: PathBuf,
    /// Where the token for the port is kept.
    pub token: PathBuf,
    pub limits: Limits,
}

#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error("could not listen on `{}`: {source}; see whether another daemon runs, and who owns the folder", path.display())]
    Socket { path: PathBuf, source: io::Error },
    #[error("could not listen on `{address}`: {source}; choose another `daemon.listen`, or stop what has it")]
    Port { address: SocketAddr, source: io::Error },
    #[error("the token in `{}` cannot be used: {source}", path.display())]
    Token { path: PathBuf, source: io::Error },
    #[error("could not start serving: {0}; raise the limit of processes, or end something")]
    Runtime(#[source] io::Error),
}

/// Doors that are open.
#[derive(Debug)]
pub struct Web {
    address: Option<SocketAddr>,
    trouble: Option<WebError>,
    stop: CancellationToken,
    served: Mutex<Option<(Runtime, Vec<JoinHandle<()>>)>>,
    _socket: Socket,
}

impl Web {
    /// Opens the doors. A port that somebody else has keeps the socket from nothing: that is told by [`Self::trouble`].
    pub fn start(inside: Inside, options: WebOptions) -> Result<Self, WebError> {
        let WebOptions { listen, socket: path, token: token_path, limits } = options;
        let token = Token::read_or_make(&token_path)
            .map_err(|source| WebError::Token { path: token_path, source })?;
        let at_socket = |source| WebError::Socket { path: path.clone(), source };
        let (listener, socket) = socket::open(&path).map_err(at_socket)?;
        listener.set_nonblocking(true).map_err(at_socket)?;
        let mut builder = Builder::new_multi_thread();
        let runtime = builder
            .worker_threads(2)
            .max_blocking_threads(MOST_BLOCKING)
            .thread_name("web")
            .enable_all()
            .build()
            .map_err(WebError::Runtime)?;
        let entered = runtime.enter();
        let listener = UnixListener::from_std(listener).map_err(at_socket)?;
        let (port, address, trouble) = match listen.map(|address| bind(&runtime, address)) {
            None => (None, None, None),
            Some(Ok((port, address))) => (Some(port), Some(address), None),
            Some(Err(error)) => (None, None, Some(error)),
        };
        let stop = CancellationToken::new();
        let control = Control::new(inside.clone(), limits, address).router();
        let room = Arc::new(Semaphore::new(ROOM_KILOBYTES));
        let hooks = Hooks { intake: inside.intake, limits, room };
        let at_socket = AtSocket { control: control.clone() };
        let mut served = vec![runtime.spawn(connections::serve(
            Listener::Socket(listener),
            at_socket,
            limits,
            stop.clone(),
        ))];
        if let Some(port) = port {
            let at_port = AtPort { control, hooks, token: Arc::new(token) };
            served.push(runtime.spawn(connections::serve(
                Listener::Port(port),
                at_port,
                limits,
                stop.clone(),
            )));
        }
        drop(entered);
        Ok(Self { address, trouble, stop, served: Mutex::new(Some((runtime, served))), _socket: socket })
    }

    /// Where the port is, if there is one.
    pub const fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Why there is no port, though there should be one.
    pub const fn trouble(&self) -> Option<&WebError> {
        self.trouble.as_ref()
    }

    /// Closes the doors, and returns when what was begun is answered.
    pub fn stop(&self) {
        self.stop.cancel();
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((runtime, served)) = served {
            runtime.block_on(async {
                for one in served {
                    let _ = tokio::time::timeout(LAST_PATIENCE, one).await;
                }
            });
            runtime.shutdown_background();
        }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.stop();
    }
}

fn bind(runtime: &Runtime, address: SocketAddr) -> Result<(TcpListener, SocketAddr), WebError> {
    let failed = |source| WebError::Port { address, source };
    let listener = runtime.block_on(TcpListener::bind(address)).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

/// The door of the user.
#[derive(Debug, Clone)]
struct AtSocket {
    control: Router,
}

impl Answering for AtSocket {
    async fn answer(
        &self,
        peer: Peer,
        connection: Arc<Connection>,
        request: hyper::Request<Incoming>,
    ) -> Response {
        let Peer::Socket { user, process } = peer else { return refused() };
        // Looks at other processes, and so not where others are answered.
        let caller = tokio::task::spawn_blocking(move || Peer::of_socket(user, process)).await;
        let Ok(Some(caller)) = caller else { return refused() };
        connection.let_in();
        let mut request = for_axum(request);
        request.extensions_mut().insert(caller);
        routed(&self.control, request).await
    }
}

/// The door that strangers may knock at.
#[derive(Debug, Clone)]
struct AtPort {
    control: Router,
    hooks: Hooks,
    token: Arc<Token>,
}

impl Answering for AtPort {
    async fn answer(
        &self,
        peer: Peer,
        connection: Arc<Connection>,
        request: hyper::Request<Incoming>,
    ) -> Response {
        let Peer::Port { address, own } = peer else { return refused() };
        if request.uri().path().starts_with(hooks::PREFIX) {
            return self.hooks.answer(&connection, request).await;
        }
        let shown = Shown { peer: address.ip(), uri: request.uri(), headers: request.headers() };
        if let Err(refused) = guard::check(&shown, &self.token) {
            return Reply::from(refused).into_response();
        }
        let caller = tokio::task::spawn_blocking(move || Peer::of_port(address, own)).await;
        let Ok(caller) = caller else { return refused() };
        connection.let_in();
        let mut request = for_axum(request);
        request.extensions_mut().insert(caller);
        routed(&self.control, request).await
    }
}

async fn routed(router: &Router, request: axum::extract::Request) -> Response {
    router.clone().call(request).await.unwrap_or_else(|never| match never {})
}

fn refused() -> Response {
    Reply::error(StatusCode::FORBIDDEN, None, "this door is for another user").into_response()
}
