//! Who may start processes: `clippy.toml` bans it for all, and only a few places may lift that ban.

use super::finding::Finding;
use super::repo::Repo;

/// Where the ban may be lifted, beside tests.
const STARTERS: [&str; 3] = ["crates/exec/src/", "crates/testkit/src/", "xtask/src/"];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        let path = file.path();
        if STARTERS.iter().any(|place| path.starts_with(place)) || path.contains("/tests/") {
            continue;
        }
        for (number, line) in (1..).zip(file.lines()) {
            if line.code.contains("clippy::disallowed_methods") {
                let message = "lifts a ban of `clippy.toml`; start processes through `longhaul-exec`";
                findings.push(Finding::new(path, number, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::finding::shown;
    use super::*;

    const LIFTED: &str = "//! A.\n#[expect(clippy::disallowed_methods, reason = \"x\")]\nfn a() {}\n";

    #[test]
    fn only_the_starters_and_tests_lift_the_ban() {
        let findings = |path: &str| shown(&check(&Repo::of(&[(path, LIFTED)]))).len();
        assert_eq!(findings("crates/exec/src/spawn.rs"), 0);
        assert_eq!(findings("crates/cli/tests/it/support.rs"), 0);
        assert_eq!(findings("crates/runtime/src/doctor.rs"), 1);
        assert_eq!(findings("crates/git/src/command.rs"), 1);
    }
}
