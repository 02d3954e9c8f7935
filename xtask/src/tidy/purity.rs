//! `core` and `events` are pure: what they compute depends on their arguments alone.
//!
//! The `clippy.toml` of each of these crates bans the same by resolved path, tests included; this check also
//! covers whole modules, which clippy cannot ban. Tests may read files.

use std::collections::BTreeSet;

use syn::visit::Visit;
use syn::{ItemUse, UseTree};

use super::finding::Finding;
use super::lexer;
use super::repo::Repo;
use super::rust_file::RustFile;

const PURE: &[&str] = &["crates/core/src/", "crates/events/src/"];

/// What is banned, and what to do instead.
const BANS: &[(&str, &str)] = &[
    ("std::fs", "loading is the shell's; take the text as an argument"),
    ("std::net", "talking is the shell's; return an effect"),
    ("std::process", "running is the shell's; return an effect"),
    ("std::thread", "waiting and running are the shell's; return an effect"),
    ("std::env", "the environment is the shell's; take the value as an argument"),
    ("SystemTime::now", "time arrives inside the command"),
    ("Instant::now", "time arrives inside the command"),
    ("getrandom", "randomness arrives inside the command"),
    ("rand", "randomness arrives inside the command"),
    ("tokio", "nothing here waits; return an effect"),
    ("HashMap", "its order differs from run to run; use `BTreeMap` or `indexmap`"),
    ("HashSet", "its order differs from run to run; use `BTreeSet` or `indexmap`"),
];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let files = repo.rust().iter();
    let pure = files.filter(|file| PURE.iter().any(|folder| file.path().starts_with(folder)));
    pure.flat_map(check_file).collect()
}

fn check_file(file: &RustFile) -> Vec<Finding> {
    let imported = imports(file);
    let mut findings = Vec::new();
    for &(banned, remedy) in BANS {
        let written =
            file.product_lines().filter(|(_, line)| is_used(&line.code, banned)).map(|(number, _)| number);
        let brought_in = imported.iter().filter(|(path, _)| is_used(path, banned)).map(|&(_, number)| number);
        // `use std::fs;` is seen in both ways.
        let lines: BTreeSet<usize> = written.chain(brought_in).collect();
        findings.extend(lines.into_iter().map(|line| {
            Finding::new(file.path(), line, format!("`{banned}` in a crate that must stay pure; {remedy}"))
        }));
    }
    findings
}

/// A bare lower-case name is a crate, so it counts only where a path begins with it.
fn is_used(code: &str, banned: &str) -> bool {
    let is_crate = !banned.contains("::") && banned.starts_with(char::is_lowercase);
    if is_crate { lexer::has_word(code, &format!("{banned}::")) } else { lexer::has_word(code, banned) }
}

/// Every path that a `use` brings in, written out, with its line: `use std::{fs, io}` hides the first.
fn imports(file: &RustFile) -> Vec<(String, usize)> {
    let mut uses = Uses::default();
    if let Ok(syntax) = file.syntax() {
        uses.visit_file(syntax);
    }
    uses.paths.retain(|&(_, line)| !file.is_test(line));
    uses.paths
}

#[derive(Default)]
struct Uses {
    paths: Vec<(String, usize)>,
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.walk(&item.tree, String::new());
    }
}

impl Uses {
    fn walk(&mut self, tree: &UseTree, prefix: String) {
        match tree {
            UseTree::Path(path) => self.walk(&path.tree, format!("{prefix}{}::", path.ident)),
            UseTree::Name(name) => self.add(&prefix, &name.ident),
            UseTree::Rename(rename) => self.add(&prefix, &rename.ident),
            UseTree::Glob(glob) => self.paths.push((prefix, glob.star_token.spans[0].start().line)),
            UseTree::Group(group) => {
                for item in &group.items {
                    self.walk(item, prefix.clone());
                }
            }
        }
    }

    fn add(&mut self, prefix: &str, ident: &syn::Ident) {
        // The trailing `::` lets a crate that is imported as a whole be seen.
        self.paths.push((format!("{prefix}{ident}::"), ident.span().start().line));
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::shown;
    use super::*;

    fn findings(path: &str, source: &str) -> Vec<String> {
        shown(&check(&Repo::of(&[(path, source)])))
    }

    fn banned_lines(source: &str) -> Vec<(String, usize)> {
        let found = findings("crates/core/src/lib.rs", source);
        let parts = found.iter().map(|finding| {
            let line = finding.split(':').nth(1).expect("path:line: message");
            let name = finding.split('`').nth(1).expect("the name is in backticks");
            (name.to_owned(), line.parse().expect("a line number"))
        });
        parts.collect()
    }

    #[test]
    fn every_ban_is_seen() {
        for (banned, _) in BANS {
            let source = format!("fn f() {{\n    {banned}::x();\n}}\n");
            assert_eq!(banned_lines(&source), [((*banned).to_owned(), 2)], "{banned}");
        }
    }

    #[test]
    fn a_grouped_or_renamed_import_is_seen() {
        let source =
            "use std::{\n    fs,\n    collections::{BTreeMap, HashMap as Map},\n};\nuse std::thread::*;\n";
        let wanted = [("std::fs", 2), ("std::thread", 5), ("HashMap", 3)];
        assert_eq!(banned_lines(source), wanted.map(|(name, line)| (name.to_owned(), line)));
        assert_eq!(banned_lines("use getrandom;\n"), [("getrandom".to_owned(), 1)]);
    }

    #[test]
    fn the_finding_says_what_to_do() {
        assert_eq!(
            findings("crates/events/src/id.rs", "use std::collections::HashMap;\n"),
            [
                "crates/events/src/id.rs:1: `HashMap` in a crate that must stay pure; its order differs from run \
              to run; use `BTreeMap` or `indexmap`"
            ]
        );
    }

    #[test]
    fn other_crates_tests_comments_strings_and_lookalikes_pass() {
        assert_eq!(findings("crates/store/src/lib.rs", "use std::fs;\n"), [""; 0]);
        let source = "// HashMap\nconst A: &str = \"std::fs\";\nlet brand = operand + strand::x();\n\
                      #[cfg(test)]\nmod tests {\n    use std::fs;\n    use std::{env, fs};\n}\n";
        let parses = source.replace("let brand = operand + strand::x();", "fn brand() { strand::x() }");
        assert_eq!(banned_lines(&parses), []);
    }
}
