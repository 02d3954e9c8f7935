//! A repository, a session's checkout of it and the place of its snapshots.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use longhaul_git::{
    Base, Checkout, CheckoutKind, Kept, NewCheckout, Repository, Restored, Snapshot, Snapshots, TakeSnapshot,
    secure_base,
};

use crate::support::{Place, commit, found, git, write};

pub(crate) const SESSION: &str = "ses_test";
pub(crate) const BRANCH: &str = "longhaul/test-work";

pub(crate) struct Work {
    pub(crate) place: Place,
    pub(crate) main: Repository,
    pub(crate) base: Base,
    pub(crate) checkout: Checkout,
    pub(crate) secret: Vec<PathBuf>,
}

impl Work {
    pub(crate) fn borrowed() -> Self {
        Self::begin(CheckoutKind::Borrowed)
    }

    pub(crate) fn begin(kind: CheckoutKind) -> Self {
        let place = Place::new();
        let main = place.repository("project");
        write(&main, "a.txt", b"one\ntwo\nthree\n");
        write(&main, ".gitignore", b"ignored\n");
        commit(&main);
        Self::over(place, "project", kind)
    }

    pub(crate) fn over(place: Place, name: &str, kind: CheckoutKind) -> Self {
        let main = found(&place.path.join(name));
        let base = secure_base(&main, SESSION, None).unwrap();
        let path = place.path.join("checkouts/test-work");
        let new = NewCheckout { main: &main, path: &path, branch: BRANCH, base: &base.commit, kind };
        let checkout = Checkout::make(&new).unwrap();
        Self { place, main, base, checkout, secret: Vec::new() }
    }

    pub(crate) fn top(&self) -> &Path {
        &self.checkout.path
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.place.path.join("project")
    }

    pub(crate) fn snapshots(&self) -> Snapshots {
        Snapshots::open(&self.place.path.join("snapshots/ws"), &self.main).unwrap()
    }

    pub(crate) fn wanted(&self) -> TakeSnapshot<'_> {
        TakeSnapshot {
            session: SESSION,
            checkout: &self.checkout,
            base: &self.base.commit,
            because: "a step ended",
            secret: &self.secret,
        }
    }

    pub(crate) fn take(&self) -> Snapshot {
        self.snapshots().take(&self.wanted()).unwrap()
    }

    pub(crate) fn kept(&self, snapshot: &Snapshot) -> Kept {
        self.snapshots().find(SESSION, snapshot.id.as_str()).unwrap()
    }

    pub(crate) fn restore(&self, snapshot: &Snapshot) -> Restored {
        self.snapshots().restore(&self.wanted(), &self.kept(snapshot)).unwrap()
    }

    pub(crate) fn commit(&self) -> String {
        commit(self.top())
    }

    /// Throws away whatever is reachable from nowhere.
    pub(crate) fn collect_garbage(&self) {
        git(&self.project(), ["reflog", "expire", "--expire=now", "--all"]);
        git(&self.project(), ["gc", "--quiet", "--prune=now"]);
    }
}

/// Every file below a folder but `.git`, with what makes it what it is.
pub(crate) fn contents(top: &Path) -> Vec<(Vec<u8>, String, Vec<u8>)> {
    let mut all = Vec::new();
    collect(top, top, &mut all);
    all.sort();
    all
}

fn collect(top: &Path, folder: &Path, all: &mut Vec<(Vec<u8>, String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let name = path.strip_prefix(top).unwrap().as_os_str().as_bytes().to_vec();
        let found = fs::symlink_metadata(&path).unwrap();
        if entry.file_name() == ".git" {
            continue;
        }
        if found.is_dir() {
            collect(top, &path, all);
        } else if found.is_symlink() {
            all.push((name, "link".into(), fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()));
        } else if found.is_file() {
            let executable = found.permissions().mode() & 0o100 != 0;
            let kind = if executable { "program" } else { "file" };
            all.push((name, kind.into(), fs::read(&path).unwrap()));
        }
    }
}
