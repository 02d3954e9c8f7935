//! The commit that work starts from: fetched if there is a remote, else what is here.
//!
//! Fetching writes objects and one ref under `refs/longhaul/` to the repository and nothing else: no branch, no
//! remote-tracking branch, no tag moves. Helpers and commands that the repository configures do not run; those of
//! the user's own configuration do, or nobody could fetch from a private server.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::command::Git;
use crate::fetch::Remote;
use crate::{Error, Head, ObjectId, Repository, head, resolve};

const TIMEOUT: Duration = Duration::from_mins(10);
/// Whatever the user chose for their own remote, but nothing that runs a program of the address's choosing.
const PROTOCOLS: &str = "file:git:http:https:ssh";
const LIST_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Where to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// Without `refs/heads/`; `HEAD` if there is no branch.
    pub branch: String,
    pub commit: ObjectId,
    pub freshness: Freshness,
}

/// Whether the base is the newest that there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freshness {
    Fetched {
        remote: String,
    },
    NoRemote,
    /// The remote could not be asked; the base is what was last known of it.
    Stale {
        remote: String,
        because: String,
    },
}

/// The ref that keeps the base of a session alive in the repository that its checkout borrows from.
pub fn base_ref(session: &str) -> Result<String, Error> {
    Ok(format!("refs/longhaul/{}", checked_name(session)?))
}

/// Only what can be a part of a ref, a path and an argument alike.
pub(crate) fn checked_name(name: &str) -> Result<&str, Error> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    if name.is_empty() || name.starts_with('-') || !name.chars().all(plain) {
        return Err(Error::UnfitName { name: name.to_owned() });
    }
    Ok(name)
}

/// Finds the base, fetches it, and keeps it alive for the session.
pub fn secure_base(main: &Repository, session: &str, wanted: Option<&str>) -> Result<Base, Error> {
    let kept = base_ref(session)?;
    let remote = remote(main)?;
    let branch = match wanted {
        Some(branch) => branch.to_owned(),
        None => default_branch(main, remote.as_deref())?,
    };
    let base = match remote {
        None => Base { commit: local(main, &branch)?, branch, freshness: Freshness::NoRemote },
        Some(remote) => from_remote(main, &remote, branch, &kept)?,
    };
    let setting = ["update-ref", kept.as_str(), base.commit.as_str()];
    Git::in_repository(main).args(setting).run()?.succeeded()?;
    complete(main, &base.commit)?;
    Ok(base)
}

/// Whether there is a base to start from, as far as that is known without asking a remote.
pub fn base_may_be_there(main: &Repository, wanted: Option<&str>) -> Result<(), Error> {
    match (remote(main)?, wanted) {
        (Some(_), _) => Ok(()),
        (None, Some(branch)) => local(main, branch).map(drop),
        (None, None) => local(main, &default_branch(main, None)?).map(drop),
    }
}

/// What somebody has here that a base does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftHere {
    /// Below a branch, or below what is checked out.
    pub commits: u64,
    /// Changed or new in the checkout, and not committed.
    pub files: u64,
}

/// Counts what a session that starts from a base does not see of what is here: of a branch, else of what is checked out.
pub fn left_here(main: &Repository, base: &ObjectId, branch: Option<&str>) -> Result<LeftHere, Error> {
    let tip = branch.map_or_else(|| "HEAD".to_owned(), |branch| format!("refs/heads/{branch}"));
    let commits = match resolve(main, &tip) {
        Ok(tip) => {
            let counting = ["rev-list", "--count", &format!("{base}..{tip}")];
            Git::in_repository(main).args(counting).run()?.line()?.trim().parse().unwrap_or(0)
        }
        Err(_) => 0,
    };
    let Some(checkout) = main.checkout.as_ref().or(main.main_checkout.as_ref()) else {
        return Ok(LeftHere { commits, files: 0 });
    };
    let looking = ["status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all"];
    let git = Git::in_repository(main).directory(checkout).variable("GIT_WORK_TREE", checkout);
    let answer =
        git.variable("GIT_OPTIONAL_LOCKS", "0").args(looking).answer_limit_bytes(LIST_LIMIT_BYTES).run()?;
    let files = answer.succeeded()?.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()).count();
    Ok(LeftHere { commits, files: files as u64 })
}

/// Keeps a commit alive for a session that starts from exactly that one, as another did before.
pub fn secure_commit(main: &Repository, session: &str, branch: &str, commit: &str) -> Result<Base, Error> {
    let kept = base_ref(session)?;
    let commit = resolve(main, &format!("{commit}^{{commit}}"))?;
    let setting = ["update-ref", kept.as_str(), commit.as_str()];
    Git::in_repository(main).args(setting).run()?.succeeded()?;
    complete(main, &commit)?;
    Ok(Base { branch: branch.to_owned(), commit, freshness: Freshness::NoRemote })
}

/// The commit at which a head left a branch; without a branch the default one.
pub fn parting(main: &Repository, head: &ObjectId, branch: Option<&str>) -> Result<ObjectId, Error> {
    let remote = remote(main)?;
    let branch = match branch {
        Some(branch) => branch.to_owned(),
        None => default_branch(main, remote.as_deref())?,
    };
    let tracking = remote.map(|remote| format!("refs/remotes/{remote}/{branch}"));
    let tip = tracking.and_then(|name| resolve(main, &name).ok());
    let tip = tip.map_or_else(|| local(main, &branch), Ok)?;
    let asking = ["merge-base", head.as_str(), tip.as_str()];
    Git::in_repository(main).args(asking).run()?.object_id()
}

fn from_remote(main: &Repository, remote: &str, branch: String, kept: &str) -> Result<Base, Error> {
    let source = if branch == "HEAD" { branch.clone() } else { format!("refs/heads/{branch}") };
    let fetched = fetch_into(main, remote, &[format!("+{source}:{kept}")]);
    let remote = remote.to_owned();
    match fetched {
        Ok(()) => Ok(Base { branch, commit: resolve(main, kept)?, freshness: Freshness::Fetched { remote } }),
        Err(because) => {
            let tracking = format!("refs/remotes/{remote}/{branch}");
            let commit = resolve(main, &tracking).or_else(|_| local(main, &branch))?;
            let because = because.to_string();
            Ok(Base { branch, commit, freshness: Freshness::Stale { remote, because } })
        }
    }
}

fn local(main: &Repository, branch: &str) -> Result<ObjectId, Error> {
    if branch == "HEAD" {
        return resolve(main, branch);
    }
    resolve(main, &format!("refs/heads/{branch}")).or_else(|_| resolve(main, branch))
}

/// The remote that people mean: `origin`, or the only one.
pub(crate) fn remote(main: &Repository) -> Result<Option<String>, Error> {
    let listed = Git::in_repository(main).args(["remote"]).run()?.line()?;
    let mut names: Vec<&str> = listed.lines().collect();
    if names.contains(&"origin") {
        return Ok(Some("origin".to_owned()));
    }
    let only = names.pop().filter(|_| names.is_empty());
    Ok(only.filter(|name| !name.starts_with('-')).map(str::to_owned))
}

fn default_branch(main: &Repository, remote: Option<&str>) -> Result<String, Error> {
    if let Some(remote) = remote {
        let pointer = format!("refs/remotes/{remote}/HEAD");
        let answer = Git::in_repository(main).args(["symbolic-ref", "--quiet", &pointer]).run()?;
        let prefix = format!("refs/remotes/{remote}/");
        if answer.status == 0
            && let Some(name) = answer.line()?.strip_prefix(&prefix)
        {
            return Ok(name.to_owned());
        }
    }
    for usual in ["main", "master"] {
        if resolve(main, &format!("refs/heads/{usual}")).is_ok() {
            return Ok(usual.to_owned());
        }
    }
    Ok(match head(main)? {
        Head::Branch { name, .. } => name,
        Head::Unborn { .. } | Head::Detached { .. } => "HEAD".to_owned(),
    })
}

/// Fetches refs or bare ids from a remote of the repository.
fn fetch_into(main: &Repository, remote: &str, wanted: &[String]) -> Result<(), Error> {
    let address = Git::in_repository(main).args(["ls-remote", "--get-url", remote]).run()?.line()?;
    // Its rules hold for any address; only the transports differ.
    if address.contains("::") || address.starts_with('-') {
        Remote::new(&address, None)?;
    }
    let mut git = Git::in_repository(main);
    for setting in own_settings()? {
        git = git.setting(setting);
    }
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
        remote,
    ];
    let answer = git.args(fetching).args(wanted).allow_protocols(PROTOCOLS).timeout(TIMEOUT).run()?;
    if answer.status == 0 {
        return Ok(());
    }
    let message = answer.stderr.trim().replace('\n', "; ");
    Err(Error::FetchFailed { url: address, message })
}

/// Takes what the repository itself configures out of the way and puts the user's own choices there.
pub(crate) fn own_settings() -> Result<Vec<String>, Error> {
    let mut settings: Vec<String> = [
        "core.askPass=",
        "core.alternateRefsCommand=:",
        "core.gitProxy=",
        "fetch.writeCommitGraph=false",
        "remote.origin.followRemoteHEAD=never",
        "credential.helper=",
    ]
    .map(str::to_owned)
    .into();
    for helper in of_user("credential.helper")? {
        settings.push(format!("credential.helper={helper}"));
    }
    let ssh = of_user("core.sshCommand")?.pop().unwrap_or_else(|| "ssh".to_owned());
    settings.push(format!("core.sshCommand={ssh}"));
    Ok(settings)
}

/// What the files of the machine and of the user say, and no repository.
pub(crate) fn of_user(key: &str) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for scope in ["--system", "--global"] {
        let answer = Git::new().args(["config", scope, "--get-all", key]).run()?;
        if answer.status == 0 {
            found.extend(answer.line()?.lines().map(str::to_owned));
        }
    }
    Ok(found)
}

/// Whether objects may be missing that a remote has promised.
pub(crate) fn is_partial(main: &Repository) -> Result<bool, Error> {
    let asking = ["config", "--name-only", "--get-regexp", r"^remote\..*\.promisor$"];
    Ok(Git::in_repository(main).args(asking).run()?.status == 0)
}

/// Fetches what a partial clone lacks of a commit's files. Trees may hide more, so it asks until nothing is missing.
fn complete(main: &Repository, commit: &ObjectId) -> Result<(), Error> {
    if !is_partial(main)? {
        return Ok(());
    }
    let mut before = BTreeSet::new();
    loop {
        let missing = missing(main, commit)?;
        if missing.is_empty() {
            return Ok(());
        }
        let promisor = remote(main)?.filter(|_| missing != before);
        let Some(remote) = promisor else {
            return Err(Error::ObjectMissing { path: commit.as_str().into() });
        };
        let ids: Vec<String> = missing.iter().cloned().collect();
        // An argument list has a limit, a fetch has none.
        for part in ids.chunks(5_000) {
            fetch_into(main, &remote, part)?;
        }
        before = missing;
    }
}

fn missing(main: &Repository, commit: &ObjectId) -> Result<BTreeSet<String>, Error> {
    let listing = ["rev-list", "--objects", "--no-walk", "--missing=print", commit.as_str()];
    let answer = Git::in_repository(main).args(listing).answer_limit_bytes(LIST_LIMIT_BYTES).timeout(TIMEOUT);
    let stdout = answer.run()?.succeeded()?;
    let lines = stdout.split(|byte| *byte == b'\n');
    let missing = lines.filter_map(|line| line.strip_prefix(b"?"));
    Ok(missing.map(|id| String::from_utf8_lossy(id).into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_named_by_what_can_stand_in_a_ref() {
        assert_eq!(base_ref("ses_01abc").unwrap(), "refs/longhaul/ses_01abc");
        for name in ["", "-x", "a/b", "..", "a.b", "a b", "a\nb", "é"] {
            assert!(matches!(base_ref(name), Err(Error::UnfitName { .. })), "{name:?}");
        }
    }
}
