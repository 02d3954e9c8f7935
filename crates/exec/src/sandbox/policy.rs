//! The policy of one sandbox. Pure: it names paths and looks at none.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use super::layout;

const GIB: u64 = 1024 * 1024 * 1024;

/// What a program may see, touch and reach.
///
/// Paths mean the same inside and outside. Those that go through symbolic links are bound where they really are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    pub level: Level,
    pub network: Network,
    /// Seen and run, never changed. System directories are there already.
    pub read_only: Vec<PathBuf>,
    /// The checkout, and what a person names for one command.
    pub writable: Vec<PathBuf>,
    /// Changed too, and nowhere but at these very paths: somebody has judged where they lie, and another program that may
    /// write above one could put a link in its place since. A link on the way is refused.
    pub caches: Vec<PathBuf>,
    /// Kept out of what is bound otherwise; nothing may be bound below.
    pub hidden: Vec<PathBuf>,
    /// The variables of our own environment that are handed on. What the program sets itself always is.
    pub variables: Vec<OsString>,
    /// Empty at level full, and where `HOME` points.
    pub home: PathBuf,
    pub limits: Limits,
    pub gateway: Option<Gateway>,
    /// Set for every program behind these walls, unless it sets them itself.
    pub set: Given,
    pub init: Init,
}

/// Variables with their values, which are never shown: they may be secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Given(Vec<(OsString, OsString)>);

impl Given {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(OsString, OsString)> {
        self.0.iter()
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// How strong the walls are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    Full,
    Reduced,
    None,
}

/// What can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Network {
    /// Nobody but the program itself, and the gateway if there is one.
    None,
    /// The same; the gateway lets some hosts through.
    AllowList,
    /// Everything that this machine reaches.
    Open,
}

/// Bounds for each process, and for what all of them write outside of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Processes and threads at once. Below level full the system counts all that the user has, so there it only keeps
    /// the machine from running out of them. The superuser's are not counted.
    pub processes: Option<u64>,
    pub file_bytes: Option<u64>,
    pub open_files: Option<u64>,
    /// Private memory of one process.
    pub memory_bytes: Option<u64>,
    /// `/tmp`, home and `/dev/shm` together, at level full.
    pub scratch_bytes: u64,
    /// The program is ended when the disk under a writable path has less than this left.
    pub disk_reserve_bytes: Option<u64>,
}

/// Our socket outside, and where it is found inside.
///
/// At level full the first process inside listens on `127.0.0.1:port` and hands every connection on to the socket.
/// At level reduced nobody does, and `port` is the one that may be reached on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gateway {
    pub socket: PathBuf,
    pub port: u16,
}

/// The program that puts up the walls and then starts the other one: a binary whose `main` calls
/// [`super::init_main`] for these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Init {
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

impl Default for Init {
    /// This very binary, also if its file was replaced meanwhile.
    fn default() -> Self {
        let program =
            if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() };
        Self { program: program.unwrap_or_default(), args: vec![super::INIT_VERB.into()] }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            processes: None,
            file_bytes: Some(4 * GIB),
            open_files: Some(65_536),
            memory_bytes: None,
            scratch_bytes: GIB,
            disk_reserve_bytes: Some(GIB / 4),
        }
    }
}

impl Sandbox {
    /// The system read-only and nothing writable, with the usual variables and limits.
    pub fn new(level: Level, home: impl Into<PathBuf>) -> Self {
        let processes = match level {
            Level::Full => Some(4096),
            // Above what a desktop with many programs has, and below what a system has room for.
            Level::Reduced | Level::None => Some(16_384),
        };
        Self {
            level,
            network: Network::None,
            read_only: Vec::new(),
            writable: Vec::new(),
            caches: Vec::new(),
            hidden: Vec::new(),
            variables: layout::VARIABLES.iter().map(OsString::from).collect(),
            home: home.into(),
            limits: Limits { processes, ..Limits::default() },
            gateway: None,
            set: Given::default(),
            init: Init::default(),
        }
    }

    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Adds a path that can be seen and run.
    pub fn read_only(mut self, path: impl AsRef<Path>) -> Self {
        self.read_only.push(path.as_ref().to_path_buf());
        self
    }

    /// Adds a path that can be changed.
    pub fn writable(mut self, path: impl AsRef<Path>) -> Self {
        self.writable.push(path.as_ref().to_path_buf());
        self
    }

    /// Adds a path that can be changed and must be where it was judged to be.
    pub fn cache(mut self, path: impl AsRef<Path>) -> Self {
        self.caches.push(path.as_ref().to_path_buf());
        self
    }

    /// Adds a path that is not there inside.
    pub fn hide(mut self, path: impl AsRef<Path>) -> Self {
        self.hidden.push(path.as_ref().to_path_buf());
        self
    }

    /// Adds a variable of ours that is handed on.
    pub fn keep_variable(mut self, name: impl Into<OsString>) -> Self {
        self.variables.push(name.into());
        self
    }

    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub fn gateway(mut self, gateway: Gateway) -> Self {
        self.gateway = Some(gateway);
        self
    }

    /// Sets a variable for every program behind these walls.
    pub fn set_variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.set.0.push((name.into(), value.into()));
        self
    }

    pub fn init(mut self, init: Init) -> Self {
        self.init = init;
        self
    }

    /// Whether a variable of our own environment is handed on.
    pub fn keeps(&self, name: &OsStr) -> bool {
        self.variables.iter().any(|kept| kept == name)
    }
}

impl Level {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Reduced => "reduced",
            Self::None => "none",
        }
    }
}

impl Network {
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::AllowList => "allow-list",
            Self::Open => "open",
        }
    }
}
