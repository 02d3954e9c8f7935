//! From a path to its repository. Paths may hold anything but NUL: a newline in one must never be taken
//! for the end of an answer.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::command::{Answer, Git};

/// A repository as seen from one path. All paths are absolute and without symbolic links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// What all checkouts of the repository share. Names the repository.
    pub common_dir: PathBuf,
    /// The git data of this very checkout; for the main one the same as `common_dir`.
    pub git_dir: PathBuf,
    pub kind: Kind,
    /// The top of the checkout that the path is in.
    pub checkout: Option<PathBuf>,
    /// The top of the main checkout, if the repository has one that can be found.
    pub main_checkout: Option<PathBuf>,
}

/// Where in a repository a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// In the checkout that the repository was made with. A submodule is a repository of its own.
    MainCheckout,
    /// In a checkout added by `git worktree add`, also one of a bare repository.
    LinkedWorktree,
    /// In a repository without a checkout.
    Bare,
    /// In no checkout, but in the git data of a repository that can have one.
    InsideGitDir,
}

/// Finds the repository that a file or folder is in. A repository says in its own configuration where its files
/// are, and may say so of folders that are none of its business: only a folder whose `.git` leads back counts.
pub fn discover(path: &Path) -> Result<Repository, Error> {
    let directory = directory_of(path)?;
    let probe = probe(&directory)?;
    let git_dir = canonical(&probe.git_dir)?;
    let common_dir = canonical(&probe.common_dir)?;
    let kind = match (probe.place, git_dir == common_dir) {
        (Place::Checkout { .. }, true) => Kind::MainCheckout,
        (Place::Checkout { .. }, false) => Kind::LinkedWorktree,
        (Place::Bare, _) => Kind::Bare,
        (Place::GitDir, _) => Kind::InsideGitDir,
    };
    let checkout = match probe.place {
        Place::Checkout { depth } => directory.ancestors().nth(depth).map(Path::to_path_buf),
        Place::Bare | Place::GitDir => None,
    };
    if let Some(checkout) = &checkout {
        leads_back(checkout, &git_dir)?;
    }
    let main_checkout = match kind {
        Kind::MainCheckout => checkout.clone(),
        // Not in the git data, and not where the configuration says that the files are.
        Kind::InsideGitDir if !directory.starts_with(&git_dir) => {
            return Err(Error::CheckoutElsewhere { git_dir, checkout: directory });
        }
        Kind::LinkedWorktree | Kind::InsideGitDir => main_checkout(&common_dir)?,
        Kind::Bare => None,
    };
    Ok(Repository { common_dir, git_dir, kind, checkout, main_checkout })
}

/// What git says about a directory.
#[derive(Debug)]
struct Probe {
    git_dir: PathBuf,
    common_dir: PathBuf,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// This many folders below the top of a checkout.
    Checkout {
        depth: usize,
    },
    Bare,
    GitDir,
}

/// A `.git` file holds one path.
const LONGEST_LINK: u64 = 64 * 1024;

const ABSOLUTE: &str = "--path-format=absolute";

/// One process answers all. Only where a path holds a newline are the paths asked for one by one.
fn probe(directory: &Path) -> Result<Probe, Error> {
    let questions = [
        "rev-parse",
        ABSOLUTE,
        "--is-bare-repository",
        "--is-inside-work-tree",
        "--git-dir",
        "--git-common-dir",
        "--show-cdup",
    ];
    let answer = Git::in_directory(directory).args(questions).run()?;
    if answer.status != 0 {
        return Err(explain(directory, answer));
    }
    // Git echoes options that it does not know.
    if answer.stdout.starts_with(ABSOLUTE.as_bytes()) {
        return Err(Error::GitTooOld { needed: ABSOLUTE });
    }
    let Some((place, paths)) = understand(&answer.stdout) else { return Err(answer.unknown()) };
    let [git_dir, common_dir] = match paths {
        Some(paths) => paths.map(to_path),
        None => [ask_for_path(directory, "--git-dir")?, ask_for_path(directory, "--git-common-dir")?],
    };
    Ok(Probe { git_dir, common_dir, place })
}

/// Reads the place and, if no newline makes them ambiguous, the two paths.
fn understand(stdout: &[u8]) -> Option<(Place, Option<[&[u8]; 2]>)> {
    let lines: Vec<&[u8]> = stdout.strip_suffix(b"\n")?.split(|byte| *byte == b'\n').collect();
    let place = match lines.get(..2)? {
        [b"true", b"false"] => Place::Bare,
        [b"false", b"false"] => Place::GitDir,
        // The last line is like `../../`, or empty at the top.
        [b"false", b"true"] => Place::Checkout { depth: lines.last()?.len() / "../".len() },
        _ => return None,
    };
    let paths = match (place, &lines[2..]) {
        // Outside a checkout `--show-cdup` prints nothing or, where one is configured, the path of that.
        (Place::Checkout { .. }, [git_dir, common_dir, _])
        | (Place::Bare | Place::GitDir, [git_dir, common_dir]) => Some([*git_dir, *common_dir]),
        _ => None,
    };
    Some((place, paths))
}

fn ask_for_path(directory: &Path, question: &str) -> Result<PathBuf, Error> {
    let answer = Git::in_directory(directory).args(["rev-parse", ABSOLUTE, question]).run()?;
    let stdout = answer.succeeded()?;
    Ok(to_path(stdout.strip_suffix(b"\n").unwrap_or(&stdout)))
}

fn to_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Refuses a checkout whose `.git` is not this git data or a file that names it.
fn leads_back(checkout: &Path, git_dir: &Path) -> Result<(), Error> {
    let entry = checkout.join(".git");
    let named = match fs::metadata(&entry) {
        Ok(found) if found.is_dir() => Some(entry),
        // Anything else might not end, or never begin.
        Ok(found) if found.is_file() && found.len() < LONGEST_LINK => link_target(checkout, &entry),
        Ok(_) | Err(_) => None,
    };
    if named.and_then(|named| fs::canonicalize(named).ok()).is_some_and(|found| found == git_dir) {
        return Ok(());
    }
    Err(Error::CheckoutElsewhere { git_dir: git_dir.to_owned(), checkout: checkout.to_owned() })
}

/// The git data that a `.git` file names, by the rules of git: all up to the line breaks at its end.
fn link_target(checkout: &Path, file: &Path) -> Option<PathBuf> {
    let text = fs::read(file).ok()?;
    let rest = text.strip_prefix(b"gitdir: ")?;
    let end = rest.iter().rposition(|byte| !b"\r\n".contains(byte))?;
    Some(checkout.join(to_path(&rest[..=end])))
}

/// Git does not tell where the main checkout is, so this follows the rules by which it finds it: not at all
/// if bare, else where `core.worktree` points, else around a folder named `.git`.
fn main_checkout(common_dir: &Path) -> Result<Option<PathBuf>, Error> {
    let questions = ["rev-parse", "--is-bare-repository", "--show-cdup"];
    // Named outright, since a user may have forbidden to find a bare repository by being in it.
    let answer = Git::in_directory(common_dir).before_verb("--git-dir=.").args(questions).run()?;
    let stdout = answer.succeeded()?;
    let Some(rest) = stdout.strip_prefix(b"false\n") else { return Ok(None) };
    let configured = rest.strip_suffix(b"\n").unwrap_or(rest);
    if !configured.is_empty() {
        let Ok(checkout) = fs::canonicalize(common_dir.join(to_path(configured))) else { return Ok(None) };
        leads_back(&checkout, common_dir)?;
        return Ok(Some(checkout));
    }
    let around = common_dir.parent().filter(|_| common_dir.file_name().is_some_and(|name| name == ".git"));
    Ok(around.map(Path::to_path_buf))
}

fn directory_of(path: &Path) -> Result<PathBuf, Error> {
    let path = canonical(path)?;
    if path.is_dir() {
        return Ok(path);
    }
    Ok(path.parent().map(Path::to_path_buf).unwrap_or(path))
}

fn canonical(path: &Path) -> Result<PathBuf, Error> {
    fs::canonicalize(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::PathMissing { path: path.into() },
        _ => Error::PathUnreadable { path: path.into(), source },
    })
}

/// Git has one status for all reasons; only the text tells them apart.
fn explain(directory: &Path, answer: Answer) -> Error {
    const ADVICE: &str = "git config --global --add safe.directory ";
    let path = directory.to_path_buf();
    if answer.stderr.contains("detected dubious ownership") {
        let remedy = match answer.stderr.find(ADVICE) {
            Some(start) => answer.stderr[start..].trim_end().to_owned(),
            None => format!("{ADVICE}'{}'", directory.display()),
        };
        return Error::DubiousOwnership { path, remedy };
    }
    if answer.stderr.contains("not a git repository (or any") {
        return Error::NotARepository { path };
    }
    if answer.stderr.contains("not a git repository: ") {
        return Error::BrokenLink { path, message: answer.stderr.trim().to_owned() };
    }
    answer.failed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_is_as_many_folders_up_as_there_are_steps() {
        for (steps, depth) in [("", 0), ("../", 1), ("../../../", 3)] {
            let stdout = format!("false\ntrue\n/a/.git\n/a/.git\n{steps}\n");
            let (place, paths) = understand(stdout.as_bytes()).unwrap();
            assert_eq!(place, Place::Checkout { depth });
            assert_eq!(paths, Some([b"/a/.git".as_slice(), b"/a/.git"]));
        }
    }

    #[test]
    fn paths_that_newlines_make_ambiguous_are_not_guessed() {
        let in_checkout = understand(b"false\ntrue\n/a\nb/.git\n/a\nb/.git\n../\n").unwrap();
        assert_eq!(in_checkout, (Place::Checkout { depth: 1 }, None));
        let in_bare = understand(b"true\nfalse\n/a\nb\n/a\nb\n").unwrap();
        assert_eq!(in_bare, (Place::Bare, None));
    }

    #[test]
    fn an_answer_that_does_not_begin_with_two_truths_is_unknown() {
        for stdout in ["", "\n", "true\n", "true\ntrue\n/a\n/a\n", "yes\nno\n/a\n/a\n"] {
            assert_eq!(understand(stdout.as_bytes()), None, "{stdout:?}");
        }
    }
}
