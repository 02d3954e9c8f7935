//! Broken files: whatever is in them, there is an outcome.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::everything::everything;
use super::outcome;

/// One change of a value somewhere in a file.
#[derive(Debug, Clone)]
enum Change {
    Replace(Value),
    Remove,
    Repeat,
    Rename(String),
}

fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, Change)>> {
    let value = prop_oneof![
        Just(Value::Null),
        Just(json!(true)),
        Just(json!(-1)),
        Just(json!(1e300)),
        Just(json!("")),
        Just(json!("{{wr.bindings.")),
        Just(json!("while-loop")),
        Just(json!("\u{1F600}{{{{}}{target}")),
        Just(json!([])),
        Just(json!([[], {}])),
        Just(json!({})),
        Just(json!({ "kind": "ref" })),
        Just(json!({ "var": 5, "and": [{ "not": {} }] })),
        Just(json!({ "$ref": "#" })),
    ];
    let change = prop_oneof![
        4 => value.prop_map(Change::Replace),
        2 => Just(Change::Remove),
        1 => Just(Change::Repeat),
        1 => "[a-zA-Z]{0,8}".prop_map(Change::Rename),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), change), 1..6)
}

fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                places(item, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn changed(mut file: Value, changes: &[(prop::sample::Index, Change)]) -> Value {
    for (index, change) in changes {
        let mut found = Vec::new();
        places(&file, "", &mut found);
        let place = index.get(&found).clone();
        if let Change::Replace(value) = change {
            *file.pointer_mut(&place).unwrap() = value.clone();
            continue;
        }
        let Some((parent, last)) = place.rsplit_once('/') else { continue };
        match (file.pointer_mut(parent).unwrap(), change) {
            (Value::Array(items), Change::Remove) => drop(items.remove(last.parse().unwrap())),
            (Value::Array(items), _) => items.push(items[last.parse::<usize>().unwrap()].clone()),
            (Value::Object(map), Change::Rename(name)) => {
                let value = map.remove(last).unwrap();
                map.insert(name.clone(), value);
            }
            (Value::Object(map), _) => drop(map.remove(last)),
            _ => {}
        }
    }
    file
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_broken_file_has_an_outcome_that_is_always_the_same(changes in changes()) {
        let file = changed(everything(), &changes);
        let first = outcome(&file);
        let length = file.to_string().len();
        for diagnostic in &first.diagnostics {
            prop_assert!(diagnostic.span.end <= length, "{:?}", diagnostic);
            prop_assert!(!diagnostic.message.is_empty() && diagnostic.fix.is_some(), "{:?}", diagnostic);
        }
        prop_assert_eq!(first.value.is_none(), first.diagnostics.iter().any(crate::workflow::diagnostic::Diagnostic::is_error));
        prop_assert_eq!(outcome(&file), first);
    }
}
