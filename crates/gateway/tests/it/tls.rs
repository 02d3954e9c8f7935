//! A provider behind TLS, with a certificate of an authority that this machine trusts, and with one that it does not.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use longhaul_gateway::{Protocol, Upstream};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::{Made, status};

const REAL: &str = "sk-the-real-key";
const ANSWER: &str = r#"{"type":"message","usage":{"input_tokens":3,"output_tokens":5}}"#;
/// Names the provider to the process that asks it.
const PROVIDER: &str = "TEST_PROVIDER";

struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// What a server named `localhost` shows.
    fn server(&self) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap();
        let chain = vec![certificate.der().clone()];
        Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap())
    }
}

/// Answers once for each connection, and keeps what it could read of each.
fn provider(config: Arc<ServerConfig>) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let book = heard.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            book.lock().unwrap().push(answered(stream, &config));
        }
    });
    (address, heard)
}

fn answered(stream: TcpStream, config: &Arc<ServerConfig>) -> String {
    let connection = ServerConnection::new(config.clone()).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    let mut asked = Vec::new();
    while !asked.ends_with(b"{}") {
        let mut piece = [0; 4096];
        match stream.read(&mut piece) {
            Ok(length) if length > 0 => asked.extend_from_slice(&piece[..length]),
            Ok(_) | Err(_) => break,
        }
    }
    let length = ANSWER.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let _ = stream.write_all(format!("{head}{ANSWER}").as_bytes());
    stream.conn.send_close_notify();
    let _ = stream.flush();
    String::from_utf8_lossy(&asked).into_owned()
}

/// What a gateway answers that trusts whom this process trusts.
fn asked(port: &str) -> String {
    let key = ("x-api-key".parse().unwrap(), REAL.parse().unwrap());
    let upstream = Upstream::new(&format!("https://localhost:{port}"), Protocol::Anthropic, key).unwrap();
    let upstreams = BTreeMap::from([("anthropic".to_owned(), upstream)]);
    let world = Made { upstreams, ..Made::default() }.open();
    let token = world.token.reveal();
    world.say(format!(
        "POST /model/anthropic/v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: {token}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
    ))
}

/// Whom a process trusts is read once, so every case has a process of its own: this very test, which is told by a
/// variable to ask.
fn asked_elsewhere(address: SocketAddr, trusted: &Authority, folder: &Path) -> String {
    let (roots, answer) = (folder.join("roots.pem"), folder.join("answer.txt"));
    fs::write(&roots, trusted.0.pem()).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the test starts itself")]
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tls::a_provider_is_asked_behind_tls_if_its_certificate_is_trusted_here"])
        .env("SSL_CERT_FILE", &roots)
        .env_remove("SSL_CERT_DIR")
        .env(PROVIDER, format!("{} {}", address.port(), answer.display()))
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    fs::read_to_string(&answer).unwrap()
}

#[test]
fn a_provider_is_asked_behind_tls_if_its_certificate_is_trusted_here() {
    if let Ok(told) = std::env::var(PROVIDER) {
        let (port, answer) = told.split_once(' ').unwrap();
        return fs::write(answer, asked(port)).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let (ours, other) = (Authority::new(), Authority::new());
    let (address, heard) = provider(ours.server());
    let answer = asked_elsewhere(address, &ours, folder.path());
    assert!(status(&answer) == 200 && answer.ends_with(ANSWER), "{answer}");
    let asked = heard.lock().unwrap().pop().unwrap();
    assert!(asked.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains(&format!("x-api-key: {REAL}\r\n")), "{asked}");

    let answer = asked_elsewhere(address, &other, folder.path());
    assert!(status(&answer) == 502 && answer.contains("api_error"), "{answer}");
    let heard = heard.lock().unwrap();
    assert!(heard.iter().all(String::is_empty), "nothing is said to a stranger: {heard:?}");
}
