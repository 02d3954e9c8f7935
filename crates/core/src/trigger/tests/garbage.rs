//! Whatever comes in, nothing panics and nothing begins by chance.

use longhaul_events::Timestamp;
use proptest::prelude::*;

use super::*;

/// Words of the format, put together in any way.
fn files() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "triggers:\n",
        "defaults:\n",
        "  - id: a\n",
        "    ",
        "  ",
        "webhook: ",
        "schedule: ",
        "when: ",
        "goal: ",
        "source: ",
        "{ ",
        " }",
        "[ ",
        " ]",
        ", ",
        "secret: $A",
        "secret: x",
        "cron: '* * * * *'",
        "zone: UTC",
        "path: $.a",
        "equals: 1",
        "all: ",
        "not: ",
        "any: ",
        "catch_all: { cap: 1 }\n",
        "\n",
        "'{{$.a}}'",
        "\"{{\"",
        "extends: d\n",
        "d: ",
        "budget: ",
        "money: 1usd",
        "~",
        "- ",
        "matches: 'a'",
        "github: ",
        "labels: ",
        "\u{feff}",
        "#c\n",
        ": ",
    ]);
    prop::collection::vec(words, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn no_file_makes_it_panic_and_findings_lie_in_it(text in prop_oneof![files(), "\\PC{0,60}"]) {
        for owner in [Owner::Workspace, Owner::User] {
            for told in read(&text, owner).diagnostics {
                prop_assert!(told.span.start <= text.len() && told.span.start <= told.span.end);
                let _ = told.place(&text);
            }
        }
        prop_assert_eq!(hide_literals(&text).len(), text.len());
    }

    #[test]
    fn no_request_makes_it_panic(
        body in prop::collection::vec(any::<u8>(), 0..40),
        header in "(X-Hub-Signature-256|webhook-signature|X-Gitlab-Token)",
        value in "(sha256=)?[0-9a-f]{0,70}|v1,[A-Za-z0-9+/=]{0,50}|\\PC{0,30}",
        secret in "\\PC{0,20}|whsec_[A-Za-z]{0,10}",
        now: i64,
    ) {
        let text = format!("triggers: [{{ id: a, goal: '{{{{$.a}}}}', webhook: {{ secret: $A, header: {header} }}, catch_all: {{ cap: 1 }} }}]");
        let headers = vec![(header, value.clone()), ("webhook-id".to_owned(), value), ("webhook-timestamp".to_owned(), now.to_string())];
        let delivery = Delivery { headers, body };
        let judged = judge(&only(&text), &delivery, Evidence { secret: Some(&secret), now: Timestamp(now) });
        prop_assert!(!matches!(judged, Judged::Wanted(_)));
    }
}
