//! A daemon with its doors, as whoever keeps its process wants to see it.

use std::net::SocketAddr;
use std::sync::Arc;

use longhaul_runtime::lifecycle::{Condition, Health, Serve};
use longhaul_runtime::{Daemon, Error, System};

use crate::server::{Inside, Limits, Web, WebOptions};

/// A daemon that can be reached.
#[derive(Debug)]
struct Doors {
    daemon: Arc<Daemon>,
    /// Why nobody can come in, if that is so. The daemon works all the same.
    web: Result<Web, String>,
}

/// Starts a daemon and opens its doors.
pub fn begin(system: System) -> Result<Arc<dyn Serve>, Error> {
    let places = system.places().clone();
    let listen = system.config_outside_workspaces()?.listen;
    let daemon = Daemon::start(system)?;
    let told = Arc::clone(&daemon);
    let inside = Inside {
        daemon: Arc::clone(&daemon),
        intake: Arc::clone(daemon.intake()),
        metrics: Arc::new(move || told.metrics()),
    };
    let (socket, token) = (places.control_socket(), places.control_token());
    let web = address(listen.as_deref()).and_then(|listen| {
        let options = WebOptions { listen, socket, token, limits: Limits::default() };
        Web::start(inside, options).map_err(|error| error.to_string())
    });
    if let Err(because) = &web {
        tracing::error!(%because, "the doors of the daemon stay closed");
    }
    Ok(Arc::new(Doors { daemon, web }))
}

fn address(listen: Option<&str>) -> Result<Option<SocketAddr>, String> {
    let parsed = listen.map(|text| {
        text.parse().map_err(|_| format!("`daemon.listen` is `{text}`, which is no address of this machine"))
    });
    parsed.transpose()
}

impl Serve for Doors {
    fn health(&self) -> Health {
        let health = self.daemon.health();
        let (addresses, trouble) = match &self.web {
            Ok(web) => {
                (web.address().map(|at| format!("http://{at}")), web.trouble().map(ToString::to_string))
            }
            Err(because) => (None, Some(because.clone())),
        };
        let condition = match (health.condition, trouble) {
            (Condition::Healthy, Some(because)) => Condition::Troubled(because),
            (condition, _) => condition,
        };
        Health { condition, addresses: addresses.into_iter().collect(), ..health }
    }

    fn drain(&self) {
        self.daemon.drain();
    }

    fn stop(&self) {
        if let Ok(web) = &self.web {
            web.stop();
        }
        self.daemon.stop();
    }

    fn wait(&self) {
        self.daemon.wait();
        if let Ok(web) = &self.web {
            web.stop();
        }
    }
}
