//! What becomes of a request.

use hmac::{Hmac, KeyInit, Mac};
use longhaul_events::Timestamp;
use serde_json::{Value, json};
use sha2::Sha256;

use super::*;
use crate::task::Source;

const SECRET: &str = "known-to-both";
const EVIDENCE: Evidence<'_> = Evidence { secret: Some(SECRET), now: Timestamp(0) };

const HOOK: &str = "triggers:
  - id: hook
    webhook: { secret: $HOOK }
    when:
      all:
        - { path: $.action, in: [opened, labeled] }
        - any: [ { path: $.label, equals: longhaul }, { path: $.urgent, equals: true } ]
        - not: { path: $.draft, exists: true }
    goal: \"{{$.title}}\"
    source: \"github:a/b#{{$.number}}\"
";

fn signed(body: &str, headers: &[(&str, &str)]) -> Delivery {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    let hex = longhaul_events::Digest(mac.finalize().into_bytes().into()).to_string();
    let signature = ("X-Hub-Signature-256".to_owned(), format!("sha256={hex}"));
    let others = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Delivery { headers: std::iter::once(signature).chain(others).collect(), body: body.into() }
}

fn judged(text: &str, payload: &Value) -> Judged {
    judge(&only(text), &signed(&payload.to_string(), &[]), EVIDENCE)
}

#[test]
fn a_request_that_fits_is_wanted() {
    let payload = json!({"action": "labeled", "label": "longhaul", "title": "Fix\u{7} it", "number": 12});
    let delivery = signed(&payload.to_string(), &[("X-GitHub-Delivery", "d-1")]);
    let expected = Wanted {
        goal: "Fix\u{fffd} it".into(),
        source: "github:a/b#12".parse().unwrap(),
        key: delivery.key(&Webhook {
            secret: SecretName::parse("$HOOK").unwrap(),
            header: "X-Hub-Signature-256".into(),
            same_body: SameBody::Duplicate,
        }),
        delivery: Some("d-1".into()),
    };
    assert_eq!(judge(&only(HOOK), &delivery, EVIDENCE), Judged::Wanted(expected));
}

#[test]
fn a_request_that_does_not_fit_is_not_wanted_because_of_something() {
    for (payload, because) in [
        (
            json!({"action": "closed", "label": "longhaul"}),
            "`$.action` is \"closed\", and it must be one of \"opened\", \"labeled\"",
        ),
        (json!({"label": "longhaul"}), "`$.action` is missing, and it must be one of"),
        (
            json!({"action": "opened", "label": "Longhaul"}),
            "nothing of several holds; the first: `$.label` is \"Longhaul\", and it must be \"longhaul\"",
        ),
        (json!({"action": "opened", "urgent": "true"}), "nothing of several holds"),
        (json!({"action": "opened", "urgent": true, "draft": 0}), "what must not hold does: `$.draft` is 0"),
    ] {
        let Judged::NotWanted { because: told } = judged(HOOK, &payload) else { panic!("{payload}") };
        assert!(told.starts_with(because), "{payload}: {told}");
    }
}

#[test]
fn what_cannot_be_put_in_is_refused() {
    let fitting = |more: Value| {
        let mut payload = json!({"action": "opened", "urgent": true, "title": "t", "number": 1});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        judged(HOOK, &payload)
    };
    let refused = |more: Value| match fitting(more) {
        Judged::Refused(problem) => problem,
        other => panic!("{other:?}"),
    };
    assert!(matches!(fitting(json!({})), Judged::Wanted(_)));
    assert_eq!(refused(json!({"title": null})), Problem::BlankGoal);
    assert_eq!(refused(json!({"title": "  \n"})), Problem::BlankGoal);
    assert_eq!(
        refused(json!({"number": null})),
        Problem::NoValue { field: "source", path: "$.number".into() }
    );
    assert_eq!(
        refused(json!({"number": [1]})),
        Problem::NoValue { field: "source", path: "$.number".into() }
    );
    assert_eq!(refused(json!({"number": "1 2"})), Problem::BadSource { text: "github:a/b#1 2".into() });
    assert_eq!(refused(json!({"number": "1\n2"})), Problem::BadSource { text: "github:a/b#1\n2".into() });
    let long = "x".repeat(600);
    assert!(
        matches!(refused(json!({"number": long})), Problem::BadSource { text } if text.chars().count() == 81)
    );
    let without = json!({"action": "opened", "urgent": true, "number": 1});
    let missing = Problem::NoValue { field: "goal", path: "$.title".into() };
    assert_eq!(judged(HOOK, &without), Judged::Refused(missing));
}

#[test]
fn nothing_is_looked_at_before_the_signature() {
    let trigger = only(HOOK);
    let mut forged = signed("no JSON at all", &[]);
    assert!(matches!(judge(&trigger, &forged, EVIDENCE), Judged::Refused(Problem::NotJson { .. })));
    forged.body.push(b'!');
    let told = judge(&trigger, &forged, EVIDENCE);
    assert_eq!(told, Judged::Refused(Problem::WrongSignature));
    assert!(matches!(&told, Judged::Refused(problem) if problem.is_unsigned()));
    for secret in [None, Some("")] {
        let no_secret = Problem::NoSecret { name: "HOOK".into() };
        assert_eq!(
            judge(&trigger, &signed("{}", &[]), Evidence { secret, ..EVIDENCE }),
            Judged::Refused(no_secret)
        );
    }
    let large = Delivery { headers: Vec::new(), body: vec![b' '; MOST_BODY_BYTES + 1] };
    let too_large = Problem::TooLarge { bytes: MOST_BODY_BYTES + 1 };
    assert_eq!(judge(&trigger, &large, EVIDENCE), Judged::Refused(too_large));
    assert!(!format!("{EVIDENCE:?}").contains(SECRET));
}

#[test]
fn a_trigger_that_is_off_or_no_webhook_wants_nothing() {
    let off = HOOK.replace("webhook:", "enabled: false\n    webhook:");
    let payload = json!({"action": "opened", "urgent": true, "title": "t", "number": 1});
    let because = "trigger `hook` is off".to_owned();
    assert_eq!(judged(&off, &payload), Judged::NotWanted { because });
    let hand = "triggers: [{ id: a, goal: x }]";
    let problem = Problem::NoWebhook { trigger: "a".into(), start: "hand" };
    assert_eq!(judged(hand, &payload), Judged::Refused(problem));
}

#[test]
fn without_a_source_the_trigger_itself_is_one() {
    let text = "triggers: [{ id: a, goal: x, webhook: { secret: $A }, catch_all: { cap: 2 } }]";
    let Judged::Wanted(wanted) = judged(text, &json!([])) else { panic!() };
    assert_eq!(wanted.source, Source::webhook("a"));
    let cron = only("triggers: [{ id: a, goal: x, schedule: { cron: '@daily' } }]");
    assert_eq!(cron.usual_source(), Source::cron("a"));
    let planned = Outcome::Wanted { goal: "x".into(), source: Source::cron("a") };
    assert_eq!(examine(&cron, &Value::Null).1, planned, "a tick brings nothing, and needs nothing");
    assert_eq!(Key::of_tick(Timestamp(5)).to_string(), "tick:5");
}

#[test]
fn equal_signed_bytes_are_one_delivery_whatever_the_headers_say() {
    let key = |text: &str, body: &str, headers: &[(&str, &str)]| {
        let Start::Webhook(webhook) = only(text).start else { panic!() };
        signed(body, headers).key(&webhook).to_string()
    };
    let usual = "triggers: [{ id: a, goal: x, webhook: { secret: $A }, catch_all: { cap: 2 } }]";
    let (first, second) = ([("X-GitHub-Delivery", "1")], [("X-GitHub-Delivery", "2")]);
    assert_eq!(key(usual, "{}", &first), key(usual, "{}", &second));
    assert_ne!(key(usual, "{}", &first), key(usual, "{ }", &first));
    assert_eq!(key(usual, "", &[]), "body:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    let new = usual.replace("$A", "$A, same_body: new");
    assert_eq!(key(&new, "{}", &first), "id:1");
    assert_eq!(key(&new, "{}", &[]), key(usual, "{}", &[]), "without an id there is only the body");
    // The id is signed there.
    let standard = usual.replace("$A", "$A, header: webhook-signature");
    assert_eq!(key(&standard, "{}", &[("webhook-id", "m1"), ("X-GitHub-Delivery", "9")]), "id:m1");
}

#[test]
fn a_delivery_is_known_by_the_first_header_that_names_it_plainly() {
    let id = |headers: &[(&str, &str)]| signed("{}", headers).id().map(str::to_owned);
    assert_eq!(id(&[("idempotency-key", "i"), ("x-github-delivery", "g")]).as_deref(), Some("g"));
    assert_eq!(id(&[("X-Gitlab-Event-UUID", " u ")]).as_deref(), Some("u"));
    assert_eq!(id(&[("X-GitHub-Delivery", "a b"), ("Idempotency-Key", "i")]).as_deref(), Some("i"));
    for wrong in ["", "a\u{1b}", "ü", &"x".repeat(LONGEST_DELIVERY_ID + 1)] {
        assert_eq!(id(&[("X-GitHub-Delivery", wrong)]), None, "{wrong}");
    }
}

#[test]
fn whoever_tries_a_trigger_sees_every_condition_with_its_value() {
    let told = |payload: &Value| {
        let (lines, outcome) = examine(&only(HOOK), payload);
        let line = |line: &Line| {
            let value = line.value.as_deref().unwrap_or("");
            format!("{}{} | {value} | {}", "  ".repeat(line.depth), line.what, line.shown.word())
        };
        (lines.iter().map(line).collect::<Vec<_>>().join("\n"), outcome)
    };
    let (lines, outcome) = told(&json!({"action": "opened", "urgent": true, "title": "t", "number": 1}));
    let expected = "all of |  | yes
  $.action in \"opened\", \"labeled\" | \"opened\" | yes
  any of |  | yes
    $.label = \"longhaul\" | missing | no
    $.urgent = true | true | yes
  not |  | yes
    $.draft exists | missing | no
goal | t | -
source | github:a/b#1 | -";
    assert_eq!(lines, expected);
    assert_eq!(outcome, Outcome::Wanted { goal: "t".into(), source: "github:a/b#1".parse().unwrap() });
    let (lines, outcome) = told(&json!({"action": "closed"}));
    assert!(
        lines.starts_with("all of |  | no\n  $.action in \"opened\", \"labeled\" | \"closed\" | no"),
        "{lines}"
    );
    assert!(matches!(outcome, Outcome::NotWanted { .. }));
}

#[test]
fn each_test_says_what_it_should() {
    let holds = |test: &str, payload: &Value| {
        let text = format!(
            "triggers: [{{ id: a, goal: x, webhook: {{ secret: $A }}, when: {{ path: $.v, {test} }} }}]"
        );
        matches!(examine(&only(&text), payload).1, Outcome::Wanted { .. })
    };
    for (test, fitting, other) in [
        ("equals: 1", json!(1.0), json!("1")),
        ("equals: '1'", json!("1"), json!(1)),
        ("equals: null", json!(null), json!(0)),
        ("equals: [a, { b: 1 }]", json!(["a", {"b": 1}]), json!(["a"])),
        ("in: [1, a]", json!("a"), json!("A")),
        ("exists: true", json!(false), json!(null)),
        ("exists: false", json!(null), json!("")),
        ("matches: '^v[0-9]+$'", json!("v12"), json!("xv12")),
        ("matches: '^1$'", json!(1), json!([1])),
        ("exists: true, matches: 'b'", json!("abc"), json!("acc")),
    ] {
        assert!(holds(test, &json!({"v": fitting})), "{test} {fitting}");
        assert!(!holds(test, &json!({"v": other})), "{test} {other}");
    }
    assert!(!holds("equals: null", &json!({})), "what is missing is not nothing");
    assert!(holds("exists: false", &json!({})));
    assert!(
        !holds("matches: '^(a+)+$'", &json!({"v": format!("{}!", "a".repeat(5000))})),
        "it comes to an end"
    );
}
