//! What each level does not hold, as data: shown to people, and what the tests of escapes measure against.

use super::{Ability, Level, Network, Sandbox};

/// Something that a program inside can still do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// One word, for scripts.
    pub name: &'static str,
    pub what: &'static str,
}

const CHECKOUT: Hole = Hole {
    name: "writable-paths",
    what: "everything below the writable paths can be changed, removed, and filled up to the reserve of the disk",
};
const BOUND_PATHS: Hole = Hole {
    name: "bound-paths",
    what: "what lies in bound paths and you or a group of yours may read can be read, and sockets there connected to",
};
const OPEN_NETWORK: Hole =
    Hole { name: "open-network", what: "every host and port that this machine reaches can be reached" };
const ABSTRACT_SOCKETS: Hole = Hole {
    name: "abstract-sockets",
    what: "Unix sockets in the abstract namespace can be reached: this kernel cannot keep them out (Linux 6.12 can)",
};
const PATHNAME_SOCKETS: Hole = Hole {
    name: "pathname-sockets",
    what: "Unix sockets that are files can be connected to: ssh-agent, D-Bus, docker, our own daemon",
};
const SIGNALS: Hole = Hole {
    name: "signals",
    what: "your other processes can be sent signals: this kernel cannot keep them out (Linux 6.12 can)",
};
const TCP: Hole = Hole {
    name: "tcp",
    what: "every host can be reached over TCP: this kernel cannot keep it out (Linux 6.7 can)",
};
const METADATA: Hole = Hole {
    name: "metadata",
    what: "modes, times, owners and extended attributes of your files can be changed anywhere",
};
const NAMES: Hole = Hole {
    name: "names",
    what: "whether a file exists, its size and its times can be seen anywhere, and its changes watched",
};
const PROCESSES: Hole = Hole { name: "processes", what: "the command lines of all processes can be read" };
const SYSTEM_V: Hole = Hole {
    name: "system-v",
    what: "shared memory, semaphores and message queues of your other programs can be reached",
};
const DETACHING: Hole = Hole {
    name: "detaching",
    what: "a process that leaves its group, outlives its parent and wipes its environment is not found when it is to be killed",
};
const NOTHING: Hole = Hole { name: "no-walls", what: "everything that you can do" };
const NO_SECOND_WALL: Hole = Hole {
    name: "no-landlock",
    what: "there is no second wall behind the built root: this kernel has no Landlock",
};

/// What this sandbox would not hold on a machine with this ability.
pub fn holes(sandbox: &Sandbox, ability: &Ability) -> Vec<Hole> {
    let changes_anything = !(sandbox.writable.is_empty() && sandbox.caches.is_empty());
    let scoped = ability.landlock_abi >= 6;
    let open = sandbox.network == Network::Open;
    let mut holes = Vec::new();
    let mut add = |condition, hole| {
        if condition {
            holes.push(hole);
        }
    };
    match sandbox.level {
        Level::Full => {
            add(changes_anything, CHECKOUT);
            add(true, BOUND_PATHS);
            add(ability.landlock_abi == 0, NO_SECOND_WALL);
            add(open, OPEN_NETWORK);
            add(open && !scoped, ABSTRACT_SOCKETS);
        }
        Level::Reduced => {
            add(changes_anything, CHECKOUT);
            add(true, BOUND_PATHS);
            add(ability.landlock_abi < 9, PATHNAME_SOCKETS);
            add(true, METADATA);
            add(true, NAMES);
            add(true, PROCESSES);
            add(true, SYSTEM_V);
            add(true, DETACHING);
            add(!scoped, SIGNALS);
            add(!scoped, ABSTRACT_SOCKETS);
            add(open, OPEN_NETWORK);
            add(!open && ability.landlock_abi < 4, TCP);
        }
        Level::None => add(true, NOTHING),
    }
    holes
}
