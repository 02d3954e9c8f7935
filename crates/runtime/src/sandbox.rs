//! The sandbox as people ask about it: what works here, and what a command in a folder could and could not do.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use longhaul_core::config::{SandboxLevel, SandboxNetwork};
pub use longhaul_exec::sandbox::{
    Ability, GATEWAY_SOCKET, HOME_SECRETS, Hole, INIT_VERB, Init, Level, Limits, Network, SECRETS, SYSTEM,
    Sandbox, Wall, holes, init_main, probe, tools_in,
};
pub use longhaul_exec::{Finished, Outcome};
use longhaul_exec::{Program, run};

use crate::Error;

/// The policy for a command in this folder: the folder can be changed, the tools in the home can be used.
pub fn everyday(level: SandboxLevel, network: SandboxNetwork, places: &Surroundings<'_>) -> Sandbox {
    let mut sandbox = Sandbox::new(exec_level(level), places.home)
        .network(exec_network(network))
        .writable(places.directory);
    sandbox.read_only.extend(tools_in(places.home).into_iter().filter(|tool| tool.exists()));
    HOME_SECRETS.iter().fold(sandbox, |sandbox, secret| sandbox.hide(places.home.join(secret)))
}

/// What is asked for, in the words of who puts it up.
pub(crate) const fn exec_level(level: SandboxLevel) -> Level {
    match level {
        SandboxLevel::Full => Level::Full,
        SandboxLevel::Reduced => Level::Reduced,
        SandboxLevel::None => Level::None,
    }
}

const fn exec_network(network: SandboxNetwork) -> Network {
    match network {
        SandboxNetwork::None => Network::None,
        SandboxNetwork::AllowList => Network::AllowList,
        SandboxNetwork::Open => Network::Open,
    }
}

/// Where a command is run, and by whom.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    pub directory: &'a Path,
    pub home: &'a Path,
}

/// Runs a command to its end in a sandbox.
pub fn try_out(sandbox: &Sandbox, directory: PathBuf, command: &[OsString]) -> Result<Finished, Error> {
    let (name, args) =
        command.split_first().map_or((OsString::new(), &[][..]), |(name, args)| (name.clone(), args));
    let program = Program::new(name).args(args.iter().cloned()).directory(directory).sandbox(sandbox.clone());
    run(&program).map_err(Error::Sandboxed)
}
