//! Nothing that a file says makes the compiler panic or hang.

use proptest::prelude::*;

use super::*;

/// A text with a piece of it cut out, doubled, or put elsewhere.
fn mutated() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "",
        ":",
        "- ",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "null",
        "0",
        "-1",
        "true",
        "{{",
        "}}",
        "{{a.b | json}}",
        "\n",
        "\n  ",
        "id",
        "steps: []",
        "when: { var: }",
        "max: 99999999999",
        "& *",
        "é",
        "\u{0}",
        "|",
        ">",
        "#",
        "? ",
        "!!x",
    ]);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..40usize, pieces), 1..6);
    edits.prop_map(|edits| {
        let mut text: Vec<char> = WHOLE.chars().collect();
        for (at, cut, piece) in edits {
            let at = at.index(text.len());
            let end = (at + cut).min(text.len());
            text.splice(at..end, piece.chars());
        }
        text.into_iter().collect()
    })
}

fn holds(text: &str) {
    for syntax in [Syntax::Yaml, Syntax::Json] {
        let source = Source { name: "t".into(), text: text.to_owned(), syntax };
        let outcome = compile(&source, &library());
        let refused = outcome.diagnostics.iter().any(crate::workflow::diagnostic::Diagnostic::is_error);
        assert_eq!(outcome.value.is_none(), refused);
        for diagnostic in &outcome.diagnostics {
            assert!(diagnostic.span.start <= diagnostic.span.end && diagnostic.span.end <= text.len());
            assert!(diagnostic.fix.is_some(), "no fix: {}", diagnostic.message);
            diagnostic.place(text);
        }
    }
}

proptest! {
    #[test]
    fn a_mutated_file_compiles_or_is_refused_with_places(text in mutated()) {
        holds(&text);
    }

    #[test]
    fn any_text_compiles_or_is_refused(text in ".{0,200}") {
        holds(&text);
        holds(&format!("longhaul: 1\n{text}"));
    }
}
