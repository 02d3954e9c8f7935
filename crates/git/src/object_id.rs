//! The name of an object. Holds only what git could have printed.

use std::fmt;

/// The hash of a commit, tree or blob in hexadecimal: SHA-1 or SHA-256.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(String);

impl ObjectId {
    /// `None` if it is not a full id.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (matches!(text.len(), 40 | 64) && text.bytes().all(is_hex)).then(|| Self(text.to_owned()))
    }

    /// The hash as git prints it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_ids_in_lower_case_are_ids() {
        assert!(ObjectId::parse(&"a0".repeat(20)).is_some());
        assert!(ObjectId::parse(&"a0".repeat(32)).is_some());
        for text in ["", "a0a0a0a", &"A0".repeat(20), &"g0".repeat(20), &format!("{}\n", "a0".repeat(20))] {
            assert_eq!(ObjectId::parse(text), None, "{text:?}");
        }
    }
}
