//! One spelling for each JSON value (RFC 8785), for hashing only; values are stored as they were sent.

use longhaul_events::Digest;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// A value that has no canonical form.
#[derive(Debug, thiserror::Error)]
#[error("the value has no canonical JSON form: {0}")]
pub struct Error(String);

/// The SHA-256 of a value's canonical form: the same for every order of keys and every way to write a number.
pub fn hash<T: Serialize>(value: &T) -> Result<Digest, Error> {
    let text = serde_json_canonicalizer::to_vec(value).map_err(|error| Error(error.to_string()))?;
    Ok(sha256(&text))
}

/// The SHA-256 of bytes as they are.
pub fn sha256(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn key_order_and_number_spelling_do_not_matter() {
        let one: serde_json::Value = serde_json::from_str(r#"{"b":1.0,"a":[1e2,"é"]}"#).unwrap();
        let other: serde_json::Value = serde_json::from_str(r#"{"a":[100,"\u00e9"],"b":1}"#).unwrap();
        assert_eq!(hash(&one).unwrap(), hash(&other).unwrap());
    }

    #[test]
    fn the_order_of_a_list_matters() {
        assert_ne!(hash(&json!([1, 2])).unwrap(), hash(&json!([2, 1])).unwrap());
    }

    #[test]
    fn keys_are_sorted_as_the_rfc_says() {
        // By UTF-16 code units: U+1F600 (a surrogate pair) comes before U+FB33.
        let value = json!({"\u{fb33}": 1, "\u{1f600}": 2, "\r": 3, "1": 4});
        let text = serde_json_canonicalizer::to_string(&value).unwrap();
        assert_eq!(text, "{\"\\r\":3,\"1\":4,\"\u{1f600}\":2,\"\u{fb33}\":1}");
    }
}
