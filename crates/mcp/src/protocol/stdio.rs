//! A server over lines: standard input and output, or a pair of pipes in a test.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta as _, JsonRpcMessage, JsonRpcRequest, ProtocolVersion,
    ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, ServerInitializeError};
use rmcp::transport::Transport;
use rmcp::{ServerHandler, ServiceExt as _};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::VERSIONS;
use super::lines::{Line, Lines};
use super::message::{self, Incoming, MOST_BYTES};
use super::unanswered::{Taken, Unanswered};

/// How many answers wait for a client that does not read.
const MOST_WAITING: usize = 64;

/// How long the last answers wait for a client that has closed its side and does not read.
const LAST_PATIENCE: Duration = Duration::from_secs(10);

/// Serves until the client closes its side and has what it is owed.
pub async fn serve_lines<H, R, W>(handler: H, input: R, output: W) -> io::Result<()>
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (out, waiting) = mpsc::channel(MOST_WAITING);
    // One task writes, so that no line is ever torn by another or by a caller that gave up.
    let writer = tokio::spawn(write(output, waiting));
    let served = match handler.serve(LineTransport::new(input, out)).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(io::Error::other),
        // It never opened a conversation; whatever it asked was answered.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(io::Error::other(error)),
    };
    match tokio::time::timeout(LAST_PATIENCE, writer).await {
        Ok(written) => served.and(written.map_err(io::Error::other)),
        Err(_) => served,
    }
}

/// Messages as lines, with an answer for lines that are none.
#[derive(Debug)]
struct LineTransport<R> {
    lines: Lines<R>,
    /// Answers to lines that were no message, until there is room for them.
    complaints: VecDeque<Vec<u8>>,
    /// Before the conversation is open only requests mean anything, and the SDK would end on the rest.
    is_begun: bool,
    unanswered: Unanswered,
    out: Option<mpsc::Sender<Vec<u8>>>,
}

impl<R: AsyncRead + Send + Unpin> LineTransport<R> {
    fn new(input: R, out: mpsc::Sender<Vec<u8>>) -> Self {
        Self {
            lines: Lines::new(input, MOST_BYTES),
            complaints: VecDeque::new(),
            is_begun: false,
            unanswered: Unanswered::default(),
            out: Some(out),
        }
    }

    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        let out = self.out.clone()?;
        loop {
            // Room first, then the line: whoever gives up waiting here loses none. Answers that wait for room are before
            // us in the queue, so nothing more is read for a client that does not read.
            let mut room = out.reserve().await.ok()?;
            while let Some(line) = self.complaints.pop_front() {
                room.send(line);
                room = out.reserve().await.ok()?;
            }
            drop(room);
            self.unanswered.fewer().await;
            let line = tokio::select! {
                line = self.lines.next() => line,
                () = out.closed() => return None,
            };
            let (incoming, bytes) = match line {
                Ok(Line::Whole(line)) => (message::read(&line), line.len()),
                Ok(Line::TooLong) => (Incoming::Bad(Box::new(message::too_long())), 0),
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
                    if let Some(message) = self.taken(*message, bytes) {
                        return Some(message);
                    }
                }
            }
        }
    }

    /// The message, if it is to be worked on; one that is not is answered or means nothing.
    fn taken(&mut self, message: ClientJsonRpcMessage, bytes: usize) -> Option<ClientJsonRpcMessage> {
        match self.unanswered.take(&message, bytes) {
            Taken::Refused(answer) => {
                self.complaints.push_back(line_of(&answer));
                None
            }
            Taken::Yes => {
                self.is_begun |= begins(&message);
                (self.is_begun || matches!(message, JsonRpcMessage::Request(_))).then_some(message)
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
        self.unanswered.answered(&message);
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
        Ok(())
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
