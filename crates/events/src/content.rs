//! What a fact carries: small values in place, large ones by digest.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{IdError, serde_as_text};

/// A SHA-256 digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// What stands before the first link of every chain.
    pub const ZERO: Self = Self([0; 32]);
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Digest {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let error = || IdError::new("digest", text, "64 lower-case hexadecimal digits");
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(error());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let high = hexadecimal(pair[0]).ok_or_else(error)?;
            let low = hexadecimal(pair[1]).ok_or_else(error)?;
            *byte = high << 4 | low;
        }
        Ok(Self(bytes))
    }
}

fn hexadecimal(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

serde_as_text!(Digest);

/// Names a blob by what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobRef {
    pub sha256: Digest,
    pub bytes: u64,
}

/// A JSON value inside the event, or a blob that holds its JSON text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Inline(Value),
    Blob(BlobRef),
}

/// Free text inside an event: what people and agents wrote, as opposed to what gives the event its shape.
#[derive(Debug)]
pub enum FreeText<'a> {
    Value(&'a mut Value),
    Words(&'a mut String),
}

/// A place in an event for a content.
#[derive(Debug)]
pub struct Slot<'a> {
    pub content: &'a mut Content,
    pub kept: Kept,
}

/// Where a content is kept, which decides how large it may be in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// In the event alone.
    InEvent,
    /// In the state of the stream too, which is written with every decision.
    InState,
}

impl Content {
    /// The value, if it lies in the event.
    pub(crate) fn free_text(&mut self) -> Option<FreeText<'_>> {
        match self {
            Self::Inline(value) => Some(FreeText::Value(value)),
            Self::Blob(_) => None,
        }
    }

    pub const fn blob(&self) -> Option<BlobRef> {
        match self {
            Self::Inline(_) => None,
            Self::Blob(blob) => Some(*blob),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_reads_back_as_it_was_written() {
        let digest = Digest(std::array::from_fn(|n| u8::try_from(n * 8).unwrap()));
        assert_eq!(digest.to_string().parse(), Ok(digest));
    }

    #[test]
    fn a_digest_in_upper_case_or_of_another_length_is_refused() {
        assert!("AB".repeat(32).parse::<Digest>().is_err());
        assert!("ab".repeat(31).parse::<Digest>().is_err());
        assert!("zz".repeat(32).parse::<Digest>().is_err());
    }
}
