//! The commit that is delivered: by whom, in which words, signed or not.

use std::time::Duration;

use super::Snapshots;
use crate::base::{checked_name, of_user};
use crate::command::Git;
use crate::{Error, ObjectId, Repository};

/// A passphrase may have to be typed somewhere else.
const SIGNING_TIMEOUT: Duration = Duration::from_mins(2);

/// What of the user's own configuration says how to sign. Programs among it are the user's own choice; none of it is
/// taken from a repository.
const SIGNING_KEYS: [&str; 7] = [
    "gpg.format",
    "gpg.program",
    "gpg.openpgp.program",
    "gpg.x509.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand",
    "user.signingKey",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    pub name: String,
    pub email: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signing {
    Signed,
    Unsigned,
}

/// A commit to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewCommit<'a> {
    pub tree: &'a ObjectId,
    pub parent: &'a ObjectId,
    pub message: &'a str,
    pub author: &'a Author,
    /// Seconds since 1970, so that the same commit made again is the same.
    pub at_s: i64,
    pub signing: Signing,
}

/// Who git takes the user for in a repository; `None` if nobody has said.
pub fn user_identity(main: &Repository) -> Result<Option<Author>, Error> {
    let (name, email) = (setting_of(main, "user.name")?, setting_of(main, "user.email")?);
    Ok(name.zip(email).map(|(name, email)| Author { name, email }))
}

/// Whether commits in a repository are to be signed.
pub fn wants_signature(main: &Repository) -> Result<Signing, Error> {
    let asking = ["config", "--type=bool", "--get", "commit.gpgSign"];
    let answer = Git::in_repository(main).args(asking).run()?;
    match answer.status {
        0 if answer.stdout.starts_with(b"true") => Ok(Signing::Signed),
        0 | 1 => Ok(Signing::Unsigned),
        // What cannot be understood must not pass for a no.
        _ => Err(answer.failed()),
    }
}

fn setting_of(main: &Repository, key: &str) -> Result<Option<String>, Error> {
    let answer = Git::in_repository(main).args(["config", "--get", key]).run()?;
    if answer.status != 0 {
        return Ok(None);
    }
    Ok(Some(answer.line()?).filter(|value| !value.trim().is_empty()))
}

impl Snapshots {
    /// Makes the commit, and keeps it for a session until another takes its place.
    pub fn commit_for(
        &self,
        session: &str,
        main: &Repository,
        new: &NewCommit<'_>,
    ) -> Result<ObjectId, Error> {
        let mut git = self.git();
        if new.signing == Signing::Signed {
            git = git.timeout(SIGNING_TIMEOUT);
            for (key, value) in signing_settings(main)? {
                git = git.setting(format!("{key}={value}"));
            }
        }
        let date = format!("@{} +0000", new.at_s);
        for role in ["AUTHOR", "COMMITTER"] {
            git = git
                .variable(&format!("GIT_{role}_NAME"), &new.author.name)
                .variable(&format!("GIT_{role}_EMAIL"), &new.author.email)
                .variable(&format!("GIT_{role}_DATE"), &date);
        }
        let signing = match new.signing {
            Signing::Signed => "-S",
            Signing::Unsigned => "--no-gpg-sign",
        };
        let making = ["commit-tree", signing, "-p", new.parent.as_str(), "-F", "-", new.tree.as_str()];
        let answer = git.args(making).stdin(new.message.as_bytes().to_vec()).run()?;
        let commit = match (answer.status, new.signing) {
            (0, _) => answer.object_id()?,
            (_, Signing::Signed) => {
                return Err(Error::SigningFailed { message: answer.stderr.trim().replace('\n', "; ") });
            }
            (_, Signing::Unsigned) => return Err(answer.failed()),
        };
        let keeping = ["update-ref", &kept_ref(session)?, commit.as_str()];
        self.git().args(keeping).run()?.succeeded()?;
        Ok(commit)
    }

    /// A commit that nobody sees, for comparing.
    pub(super) fn bare_commit(&self, tree: &ObjectId, parent: &ObjectId) -> Result<ObjectId, Error> {
        let mut git = self.git();
        for role in ["AUTHOR", "COMMITTER"] {
            git = git
                .variable(&format!("GIT_{role}_NAME"), "Longhaul")
                .variable(&format!("GIT_{role}_EMAIL"), "longhaul@localhost")
                .variable(&format!("GIT_{role}_DATE"), "@0 +0000");
        }
        let making = ["commit-tree", "-p", parent.as_str(), "-m", "-", tree.as_str()];
        git.args(making).run()?.object_id()
    }
}

/// The ref of our own repository that keeps what a session delivers.
pub(super) fn kept_ref(session: &str) -> Result<String, Error> {
    Ok(format!("refs/delivered/{}", checked_name(session)?))
}

fn signing_settings(main: &Repository) -> Result<Vec<(&'static str, String)>, Error> {
    let mut settings = Vec::new();
    for key in SIGNING_KEYS {
        if let Some(value) = of_user(key)?.pop() {
            settings.push((key, value));
        }
    }
    // Which key is a word, not a program: a repository may well have its own.
    if let Some(key) = setting_of(main, "user.signingKey")? {
        settings.push(("user.signingKey", key));
    }
    Ok(settings)
}
