//! How modules lie on disk and begin: `foo.rs` beside `foo/`, and a `//!` that says what the module is.

use super::finding::Finding;
use super::repo::Repo;

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        if let Some(folder) = file.path().strip_suffix("/mod.rs") {
            let message = format!("`mod.rs` makes all tabs look alike; rename it to `{folder}.rs`");
            findings.push(Finding::new(file.path(), 1, message));
        }
        let first =
            file.lines().iter().find(|line| !(line.code.trim().is_empty() && line.comment.is_empty()));
        if !first.is_some_and(|line| line.code.is_empty() && line.comment.starts_with("//!")) {
            let message = "does not start with `//!`; say what the module is and what it must never do";
            findings.push(Finding::new(file.path(), 1, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::finding::shown;
    use super::*;

    fn findings(path: &str, source: &str) -> Vec<String> {
        shown(&check(&Repo::of(&[(path, source)])))
    }

    #[test]
    fn a_documented_module_passes() {
        assert_eq!(findings("crates/core/src/handle.rs", "//! Handles.\n\nfn a() {}\n"), [""; 0]);
    }

    #[test]
    fn a_mod_file_is_told_its_new_name() {
        assert_eq!(
            findings("crates/core/src/handle/mod.rs", "//! Handles.\n"),
            ["crates/core/src/handle/mod.rs:1: `mod.rs` makes all tabs look alike; rename it to \
              `crates/core/src/handle.rs`"]
        );
    }

    #[test]
    fn a_module_without_documentation_is_a_finding() {
        let wanted =
            ["crates/core/src/a.rs:1: does not start with `//!`; say what the module is and what it \
                       must never do"];
        for source in
            ["", "fn a() {}\n", "// Handles.\n", "#![no_std]\n//! Handles.\n", "/// Handles.\nfn a() {}\n"]
        {
            assert_eq!(findings("crates/core/src/a.rs", source), wanted, "{source:?}");
        }
    }
}
