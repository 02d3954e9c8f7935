//! Lines out of bytes as they come. Must never keep more than one line of the longest length.

/// Collects bytes until a line is whole.
#[derive(Debug)]
pub(crate) struct Lines {
    buffer: Vec<u8>,
    /// How far it was looked through in vain.
    searched: usize,
    limit: usize,
}

/// A line is longer than may be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Lines {
    pub(crate) fn new(limit: usize) -> Self {
        Self { buffer: Vec::new(), searched: 0, limit }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next line that is whole, without its end.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, TooLong> {
        let Some(end) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            return if self.searched > self.limit { Err(TooLong) } else { Ok(None) };
        };
        let end = self.searched + end;
        if end > self.limit {
            return Err(TooLong);
        }
        let rest = self.buffer.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.buffer, rest);
        self.searched = 0;
        line.truncate(end);
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_whole_however_their_bytes_come() {
        let text = b"one\n\ntwo\nthree";
        for size in 1..text.len() {
            let (mut lines, mut found) = (Lines::new(5), Vec::new());
            for chunk in text.chunks(size) {
                lines.push(chunk);
                while let Some(line) = lines.next().unwrap() {
                    found.push(line);
                }
            }
            assert_eq!(found, [b"one".to_vec(), b"".to_vec(), b"two".to_vec()]);
        }
    }

    #[test]
    fn a_line_that_never_ends_is_refused_at_the_limit() {
        let mut lines = Lines::new(5);
        lines.push(b"12345");
        assert_eq!(lines.next(), Ok(None));
        lines.push(b"6");
        assert_eq!(lines.next(), Err(TooLong));
        let mut lines = Lines::new(5);
        lines.push(b"123456\n");
        assert_eq!(lines.next(), Err(TooLong));
    }
}
