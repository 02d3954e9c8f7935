//! Whether the workspace has documentation tests. `cargo test --doc` links every crate once more, which is
//! a waste while there are none.

use crate::tidy::Repo;

/// True if `cargo test --doc` would find something to run.
pub(crate) fn present(repo: &Repo) -> bool {
    let sources = repo.rust().iter().filter(|file| file.path().contains("/src/"));
    sources.into_iter().any(|file| runs_a_block(file.lines().iter().map(|line| line.comment.as_str())))
}

fn runs_a_block<'a>(comments: impl Iterator<Item = &'a str>) -> bool {
    let mut inside = false;
    for comment in comments {
        let Some(text) = doc_text(comment) else {
            inside = false;
            continue;
        };
        let Some(info) = text.strip_prefix("```") else { continue };
        if !inside && is_rust(info) {
            return true;
        }
        inside = !inside;
    }
    false
}

fn doc_text(comment: &str) -> Option<&str> {
    let comment = comment.trim();
    let text = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!"))?;
    Some(text.trim_start())
}

/// rustdoc runs a block unless one of its words names another language or says `ignore`.
fn is_rust(info: &str) -> bool {
    const RUST: [&str; 5] = ["rust", "should_panic", "no_run", "compile_fail", "test_harness"];
    let mut words = info.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    words.all(|word| RUST.contains(&word) || word.starts_with("edition"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn present_in(source: &str) -> bool {
        present(&Repo::of(&[("crates/core/src/lib.rs", source)]))
    }

    #[test]
    fn a_bare_fence_in_a_doc_comment_is_a_doctest() {
        assert!(present_in("//! Sample.\n//!\n//! ```\n//! assert!(true);\n//! ```\n"));
        assert!(present_in("/// ```rust,no_run\n/// run();\n/// ```\nfn run() {}\n"));
    }

    #[test]
    fn a_block_of_another_language_is_not() {
        assert!(!present_in("//! ```text\n//! a picture\n//! ```\n"));
        assert!(!present_in("//! ```rust,ignore\n//! a()\n//! ```\n"));
    }

    #[test]
    fn a_fence_outside_documentation_is_not() {
        assert!(!present_in("// ```\nconst FENCE: &str = \"/// ```\";\n"));
    }
}
