//! Figures of an installation, and the reader of Prometheus over them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Stdio;

use longhaul_runtime::observing;
use longhaul_runtime::types::metrics::{IntakeKey, render};
use longhaul_runtime::types::{DaemonFigures, Figures};
use longhaul_testkit::parts::Python;
use serde_json::Value;

use crate::models::{World, fixes_it};
use crate::walking::one;

const READER: &str = r"
import json, sys
from prometheus_client.parser import text_string_to_metric_families
told = [[family.name, family.type, family.documentation, [[s.name, s.labels, s.value] for s in family.samples]]
        for family in text_string_to_metric_families(sys.stdin.read())]
print(json.dumps(told))
";

fn gathered(world: &World, daemon: Option<DaemonFigures>) -> Figures {
    observing::figures(&world.home.system().reader().unwrap().unwrap(), daemon).unwrap()
}

#[test]
fn figures_are_those_of_the_log() {
    let world = World::new(fixes_it);
    let told = one(&world.run(&["--agent", "anthropic/claude-haiku"]).succeeded());
    world.home.longhaul(&["session", "start", "--workflow", "team.fix", "--goal", "another"]).succeeded();
    let figures = gathered(&world, None);
    let tally = world.server.tally();
    let [(consumer, used)] = figures.usage.iter().collect::<Vec<_>>()[..] else { panic!("{figures:#?}") };
    assert_eq!(consumer.agent, "anthropic/claude-haiku");
    assert!(consumer.model.starts_with("anthropic/claude-haiku"), "{consumer:?}");
    assert_eq!(
        (used.requests, used.input_tokens, used.output_tokens),
        (4, tally.input_tokens, tally.output_tokens)
    );
    assert_eq!(Some(used.cost_micros), told["used"]["money_micros"].as_u64());
    assert_eq!(figures.turns, 4);
    let named = |states: &[(&str, u64)]| -> BTreeMap<String, u64> {
        states.iter().map(|(state, number)| ((*state).to_owned(), *number)).collect()
    };
    assert_eq!(figures.tasks, named(&[("completed", 1), ("open", 1)]));
    assert_eq!(figures.sessions, named(&[("idle", 1)]));
    assert_eq!(figures.workflows[0].runs, 2);
    assert!(figures.log_position > 10);
}

#[test]
fn heavy_the_reader_of_prometheus_reads_what_is_told() {
    let world = World::new(fixes_it);
    world.run(&["--agent", "anthropic/claude-haiku"]).succeeded();
    let key = IntakeKey { trigger: "a \"b\"\\c\nd".to_owned(), came_to: "task".to_owned() };
    let intake = BTreeMap::from([(key, 5)]);
    let daemon = DaemonFigures { uptime_ms: 1500, queue_length: 2, intake, ..DaemonFigures::default() };
    let text = render(&gathered(&world, Some(daemon)));
    let script = world.home.join("read.py");
    std::fs::write(&script, READER).unwrap();
    let mut python = Python::installed().python(&script);
    let mut child =
        python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let families: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let family = |name: &str| {
        families.iter().find(|family| family[0] == name).unwrap_or_else(|| panic!("{name}: {families:#?}"))
    };
    assert_eq!(family("longhaul_intake")[1], "counter");
    let sample = &family("longhaul_intake")[3][0];
    assert_eq!((&sample[1]["trigger"], &sample[2]), (&"a \"b\"\\c\nd".into(), &5.into()));
    assert_eq!(family("longhaul_daemon_uptime_seconds")[3][0][2], 1.5);
    assert_eq!(family("longhaul_tokens")[3].as_array().unwrap().len(), 2);
    let helped =
        families.iter().all(|family| !family[2].as_str().unwrap().is_empty() && family[1] != "unknown");
    assert!(helped, "{families:#?}");
}
