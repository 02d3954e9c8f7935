//! Which artifact of an answer is meant for what, and whether it fits.
//!
//! An artifact says by its `kind` what it is. Agents forget that, so where one thing is wanted and one artifact of
//! no known kind was given, that is the one.

use serde_json::Value;

use super::super::contract::{Contract, Problem};
use super::super::prompt::Control;
use super::super::scope::{preview, type_name};
use super::super::suggest;
use super::vars::Given;
use super::want::{
    ASSESSMENT_KINDS, CONTROL_KINDS, Want, What, has_kind, is_known, kind, text, wants, with_kind,
};
use super::{Accepted, Decision, Reason, assessed, unclear};

/// Takes over what the artifacts decide and set.
pub(super) fn take(given: &Given<'_>, accepted: &mut Accepted, reasons: &mut Vec<Reason>) {
    let wants = wants(given.workflow, given.prompt);
    let known = |contract: &str| given.workflow.contracts.contains_key(contract);
    for output in given.prompt.outputs.iter().filter(|output| !known(&output.contract)) {
        accepted.warnings.push(format!(
            "the contract `{}` is not known, so nothing was checked against it",
            output.contract
        ));
    }
    let misread = unclear::json_texts(given, &wants);
    if !misread.is_empty() {
        return reasons.extend(misread);
    }
    let mut choice = choose(given, &wants, reasons);
    let unnamed = unclear::unnamed(given, &wants, &mut choice);
    for (position, (want, artifact)) in wants.iter().zip(&choice.of_wants).enumerate() {
        // What may lie among the artifacts that say nothing is not told to be missing as well.
        if unnamed.as_ref().is_some_and(|unnamed| unnamed.open.contains(&position)) {
            continue;
        }
        let artifact = artifact.map(|index| &given.answer.artifacts[index]);
        match judge(want, artifact, given) {
            Ok(Some(Taken { value, decision })) => {
                accepted.control = accepted.control.or(decision);
                if let Some(name) = want.output.and_then(|output| output.into.clone()) {
                    accepted.unset.retain(|unset| *unset != name);
                    accepted.set.insert(name, value);
                }
            }
            Ok(None) => {}
            Err(found) => reasons.extend(found),
        }
    }
    reasons.extend(unnamed.map(|unnamed| unnamed.reason));
    for index in choice.left {
        let kind = kind(&given.answer.artifacts[index]).map_or(String::new(), |kind| format!(" (`{kind}`)"));
        accepted
            .warnings
            .push(format!("artifact {}{kind} is not what this step asks for; it changes nothing", index + 1));
    }
}

/// Which artifact goes to which want, and which to none.
pub(super) struct Choice {
    pub(super) of_wants: Vec<Option<usize>>,
    pub(super) left: Vec<usize>,
}

fn choose(given: &Given<'_>, wants: &[Want<'_>], reasons: &mut Vec<Reason>) -> Choice {
    let artifacts = &given.answer.artifacts;
    let mut choice = Choice { of_wants: vec![None; wants.len()], left: (0..artifacts.len()).collect() };
    for position in in_turn(wants, (0..wants.len()).collect(), artifacts.len()) {
        let claims = |index: &usize| wants[position].claims(&artifacts[*index], wants);
        let claimed = choice.left.iter().copied().find(claims);
        claimed.into_iter().for_each(|index| choice.give(position, index));
    }
    refuse_twice(given, wants, &mut choice, reasons);
    choose_by_fit(given, wants, &mut choice);
    if let Some((want, index)) = obvious(given, wants, &choice) {
        choice.give(want, index);
    }
    choice
}

impl Choice {
    fn give(&mut self, want: usize, index: usize) {
        self.of_wants[want] = Some(index);
        self.left.retain(|left| *left != index);
    }
}

/// Wants by their positions, as they were asked for. Where there are too few artifacts, what is required comes first.
fn in_turn(wants: &[Want<'_>], mut positions: Vec<usize>, artifacts: usize) -> Vec<usize> {
    if artifacts < positions.len() {
        positions.sort_by_key(|position| !wants[*position].required);
    }
    positions
}

/// Artifacts that say they are what another one already is.
fn refuse_twice(given: &Given<'_>, wants: &[Want<'_>], choice: &mut Choice, reasons: &mut Vec<Reason>) {
    for want in wants {
        let claims = |index: &usize| want.claims(&given.answer.artifacts[*index], wants);
        let further = choice.left.iter().copied().filter(claims).count();
        if further > 0 {
            choice.left.retain(|index| !claims(index));
            let message = format!("there are {} artifacts for {}", further + 1, want.name());
            reasons.push(Reason::new("artifact_twice", message, "hand in one"));
        }
    }
}

/// Artifacts that cannot say what they are, such as a list, go by what they fit, in the order they were asked for.
fn choose_by_fit(given: &Given<'_>, wants: &[Want<'_>], choice: &mut Choice) {
    let artifacts = &given.answer.artifacts;
    let is_open = |position: &usize| choice.of_wants[*position].is_none() && !wants[*position].can_be_named();
    let open: Vec<usize> = (0..wants.len()).filter(is_open).collect();
    for position in in_turn(wants, open, choice.left.len()) {
        let What::Fits(contract, _) = &wants[position].what else { continue };
        let fits = |index: &usize| contract.check(&artifacts[*index]).is_ok();
        let found = choice.left.iter().copied().find(fits);
        found.into_iter().for_each(|index| choice.give(position, index));
    }
}

/// The one want that nothing was given for, and the one artifact that does not say what it is, or says it wrongly.
fn obvious(given: &Given<'_>, wants: &[Want<'_>], choice: &Choice) -> Option<(usize, usize)> {
    let is_open = |required: bool| {
        let open = wants.iter().zip(&choice.of_wants).enumerate();
        let open = open.filter(|(_, (want, chosen))| chosen.is_none() && want.required == required);
        open.map(|(index, _)| index).collect::<Vec<_>>()
    };
    let unnamed =
        |index: &usize| kind(&given.answer.artifacts[*index]).is_none_or(|kind| !is_known(given, kind));
    let unnamed: Vec<usize> = choice.left.iter().copied().filter(unnamed).collect();
    match (is_open(true).as_slice(), is_open(false).as_slice(), unnamed.as_slice()) {
        ([want], _, [index]) => Some((*want, *index)),
        ([], [want], [index]) if kind(&given.answer.artifacts[*index]).is_none() => Some((*want, *index)),
        _ => None,
    }
}

struct Taken {
    value: Value,
    decision: Option<Decision>,
}

fn judge(want: &Want<'_>, artifact: Option<&Value>, given: &Given<'_>) -> Result<Option<Taken>, Vec<Reason>> {
    let Some(artifact) = artifact else {
        return if want.required { Err(vec![missing(want, given)]) } else { Ok(None) };
    };
    let taken = match &want.what {
        What::Fits(contract, name) => Taken { value: fitted(contract, name, artifact)?, decision: None },
        What::Decides(control) => {
            let decision = decision(control, artifact).map_err(|reason| vec![reason])?;
            Taken { value: artifact.clone(), decision: Some(decision) }
        }
        What::Assesses(assessment) => {
            assessed::judge(assessment, artifact, given.scope)?;
            Taken { value: artifact.clone(), decision: None }
        }
    };
    Ok(Some(taken))
}

fn missing(want: &Want<'_>, given: &Given<'_>) -> Reason {
    let fix = format!("add this to `artifacts`, with your own values: {}", want.form());
    if let Some(reason) = meant_for_another(want, given) {
        return Reason::new("artifact_for_another", reason, fix);
    }
    Reason::new("artifact_missing", format!("{} is missing", want.name()), fix)
}

/// A control artifact or an assessment was given, but it names another loop or another assessment.
fn meant_for_another(want: &Want<'_>, given: &Given<'_>) -> Option<String> {
    let (kinds, field, wanted) = match &want.what {
        What::Decides(control) => (CONTROL_KINDS, "loopId", &control.loop_id),
        What::Assesses(assessment) => (ASSESSMENT_KINDS, "assessmentId", &assessment.id),
        What::Fits(..) => return None,
    };
    let of_kind = |artifact: &&Value| kind(artifact).is_some_and(|kind| kinds.contains(&kind));
    let others = given.answer.artifacts.iter().filter(of_kind);
    let named = others.filter_map(|artifact| text(artifact, field)).find(|id| id != wanted)?;
    Some(format!("{} is missing: `{field}` is `{named}`, wanted `{wanted}`", want.name()))
}

/// The artifact as it is kept: with the kind that its contract asks for, without one that is only its name.
fn fitted(contract: &Contract, name: &str, artifact: &Value) -> Result<Value, Vec<Reason>> {
    if let Some(reason) = unclear::wrong_kind(contract, name, artifact) {
        return Err(vec![reason]);
    }
    let mut value = artifact.clone();
    match (&contract.kind, value.as_object_mut()) {
        (Some(kind), Some(_)) => value = with_kind(artifact, kind),
        (None, Some(fields)) if kind(artifact) == Some(name) && !has_kind(&contract.schema) => {
            fields.shift_remove("kind");
        }
        (Some(_) | None, _) => {}
    }
    let problems = match contract.check(&value) {
        Ok(()) => return Ok(value),
        Err(problems) => problems,
    };
    if let Some(reason) = unclear::wrapped(contract, name, &value) {
        return Err(vec![reason]);
    }
    let reason = |(position, problem): (usize, Problem)| {
        let message = format!("`{name}` does not fit{}", problem.said());
        // Once is enough: the example may be long, and it is the same for all of them.
        let fix = match position {
            0 => format!("{}; an artifact that fits: {}", problem.fix, contract.example_like(&value)),
            _ => problem.fix,
        };
        Reason::new("artifact_does_not_fit", message, fix)
    };
    Err(problems.into_iter().enumerate().map(reason).collect())
}

fn decision(control: &Control, artifact: &Value) -> Result<Decision, Reason> {
    if let Some(id) = text(artifact, "loopId").filter(|id| *id != control.loop_id) {
        let message = format!("`loopId` is `{id}`, but this step decides about `{}`", control.loop_id);
        return Err(Reason::new(
            "wrong_loop",
            message,
            format!("write `\"loopId\": \"{}\"`", control.loop_id),
        ));
    }
    let said = artifact.get("decision").unwrap_or(&Value::Null);
    match said.as_str().map(|said| said.trim().to_lowercase()).as_deref() {
        Some("continue") => Ok(Decision::Continue),
        Some("stop") => Ok(Decision::Stop),
        Some(other) => Err(undecided(said, &suggest::or_known(other, ["continue", "stop"]))),
        None => Err(undecided(said, "write `\"decision\": \"continue\"` or `\"decision\": \"stop\"`")),
    }
}

fn undecided(said: &Value, fix: &str) -> Reason {
    let said = if said.is_null() {
        "missing".to_owned()
    } else {
        format!("{} ({})", type_name(said), preview(said))
    };
    Reason::new("no_decision", format!("`decision` is {said}, not `continue` or `stop`"), fix)
}
