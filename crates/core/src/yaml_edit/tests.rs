//! Edits of texts in every style, and of garbage.

mod ordinary;

use proptest::prelude::*;

use super::*;

/// `a.b[0]` as a path.
fn path(text: &str) -> Vec<Step<'_>> {
    let parts = text.split(['.', '[']).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            part.strip_suffix(']').map_or(Step::Key(part), |index| Step::Index(index.parse().unwrap()))
        })
        .collect()
}

fn after_set(text: &str, at: &str, value: Scalar<'_>) -> Result<String, Error> {
    set(text, &path(at), value).map(|edit| edit.apply(text))
}

fn after_append(text: &str, at: &str, item: &str) -> Result<String, Error> {
    append(text, &path(at), item).map(|edit| edit.apply(text))
}

fn after_remove(text: &str, at: &str) -> Result<String, Error> {
    remove(text, &path(at)).map(|edit| edit.apply(text))
}

#[test]
fn a_value_is_set_in_its_place() {
    for (text, at, value, expected) in [
        ("a: 1 # one\nb: 2\n", "a", Scalar::Number(7), "a: 7 # one\nb: 2\n"),
        ("a:   'x y'   # why\n", "a", Scalar::Text("z"), "a:   z   # why\n"),
        ("a: \"x\"", "a", Scalar::Text("it's: so"), "a: \"it's: so\""),
        ("a: { b: true, c: [x, y] }\n", "a.b", Scalar::Flag(false), "a: { b: false, c: [x, y] }\n"),
        ("a: { b: true, c: [x, y] }\n", "a.c[1]", Scalar::Text("a,b"), "a: { b: true, c: [x, \"a,b\"] }\n"),
        ("a:\n  - b: 1\n  - b: 2 # two\n", "a[1].b", Scalar::Number(3), "a:\n  - b: 1\n  - b: 3 # two\n"),
        ("a:\nb: 1\n", "a", Scalar::Text("x"), "a: x\nb: 1\n"),
        ("a: # later\nb: 1\n", "a", Scalar::Text("x"), "a: x # later\nb: 1\n"),
        ("a: ~\n", "a", Scalar::Flag(true), "a: true\n"),
        ("a: |\n  one\n  two\nb: 1\n", "a", Scalar::Text("x"), "a: x\nb: 1\n"),
        ("a: >-\n  one\n\n  two\n\n# about b\nb: 1\n", "a", Scalar::Text("x"), "a: x\n\n# about b\nb: 1\n"),
        ("a: one\n  two\nb: 1\n", "a", Scalar::Text("x"), "a: x\nb: 1\n"),
        ("'a b': 1\r\nc: 2\r\n", "a b", Scalar::Number(5), "'a b': 5\r\nc: 2\r\n"),
        ("\u{feff}a: 1\n", "a", Scalar::Number(2), "\u{feff}a: 2\n"),
        ("ü: ä # ö\n", "ü", Scalar::Text("ß"), "ü: ß # ö\n"),
    ] {
        assert_eq!(after_set(text, at, value).as_deref(), Ok(expected), "{text:?}");
    }
}

#[test]
fn a_new_entry_comes_after_the_last_of_its_map() {
    for (text, at, expected) in [
        ("", "n", "n: x\n"),
        ("# only words", "n", "# only words\nn: x\n"),
        ("a: 1\n\n# the end\n", "n", "a: 1\nn: x\n\n# the end\n"),
        ("a: 1 # one", "n", "a: 1 # one\nn: x\n"),
        ("a:\n  b: 1\n  # c: 2\nd: 3\n", "a.n", "a:\n  b: 1\n  n: x\n  # c: 2\nd: 3\n"),
        (
            "a:\n    b:\n      c: 1\n      # deep\n    # here\nd: 3\n",
            "a.n",
            "a:\n    b:\n      c: 1\n      # deep\n    n: x\n    # here\nd: 3\n",
        ),
        (
            "l:\n  - id: a\n    goal: x\n\n  - id: b\n",
            "l[0].n",
            "l:\n  - id: a\n    goal: x\n    n: x\n\n  - id: b\n",
        ),
        ("l:\n- { id: a }\n", "l[0].n", "l:\n- { id: a, n: x }\n"),
        ("l:\n- id: a\n- id: b\n", "l[1].n", "l:\n- id: a\n- id: b\n  n: x\n"),
        ("a: {}\n", "a.n", "a: { n: x }\n"),
        ("a: { b: 1 } # c\n", "a.n", "a: { b: 1, n: x } # c\n"),
        ("a: { b: 1, }\n", "a.n", "a: { b: 1, n: x }\n"),
        ("a: {\n  b: 1, # one\n  c: [2] # two\n}\n", "a.n", "a: {\n  b: 1, # one\n  c: [2], n: x # two\n}\n"),
        ("a: |\n  text\n\nb: |\n  more\n", "n", "a: |\n  text\n\nb: |\n  more\nn: x\n"),
        ("a: 1\r\nb: 2\r\n", "n", "a: 1\r\nb: 2\r\nn: x\r\n"),
    ] {
        assert_eq!(after_set(text, at, Scalar::Text("x")).as_deref(), Ok(expected), "{text:?}");
    }
}

#[test]
fn an_item_comes_after_the_last_of_its_list() {
    let item = "id: n\n# why\ngoal: |\n  one\n\n  two\n";
    let lines = "  - id: n\n    # why\n    goal: |\n      one\n\n      two\n";
    for (text, expected) in [
        ("", format!("l:\n{lines}")),
        ("# words\n", format!("# words\nl:\n{lines}")),
        ("l:\n", format!("l:\n{lines}")),
        ("l: # mine\n  # none yet\n\nz: 1\n", format!("l: # mine\n  # none yet\n{lines}\nz: 1\n")),
        ("l: []\n", format!("l:\n{lines}")),
        ("l: [] # none yet\nz: 1\n", format!("l: # none yet\n{lines}z: 1\n")),
        ("z: 1", format!("z: 1\nl:\n{lines}")),
        (
            "l:\n  - id: a # first\n    # off: true\n\n# about z\nz: 1\n",
            format!("l:\n  - id: a # first\n    # off: true\n{lines}\n# about z\nz: 1\n"),
        ),
        ("l:\n  - id: a\n\n  - id: b\n", format!("l:\n  - id: a\n\n  - id: b\n\n{lines}")),
        ("l:\n  - id: a", format!("l:\n  - id: a\n{lines}")),
        (
            "l:\n- id: a\nz: 1\n",
            format!("l:\n- id: a\n{}z: 1\n", lines.replace("\n  ", "\n").trim_start_matches(' ')),
        ),
    ] {
        assert_eq!(after_append(text, "l", item), Ok(expected), "{text:?}");
    }
    assert_eq!(
        after_append("l:\n- { a: 1 }\nz: 1\n", "l", "b").as_deref(),
        Ok("l:\n- { a: 1 }\n- b\nz: 1\n")
    );
    assert_eq!(
        after_append("l:\n- |\n  a\n\n# z\nz: 1\n", "l", "b").as_deref(),
        Ok("l:\n- |\n  a\n- b\n\n# z\nz: 1\n")
    );
    assert_eq!(
        after_append("l:\n- |+\n  a\n\nz: 1\n", "l", "b").as_deref(),
        Ok("l:\n- |+\n  a\n\n- b\nz: 1\n")
    );
    assert_eq!(after_append("l: [a, b]\n", "l", "c").as_deref(), Ok("l: [a, b, c]\n"));
    assert_eq!(after_append("l: [\n  a, # one\n]\n", "l", "c").as_deref(), Ok("l: [\n  a, c # one\n]\n"));
    assert_eq!(after_append("l:\r\n- a\r\n", "l", "b").as_deref(), Ok("l:\r\n- a\r\n- b\r\n"));
}

#[test]
fn what_is_taken_out_leaves_everything_else() {
    for (text, at, expected) in [
        ("a: 1\n# about b\nb: 2 # two\n# about c\nc: 3\n", "b", "a: 1\n# about b\n# about c\nc: 3\n"),
        ("a: 1\nb:\n  - x\n  # in b\n  - y\n\nc: 3\n", "b", "a: 1\n\nc: 3\n"),
        ("a: |\n  one\n\nb: 1\n", "a", "\nb: 1\n"),
        ("a: { b: 1, c: 2, d: 3 }\n", "a.b", "a: { c: 2, d: 3 }\n"),
        ("a: { b: 1, c: 2, d: 3 }\n", "a.d", "a: { b: 1, c: 2 }\n"),
        ("a: [x, y]\n", "a[0]", "a: [y]\n"),
        ("a: [x]\n", "a[0]", "a: []\n"),
        ("a: { b: 1 }\n", "a.b", "a: {}\n"),
        ("a:\n  b: 1\nc: 2\n", "a.b", "a: {}\nc: 2\n"),
        ("a: # why\n  b: 1\nc: 2\n", "a.b", "a: # why\n  {}\nc: 2\n"),
        ("l:\n- a\nc: 2\n", "l[0]", "l: []\nc: 2\n"),
        ("l:\n- a\n- { b: 1 }\n", "l[0]", "l:\n- { b: 1 }\n"),
        ("l:\n  - id: a\n    goal: x\n  - id: b\n", "l[0].id", "l:\n  - goal: x\n  - id: b\n"),
        ("l:\n  - id: a\n    goal: x # y\n  - id: b\n", "l[0].goal", "l:\n  - id: a\n  - id: b\n"),
        (
            "l:\n  # about a\n  - id: a\n    goal: x\n  # about b\n  - id: b\n",
            "l[0]",
            "l:\n  # about a\n  # about b\n  - id: b\n",
        ),
        ("l:\n  - id: a\n  - id: b\nz: 1\n", "l[1]", "l:\n  - id: a\nz: 1\n"),
        ("a: 1\nb: 2", "b", "a: 1\n"),
    ] {
        assert_eq!(after_remove(text, at).as_deref(), Ok(expected), "{text:?}");
    }
}

#[test]
fn what_cannot_be_done_is_said_and_nothing_is_spoilt() {
    assert_eq!(
        after_set("a: [1]\n", "a", Scalar::Number(1)).unwrap_err().to_string(),
        "`a` is a list, and a single value is needed there"
    );
    assert_eq!(
        after_set("a: [1]\n", "a.b", Scalar::Number(1)).unwrap_err().to_string(),
        "`a` is a list, and a map is needed there"
    );
    assert_eq!(
        after_set("a: 1\n", "b.c", Scalar::Number(1)).unwrap_err().to_string(),
        "there is no `b.c` in it"
    );
    assert_eq!(
        after_append("a: 1\n", "a", "x").unwrap_err().to_string(),
        "`a` is a number, and a list is needed there"
    );
    assert_eq!(after_remove("a: 1\n", "b").unwrap_err().to_string(), "there is no `b` in it");
    assert!(matches!(after_set("a: &x 1\nb: *x\n", "a", Scalar::Number(1)), Err(Error::NotYaml(_))));
    assert!(matches!(after_append("l: [a]\n", "l", "x: 1\ny: 2\n"), Err(Error::TooSpecial { .. })));
}

#[test]
fn texts_that_could_be_taken_for_something_else_are_in_quotes() {
    for (text, written) in [
        ("plain words", "plain words"),
        ("lh.pipeline.audit", "lh.pipeline.audit"),
        ("", "\"\""),
        ("true", "\"true\""),
        ("12", "\"12\""),
        ("null", "\"null\""),
        ("- a", "\"- a\""),
        ("a: b", "\"a: b\""),
        ("a # b", "\"a # b\""),
        (" a", "\" a\""),
        ("0 2 * * 1-5", "\"0 2 * * 1-5\""),
        ("$SECRET", "$SECRET"),
        ("a\"b\\\n\u{7}\u{2028}", "\"a\\\"b\\\\\\n\\u0007\\u2028\""),
    ] {
        assert_eq!(Scalar::Text(text).written(), written);
    }
}

proptest! {
    /// Whatever the text is, an edit is refused or does exactly what it says.
    #[test]
    fn garbage_is_refused_or_changed_as_asked(
        text in prop_oneof!["\\PC{0,40}", "([abl]: ?|- |\\n|  |\\[|\\]|\\{|\\}|, |#c|'|\"|\\||[0-9]|~|\\r\\n){0,25}"],
        value in "\\PC{0,12}|[ \\n\\t:#'\"-]{0,6}",
        at in prop::sample::select(vec!["a", "b.a", "l[0]", "l[0].a", "a[1].b"]),
    ) {
        let set = after_set(&text, at, Scalar::Text(&value));
        if let Ok(changed) = set {
            let target = Target::read(&changed, &[]).unwrap();
            prop_assert_eq!(target.find(&path(at)).unwrap().to_json(), Value::from(value.as_str()));
        }
        let _ = after_append(&text, at, "id: x");
        let _ = after_remove(&text, at);
    }

    #[test]
    fn every_text_reads_back_as_it_was_set(value: String, key in "[a-z]{1,5}") {
        // Control characters have no place in a file of ours.
        let is_kept = value.chars().all(|letter| !letter.is_control() || matches!(letter, '\t' | '\n' | '\r' | '\u{85}'));
        let changed = set("a: { b: 1 }\n", &[Step::Key("a"), Step::Key(&key)], Scalar::Text(&value));
        prop_assert_eq!(changed.is_ok(), is_kept, "{:?}", changed);
    }
}
