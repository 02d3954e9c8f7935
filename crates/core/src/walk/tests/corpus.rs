//! Public WorkRail files, where they are at hand: each is walked to its end, and an agent sees all of it.

use longhaul_events::Verdict;
use serde_json::{Map, Value, json};

use super::play::Play;
use crate::parking::ParkCode;
use crate::walk;
use crate::walk::children::{self, End, EndWord, Ended};
use crate::workflow::answer::requirements;
use crate::workflow::step::{Loop, Routine, Sessions, Todo};
use crate::workflow::workrail::tests::corpus::outcomes;
use crate::workflow::{Step, StepKind, Workflow};

/// Takes out all conditions, so that every step and every fragment comes.
fn unconditional(steps: &mut [Step]) {
    for step in steps {
        step.when = None;
        match &mut step.kind {
            StepKind::Prompt(prompt) => {
                prompt.fragments.iter_mut().for_each(|fragment| fragment.when = None);
            }
            StepKind::Loop(Loop { steps, .. })
            | StepKind::Todo(Todo { steps, .. })
            | StepKind::Routine(Routine { steps, .. }) => {
                unconditional(steps);
            }
            StepKind::Run(_)
            | StepKind::Gather(_)
            | StepKind::Gate(_)
            | StepKind::Parallel(_)
            | StepKind::Spawn(_)
            | StepKind::Decide(_)
            | StepKind::Deliver(_) => {}
        }
    }
}

/// What was asked for; `level` picks the level of every dimension, counted from the end.
fn answer(workflow: &Workflow, id: &str, level: usize) -> Value {
    let step = walk::step_or_follow_up(workflow, id).unwrap();
    let wanted = requirements(workflow, &step);
    let mut artifacts: Vec<Value> =
        wanted.contracts.iter().map(|contract| contract.example.clone()).collect();
    if !wanted.assessments.is_empty() {
        artifacts.retain(|artifact| artifact["kind"] != "wr.assessment");
    }
    for assessment in &wanted.assessments {
        let pick =
            |levels: &[String]| levels[(levels.len() - 1).saturating_sub(level) % levels.len()].clone();
        let dimensions: Map<String, Value> =
            assessment.dimensions.iter().map(|one| (one.id.clone(), json!(pick(&one.levels)))).collect();
        artifacts.push(
            json!({ "kind": "wr.assessment", "assessmentId": assessment.id, "dimensions": dimensions }),
        );
    }
    json!({ "notes": "Looked at it, did it, checked it.", "artifacts": artifacts })
}

/// What delegations come to: the first has a result, the others are not there.
fn delegated(family: &Sessions<'_>) -> Vec<Ended> {
    let missing = || {
        let because = Some("no such workflow".to_owned());
        End::without_result(EndWord::CouldNot, ParkCode::NoSuchWorkflow, because)
    };
    let end = |index| if index == 0 { End::completed(json!({ "found": "it" })) } else { missing() };
    let ended = family.children.iter().enumerate();
    ended
        .map(|(index, child)| Ended { workflow: child.workflow.clone(), session: None, end: end(index) })
        .collect()
}

/// Plays to the end and returns everything that the agent was shown.
fn walked(workflow: Workflow) -> (String, String) {
    let items: Vec<Value> = (0..2).map(|n| json!({ "name": format!("slice {n}"), "id": n })).collect();
    let vars = json!({ "slices": items, "items": items, "maxRetries": 2 });
    let mut play = Play::try_start(workflow, vars.as_object().unwrap()).unwrap();
    let mut shown = String::new();
    for _ in 0..500 {
        if play.session.working().is_some() {
            let step = walk::step(&play.workflow, &play.at()).unwrap().clone();
            let family = step.kind.family().expect("nothing else is the engine's in these files");
            play.work(&children::result(&family, &delegated(&family)));
        } else if play.session.gate().is_some() {
            play.gate(Verdict::Approved);
        } else if play.session.tip().is_some() {
            shown += &play.prompt();
            let id = play.at();
            // What an agent would be told if it assessed itself otherwise.
            for reason in
                (0..6).filter_map(|level| play.refusal(&answer(&play.workflow, &id, level))).flatten()
            {
                shown.extend([reason.message, reason.fix, "\n".to_owned()]);
            }
            let tries = (0..6).any(|level| play.answer(&answer(&play.workflow, &id, level)).is_ok());
            assert!(tries, "{id} accepts no answer: {:#?}", play.events.last());
        } else {
            break;
        }
    }
    (play.at(), shown)
}

#[test]
fn every_public_file_walks_to_its_end() {
    for (name, _, outcome) in outcomes() {
        let workflow = outcome.value.unwrap();
        assert_eq!(walked(workflow).0, "completed", "{name}");
    }
}

/// Texts of a raw file that an agent must get to see, cut at its templates.
fn owed(value: &Value, texts: &mut Vec<String>) {
    const SHOWN: &[&str] = &[
        "prompt",
        "promptBlocks",
        "title",
        "agentRole",
        "guidance",
        "metaGuidance",
        "preconditions",
        "clarificationPrompts",
        "text",
        "goal",
        "constraints",
        "procedure",
        "outputRequired",
        "verify",
    ];
    match value {
        // What goes to the sessions below is for them to see.
        Value::Object(map) if map.contains_key("parallelDelegations") => {
            map.get("synthesis").iter().for_each(|synthesis| owed(synthesis, texts));
        }
        Value::Object(map) => {
            for (key, value) in map {
                if SHOWN.contains(&key.as_str()) {
                    leaves(value, texts);
                } else if !matches!(
                    key.as_str(),
                    "examples" | "about" | "description" | "assessments" | "loop"
                ) {
                    owed(value, texts);
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| owed(value, texts)),
        _ => {}
    }
}

fn leaves(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| leaves(value, texts)),
        Value::Object(map) if map.get("kind") == Some(&json!("ref")) => {}
        Value::Object(map) => {
            map.iter().filter(|(key, _)| *key != "kind").for_each(|(_, value)| leaves(value, texts));
        }
        _ => {}
    }
}

#[test]
fn an_agent_sees_every_text_of_every_public_file() {
    for (name, text, outcome) in outcomes() {
        let raw: Value = serde_json::from_str(&text).unwrap();
        let mut workflow = outcome.value.unwrap();
        unconditional(&mut workflow.steps);
        let loops: Vec<String> = workflow
            .all_steps()
            .into_iter()
            .filter(|step| !step.kind.inner().is_empty())
            .map(|step| step.title.clone())
            .collect();
        let (end, shown) = walked(workflow);
        assert_eq!(end, "completed", "{name}");
        // Lists and headings indent what they hold.
        let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown = spaced(&shown);
        let mut texts = Vec::new();
        owed(&raw, &mut texts);
        assert!(!texts.is_empty());
        for text in texts.into_iter().filter(|text| !loops.contains(text)) {
            for piece in text.split("{{").flat_map(|part| part.split("}}")).map(str::trim) {
                let is_expression = text.contains(&format!("{{{{{piece}}}}}"));
                assert!(
                    is_expression || shown.contains(&spaced(piece)),
                    "{name}: the agent never sees {piece:?}"
                );
            }
        }
    }
}
