//! Commits on their way out: fetched bases, pushed branches. No hook of either side runs that is not the server's own.

use std::path::Path;

use super::commit::kept_ref;
use super::{PROTOCOLS, Snapshots, TIMEOUT};
use crate::base::{checked_name, own_settings, remote};
use crate::command::Git;
use crate::fetch::Remote;
use crate::{Error, ObjectId, Repository, resolve};

/// A repository on this machine has the hooks of whoever made it; those are not a server's.
const LOCAL_RECEIVER: &str = "git -c core.hooksPath=/dev/null -c core.fsmonitor=false receive-pack";

/// A branch to be moved elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct Push<'a> {
    pub address: &'a str,
    pub commit: &'a ObjectId,
    /// Without `refs/heads/`.
    pub branch: &'a str,
    /// What it must be at; `None` if it must not be there.
    pub expected: Option<&'a ObjectId>,
}

/// The address of the remote that people mean, if there is one.
pub fn remote_address(main: &Repository) -> Result<Option<String>, Error> {
    let Some(name) = remote(main)? else { return Ok(None) };
    let address = Git::in_repository(main).args(["ls-remote", "--get-url", &name]).run()?.line()?;
    Ok(Some(from_the_top(address, main)))
}

/// A path is meant from the top of the checkout, whoever asks from wherever.
fn from_the_top(address: String, main: &Repository) -> String {
    let path = Path::new(&address);
    let is_url = address.contains("://");
    // `host:path` is another machine, unless a slash stands before it.
    let is_host = address.find(':').is_some_and(|at| !address[..at].contains('/'));
    if is_url || is_host || path.is_absolute() {
        return address;
    }
    let top = main.main_checkout.as_ref().or(main.checkout.as_ref()).unwrap_or(&main.common_dir);
    top.join(path).to_string_lossy().into_owned()
}

/// Puts a branch of ours into a person's repository, if it is still at what was last seen of it.
pub fn put_branch(
    snapshots: &Snapshots,
    main: &Repository,
    session: &str,
    wanted: &Push<'_>,
) -> Result<(), Error> {
    let Push { commit, branch, expected, .. } = *wanted;
    check_branch(branch)?;
    let source = format!("{}:refs/longhaul/{}-delivered", kept_ref(session)?, checked_name(session)?);
    let fetching = [
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-prune",
        "--no-write-fetch-head",
        "--no-auto-maintenance",
        "--no-recurse-submodules",
        "--refmap=",
        "--upload-pack=git-upload-pack",
        "--",
    ];
    let mut git = Git::in_repository(main);
    for setting in own_settings()? {
        git = git.setting(setting);
    }
    let from = snapshots.folder().as_os_str().to_owned();
    let git = git.args(fetching).args([from]).args([format!("+{source}")]);
    git.allow_protocols("file").timeout(TIMEOUT).run()?.succeeded()?;
    let zeros = "0".repeat(commit.as_str().len());
    let name = format!("refs/heads/{branch}");
    let moving = ["update-ref", &name, commit.as_str(), expected.map_or(&*zeros, ObjectId::as_str)];
    Git::in_repository(main).args(moving).run()?.succeeded().map(drop)
}

impl Snapshots {
    /// Where the newest commit of a branch elsewhere is, brought here with all that leads to it.
    pub fn bring_branch(&self, session: &str, address: &str, branch: &str) -> Result<ObjectId, Error> {
        check_branch(branch)?;
        check_address(address)?;
        let kept = format!("refs/delivered/{}-base", checked_name(session)?);
        let fetching = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-prune",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
            "--upload-pack=git-upload-pack",
            "--",
            address,
        ];
        let git = self.outward()?.args(fetching).args([format!("+refs/heads/{branch}:{kept}")]);
        let answer = git.allow_protocols(PROTOCOLS).timeout(TIMEOUT).run()?;
        if answer.status != 0 {
            let message = answer.stderr.trim().replace('\n', "; ");
            return Err(Error::FetchFailed { url: address.to_owned(), message });
        }
        resolve(&self.repository_of_snapshots(), &kept)
    }

    /// Moves a branch elsewhere, if it is still at what was last seen of it.
    pub fn push(&self, wanted: &Push<'_>) -> Result<(), Error> {
        let Push { address, commit, branch, expected } = *wanted;
        check_branch(branch)?;
        check_address(address)?;
        let name = format!("refs/heads/{branch}");
        let lease = format!("--force-with-lease={name}:{}", expected.map_or("", ObjectId::as_str));
        let pushing = ["push", "--quiet", "--no-verify", "--no-signed", "--no-follow-tags", "--atomic"];
        let receiver = if Path::new(address).is_dir() { LOCAL_RECEIVER } else { "git-receive-pack" };
        let git = self.outward()?.args(pushing).args(["--recurse-submodules=no", &lease]);
        let git = git.args([format!("--receive-pack={receiver}")]);
        let git = git.args(["--", address]).args([format!("{commit}:{name}")]);
        let answer = git.allow_protocols(PROTOCOLS).timeout(TIMEOUT).run()?;
        if answer.status == 0 {
            return Ok(());
        }
        let message = answer.stderr.trim().replace('\n', "; ");
        Err(Error::PushFailed { url: address.to_owned(), branch: branch.to_owned(), message })
    }

    fn outward(&self) -> Result<Git, Error> {
        let mut git = self.git();
        for setting in own_settings()? {
            git = git.setting(setting);
        }
        Ok(git)
    }
}

fn check_address(address: &str) -> Result<(), Error> {
    if address.contains("::") || address.starts_with('-') {
        Remote::new(address, None)?;
    }
    Ok(())
}

/// A branch may be a person's choice; it must not be an option, a pattern or a second name.
pub(crate) fn check_branch(branch: &str) -> Result<(), Error> {
    let plain = |letter: char| letter.is_alphanumeric() || "/-_.@+#".contains(letter);
    let fits = !branch.is_empty()
        && !branch.starts_with(['-', '/', '.'])
        && !branch.ends_with(['/', '.'])
        && !branch.contains("..")
        && !branch.contains("//")
        && !branch.contains("@{")
        && branch.rsplit_once('.').is_none_or(|(_, end)| end != "lock")
        && branch.chars().all(plain);
    if fits { Ok(()) } else { Err(Error::ReferenceName { reference: branch.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_meant_from_the_top_of_the_main_checkout() {
        let main = Repository {
            common_dir: "/srv/a/.git".into(),
            git_dir: "/srv/a/.git".into(),
            kind: crate::Kind::MainCheckout,
            checkout: Some("/srv/a".into()),
            main_checkout: Some("/srv/a".into()),
        };
        for (address, expected) in [
            ("../forge.git", "/srv/a/../forge.git"),
            ("forge.git", "/srv/a/forge.git"),
            ("/srv/forge.git", "/srv/forge.git"),
            ("file:///srv/forge.git", "file:///srv/forge.git"),
            ("git@host:a/b.git", "git@host:a/b.git"),
        ] {
            assert_eq!(from_the_top(address.to_owned(), &main), expected);
        }
    }
}
