//! The providers behind the model endpoint: where they are, how their key is shown to them, and how they are reached.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use hyper::http::uri::{Authority, Uri};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::Error;
use crate::token::API_KEY;

/// How long a provider may take until it is connected.
const PATIENCE: Duration = Duration::from_secs(30);

/// Providers by the name under which agents ask for them.
pub type Upstreams = BTreeMap<String, Upstream>;

/// A server, and what of it is ours to ask.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    authority: Authority,
    scheme: Scheme,
    /// Without a slash at its end.
    path: String,
}

/// A provider, and the key that nobody inside may see.
#[derive(Clone)]
pub struct Upstream {
    base: Base,
    pub(crate) key: (HeaderName, HeaderValue),
    pub(crate) protocol: Protocol,
}

/// What a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Messages.
    Anthropic,
    /// Chat completions and responses.
    OpenAi,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

/// What a provider is shown.
pub enum Credential<'a> {
    /// `x-api-key: KEY`
    XApiKey(&'a str),
    /// `authorization: Bearer KEY`
    Bearer(&'a str),
    /// A server of one's own that wants none.
    Nothing,
}

impl fmt::Debug for Credential<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::XApiKey(_) => "XApiKey(…)",
            Self::Bearer(_) => "Bearer(…)",
            Self::Nothing => "Nothing",
        })
    }
}

impl Credential<'_> {
    fn header(&self) -> Result<(HeaderName, HeaderValue), Error> {
        let (name, text) = match self {
            Self::XApiKey(key) => (API_KEY, (*key).to_owned()),
            Self::Bearer(key) => (AUTHORIZATION, format!("Bearer {key}")),
            Self::Nothing => (AUTHORIZATION, "Bearer none".to_owned()),
        };
        HeaderValue::from_str(&text).map(|value| (name, value)).map_err(|_| Error::Key)
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Upstream({}, {:?})", self.base.authority, self.protocol)
    }
}

impl Upstream {
    /// A provider at a base address, such as `https://api.example.com/v1`, which is shown a key in this header.
    pub fn new(base: &str, protocol: Protocol, key: (HeaderName, HeaderValue)) -> Result<Self, Error> {
        if base.contains('?') {
            return Err(Error::Address { text: base.to_owned(), problem: "it has a query" });
        }
        let (name, mut value) = key;
        value.set_sensitive(true);
        Ok(Self { base: Base::new(base)?, key: (name, value), protocol })
    }

    /// A provider at a base address that is shown a credential in the usual way.
    pub fn showing(base: &str, protocol: Protocol, credential: &Credential<'_>) -> Result<Self, Error> {
        Self::new(base, protocol, credential.header()?)
    }

    pub(crate) fn authority(&self) -> &str {
        self.base.authority()
    }

    /// Where a path below the base is.
    pub(crate) fn path_of(&self, rest: &str) -> String {
        format!("{}/{rest}", self.base.path())
    }

    pub(crate) async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        self.base.connect().await
    }
}

impl Base {
    /// From an address such as `https://api.example.com/v1`.
    pub(crate) fn new(address: &str) -> Result<Self, Error> {
        let unfit = |problem| Error::Address { text: address.to_owned(), problem };
        let uri: Uri = address.parse().map_err(|_| unfit("it cannot be read"))?;
        let scheme = match uri.scheme_str() {
            Some("https") => Scheme::Https,
            Some("http") => Scheme::Http,
            Some(_) | None => return Err(unfit("it begins with neither `https:` nor `http:`")),
        };
        let authority = uri.authority().ok_or_else(|| unfit("it names no host"))?.clone();
        if authority.as_str().contains('@') {
            return Err(unfit("it has a user or a password"));
        }
        let path = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { authority, scheme, path })
    }

    pub(crate) fn authority(&self) -> &str {
        self.authority.as_str()
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        tokio::time::timeout(PATIENCE, self.connected())
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    async fn connected(&self) -> io::Result<Box<dyn Stream>> {
        let usual = match self.scheme {
            Scheme::Http => 80,
            Scheme::Https => 443,
        };
        let host = self.authority.host().trim_matches(['[', ']']);
        let stream = TcpStream::connect((host, self.authority.port_u16().unwrap_or(usual))).await?;
        stream.set_nodelay(true)?;
        match self.scheme {
            Scheme::Http => Ok(Box::new(stream)),
            Scheme::Https => {
                let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
                let stream = TlsConnector::from(certificates()).connect(name, stream).await?;
                Ok(Box::new(stream))
            }
        }
    }
}

/// A connection to a provider, with or without a cover.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// Whom this machine trusts. Read once, by the first who needs it: most sessions never do.
fn certificates() -> Arc<ClientConfig> {
    static TRUSTED: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    let read = || {
        let mut roots = RootCertStore::empty();
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!(%error, "could not read a certificate of this machine");
        }
        roots.add_parsable_certificates(found.certs);
        // Named, because another crate of the binary may bring a second one in, and then nobody would be the default.
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("`ring` knows both versions of TLS");
        Arc::new(config.with_root_certificates(roots).with_no_client_auth())
    };
    TRUSTED.get_or_init(read).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(base: &str) -> Result<Upstream, Error> {
        let key = (HeaderName::from_static("x-api-key"), HeaderValue::from_static("the-real-key"));
        Upstream::new(base, Protocol::Anthropic, key)
    }

    #[test]
    fn a_provider_is_found_below_its_base() {
        assert_eq!(upstream("https://api.example.com/v1/").unwrap().path_of("models"), "/v1/models");
        assert_eq!(upstream("http://127.0.0.1:9000").unwrap().path_of("v1/messages"), "/v1/messages");
        for unfit in [
            "api.example.com",
            "ftp://a.example",
            "https://user:pass@a.example",
            "https://a.example/?x=1",
            "",
        ] {
            assert!(upstream(unfit).is_err(), "{unfit}");
        }
    }

    #[test]
    fn the_key_is_not_shown_by_accident() {
        assert!(!format!("{:?}", upstream("https://a.example").unwrap()).contains("the-real-key"));
    }
}
