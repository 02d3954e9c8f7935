//! Which git is installed.

use std::fmt;
use std::path::PathBuf;

use crate::Error;
use crate::command::Git;

/// A version of git, without what a distributor adds to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

/// Asks the git on `PATH` for its version.
pub fn version() -> Result<Version, Error> {
    let answer = Git::new().args(["version"]).run()?;
    if answer.status != 0 {
        return Err(answer.failed());
    }
    match str::from_utf8(&answer.stdout).ok().and_then(parse) {
        Some(version) => Ok(version),
        None => Err(answer.unknown()),
    }
}

/// The git that is asked, as far as the `PATH` tells.
pub(crate) fn program() -> Option<PathBuf> {
    let places = std::env::var_os("PATH")?;
    std::env::split_paths(&places).map(|folder| folder.join("git")).find(|file| file.is_file())
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

fn parse(text: &str) -> Option<Version> {
    let numbers = text.strip_prefix("git version ")?.split_whitespace().next()?;
    let mut parts = numbers.split('.');
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next()?.parse().ok()?;
    // A candidate has no third number: `2.48.rc1`.
    let patch = parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
    Some(Version { major, minor, patch })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_distributors_and_candidates_are_understood() {
        let version = |major, minor, patch| Some(Version { major, minor, patch });
        assert_eq!(parse("git version 2.47.3\n"), version(2, 47, 3));
        assert_eq!(parse("git version 2.39.5 (Apple Git-154)\n"), version(2, 39, 5));
        assert_eq!(parse("git version 2.45.1.windows.1\n"), version(2, 45, 1));
        assert_eq!(parse("git version 2.48.rc1\n"), version(2, 48, 0));
        assert_eq!(parse("git version 2.51.0.384.g4c02a37b29\n"), version(2, 51, 0));
        assert_eq!(parse("hub version 2.14\n"), None);
    }

    #[test]
    fn a_later_version_is_greater() {
        assert!(parse("git version 2.9.9") < parse("git version 2.31.0"));
    }
}
