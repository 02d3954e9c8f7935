//! The gateway of a session that we drive: opened when a runner has the lease, closed when it lets go.
//!
//! What the gateway is told comes from what the session pinned; nothing that an agent writes changes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::hosts::HostPattern;
use longhaul_events::{Epoch, SessionId};
use longhaul_exec::sandbox::{GATEWAY_SOCKET, Gateway as GatewayPolicy, Level, Network, Sandbox};
use longhaul_gateway::{Listen, Meter, Options, Upstreams, Wanted};
use serde_json::json;

pub use longhaul_gateway::{
    Answer, Body, BoxError, Gateway, Handler, Request, Response, StatusCode, Token, text,
};

use crate::error::Error;
use crate::runner::PinnedReach;
use crate::system::{Settings, System};
use crate::walling::caches;

/// Names the socket of the gateway to whoever works on a session.
pub const SOCKET_VARIABLE: &str = "LONGHAUL_GATEWAY";
/// Holds what is shown to it. Its name ends as those of secrets do, so that it is never stored.
pub const TOKEN_VARIABLE: &str = "LONGHAUL_GATEWAY_TOKEN";
/// The port inside of walls that have a network of their own.
const PORT_INSIDE: u16 = 7411;

/// Makes what serves the tools of one session, out of what a process is set up with.
pub type LeafDoor = fn(Settings, Driven) -> Handler;

/// A session, and the driver that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Driven {
    pub session: SessionId,
    pub driver: Epoch,
}

/// The one way out of the walls of a session: what its gateway is made of.
#[derive(Debug)]
pub(crate) struct WayOut<'a> {
    pub(crate) system: &'a System,
    pub(crate) driven: Driven,
    pub(crate) reach: &'a PinnedReach,
    pub(crate) token: &'a Token,
    /// Whose models can be asked, and who keeps count of it.
    pub(crate) upstreams: Upstreams,
    pub(crate) meter: Arc<dyn Meter>,
    pub(crate) whose: Whose,
}

/// Who goes out by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// With the tools of the session and the models that may be asked.
    Agent,
    /// Commands of the engine, such as checks: they run what an agent wrote, and get to hosts and no further.
    Engine,
}

/// A way out that is open, and the walls that it is in.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) gateway: Gateway,
    pub(crate) sandbox: Sandbox,
    /// Where it is found from inside.
    pub(crate) socket: PathBuf,
    pub(crate) port: u16,
}

impl WayOut<'_> {
    /// Opens the gateway, and says how it is found from inside.
    pub(crate) fn open(&self, sandbox: Sandbox) -> Result<Opened, Error> {
        let mut sandbox = sandbox;
        sandbox.caches.extend(caches(self.system.places(), &self.reach.caches)?);
        // With a network of its own the first process inside relays to the socket.
        let has_relay = sandbox.level == Level::Full && sandbox.network != Network::Open;
        let gateway = longhaul_gateway::start(self.options(if has_relay {
            Listen::Socket
        } else {
            Listen::SocketAndPort
        }))?;
        let port = gateway.port().unwrap_or(PORT_INSIDE);
        let socket = match sandbox.level {
            Level::Full => PathBuf::from(GATEWAY_SOCKET),
            Level::Reduced | Level::None => gateway.socket().to_owned(),
        };
        let sandbox = self.variables(sandbox, &socket, port);
        let policy = GatewayPolicy { socket: gateway.socket().to_owned(), port };
        Ok(Opened { gateway, sandbox: sandbox.gateway(policy), socket, port })
    }

    fn options(&self, listen: Listen) -> Options {
        let hosts = self.reach.hosts.iter().filter_map(|host| HostPattern::parse(host).ok());
        let (settings, session) = (self.system.settings().clone(), self.driven.session);
        let (leaf, socket) = match self.whose {
            Whose::Agent => {
                let leaf = self.system.leaf_door().map(|door| door(settings.clone(), self.driven));
                (leaf, self.system.places().gateway_socket(session))
            }
            Whose::Engine => (None, self.system.places().plain_socket(session)),
        };
        Options {
            socket,
            listen,
            hosts: hosts.collect(),
            token: self.token.clone(),
            upstreams: self.upstreams.clone(),
            meter: self.meter.clone(),
            leaf,
            tell: Arc::new(move |wanted| record(&settings, session, wanted)),
        }
    }

    fn variables(&self, sandbox: Sandbox, socket: &Path, port: u16) -> Sandbox {
        let is_open = sandbox.network == Network::Open;
        let sandbox = match self.whose {
            Whose::Agent => sandbox
                .set_variable(SOCKET_VARIABLE, socket)
                .set_variable(TOKEN_VARIABLE, self.token.reveal()),
            Whose::Engine => sandbox,
        };
        if is_open {
            return sandbox;
        }
        let proxy = format!("http://longhaul:{}@127.0.0.1:{port}", self.token.reveal());
        let proxies = ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"];
        let sandbox = proxies.iter().fold(sandbox, |sandbox, name| sandbox.set_variable(*name, &proxy));
        let direct = ["NO_PROXY", "no_proxy"];
        direct.iter().fold(sandbox, |sandbox, name| sandbox.set_variable(*name, "127.0.0.1,localhost"))
    }
}

/// Puts on record, for a person, what was wanted. It is rare, so the store is opened for it.
fn record(settings: &Settings, session: SessionId, wanted: &Wanted) {
    let report = json!({ "host": format!("{}:{}", wanted.host, wanted.port), "because": wanted.to_string() });
    let recorded = System::new(settings.clone())
        .commands()
        .and_then(|commands| commands.report_refused_host(session, &report));
    if let Err(error) = recorded {
        tracing::warn!(%error, %session, "could not record that a host was refused");
    }
}

/// Where somebody inside finds the gateway: what the environment names, else where it is at level full.
pub fn socket_here(variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    variable(SOCKET_VARIABLE)
        .filter(|socket| !socket.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new(GATEWAY_SOCKET).to_owned())
}
