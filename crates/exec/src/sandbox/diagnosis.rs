//! What works on this machine, found by really trying, and why the rest does not.

use std::fs;
use std::io;
use std::path::Path;

use super::{Init, Level, Network, Sandbox};
use crate::{Error, Program};

/// What this machine can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ability {
    pub full: Wall,
    pub reduced: Wall,
    /// The version of Landlock; 0 for none.
    pub landlock_abi: u32,
}

/// Whether a level can be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wall {
    Works,
    /// What failed, and what to do about it.
    Fails {
        step: String,
        because: String,
    },
}

impl Wall {
    pub fn works(&self) -> bool {
        *self == Self::Works
    }
}

impl Ability {
    /// The wall of a level; nothing is needed for `None`.
    pub fn of(&self, level: Level) -> &Wall {
        match level {
            Level::Full => &self.full,
            Level::Reduced => &self.reduced,
            Level::None => &Wall::Works,
        }
    }
}

/// Puts up the walls of each level once, around nothing. Takes some milliseconds.
pub fn probe(init: &Init) -> Ability {
    Ability {
        full: attempt(Level::Full, init),
        reduced: attempt(Level::Reduced, init),
        landlock_abi: landlock_version(),
    }
}

fn attempt(level: Level, init: &Init) -> Wall {
    let sandbox = Sandbox::new(level, "/nonexistent").network(Network::None).init(init.clone());
    // An empty name stands for a trial.
    let trial = Program::new("").directory("/").sandbox(sandbox);
    match crate::run(&trial) {
        Ok(_) => Wall::Works,
        Err(Error::Sandbox { step, source, .. }) => {
            let because = explain(&step, &source);
            Wall::Fails { step, because }
        }
        Err(error) => Wall::Fails {
            step: "start the process that puts up the walls".to_owned(),
            because: error.to_string(),
        },
    }
}

#[cfg(target_os = "linux")]
fn landlock_version() -> u32 {
    super::sys::landlock_version()
}

#[cfg(not(target_os = "linux"))]
fn landlock_version() -> u32 {
    0
}

/// What is known to stand in the way of each step, and how to see it.
pub(crate) fn explain(step: &str, source: &io::Error) -> String {
    let setting = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let signs = Signs {
        apparmor: setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        debian: setting("/proc/sys/kernel/unprivileged_userns_clone"),
        most: setting("/proc/sys/user/max_user_namespaces"),
        filtered: setting("/proc/self/status").is_some_and(|status| status.contains("\nSeccomp:\t2")),
        container: ["/.dockerenv", "/run/.containerenv"].iter().any(|path| Path::new(path).exists()),
    };
    because(step, source, &signs)
}

/// What the system says of itself.
#[derive(Debug, Default)]
struct Signs {
    apparmor: Option<String>,
    debian: Option<String>,
    most: Option<String>,
    filtered: bool,
    container: bool,
}

fn because(step: &str, source: &io::Error, signs: &Signs) -> String {
    let namespaces = ["make namespaces", "map the user into the namespace", "mount the new root"];
    if namespaces.contains(&step) {
        if signs.debian.as_deref() == Some("0") {
            return "user namespaces are switched off; the administrator can run `sysctl -w kernel.unprivileged_userns_clone=1`".to_owned();
        }
        if signs.most.as_deref() == Some("0") {
            return "no user namespaces are allowed here (`user.max_user_namespaces` is 0), as inside another sandbox".to_owned();
        }
        if signs.apparmor.as_deref() == Some("1") {
            return "AppArmor keeps programs from user namespaces; the administrator can add a profile for `longhaul` with `userns,`, or run `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`".to_owned();
        }
        if signs.filtered || signs.container {
            return format!(
                "the container or sandbox around us forbids it ({source}); start the container with `--security-opt seccomp=unconfined`, or choose level reduced"
            );
        }
    }
    if step == "mount a fresh `/proc`" {
        return format!(
            "the container around us covers parts of `/proc` ({source}); start it with `--security-opt systempaths=unconfined`, or choose level reduced"
        );
    }
    if step == "restrict paths with Landlock" {
        return format!(
            "the kernel has no Landlock, or it is not switched on ({source}); it is there from Linux 5.13 on, with `landlock` in `lsm=`"
        );
    }
    if source.raw_os_error() == Some(38) {
        return "the kernel is too old for it; level full needs Linux 5.12".to_owned();
    }
    source.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_way_is_named_with_a_remedy() {
        let refused = io::Error::from_raw_os_error(1);
        let told = |signs: &Signs| because("make namespaces", &refused, signs);
        let debian = Signs { debian: Some("0".to_owned()), ..Signs::default() };
        assert!(told(&debian).contains("kernel.unprivileged_userns_clone=1"));
        let apparmor = Signs { apparmor: Some("1".to_owned()), ..Signs::default() };
        assert!(told(&apparmor).contains("AppArmor"));
        let nested = Signs { most: Some("0".to_owned()), ..Signs::default() };
        assert!(told(&nested).contains("max_user_namespaces"));
        let container = Signs { container: true, ..Signs::default() };
        assert!(told(&container).contains("container"));
        assert!(because("mount a fresh `/proc`", &refused, &container).contains("systempaths"));
        assert!(because("restrict paths with Landlock", &refused, &container).contains("lsm="));
    }
}
