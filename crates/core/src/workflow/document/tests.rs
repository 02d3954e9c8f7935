//! Texts in, located values or one located complaint out.

use super::*;

fn yaml(text: &str) -> Result<Node, Diagnostic> {
    parse(text, Syntax::Yaml)
}

fn json(text: &str) -> Result<Node, Diagnostic> {
    parse(text, Syntax::Json)
}

/// `line:column message`, as a person would see it.
fn refusal(text: &str, syntax: Syntax) -> String {
    let diagnostic = parse(text, syntax).expect_err("it was accepted");
    let place = diagnostic.place(text);
    assert!(diagnostic.fix.is_some(), "no fix for: {}", diagnostic.message);
    format!("{}:{} {}", place.line, place.column, diagnostic.message)
}

fn slice<'t>(text: &'t str, node: &Node) -> &'t str {
    &text[node.span.clone()]
}

#[test]
fn both_syntaxes_give_the_same_values() {
    let from_yaml = yaml("a: 1\nb: [true, ~, 'x', 1.5, -3]\nc:\n  d: |\n    two\n    lines\n").unwrap();
    let from_json = json(r#"{"a": 1, "b": [true, null, "x", 1.5, -3], "c": {"d": "two\nlines\n"}}"#).unwrap();
    assert_eq!(from_yaml.to_json(), from_json.to_json());
}

#[test]
fn every_yaml_value_knows_its_place() {
    let text = "a: one\nb:\n  - x: 1\n    y: \"q\"\n  - [1, 2]\n# end\nc: |\n  long\n";
    let root = yaml(text).unwrap();
    assert_eq!(slice(text, root.get("a").unwrap()), "one");
    let items = root.get("b").unwrap().as_list().unwrap();
    assert_eq!(slice(text, &items[0]), "x: 1\n    y: \"q\"");
    assert_eq!(slice(text, items[0].get("y").unwrap()), "\"q\"");
    assert_eq!(slice(text, &items[1]), "[1, 2]");
    assert_eq!(&text[root.entries()[2].0.span.clone()], "c");
}

#[test]
fn every_json_value_knows_its_place() {
    let text = r#"{"ä": {"b": [1, "two"]}}"#;
    let root = json(text).unwrap();
    let list = root.get("ä").unwrap().get("b").unwrap();
    assert_eq!(slice(text, list), r#"[1, "two"]"#);
    assert_eq!(slice(text, &list.as_list().unwrap()[1]), r#""two""#);
}

#[test]
fn a_byte_order_mark_shifts_no_place() {
    let text = "\u{feff}a: b";
    assert_eq!(slice(text, yaml(text).unwrap().get("a").unwrap()), "b");
    let text = "\u{feff}[7]";
    assert_eq!(slice(text, &json(text).unwrap().as_list().unwrap()[0]), "7");
}

#[test]
fn words_that_only_look_like_numbers_are_texts() {
    for word in
        ["1.2.0", "10m", "400k", "3usd", "0755a", "+", "0x", "0x+1", "1e", "inf", ".inf", "nan", "1_000"]
    {
        assert_eq!(yaml(&format!("[{word}]")).unwrap().to_json(), serde_json::json!([word]), "{word}");
    }
    assert_eq!(
        yaml("[0x1f, 0o17, +5, .5, 1e3, 18446744073709551615]").unwrap().to_json().to_string(),
        "[31,15,5,0.5,1000.0,18446744073709551615]"
    );
}

#[test]
fn what_could_surprise_is_refused_in_yaml() {
    for (text, expected) in [
        ("a: &x 1\n", "1:4 anchors are not part of such a file"),
        ("a: *x\n", "1:4 aliases are not part of such a file"),
        ("a: !!str 1\n", "1:4 tags are not part of such a file"),
        ("a: 1\nb: 2\na: 3\n", "3:1 the key `a` stands twice in this map"),
        ("? [a]\n: b\n", "1:3 a list or map cannot be a key"),
        ("a: 1\n---\nb: 2\n", "2:1 a second document begins here, and a file holds one"),
        ("a: \"x\\0y\"\n", "1:4 the control character U+0000 is not allowed in a file"),
        ("a: b\0c\n", "1:5 the control character U+0000 is not allowed in a file"),
        ("a: \"\\e[2J\"\n", "1:4 the control character U+001B is not allowed in a file"),
        ("# nothing\n", "1:1 the file is empty"),
    ] {
        assert_eq!(refusal(text, Syntax::Yaml), expected, "{text:?}");
    }
}

#[test]
fn what_could_surprise_is_refused_in_json() {
    for (text, expected) in [
        ("{\"a\": 1,\n \"a\": 2}", "2:2 the key `a` stands twice in this map"),
        ("{\"a\": \"x\\u0000y\"}", "1:7 the control character U+0000 is not allowed in a file"),
        ("{\"a\": 1,}", "1:8 this is not JSON: trailing commas are not allowed"),
        ("{\"a\": 1} // b", "1:10 this is not JSON: comments are not allowed"),
        ("{\"a\": 1\n", "1:1 this is not JSON: unterminated object"),
        ("", "1:1 the file is empty"),
    ] {
        assert_eq!(refusal(text, Syntax::Json), expected, "{text:?}");
    }
}

#[test]
fn a_broken_yaml_text_is_placed() {
    assert!(refusal("a: [1, 2\nb: 3\n", Syntax::Yaml).contains("this is not YAML: "));
    assert!(refusal("a:\n\t- b\n", Syntax::Yaml).starts_with("2:"));
}

#[test]
fn depth_size_and_number_of_values_are_bounded() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    for syntax in [Syntax::Yaml, Syntax::Json] {
        assert!(parse(&deep(64), syntax).is_ok());
        assert_eq!(refusal(&deep(65), syntax), "1:65 this lies more than 64 levels deep");
        assert!(refusal(&deep(5000), syntax).ends_with("this lies more than 64 levels deep"));
        let many = format!("[{}1]", "1,".repeat(MOST_NODES));
        assert!(refusal(&many, syntax).ends_with("the file has more than 100000 values"));
        let long = format!("[\"{}\"]", "x".repeat(MOST_BYTES));
        assert_eq!(refusal(&long, syntax), "1:1 the file has 1048580 bytes, and 1048576 is the most");
    }
}
