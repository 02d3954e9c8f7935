//! As much of HTTP as clients of models speak.

use std::io::{self, BufRead, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

/// A request with all its histories and pictures, at most.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The next request of a connection, if there is one.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut request = Request { method, path, headers: Vec::new(), body: Vec::new() };
    loop {
        line.clear();
        input.read_line(&mut line)?;
        let header = line.trim_end();
        if header.is_empty() {
            break;
        }
        let Some((name, value)) = header.split_once(':') else { continue };
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    if request.header("transfer-encoding").is_some() {
        request.body = chunks(input)?;
    } else if let Some(length) = request.header("content-length") {
        let length: u64 = length.parse().map_err(io::Error::other)?;
        input.by_ref().take(length.min(MOST_BYTES)).read_to_end(&mut request.body)?;
    }
    Ok(Some(request))
}

fn chunks(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let length = line.trim().split(';').next().unwrap_or_default();
        let length = u64::from_str_radix(length, 16).map_err(io::Error::other)?;
        input.by_ref().take(length.min(MOST_BYTES)).read_to_end(&mut body)?;
        input.read_line(&mut line)?;
        if length == 0 {
            return Ok(body);
        }
    }
}

/// A whole answer.
pub(super) fn respond(
    out: &TcpStream,
    status: &str,
    headers: &[(&str, String)],
    body: &Value,
) -> io::Result<()> {
    page(out, status, headers, "application/json", &body.to_string())
}

pub(super) fn page(
    mut out: &TcpStream,
    status: &str,
    headers: &[(&str, String)],
    kind: &str,
    body: &str,
) -> io::Result<()> {
    let length = body.len();
    let mut lines = vec![
        format!("HTTP/1.1 {status}"),
        format!("content-type: {kind}"),
        format!("content-length: {length}"),
    ];
    lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
    out.write_all(format!("{}\r\n\r\n{body}", lines.join("\r\n")).as_bytes())
}

pub(super) fn bare(mut out: &TcpStream) -> io::Result<()> {
    out.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
}

/// The head of an answer that comes in pieces.
pub(super) fn begin_stream(mut out: &TcpStream) -> io::Result<()> {
    out.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n",
    )
}

pub(super) fn chunk(mut out: &TcpStream, text: &str) -> io::Result<()> {
    out.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
}

pub(super) fn end_stream(mut out: &TcpStream) -> io::Result<()> {
    out.write_all(b"0\r\n\r\n")
}

/// In the middle of a piece.
pub(super) fn break_off(mut out: &TcpStream) -> io::Result<()> {
    out.write_all(b"100\r\ndata: {\"type\"")?;
    out.shutdown(std::net::Shutdown::Both)
}
