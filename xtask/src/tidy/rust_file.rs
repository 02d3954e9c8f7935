//! A Rust source file as the checks see it: lines in three views, and the parsed items.

use std::ops::RangeInclusive;

use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItemFn, Item, Meta, Token};

use super::lexer::{self, Line};

pub(crate) struct RustFile {
    path: String,
    lines: Vec<Line>,
    syntax: Result<syn::File, syn::Error>,
    test_lines: Vec<RangeInclusive<usize>>,
    role: Role,
}

/// Whether the whole file is tests. Tests inside a product file are known by line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Product,
    Tests,
}

impl RustFile {
    pub(crate) fn parse(path: &str, text: &str) -> Self {
        let syntax = syn::parse_file(text);
        let mut tests = TestLines::default();
        if let Ok(file) = &syntax {
            tests.visit_file(file);
        }
        // `crates/store/tests/kill.rs` is compiled for tests only.
        let role = if path.split('/').nth(2) == Some("tests") { Role::Tests } else { Role::Product };
        Self { path: path.to_owned(), lines: lexer::split(text), syntax, test_lines: tests.ranges, role }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Each line with its number, counted from 1.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (usize, &Line)> {
        (1..).zip(&self.lines)
    }

    /// Lines that end up in a product binary, with their numbers.
    pub(crate) fn product_lines(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.numbered().filter(|&(number, _)| !self.is_test(number))
    }

    pub(crate) fn syntax(&self) -> Result<&syn::File, &syn::Error> {
        self.syntax.as_ref()
    }

    /// Whether a line is compiled for tests only.
    pub(crate) fn is_test(&self, line: usize) -> bool {
        self.role == Role::Tests || self.test_lines.iter().any(|range| range.contains(&line))
    }

    /// Whether a line, or the one above it, says why a rule does not fit there: `// tidy: <reason>`.
    pub(crate) fn is_excused(&self, line: usize) -> bool {
        let own = self.lines.get(line - 1);
        let above = line.checked_sub(2).and_then(|index| self.lines.get(index));
        let alone = above.filter(|above| above.code.trim().is_empty());
        own.into_iter().chain(alone).any(|line| {
            let reason = line.comment.split_once("// tidy:").map(|(_, reason)| reason.trim());
            reason.is_some_and(|reason| !reason.is_empty())
        })
    }

    /// Path stems of the modules that `#[cfg(test)] mod name;` puts into files of their own.
    pub(crate) fn test_modules(&self) -> Vec<String> {
        let Ok(file) = &self.syntax else { return Vec::new() };
        let directory = self.child_directory();
        let declared = file.items.iter().filter_map(|item| match item {
            Item::Mod(module) if module.content.is_none() && is_for_tests(&module.attrs) => {
                Some(format!("{directory}/{}", module.ident))
            }
            _ => None,
        });
        declared.collect()
    }

    /// Marks the file as tests if it is one of these modules or lies below one.
    pub(crate) fn claim(&mut self, test_modules: &[String]) {
        let below = |stem: &String| {
            self.path.strip_prefix(stem.as_str()).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        if test_modules.iter().any(below) {
            self.role = Role::Tests;
        }
    }

    fn child_directory(&self) -> &str {
        let stem = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        let root = stem.strip_suffix("/lib").or_else(|| stem.strip_suffix("/main"));
        root.unwrap_or(stem)
    }
}

/// Finds the line ranges that are compiled for tests only.
#[derive(Default)]
struct TestLines {
    ranges: Vec<RangeInclusive<usize>>,
}

impl TestLines {
    fn add(&mut self, span: proc_macro2::Span) {
        self.ranges.push(span.start().line..=span.end().line);
    }
}

impl<'ast> Visit<'ast> for TestLines {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_for_tests(attributes(item)) {
            self.add(item.span());
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if is_for_tests(&function.attrs) {
            self.add(function.span());
        }
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// `#[cfg(test)]`, `#[cfg(all(test, …))]`, or any attribute that is called `test`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let called_test = attribute.path().segments.last().is_some_and(|last| last.ident == "test");
        called_test || (attribute.path().is_ident("cfg") && needs_test(&attribute.meta))
    })
}

/// `any(test, …)` and `not(test)` reach the product, so they are not looked into.
fn needs_test(meta: &Meta) -> bool {
    match meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") || list.path.is_ident("all") => {
            let nested = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            nested.is_ok_and(|nested| nested.iter().any(needs_test))
        }
        Meta::List(_) | Meta::NameValue(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_lines(text: &str) -> Vec<usize> {
        let file = RustFile::parse("crates/core/src/lib.rs", text);
        file.numbered().map(|(number, _)| number).filter(|&number| file.is_test(number)).collect()
    }

    const NONE: [usize; 0] = [];

    #[test]
    fn items_for_tests_are_known_by_line() {
        assert_eq!(test_lines("fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n"), [2, 3, 4, 5]);
        assert_eq!(test_lines("#[test]\nfn a() {}\nfn b() {}\n"), [1, 2]);
        assert_eq!(test_lines("#[cfg(all(unix, test))]\nfn a() {}\n"), [1, 2]);
        assert_eq!(test_lines("impl A {\n    #[cfg(test)]\n    fn b() {}\n}\n"), [2, 3]);
    }

    #[test]
    fn what_the_product_can_reach_is_not_for_tests() {
        assert_eq!(test_lines("#[cfg(any(test, unix))]\nfn a() {}\n"), NONE);
        assert_eq!(test_lines("#[cfg(not(test))]\nfn a() {}\n"), NONE);
        assert_eq!(test_lines("#[cfg(feature = \"test\")]\nfn a() {}\n"), NONE);
    }

    #[test]
    fn a_test_module_in_a_file_of_its_own_is_found_from_its_declaration() {
        let parent = RustFile::parse("crates/core/src/handle.rs", "#[cfg(test)]\nmod tests;\nmod mac;\n");
        assert_eq!(parent.test_modules(), ["crates/core/src/handle/tests"]);
        let root = RustFile::parse("crates/core/src/lib.rs", "#[cfg(test)]\nmod tests;\n");
        assert_eq!(root.test_modules(), ["crates/core/src/tests"]);

        for (path, expected) in [
            ("crates/core/src/handle/tests.rs", true),
            ("crates/core/src/handle/tests/forks.rs", true),
            ("crates/core/src/handle/mac.rs", false),
            ("crates/core/src/handle/tests_of_fire.rs", false),
        ] {
            let mut file = RustFile::parse(path, "fn a() {}\n");
            file.claim(&parent.test_modules());
            assert_eq!(file.is_test(1), expected, "{path}");
        }
    }

    #[test]
    fn an_excuse_needs_a_reason_and_stands_on_the_line_or_alone_above_it() {
        let text = "a!(); // tidy: because\n// tidy: because\nb!();\nc!();\nd!(); // tidy:\n";
        let file = RustFile::parse("crates/core/src/lib.rs", text);
        let excused: Vec<_> = (1..=5).filter(|&line| file.is_excused(line)).collect();
        assert_eq!(excused, [1, 2, 3]);
    }
}
