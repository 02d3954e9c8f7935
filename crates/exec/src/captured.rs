//! What a program printed, within a limit: the beginning and the end. Must never grow beyond the limit.

use std::collections::VecDeque;

/// Longer than any secret that is likely to be printed, a private key of many lines among them.
pub const EDGE_BYTES: usize = 4096;
/// Longer lines may be kept in part.
const LONGEST_LINE_BYTES: usize = 1024;

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

    /// What was kept, for a person: invalid UTF-8 is replaced and a gap is named. See [`Self::to_clean_text`].
    pub fn to_text(&self) -> String {
        self.to_clean_text(EDGE_BYTES, |text| text)
    }

    /// What was kept, after `clean` has taken out of it what it recognises as a whole, none of which is longer than
    /// an edge.
    ///
    /// Where output was cut, half of such a thing may be left, which nobody would recognise. So the edges of the
    /// gap are dropped too, and only after the cleaning: dropping first would cut something else in two.
    pub fn to_clean_text(&self, edge_bytes: usize, clean: impl Fn(String) -> String) -> String {
        let cleaned = |bytes: &[u8]| clean(String::from_utf8_lossy(bytes).into_owned());
        if self.is_complete() {
            return cleaned(&self.to_bytes());
        }
        let (head, tail) = (cleaned(&self.head), cleaned(&self.tail));
        let (head_kept, tail_kept) =
            (without_last_edge(&head, edge_bytes), without_first_edge(&tail, edge_bytes));
        let edges = head.len() - head_kept.len() + tail.len() - tail_kept.len();
        format!("{head_kept}\n[… {} bytes dropped …]\n{tail_kept}", self.dropped_bytes + edges as u64)
    }
}

/// Back to the end of a line, if there is one not far before the edge.
fn without_last_edge(text: &str, edge_bytes: usize) -> &str {
    let kept = &text[..text.floor_char_boundary(text.len().saturating_sub(edge_bytes))];
    let line_end = kept.rfind('\n').filter(|end| kept.len() - end <= LONGEST_LINE_BYTES);
    &kept[..line_end.unwrap_or(kept.len())]
}

/// Forward to the beginning of a line, if there is one not far after the edge.
fn without_first_edge(text: &str, edge_bytes: usize) -> &str {
    let kept = &text[text.ceil_char_boundary(edge_bytes.min(text.len()))..];
    let line_end = kept.find('\n').filter(|end| *end < LONGEST_LINE_BYTES);
    &kept[line_end.map_or(0, |end| end + 1)..]
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
    }

    #[test]
    fn at_both_edges_of_a_gap_lines_are_dropped_that_may_be_half_of_something() {
        let lines =
            (100_000..104_000).map(|number: u32| number.to_string()).collect::<Vec<_>>().join("\n") + "\n";
        let cut = captured(20_000, &[lines.as_bytes()]);
        let text = cut.to_text();
        let (head, tail) = text.split_once("\n[… ").unwrap();
        let (gap, tail) = tail.split_once(" bytes dropped …]\n").unwrap();
        assert!(lines.starts_with(&format!("{head}\n")) && lines.ends_with(tail) && tail.len() % 7 == 0);
        let kept = head.len() + tail.len();
        assert_eq!(gap.parse::<usize>().unwrap() + kept, lines.len());
        let most = 20_000 - 2 * EDGE_BYTES;
        assert!((most - 20..=most).contains(&kept), "{kept}");
        assert_eq!(captured(4, &[b"abcdefgh"]).to_text(), "\n[… 8 bytes dropped …]\n");
    }

    #[test]
    fn nothing_that_is_recognised_as_a_whole_is_left_in_half() {
        const SECRET: &str = "-----BEGIN-----\nnobody\nmay\nread\nthis\n-----END-----";
        let clean = |text: String| text.replace(SECRET, "[secret]");
        // Wherever it lies, in the head, in the tail, across an edge or across the place where edges are dropped.
        for before in (0..20_000).step_by(11) {
            let (near, far) = ("x".repeat(before), "y".repeat(40_000 - before));
            for output in [format!("{near}{SECRET}{far}"), format!("{far}{SECRET}{near}")] {
                let text = captured(20_000, &[output.as_bytes()]).to_clean_text(EDGE_BYTES, clean);
                for half in ["-----B", "body", "may", "this", "D-----"] {
                    assert!(!text.contains(half), "{before}: {half}");
                }
            }
        }
    }

    #[test]
    fn a_longer_edge_holds_a_longer_secret() {
        let secret = "0123456789".repeat(600);
        let clean = |text: String| text.replace(&secret, "[secret]");
        let output = format!("{}{secret}{}", "x".repeat(9_000), "y".repeat(40_000));
        let cut = captured(20_000, &[output.as_bytes()]);
        assert!(!cut.to_clean_text(secret.len(), clean).contains("0123"));
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
