//! Whether somebody who knows the secret signed a request.
//!
//! Comparisons take the same time wherever two values differ. What is signed are the bytes as they came; nobody looks into
//! them before.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use longhaul_events::Timestamp;
use sha2::{Digest as _, Sha256};

use super::delivery::Delivery;
use super::judge::Problem;

/// How far the clock of a sender may be from ours.
const TOLERANCE_MS: u64 = 5 * 60 * 1000;
/// A sender that changes its secret signs with the old one too; more are somebody's who guesses.
const MOST_SIGNATURES: usize = 8;
const WEBHOOK_ID: &str = "webhook-id";
const WEBHOOK_TIMESTAMP: &str = "webhook-timestamp";
const WEBHOOK_SIGNATURE: &str = "webhook-signature";
const GITLAB_TOKEN: &str = "x-gitlab-token";
/// Before the base64 of a secret of Standard Webhooks.
const SECRET_PREFIX: &str = "whsec_";

/// How requests are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// HMAC-SHA256 over the body, in hexadecimal, with or without `sha256=`.
    HmacHex,
    /// HMAC-SHA256 over id, timestamp and body: `v1,<base64>`, several with spaces between them.
    StandardWebhooks,
    /// The secret itself, as GitLab sends it.
    Token,
}

impl Scheme {
    /// The header that carries a signature says how it is made.
    pub(super) fn of(header: &str) -> Self {
        if header.eq_ignore_ascii_case(WEBHOOK_SIGNATURE) {
            Self::StandardWebhooks
        } else if header.eq_ignore_ascii_case(GITLAB_TOKEN) {
            Self::Token
        } else {
            Self::HmacHex
        }
    }

    pub const fn about(self) -> &'static str {
        match self {
            Self::HmacHex => "HMAC-SHA256 of the body",
            Self::StandardWebhooks => "Standard Webhooks",
            Self::Token => "a token in the header",
        }
    }
}

/// What a signature is checked with.
pub(super) struct Check<'a> {
    pub(super) delivery: &'a Delivery,
    pub(super) header: &'a str,
    pub(super) secret: &'a str,
    pub(super) now: Timestamp,
}

/// Says nothing if the request is signed, and otherwise why it does not count as signed.
pub(super) fn verify(check: &Check<'_>) -> Result<(), Problem> {
    let signature = single(check, check.header)?;
    let is_right = match Scheme::of(check.header) {
        Scheme::HmacHex => is_hex_mac(check, signature)?,
        Scheme::StandardWebhooks => is_standard(check, signature)?,
        Scheme::Token => is_same(signature.as_bytes(), check.secret.as_bytes()),
    };
    if is_right { Ok(()) } else { Err(Problem::WrongSignature) }
}

/// A header that stands there once: of two, nobody knows which another program would take.
fn single<'d>(check: &Check<'d>, header: &str) -> Result<&'d str, Problem> {
    let mut values = check.delivery.header_values(header);
    let value = values.next().ok_or_else(|| Problem::Unsigned { header: header.to_owned() })?;
    if values.next().is_some() {
        return Err(Problem::HeaderTwice { header: header.to_owned() });
    }
    Ok(value.trim())
}

fn is_hex_mac(check: &Check<'_>, signature: &str) -> Result<bool, Problem> {
    let digits = signature.strip_prefix("sha256=").unwrap_or(signature);
    let claimed = hex(digits).ok_or_else(|| Problem::Malformed { header: check.header.to_owned() })?;
    Ok(mac(check.secret.as_bytes(), &[&check.delivery.body]).verify_slice(&claimed).is_ok())
}

fn is_standard(check: &Check<'_>, signatures: &str) -> Result<bool, Problem> {
    let (id, timestamp) = (single(check, WEBHOOK_ID)?, single(check, WEBHOOK_TIMESTAMP)?);
    let malformed = || Problem::Malformed { header: WEBHOOK_TIMESTAMP.to_owned() };
    let seconds: i64 = timestamp.parse().map_err(|_| malformed())?;
    let sent = Timestamp(seconds.checked_mul(1000).ok_or_else(malformed)?);
    let key = match check.secret.strip_prefix(SECRET_PREFIX) {
        Some(encoded) => STANDARD.decode(encoded).map_err(|_| Problem::UnusableSecret)?,
        None => check.secret.as_bytes().to_vec(),
    };
    let signed = mac(&key, &[id.as_bytes(), b".", timestamp.as_bytes(), b".", &check.delivery.body]);
    let claimed = signatures.split(' ').filter_map(|one| one.strip_prefix("v1,")).take(MOST_SIGNATURES);
    // All are looked at, so that the time taken does not tell which was right.
    let is_right = claimed
        .filter_map(|one| STANDARD.decode(one).ok())
        .fold(false, |found, one| signed.clone().verify_slice(&one).is_ok() | found);
    // Only somebody who knows the secret is told about the time.
    if is_right && sent.since_ms(check.now).max(check.now.since_ms(sent)) > TOLERANCE_MS {
        return Err(Problem::OutOfTime { sent, now: check.now });
    }
    Ok(is_right)
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac
}

/// Compares digests, so that neither the length nor the place of a difference shows in the time taken.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let (one, other) = (Sha256::digest(one), Sha256::digest(other));
    one.iter().zip(other.iter()).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

/// Exactly the bytes of a SHA-256.
fn hex(digits: &str) -> Option<[u8; 32]> {
    let digits = digits.as_bytes();
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let digit = |at: usize| char::from(digits[at]).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = digit(2 * at)? << 4 | digit(2 * at + 1)?;
    }
    Some(bytes)
}
