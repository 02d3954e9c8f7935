//! Ceilings on files and functions. Every codebase without a check on the tail has grown one.
//!
//! Tests are exempt. A function that is a flat list of like things may say so in the line above it:
//! `// tidy: <reason>`.

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, ItemFn, Signature, TraitItemFn};

use super::finding::Finding;
use super::repo::Repo;
use super::rust_file::RustFile;

const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 70;

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    repo.rust().iter().flat_map(check_file).collect()
}

fn check_file(file: &RustFile) -> Vec<Finding> {
    let syntax = match file.syntax() {
        Ok(syntax) => syntax,
        Err(error) => {
            let message = format!("does not parse ({error}); `cargo check` says more");
            return vec![Finding::new(file.path(), error.span().start().line.max(1), message)];
        }
    };
    let mut findings = Vec::new();
    let lines = file.product_lines().count();
    if lines > FILE_LINES {
        let message =
            format!("{lines} lines without tests, the ceiling is {FILE_LINES}; split the file by subject");
        findings.push(Finding::new(file.path(), 1, message));
    }
    let mut functions = Functions::default();
    functions.visit_file(syntax);
    let too_long = functions.found.iter().filter(|function| {
        function.lines > FUNCTION_LINES && !file.is_test(function.line) && !file.is_excused(function.line)
    });
    findings.extend(too_long.map(|Function { name, line, lines }| {
        let message = format!(
            "`{name}` has {lines} lines, the ceiling is {FUNCTION_LINES}; move parts into named functions"
        );
        Finding::new(file.path(), *line, message)
    }));
    findings
}

/// A function with a body, counted from its signature to its closing brace.
struct Function {
    name: String,
    line: usize,
    lines: usize,
}

#[derive(Default)]
struct Functions {
    found: Vec<Function>,
}

impl Functions {
    fn add(&mut self, signature: &Signature, body: &Block) {
        let line = signature.span().start().line;
        let last = body.brace_token.span.close().end().line;
        self.found.push(Function { name: signature.ident.to_string(), line, lines: last - line + 1 });
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::shown;
    use super::*;

    fn findings(path: &str, source: &str) -> Vec<String> {
        shown(&check(&Repo::of(&[(path, source)])))
    }

    /// A function of so many lines, signature and brace included.
    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    #[test]
    fn a_file_is_counted_without_its_tests() {
        let tests = "#[cfg(test)]\nmod tests {\n    fn a() {}\n}\n";
        let product = "const A: u8 = 1;\n";
        let path = "crates/core/src/lib.rs";
        assert_eq!(findings(path, &(product.repeat(600) + tests)), [""; 0]);
        assert_eq!(
            findings(path, &(product.repeat(601) + tests)),
            [
                "crates/core/src/lib.rs:1: 601 lines without tests, the ceiling is 600; split the file by subject"
            ]
        );
    }

    #[test]
    fn a_function_above_the_ceiling_is_named_with_its_number() {
        let path = "crates/core/src/lib.rs";
        assert_eq!(findings(path, &function(70)), [""; 0]);
        assert_eq!(
            findings(path, &format!("/// Long.\n{}", function(71))),
            [
                "crates/core/src/lib.rs:2: `long` has 71 lines, the ceiling is 70; move parts into named functions"
            ]
        );
    }

    #[test]
    fn methods_and_default_methods_count_too() {
        for frame in ["impl A {\n", "trait A {\n", "mod inner {\n", "fn outer() {\n"] {
            let found = findings("crates/core/src/lib.rs", &format!("{frame}{}}}\n", function(71)));
            assert!(
                found.iter().any(|finding| finding.contains("`long` has 71 lines")),
                "{frame}: {found:?}"
            );
        }
    }

    #[test]
    fn tests_and_excused_functions_may_be_long() {
        assert_eq!(findings("crates/core/tests/all.rs", &function(90)), [""; 0]);
        assert_eq!(findings("crates/core/src/lib.rs", &format!("#[test]\n{}", function(90))), [""; 0]);
        assert_eq!(
            findings("crates/core/src/lib.rs", &format!("// tidy: a flat list\n{}", function(90))),
            [""; 0]
        );
    }

    #[test]
    fn a_file_that_does_not_parse_is_a_finding() {
        let found = findings("crates/core/src/lib.rs", "fn a() {}\nfn (\n");
        assert!(found[0].starts_with("crates/core/src/lib.rs:2: does not parse"), "{found:?}");
    }
}
