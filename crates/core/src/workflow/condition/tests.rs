//! Tables of values, comparisons and reasons.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::scope::Scope;
use super::{Condition, Judged, Test};

fn vars(value: &Value) -> BTreeMap<String, Arc<Value>> {
    let fields = value.as_object().expect("the tests give objects");
    fields.iter().map(|(name, value)| (name.clone(), Arc::new(value.clone()))).collect()
}

fn judge(condition: &Condition, given: &Value) -> Judged {
    condition.judge(&Scope::new(&vars(given)))
}

fn var(path: &str, tests: Vec<Test>) -> Condition {
    Condition::Var { path: path.into(), tests }
}

#[track_caller]
fn assert_holds(value: &Value, test: &Test, wanted: bool) {
    let given = if value.is_null() { json!({}) } else { json!({ "x": value }) };
    let judged = judge(&var("x", vec![test.clone()]), &given);
    assert_eq!(judged.holds, wanted, "{value} {test:?}: {}", judged.because);
}

#[test]
fn equality_is_lenient() {
    let table = [
        (json!(" High "), json!("high"), true),
        (json!("high"), json!("low"), false),
        (json!("5"), json!(5), true),
        (json!(5), json!(" 5.0 "), true),
        (json!(5), json!(5.0), true),
        (json!("five"), json!(5), false),
        (json!(""), json!(0), false),
        (json!("inf"), json!("nan"), false),
        (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64), false),
        (json!("Yes"), json!(true), true),
        (json!(true), json!("1"), true),
        (json!("no"), json!(false), true),
        (json!("0"), json!(false), true),
        (json!("maybe"), json!(false), false),
        (json!("maybe"), json!(true), false),
        (json!(1), json!(true), false),
        (Value::Null, Value::Null, true),
        (Value::Null, json!("x"), false),
        (Value::Null, json!(false), false),
        (json!([1, "a"]), json!([1, "a"]), true),
        (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), true),
        (json!(["A"]), json!(["a"]), false),
    ];
    for (value, wanted, holds) in table {
        assert_holds(&value, &Test::Equals(wanted.clone()), holds);
        assert_holds(&value, &Test::NotEquals(wanted.clone()), !holds);
        assert_holds(&value, &Test::In(vec![json!("another"), wanted]), holds);
    }
    assert_holds(&json!("x"), &Test::In(vec![]), false);
}

#[test]
fn numbers_may_be_written_as_text() {
    let table = [
        (json!(3), Test::Gt(json!(2)), true),
        (json!("3"), Test::Gt(json!("2")), true),
        (json!(2), Test::Gt(json!(2)), false),
        (json!(2), Test::Gte(json!(2)), true),
        (json!("1e3"), Test::Lt(json!(1001)), true),
        (json!(2), Test::Lt(json!(2)), false),
        (json!(-1.5), Test::Lte(json!("-1.5")), true),
        (json!("many"), Test::Gt(json!(0)), false),
        (json!("inf"), Test::Gt(json!(0)), false),
        (json!("many"), Test::Lte(json!(0)), false),
        (json!(true), Test::Gt(json!(0)), false),
        (Value::Null, Test::Lt(json!(1)), false),
    ];
    for (value, test, holds) in table {
        assert_holds(&value, &test, holds);
    }
}

#[test]
fn text_is_looked_at_in_its_text_form() {
    let table = [
        (json!("Security review"), Test::Contains(json!("SECURITY")), true),
        (json!(["tests", "Security"]), Test::Contains(json!("security")), true),
        (json!(["say \"hi\""]), Test::Contains(json!("\"hi\"")), true),
        (json!(1234), Test::Contains(json!(23)), true),
        (json!({"a": true}), Test::Contains(json!("\"a\":true")), true),
        (Value::Null, Test::Contains(json!("null")), false),
        (json!(" Fix it"), Test::StartsWith("fix".into()), true),
        (json!("fix it"), Test::StartsWith("it".into()), false),
        (json!("fix IT "), Test::EndsWith("it".into()), true),
        (json!("LH-12"), Test::Matches(r"^LH-\d+$".into()), true),
        (json!("lh-12"), Test::Matches(r"^LH-\d+$".into()), false),
        (json!("lh-12"), Test::Matches(r"^(?i:LH)-\d+$".into()), true),
        (json!(42), Test::Matches(r"^\d+$".into()), true),
        (json!("a"), Test::Matches("(".into()), false),
        (Value::Null, Test::Matches("^$".into()), true),
    ];
    for (value, test, holds) in table {
        assert_holds(&value, &test, holds);
    }
}

#[test]
fn without_a_comparison_the_value_must_be_truthy() {
    let table = [
        (json!(true), true),
        (json!("x"), true),
        (json!("false"), true),
        (json!(-1), true),
        (json!([]), true),
        (json!({}), true),
        (json!(false), false),
        (json!(0), false),
        (json!(0.0), false),
        (json!(""), false),
        (Value::Null, false),
    ];
    for (value, holds) in table {
        assert_eq!(judge(&var("x", vec![]), &json!({ "x": value })).holds, holds, "{value}");
    }
    assert!(!judge(&var("x", vec![]), &json!({})).holds);
}

#[test]
fn every_comparison_must_hold() {
    let both = var("x", vec![Test::Gt(json!(1)), Test::Lt(json!(5))]);
    assert!(judge(&both, &json!({"x": 3})).holds);
    assert!(!judge(&both, &json!({"x": 7})).holds);
    assert!(!judge(&both, &json!({"x": 1})).holds);
}

#[test]
fn empty_lists_of_conditions_have_an_answer() {
    assert!(judge(&Condition::All(vec![]), &json!({})).holds);
    assert!(!judge(&Condition::Any(vec![]), &json!({})).holds);
    assert!(judge(&Condition::Not(Box::new(Condition::Any(vec![]))), &json!({})).holds);
}

#[test]
fn a_reason_names_the_values_that_decided() {
    let given = json!({"risk": "high", "plan": {"name": "x"}, "long": "y".repeat(500)});
    let risk = |wanted: &str| var("risk", vec![Test::Equals(json!(wanted))]);
    let table = [
        (risk("low"), r#"risk is "high", wanted "low""#.to_owned()),
        (risk("high"), r#"risk is "high""#.to_owned()),
        (var("goal", vec![Test::Gt(json!(2))]), "goal is not set, wanted more than 2".to_owned()),
        (var("goal", vec![]), "goal is not set, wanted something truthy".to_owned()),
        (
            var("plan.name.first", vec![]),
            r#"plan.name.first is not set (plan.name is string "x"), wanted something truthy"#.to_owned(),
        ),
        (
            var("risk", vec![Test::In(vec![json!("low"), json!(1)])]),
            r#"risk is "high", wanted one of "low", 1"#.to_owned(),
        ),
        (
            var("risk", vec![Test::Matches("^l".into())]),
            r#"risk is "high", wanted it to match `^l`"#.to_owned(),
        ),
        (var("long", vec![]), format!("long is \"{}…", "y".repeat(59))),
        (Condition::All(vec![risk("high"), risk("low")]), r#"risk is "high", wanted "low""#.to_owned()),
        (Condition::Any(vec![risk("low"), risk("high")]), r#"risk is "high""#.to_owned()),
        (
            Condition::Any(vec![risk("low"), risk("none")]),
            r#"risk is "high", wanted "low"; risk is "high", wanted "none""#.to_owned(),
        ),
        (Condition::Not(Box::new(risk("high"))), r#"not (risk is "high")"#.to_owned()),
        (Condition::All(vec![]), "nothing is asked".to_owned()),
    ];
    for (condition, because) in table {
        assert_eq!(judge(&condition, &given).because, because);
    }
}

#[test]
fn a_pattern_that_backtracks_for_ever_does_not_hold_and_says_so() {
    let judged = judge(
        &var("x", vec![Test::Matches("^(a+)+$".into())]),
        &json!({"x": format!("{}!", "a".repeat(50))}),
    );
    assert!(!judged.holds);
    assert!(
        judged.because.ends_with("did not hold: the pattern took too many steps (`^(a+)+$`)"),
        "{}",
        judged.because
    );
}

#[test]
fn all_paths_are_told() {
    let condition = Condition::All(vec![
        var("b", vec![]),
        Condition::Not(Box::new(Condition::Any(vec![var("a.x", vec![]), var("b", vec![])]))),
    ]);
    assert_eq!(condition.paths().into_iter().collect::<Vec<_>>(), ["a.x", "b"]);
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

fn any_test() -> impl Strategy<Value = Test> {
    prop_oneof![
        any_value().prop_map(Test::Equals),
        any_value().prop_map(Test::NotEquals),
        any_value().prop_map(Test::Gt),
        any_value().prop_map(Test::Lte),
        prop::collection::vec(any_value(), 0..3).prop_map(Test::In),
        any_value().prop_map(Test::Contains),
        ".{0,4}".prop_map(Test::StartsWith),
        r"[a-c.*+?()\[\]\\|^$]{0,8}".prop_map(Test::Matches),
    ]
}

proptest! {
    #[test]
    fn judging_never_panics_and_not_is_the_opposite(
        value in any_value(),
        path in r"x(\.[abc0-9]|\.length|\.){0,3}",
        tests in prop::collection::vec(any_test(), 0..3),
    ) {
        let condition = var(&path, tests);
        let given = json!({ "x": value });
        let judged = judge(&condition, &given);
        let opposite = judge(&Condition::Not(Box::new(condition.clone())), &given);
        prop_assert_eq!(judged.holds, !opposite.holds);
        prop_assert_eq!(judge(&condition, &given), judged);
    }

    #[test]
    fn equality_is_symmetric(left in any_value(), right in any_value()) {
        let equal = |left: &Value, right: &Value| {
            judge(&var("x", vec![Test::Equals(right.clone())]), &json!({ "x": left })).holds
        };
        prop_assert_eq!(equal(&left, &right), equal(&right, &left));
    }
}
