//! What a request brings, and what tells it from every other one.

use std::fmt;

use longhaul_events::Timestamp;

use super::signature::Scheme;
use super::{SameBody, Webhook};
use crate::canonical::sha256;

/// No body is longer that anybody looks at. The largest of GitHub's that are about one issue or run are far below.
pub const MOST_BODY_BYTES: usize = 1 << 20;
/// Longer ids are nobody's.
pub const LONGEST_DELIVERY_ID: usize = 128;

/// Headers that name a delivery, the ones of forges first.
const ID_HEADERS: [&str; 4] = ["x-github-delivery", "webhook-id", "x-gitlab-event-uuid", "idempotency-key"];

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Names in any case; a name may stand there twice.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// What makes two deliveries of one trigger the same. The task that a delivery leads to is named after it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(String);

impl Key {
    /// Of a tick: whoever computes it comes to the same.
    pub fn of_tick(at: Timestamp) -> Self {
        Self(format!("tick:{}", at.0))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Delivery {
    pub(super) fn header_values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers
            .iter()
            .filter(move |(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// What the sender calls it, if that is one plain word. It is part of what is signed only with Standard Webhooks.
    pub fn id(&self) -> Option<&str> {
        ID_HEADERS.iter().find_map(|header| self.header_values(header).map(str::trim).find(|id| is_plain(id)))
    }

    /// The SHA-256 of the body, in hexadecimal.
    pub fn body_digest(&self) -> String {
        sha256(&self.body).to_string()
    }

    /// What tells it from every other delivery to a trigger.
    pub fn key(&self, webhook: &Webhook) -> Key {
        let id = match (webhook.scheme(), webhook.same_body) {
            // Signed, so nobody else can have chosen it.
            (Scheme::StandardWebhooks, _) => {
                self.header_values("webhook-id").map(str::trim).find(|id| is_plain(id))
            }
            (Scheme::HmacHex | Scheme::Token, SameBody::New) => self.id(),
            (Scheme::HmacHex | Scheme::Token, SameBody::Duplicate) => None,
        };
        Key(id.map_or_else(|| format!("body:{}", self.body_digest()), |id| format!("id:{id}")))
    }
}

fn is_plain(id: &str) -> bool {
    (1..=LONGEST_DELIVERY_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}
