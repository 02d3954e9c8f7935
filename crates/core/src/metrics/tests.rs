//! The text is read back by a strict reader of the format, written from its description.

use proptest::prelude::*;

use super::*;
use crate::stats::{RunEnd, Spread};

/// One sample as it was read.
#[derive(Debug, Clone, PartialEq)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

/// Reads the whole text, or says which line is not of the format.
fn read(text: &str) -> Result<Vec<Sample>, String> {
    let (mut samples, mut types, mut current) = (Vec::new(), BTreeMap::new(), String::new());
    if !text.is_empty() && !text.ends_with('\n') {
        return Err("the last line has no end".to_owned());
    }
    for line in text.split_terminator('\n') {
        let wrong = |what: &str| Err(format!("{what}: {line:?}"));
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, _) = rest.split_once(' ').ok_or(line)?;
            if types.contains_key(name) {
                return wrong("a family is told twice");
            }
            current = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').ok_or(line)?;
            if name != current || !["counter", "gauge"].contains(&kind) {
                return wrong("not the type of the family");
            }
            types.insert(name.to_owned(), kind.to_owned());
        } else {
            let sample = sample(line).ok_or_else(|| format!("not a sample: {line:?}"))?;
            match types.get(&sample.name) {
                Some(_) if sample.name != current => return wrong("outside of its family"),
                Some(kind) if (kind == "counter") != sample.name.ends_with("_total") => {
                    return wrong("not named as its kind");
                }
                Some(_) => samples.push(sample),
                None => return wrong("without a type"),
            }
        }
    }
    Ok(samples)
}

fn sample(line: &str) -> Option<Sample> {
    let end = line.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        let mut letters = inside.char_indices();
        loop {
            let (label, after) = letters.as_str().split_once("=\"")?;
            if label.is_empty() || !label.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_') {
                return None;
            }
            letters = after.char_indices();
            let mut value = String::new();
            loop {
                match letters.next()?.1 {
                    '"' => break,
                    '\\' => value.push(match letters.next()?.1 {
                        'n' => '\n',
                        letter @ ('\\' | '"') => letter,
                        _ => return None,
                    }),
                    letter => value.push(letter),
                }
            }
            if labels.insert(label.to_owned(), value).is_some() {
                return None;
            }
            match letters.next()?.1 {
                ',' => {}
                '}' => break,
                _ => return None,
            }
        }
        rest = letters.as_str();
    }
    let value = rest.strip_prefix(' ')?;
    if !value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    Some(Sample { name: name.to_owned(), labels, value: value.parse().ok()? })
}

fn figures() -> Figures {
    Figures {
        version: "0.1.0".to_owned(),
        log_position: 12_345,
        tasks: BTreeMap::from([("open".to_owned(), 3), ("could not".to_owned(), 1)]),
        sessions: BTreeMap::from([("thinking".to_owned(), 2)]),
        usage: BTreeMap::from([(
            Consumer { agent: "claude".to_owned(), model: "anthropic/claude-haiku".to_owned() },
            Used { requests: 4, input_tokens: 1000, output_tokens: 50, cost_micros: 1_500_001 },
        )]),
        turns: 9,
        workflows: vec![WorkflowStats {
            workflow: "team.fix".to_owned(),
            runs: 3,
            outcomes: BTreeMap::from([(RunEnd::Completed, 2), (RunEnd::CouldNot, 1)]),
            measured: 3,
            duration_ms: Spread { p50: 61_005, p95: 120_000 },
            turns: Spread::default(),
            tokens: Spread::default(),
            cost_micros: Spread::default(),
            total_cost_micros: 0,
        }],
        daemon: Some(DaemonFigures {
            uptime_ms: 90_061,
            queue_length: 7,
            queue: QueueState::Paused,
            intake: BTreeMap::from([(
                IntakeKey { trigger: "hook".to_owned(), came_to: "duplicate".to_owned() },
                11,
            )]),
        }),
    }
}

#[test]
fn all_figures_are_told_with_their_kind() {
    insta::assert_snapshot!(render(&figures()), @r#"
    # HELP longhaul_build_info The release that tells this. Always 1.
    # TYPE longhaul_build_info gauge
    longhaul_build_info{version="0.1.0"} 1
    # HELP longhaul_log_position How many decisions the log holds.
    # TYPE longhaul_log_position gauge
    longhaul_log_position 12345
    # HELP longhaul_tasks Tasks by state.
    # TYPE longhaul_tasks gauge
    longhaul_tasks{state="could not"} 1
    longhaul_tasks{state="open"} 3
    # HELP longhaul_sessions Open sessions by what they are doing.
    # TYPE longhaul_sessions gauge
    longhaul_sessions{state="thinking"} 2
    # HELP longhaul_turns_total Turns that agents have answered.
    # TYPE longhaul_turns_total counter
    longhaul_turns_total 9
    # HELP longhaul_requests_total Requests to models that have a bill.
    # TYPE longhaul_requests_total counter
    longhaul_requests_total{agent="claude",model="anthropic/claude-haiku"} 4
    # HELP longhaul_tokens_total Tokens that models have read and written.
    # TYPE longhaul_tokens_total counter
    longhaul_tokens_total{agent="claude",model="anthropic/claude-haiku",direction="input"} 1000
    longhaul_tokens_total{agent="claude",model="anthropic/claude-haiku",direction="output"} 50
    # HELP longhaul_cost_dollars_total What was paid for models.
    # TYPE longhaul_cost_dollars_total counter
    longhaul_cost_dollars_total{agent="claude",model="anthropic/claude-haiku"} 1.500001
    # HELP longhaul_runs Runs of a workflow by how they came out.
    # TYPE longhaul_runs gauge
    longhaul_runs{workflow="team.fix",outcome="completed"} 2
    longhaul_runs{workflow="team.fix",outcome="could not"} 1
    # HELP longhaul_run_seconds How long runs of a workflow were at work, those that came to their end.
    # TYPE longhaul_run_seconds gauge
    longhaul_run_seconds{workflow="team.fix",quantile="0.5"} 61.005
    longhaul_run_seconds{workflow="team.fix",quantile="0.95"} 120.000
    # HELP longhaul_daemon_uptime_seconds How long the daemon has been up.
    # TYPE longhaul_daemon_uptime_seconds gauge
    longhaul_daemon_uptime_seconds 90.061
    # HELP longhaul_queue_length Tasks that wait for their turn.
    # TYPE longhaul_queue_length gauge
    longhaul_queue_length 7
    # HELP longhaul_queue_paused 1 while nothing new is started from the queue.
    # TYPE longhaul_queue_paused gauge
    longhaul_queue_paused 1
    # HELP longhaul_intake_total What triggers took in, by what became of it.
    # TYPE longhaul_intake_total counter
    longhaul_intake_total{trigger="hook",came_to="duplicate"} 11
    "#);
    let samples = read(&render(&figures())).unwrap();
    assert_eq!(samples.len(), 18);
}

#[test]
fn a_reader_of_the_format_refuses_what_is_not_of_it() {
    for wrong in ["a 1\n", "# TYPE a gauge\na 1\n", "# HELP a x\n# TYPE a gauge\na{b=\"c} 1\n", "a 1"] {
        assert!(read(wrong).is_err(), "{wrong:?}");
    }
}

proptest! {
    /// Whatever a workflow, a trigger, an agent or a model is called, the text is of the format, and the name comes back
    /// but for letters that nobody can see.
    #[test]
    fn any_name_is_read_back(name in any::<String>(), number in any::<u64>()) {
        let mut figures = figures();
        let key = IntakeKey { trigger: name.clone(), came_to: name.clone() };
        figures.daemon = Some(DaemonFigures { intake: BTreeMap::from([(key, number)]), ..DaemonFigures::default() });
        figures.workflows[0].workflow.clone_from(&name);
        figures.tasks = BTreeMap::from([(name.clone(), number)]);
        let samples = read(&render(&figures)).unwrap();
        let shown: String =
            name.chars().map(|letter| if letter.is_control() && letter != '\n' { '\u{fffd}' } else { letter }).collect();
        let found = samples.iter().find(|sample| sample.name == "longhaul_intake_total").unwrap();
        prop_assert_eq!(&found.labels["trigger"], &shown);
        prop_assert_eq!(samples.iter().filter(|sample| sample.labels.get("workflow") == Some(&shown)).count(), 4);
    }
}
