//! A request to a model without anything in between.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::model_server::Asked;

/// What the first piece of an answer is called in Messages.
const PIECE: &[u8] = b"content_block_delta";
/// What is told of a request itself, and of a connection, is not told again.
const OF_THE_WAY: &[&str] = &["host", "connection", "content-length", "transfer-encoding"];

/// Sends the same bytes over a connection of its own, and waits for the first piece of the answer.
pub(super) fn until_first_piece(server: SocketAddr, asked: &Asked) -> io::Result<Duration> {
    let start = Instant::now();
    let mut stream = TcpStream::connect(server)?;
    stream.set_nodelay(true)?;
    let mut request = Vec::new();
    write!(request, "POST {} HTTP/1.1\r\nhost: {server}\r\n", asked.path)?;
    for (name, value) in asked.headers.iter().filter(|(name, _)| !OF_THE_WAY.contains(&&**name)) {
        write!(request, "{name}: {value}\r\n")?;
    }
    write!(request, "content-length: {}\r\n\r\n", asked.bytes.len())?;
    request.extend_from_slice(&asked.bytes);
    stream.write_all(&request)?;
    let mut came = Vec::new();
    let mut part = [0; 4096];
    while !came.windows(PIECE.len()).any(|bytes| bytes == PIECE) {
        let length = stream.read(&mut part)?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        came.extend_from_slice(&part[..length]);
    }
    Ok(start.elapsed())
}
