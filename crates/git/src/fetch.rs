//! Fetching one commit of somebody else's repository into a bare one of our own.
//!
//! What comes in is never checked out, so no filter, hook or link of its author has a say. Transports that run a
//! program of the address's choosing (`ext::`) are refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command::Git;
use crate::{Error, Kind, ObjectId, Repository, resolve};

const TIMEOUT: Duration = Duration::from_mins(2);

/// Neither `http` nor `git`: anybody on the way could put other content in place.
const PROTOCOLS: &str = "file:https:ssh";

/// Where the fetched commit is kept. Moved by every fetch; older commits stay readable, because nothing collects.
const KEPT: &str = "refs/longhaul/fetched";

/// A repository to fetch from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    address: String,
    reference: String,
}

impl Remote {
    /// An address is a path, or a URL of `https`, `ssh` or `file`, or like `git@host:path`. Without a reference, the
    /// remote's own head is meant.
    pub fn new(address: &str, reference: Option<&str>) -> Result<Self, Error> {
        if let Some(problem) = refusal(address) {
            return Err(Error::RemoteName { url: address.to_owned(), problem });
        }
        let reference = reference.unwrap_or("HEAD");
        if !is_reference(reference) {
            return Err(Error::ReferenceName { reference: reference.to_owned() });
        }
        Ok(Self { address: address.to_owned(), reference: reference.to_owned() })
    }
}

impl Remote {
    pub fn address(&self) -> &str {
        &self.address
    }
}

/// Why an address is not one that we fetch from.
fn refusal(address: &str) -> Option<&'static str> {
    if address.is_empty() || address.starts_with('-') || address.chars().any(char::is_control) {
        return Some("it is no address; give a path or a URL");
    }
    if address.contains("::") {
        return Some("such addresses make git run programs; use `https`, `ssh` or a path");
    }
    match address.split_once("://") {
        Some(("https" | "ssh" | "file", _)) | None => None,
        Some(_) => Some("only `https`, `ssh` and `file` are fetched from; use one of them"),
    }
}

/// What could be an option, a pattern or a second name is no reference.
fn is_reference(text: &str) -> bool {
    let plain = |letter: char| letter.is_alphanumeric() || "/-_.@+#".contains(letter);
    !text.is_empty() && !text.starts_with(['-', '+']) && !text.contains("..") && text.chars().all(plain)
}

/// Fetches one commit, without its history, into the bare repository in `folder`, which is made if it is not there.
pub fn fetch(remote: &Remote, folder: &Path) -> Result<(Repository, ObjectId), Error> {
    let repository = prepared(folder)?;
    let wanted = format!("+{}:{KEPT}", remote.reference);
    let quiet = ["-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "fetch.fsckObjects=true"];
    let mut git = Git::in_repository(&repository);
    for option in quiet {
        git = git.before_verb(option);
    }
    let fetching =
        ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", &remote.address];
    let git = git.args(fetching).args([wanted]);
    let answer = git.allow_protocols(PROTOCOLS).timeout(TIMEOUT).run()?;
    if answer.status != 0 {
        let message = answer.stderr.trim().replace('\n', "; ");
        return Err(Error::FetchFailed { url: remote.address.clone(), message });
    }
    let commit = resolve(&repository, KEPT)?;
    Ok((repository, commit))
}

/// A bare repository of our own, as it was made here before or new and empty.
fn prepared(folder: &Path) -> Result<Repository, Error> {
    let failed = |source| Error::MakeFolder { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    let folder = fs::canonicalize(folder).map_err(failed)?;
    if !folder.join("HEAD").is_file() {
        // Without a template there are no hooks, not even samples.
        let making = ["init", "--quiet", "--bare", "--template=", "."];
        Git::in_directory(&folder).args(making).run()?.succeeded()?;
    }
    Ok(Repository::bare(folder))
}

impl Repository {
    /// A bare repository of our own, which need not be found.
    pub fn bare(folder: PathBuf) -> Self {
        Self {
            common_dir: folder.clone(),
            git_dir: folder,
            kind: Kind::Bare,
            checkout: None,
            main_checkout: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_run_programs_or_can_be_tampered_with_are_refused() {
        for address in
            ["", "-u", "--upload-pack=sh", "ext::sh -c x", "fd::3", "http://a/b", "git://a/b", "a\nb"]
        {
            assert!(matches!(Remote::new(address, None), Err(Error::RemoteName { .. })), "{address:?}");
        }
        for address in
            ["https://example.org/a.git", "ssh://git@example.org/a", "git@example.org:a", "../a", "/a b"]
        {
            assert!(Remote::new(address, None).is_ok(), "{address:?}");
        }
    }

    #[test]
    fn a_reference_names_one_thing() {
        for reference in ["", "-x", "+main", "a:b", "refs/heads/*", "a..b", "a^", "a b"] {
            let made = Remote::new("/a", Some(reference));
            assert!(matches!(made, Err(Error::ReferenceName { .. })), "{reference:?}");
        }
        for reference in ["main", "v1.2.0", "refs/heads/feature/a-b_c", "HEAD"] {
            assert!(Remote::new("/a", Some(reference)).is_ok(), "{reference:?}");
        }
    }
}
