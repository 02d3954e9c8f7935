//! The built root: an empty file system into which the system, the scratch places and what the policy names are
//! put, and nothing else. What is not put there is not there.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, CWD, FileType, access, fstat};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    UnmountFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount_change,
    move_mount, open_tree, unmount,
};

use super::init::{Doing as _, Failed};
use super::layout;
use super::opened::opened;
use super::plan::Plan;
use super::sys::{self, Depth};

/// Mounted over for a moment, in our own namespace only, and gone with the old root.
const BASE: &str = "/tmp";
/// Holds the scratch places until each is where it belongs.
const STORE: &str = "/.scratch";

pub(super) const PROC: &str = "mount a fresh `/proc`";
pub(super) const MOUNT: &str = "mount the new root";

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
const WRITABLE: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
/// A device can be written to on a read-only mount; its mode and times, which are those outside, cannot be changed.
const DEVICE: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;

/// A mount that is not yet anywhere.
struct Tree {
    target: PathBuf,
    mount: OwnedFd,
    is_directory: bool,
}

/// Replaces the root of this process, which must be the first of its process namespace.
pub(super) fn build(plan: &Plan) -> Result<(), Failed> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).doing(MOUNT)?;
    // All that comes from outside is taken up before the outside is gone.
    let trees = gather(plan)?;
    let devices: Vec<Tree> =
        layout::DEVICES.iter().filter_map(|name| take(&Path::new("/dev").join(name), DEVICE).ok()).collect();
    let gateway = plan.gateway.as_ref().map(|gateway| take(&gateway.socket, READ_ONLY)).transpose();
    let gateway = gateway.doing("bind the socket of the gateway")?;
    let processes = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let processes = fresh("proc", &[], processes).doing(PROC)?;
    let terminals = fresh("devpts", &[("newinstance", ""), ("ptmxmode", "0666"), ("mode", "0620")], NO_SUID)
        .doing("mount terminals")?;
    let scratch_bytes = plan.limits.scratch_bytes.to_string();
    let scratch = fresh("tmpfs", &[("size", &scratch_bytes), ("mode", "0755")], NO_SUID_NO_DEVICES);
    let scratch = scratch.doing("mount the scratch space")?;

    enter_empty_root()?;
    make_places(&scratch).doing("make the scratch places")?;
    for (link, target) in &plan.links {
        symlink(target, link).doing("link the system's directories")?;
    }
    place_all(plan_home(plan), trees)?;
    make_devices(devices, &terminals).doing("make `/dev`")?;
    put(&processes, Path::new("/proc"), Kind::Directory).doing(PROC)?;
    if let Some(gateway) = gateway {
        put(&gateway.mount, Path::new(layout::GATEWAY_SOCKET), Kind::File)
            .doing("bind the socket of the gateway")?;
    }
    hide(plan).doing("hide what is to be hidden")?;
    close_root().doing("close the new root")
}

const NO_SUID: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NOEXEC);
const NO_SUID_NO_DEVICES: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);

/// The system and what the policy names, outermost first.
fn gather(plan: &Plan) -> Result<Vec<Tree>, Failed> {
    let read_only = plan.read_only.iter().map(|path| (path, READ_ONLY));
    let writable = plan.writable.iter().map(|path| (path, WRITABLE));
    let mut paths: Vec<(&PathBuf, u64)> = read_only.chain(writable).collect();
    paths.sort_by_key(|(path, _)| path.components().count());
    paths
        .into_iter()
        .map(|(path, attributes)| {
            take_unmoved(path, attributes)
                .map_err(|source| Failed::new(format!("bind `{}`", path.display()), source))
        })
        .collect()
}

const TAKEN: OpenTreeFlags =
    OpenTreeFlags::OPEN_TREE_CLONE.union(OpenTreeFlags::OPEN_TREE_CLOEXEC).union(OpenTreeFlags::AT_RECURSIVE);

/// Takes up what a path of the machine leads to.
fn take(path: &Path, attributes: u64) -> io::Result<Tree> {
    let mount = open_tree(CWD, path, TAKEN)?;
    sys::mount_setattr(&mount, Depth::All, attributes)?;
    Ok(Tree { target: path.to_path_buf(), mount, is_directory: path.is_dir() })
}

/// Takes up what is at this very path, where others may write and a link may have come in its place.
fn take_unmoved(path: &Path, attributes: u64) -> io::Result<Tree> {
    let found = opened(path)?;
    let mount = open_tree(&found, c"", TAKEN | OpenTreeFlags::AT_EMPTY_PATH)?;
    sys::mount_setattr(&mount, Depth::All, attributes)?;
    let is_directory = FileType::from_raw_mode(fstat(&found)?.st_mode) == FileType::Directory;
    Ok(Tree { target: path.to_path_buf(), mount, is_directory })
}

fn fresh(kind: &str, options: &[(&str, &str)], attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        match *value {
            "" => fsconfig_set_flag(context.as_fd(), *name)?,
            value => fsconfig_set_string(context.as_fd(), *name, value)?,
        }
    }
    fsconfig_create(context.as_fd())?;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

fn enter_empty_root() -> Result<(), Failed> {
    let empty = fresh("tmpfs", &[("size", "4m"), ("mode", "0755")], NO_SUID_NO_DEVICES).doing(MOUNT)?;
    attach(&empty, Path::new(BASE)).doing(MOUNT)?;
    rustix::process::chdir(BASE).doing(MOUNT)?;
    // The old root ends up on top of the new one and is taken off it.
    rustix::process::pivot_root(".", ".").doing("change the root")?;
    unmount(".", UnmountFlags::DETACH).doing("leave the old root")?;
    rustix::process::chdir("/").doing("change the root")
}

/// Where scratch places belong, how they are called meanwhile, and who may enter.
const PLACES: &[(&str, &str, u32)] = &[
    ("/tmp", "tmp", 0o1777),
    ("/var/tmp", "var-tmp", 0o1777),
    ("/run", "run", 0o755),
    ("/dev/shm", "shm", 0o1777),
];
const HOME: &str = "home";
const EMPTY_DIRECTORY: &str = "empty";
const EMPTY_FILE: &str = "nothing";

fn make_places(scratch: &OwnedFd) -> io::Result<()> {
    let store = Path::new(STORE);
    put(scratch, store, Kind::Directory)?;
    let others = [("", HOME, 0o700), ("", EMPTY_DIRECTORY, 0o555)];
    for (_, name, mode) in PLACES.iter().chain(&others) {
        fs::create_dir(store.join(name))?;
        fs::set_permissions(store.join(name), fs::Permissions::from_mode(*mode))?;
    }
    fs::write(store.join(EMPTY_FILE), "")?;
    fs::set_permissions(store.join(EMPTY_FILE), fs::Permissions::from_mode(0o444))?;
    for (place, name, _) in PLACES {
        put(&stored(name)?, Path::new(place), Kind::Directory)?;
    }
    Ok(())
}

fn stored(name: &str) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    Ok(open_tree(CWD, Path::new(STORE).join(name), flags)?)
}

/// The home that is to be empty; none where it is the root or a place that is bound.
fn plan_home(plan: &Plan) -> Option<&Path> {
    let taken = plan.read_only.iter().any(|path| plan.home.starts_with(path));
    (plan.home.is_absolute() && plan.home != Path::new("/") && !taken).then_some(&*plan.home)
}

fn place_all(mut home: Option<&Path>, trees: Vec<Tree>) -> Result<(), Failed> {
    for tree in trees {
        // Before what lies in it, and after what it lies in.
        if let Some(path) = home.take_if(|home| tree.target.starts_with(home)) {
            make_home(path)?;
        }
        let kind = if tree.is_directory { Kind::Directory } else { Kind::File };
        put(&tree.mount, &tree.target, kind)
            .map_err(|source| Failed::new(format!("put `{}` in place", tree.target.display()), source))?;
    }
    home.map_or(Ok(()), make_home)
}

fn make_home(path: &Path) -> Result<(), Failed> {
    stored(HOME).and_then(|home| put(&home, path, Kind::Directory)).doing("make an empty home")
}

fn make_devices(devices: Vec<Tree>, terminals: &OwnedFd) -> io::Result<()> {
    for device in devices {
        put(&device.mount, &device.target, Kind::File)?;
    }
    put(terminals, Path::new("/dev/pts"), Kind::Directory)?;
    let links = [
        ("pts/ptmx", "/dev/ptmx"),
        ("/proc/self/fd", "/dev/fd"),
        ("/proc/self/fd/0", "/dev/stdin"),
        ("/proc/self/fd/1", "/dev/stdout"),
        ("/proc/self/fd/2", "/dev/stderr"),
    ];
    links.iter().try_for_each(|(target, link)| symlink(target, link))
}

/// Covers what is there and must not be seen.
fn hide(plan: &Plan) -> io::Result<()> {
    let hidden = plan.hidden.iter().map(PathBuf::as_path);
    for path in hidden.chain(layout::PROC_HIDDEN.iter().map(Path::new)) {
        let Ok(found) = path.symlink_metadata() else { continue };
        if is_closed(path, &found) {
            continue;
        }
        let cover = stored(if found.is_dir() { EMPTY_DIRECTORY } else { EMPTY_FILE })?;
        sys::mount_setattr(&cover, Depth::One, READ_ONLY)?;
        attach(&cover, path)?;
    }
    Ok(())
}

/// Whether nobody inside can do anything with it, and it needs no cover: it is somebody else's and closed to us, and
/// inside there are fewer rights than now.
fn is_closed(path: &Path, found: &fs::Metadata) -> bool {
    let rights = [Access::READ_OK, Access::WRITE_OK, Access::EXEC_OK];
    found.uid() != rustix::process::getuid().as_raw()
        && rights.iter().all(|right| access(path, *right).is_err())
}

/// From here on nothing is made in the root itself; what is mounted in it keeps its own attributes.
fn close_root() -> io::Result<()> {
    unmount(STORE, UnmountFlags::DETACH)?;
    fs::remove_dir(STORE)?;
    let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
    let root = rustix::fs::open("/", flags, rustix::fs::Mode::empty())?;
    sys::mount_setattr(&root, Depth::One, READ_ONLY)
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Directory,
    File,
}

/// Mounts at a path, which is made if it is not there.
fn put(mount: &OwnedFd, target: &Path, kind: Kind) -> io::Result<()> {
    if target.symlink_metadata().is_err() {
        match kind {
            Kind::Directory => fs::create_dir_all(target)?,
            Kind::File => {
                fs::create_dir_all(target.parent().unwrap_or(Path::new("/")))?;
                fs::write(target, "")?;
            }
        }
    }
    attach(mount, target)
}

fn attach(mount: &OwnedFd, target: &Path) -> io::Result<()> {
    Ok(move_mount(mount, "", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}
