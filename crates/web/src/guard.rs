//! Who may use the control API at the port: whoever is on this machine, names it as what it is, comes from no page, and shows
//! the token. There are no cookies, so a page has nothing that it could make a browser send.

use std::net::IpAddr;

use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri};

use crate::token::Token;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Why a request is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) words: &'static str,
}

/// What a request shows of itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) peer: IpAddr,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
}

/// A page in a browser can be made to resolve its own name to this machine; it cannot change the name that it sends.
pub(crate) fn check(shown: &Shown<'_>, token: &Token) -> Result<(), Refused> {
    let Shown { peer, uri, headers } = *shown;
    let refused = |status, words| Err(Refused { status, words });
    if !peer.to_canonical().is_loopback() {
        return refused(StatusCode::FORBIDDEN, "the control API is for this machine only");
    }
    let hosts: Vec<_> = headers.get_all(HOST).iter().collect();
    let [host] = hosts[..] else {
        return refused(StatusCode::BAD_REQUEST, "a request names one host; send one `Host`");
    };
    let is_known = host.to_str().is_ok_and(is_this_machine);
    if !is_known || uri.authority().is_some_and(|named| !is_this_machine(named.as_str())) {
        return refused(
            StatusCode::FORBIDDEN,
            "this API is reached as `localhost` or by a loopback address only",
        );
    }
    if headers.contains_key(ORIGIN) || headers.get(SEC_FETCH_SITE).is_some_and(|site| site != "none") {
        return refused(StatusCode::FORBIDDEN, "pages in a browser may not use this API");
    }
    let shown: Vec<_> = headers.get_all(AUTHORIZATION).iter().collect();
    let is_right =
        matches!(shown[..], [value] if bearer(value.as_bytes()).is_some_and(|shown| token.is(shown)));
    if is_right {
        return Ok(());
    }
    refused(StatusCode::UNAUTHORIZED, "this API wants its token; send `Authorization: Bearer TOKEN`")
}

/// What changes something is JSON and says so: no form of a page can be that.
pub(crate) fn check_kind(method: &Method, headers: &HeaderMap) -> Result<(), Refused> {
    if *method == Method::GET || *method == Method::HEAD {
        return Ok(());
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let words = "what changes something is sent as JSON; add `Content-Type: application/json`";
    Err(Refused { status: StatusCode::UNSUPPORTED_MEDIA_TYPE, words })
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    };
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let is_loopback = address.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
    is_loopback || name.eq_ignore_ascii_case("localhost")
}

/// What is shown under the only scheme that we know, whose name may be written in any case.
fn bearer(header: &[u8]) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"Bearer ";
    let (scheme, token) = header.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then(|| token.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> (tempfile::TempDir, Token) {
        let folder = tempfile::tempdir().unwrap();
        let token = Token::read_or_make(&folder.path().join("token")).unwrap();
        (folder, token)
    }

    fn status(token: &Token, peer: &str, headers: &[(&'static str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let uri = Uri::from_static("/v1/status");
        let shown = Shown { peer: peer.parse().unwrap(), uri: &uri, headers: &map };
        check(&shown, token).map_or_else(|refused| refused.status.as_u16(), |()| 200)
    }

    #[test]
    fn only_this_machine_under_its_own_name_with_the_token_gets_in() {
        let (_folder, token) = token();
        let right = format!("Bearer {}", token.reveal());
        let at = |host: &str| status(&token, "127.0.0.1", &[("host", host), ("authorization", &right)]);
        for host in ["localhost:7420", "127.0.0.1:7420", "[::1]:7420", "LOCALHOST", "127.3.2.1"] {
            assert_eq!(at(host), 200, "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:7420",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "localhost:",
            "",
            "localhost.evil",
        ] {
            assert_eq!(at(host), 403, "{host}");
        }
        let local = ("host", "localhost");
        for peer in ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1"] {
            assert_eq!(status(&token, peer, &[local, ("authorization", &right)]), 403, "{peer}");
        }
        assert_eq!(status(&token, "::ffff:127.0.0.1", &[local, ("authorization", &right)]), 200);
        assert_eq!(status(&token, "127.0.0.1", &[local, local, ("authorization", &right)]), 400);
        assert_eq!(status(&token, "127.0.0.1", &[("authorization", &right)]), 400);
    }

    #[test]
    fn no_page_gets_in_and_nobody_without_the_token() {
        let (_folder, token) = token();
        let right = format!("bearer  {}", token.reveal());
        let with = |more: &[(&'static str, &str)]| {
            status(&token, "127.0.0.1", &[&[("host", "localhost")], more].concat())
        };
        assert_eq!(with(&[("authorization", &right)]), 200);
        assert_eq!(with(&[("authorization", &right), ("sec-fetch-site", "none")]), 200);
        for origin in ["http://localhost:7420", "https://evil.example", "null"] {
            assert_eq!(with(&[("authorization", &right), ("origin", origin)]), 403, "{origin}");
        }
        assert_eq!(with(&[("authorization", &right), ("sec-fetch-site", "same-site")]), 403);
        assert_eq!(with(&[]), 401);
        assert_eq!(with(&[("authorization", "Bearer 0123456789abcdef0123456789abcdef")]), 401);
        assert_eq!(with(&[("authorization", &right), ("authorization", &right)]), 401);
        assert_eq!(with(&[("cookie", &format!("token={}", token.reveal()))]), 401);
        assert_eq!(with(&[("authorization", &format!("Basic {}", token.reveal()))]), 401);
    }

    #[test]
    fn what_changes_something_says_that_it_is_json() {
        let kind = |method: Method, kind: Option<&str>| {
            let headers = kind.map(|kind| (CONTENT_TYPE, kind.parse().unwrap()));
            check_kind(&method, &HeaderMap::from_iter(headers)).is_ok()
        };
        assert!(kind(Method::GET, None));
        assert!(kind(Method::POST, Some("application/json; charset=utf-8")));
        for wrong in
            [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("multipart/form-data")]
        {
            assert!(!kind(Method::POST, wrong) && !kind(Method::DELETE, wrong), "{wrong:?}");
        }
    }
}
