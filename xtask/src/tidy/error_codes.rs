//! An error code in the product has a page for the user, and a page has a code that can still appear.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::lexer;
use super::repo::Repo;

const PAGES: &str = "docs/errors/";
const SECTIONS: [&str; 2] = ["## What happened", "## What to do"];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let used = used(repo);
    let mut findings = Vec::new();
    for (code, (path, line)) in &used {
        let page = format!("{PAGES}{code}.md");
        if !repo.files().contains_key(&page) {
            let message = format!("`{code}` has no page; write `{page}`");
            findings.push(Finding::new(*path, *line, message));
        }
    }
    for (name, text) in repo.below(PAGES) {
        let path = format!("{PAGES}{name}");
        let Some(code) = name.strip_suffix(".md").filter(|stem| is_code(stem)) else {
            let message = "is not named after a code; rename it to `E<four digits>.md` or move it";
            findings.push(Finding::new(path, 1, message));
            continue;
        };
        if !used.contains_key(code) {
            let message = format!("no source mentions `{code}`; use the code or remove the page");
            findings.push(Finding::new(&path, 1, message));
        }
        findings.extend(shape(code, text).into_iter().map(|message| Finding::new(&path, 1, message)));
    }
    findings
}

/// Every code in a string of the product, with its first place.
fn used(repo: &Repo) -> BTreeMap<String, (&str, usize)> {
    let mut used = BTreeMap::new();
    let sources = repo.rust().iter().filter(|file| file.path().starts_with("crates/"));
    for file in sources.filter(|file| file.path().split('/').nth(2) == Some("src")) {
        for (number, line) in file.product_lines() {
            for code in codes(&line.string) {
                used.entry(code.to_owned()).or_insert((file.path(), number));
            }
        }
    }
    used
}

fn codes(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character| !lexer::is_word(character)).filter(|word| is_code(word))
}

fn is_code(word: &str) -> bool {
    let digits = word.strip_prefix('E');
    digits.is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What a page lacks.
fn shape(code: &str, text: &str) -> Vec<String> {
    let mut lacks = Vec::new();
    let title = text.lines().next().and_then(|line| line.strip_prefix(&format!("# {code}: ")));
    if title.is_none_or(|title| title.trim().is_empty()) {
        lacks.push(format!("does not start with `# {code}: title`; add that line"));
    }
    for section in SECTIONS {
        if !text.lines().any(|line| line.trim_end() == section) {
            lacks.push(format!("has no section `{section}`; add it"));
        }
    }
    lacks
}

#[cfg(test)]
mod tests {
    use super::super::finding::shown;
    use super::*;

    const PAGE: &str = "# E0101: the log is locked\n\n## What happened\n\nA.\n\n## What to do\n\nB.\n";
    const SOURCE: (&str, &str) = (
        "crates/store/src/lib.rs",
        "//! See \"E0999\".\nconst CODE: &str = \"E0101\";\n#[cfg(test)]\nmod tests {\n    const A: &str = \"E0888\";\n}\n",
    );

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        shown(&check(&Repo::of(files)))
    }

    #[test]
    fn a_code_with_a_whole_page_passes() {
        assert_eq!(findings(&[SOURCE, ("docs/errors/E0101.md", PAGE)]), [""; 0]);
    }

    #[test]
    fn a_code_without_a_page_is_a_finding() {
        assert_eq!(
            findings(&[SOURCE]),
            ["crates/store/src/lib.rs:2: `E0101` has no page; write `docs/errors/E0101.md`"]
        );
    }

    #[test]
    fn a_page_without_a_code_is_a_finding() {
        assert_eq!(
            findings(&[("docs/errors/E0101.md", PAGE)]),
            ["docs/errors/E0101.md:1: no source mentions `E0101`; use the code or remove the page"]
        );
    }

    #[test]
    fn a_page_of_another_shape_is_told_what_it_lacks() {
        assert_eq!(
            findings(&[SOURCE, ("docs/errors/E0101.md", "# E0102: wrong\n\n## What happened\n")]),
            [
                "docs/errors/E0101.md:1: does not start with `# E0101: title`; add that line",
                "docs/errors/E0101.md:1: has no section `## What to do`; add it",
            ]
        );
    }

    #[test]
    fn a_page_with_another_name_is_a_finding() {
        assert_eq!(
            findings(&[("docs/errors/locked.md", PAGE)]),
            [
                "docs/errors/locked.md:1: is not named after a code; rename it to `E<four digits>.md` or move it"
            ]
        );
    }

    #[test]
    fn a_code_is_a_word_of_its_own() {
        assert_eq!(codes("[E0101] E01012 XE0101 E010 see `E0102`.").collect::<Vec<_>>(), ["E0101", "E0102"]);
    }
}
