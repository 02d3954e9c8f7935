//! What a program printed, within a limit: the beginning and the end. Must never grow beyond the limit.

use std::collections::VecDeque;

/// The output of one pipe. With nothing dropped, head and tail together are all of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Captured {
    pub head: Vec<u8>,
    pub tail: Vec<u8>,
    pub dropped_bytes: u64,
    /// A process that is not known to us still held the pipe when we stopped reading.
    pub held_open: bool,
}

impl Captured {
    /// Whether every byte that was written is here.
    pub fn is_complete(&self) -> bool {
        self.dropped_bytes == 0
    }

    /// What was kept. Check `is_complete` before reading it as the whole.
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.head.as_slice(), self.tail.as_slice()].concat()
    }

    /// What was kept, for a person: invalid UTF-8 is replaced and a gap is named.
    pub fn to_text(&self) -> String {
        if self.is_complete() {
            return String::from_utf8_lossy(&self.to_bytes()).into_owned();
        }
        format!(
            "{}\n[… {} bytes dropped …]\n{}",
            String::from_utf8_lossy(&self.head),
            self.dropped_bytes,
            String::from_utf8_lossy(&self.tail)
        )
    }
}

/// Collects output: the first half of the limit goes to the head, the rest is a window over the latest bytes.
#[derive(Debug)]
pub(crate) struct Collector {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    dropped_bytes: u64,
}

impl Collector {
    pub(crate) fn new(limit: usize) -> Self {
        let head_limit = limit / 2;
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_limit,
            tail_limit: limit - head_limit,
            dropped_bytes: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = self.head_limit - self.head.len();
        let (first, rest) = bytes.split_at(bytes.len().min(room));
        self.head.extend_from_slice(first);

        let kept = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let overflow = (self.tail.len() + kept.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..overflow);
        self.tail.extend(kept);
        self.dropped_bytes += (rest.len() - kept.len() + overflow) as u64;
    }

    pub(crate) fn into_captured(self) -> Captured {
        Captured {
            head: self.head,
            tail: self.tail.into(),
            dropped_bytes: self.dropped_bytes,
            held_open: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(limit: usize, chunks: &[&[u8]]) -> Captured {
        let mut collector = Collector::new(limit);
        for chunk in chunks {
            collector.push(chunk);
        }
        collector.into_captured()
    }

    fn expected(head: &[u8], tail: &[u8], dropped_bytes: u64) -> Captured {
        Captured { head: head.to_vec(), tail: tail.to_vec(), dropped_bytes, held_open: false }
    }

    #[test]
    fn output_within_the_limit_is_kept_whole() {
        let whole = captured(8, &[b"abc", b"defgh"]);
        assert_eq!(whole, expected(b"abcd", b"efgh", 0));
        assert_eq!(whole.to_text(), "abcdefgh");
    }

    #[test]
    fn output_above_the_limit_keeps_head_and_tail_and_counts_the_gap() {
        let cut = captured(4, &[b"abcdefgh"]);
        assert_eq!(cut, expected(b"ab", b"gh", 4));
        assert_eq!(cut.to_text(), "ab\n[… 4 bytes dropped …]\ngh");
    }

    #[test]
    fn the_size_of_the_chunks_does_not_matter() {
        let bytes = b"the quick brown fox jumps over the lazy dog";
        for limit in 0..bytes.len() + 2 {
            let whole = captured(limit, &[bytes]);
            let single = captured(limit, &bytes.chunks(1).collect::<Vec<_>>());
            let some = captured(limit, &bytes.chunks(7).collect::<Vec<_>>());
            assert_eq!(whole, single);
            assert_eq!(whole, some);
            let kept = whole.head.len() + whole.tail.len();
            assert_eq!(kept as u64 + whole.dropped_bytes, bytes.len() as u64);
            assert!(kept <= limit);
        }
    }
}
