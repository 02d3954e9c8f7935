//! The hash chain of a stream: each link covers the one before, a header, and the digest of the stored bytes.
//!
//! The chain covers the *digest* of the bytes and not the bytes, so that a value can later be redacted
//! without breaking it. It shows damage and casual edits; it does not stop an owner of the machine.

use longhaul_events::{Digest, Seq, Timestamp};
use sha2::{Digest as _, Sha256};

/// What is hashed beside the body of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header<'a> {
    pub stream: &'a str,
    /// The number of the decision's first event.
    pub seq: Seq,
    /// How many events it holds.
    pub count: u64,
    pub at: Timestamp,
}

/// The hash of a decision in its stream.
pub fn link(previous: Digest, header: &Header<'_>, body: Digest) -> Digest {
    let mut hasher = Sha256::new();
    hasher.update(b"longhaul/1\0");
    hasher.update(previous.0);
    // The length keeps a name from running into the numbers behind it.
    hasher.update((header.stream.len() as u64).to_be_bytes());
    hasher.update(header.stream.as_bytes());
    hasher.update(header.seq.0.to_be_bytes());
    hasher.update(header.count.to_be_bytes());
    hasher.update(header.at.0.to_be_bytes());
    hasher.update(body.0);
    Digest(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::sha256;

    fn header() -> Header<'static> {
        Header { stream: "session/s-041061050r3gg", seq: Seq(3), count: 2, at: Timestamp(5) }
    }

    #[test]
    fn every_part_of_a_link_changes_it() {
        let body = sha256(b"[]");
        let original = link(Digest::ZERO, &header(), body);
        let changed = [
            link(sha256(b"x"), &header(), body),
            link(Digest::ZERO, &header(), sha256(b"[ ]")),
            link(Digest::ZERO, &Header { stream: "session/s-041061050r3gh", ..header() }, body),
            link(Digest::ZERO, &Header { seq: Seq(4), ..header() }, body),
            link(Digest::ZERO, &Header { count: 1, ..header() }, body),
            link(Digest::ZERO, &Header { at: Timestamp(6), ..header() }, body),
        ];
        assert!(changed.iter().all(|hash| *hash != original));
    }

    #[test]
    fn the_formula_never_changes() {
        // A database of any age must verify: this value may not be edited.
        assert_eq!(
            link(Digest::ZERO, &header(), sha256(b"[]")).to_string(),
            "434506c786d59e17de18cf40d50a4280e3e349c69cf7a12daff2091f3f147fe8"
        );
    }
}
