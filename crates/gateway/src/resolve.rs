//! Where a name leads, and whether anybody may go there. A name is looked up once, and what was judged is what is
//! connected to: a name that leads elsewhere the second time gains nothing.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longhaul_core::hosts::{Host, HostPattern, allows, is_public};
use tokio::net::TcpStream;

/// How long a host may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many different hosts are told of; whoever asks for more asks for anything.
const MOST_TOLD: usize = 200;

/// A host that somebody inside wanted and did not get.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    pub host: Host,
    pub port: u16,
    pub because: Because,
}

/// Why a host is not let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Because {
    /// Nobody listed it.
    NotListed,
    /// It leads to this machine or to the networks around it, and that address is not listed.
    Private(IpAddr),
}

impl fmt::Display for Wanted {
    /// What is wrong, and what a person can do about it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, because } = self;
        match because {
            Because::NotListed => write!(
                f,
                "`{host}:{port}` is not let through; a person can add `{}` to `sandbox.hosts` and start another session",
                entry(host, *port)
            ),
            Because::Private(address) => write!(
                f,
                "`{host}:{port}` leads to {address}, which is not an address of the world, and is not let through; a person can add `{}` to `sandbox.hosts` and start another session",
                entry(&Host::Address(*address), *port)
            ),
        }
    }
}

/// How a host is listed so that exactly this is let through.
fn entry(host: &Host, port: u16) -> String {
    if longhaul_core::hosts::USUAL_PORTS.contains(&port) {
        host.to_string()
    } else {
        format!("{host}:{port}")
    }
}

/// Who may be reached.
pub(crate) struct Reach {
    list: Vec<HostPattern>,
    told: Mutex<BTreeSet<Wanted>>,
    tell: Arc<dyn Fn(&Wanted) + Send + Sync>,
}

/// Why there is no connection.
pub(crate) enum Unreached {
    Refused(Wanted),
    Failed(io::Error),
}

impl Reach {
    pub(crate) fn new(list: Vec<HostPattern>, tell: Arc<dyn Fn(&Wanted) + Send + Sync>) -> Self {
        Self { list, told: Mutex::default(), tell }
    }

    /// Connects to a host that may be reached, at an address that may be.
    pub(crate) async fn connect(&self, host: &Host, port: u16) -> Result<TcpStream, Unreached> {
        let addresses = match self.addresses(host, port).await {
            Err(Unreached::Refused(wanted)) => {
                self.tell_once(&wanted).await;
                return Err(Unreached::Refused(wanted));
            }
            other => other?,
        };
        let late = |_| Unreached::Failed(io::ErrorKind::TimedOut.into());
        let connected =
            tokio::time::timeout(PATIENCE, TcpStream::connect(&*addresses)).await.map_err(late)?;
        connected.map_err(Unreached::Failed)
    }

    async fn addresses(&self, host: &Host, port: u16) -> Result<Vec<SocketAddr>, Unreached> {
        let refused = |because| Unreached::Refused(Wanted { host: host.clone(), port, because });
        // Before anything is looked up: a name that is asked for can carry a message by itself.
        if !allows(&self.list, host, port) {
            return Err(refused(Because::NotListed));
        }
        let name = match host {
            Host::Address(address) => return Ok(vec![SocketAddr::new(*address, port)]),
            Host::Name(name) => name,
        };
        let lookup = tokio::time::timeout(PATIENCE, tokio::net::lookup_host((name.as_str(), port))).await;
        let found =
            lookup.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(Unreached::Failed)?;
        let found: Vec<SocketAddr> = found.collect();
        if let Some(own) = found.iter().map(SocketAddr::ip).find(|ip| !self.may_be(name, *ip, port)) {
            return Err(refused(Because::Private(own.to_canonical())));
        }
        Ok(found)
    }

    /// `localhost` says where it leads. Of any other name its owner decides, who is not the one that listed it.
    fn may_be(&self, name: &str, address: IpAddr, port: u16) -> bool {
        is_public(address)
            || (name == "localhost" && address.is_loopback())
            || allows(&self.list, &Host::Address(address.to_canonical()), port)
    }

    async fn tell_once(&self, wanted: &Wanted) {
        let is_news = {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            told.len() < MOST_TOLD && told.insert(wanted.clone())
        };
        if is_news {
            let (tell, wanted) = (self.tell.clone(), wanted.clone());
            // It goes to a disk.
            let _ = tokio::task::spawn_blocking(move || tell(&wanted)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(list: &[&str]) -> (Reach, Arc<Mutex<Vec<String>>>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let list = list.iter().map(|entry| HostPattern::parse(entry).unwrap()).collect();
        let heard = told.clone();
        (Reach::new(list, Arc::new(move |wanted| heard.lock().unwrap().push(wanted.to_string()))), told)
    }

    async fn refusal(reach: &Reach, asked: &str) -> String {
        let (host, port) = Host::with_port(asked, None).unwrap();
        match reach.connect(&host, port).await {
            Ok(_) => "connected".to_owned(),
            Err(Unreached::Refused(wanted)) => wanted.to_string(),
            Err(Unreached::Failed(error)) => format!("failed: {}", error.kind()),
        }
    }

    #[tokio::test]
    async fn who_is_not_listed_is_not_even_looked_up_and_is_told_of_once() {
        let (reach, told) = reach(&["docs.example.com"]);
        for _ in 0..3 {
            let said = refusal(&reach, "evil.example:443").await;
            assert!(said.contains("add `evil.example` to `sandbox.hosts`"), "{said}");
        }
        assert!(refusal(&reach, "127.0.0.1:22").await.contains("add `127.0.0.1:22`"));
        assert_eq!(told.lock().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn a_listed_name_that_leads_to_this_machine_is_refused_unless_it_says_so_or_the_address_is_listed()
    {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(
            refusal(&reach(&[&format!("localhost:{port}")]).0, &format!("localhost:{port}")).await,
            "connected"
        );
        assert_eq!(
            refusal(&reach(&[&format!("127.0.0.1:{port}")]).0, &format!("127.0.0.1:{port}")).await,
            "connected"
        );
        // Names below `localhost` lead to this machine on many systems; where they do not, they lead nowhere.
        let below =
            refusal(&reach(&[&format!("a.localhost:{port}")]).0, &format!("a.localhost:{port}")).await;
        assert!(below.contains("leads to") || below.starts_with("failed"), "{below}");
    }

    #[test]
    fn a_private_address_is_one_of_the_listed_name_only_if_it_is_listed_too() {
        let own: IpAddr = "10.0.0.7".parse().unwrap();
        assert!(!reach(&["git.example.com"]).0.may_be("git.example.com", own, 443));
        assert!(reach(&["git.example.com", "10.0.0.7"]).0.may_be("git.example.com", own, 443));
        assert!(!reach(&["localhost"]).0.may_be("localhost", own, 443));
    }
}
