//! What a program may see and touch, as data. Describes only; the walls themselves are put up by [`init_main`],
//! in a process of its own between us and the program.
//!
//! Three levels. `Full` is a root built from nothing in namespaces of its own, with Landlock and a filter of
//! system calls inside as a second wall. `Reduced` is these two alone, and leaks where [`holes`] says. `None`
//! keeps the environment and the limits and nothing else.

#[cfg(target_os = "linux")]
mod bpf;
#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod control;
mod diagnosis;
#[cfg(target_os = "linux")]
mod filter;
mod holes;
mod init;
#[cfg(target_os = "linux")]
mod landlocked;
mod layout;
#[cfg(any(not(target_os = "linux"), test))]
mod macos;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod opened;
#[cfg(target_os = "linux")]
mod plan;
mod policy;
#[cfg(target_os = "linux")]
mod relay;
#[cfg(target_os = "linux")]
mod root;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod wire;

pub use diagnosis::{Ability, Wall, probe};
pub use holes::{Hole, holes};
pub use init::init_main;
pub use layout::{GATEWAY_SOCKET, HOME_SECRETS, SECRETS, SYSTEM, TOOLS, VARIABLES, tools_in};
pub use policy::{Gateway, Given, Init, Level, Limits, Network, Sandbox};

#[cfg(target_os = "linux")]
pub(crate) use control::{Control, Failure};
#[cfg(not(target_os = "linux"))]
pub(crate) use macos::wrapper;
#[cfg(target_os = "linux")]
pub(crate) use plan::{Command as InnerCommand, Plan, Refusal};

/// The hidden verb of our own binary that puts up the walls; see [`Init`].
pub const INIT_VERB: &str = "sandbox-init";
