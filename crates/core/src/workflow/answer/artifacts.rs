//! Which artifact of an answer is meant for what, and whether it fits.
//!
//! An artifact says by its `kind` what it is. Agents forget that, so where one thing is wanted and one artifact of
//! no known kind was given, that is the one.

use serde_json::{Map, Value};

use super::super::contract::{Contract, Problem};
use super::super::prompt::{Assessment, Control, OutputContract};
use super::super::scope::{preview, type_name};
use super::super::suggest;
use super::vars::Given;
use super::{Accepted, Decision, Reason, assessed};

const CONTROL_KINDS: [&str; 3] = ["wr.loop_control", "wr.contracts.loop_control", "loop_control"];
const ASSESSMENT_KINDS: [&str; 3] = ["wr.assessment", "wr.contracts.assessment", "assessment"];

/// Takes over what the artifacts decide and set.
pub(super) fn take(given: &Given<'_>, accepted: &mut Accepted, reasons: &mut Vec<Reason>) {
    let wants = wants(given, accepted);
    let choice = choose(given, &wants, reasons);
    for (want, artifact) in wants.iter().zip(&choice.of_wants) {
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
    for index in choice.left {
        let kind = kind(&given.answer.artifacts[index]).map_or(String::new(), |kind| format!(" (`{kind}`)"));
        accepted
            .warnings
            .push(format!("artifact {}{kind} is not what this step asks for; it changes nothing", index + 1));
    }
}

/// Something that the step wants as an artifact.
struct Want<'a> {
    what: What<'a>,
    /// The declaration it comes from, where there is one.
    output: Option<&'a OutputContract>,
    required: bool,
}

enum What<'a> {
    Fits(&'a Contract, &'a str),
    Decides(&'a Control),
    Assesses(&'a Assessment),
}

fn wants<'a>(given: &Given<'a>, accepted: &mut Accepted) -> Vec<Want<'a>> {
    let prompt = given.prompt;
    let mut wants = Vec::new();
    let output_of = |kinds: &[&str]| {
        prompt.outputs.iter().find(|output| {
            let kind =
                given.workflow.contracts.get(&output.contract).and_then(|contract| contract.kind.as_deref());
            kinds.contains(&output.contract.as_str()) || kind.is_some_and(|kind| kinds.contains(&kind))
        })
    };
    let control_output = prompt.control.as_ref().and_then(|_| output_of(&CONTROL_KINDS));
    if let Some(control) = &prompt.control {
        let required = control_output.is_none_or(|output| output.required);
        wants.push(Want { what: What::Decides(control), output: control_output, required });
    }
    let assessed = !prompt.assessments.is_empty();
    let assessment_output = if assessed { output_of(&ASSESSMENT_KINDS) } else { None };
    for assessment in &prompt.assessments {
        wants.push(Want { what: What::Assesses(assessment), output: assessment_output, required: true });
    }
    let rest = prompt.outputs.iter().filter(|output| {
        let is = |other: Option<&OutputContract>| other.is_some_and(|other| std::ptr::eq(other, *output));
        !is(control_output) && !is(assessment_output)
    });
    for output in rest {
        match given.workflow.contracts.get(&output.contract) {
            Some(contract) => wants.push(Want {
                what: What::Fits(contract, &output.contract),
                output: Some(output),
                required: output.required,
            }),
            None => accepted.warnings.push(format!(
                "the contract `{}` is not known, so nothing was checked against it",
                output.contract
            )),
        }
    }
    wants
}

/// Which artifact goes to which want, and which to none.
struct Choice {
    of_wants: Vec<Option<usize>>,
    left: Vec<usize>,
}

fn choose(given: &Given<'_>, wants: &[Want<'_>], reasons: &mut Vec<Reason>) -> Choice {
    let artifacts = &given.answer.artifacts;
    let mut left: Vec<usize> = (0..artifacts.len()).collect();
    let mut of_wants = Vec::new();
    for want in wants {
        let claimed: Vec<usize> =
            left.iter().copied().filter(|index| want.claims(&artifacts[*index], wants)).collect();
        left.retain(|index| !claimed.contains(index));
        if claimed.len() > 1 {
            let message = format!("there are {} artifacts for {}", claimed.len(), want.name());
            reasons.push(Reason::new("artifact_twice", message, "hand in one"));
        }
        of_wants.push(claimed.first().copied());
    }
    if let Some((want, index)) =
        obvious(given, wants, &Choice { of_wants: of_wants.clone(), left: left.clone() })
    {
        of_wants[want] = Some(index);
        left.retain(|other| *other != index);
    }
    Choice { of_wants, left }
}

/// The one want that nothing was given for, and the one artifact that does not say what it is.
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

fn is_known(given: &Given<'_>, kind: &str) -> bool {
    let mut contracts = given.workflow.contracts.iter();
    CONTROL_KINDS.contains(&kind)
        || ASSESSMENT_KINDS.contains(&kind)
        || contracts.any(|(name, contract)| name == kind || contract.kind.as_deref() == Some(kind))
}

pub(super) fn kind(artifact: &Value) -> Option<&str> {
    artifact.get("kind")?.as_str().map(str::trim)
}

impl Want<'_> {
    fn claims(&self, artifact: &Value, wants: &[Want<'_>]) -> bool {
        let Some(kind) = kind(artifact) else { return false };
        match &self.what {
            What::Fits(contract, name) => contract.kind.as_deref() == Some(kind) || *name == kind,
            What::Decides(control) => {
                CONTROL_KINDS.contains(&kind)
                    && text(artifact, "loopId").is_none_or(|id| id == control.loop_id)
            }
            What::Assesses(assessment) => {
                let is_only = wants.iter().filter(|want| matches!(want.what, What::Assesses(_))).count() == 1;
                ASSESSMENT_KINDS.contains(&kind)
                    && text(artifact, "assessmentId").map_or(is_only, |id| id == assessment.id)
            }
        }
    }

    fn name(&self) -> String {
        match &self.what {
            What::Fits(_, name) => format!("`{name}`"),
            What::Decides(control) => format!("the decision about loop `{}`", control.loop_id),
            What::Assesses(assessment) => format!("the assessment `{}`", assessment.id),
        }
    }

    /// An artifact that could be pasted back. It names its kind, so that it is found among others.
    fn example(&self) -> Value {
        match &self.what {
            What::Fits(contract, name) => {
                with_kind(&contract.example, contract.kind.as_deref().unwrap_or(name))
            }
            What::Decides(control) => {
                serde_json::json!({"kind": "wr.loop_control", "loopId": control.loop_id, "decision": "continue"})
            }
            What::Assesses(assessment) => assessed::example(assessment),
        }
    }
}

fn text<'a>(artifact: &'a Value, field: &str) -> Option<&'a str> {
    artifact.get(field)?.as_str().map(str::trim)
}

fn with_kind(artifact: &Value, kind: &str) -> Value {
    let Value::Object(fields) = artifact else { return artifact.clone() };
    if fields.contains_key("kind") {
        return artifact.clone();
    }
    let named = Map::from_iter([("kind".to_owned(), Value::from(kind))]);
    Value::Object(named.into_iter().chain(fields.clone()).collect())
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
    let fix = format!("add this to `artifacts`, with your own values: {}", want.example());
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
    let reason = |problem: Problem| {
        let place =
            if problem.pointer.is_empty() { String::new() } else { format!(" at `{}`", problem.pointer) };
        let message = format!("`{name}` does not fit{place}: {}", problem.message);
        let fix = format!("{}; an artifact that fits: {}", problem.fix, contract.example);
        Reason::new("artifact_does_not_fit", message, fix)
    };
    Err(problems.into_iter().map(reason).collect())
}

fn has_kind(schema: &Value) -> bool {
    schema.pointer("/properties/kind").is_some()
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
