//! What a collector is told, whatever it makes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use longhaul_testkit::collector::{Collector, Reply, Span};

use super::exporter;
use crate::models::{World, fixes_it};
use crate::run::{arguments, prepared, words};
use crate::support::Home;
use crate::walking::one;

const QUICK: &str = "
cassette: 1
turns:
  - { match: { step: look }, complete: { notes: Looked. } }
  - { match: { step: change }, complete: { notes: Changed. } }
  - { match: { step: check }, complete: { notes: Checked. } }
";

const PATIENCE: Duration = Duration::from_secs(30);

fn rehearse(home: &Home) -> String {
    let told = one(&home.run(&words(&arguments(home))).inside("repo").go().succeeded());
    assert_eq!(told["outcome"]["kind"], "completed", "{told:#}");
    told["sessionId"].as_str().unwrap().to_owned()
}

fn number_of(spans: &[Span], operation: &str) -> usize {
    spans.iter().filter(|span| span.name.split(' ').next() == Some(operation)).count()
}

/// How often each span was told.
fn counted(spans: &[Span]) -> BTreeMap<Vec<u8>, usize> {
    let mut counted = BTreeMap::new();
    spans.iter().for_each(|span| *counted.entry(span.span_id.clone()).or_default() += 1);
    counted
}

/// A log that is there before anybody is told: what is in it is not told.
fn begun() -> Home {
    let home = prepared(QUICK);
    rehearse(&home);
    home
}

#[test]
fn a_run_tells_the_collector_of_its_environment_as_a_tree_with_what_models_billed() {
    let world = World::new(fixes_it);
    let collector = Collector::start([]).unwrap();
    let run =
        ["run", "--workflow", "team.fix", "--goal", "fix it", "--json", "--agent", "anthropic/claude-haiku"];
    let run = world.command(&run).variable("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint());
    let told = one(&run.variable("DO_NOT_TRACK", "1").go().succeeded());
    let spans = collector.wait(|spans| number_of(spans, "invoke_workflow") == 1);
    let names: BTreeSet<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    for wanted in [
        "invoke_workflow team.fix",
        "invoke_agent anthropic/claude-haiku",
        "execute_tool read",
        "execute_tool bash",
    ] {
        assert!(names.contains(wanted), "{wanted}: {names:?}");
    }
    assert_eq!((number_of(&spans, "chat"), number_of(&spans, "invoke_agent")), (4, 2), "{names:?}");
    assert_eq!(
        spans.iter().map(|span| &span.trace_id).collect::<BTreeSet<_>>().len(),
        1,
        "a task is a trace"
    );
    assert!(counted(&spans).values().all(|times| *times == 1));
    let by_id: BTreeMap<&[u8], &Span> = spans.iter().map(|span| (span.span_id.as_slice(), span)).collect();
    for span in &spans {
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{span:?}");
        match span.name.split(' ').next().unwrap() {
            "invoke_workflow" => assert_eq!(span.parent_span_id, [0; 0]),
            "invoke_agent" => assert!(by_id[&span.parent_span_id[..]].name.starts_with("invoke_workflow")),
            "chat" | "execute_tool" => {
                assert!(by_id[&span.parent_span_id[..]].name.starts_with("invoke_agent"));
            }
            _ => {}
        }
    }
    // What was said is not told.
    let heard = collector.heard().concat();
    let has = |words: &str| heard.windows(words.len()).any(|part| part == words.as_bytes());
    assert!(!has("fix it") && !has("It is inverted.") && !has("login.sh"));
    assert!(has(told["sessionId"].as_str().unwrap()));
    let tally = world.server.tally();
    collector.wait_for_sums("gen_ai.client.token.usage", 8);
    let sums: BTreeMap<String, (u64, u64)> = collector
        .sums("gen_ai.client.token.usage")
        .into_iter()
        .map(|(kind, count, sum)| (kind, (count, format!("{sum:.0}").parse().unwrap())))
        .collect();
    let wanted = [("input", tally.input_tokens), ("output", tally.output_tokens)];
    assert_eq!(sums, wanted.map(|(kind, sum)| (kind.to_owned(), (4, sum))).into());
}

#[test]
fn a_collector_that_is_away_slow_or_mad_misses_nothing_and_nobody_waits_for_it() {
    let home = begun();
    let trouble =
        [Reply::Garbage, Reply::Status(503), Reply::Silence, Reply::Status(404), Reply::Status(301)];
    let collector = Collector::start(trouble).unwrap();
    let exporter = exporter(&home, &collector);
    // So that it has begun to follow before there is something new.
    crate::running::wait_until("it has begun", || home.longhaul_home().join("state/otlp.json").exists());
    let since = Instant::now();
    let session = rehearse(&home);
    assert!(since.elapsed() < PATIENCE, "{:?}", since.elapsed());
    collector.wait_for_requests(5);
    let spans = collector.wait(|spans| number_of(spans, "invoke_workflow") == 1);
    assert_eq!(number_of(&spans, "invoke_agent"), 3, "{spans:#?}");
    assert!(counted(&spans).values().all(|times| *times == 1));
    exporter.stop(PATIENCE);
    let heard = collector.heard().concat();
    assert!(heard.windows(session.len()).any(|part| part == session.as_bytes()));
}

#[test]
fn what_nobody_heard_that_it_was_taken_is_told_again_with_the_same_ids_and_counts_once() {
    let home = begun();
    let collector = Collector::start([Reply::TakeAndHangUp, Reply::Take, Reply::TakeAndHangUp]).unwrap();
    let exporter = exporter(&home, &collector);
    crate::running::wait_until("it has begun", || home.longhaul_home().join("state/otlp.json").exists());
    rehearse(&home);
    let spans = collector.wait(|spans| number_of(spans, "invoke_workflow") >= 1);
    exporter.stop(PATIENCE);
    let spans = if spans.len() < collector.spans().len() { collector.spans() } else { spans };
    let counted = counted(&spans);
    assert!(counted.values().any(|times| *times > 1), "{counted:?}");
    let once: BTreeSet<String> = spans.iter().map(|span| format!("{span:?}")).collect();
    assert_eq!(once.len(), counted.len(), "the same again, to the last byte");
    let requests: u64 =
        collector.sums("gen_ai.client.operation.duration").iter().map(|(_, count, _)| count).sum();
    assert_eq!(requests, 3, "one for each turn");
}

#[test]
fn whoever_starts_next_goes_on_where_the_one_before_ended() {
    let home = begun();
    let collector = Collector::start([]).unwrap();
    let first = exporter(&home, &collector);
    crate::running::wait_until("it has begun", || home.longhaul_home().join("state/otlp.json").exists());
    rehearse(&home);
    collector.wait(|spans| number_of(spans, "invoke_workflow") == 1);
    first.stop(PATIENCE);
    rehearse(&home);
    let (second, third) = (exporter(&home, &collector), exporter(&home, &collector));
    let spans = collector.wait(|spans| number_of(spans, "invoke_workflow") == 2);
    second.stop(PATIENCE);
    third.stop(PATIENCE);
    assert!(
        counted(&collector.spans()).values().all(|times| *times == 1),
        "one tells, also where there are two"
    );
    let traces: BTreeSet<&Vec<u8>> = spans.iter().map(|span| &span.trace_id).collect();
    assert_eq!(traces.len(), 2);
}

#[test]
fn what_a_collector_will_never_take_is_left_out_and_the_rest_is_told() {
    let home = begun();
    let collector = Collector::start([Reply::Status(400)]).unwrap();
    let exporter = exporter(&home, &collector);
    crate::running::wait_until("it has begun", || home.longhaul_home().join("state/otlp.json").exists());
    rehearse(&home);
    collector.wait_for_requests(1);
    rehearse(&home);
    collector.wait(|spans| number_of(spans, "invoke_workflow") >= 1);
    exporter.stop(PATIENCE);
}

#[test]
fn a_collector_that_says_nothing_keeps_no_run_from_its_end() {
    let home = prepared(QUICK);
    let collector = Collector::start(std::iter::repeat_n(Reply::Silence, 100)).unwrap();
    let run = home.run(&words(&arguments(&home))).inside("repo");
    let told = one(&run.variable("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint()).go().succeeded());
    assert_eq!(told["outcome"]["kind"], "completed", "{told:#}");
    let nonsense = home.run(&words(&arguments(&home))).inside("repo");
    let nonsense = nonsense.variable("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:password-canary@nowhere");
    assert_eq!(one(&nonsense.go().succeeded())["outcome"]["kind"], "completed");
    let lines = || home.longhaul(&["logs", "--level", "warn", "--json"]).succeeded().stdout;
    crate::running::wait_until("it is said", || lines().contains("no collector is told what is done"));
    assert!(!lines().contains("canary"), "{}", lines());
}
