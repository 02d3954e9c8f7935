//! Handles: `<session>.<node>.<nonce>.<MAC>`, valid in every process that has the session's log.
//!
//! The MAC is made under the random key of the session's first event, so there is no key file to lose and a
//! handle survives export and restore. A handle proves that we gave it out, not that its bearer may do more.

use std::fmt;
use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use longhaul_events::{NodeId, Nonce, SessionId, SessionKey, decode_base32, encode_base32};
use sha2::Sha256;

/// 80 bits: a forger with the database at hand needs no luck, and one without it has none.
const MAC_BYTES: usize = 10;

/// What a handle is good for; part of what is signed.
const ADVANCE: &[u8] = b"longhaul/handle/1\0";
const CHECKPOINT: &[u8] = b"longhaul/checkpoint/1\0";
const QUESTION: &[u8] = b"longhaul/question/1\0";

/// A handle whose form is right; whether we signed it is for [`Handle::is_signed_by`] to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    pub session: SessionId,
    pub node: NodeId,
    pub nonce: Nonce,
    mac: [u8; MAC_BYTES],
}

/// A text that has not the form of a handle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a handle; copy the whole value, it looks like `s-….12.abcd1234.…` (`longhaul session resume ID` shows it)"
)]
pub struct Malformed {
    pub text: String,
}

impl Handle {
    pub fn sign(session: SessionId, node: NodeId, nonce: Nonce, key: &SessionKey) -> Self {
        let unsigned = Self { session, node, nonce, mac: [0; MAC_BYTES] };
        Self { mac: unsigned.mac_for(ADVANCE, key), ..unsigned }
    }

    /// A token for taking notes: of the same form, and good for nothing else.
    pub fn sign_checkpoint(session: SessionId, node: NodeId, nonce: Nonce, key: &SessionKey) -> Self {
        let unsigned = Self { session, node, nonce, mac: [0; MAC_BYTES] };
        Self { mac: unsigned.mac_for(CHECKPOINT, key), ..unsigned }
    }

    /// A proof that a person was to be asked about a gate: of the same form, and good for nothing else.
    pub fn sign_question(session: SessionId, gate: NodeId, nonce: Nonce, key: &SessionKey) -> Self {
        let unsigned = Self { session, node: gate, nonce, mac: [0; MAC_BYTES] };
        Self { mac: unsigned.mac_for(QUESTION, key), ..unsigned }
    }

    pub fn is_signed_by(&self, key: &SessionKey) -> bool {
        self.has_mac(self.mac_for(ADVANCE, key))
    }

    pub fn is_checkpoint_signed_by(&self, key: &SessionKey) -> bool {
        self.has_mac(self.mac_for(CHECKPOINT, key))
    }

    pub fn is_question_signed_by(&self, key: &SessionKey) -> bool {
        self.has_mac(self.mac_for(QUESTION, key))
    }

    fn has_mac(&self, expected: [u8; MAC_BYTES]) -> bool {
        // No early exit: how far a guess was right must not show in the time taken.
        expected.iter().zip(self.mac).fold(0, |different, (a, b)| different | (a ^ b)) == 0
    }

    fn mac_for(&self, purpose: &[u8], key: &SessionKey) -> [u8; MAC_BYTES] {
        let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length");
        mac.update(purpose);
        mac.update(format!("{}.{}.{}", self.session, self.node, self.nonce).as_bytes());
        let full: [u8; 32] = mac.finalize().into_bytes().into();
        std::array::from_fn(|n| full[n])
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}.{}", self.session, self.node, self.nonce, encode_base32(&self.mac))
    }
}

impl FromStr for Handle {
    type Err = Malformed;
    fn from_str(text: &str) -> Result<Self, Malformed> {
        parse(text).ok_or_else(|| Malformed { text: text.chars().take(120).collect() })
    }
}

fn parse(text: &str) -> Option<Handle> {
    let mut parts = text.split('.');
    let (session, node, nonce) = (parts.next()?, parts.next()?, parts.next()?);
    let mac = decode_base32(parts.next()?)?;
    if parts.next().is_some() {
        return None;
    }
    Some(Handle {
        session: session.parse().ok()?,
        node: node.parse().ok()?,
        nonce: nonce.parse().ok()?,
        mac: mac.try_into().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_events::Seq;

    const KEY: SessionKey = SessionKey::from_bytes([5; 16]);

    fn handle() -> Handle {
        let session = SessionId::from_bytes([1; 8]);
        Handle::sign(session, NodeId(Seq(12)), Nonce::from_bytes([2; 5]), &KEY)
    }

    #[test]
    fn a_handle_reads_back_and_is_ours() {
        let read: Handle = handle().to_string().parse().unwrap();
        assert_eq!(read, handle());
        assert!(read.is_signed_by(&KEY));
        assert!(!read.is_signed_by(&SessionKey::from_bytes([6; 16])));
    }

    #[test]
    fn what_was_signed_for_one_purpose_is_good_for_no_other() {
        let (session, node, nonce) = (handle().session, handle().node, handle().nonce);
        let question = Handle::sign_question(session, node, nonce, &KEY);
        assert!(question.is_question_signed_by(&KEY));
        assert!(!question.is_signed_by(&KEY) && !question.is_checkpoint_signed_by(&KEY));
        assert!(!handle().is_question_signed_by(&KEY));
    }

    #[test]
    fn changing_any_letter_makes_it_malformed_or_forged() {
        let text = handle().to_string();
        for place in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[place] = if changed[place] == b'1' { b'2' } else { b'1' };
            let changed = String::from_utf8(changed).unwrap();
            if let Ok(read) = changed.parse::<Handle>() {
                assert!(!read.is_signed_by(&KEY), "{changed}");
            }
        }
    }

    #[test]
    fn a_handle_has_the_same_form_for_ever() {
        assert_eq!(handle().to_string(), "s-040g2081040g2.12.081040g2.3mvf44a8c82wj5a5");
    }
}
