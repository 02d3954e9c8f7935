//! Who may reach the port: whoever names this machine, comes from it, and knows the token if there is one.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode, Uri};

/// What a client has to show where others can reach the port.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// `None` for a text that could be guessed or does not fit in a header.
    pub fn new(text: &str) -> Option<Self> {
        const SHORTEST: usize = 16;
        let text = text.trim();
        let fits = text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    /// One that nobody can guess.
    pub fn random() -> Self {
        let mut bytes = [0_u8; 24];
        getrandom::fill(&mut bytes).expect("the operating system has randomness to give");
        let digit = |half: u8| char::from_digit(u32::from(half), 16).expect("half a byte is below 16");
        Self(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect())
    }

    /// For showing it once to whoever started the server.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// No early exit: how far a guess was right must not show in the time taken.
    fn is(&self, guess: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differences = own.iter().zip(guess).fold(0, |different, (a, b)| different | (a ^ b));
        own.len() == guess.len() && differences == 0
    }
}

/// The rules of one port.
#[derive(Debug, Clone)]
pub struct Guard {
    pub address: SocketAddr,
    pub token: Option<Token>,
    /// Names, beside `localhost`, under which this machine is reached.
    pub names: Vec<String>,
}

/// Why a request is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) words: &'static str,
}

impl Guard {
    /// A page in a browser can be made to resolve its own name to this machine; it cannot change the name that it
    /// sends. So only names that we know are answered, and addresses, which no page can be the owner of.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refused> {
        let text = |name| headers.get(name).map(|value: &axum::http::HeaderValue| value.to_str().ok());
        if headers.get_all(HOST).iter().count() > 1 {
            // Whoever stands between may go by the other one.
            let words = "the request names two hosts; send one `Host`";
            return Err(Refused { status: StatusCode::BAD_REQUEST, words });
        }
        let host = text(HOST).flatten().is_some_and(|host| self.knows(host));
        if !host || uri.authority().is_some_and(|named| !self.knows(named.as_str())) {
            let words = "this server is not reached under that name; use its address, or allow the name with `--allow-host`";
            return Err(Refused { status: StatusCode::FORBIDDEN, words });
        }
        let origin = text(ORIGIN);
        if origin.is_some_and(|origin| !origin.is_some_and(|origin| self.is_own(origin))) {
            let words = "pages from elsewhere may not use this server";
            return Err(Refused { status: StatusCode::FORBIDDEN, words });
        }
        let Some(token) = &self.token else { return Ok(()) };
        let shown = headers.get(AUTHORIZATION).and_then(|value| shown(value.as_bytes()));
        if shown.is_some_and(|shown| token.is(shown)) {
            return Ok(());
        }
        let words = "this server wants a token; send `Authorization: Bearer TOKEN`";
        Err(Refused { status: StatusCode::UNAUTHORIZED, words })
    }

    fn is_own(&self, origin: &str) -> bool {
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| self.knows(host))
    }

    fn knows(&self, host: &str) -> bool {
        let name = without_port(host);
        if let Ok(address) = name.trim_matches(['[', ']']).parse::<IpAddr>() {
            let bound = self.address.ip();
            return address.is_loopback() || address == bound || bound.is_unspecified();
        }
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        is("localhost") || self.names.iter().any(|known| is(known))
    }
}

/// What is shown under the only scheme that we know, whose name may be written in any case.
fn shown(header: &[u8]) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"Bearer ";
    let (scheme, token) = header.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then(|| token.trim_ascii())
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str, token: Option<&str>) -> Guard {
        let token = token.map(|token| Token::new(token).unwrap());
        Guard { address: address.parse().unwrap(), token, names: vec!["build.example".to_owned()] }
    }

    fn status(guard: &Guard, headers: &[(&'static str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        guard.check(&Uri::from_static("/mcp"), &map).map_or_else(|refused| refused.status.as_u16(), |()| 200)
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        let guard = guard("127.0.0.1:7000", None);
        for host in
            ["localhost:7000", "127.0.0.1:7000", "[::1]:7000", "[::1]", "LOCALHOST", "build.example:1"]
        {
            assert_eq!(status(&guard, &[("host", host)]), 200, "{host}");
        }
        for host in
            ["evil.example", "evil.example:7000", "127.0.0.1.evil.example", "10.0.0.1", "localhost:", ""]
        {
            assert_eq!(status(&guard, &[("host", host)]), 403, "{host}");
        }
        assert_eq!(status(&guard, &[]), 403);
    }

    #[test]
    fn a_request_names_one_host_and_it_is_this_one() {
        let guard = guard("127.0.0.1:7000", None);
        assert_eq!(status(&guard, &[("host", "localhost"), ("host", "localhost")]), 400);
        let headers = HeaderMap::from_iter([(HOST, "localhost".parse().unwrap())]);
        assert!(guard.check(&Uri::from_static("http://localhost:7000/mcp"), &headers).is_ok());
        let elsewhere = guard.check(&Uri::from_static("http://evil.example/mcp"), &headers);
        assert_eq!(elsewhere.unwrap_err().status, StatusCode::FORBIDDEN);
    }

    #[test]
    fn a_page_from_elsewhere_is_refused_and_one_from_here_is_not() {
        let guard = guard("127.0.0.1:7000", None);
        let from = |origin: &str| status(&guard, &[("host", "localhost"), ("origin", origin)]);
        assert_eq!(from("http://localhost:3000"), 200);
        assert_eq!(from("https://evil.example"), 403);
        assert_eq!(from("null"), 403);
        assert_eq!(from("file://localhost"), 403);
    }

    #[test]
    fn where_there_is_a_token_it_must_be_shown() {
        let guard = guard("0.0.0.0:7000", Some("0123456789abcdef"));
        let with = |shown: &str| status(&guard, &[("host", "10.1.2.3:7000"), ("authorization", shown)]);
        assert_eq!(with("Bearer 0123456789abcdef"), 200);
        assert_eq!(with("bearer 0123456789abcdef"), 200, "the scheme is written in any case");
        assert_eq!(with("BEARER  0123456789abcdef"), 200);
        assert_eq!(with("Bearer"), 401);
        assert_eq!(with("Bearer 0123456789abcdeg"), 401);
        assert_eq!(with("Bearer 0123456789abcdef0"), 401);
        assert_eq!(with("Basic 0123456789abcdef"), 401);
        assert_eq!(status(&guard, &[("host", "10.1.2.3")]), 401);
    }

    #[test]
    fn a_token_that_could_be_guessed_is_none() {
        assert!(Token::new("short").is_none());
        assert!(Token::new("0123456789 abcdef").is_none());
        assert_eq!(format!("{:?}", Token::new("0123456789abcdef")), "Some(Token(…))");
    }
}
