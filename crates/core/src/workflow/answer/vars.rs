//! Which vars an agent may set, and of which type.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::prompt::Prompt;
use super::super::scope::{Scope, preview, type_name};
use super::super::{VarDeclaration, VarType, VarWriter, Vars, Workflow, suggest};
use super::{Accepted, Answer, Reason};

/// Takes the vars of an answer over, each on its own.
pub(super) fn take(given: &Given<'_>, accepted: &mut Accepted, reasons: &mut Vec<Reason>) {
    for (name, value) in &given.answer.vars {
        if given.scope.local.contains_key(name) {
            accepted
                .warnings
                .push(format!("`{name}` is a variable of the loop around the step; it stays as it is"));
            continue;
        }
        match permit(given, name, value) {
            Ok(Change::Unset) => accepted.unset.push(name.clone()),
            Ok(Change::Set(value)) => {
                accepted.set.insert(name.clone(), value);
            }
            Err(reason) => reasons.push(reason),
        }
    }
}

pub(super) struct Given<'a> {
    pub(super) workflow: &'a Workflow,
    pub(super) prompt: &'a Prompt,
    pub(super) scope: &'a Scope<'a>,
    pub(super) answer: &'a Answer,
}

enum Change {
    Set(Value),
    Unset,
}

fn permit(given: &Given<'_>, name: &str, value: &Value) -> Result<Change, Reason> {
    let produced = given.prompt.produces.get(name);
    let kind = match &given.workflow.vars {
        // What a session is for is said by whoever starts it.
        Vars::Open if name == "goal" => return Err(written_by_engine(given.prompt, name)),
        Vars::Open => produced.unwrap_or(&VarType::Any),
        Vars::Declared(declared) => declared_type(given, declared, name)?,
    };
    if value.is_null() {
        return may_unset(&given.workflow.vars, name).map(|()| Change::Unset);
    }
    fit(kind, value).map(Change::Set).ok_or_else(|| wrong_type(name, kind, value))
}

fn declared_type<'a>(
    given: &Given<'a>,
    declared: &'a BTreeMap<String, VarDeclaration>,
    name: &str,
) -> Result<&'a VarType, Reason> {
    let produced = given.prompt.produces.get(name);
    match (declared.get(name), produced) {
        (Some(VarDeclaration { writer: VarWriter::Engine, .. }), _) => {
            Err(written_by_engine(given.prompt, name))
        }
        (Some(VarDeclaration { kind: VarType::Any, .. }) | None, Some(kind)) => Ok(kind),
        (Some(declaration), _) => Ok(&declaration.kind),
        (None, None) => {
            let settable = declared.iter().filter(|(_, declaration)| declaration.writer == VarWriter::Agent);
            let names: Vec<&str> = settable.map(|(name, _)| name.as_str()).collect();
            let fix = suggest::or_known(name, names);
            Err(Reason::new("unknown_var", format!("the workflow declares no var `{name}`"), fix))
        }
    }
}

fn written_by_engine(prompt: &Prompt, name: &str) -> Reason {
    let message = format!("`{name}` is not set through vars: the engine sets it from what it has accepted");
    let output = prompt.outputs.iter().find(|output| output.into.as_deref() == Some(name));
    let fix = match output {
        Some(output) => format!("hand it in as an artifact of kind `{}`", output.contract),
        None => "leave it out; the step that makes it hands it in as an artifact or runs it".to_owned(),
    };
    Reason::new("var_of_the_engine", message, fix)
}

fn may_unset(vars: &Vars, name: &str) -> Result<(), Reason> {
    match vars {
        Vars::Declared(declared) if declared.get(name).is_some_and(|declaration| declaration.required) => {
            Err(Reason::new(
                "var_required",
                format!("`{name}` is required and cannot be deleted"),
                "leave it out, or give it a new value",
            ))
        }
        Vars::Declared(_) | Vars::Open => Ok(()),
    }
}

/// Every var that the step must leave set, looked at as it will be after the answer.
pub(super) fn judge_produced(given: &Given<'_>, accepted: &Accepted, reasons: &mut Vec<Reason>) {
    for (name, kind) in &given.prompt.produces {
        if given.answer.vars.get(name).is_some_and(|value| !value.is_null())
            && !accepted.set.contains_key(name)
        {
            continue; // It was given and refused, which is told already.
        }
        let kept = given.scope.vars.get(name).map(AsRef::as_ref).filter(|_| !accepted.unset.contains(name));
        match accepted.set.get(name).or(kept) {
            None | Some(Value::Null) => reasons.push(Reason::new(
                "var_missing",
                format!("the step must set `{name}` ({})", word(kind)),
                format!("add `\"{name}\": …` to vars"),
            )),
            Some(value) if fit(kind, value).is_none() => reasons.push(wrong_type(name, kind, value)),
            Some(_) => {}
        }
    }
}

/// The value to keep, if it fits: a choice is kept in the spelling that was declared.
fn fit(kind: &VarType, value: &Value) -> Option<Value> {
    let fits = match kind {
        VarType::Any => true,
        VarType::String => value.is_string(),
        VarType::Number => value.is_number(),
        VarType::Integer => is_integer(value),
        VarType::Boolean => value.is_boolean(),
        VarType::Array => value.is_array(),
        VarType::Object => value.is_object(),
        VarType::Enum(choices) => return choices.iter().find(|choice| is_choice(choice, value)).cloned(),
    };
    fits.then(|| value.clone())
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn is_choice(choice: &Value, value: &Value) -> bool {
    match (choice, value) {
        (Value::String(choice), Value::String(value)) => {
            choice.trim().to_lowercase() == value.trim().to_lowercase()
        }
        (choice, value) => choice == value,
    }
}

fn wrong_type(name: &str, kind: &VarType, value: &Value) -> Reason {
    let message = format!("`{name}` is {} ({}), not {}", type_name(value), preview(value), word(kind));
    Reason::new("var_type", message, format!("set `{name}` to {}", word(kind)))
}

/// A type as it stands in a sentence.
pub(crate) fn word(kind: &VarType) -> String {
    match kind {
        VarType::Any => "any value".to_owned(),
        VarType::String => "text".to_owned(),
        VarType::Number => "a number".to_owned(),
        VarType::Integer => "a whole number".to_owned(),
        VarType::Boolean => "true or false".to_owned(),
        VarType::Array => "an array".to_owned(),
        VarType::Object => "an object".to_owned(),
        VarType::Enum(choices) => {
            format!("one of {}", choices.iter().map(preview).collect::<Vec<_>>().join(", "))
        }
    }
}
