//! Starting the server: with as few threads as do, and nothing opened before somebody asks.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::desk::Desk;
use crate::protocol::{self, Guard, Http, Token};
use crate::server::Longhaul;

/// How long calls may go on whose client is gone. They wait for nothing any more, but a disk may be slow.
const LAST_PATIENCE: Duration = Duration::from_secs(10);

/// Where to listen, and who may come.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    pub address: SocketAddr,
    pub token: Option<Token>,
    /// Names, beside `localhost`, under which this machine is reached.
    pub names: Vec<String>,
}

/// Serves standard input and output until the client closes them.
pub fn serve_stdio(server: Longhaul) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (room, desk) = (server.room.clone(), server.desk.clone());
    let served = runtime.block_on(async {
        let (input, output) = rmcp::transport::stdio_pipes();
        let input = UntilGone { input, desk };
        let served = Box::pin(protocol::serve_lines(server, input, output)).await;
        // What was begun is finished, if it does not take long. The rest is stored whole or not at all.
        let _ = tokio::time::timeout(LAST_PATIENCE, room.emptied()).await;
        served
    });
    end(runtime);
    served
}

/// An input that says when its end is reached. The SDK goes on waiting for calls that are open then, for a while, and so
/// they must know that nobody else does.
struct UntilGone<R> {
    input: R,
    desk: Desk,
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilGone<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.input).poll_read(context, buffer);
        let is_end = match &read {
            Poll::Ready(Ok(())) => buffer.filled().len() == before,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if is_end {
            self.desk.desert();
        }
        read
    }
}

/// Serves a port until the process is ended. `ready` is told where, once somebody can connect.
pub fn serve_http(server: &Longhaul, options: HttpOptions, ready: impl FnOnce(SocketAddr)) -> io::Result<()> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let HttpOptions { address, token, names } = options;
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        ready(address);
        let guard = Guard { address, token, names };
        let http = Http { listener, guard, stop: CancellationToken::new() };
        let server = server.on_port();
        protocol::serve_http(http, move || server.clone()).await
    });
    end(runtime);
    served
}

/// Without waiting for a thread that reads an input which nobody closes.
fn end(runtime: Runtime) {
    runtime.shutdown_background();
}
