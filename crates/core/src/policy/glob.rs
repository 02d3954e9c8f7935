//! Patterns of paths: `*` and `?` stay inside one part, `**` crosses parts, a folder stands for all below it.

mod overlap;

pub use overlap::{Shape, overlaps};

/// Whether a pattern names a path. Both are relative to the root of the repository, with `/` between the parts.
pub fn fits(pattern: &str, path: &str) -> bool {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let folder = pattern.trim_end_matches('/');
    let parts = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
    let (wanted, had) = (parts(folder), parts(path));
    fits_parts(&wanted, &had)
}

/// Whether it bounds nothing: without a letter or a digit, what it says is that there are names.
pub fn is_everything(pattern: &str) -> bool {
    !pattern.contains(char::is_alphanumeric)
}

/// A pattern that is used up names the folder that it led to, and so all below it.
fn fits_parts(wanted: &[String], had: &[String]) -> bool {
    let mut reached = vec![false; had.len() + 1];
    reached[0] = true;
    for (position, part) in wanted.iter().enumerate() {
        let last = position + 1 == wanted.len();
        let mut next = vec![false; had.len() + 1];
        for at in (0..=had.len()).filter(|at| reached[*at]) {
            if part == "**" {
                // At the end it stands for what lies below, not for the folder itself.
                let from = if last { at + 1 } else { at };
                next.iter_mut().skip(from).for_each(|spot| *spot = true);
            } else if had.get(at).is_some_and(|name| fits_name(part, name)) {
                next[at + 1] = true;
            }
        }
        reached = next;
    }
    reached.iter().any(|spot| *spot)
}

fn fits_name(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for letter in pattern {
        let mut next = vec![false; name.len() + 1];
        for at in (0..=name.len()).filter(|at| reached[*at]) {
            match letter {
                '*' => next.iter_mut().skip(at).for_each(|spot| *spot = true),
                '?' if at < name.len() => next[at + 1] = true,
                literal if name.get(at) == Some(&literal) => next[at + 1] = true,
                _ => {}
            }
        }
        reached = next;
    }
    reached[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_what_its_parts_say() {
        for (pattern, path) in [
            ("src/login.rs", "src/login.rs"),
            ("./src/login.rs", "src/login.rs"),
            ("src", "src/login.rs"),
            ("src/", "src/deep/login.rs"),
            ("src/**", "src/deep/login.rs"),
            ("src/*.rs", "src/login.rs"),
            ("**/*.sql", "db/0001.sql"),
            ("**/*.sql", "0001.sql"),
            ("**/migrations/**", "app/db/migrations/0001.py"),
            ("docs/**/part-?.md", "docs/a/b/part-1.md"),
            ("*", "README.md"),
            ("crates/*/src", "crates/core/src/lib.rs"),
        ] {
            assert!(fits(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("src/*.rs", "src/deep/login.rs"),
            ("src/**", "srcs/login.rs"),
            ("src/**", "src"),
            ("login.rs", "src/login.rs"),
            ("src/login", "src/login.rs"),
            ("", "src/login.rs"),
            ("part-?", "part-"),
        ] {
            assert!(!fits(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_that_bounds_nothing_is_seen() {
        let everything = ["**", "*", ".", "./**", "**/*", "/", "", "?*", "**/?*", "**/*.*", "*/../**"];
        assert!(everything.iter().all(|pattern| is_everything(pattern)));
        assert!(!["src/**", "*.md", "**/*.rs"].iter().any(|pattern| is_everything(pattern)));
    }
}
