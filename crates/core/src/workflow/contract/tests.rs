//! Examples that fit, and words for what does not.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn example(schema: &Value) -> Value {
    of_schema(schema).unwrap_or_else(|error| panic!("{schema}: {error}")).example
}

fn problems(schema: &Value, artifact: &Value) -> Vec<String> {
    let contract = of_schema(schema).unwrap();
    contract.check(artifact).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn the_authors_own_example_is_taken_if_it_fits() {
    assert_eq!(example(&json!({ "type": "string", "examples": ["mine"] })), json!("mine"));
    assert_eq!(example(&json!({ "type": "string", "examples": [5, "mine"] })), json!("mine"));
    assert_eq!(example(&json!({ "type": "string", "default": "given" })), json!("given"));
    assert_eq!(example(&json!({ "const": { "a": 1 } })), json!({ "a": 1 }));
    assert_eq!(example(&json!({ "enum": ["low", "high"] })), json!("low"));
}

#[test]
fn an_example_has_what_is_required() {
    let schema = json!({
        "type": "object",
        "required": ["cause", "evidence"],
        "properties": {
            "cause": { "type": "string" },
            "evidence": { "type": "array", "items": { "type": "string" }, "minItems": 2 },
            "aside": { "type": "string" },
        },
    });
    assert_eq!(example(&schema), json!({ "cause": "text", "evidence": ["text", "text"] }));
}

#[test]
fn every_common_keyword_gets_an_example_that_fits() {
    let schemas = [
        json!(true),
        json!({}),
        json!({ "type": ["null", "string"] }),
        json!({ "type": "integer", "minimum": 5, "maximum": 7 }),
        json!({ "type": "integer", "exclusiveMinimum": 5, "exclusiveMaximum": 7 }),
        json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5 }),
        json!({ "type": "integer", "maximum": -3 }),
        json!({ "type": "integer", "multipleOf": 7, "minimum": 30 }),
        json!({ "type": "integer", "minimum": 9_223_372_036_854_775_807_i64 }),
        json!({ "$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 3, "exclusiveMinimum": true }),
        json!({ "type": "string", "minLength": 40, "maxLength": 40 }),
        json!({ "type": "string", "maxLength": 0 }),
        json!({ "type": "string", "pattern": "^[A-Z]{3}-[0-9]+$" }),
        json!({ "type": "string", "pattern": "^(feat|fix)(\\([a-z]+\\))?: .{20,}$" }),
        json!({ "type": "string", "pattern": "\\d{4}", "minLength": 12 }),
        json!({ "type": "string", "format": "date-time" }),
        json!({ "type": "string", "format": "email" }),
        json!({ "type": "string", "format": "uri" }),
        json!({ "type": "string", "format": "uuid" }),
        json!({ "type": "string", "format": "ipv6" }),
        json!({ "type": "string", "format": "never-heard-of" }),
        json!({ "type": "array", "minItems": 3, "uniqueItems": true, "items": { "type": "string" } }),
        json!({ "type": "array", "minItems": 2, "uniqueItems": true, "items": { "enum": ["a", "b"] } }),
        json!({ "type": "array", "maxItems": 0 }),
        json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }], "items": false }),
        json!({ "type": "array", "contains": { "const": "x" }, "minContains": 2 }),
        json!({ "type": "object", "minProperties": 2 }),
        json!({ "type": "object", "minProperties": 1, "additionalProperties": { "type": "integer" } }),
        json!({ "type": "object", "minProperties": 1, "propertyNames": { "pattern": "^x-" } }),
        json!({ "type": "object", "minProperties": 1, "additionalProperties": false, "patternProperties": { "^x-": { "type": "boolean" } } }),
        json!({ "type": "object", "required": ["a"], "dependentRequired": { "a": ["b"] } }),
        json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }], "not": { "type": "integer" } }),
        json!({ "oneOf": [{ "required": ["a"] }, { "required": ["b"] }], "type": "object" }),
        json!({ "allOf": [{ "type": "object", "required": ["a"] }, { "properties": { "a": { "minimum": 3 } } }, { "properties": { "a": { "maximum": 3 } } }] }),
        json!({ "type": "object", "required": ["k"], "properties": { "k": { "enum": ["p", "q"] } },
                "if": { "properties": { "k": { "const": "p" } } }, "then": { "required": ["more"] } }),
        json!({ "$ref": "#/$defs/one", "$defs": { "one": { "type": "integer", "minimum": 4 } } }),
        json!({ "$ref": "#spot", "$defs": { "one": { "$anchor": "spot", "type": "boolean" } } }),
        json!({ "type": "object", "properties": { "left": { "$ref": "#" }, "right": { "$ref": "#" } } }),
        json!({ "type": "object", "required": ["children"], "properties": { "children": { "type": "array", "items": { "$ref": "#" } } } }),
    ];
    for schema in schemas {
        let contract = of_schema(&schema).unwrap_or_else(|error| panic!("{schema}: {error}"));
        assert_eq!(contract.check(&contract.example), Ok(()), "{schema}");
    }
}

#[test]
fn a_schema_without_a_guessable_value_asks_for_examples() {
    let hopeless = [
        json!(false),
        json!({ "type": "string", "pattern": "^(?=.*[0-9])(?=.*[a-z]).{8}$" }),
        json!({ "type": "string", "minLength": 1_000_000 }),
        json!({ "type": "array", "minItems": 1_000_000 }),
        json!({ "type": "object", "required": ["self"], "properties": { "self": { "$ref": "#" } } }),
    ];
    for schema in hopeless {
        assert_eq!(of_schema(&schema), Err(ContractError::NoExample), "{schema}");
    }
    let helped =
        json!({ "type": "string", "pattern": "^(?=.*[0-9])(?=.*[a-z]).{8}$", "examples": ["abcdefg1"] });
    assert_eq!(example(&helped), json!("abcdefg1"));
}

#[test]
fn nested_demands_for_long_lists_end_soon() {
    let mut schema = json!({ "type": "string" });
    for _ in 0..8 {
        schema = json!({ "type": "array", "minItems": 900, "items": schema });
    }
    assert_eq!(of_schema(&schema), Err(ContractError::NoExample));
}

#[test]
fn a_schema_that_is_none_is_refused_with_its_place() {
    let error = of_schema(&json!({ "properties": { "a": { "type": "strin" } } })).unwrap_err();
    assert!(error.to_string().contains("/properties/a/type"), "{error}");
    assert_eq!(of_schema(&json!("text")), Err(ContractError::NotASchema { found: "a text" }));
    assert_eq!(of_schema(&json!([])), Err(ContractError::NotASchema { found: "a list" }));

    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({ "items": deep });
    }
    assert_eq!(of_schema(&deep), Err(ContractError::TooDeep { most: 64 }));
}

#[test]
fn a_schema_elsewhere_is_never_fetched() {
    for reference in ["https://example.org/schema.json", "file:///etc/passwd", "other.json"] {
        let error = of_schema(&json!({ "$ref": reference })).unwrap_err();
        assert_eq!(error, ContractError::Elsewhere { reference: reference.to_owned() });
    }
    let dangling = of_schema(&json!({ "$ref": "#/$defs/none" })).unwrap_err();
    assert!(matches!(dangling, ContractError::Elsewhere { .. }), "{dangling}");
}

#[test]
fn a_schema_that_goes_round_in_a_circle_is_judged_without_end_of_the_world() {
    for schema in [json!({ "$ref": "#" }), json!({ "allOf": [{ "$ref": "#" }] })] {
        if let Ok(contract) = of_schema(&schema) {
            assert_eq!(contract.check(&contract.example), Ok(()));
        }
    }
}

#[test]
fn a_pattern_that_backtracks_for_ever_is_cut_off() {
    let schema = json!({ "type": "string", "pattern": "^(a|a)*\\1b$", "examples": ["aab"] });
    let contract = of_schema(&schema).unwrap();
    let problems = contract.check(&json!("a".repeat(4000))).unwrap_err();
    assert_eq!(problems[0].message, "the text could not be matched within the limit of steps");
}

#[test]
fn problems_name_the_place_what_is_wrong_and_the_fix() {
    let schema = json!({
        "type": "object",
        "required": ["cause", "evidence"],
        "additionalProperties": false,
        "properties": {
            "cause": { "type": "string", "examples": ["a stale cache"] },
            "evidence": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
            "risk": { "enum": ["low", "high"] },
            "share": { "type": "number", "maximum": 1 },
        },
    });
    let artifact = json!({ "evidence": ["x", 7], "risk": "medium", "share": 2, "extra": null });
    assert_eq!(
        problems(&schema, &artifact),
        [
            "at `/`: `cause` is missing; add `cause`, such as `\"a stale cache\"`",
            "at `/`: `extra` has no place here; leave it out, or correct its name",
            "at `/evidence/1`: it is a number and must be a text; give a text",
            "at `/risk`: `\"medium\"` is not allowed here; use one of `\"low\"`, `\"high\"`",
            "at `/share`: `2` must be at most 1; give a number at most 1",
        ]
    );
}

#[test]
fn of_several_forms_the_nearest_is_named() {
    let schema = json!({ "anyOf": [
        { "type": "string" },
        { "type": "object", "required": ["level"], "properties": { "level": { "type": "string" } } },
    ] });
    assert_eq!(
        problems(&schema, &json!({ "rationale": "none" })),
        [
            "at `/`: it fits none of the 2 forms that are allowed; make it fit the nearest form: at `/`: `level` is missing; add `level`"
        ]
    );
}

fn result_of_checks() -> Value {
    json!({
        "type": "object",
        "required": ["outcome", "checks", "problems"],
        "properties": {
            "outcome": { "enum": ["passed", "failed", "could_not_run"] },
            "checks": { "type": "array", "items": { "properties": { "outcome": { "enum": ["passed", "failed"] } } } },
            "problems": { "type": "array", "items": { "type": "string" } },
        },
        "allOf": [
            { "if": { "properties": { "outcome": { "const": "failed" } } },
              "then": { "properties": { "problems": { "minItems": 1 } } } },
            { "if": { "properties": { "outcome": { "const": "passed" } } },
              "then": { "$ref": "#/$defs/all_passed" } },
        ],
        "$defs": { "all_passed": { "properties": {
            "checks": { "items": { "properties": { "outcome": { "const": "passed" } } } },
            "problems": { "maxItems": 0 },
        } } },
        "examples": [{ "outcome": "passed", "checks": [{ "outcome": "passed" }], "problems": [] }],
    })
}

#[test]
fn what_only_a_choice_forbids_is_never_to_be_written_over() {
    let artifact = json!({ "outcome": "passed", "checks": [{ "outcome": "failed" }], "problems": ["a"] });
    assert_eq!(
        problems(&result_of_checks(), &artifact),
        [
            "at `/checks/0/outcome`: it is `\"failed\"` and must be `\"passed\"`, because `outcome` is `\"passed\"`; \
             hand in what is true: if this is right, `outcome` is `\"failed\"` or `\"could_not_run\"`",
            "at `/problems`: it has 1 entry and must have at most 0 entries, because `outcome` is `\"passed\"`; \
             hand in what is true: if this is right, `outcome` is `\"failed\"` or `\"could_not_run\"`",
        ]
    );
}

#[test]
fn a_suggested_value_fits_the_branch_that_was_chosen() {
    let schema = result_of_checks();
    let missing = json!({ "outcome": "failed", "checks": [] });
    assert_eq!(
        problems(&schema, &missing),
        ["at `/`: `problems` is missing; add `problems`, such as `[\"text\"]`"]
    );
    let empty = json!({ "outcome": "failed", "checks": [], "problems": [] });
    assert_eq!(
        problems(&schema, &empty),
        [
            "at `/problems`: it has 0 entries and must have at least 1 entry, because `outcome` is `\"failed\"`; \
          give at least 1 entry, such as `[\"text\"]`"
        ]
    );
    let contract = of_schema(&schema).unwrap();
    let shown = json!({ "outcome": "failed", "checks": [{ "outcome": "passed" }], "problems": ["text"] });
    assert_eq!(contract.example_like(&empty), shown);
    assert_eq!(contract.check(&shown), Ok(()));
    assert_eq!(contract.example_like(&json!({ "outcome": "nonsense" })), contract.example);
}

#[test]
fn what_follows_from_a_choice_that_was_not_made_is_not_asked_for() {
    let artifact = json!({ "checks": [{ "outcome": "failed" }], "problems": [] });
    assert_eq!(
        problems(&result_of_checks(), &artifact),
        ["at `/`: `outcome` is missing; add `outcome`, such as `\"passed\"`"]
    );
}

#[test]
fn of_forms_that_a_word_tells_apart_the_agent_chooses() {
    let form = |word: &str| json!({ "required": ["as"], "properties": { "as": { "const": word } } });
    let schema = json!({ "type": "object", "oneOf": [form("one"), form("two")] });
    assert_eq!(
        problems(&schema, &json!({ "as": "three" })),
        ["at `/`: it fits none of the 2 forms that are allowed: `as` is `\"three\"`; \
          choose the form by `as`: one of `\"one\"`, `\"two\"`"]
    );
}

#[test]
fn a_long_value_is_quoted_in_part_and_many_problems_are_counted() {
    let schema = json!({ "type": "array", "items": { "enum": ["a"] } });
    let contract = of_schema(&schema).unwrap();
    let long = contract.check(&json!(["b".repeat(1_000_000)])).unwrap_err();
    assert!(long[0].message.len() < 200);
    let many = contract.check(&json!(vec![5; 1000])).unwrap_err();
    assert_eq!(many.len(), 21);
    assert_eq!(many[20].message, "980 further problems are not shown");
}

#[test]
fn every_built_in_contract_has_an_example_that_fits_and_allows_further_keys() {
    let mut names = 0;
    for name in builtin_names() {
        let contract = builtin(&name).unwrap();
        assert_eq!(contract.check(&contract.example), Ok(()), "{name}");
        let mut more = contract.example.clone();
        more["somethingElse"] = json!(1);
        assert_eq!(contract.check(&more), Ok(()), "{name}");
        assert_eq!(contract.example["kind"], json!(contract.kind.clone().unwrap()), "{name}");
        assert!(contract.check(&json!({ "kind": contract.kind })).is_err(), "{name}");
        assert_eq!(of_schema(&contract.schema), Ok(contract), "{name}");
        names += 1;
    }
    assert_eq!(names, 24);
    assert_eq!(builtin("wr.contracts.nothing"), None);
}

#[test]
fn built_in_contracts_take_what_prompts_print() {
    let printed = [
        (
            "loop_control",
            json!({ "kind": "wr.loop_control", "decision": "continue", "metadata": { "reason": "More work needed", "iterationIndex": 1 } }),
        ),
        (
            "assessment",
            json!({ "kind": "wr.assessment", "assessmentId": "a", "dimensions": { "x": "low", "y": { "level": "high", "rationale": "r" } } }),
        ),
        (
            "review_verdict",
            json!({ "kind": "wr.review_verdict", "verdict": "minor", "confidence": "low", "summary": "s",
            "findings": [{ "severity": "nit", "summary": "s", "startLine": 42 }] }),
        ),
        (
            "gate_verdict",
            json!({ "kind": "wr.gate_verdict", "version": 1, "verdict": "uncertain", "confidence": "low", "rationale": "r" }),
        ),
    ];
    for (name, artifact) in printed {
        assert_eq!(builtin(&format!("wr.contracts.{name}")).unwrap().check(&artifact), Ok(()), "{name}");
    }
    let contract = builtin("wr.contracts.loop_control").unwrap();
    let wrong = contract.check(&json!({ "kind": "wr.loop_control", "decision": "again" })).unwrap_err();
    assert_eq!(wrong[0].pointer, "/decision");
}

#[test]
fn a_users_kind_is_known_by_its_constant() {
    let schema = json!({ "properties": { "kind": { "const": "my.kind" } }, "required": ["kind"] });
    assert_eq!(of_schema(&schema).unwrap().kind, Some("my.kind".to_owned()));
}

/// Schemas as people might write them, sensible or not.
fn schemas() -> impl Strategy<Value = Value> {
    let number =
        prop_oneof![Just(json!(0)), Just(json!(2)), Just(json!(-5)), Just(json!(2.5)), Just(json!("x"))];
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({ "$ref": "#" })),
        Just(json!({ "type": "string", "format": "date" })),
        "[a-z.*+?^$(){}\\[\\]|\\\\0-9]{0,8}".prop_map(|pattern| json!({ "pattern": pattern })),
        (
            prop::sample::select(vec![
                "minimum",
                "maximum",
                "multipleOf",
                "minLength",
                "maxLength",
                "minItems",
                "maxItems",
                "minProperties"
            ]),
            number
        )
            .prop_map(|(key, limit)| json!({ key: limit })),
        prop::sample::select(vec!["string", "integer", "object", "array", "null", "odd"])
            .prop_map(|kind| json!({ "type": kind })),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            (
                prop::sample::select(vec![
                    "items",
                    "not",
                    "if",
                    "then",
                    "contains",
                    "additionalProperties",
                    "propertyNames"
                ]),
                inner.clone()
            )
                .prop_map(|(key, schema)| json!({ key: schema })),
            (
                prop::sample::select(vec!["anyOf", "oneOf", "allOf", "prefixItems"]),
                prop::collection::vec(inner.clone(), 0..4)
            )
                .prop_map(|(key, schemas)| json!({ key: schemas })),
            prop::collection::btree_map("[abc]", inner.clone(), 0..4)
                .prop_map(|properties| json!({ "properties": properties, "required": ["a"] })),
            (inner.clone(), inner).prop_map(|(one, other)| json!({ "allOf": [one, other] })),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_the_schema_an_example_fits_or_there_is_none(schema in schemas()) {
        if let Ok(contract) = of_schema(&schema) {
            prop_assert_eq!(contract.check(&contract.example), Ok(()));
        }
    }

    #[test]
    fn the_same_schema_gives_the_same_example_and_problems(schema in schemas(), artifact in schemas()) {
        let (one, other) = (of_schema(&schema), of_schema(&schema));
        prop_assert_eq!(&one, &other);
        if let Ok(contract) = one {
            prop_assert_eq!(contract.check(&artifact), contract.check(&artifact));
        }
    }
}
