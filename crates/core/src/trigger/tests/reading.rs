//! What a file says, and what is wrong with it.

use super::*;
use crate::schedule::{CatchUp, Cron, Overlap, Zone};

const REFERENCE: &str = r#"defaults:
  coding: { pipeline: lh.pipeline.feature, budget: { money: 10usd }, max_attempts: 5 }
triggers:
  - id: nightly-audit
    schedule: { cron: "0 2 * * 1-5", zone: Europe/Berlin, catch_up: false }
    goal: Audit the modules changed this week.
    pipeline: lh.pipeline.audit
  - id: hook
    extends: coding
    webhook: { secret: $HOOK_SECRET, header: X-Hub-Signature-256 }
    when: { all: [ { path: $.action, equals: labeled }, { path: $.label.name, in: [longhaul] } ] }
    goal: "{{$.issue.title}}"
    source: "github:{{$.repository.full_name}}#{{$.issue.number}}"
  - id: issues
    extends: coding
    github: { repo: owner/name, token: $GITHUB_TOKEN, issues: { label: longhaul }, exclude: [needs-design], events: [issues, pull_request, check_suite, issue_comment], poll: 5m }
"#;

fn work() -> Work {
    Work {
        pipeline: None,
        agent: None,
        priority: Priority::Normal,
        deadline_ms: None,
        budget: Budget::default(),
        max_attempts: MAX_ATTEMPTS,
        labels: Vec::new(),
    }
}

#[test]
fn the_file_of_the_reference_is_read() {
    let read = read(REFERENCE, Owner::Workspace);
    let [nightly, hook, issues] = <[Trigger; 3]>::try_from(read.triggers).unwrap();
    assert_eq!(
        nightly.start,
        Start::Schedule(Schedule {
            cron: Cron::parse("0 2 * * 1-5").unwrap(),
            zone: Zone::named("Europe/Berlin").unwrap(),
            catch_up: CatchUp::No,
            overlap: Overlap::Skip,
        })
    );
    assert_eq!(nightly.work, Work { pipeline: Some("lh.pipeline.audit".into()), ..work() });
    assert!(REFERENCE[nightly.span.clone()].starts_with("id: nightly-audit"));
    let path = |text: &str| JsonPath::parse(text).unwrap();
    let parts = vec![
        When::Path { path: path("$.action"), tests: vec![Test::Equals("labeled".into())] },
        When::Path { path: path("$.label.name"), tests: vec![Test::In(vec!["longhaul".into()])] },
    ];
    let extended = Work {
        pipeline: Some("lh.pipeline.feature".into()),
        budget: Budget { money_micros: Some(10_000_000), ..Budget::default() },
        max_attempts: 5,
        ..work()
    };
    let expected = Trigger {
        id: "hook".into(),
        span: hook.span.clone(),
        switch: Switch::On,
        start: Start::Webhook(Webhook {
            secret: SecretName::parse("$HOOK_SECRET").unwrap(),
            header: "X-Hub-Signature-256".into(),
            same_body: SameBody::Duplicate,
        }),
        workspace: None,
        when: Some(When::All(parts)),
        catch_all: None,
        goal: Some(TextTemplate::parse("{{$.issue.title}}").unwrap()),
        source: Some(TextTemplate::parse("github:{{$.repository.full_name}}#{{$.issue.number}}").unwrap()),
        work: extended,
    };
    assert_eq!(hook, expected);
    assert_eq!((issues.start, issues.goal), (Start::Github, None));
    let [told] = &read.diagnostics[..] else { panic!("{:?}", read.diagnostics) };
    assert!(!told.is_error() && told.message.contains("this release does not serve them"), "{told:?}");
    assert_eq!(told.place(REFERENCE).line, 16);
}

#[test]
fn a_trigger_may_say_everything_about_the_work() {
    let text = "triggers:\n  - id: all\n    goal: Do it.\n    workflow: team.flow\n    agent: claude\n    priority: urgent\n    deadline: 2d\n    budget: { money: 1.50usd, tokens: 50k, time: 30m, turns: 20 }\n    max_attempts: 1\n    labels: [a, b]\n    enabled: false\n";
    let trigger = only(text);
    assert_eq!((trigger.switch, trigger.start.clone()), (Switch::Off, Start::Hand));
    let budget = Budget {
        money_micros: Some(1_500_000),
        tokens: Some(50_000),
        time_ms: Some(1_800_000),
        turns: Some(20),
    };
    let expected = Work {
        pipeline: Some("team.flow".into()),
        agent: Some("claude".into()),
        priority: Priority::Urgent,
        deadline_ms: Some(172_800_000),
        budget,
        max_attempts: 1,
        labels: vec!["a".into(), "b".into()],
    };
    assert_eq!(trigger.work, expected);
    let caps = crate::config::resolve(&[]).unwrap().caps;
    let capped = budget.over(caps);
    assert_eq!((capped.money_micros, capped.task_money_micros), (1_500_000, 1_500_000));
    assert_eq!((capped.tokens, capped.day_money_micros), (50_000, caps.day_money_micros));
    assert_eq!(Budget::default().over(caps), caps);
}

#[test]
fn a_key_of_its_own_counts_whole_and_takes_the_place_of_its_counterpart() {
    let text = "defaults:\n  d: { schedule: { cron: '@daily' }, pipeline: p, budget: { tokens: 1k, turns: 2 }, goal: Theirs., enabled: false }\ntriggers:\n  - { id: t, extends: d, webhook: { secret: $A }, catch_all: { cap: 3 }, workflow: w, budget: { money: 1usd } }\n";
    let trigger = only(text);
    assert_eq!(trigger.start.word(), "webhook");
    assert_eq!(trigger.work.pipeline.as_deref(), Some("w"));
    assert_eq!(trigger.work.budget, Budget { money_micros: Some(1_000_000), ..Budget::default() });
    assert_eq!((trigger.switch, trigger.catch_all), (Switch::Off, Some(3)));
    assert_eq!(trigger.goal, Some(TextTemplate::parse("Theirs.").unwrap()));
}

#[test]
fn a_file_that_says_nothing_has_no_triggers() {
    for text in ["", "# nothing\n", "triggers:\n", "triggers: []\n", "defaults:\ntriggers:\n"] {
        assert_eq!(
            read(text, Owner::Workspace),
            Read { triggers: Vec::new(), diagnostics: Vec::new() },
            "{text}"
        );
    }
}

/// The findings of a file, each as a person sees it.
fn findings(text: &str, owner: Owner) -> Vec<String> {
    let show = |told: &crate::workflow::diagnostic::Diagnostic| {
        let place = told.place(text);
        format!("{}:{} {}; {}", place.line, place.column, told.message, told.fix.as_deref().unwrap_or("-"))
    };
    read(text, owner).diagnostics.iter().map(show).collect()
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_a_remedy() {
    for (entry, told) in [
        ("goal: x", "2:5 a trigger needs `id`; add a line `id: …`"),
        ("id: Nightly\n    goal: x", "2:9 `Nightly` is no id of a trigger; use small letters"),
        ("id: a\n    goal: x\n    gaol: x", "4:5 a trigger has no key `gaol`; "),
        ("id: a", "2:5 a trigger needs `goal`"),
        (
            "id: a\n    extends: codin\n    goal: x",
            "3:14 `extends` must name an entry of `defaults`, and `codin` is none; did you mean `coding`?",
        ),
        (
            "id: a\n    goal: x\n    webhook: { secret: $A }",
            "2:5 trigger `a` has no `when`, so every signed request would begin a task; say which ones are wanted, or opt in",
        ),
        (
            "id: a\n    goal: x\n    catch_all: { cap: 1 }",
            "4:5 `catch_all` is for requests, and a person brings none",
        ),
        (
            "id: a\n    goal: x\n    webhook: { secret: $A }\n    catch_all: {}",
            "5:16 `catch_all` needs `cap`",
        ),
        (
            "id: a\n    goal: x\n    webhook: { secret: $A }\n    catch_all: { cap: 0 }",
            "5:23 `cap` says how many tasks a day, from 1 to 10000",
        ),
        (
            "id: a\n    goal: x\n    webhook: {}\n    when: { path: $.a, exists: true }",
            "4:14 `webhook` needs `secret`",
        ),
        (
            "id: a\n    goal: x\n    webhook: { secret: $A, header: 'a b' }\n    catch_all: { cap: 1 }",
            "4:36 `header` is no name of a header",
        ),
        (
            "id: a\n    goal: x\n    webhook: { secret: $A, same_body: twice }\n    catch_all: { cap: 1 }",
            "4:39 `same_body` cannot be `twice`; known are `duplicate`, `new`",
        ),
        (
            "id: a\n    goal: x\n    schedule: { cron: '0 25 * * *' }",
            "4:26 hour `25`: `25` does not fit; write `*` or a number from 0 to 23",
        ),
        ("id: a\n    goal: x\n    schedule: { cron: 0 25 * * * }", "4:25 hour `25`"),
        (
            "id: a\n    goal: x\n    schedule: { cron: '0 0 30 2 *' }",
            "4:23 `0 0 30 2 *` is never due: no month has such a day",
        ),
        (
            "id: a\n    goal: x\n    schedule: { cron: '@daily', zone: Berlin }",
            "4:39 there is no zone `Berlin`; did you mean `Europe/Berlin`?",
        ),
        (
            "id: a\n    goal: x\n    schedule: { cron: '@daily', overlap: queue }",
            "4:42 `overlap` cannot be `queue`; known are `skip`",
        ),
        (
            "id: a\n    goal: x\n    schedule: { cron: '@daily' }\n    webhook: { secret: $A }",
            "2:5 a trigger waits for one of `webhook`, `schedule` and `github`; make two triggers of it",
        ),
        (
            "id: a\n    goal: '{{$.a}}'\n    schedule: { cron: '@daily' }",
            "3:11 `goal` takes values from a request, and a schedule brings none",
        ),
        (
            "id: a\n    goal: '{{a}}'\n    webhook: { secret: $A }\n    catch_all: { cap: 1 }",
            "3:11 `goal`: `a` is no path: it does not begin with `$`",
        ),
        (
            "id: a\n    goal: x\n    source: '{{$.a}}'\n    webhook: { secret: $A }\n    catch_all: { cap: 1 }",
            "4:13 `source` must name one thing, and say of what kind before any value",
        ),
        (
            "id: a\n    goal: x\n    source: cli\n    webhook: { secret: $A }\n    catch_all: { cap: 1 }",
            "4:13 `source` must name one thing",
        ),
        (
            "id: a\n    goal: x\n    webhook: { secret: $A }\n    when: { path: $.a }",
            "5:11 a condition on a path says nothing about its value; add `equals`",
        ),
        (
            "id: a\n    goal: x\n    webhook: { secret: $A }\n    when: { equals: 1 }",
            "5:11 a condition has exactly one of `all`, `any`, `not` and `path`",
        ),
        (
            "id: a\n    goal: x\n    webhook: { secret: $A }\n    when: { all: [] }",
            "5:18 `all` has no conditions",
        ),
        (
            "id: a\n    goal: x\n    webhook: { secret: $A }\n    when: { path: a.b, equals: 1 }",
            "5:19 `a.b` is no path: it does not begin with `$`",
        ),
        (
            "id: a\n    goal: x\n    webhook: { secret: $A }\n    when: { path: $.a, matches: '(' }",
            "5:33 `matches` is not a pattern",
        ),
        (
            "id: a\n    goal: x\n    pipeline: a\n    workflow: b",
            "5:5 `pipeline` and `workflow` both say what leads there",
        ),
        ("id: a\n    goal: x\n    pipeline: ../a", "4:15 `pipeline` is no id of a workflow"),
        ("id: a\n    goal: x\n    budget: { money: 3 }", "4:22 `money`: `3` is not a sum of money"),
        ("id: a\n    goal: x\n    budget: { turns: 0 }", "4:22 `turns`: a cap of 0 lets nothing be done"),
        ("id: a\n    goal: x\n    max_attempts: 0", "4:19 `max_attempts` is a number from 1 to 50"),
        ("id: a\n    goal: x\n    priority: now", "4:15 `priority` cannot be `now`"),
        ("id: a\n    goal: x\n    workspace: shop", "4:5 a trigger of a repository works in that repository"),
        (
            "id: a\n    goal: x\n  - id: a\n    goal: y",
            "4:5 two triggers are called `a`; give one of them another id",
        ),
    ] {
        let text = format!("triggers:\n  - {entry}\ndefaults: {{ coding: {{}} }}\n");
        let found = findings(&text, Owner::Workspace);
        assert_eq!(found.len(), 1, "{entry}: {found:#?}");
        assert!(found[0].starts_with(told), "{entry}: {}", found[0]);
    }
}

#[test]
fn defaults_are_looked_at_once_whoever_extends_them() {
    let text = "defaults:\n  d: { max_attempts: 0, id: x }\ntriggers:\n  - { id: a, extends: d, goal: x }\n  - { id: b, extends: d, goal: x }\n";
    let found = findings(text, Owner::Workspace);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].starts_with("2:22 `max_attempts` is a number from 1 to 50"), "{found:#?}");
    assert!(found[1].starts_with("2:25 `d` of `defaults` has no key `id`"), "{found:#?}");
}

#[test]
fn triggers_of_the_user_say_where_they_work_and_ids_are_per_workspace() {
    let text =
        "triggers:\n  - { id: a, goal: x, workspace: shop }\n  - { id: a, goal: x, workspace: bank }\n";
    assert_eq!(findings(text, Owner::User), Vec::<String>::new());
    assert_eq!(read(text, Owner::User).triggers[1].workspace.as_deref(), Some("bank"));
    let found = findings("triggers:\n  - { id: a, goal: x }\n", Owner::User);
    assert!(found[0].starts_with("2:5 a trigger of your own needs `workspace`"), "{found:?}");
    let twice = text.replace("bank", "shop");
    assert!(findings(&twice, Owner::User)[0].starts_with("3:5 two triggers are called `a`"));
}

#[test]
fn a_secret_that_is_written_out_is_refused_and_never_repeated() {
    for value in
        ["hunter2-canary", "'hunter2-canary'", "{ a: hunter2-canary }", "[hunter2-canary]", "$hunter2-canary"]
    {
        let text = format!(
            "triggers:\n  - id: a\n    goal: x\n    webhook: {{ secret: {value} }}\n    catch_all: {{ cap: 1 }}\n"
        );
        let found = findings(&text, Owner::Workspace);
        assert!(found[0].starts_with("4:24 `secret` is written out here"), "{found:?}");
        assert!(found[0].contains("longhaul secret set HOOK_SECRET"), "{found:?}");
        assert!(!format!("{:?}", read(&text, Owner::Workspace)).contains("canary"), "{value}");
    }
}

#[test]
fn what_is_no_yaml_or_no_file_of_triggers_is_said() {
    assert!(findings("triggers: [", Owner::Workspace)[0].contains("this is not YAML"));
    assert!(
        findings("- id: a", Owner::Workspace)[0]
            .contains("a file of triggers must be a map, and this is a list")
    );
    assert!(findings("trigger: []", Owner::Workspace)[0].contains("did you mean `triggers`?"));
    assert!(findings("triggers: {}", Owner::Workspace)[0].contains("`triggers` must be a list"));
    assert!(findings("triggers: [1]", Owner::Workspace)[0].contains("a trigger must be a map"));
    assert!(findings("defaults: [1]", Owner::Workspace)[0].contains("`defaults` must be a map"));
    let many = format!("triggers:\n{}", "  - { goal: x }\n".repeat(501));
    assert!(findings(&many, Owner::Workspace).iter().any(|told| told.contains("the file has 501 triggers")));
}
