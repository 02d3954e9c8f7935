//! The guide has the same rows as the code, in the same order, and each row decides its own example.

use serde_json::{Map, Value, json};

use super::*;

const GUIDE: &str = include_str!("../../../../docs/guide/policies.md");

/// One row of the guide.
struct Told<'t> {
    table: &'t str,
    rule: &'t str,
    when: &'t str,
    decision: &'t str,
    example: Value,
}

fn told() -> Vec<Told<'static>> {
    let mut table = "";
    let mut rows = Vec::new();
    for line in GUIDE.lines() {
        if let Some(name) = line.strip_prefix("### `") {
            table = name.trim_end_matches('`');
        }
        let cells: Vec<&str> = line.split(" | ").map(|cell| cell.trim_matches([' ', '|'])).collect();
        if let ([rule, when, decision, example], false) = (cells.as_slice(), table.is_empty())
            && let Some(example) = example.strip_prefix('`')
        {
            let example = example.trim_end_matches('`');
            let example = serde_json::from_str(example).unwrap_or_else(|error| panic!("{line}: {error}"));
            rows.push(Told { table, rule, when, decision, example });
        }
    }
    rows
}

/// The case that every example changes.
fn usual() -> Value {
    let start = GUIDE.find("```json\n").expect("the guide has the usual case") + "```json\n".len();
    let end = GUIDE[start..].find("```").unwrap() + start;
    serde_json::from_str(&GUIDE[start..end]).unwrap()
}

/// As in RFC 7386.
fn changed(value: &mut Value, patch: &Value) {
    let Value::Object(entries) = patch else {
        value.clone_from(patch);
        return;
    };
    if !value.is_object() {
        *value = json!({});
    }
    for (name, entry) in entries {
        match entry {
            Value::Null => drop(value.as_object_mut().unwrap().remove(name)),
            _ => changed(&mut value[name], entry),
        }
    }
}

fn policy_of(table: &str) -> Policy {
    let word = table.split('.').next().unwrap();
    Policy::ALL.into_iter().find(|policy| policy.word() == word).expect("a table belongs to a policy")
}

fn asked(policy: Policy, case: &Value) -> Ruling {
    let settings = serde_json::from_value(case["settings"].clone()).unwrap();
    let inputs = policy.inputs().iter().filter_map(|input| Some((input.name, case.get(input.name)?)));
    let given: Map<String, Value> = inputs.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    decide(policy, &settings, &given)
}

#[test]
fn the_guide_has_the_rows_of_the_code() {
    let code: Vec<(&str, &str, &str, &str)> = tables()
        .iter()
        .flat_map(|table| table.rows.iter().map(|row| (table.name, row.rule, row.when, row.decision)))
        .collect();
    let told = told();
    let guide: Vec<(&str, &str, &str, &str)> =
        told.iter().map(|row| (row.table, row.rule, row.when, row.decision)).collect();
    // A row may have several examples.
    let mut once = guide.clone();
    once.dedup();
    assert_eq!(once, code);
}

#[test]
fn every_row_decides_its_example() {
    let usual = usual();
    for Told { table, rule, decision, example, .. } in told() {
        let mut case = usual.clone();
        changed(&mut case, &example);
        let ruling = asked(policy_of(table), &case);
        let held = format!("{table}:{rule}");
        assert!(ruling.rules.contains(&held), "{held}: {example}\n{ruling:#?}");
        assert!(!ruling.because.is_empty(), "{held}");
        let part = table.split_once('.').map(|(_, part)| part);
        let value = ruling.value();
        match part {
            None => assert_eq!(value["decision"], decision, "{held}"),
            Some(part) => {
                let said = ["phases", "families", "audits"].iter().find_map(|map| value[map].get(part));
                assert_eq!(said, Some(&json!(decision == "on")), "{held}: {value}");
            }
        }
    }
}

#[test]
fn what_is_not_known_or_cannot_be_read_goes_to_a_person_in_every_policy() {
    let usual = usual();
    for policy in Policy::ALL {
        let needed = policy.inputs().iter().filter(|input| input.need == Need::Always);
        for input in needed {
            for wrong in [Value::Null, json!("a word"), json!({ "outcome": [] })] {
                // Any object is a proof that did not pass, and a review that did not.
                let mut case = usual.clone();
                case[input.name] = wrong;
                let ruling = asked(policy, &case);
                let is_left_to_a_person = [PERSON, "never"].contains(&ruling.decision);
                assert!(is_left_to_a_person, "{policy:?} without {}: {ruling:?}", input.name);
            }
        }
    }
}

#[test]
fn nothing_that_is_not_known_leaves_a_phase_or_an_audit_out() {
    let routed = decide(Policy::Routing, &Settings::default(), &Map::new()).value();
    for map in ["phases", "families"] {
        assert!(routed[map].as_object().unwrap().values().all(|on| *on == true), "{routed}");
    }
    let audited = decide(Policy::Audits, &Settings::default(), &Map::new()).value();
    assert_eq!(audited["audits"], json!({ "production": true, "architecture": true, "security": true }));
    let rechecked = decide(Policy::Recheck, &Settings::default(), &Map::new()).value();
    assert_eq!(rechecked["classification"]["risk"], "high");
}

#[test]
fn a_file_that_is_moved_out_of_a_protected_folder_is_seen() {
    let mut case = usual();
    case["change"]["files"] =
        json!([{ "path": "src/free.yml", "from": ".longhaul/config.yml", "status": "renamed" }]);
    assert_eq!(asked(Policy::Merge, &case).decision, "never");
    assert_eq!(asked(Policy::Scope, &case).decision, "outside");
    assert_eq!(asked(Policy::Recheck, &case).decision, "person");
}

#[test]
fn a_file_that_is_moved_counts_once_and_is_not_deleted() {
    let moved = |number: usize| {
        let (path, from) = (format!("src/new/{number}.rs"), format!("src/{number}.rs"));
        [
            json!({ "path": path, "from": from, "status": "renamed" }),
            json!({ "path": from, "to": path, "status": "deleted" }),
        ]
    };
    let mut case = usual();
    case["classification"]["complexity"] = json!("small");
    case["change"]["files"] = json!((0..12).flat_map(moved).collect::<Vec<_>>());
    assert_eq!(asked(Policy::Recheck, &case).decision, "keep");
    case["change"]["files"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .for_each(|file| drop(file.as_object_mut().unwrap().remove("to")));
    assert_eq!(asked(Policy::Recheck, &case).decision, "raise");
}

#[test]
fn findings_keep_their_signature_when_words_and_lines_move() {
    let signed = |line: u64, evidence: &str, category: &str| {
        let mut case = usual();
        case["verdicts"][0]["result"]["findings"] = json!([
            { "severity": "Critical", "category": category, "file": "src/a.rs", "line": line, "evidence": evidence },
            { "severity": "Nit", "category": "style", "evidence": evidence },
        ]);
        asked(Policy::Review, &case).value()["signature"].clone()
    };
    assert_eq!(signed(3, "the lock is not held", "Race"), signed(9, "no lock", "race"));
    assert_ne!(signed(3, "the lock is not held", "race"), signed(3, "the lock is not held", "leak"));
}

/// Whoever keeps finding the same, finds something else each time, or never stops at a Critical: it ends.
#[test]
fn no_reviewer_keeps_the_loop_going() {
    for (name, category, end) in [
        ("the same", (|_| "race".to_owned()) as fn(u64) -> String, "escalate"),
        ("another", |n| format!("race {n}"), "escalate"),
    ] {
        let mut case = usual();
        let mut last = Value::Null;
        let mut decisions = Vec::new();
        for round in 0..20 {
            case["round"] = json!(round);
            case["last"] = last;
            case["verdicts"][0]["result"]["findings"] = json!([
                { "severity": "Critical", "category": category(round), "file": "src/a.rs", "evidence": "it is still there" },
            ]);
            let ruling = asked(Policy::Review, &case).value();
            decisions.push(ruling["decision"].as_str().unwrap().to_owned());
            if decisions.last().unwrap() != "fix" {
                break;
            }
            last = ruling;
        }
        assert_eq!(decisions.pop().unwrap(), end, "{name}");
        assert!(decisions.len() <= 3, "{name}: {decisions:?}");
        case["review"] = json!({ "decision": end });
        assert_eq!(asked(Policy::Merge, &case).decision, "person", "{name}");
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn scrap() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            prop::sample::select(vec!["low", "passed", "pass", "person", "", "src/a.rs", "**"])
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            let keys = ["decision", "outcome", "files", "findings", "result", "workflow", "risk", "path"];
            let key = prop::sample::select(keys.to_vec()).prop_map(str::to_owned);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_is_given_there_is_a_decision_and_no_scrap_merges(
            values in prop::collection::vec(scrap(), 8), chosen in 0..7_usize
        ) {
            let policy = Policy::ALL[chosen];
            let given: Map<String, Value> =
                policy.inputs().iter().map(|input| input.name.to_owned()).zip(values).collect();
            let ruling = decide(policy, &Settings::default(), &given);
            prop_assert!(!ruling.because.is_empty());
            prop_assert!(ruling.decision != "auto" && ruling.decision != "go", "{ruling:?}");
        }

        #[test]
        fn a_change_is_never_classified_lower_than_it_was(files in 0..60_usize, lines in 0..3000_u64, said in 0..4_usize) {
            let mut case = usual();
            case["classification"]["complexity"] = json!(["trivial", "small", "medium", "large"][said]);
            let file = |n: usize| json!({ "path": format!("src/{n}.rs"), "status": "modified" });
            case["change"] = json!({ "files": (0..files).map(file).collect::<Vec<_>>(), "lines": lines, "is_empty": files == 0 });
            let raised = asked(Policy::Recheck, &case).value()["classification"].clone();
            let raised: facts::Classification = serde_json::from_value(raised).unwrap();
            let said: facts::Classification = serde_json::from_value(case["classification"].clone()).unwrap();
            prop_assert!(raised.complexity >= said.complexity && raised.risk >= said.risk);
        }
    }
}
