//! Assessments: levels from the agent, consequences from the author's rules.

use serde_json::{Map, Value, json};

use super::super::prompt::{Assessment, Consequence, Dimension, FollowUp, LevelTest};
use super::super::scope::{Scope, preview, type_name};
use super::super::{suggest, template};
use super::Reason;

/// Judges one assessment. What follows from its levels is asked for only when all of them can be read.
pub(super) fn judge(assessment: &Assessment, artifact: &Value, scope: &Scope<'_>) -> Result<(), Vec<Reason>> {
    let levels = read(assessment, artifact)?;
    let consequences = assessment.consequences.iter();
    let reasons: Vec<Reason> =
        consequences.filter_map(|consequence| follow_up(assessment, consequence, &levels, scope)).collect();
    if reasons.is_empty() { Ok(()) } else { Err(reasons) }
}

/// An assessment that is accepted, as far as any is: of each dimension the first level that nothing follows from.
pub(super) fn example(assessment: &Assessment) -> Value {
    filled(assessment, |dimension| {
        let is_quiet = |level: &&String| {
            !assessment.consequences.iter().any(|consequence| meets(&consequence.when, &dimension.id, level))
        };
        let quiet = dimension.levels.iter().find(is_quiet);
        quiet.or(dimension.levels.first()).cloned().unwrap_or_default()
    })
}

/// An assessment to be filled in: the levels are the agent's to choose.
pub(super) fn form(assessment: &Assessment) -> Value {
    filled(assessment, |dimension| dimension.levels.join(" | "))
}

fn filled(assessment: &Assessment, level: impl Fn(&Dimension) -> String) -> Value {
    let entry = |dimension: &Dimension| {
        (dimension.id.clone(), json!({"level": level(dimension), "rationale": "why"}))
    };
    let dimensions: Map<String, Value> = assessment.dimensions.iter().map(entry).collect();
    json!({"kind": "wr.assessment", "assessmentId": assessment.id, "dimensions": dimensions})
}

fn meets(test: &LevelTest, dimension: &str, level: &str) -> bool {
    let same = |left: &str, right: &str| left.trim().to_lowercase() == right.trim().to_lowercase();
    match test {
        LevelTest::Any(wanted) => same(level, wanted),
        LevelTest::Dimension { id, level: wanted } => dimension == id && same(level, wanted),
    }
}

/// A dimension and the level that it got, in the author's spelling.
type Levels<'a> = Vec<(&'a str, &'a str)>;

fn read<'a>(assessment: &'a Assessment, artifact: &Value) -> Result<Levels<'a>, Vec<Reason>> {
    let Some(Value::Object(given)) = artifact.get("dimensions") else {
        let message = format!("assessment `{}` has no `dimensions`", assessment.id);
        let fix = format!("write it like this, with your own levels: {}", form(assessment));
        return Err(vec![Reason::new("assessment_incomplete", message, fix)]);
    };
    let (mut levels, mut reasons) = (Levels::new(), Vec::new());
    for dimension in &assessment.dimensions {
        match (given.get(&dimension.id), dimension.required) {
            (None | Some(Value::Null), false) => {}
            (None | Some(Value::Null), true) => reasons.push(missing(assessment, dimension)),
            (Some(value), _) => match read_level(assessment, dimension, value) {
                Ok(level) => levels.push((&dimension.id, level)),
                Err(reason) => reasons.push(reason),
            },
        }
    }
    let is_known = |name: &str| assessment.dimensions.iter().any(|dimension| dimension.id == name);
    for name in given.keys().filter(|name| !is_known(name)) {
        let known = assessment.dimensions.iter().map(|dimension| dimension.id.as_str());
        let message = format!("assessment `{}` has no dimension `{name}`", assessment.id);
        reasons.push(Reason::new("unknown_dimension", message, suggest::or_known(name, known)));
    }
    if reasons.is_empty() { Ok(levels) } else { Err(reasons) }
}

fn missing(assessment: &Assessment, dimension: &Dimension) -> Reason {
    let message = format!("assessment `{}` lacks the dimension `{}`", assessment.id, dimension.id);
    let fix = format!("add `\"{}\"` with one of {}", dimension.id, allowed(dimension));
    Reason::new("dimension_missing", message, fix)
}

fn read_level<'a>(
    assessment: &Assessment,
    dimension: &'a Dimension,
    value: &Value,
) -> Result<&'a str, Reason> {
    let said = if value.is_object() { value.get("level").unwrap_or(&Value::Null) } else { value };
    let fold = |text: &str| text.trim().to_lowercase();
    let same = |level: &&String| said.as_str().is_some_and(|said| fold(said) == fold(level));
    dimension.levels.iter().find(same).map(String::as_str).ok_or_else(|| {
        let (id, name) = (&assessment.id, &dimension.id);
        let message =
            format!("assessment `{id}`: the level of `{name}` is {} ({})", type_name(said), preview(said));
        Reason::new("unknown_level", message, format!("choose one of {}", allowed(dimension)))
    })
}

fn allowed(dimension: &Dimension) -> String {
    dimension.levels.iter().map(|level| format!("`{level}`")).collect::<Vec<_>>().join(", ")
}

fn follow_up(
    assessment: &Assessment,
    consequence: &Consequence,
    levels: &Levels<'_>,
    scope: &Scope<'_>,
) -> Option<Reason> {
    let hits = levels.iter().filter(|(name, level)| meets(&consequence.when, name, level));
    let hits: Vec<String> = hits.map(|(name, level)| format!("`{name}` is `{level}`")).collect();
    if hits.is_empty() {
        return None;
    }
    let fix = match &consequence.then {
        FollowUp::Guidance(guidance) => template::render(guidance, scope),
        FollowUp::Redo(recipe) => {
            let lines = recipe.iter().enumerate();
            let lines =
                lines.map(|(index, line)| format!("{}. {}", index + 1, template::render(line, scope)));
            format!("do this again, in order:\n{}", lines.collect::<Vec<_>>().join("\n"))
        }
    };
    let message = format!("assessment `{}` asks for more: {}", assessment.id, hits.join(", "));
    Some(Reason::new(
        "follow_up",
        message,
        format!("{fix}\nThen assess anew and hand in the whole answer again."),
    ))
}
