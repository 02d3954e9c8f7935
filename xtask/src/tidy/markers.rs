//! Marks of unfinished work, tests that do not run, waits that hide a race, and lints silenced for ever.
//!
//! A line may keep its mark if it says why: `// tidy: <reason>`. Silencing a lint has its own form for that.

use super::finding::Finding;
use super::lexer::{self, Line};
use super::repo::Repo;
use super::rust_file::RustFile;

/// A mark, where it is looked for, and what to do about it.
struct Mark {
    text: &'static str,
    place: Place,
    excuse: Excuse,
    remedy: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Code,
    TestCode,
    Comment,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Excuse {
    WithReason,
    Never,
}

const MARKS: &[Mark] = &[
    code("todo!", "finish it, or return an error that says what is not supported"),
    code("unimplemented!", "finish it, or return an error that says what is not supported"),
    code("#[ignore", "make the test run at both levels, or remove it"),
    Mark { place: Place::Comment, ..code("FIXME", "fix it, or file an issue and say what holds today") },
    Mark { place: Place::Comment, ..code("XXX", "fix it, or file an issue and say what holds today") },
    Mark { place: Place::TestCode, ..code("thread::sleep", "wait for what the test needs, not for time") },
    Mark { excuse: Excuse::Never, ..code("#[allow(", "use `#[expect(…, reason = \"…\")]`") },
    Mark { excuse: Excuse::Never, ..code("#![allow(", "use `#![expect(…, reason = \"…\")]`") },
];

const fn code(text: &'static str, remedy: &'static str) -> Mark {
    Mark { text, place: Place::Code, excuse: Excuse::WithReason, remedy }
}

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    repo.rust().iter().flat_map(check_file).collect()
}

fn check_file(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in file.numbered() {
        for mark in MARKS.iter().filter(|mark| mark.is_on(line)) {
            let elsewhere = mark.place == Place::TestCode && !file.is_test(number);
            let excused = mark.excuse == Excuse::WithReason && file.is_excused(number);
            if !elsewhere && !excused {
                findings.push(Finding::new(
                    file.path(),
                    number,
                    format!("`{}`: {}", mark.text, mark.advice()),
                ));
            }
        }
    }
    findings
}

impl Mark {
    fn is_on(&self, line: &Line) -> bool {
        let text = match self.place {
            Place::Code | Place::TestCode => &line.code,
            Place::Comment => &line.comment,
        };
        lexer::has_word(text, self.text)
    }

    fn advice(&self) -> String {
        match self.excuse {
            Excuse::WithReason => format!("{}, or say why in `// tidy: <reason>`", self.remedy),
            Excuse::Never => self.remedy.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::shown;
    use super::*;

    fn findings(source: &str) -> Vec<String> {
        shown(&check(&Repo::of(&[("crates/core/src/lib.rs", source)])))
    }

    #[test]
    fn every_mark_is_seen_and_excused_only_where_it_may_be() {
        for mark in MARKS {
            let line = match mark.place {
                Place::Code => mark.text.to_owned(),
                Place::TestCode => format!("#[test] fn a() {{ {}(x) }}", mark.text),
                Place::Comment => format!("a(); // {}", mark.text),
            };
            let found = findings(&line);
            assert_eq!(found.len(), 1, "{line}: {found:?}");
            assert!(
                found[0].starts_with(&format!("crates/core/src/lib.rs:1: `{}`: ", mark.text)),
                "{found:?}"
            );

            let still_found = findings(&format!("// tidy: a reason\n{line}")).len();
            let wanted = usize::from(mark.excuse == Excuse::Never);
            assert_eq!(still_found, wanted, "{line}");
        }
    }

    #[test]
    fn the_finding_says_what_to_do() {
        assert_eq!(
            findings("fn a() { todo!() }\n"),
            [
                "crates/core/src/lib.rs:1: `todo!`: finish it, or return an error that says what is not supported, \
              or say why in `// tidy: <reason>`"
            ]
        );
    }

    #[test]
    fn strings_other_words_and_waits_in_the_product_pass() {
        assert_eq!(findings("const A: &str = \"todo!() #[allow(x)]\"; // method_todo!\n"), [""; 0]);
        assert_eq!(findings("fn a() { std::thread::sleep(x) }\n"), [""; 0]);
    }
}
