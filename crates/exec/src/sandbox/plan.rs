//! What the process that puts up the walls is told: the policy with every path looked up, and the program.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::layout;
use super::wire::{Reader, Writer, cut_off};
use super::{Gateway, Level, Limits, Network, Sandbox};

/// Everything that is done between the start of our own binary and that of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(super) level: Level,
    pub(super) network: Network,
    pub(super) read_only: Vec<PathBuf>,
    pub(super) writable: Vec<PathBuf>,
    pub(super) hidden: Vec<PathBuf>,
    /// Links of the system's root, and where they point.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    pub(super) home: PathBuf,
    pub(super) limits: Limits,
    pub(super) gateway: Option<Gateway>,
    pub(super) grace: Duration,
    pub(super) command: Command,
}

/// The program, as it is to be started inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    /// Empty for a trial: the walls are put up and nothing is run.
    pub(crate) name: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) directory: PathBuf,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) stdin: Option<Vec<u8>>,
}

/// Why a policy cannot be carried out here.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// A path of the policy is not there or cannot be looked up.
    Path { path: PathBuf, source: io::Error },
    /// Something is bound below a path that is to be hidden.
    BelowHidden { path: PathBuf, hidden: PathBuf },
}

impl Plan {
    /// Looks up the paths of the policy. Those of the system and of tools may be missing, those to be written not.
    pub(crate) fn new(sandbox: &Sandbox, command: Command, grace: Duration) -> Result<Self, Refusal> {
        let mut links = Vec::new();
        let mut read_only = Vec::new();
        for path in layout::SYSTEM.iter().map(Path::new) {
            match fs::read_link(path) {
                Ok(target) => links.push((path.to_path_buf(), target)),
                Err(_) if path.exists() => read_only.push(path.to_path_buf()),
                Err(_) => {}
            }
        }
        read_only.extend(sandbox.read_only.iter().filter_map(|path| path.canonicalize().ok()));
        if sandbox.network == Network::Open {
            // Often a link to where the level full has nothing.
            read_only.extend(Path::new("/etc/resolv.conf").canonicalize().ok());
        }
        read_only.sort();
        read_only.dedup();
        let writable = sandbox.writable.iter().map(|path| real(path));
        let caches = sandbox.caches.iter().map(|path| unmoved(path));
        let writable: Vec<PathBuf> = writable.chain(caches).collect::<Result<_, _>>()?;
        let secrets = layout::SECRETS.iter().map(Path::new);
        let hidden = secrets.chain(sandbox.hidden.iter().map(PathBuf::as_path));
        let hidden: Vec<PathBuf> = hidden.filter_map(|path| path.canonicalize().ok()).collect();
        match sandbox.level {
            Level::Full | Level::Reduced => refuse_whole_system(read_only.iter().chain(&writable))?,
            Level::None => {}
        }
        refuse_below_hidden(&hidden, read_only.iter().chain(&writable))?;
        let gateway = sandbox
            .gateway
            .as_ref()
            .map(|gateway| Ok(Gateway { socket: real(&gateway.socket)?, port: gateway.port }));
        Ok(Self {
            level: sandbox.level,
            network: sandbox.network,
            read_only,
            writable,
            hidden,
            links,
            home: sandbox.home.canonicalize().unwrap_or_else(|_| sandbox.home.clone()),
            limits: sandbox.limits,
            gateway: gateway.transpose()?,
            grace,
            command,
        })
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.number(self.level as u64);
        to.number(self.network as u64);
        for paths in [&self.read_only, &self.writable, &self.hidden] {
            to.list(paths, |to, path| to.path(path));
        }
        to.list(&self.links, |to, (path, target)| {
            to.path(path);
            to.path(target);
        });
        to.path(&self.home);
        let Limits { processes, file_bytes, open_files, memory_bytes, scratch_bytes, disk_reserve_bytes } =
            self.limits;
        for limit in [processes, file_bytes, open_files, memory_bytes, disk_reserve_bytes] {
            to.optional(limit);
        }
        to.number(scratch_bytes);
        to.list(self.gateway.as_slice(), |to, gateway| {
            to.path(&gateway.socket);
            to.number(gateway.port.into());
        });
        to.number(u64::try_from(self.grace.as_millis()).unwrap_or(u64::MAX));
        to.text(&self.command.name);
        to.list(&self.command.args, |to, arg| to.text(arg));
        to.path(&self.command.directory);
        to.list(&self.command.variables, |to, (name, value)| {
            to.text(name);
            to.text(value);
        });
        to.list(self.command.stdin.as_slice(), |to, bytes| to.bytes(bytes));
        to.finish()
    }

    pub(super) fn decode(bytes: &[u8]) -> io::Result<Self> {
        let mut from = Reader(bytes);
        let level = level(from.number()?)?;
        let network = network(from.number()?)?;
        let mut paths = || from.list(Reader::path);
        let (read_only, writable, hidden) = (paths()?, paths()?, paths()?);
        let links = from.list(|from| Ok((from.path()?, from.path()?)))?;
        let home = from.path()?;
        let mut limit = || from.optional();
        let (processes, file_bytes, open_files, memory_bytes, disk_reserve_bytes) =
            (limit()?, limit()?, limit()?, limit()?, limit()?);
        let scratch_bytes = from.number()?;
        let limits =
            Limits { processes, file_bytes, open_files, memory_bytes, scratch_bytes, disk_reserve_bytes };
        let gateway = from.list(|from| {
            let socket = from.path()?;
            Ok(Gateway { socket, port: u16::try_from(from.number()?).map_err(|_| cut_off())? })
        })?;
        let grace = Duration::from_millis(from.number()?);
        let command = Command {
            name: from.text()?,
            args: from.list(Reader::text)?,
            directory: from.path()?,
            variables: from.list(|from| Ok((from.text()?, from.text()?)))?,
            stdin: from.list(Reader::bytes)?.pop(),
        };
        let gateway = gateway.into_iter().next();
        Ok(Self { level, network, read_only, writable, hidden, links, home, limits, gateway, grace, command })
    }
}

impl Command {
    pub(super) fn is_trial(&self) -> bool {
        self.name == OsStr::new("")
    }
}

fn level(number: u64) -> io::Result<Level> {
    let levels = [Level::Full, Level::Reduced, Level::None];
    levels.into_iter().find(|level| *level as u64 == number).ok_or_else(cut_off)
}

fn network(number: u64) -> io::Result<Network> {
    let networks = [Network::None, Network::AllowList, Network::Open];
    networks.into_iter().find(|network| *network as u64 == number).ok_or_else(cut_off)
}

fn real(path: &Path) -> Result<PathBuf, Refusal> {
    path.canonicalize().map_err(|source| Refusal::Path { path: path.to_path_buf(), source })
}

/// A path that somebody has judged, if it still leads where it says.
fn unmoved(path: &Path) -> Result<PathBuf, Refusal> {
    let real = real(path)?;
    if real == path {
        return Ok(real);
    }
    let source = io::Error::other(format!("it leads to `{}` by now", real.display()));
    Err(Refusal::Path { path: path.to_path_buf(), source })
}

/// With the root itself, or with what the kernel shows of all processes and devices, nothing would be outside.
fn refuse_whole_system<'a>(mut bound: impl Iterator<Item = &'a PathBuf>) -> Result<(), Refusal> {
    let is_system = |path: &PathBuf| {
        path == Path::new("/") || ["/proc", "/sys", "/dev"].iter().any(|system| path.starts_with(system))
    };
    let Some(path) = bound.find(|path| is_system(path)) else { return Ok(()) };
    let source = io::Error::other("it would let the whole machine in");
    Err(Refusal::Path { path: path.clone(), source })
}

fn refuse_below_hidden<'a>(
    hidden: &[PathBuf],
    bound: impl Iterator<Item = &'a PathBuf>,
) -> Result<(), Refusal> {
    for path in bound {
        if let Some(hidden) = hidden.iter().find(|hidden| path.starts_with(hidden)) {
            return Err(Refusal::BelowHidden { path: path.clone(), hidden: hidden.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(sandbox: &Sandbox) -> Result<Plan, Refusal> {
        let command = Command {
            name: "cat".into(),
            args: vec!["-".into()],
            directory: "/usr".into(),
            variables: vec![("A".into(), "b".into())],
            stdin: Some(b"text".to_vec()),
        };
        Plan::new(sandbox, command, Duration::from_secs(2))
    }

    #[test]
    fn a_plan_reads_back_as_it_was_written() {
        let gateway = Gateway { socket: "/etc/passwd".into(), port: 8080 };
        let sandbox =
            Sandbox::new(Level::Full, "/home/nobody").writable("/tmp").hide("/usr/share").gateway(gateway);
        let plan = plan(&sandbox).unwrap();
        assert_eq!(Plan::decode(&plan.encode()).unwrap(), plan);
    }

    #[test]
    fn a_plan_that_was_cut_off_is_refused_and_never_a_panic() {
        let bytes = plan(&Sandbox::new(Level::Reduced, "/home/nobody")).unwrap().encode();
        for length in 0..bytes.len() {
            assert!(Plan::decode(&bytes[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn the_whole_machine_is_not_bound() {
        for path in ["/", "/proc", "/dev/shm", "/usr/.."] {
            let writable = Sandbox::new(Level::Full, "/home/nobody").writable(path);
            assert!(matches!(plan(&writable), Err(Refusal::Path { .. })), "{path}");
            let read_only = Sandbox::new(Level::Reduced, "/home/nobody").read_only(path);
            assert!(matches!(plan(&read_only), Err(Refusal::Path { .. })), "{path}");
        }
    }

    #[test]
    fn a_cache_that_was_replaced_by_a_link_or_lies_behind_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["outer/inner", "elsewhere/inner"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        let sandbox = Sandbox::new(Level::Full, "/home/nobody").cache(top.join("outer/inner"));
        assert_eq!(plan(&sandbox).unwrap().writable, [top.join("outer/inner")]);
        fs::remove_dir(top.join("outer/inner")).unwrap();
        std::os::unix::fs::symlink(top.join("elsewhere"), top.join("outer/inner")).unwrap();
        assert!(matches!(plan(&sandbox), Err(Refusal::Path { .. })));
        fs::remove_file(top.join("outer/inner")).unwrap();
        fs::remove_dir(top.join("outer")).unwrap();
        std::os::unix::fs::symlink(top.join("elsewhere"), top.join("outer")).unwrap();
        assert!(matches!(plan(&sandbox), Err(Refusal::Path { .. })));
    }

    #[test]
    fn nothing_is_bound_below_what_is_hidden() {
        let sandbox = Sandbox::new(Level::Full, "/home/nobody").read_only("/usr/share").hide("/usr");
        assert!(matches!(plan(&sandbox), Err(Refusal::BelowHidden { .. })));
    }
}
