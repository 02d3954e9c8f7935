//! A server over lines: standard input and output, or a pair of pipes in a test.

use std::collections::VecDeque;
use std::io;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta as _, JsonRpcMessage, JsonRpcRequest, ProtocolVersion,
    ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, ServerInitializeError};
use rmcp::transport::Transport;
use rmcp::{ServerHandler, ServiceExt as _};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::VERSIONS;
use super::lines::{Line, Lines};
use super::message::{self, Incoming, MOST_BYTES};

/// How many answers wait for a client that does not read.
const MOST_WAITING: usize = 64;

/// Serves until the client closes its side.
pub async fn serve_lines<H, R, W>(handler: H, input: R, output: W) -> io::Result<()>
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let running = match handler.serve(LineTransport::new(input, output)).await {
        Ok(running) => running,
        // It came, asked for nothing, and went.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    running.waiting().await.map(|_| ()).map_err(io::Error::other)
}

/// Messages as lines, with an answer for lines that are none.
#[derive(Debug)]
pub struct LineTransport<R> {
    lines: Lines<R>,
    /// Answers to lines that were no message, until there is room for them.
    complaints: VecDeque<Vec<u8>>,
    /// Before the conversation is open only requests mean anything, and the SDK would end on the rest.
    is_begun: bool,
    out: Option<mpsc::Sender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
}

impl<R: AsyncRead + Send + Unpin> LineTransport<R> {
    /// One task writes, so that no line is ever torn by another or by a caller that gave up.
    pub fn new<W: AsyncWrite + Send + Unpin + 'static>(input: R, output: W) -> Self {
        let (out, waiting) = mpsc::channel(MOST_WAITING);
        Self {
            lines: Lines::new(input, MOST_BYTES),
            complaints: VecDeque::new(),
            is_begun: false,
            out: Some(out),
            writer: Some(tokio::spawn(write(output, waiting))),
        }
    }

    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        let out = self.out.clone()?;
        loop {
            // Room first, then the line: whoever gives up waiting here loses none.
            while !self.complaints.is_empty() {
                let room = out.reserve().await.ok()?;
                if let Some(line) = self.complaints.pop_front() {
                    room.send(line);
                }
            }
            let line = tokio::select! {
                line = self.lines.next() => line,
                () = out.closed() => return None,
            };
            let incoming = match line {
                Ok(Line::Whole(line)) => message::read(&line),
                Ok(Line::TooLong) => Incoming::Bad(Box::new(message::too_long())),
                Ok(Line::End) => return None,
                Err(error) => {
                    tracing::warn!(%error, "could not read the input");
                    return None;
                }
            };
            match incoming {
                Incoming::Nothing => {}
                Incoming::Bad(answer) => self.complaints.push_back(line_of(&answer)),
                Incoming::Message(message) => {
                    self.is_begun |= begins(&message);
                    if self.is_begun || matches!(*message, JsonRpcMessage::Request(_)) {
                        return Some(*message);
                    }
                }
            }
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let out = self.out.clone();
        async move {
            let gone = || io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone");
            out.ok_or_else(gone)?.send(line_of(&message)).await.map_err(|_| gone())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.next().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.out = None;
        match self.writer.take() {
            Some(writer) => writer.await.map_err(io::Error::other),
            None => Ok(()),
        }
    }
}

/// Whether this opens the conversation: with `initialize`, or with a request that says all there is to know.
fn begins(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(JsonRpcRequest { request, .. }) = message else { return false };
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(|version| VERSIONS.contains(&version))
        }
    }
}

/// Ends when nobody is left to write for, or nobody to read.
async fn write<W: AsyncWrite + Unpin>(mut output: W, mut waiting: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = waiting.recv().await {
        let written = async {
            output.write_all(&line).await?;
            output.flush().await
        };
        if let Err(error) = written.await {
            tracing::debug!(%error, "the client does not read any more");
            return;
        }
    }
}

fn line_of(message: &ServerJsonRpcMessage) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("messages have string keys only");
    line.push(b'\n');
    line
}
