//! What a session shows to its own gateway. It is nowhere but in the memory of whoever serves and in the environment of
//! whoever works on the session.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, PROXY_AUTHORIZATION};

/// Where providers other than the usual take a key.
pub(crate) const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Nobody can guess it.
#[derive(Clone)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    pub fn random() -> Self {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).expect("the operating system has randomness to give");
        let digit = |half: u8| char::from_digit(u32::from(half), 16).expect("half a byte is below 16");
        let digits = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
        Self("lh-".chars().chain(digits).collect())
    }

    /// For the environment of whoever works on the session.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether a request shows it as an agent shows a key.
    pub(crate) fn is_shown(&self, headers: &HeaderMap) -> bool {
        let keys = headers.get_all(API_KEY).into_iter().map(hyper::header::HeaderValue::as_bytes);
        let bearers =
            headers.get_all(AUTHORIZATION).into_iter().filter_map(|value| after("Bearer ", value.as_bytes()));
        keys.chain(bearers).any(|shown| self.is(shown))
    }

    /// Whether a request to a proxy shows it, as the password of any user.
    pub(crate) fn is_shown_to_proxy(&self, headers: &HeaderMap) -> bool {
        headers.get_all(PROXY_AUTHORIZATION).into_iter().any(|value| {
            if after("Bearer ", value.as_bytes()).is_some_and(|shown| self.is(shown)) {
                return true;
            }
            let Some(encoded) = after("Basic ", value.as_bytes()) else { return false };
            let Ok(pair) = STANDARD.decode(encoded) else { return false };
            let password = pair.splitn(2, |byte| *byte == b':').nth(1);
            password.is_some_and(|password| self.is(password))
        })
    }

    /// No early exit: how far a guess was right must not show in the time taken.
    fn is(&self, guess: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differences = own.iter().zip(guess).fold(0, |different, (a, b)| different | (a ^ b));
        own.len() == guess.len() && differences == 0
    }
}

/// What follows the name of a scheme, which may be written in any case.
fn after<'a>(scheme: &str, value: &'a [u8]) -> Option<&'a [u8]> {
    let (start, rest) = value.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme.as_bytes()).then(|| rest.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn a_token_is_known_in_every_place_where_agents_show_one_and_no_other_is() {
        let (token, other) = (Token::random(), Token::random());
        for shown in [
            headers(API_KEY, token.reveal()),
            headers(AUTHORIZATION, &format!("Bearer {}", token.reveal())),
            headers(AUTHORIZATION, &format!("bearer  {}", token.reveal())),
        ] {
            assert!(token.is_shown(&shown) && !other.is_shown(&shown));
        }
        let basic = STANDARD.encode(format!("longhaul:{}", token.reveal()));
        let shown = headers(PROXY_AUTHORIZATION, &format!("Basic {basic}"));
        assert!(token.is_shown_to_proxy(&shown) && !other.is_shown_to_proxy(&shown));
        for wrong in
            [String::new(), "Bearer".to_owned(), format!("Bearer {}x", token.reveal()), "Basic %".to_owned()]
        {
            let shown = headers(AUTHORIZATION, &wrong);
            assert!(!token.is_shown(&shown), "{wrong}");
        }
    }

    #[test]
    fn a_token_is_not_shown_by_accident() {
        assert_eq!(format!("{:?}", Token::random()), "Token(…)");
    }
}
