//! Landlock: the second wall at level full and the first at level reduced. It holds paths, TCP, abstract sockets
//! and signals as far as the kernel knows of them; what it does not know is listed in `holes`.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus,
    Scope,
};
use rustix::fs::{FileType, fstat};

use super::opened::opened;
use super::plan::Plan;
use super::{Level, Network, layout};

/// The newest that the library knows; an older kernel takes what it knows of it.
const NEWEST: ABI = ABI::V9;

/// Where everybody may write at level full, because it is the program's own.
const SCRATCH: &[&str] = &["/tmp", "/var/tmp", "/run", "/dev"];

/// The name of the step.
pub(super) const RESTRICT: &str = "restrict paths with Landlock";

/// Restricts this process and all that come from it. An error where the kernel has no Landlock.
pub(super) fn restrict(plan: &Plan) -> io::Result<()> {
    match apply(plan)? {
        RulesetStatus::NotEnforced => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

/// The same behind other walls, where a kernel without Landlock is no reason to stop.
pub(super) fn second_wall(plan: &Plan) -> io::Result<()> {
    apply(plan).map(drop)
}

fn apply(plan: &Plan) -> io::Result<RulesetStatus> {
    let status = build(plan).and_then(RulesetCreated::restrict_self).map_err(io::Error::other)?;
    Ok(status.ruleset)
}

fn build(plan: &Plan) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    let guards_tcp = plan.level == Level::Reduced && plan.network != Network::Open;
    if guards_tcp {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp | AccessNet::BindTcp)?;
    }
    let mut ruleset = ruleset.create()?;
    if let (true, Some(gateway)) = (guards_tcp, &plan.gateway) {
        ruleset = ruleset.add_rule(NetPort::new(gateway.port, AccessNet::ConnectTcp))?;
    }
    let all = AccessFs::from_all(NEWEST);
    let read = AccessFs::from_read(NEWEST);
    match plan.level {
        Level::Full => {
            // What is not to be seen is not there. Here it is about writing alone.
            ruleset = allow(ruleset, Path::new("/"), read | AccessFs::ResolveUnix)?;
            for path in SCRATCH.iter().map(Path::new).chain([&*plan.home]) {
                ruleset = allow(ruleset, path, all)?;
            }
        }
        Level::Reduced | Level::None => ruleset = allow_system(ruleset, plan)?,
    }
    for path in &plan.writable {
        ruleset = allow_unmoved(ruleset, path, all)?;
    }
    Ok(ruleset)
}

/// Landlock cannot take away what is below an allowed path, so directories with secrets in them are allowed entry
/// by entry.
fn allow_system(mut ruleset: RulesetCreated, plan: &Plan) -> Result<RulesetCreated, RulesetError> {
    let read = AccessFs::from_read(NEWEST);
    for path in plan.read_only.iter().flat_map(|path| without_hidden(path, &plan.hidden)) {
        ruleset = allow(ruleset, &path, read)?;
    }
    ruleset = allow(ruleset, Path::new("/proc"), read)?;
    for device in layout::DEVICES {
        let access = read | AccessFs::WriteFile | AccessFs::IoctlDev;
        ruleset = allow(ruleset, &Path::new("/dev").join(device), access)?;
    }
    if let Some(gateway) = &plan.gateway {
        ruleset = allow(ruleset, &gateway.socket, AccessFs::ResolveUnix.into())?;
    }
    Ok(ruleset)
}

/// The path itself, or, where something below it is hidden, its entries without what is.
fn without_hidden(path: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    if hidden.iter().any(|hidden| path.starts_with(hidden)) {
        return Vec::new();
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(path)) {
        return vec![path.to_path_buf()];
    }
    let Ok(entries) = path.read_dir() else { return Vec::new() };
    entries.filter_map(Result::ok).flat_map(|entry| without_hidden(&entry.path(), hidden)).collect()
}

/// Allows access below a path. One that is not there or cannot be opened has nothing to allow.
fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(opened) = PathFd::new(path) else { return Ok(ruleset) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
    ruleset.add_rule(PathBeneath::new(opened, access))
}

/// The same for what is at this very path, where others may write and a link may have come in its place.
fn allow_unmoved(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(found) = opened(path) else { return Ok(ruleset) };
    let is_directory = fstat(&found).is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_dir());
    let access = if is_directory { access } else { access & AccessFs::from_file(NEWEST) };
    ruleset.add_rule(PathBeneath::new(found, access))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_allowed_whole_or_without_what_is_hidden_in_it() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["open", "secret"] {
            std::fs::create_dir_all(folder.path().join("etc").join(name)).unwrap();
        }
        let etc = folder.path().join("etc");
        assert_eq!(without_hidden(&etc, &[]), std::slice::from_ref(&etc));
        let hidden = etc.join("secret");
        assert_eq!(without_hidden(&etc, std::slice::from_ref(&hidden)), [etc.join("open")]);
        assert!(without_hidden(&hidden, std::slice::from_ref(&hidden)).is_empty());
    }
}
