//! Namespaces of one's own, without being the superuser.

use std::fs;
use std::io;

use rustix::process::{getgid, getuid};
use rustix::thread::UnshareFlags;

use super::init::{Doing as _, Failed};
use super::{Network, sys};

/// Moves this process into new namespaces, where it is who it was and owns what it makes. Only its children are in
/// the new process namespace.
pub(super) fn enter(network: Network) -> Result<(), Failed> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let mut flags = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    match network {
        Network::None | Network::AllowList => flags |= UnshareFlags::NEWNET,
        Network::Open => {}
    }
    sys::unshare(flags).doing(MAKE)?;
    // Without this nobody but the superuser may map a group.
    fs::write("/proc/self/setgroups", "deny").doing(MAP)?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1")).doing(MAP)?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1")).doing(MAP)?;
    // The filter refuses further ones as well; an old kernel has no such file.
    let _ = fs::write("/proc/sys/user/max_user_namespaces", "0");
    Ok(())
}

/// The names of the steps, by which a refusal is explained.
pub(super) const MAKE: &str = "make namespaces";
pub(super) const MAP: &str = "map the user into the namespace";

/// Brings up what a network namespace needs for programs to talk to themselves.
pub(super) fn bring_up(network: Network) -> io::Result<()> {
    match network {
        Network::None | Network::AllowList => sys::loopback_up(),
        Network::Open => Ok(()),
    }
}
