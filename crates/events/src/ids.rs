//! Ids as types, so that one cannot be passed for another.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base32::{decode_base32, encode_base32};

/// A text that is not the id it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {what}; expected {expected}")]
pub struct IdError {
    pub what: &'static str,
    pub text: String,
    pub expected: &'static str,
}

impl IdError {
    pub(crate) fn new(what: &'static str, text: &str, expected: &'static str) -> Self {
        Self { what, text: text.chars().take(80).collect(), expected }
    }
}

/// Serde by way of `Display` and `FromStr`: the stored form is the form that people see.
macro_rules! serde_as_text {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use serde_as_text;

/// An id made of fixed random bytes behind a letter, such as `s-4k2m9x0c7v1qd`.
macro_rules! byte_id {
    ($(#[$doc:meta])* $name:ident, $bytes:literal, $prefix:literal, $what:literal, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; $bytes]);

        impl $name {
            pub const fn from_bytes(bytes: [u8; $bytes]) -> Self {
                Self(bytes)
            }
            pub const fn as_bytes(&self) -> &[u8; $bytes] {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $prefix, encode_base32(&self.0))
            }
        }
        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                text.strip_prefix($prefix)
                    .and_then(decode_base32)
                    .and_then(|bytes| bytes.try_into().ok())
                    .map(Self)
                    .ok_or_else(|| IdError::new($what, text, $expected))
            }
        }
        serde_as_text!($name);
    };
}

byte_id!(
    /// One durable run of one workflow.
    #[derive(Debug)]
    SessionId, 8, "s-", "session id", "`s-` and 13 letters or digits"
);
byte_id!(
    /// One unit of work: a goal, and all sessions that were started for it.
    #[derive(Debug)]
    TaskId, 8, "t-", "task id", "`t-` and 13 letters or digits"
);
byte_id!(
    /// A registered git repository; made from its path, so that registering twice meets itself.
    #[derive(Debug)]
    WorkspaceId, 5, "w-", "workspace id", "`w-` and 8 letters or digits"
);
byte_id!(
    /// Something that starts tasks by itself; made from where it is declared and its name, so that it keeps its history.
    #[derive(Debug)]
    TriggerId, 8, "g-", "trigger id", "`g-` and 13 letters or digits"
);
byte_id!(
    /// A daemon; made from the machine that it serves.
    #[derive(Debug)]
    DaemonId, 5, "d-", "daemon id", "`d-` and 8 letters or digits"
);
byte_id!(
    /// Tells apart the handles that were given out for one node.
    #[derive(Debug)]
    Nonce, 5, "", "nonce", "8 letters or digits"
);
byte_id!(
    /// The key under which a session's handles are signed. It never leaves the session's first event.
    SessionKey, 16, "", "session key", "26 letters or digits"
);

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey(…)")
    }
}

/// A number with a meaning of its own.
macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            pub const fn plus(self, count: u64) -> Self {
                Self(self.0.saturating_add(count))
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number!(
    /// The number of an event in its stream; the first is 1, and 0 means "before the first".
    Seq
);
number!(
    /// The place of a decision among all decisions of one database, in the order of commits.
    Position
);
number!(
    /// Counts the drivers of a session; only the newest may write.
    Epoch
);

/// A step as it was handed out once: the sequence number of the event that handed it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub Seq);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for NodeId {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let error = || IdError::new("node", text, "a number such as `12`");
        let number: u64 = text.parse().map_err(|_| error())?;
        if number == 0 || number.to_string() != text {
            return Err(error());
        }
        Ok(Self(Seq(number)))
    }
}

/// The name of a step within its workflow; opaque to the log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(pub String);

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_it_was_written() {
        let id = SessionId::from_bytes([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(id.to_string(), "s-041061050r3gg");
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn an_id_of_another_kind_or_length_is_refused() {
        assert!("w-04106106".parse::<SessionId>().is_err());
        assert!("s-04106106".parse::<SessionId>().is_err());
        assert!("s-".parse::<SessionId>().is_err());
    }

    #[test]
    fn a_node_has_one_spelling() {
        assert_eq!("12".parse(), Ok(NodeId(Seq(12))));
        for wrong in ["0", "+12", "012", "", "-1", "12 "] {
            assert!(wrong.parse::<NodeId>().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_session_key_does_not_show_in_debug_output() {
        assert_eq!(format!("{:?}", SessionKey::from_bytes([7; 16])), "SessionKey(…)");
    }
}
