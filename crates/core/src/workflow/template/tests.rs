//! Tables of texts and what becomes of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn vars(value: &Value) -> BTreeMap<String, Arc<Value>> {
    let fields = value.as_object().expect("the tests give objects");
    fields.iter().map(|(name, value)| (name.clone(), Arc::new(value.clone()))).collect()
}

fn rendered(text: &str, given: &Value) -> String {
    render(text, &Scope::new(&vars(given)))
}

#[test]
fn values_are_filled_in_and_what_is_missing_is_said() {
    let given = json!({
        "goal": "fix it", "zero": 0, "no": false, "empty": "", "list": [1, "two"], "a": "x", "none": null,
        "plan": {"slices": [{"name": "one"}]}, "slots": {"first-one": 1}, "words": ["p", "q"], "nothing": [],
    });
    let table = [
        ("Do: {{goal}}.", "Do: fix it."),
        ("{{ goal }}", "fix it"),
        ("{{zero}} {{no}} [{{empty}}]", "0 false []"),
        ("{{list}} {{plan}}", r#"[1,"two"] {"slices":[{"name":"one"}]}"#),
        ("{{plan.slices.0.name}} of {{plan.slices.length}}", "one of 1"),
        ("{{slots.first-one}}", "1"),
        ("{{absent}} {{none}} {{plan.risk.level}}", "[unset: absent] [unset: none] [unset: plan.risk.level]"),
        ("{{a.x}}", r#"[unset: a.x -- 'a' is string ("x"), not object]"#),
        ("{{zero.x}}", "[unset: zero.x -- 'zero' is number (0), not object]"),
        ("{{goal | json}} {{list|json}}", r#""fix it" [1,"two"]"#),
        ("{{words | list}}", "- p\n- q"),
        ("{{plan | list}}", r#"- slices: [{"name":"one"}]"#),
        ("{{nothing | list}}", "(none)"),
        ("{{absent | default(low)}} {{absent | default('a | b)')}}", "low a | b)"),
        ("{{a.x | default(\"none\")}} {{goal | default(x)}}", "none fix it"),
        ("{{absent | default([1, 2]) | list}}", "- 1\n- 2"),
        ("{{absent | json}}", "[unset: absent]"),
        ("{{{goal}}}", "{fix it}"),
        ("{{ {{goal}}", "{{ fix it"),
        ("{{goal", "{{goal"),
        (
            "{{}} {{a b}} {{i + 1}} {{goal | upper}} {{goal |}}",
            "{{}} {{a b}} {{i + 1}} {{goal | upper}} {{goal |}}",
        ),
        ("{{.goal}} {{goal.}} {{0}}", "{{.goal}} {{goal.}} {{0}}"),
        ("ä{{goal}}ß", "äfix itß"),
    ];
    for (text, wanted) in table {
        assert_eq!(rendered(text, &given), wanted, "{text}");
    }
}

#[test]
fn a_value_that_looks_like_a_template_is_not_one() {
    let given = json!({"goal": "{{secret}}", "open": "{{", "secret": "hidden", "close": "secret}}"});
    assert_eq!(rendered("{{goal}} {{open}}{{close}}", &given), "{{secret}} {{secret}}");
}

#[test]
fn paths_are_told_with_their_places() {
    let text = "ä {{goal}} {{i + 1}} {{plan.x | default(1)}}";
    let told = paths(text);
    assert_eq!(told.len(), 2);
    assert_eq!((told[0].path.as_str(), &text[told[0].span.clone()]), ("goal", "{{goal}}"));
    assert_eq!((told[1].path.as_str(), told[1].has_default), ("plan.x", true));
}

#[test]
fn what_will_not_be_filled_in_is_told() {
    let text = "{{i + 1}} {{goal | upper}} {{goal | default(x}} {{goal}} {{";
    let told: Vec<(&str, String)> =
        problems(text).into_iter().map(|problem| (&text[problem.span.clone()], problem.message)).collect();
    assert_eq!(
        told,
        [
            ("{{i + 1}}", "`{{i + 1}}` is not a path, so it stays as it stands".to_owned()),
            ("{{goal | upper}}", "`| upper` is not a filter, so the template stays as it stands".to_owned()),
            (
                "{{goal | default(x}}",
                "`| default(x` is not a filter, so the template stays as it stands".to_owned()
            ),
            ("{{", "`{{` opens a template and does not close it, so it stays as it stands".to_owned()),
        ]
    );
}

/// Found by reasoning while fuzzing: one megabyte of templates, each of a value of 256 KB, are 36 gigabytes.
#[test]
fn a_text_does_not_grow_without_end() {
    let text = "{{a}}".repeat(200);
    let whole = rendered(&text, &json!({ "a": "x".repeat(10_000) }));
    assert_eq!(whole.len(), 2_000_000);
    let cut = rendered(&text, &json!({ "a": "x".repeat(100_000) }));
    assert!(cut.len() < 9_000_000 && cut.ends_with("[left out: a -- the text is too long]"), "{}", cut.len());
}

#[test]
fn a_text_that_is_one_path_is_the_value_itself() {
    let vars = [("list".to_owned(), std::sync::Arc::new(json!([1, { "a": true }])))].into();
    let scope = Scope::new(&vars);
    let given = json!({ "whole": "{{ list }}", "part": "{{list.1.a}}", "text": "has {{list.0}}", "gone": "{{no}}", "n": 3 });
    let wanted = json!({ "whole": [1, { "a": true }], "part": true, "text": "has 1", "gone": null, "n": 3 });
    assert_eq!(resolve(&given, &scope), wanted);
    assert_eq!(
        resolve(&json!(["{{list | json}}", "{{no | default(x)}}"]), &scope),
        json!(["[1,{\"a\":true}]", "x"])
    );
}

proptest! {
    #[test]
    fn any_text_can_be_rendered(text in r"[a-c{}|. ()'jsonlitdefu\n]{0,60}|.{0,60}") {
        rendered(&text, &json!({"a": {"b": [1]}, "b": "x"}));
        for path in paths(&text) {
            prop_assert!(text[path.span.clone()].starts_with("{{"));
        }
        for problem in problems(&text) {
            let place = &text[problem.span];
            prop_assert!(place == "{{" || place.ends_with("}}"));
        }
    }

    #[test]
    fn text_without_braces_stays_as_it_is(text in "[^{]{0,60}") {
        prop_assert_eq!(rendered(&text, &json!({})), text);
    }

    #[test]
    fn a_value_is_rendered_as_it_is(value in ".{0,60}") {
        prop_assert_eq!(rendered("{{a}}", &json!({ "a": value.clone() })), value);
    }
}
