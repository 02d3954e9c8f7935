//! Lines of bounded length, from whatever is on the other end of a pipe.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// A buffer that grew beyond this is given back after its line.
const KEPT_BYTES: usize = 1 << 20;

/// Reads line by line, and never holds more than a line may have.
#[derive(Debug)]
pub struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    most_bytes: usize,
    /// The rest of a line that was too long is still to come.
    skipping: bool,
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Whole(Vec<u8>),
    /// It was longer than allowed; said once, as soon as that is known.
    TooLong,
    End,
}

/// What a piece of input does to the line that is being read.
enum Piece {
    Continues,
    Ends,
    Overflows { ended: bool },
    Skipped { ended: bool },
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(input: R, most_bytes: usize) -> Self {
        Self { input: BufReader::new(input), line: Vec::new(), most_bytes, skipping: false }
    }

    /// The next line, without its end. May be dropped while it waits: nothing that was read is lost. Input that
    /// ends without a line break still ends a line.
    pub async fn next(&mut self) -> io::Result<Line> {
        loop {
            let piece = self.input.fill_buf().await?;
            if piece.is_empty() {
                return Ok(if self.line.is_empty() { Line::End } else { Line::Whole(self.take()) });
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let (text, used) = match end {
                Some(end) => (&piece[..end], end + 1),
                None => (piece, piece.len()),
            };
            let ended = end.is_some();
            let what = if self.skipping {
                Piece::Skipped { ended }
            } else if self.line.len() + text.len() > self.most_bytes {
                Piece::Overflows { ended }
            } else {
                self.line.extend_from_slice(text);
                if ended { Piece::Ends } else { Piece::Continues }
            };
            self.input.consume(used);
            match what {
                Piece::Continues => {}
                Piece::Ends => return Ok(Line::Whole(self.take())),
                Piece::Skipped { ended } => self.skipping = !ended,
                Piece::Overflows { ended } => {
                    self.line = Vec::new();
                    self.skipping = !ended;
                    return Ok(Line::TooLong);
                }
            }
        }
    }

    fn take(&mut self) -> Vec<u8> {
        if self.line.capacity() > KEPT_BYTES {
            return std::mem::take(&mut self.line);
        }
        let line = self.line.clone();
        self.line.clear();
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(input: &[u8], most_bytes: usize) -> Vec<Line> {
        let mut lines = Lines::new(input, most_bytes);
        let mut seen = Vec::new();
        loop {
            let line = lines.next().await.unwrap();
            let is_end = line == Line::End;
            seen.push(line);
            if is_end {
                return seen;
            }
        }
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn lines_come_one_by_one_and_the_last_needs_no_end() {
        assert_eq!(all(b"a\n\nbc\nd", 10).await, [whole("a"), whole(""), whole("bc"), whole("d"), Line::End]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_said_once_and_what_follows_is_read() {
        let long = format!("{}\nok\n", "x".repeat(100_000));
        assert_eq!(all(long.as_bytes(), 10).await, [Line::TooLong, whole("ok"), Line::End]);
        assert_eq!(all(b"0123456789\n0123456789a\nb\n", 10).await[..2], [whole("0123456789"), Line::TooLong]);
    }
}
