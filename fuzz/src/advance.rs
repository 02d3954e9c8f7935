//! What agents hand in. The first line says which workflow is played, by a number, and its vars as JSON; each further line
//! is an answer, again and again until the session ends. Behind a `!` answers are made from what the step wants.

use std::sync::LazyLock;

use longhaul_core::workflow::Workflow;
use longhaul_core::workflow::answer::NotesRequired;
use longhaul_core::workflow::compile::Syntax;
use longhaul_events::{CloseOutcome, Verdict};
use serde_json::{Map, Value, json};

use super::draw::Draw;
use super::files;
use super::play::{Due, Play};
use super::replay;

/// A person may say no for ever; here only so often.
const MOST_REJECTIONS: u64 = 8;

static WORKFLOWS: LazyLock<Vec<Workflow>> = LazyLock::new(|| {
    vec![
        files::compiled(include_str!("../seeds/native/kinds.yml"), Syntax::Yaml),
        files::compiled(include_str!("../seeds/native/work.yml"), Syntax::Yaml),
        files::compiled(include_str!("../seeds/workrail/open.json"), Syntax::Json),
        files::compiled(include_str!("../seeds/workrail/calls.json"), Syntax::Json),
    ]
});

/// Where the next answer comes from.
enum Agent<'a> {
    Script { lines: Vec<Value>, next: usize },
    Choices(Draw<'a>),
}

pub fn run(bytes: &[u8]) {
    if let Some(choices) = bytes.strip_prefix(b"!") {
        let mut draw = Draw::new(choices);
        let workflow = draw.one_of(&WORKFLOWS).clone();
        let vars = if draw.below(2) == 0 { Map::new() } else { draw.object() };
        play(workflow, &vars, Agent::Choices(draw));
    } else if let Ok(text) = std::str::from_utf8(bytes) {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let (number, vars) = first.split_once(' ').unwrap_or((first, ""));
        let number: usize = number.parse().unwrap_or_default();
        let workflow = WORKFLOWS[number % WORKFLOWS.len()].clone();
        let vars = serde_json::from_str(vars).unwrap_or_default();
        let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| Value::from(line));
        play(workflow, &vars, Agent::Script { lines: rest.lines().map(read).collect(), next: 0 });
    }
}

fn play(workflow: Workflow, vars: &Map<String, Value>, mut agent: Agent<'_>) {
    let most = replay::most_arrivals(&workflow.steps).saturating_add(MOST_REJECTIONS * 2);
    let Some(mut play) = Play::start(workflow, vars) else { return };
    walk(&mut play, &mut agent, most);
    replay::check(&play);
    if play.session.closed == Some(CloseOutcome::Completed) {
        play.carry_on(&agent.words());
        walk(&mut play, &mut agent, most);
        replay::check(&play);
    }
}

fn walk(play: &mut Play, agent: &mut Agent<'_>, most: u64) {
    let mut rejections = 0;
    for _ in 0..most {
        match play.due() {
            Due::Answer => {
                if let Err(reasons) = play.answer(&agent.answer(play)) {
                    assert!(!reasons.is_empty(), "a refusal says why");
                }
            }
            Due::Work => play.work(&agent.result()),
            Due::Gate if rejections < MOST_REJECTIONS && agent.rejects() => {
                rejections += 1;
                play.gate(Verdict::Rejected);
            }
            Due::Gate => play.approve(),
            Due::Nothing => return,
        }
    }
    assert!(matches!(play.due(), Due::Nothing), "`{}` did not end within {most}", play.workflow.id);
}

impl Agent<'_> {
    fn answer(&mut self, play: &Play) -> Value {
        match self {
            Self::Script { .. } => self.line(),
            Self::Choices(draw) if draw.is_done() => fitting(play),
            Self::Choices(draw) => match draw.below(4) {
                0 => draw.value(),
                1 => json!({ "notes": draw.text(), "vars": draw.object(), "artifacts": [draw.value()] }),
                2 => almost_fitting(play, draw),
                _ => fitting(play),
            },
        }
    }

    fn result(&mut self) -> Value {
        match self {
            Self::Script { .. } => self.line(),
            Self::Choices(draw) => match draw.below(4) {
                0 => json!({ "outcome": "failed" }),
                1 => json!({ "found": true, "value": draw.value() }),
                2 => draw.value(),
                _ => json!({ "outcome": "passed" }),
            },
        }
    }

    fn rejects(&mut self) -> bool {
        match self {
            Self::Script { .. } => self.line() == false,
            Self::Choices(draw) => draw.below(3) == 1,
        }
    }

    fn words(&mut self) -> String {
        match self {
            Self::Script { .. } => self.line().to_string(),
            Self::Choices(draw) => draw.text(),
        }
    }

    fn line(&mut self) -> Value {
        let Self::Script { lines, next } = self else { return Value::Null };
        let line = lines.get(*next % lines.len().max(1)).cloned();
        *next += 1;
        line.unwrap_or(Value::Null)
    }
}

/// An answer with all that the step asks for.
fn fitting(play: &Play) -> Value {
    let Some(wanted) = play.wanted() else { return Value::Null };
    let level = |levels: &Vec<String>| levels.last().cloned().unwrap_or_default();
    let mut artifacts: Vec<Value> =
        wanted.contracts.iter().map(|contract| contract.example.clone()).collect();
    for assessment in &wanted.assessments {
        let levels: Map<String, Value> = assessment
            .dimensions
            .iter()
            .map(|dimension| (dimension.id.clone(), Value::from(level(&dimension.levels))))
            .collect();
        artifacts
            .push(json!({ "kind": "wr.assessment", "assessmentId": assessment.id, "dimensions": levels }));
    }
    let vars: Map<String, Value> =
        wanted.context_keys.iter().map(|key| (key.clone(), json!("set"))).collect();
    if wanted.notes == NotesRequired::No {
        json!({ "vars": vars, "artifacts": artifacts })
    } else {
        json!({ "notes": "a 1: done", "vars": vars, "artifacts": artifacts })
    }
}

fn almost_fitting(play: &Play, draw: &mut Draw<'_>) -> Value {
    let mut answer = fitting(play);
    match draw.below(4) {
        0 => answer["vars"] = Value::Object(draw.object()),
        1 => answer["artifacts"] = json!([draw.value(), draw.value()]),
        2 => {
            let name = ["risk", "slices", "items", "again", "many", "score", "skip"][draw.below(7)];
            answer["vars"][name] = draw.value();
        }
        _ => answer[draw.text()] = draw.value(),
    }
    answer
}
