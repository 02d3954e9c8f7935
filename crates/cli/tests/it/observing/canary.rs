//! A secret in the settings, a prompt, what a tool gives, an error and a header is in no line, no span and no figure.

use std::fs;
use std::path::Path;

use longhaul_runtime::observing;
use longhaul_runtime::types::metrics::render;
use longhaul_testkit::collector::Collector;
use longhaul_testkit::model_server::{Answer, Fault};
use serde_json::json;

use crate::models::World;
use crate::support::files;
use crate::walking::{one, workflow};

/// Nothing looks like it.
const CANARY: &str = "quiet-canary-4711-sings";
/// What the collector is shown.
const HEADER: &str = "another-canary-0815-hums";

fn holds(bytes: &[u8], value: &str) -> bool {
    bytes.windows(value.len()).any(|part| part == value.as_bytes())
}

fn assert_clean(folder: &Path) {
    for path in files(folder) {
        let bytes = fs::read(&path).unwrap();
        for value in [CANARY, HEADER] {
            assert!(
                !holds(&bytes, value),
                "{value} is in {}: {}",
                path.display(),
                String::from_utf8_lossy(&bytes)
            );
        }
    }
}

#[test]
fn a_secret_is_in_no_line_no_span_and_no_figure_wherever_it_was_said() {
    let world = World::new(|asked| match asked.results().len() {
        0 if asked.number == 1 => Answer::fail(Fault::Overloaded { retry_after: Some("0".to_owned()) }),
        0 => Answer::call("bash", &json!({ "command": format!("echo {CANARY}; echo {CANARY} >&2; exit 7") })),
        1 => Answer::call(CANARY, &json!({ "path": CANARY })),
        2 => Answer::call("read", &json!({ "path": format!("/{CANARY}/{CANARY}") })),
        _ => Answer::say(CANARY).and_call("complete_step", &json!({ "notes": format!("It is {CANARY}.") })),
    });
    // A workflow that holds a secret is refused; what a goal brings into a prompt is not.
    let text = "longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\nvars:\n  goal: { type: string }\n\
        steps:\n  - { id: look, prompt: 'Use {{goal}}.' }\n";
    workflow(&world.home, "team.fix.yml", text);
    world.home.run(&["secret", "set", "DB_PASSWORD"]).stdin(CANARY).go().succeeded();
    let collector = Collector::start([]).unwrap();
    let goal = format!("fix {CANARY}");
    let run =
        ["run", "--workflow", "team.fix", "--goal", &goal, "--json", "--agent", "anthropic/claude-haiku"];
    let told = world
        .command(&run)
        .variable("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint())
        .variable("OTEL_EXPORTER_OTLP_HEADERS", format!("authorization=Bearer%20{HEADER}"))
        .variable("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
        .variable("LONGHAUL_LOG", "trace")
        .go();
    assert!(!holds(told.stderr.as_bytes(), HEADER) && !holds(told.stderr.as_bytes(), CANARY), "{told}");
    let told = one(&told.succeeded());
    assert_eq!(told["outcome"]["kind"], "completed", "{told:#}");
    let spans = collector.wait(|spans| spans.iter().any(|span| span.name.starts_with("invoke_workflow")));
    let lines = || world.home.longhaul(&["logs", "--json"]).succeeded().stdout;
    crate::running::wait_until("the runner is gone", || lines().contains("a runner ended"));
    // All of it was told, with content, and without the canary.
    let shown = format!("{spans:?}");
    assert!(shown.contains("[secret:DB_PASSWORD]") && !holds(shown.as_bytes(), CANARY), "{shown}");
    let heard = collector.heard();
    assert!(heard.iter().all(|request| !holds(request, CANARY)));
    let is_shown = |request: &Vec<u8>| String::from_utf8_lossy(request).matches(HEADER).count() == 1;
    assert!(heard.iter().all(is_shown), "the header is shown, and nothing else has it");
    assert!(
        lines().contains("a turn has no answer") && lines().contains("\"level\":\"debug\""),
        "{}",
        lines()
    );
    assert!(!holds(lines().as_bytes(), CANARY) && !holds(lines().as_bytes(), HEADER));
    assert_clean(&world.home.longhaul_home().join("state"));
    assert_clean(&world.home.longhaul_home().join("data"));
    let reader = world.home.system().reader().unwrap().unwrap();
    let figures = render(&observing::figures(&reader, None).unwrap());
    assert!(figures.contains("longhaul_turns_total") && !holds(figures.as_bytes(), CANARY), "{figures}");
    let stats = world.home.longhaul(&["stats", "--json"]).succeeded().stdout;
    assert!(stats.contains("team.fix") && !holds(stats.as_bytes(), CANARY), "{stats}");
}
