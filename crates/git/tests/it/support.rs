//! Repositories to look at, made by plain git that knows no user's configuration.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use longhaul_exec::{Environment, Finished, Program, run};
use longhaul_git::{Repository, discover};
use tempfile::TempDir;

/// A temporary folder with its canonical path.
pub(crate) struct Place {
    _folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().canonicalize().expect("a folder that exists has a canonical path");
        Self { _folder: folder, path }
    }

    /// A folder below, made if it is not there.
    pub(crate) fn folder(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(&path).expect("a temporary folder can be written");
        path
    }

    /// A repository below with one commit of `.longhaul/config.yml` on `main`.
    pub(crate) fn repository(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.folder(name);
        git(&path, ["init", "--quiet", "--initial-branch=main"]);
        write(&path, ".longhaul/config.yml", b"name: demo\n");
        commit(&path);
        path
    }
}

pub(crate) fn write(folder: &Path, name: impl AsRef<Path>, bytes: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("it lies in a folder"))
        .expect("a temporary folder can be written");
    fs::write(path, bytes).expect("a temporary folder can be written");
}

/// Commits all that there is and answers the id.
pub(crate) fn commit(repository: &Path) -> String {
    git(repository, ["add", "--all"]);
    git(repository, ["commit", "--quiet", "--allow-empty", "--message=a commit"]);
    git(repository, ["rev-parse", "HEAD"])
}

/// Runs git for a test's set-up, which must work, and answers what it printed.
pub(crate) fn git<I>(directory: &Path, args: I) -> String
where
    I: IntoIterator<Item: Into<OsString>>,
{
    let finished = try_git(directory, args);
    assert!(finished.succeeded(), "{}", finished.stderr.to_text());
    finished.stdout.to_text().trim_end().to_owned()
}

pub(crate) fn try_git<I>(directory: &Path, args: I) -> Finished
where
    I: IntoIterator<Item: Into<OsString>>,
{
    let path = std::env::var_os("PATH").expect("tests run with a `PATH`");
    let mut variables: Vec<(OsString, OsString)> = vec![("PATH".into(), path)];
    for name in ["AUTHOR", "COMMITTER"] {
        variables.push((format!("GIT_{name}_NAME").into(), "A Person".into()));
        variables.push((format!("GIT_{name}_EMAIL").into(), "person@example.org".into()));
    }
    variables.push(("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()));
    variables.push(("GIT_CONFIG_NOSYSTEM".into(), "1".into()));
    let program = Program::new("git").args(["-c", "protocol.file.allow=always"]).args(args);
    let program = program.directory(directory).environment(Environment::Only(variables));
    run(&program).expect("git can be run")
}

pub(crate) fn found(path: &Path) -> Repository {
    discover(path).expect("the path is in a repository")
}
