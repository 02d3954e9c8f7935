//! Artifacts that are right but not told apart, or wrapped: said in the words of the mistake, not of the schema.

use serde_json::Value;

use super::super::contract::Contract;
use super::Reason;
use super::artifacts::Choice;
use super::vars::Given;
use super::want::{Want, What, has_kind, kind};

/// Artifacts that are the text of a value, where nothing takes a text.
pub(super) fn json_texts(given: &Given<'_>, wants: &[Want<'_>]) -> Vec<Reason> {
    let takes = |artifact: &Value| {
        wants.iter().any(|want| match &want.what {
            What::Fits(contract, _) => contract.check(artifact).is_ok(),
            What::Decides(_) | What::Assesses(_) => false,
        })
    };
    let artifacts = (1..).zip(&given.answer.artifacts);
    let texts =
        artifacts.filter(|(_, artifact)| is_json_text(artifact) && !wants.is_empty() && !takes(artifact));
    texts.map(|(number, _)| json_text(&format!("artifact {number}"))).collect()
}

/// Whether a value is a text that holds an object or a list.
pub(super) fn is_json_text(value: &Value) -> bool {
    let inner = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    inner.is_some_and(|inner| inner.is_object() || inner.is_array())
}

pub(super) fn json_text(what: &str) -> Reason {
    let message = format!("{what} is a text that holds JSON");
    Reason::new("json_as_text", message, "hand in the value, not its JSON text: without the quotes around it")
}

/// Several artifacts of which none says what it is.
pub(super) struct Unnamed {
    /// The wants that they may be for.
    pub(super) open: Vec<usize>,
    pub(super) reason: Reason,
}

pub(super) fn unnamed(given: &Given<'_>, wants: &[Want<'_>], choice: &mut Choice) -> Option<Unnamed> {
    let is_open = |position: &usize| choice.of_wants[*position].is_none() && wants[*position].can_be_named();
    let open: Vec<usize> = (0..wants.len()).filter(is_open).collect();
    let silent = |index: &usize| kind(&given.answer.artifacts[*index]).is_none();
    let silent: Vec<usize> = choice.left.iter().copied().filter(silent).collect();
    if silent.is_empty() || !open.iter().any(|position| wants[*position].required) {
        return None;
    }
    choice.left.retain(|index| !silent.contains(index));
    let kinds: Vec<String> = open
        .iter()
        .filter_map(|position| wants[*position].kind())
        .map(|kind| format!("`\"kind\": \"{kind}\"`"))
        .collect();
    let message = match silent.as_slice() {
        [one] => format!("artifact {} does not say which of several things it is", one + 1),
        _ if kinds.len() == 1 => {
            format!("there are {} artifacts, and none says that it is the one", silent.len())
        }
        _ => format!("there are {} artifacts that do not say which of several things they are", silent.len()),
    };
    let fix = format!("several artifacts; mark yours with `kind`: {}", kinds.join(", "));
    Some(Unnamed { open, reason: Reason::new("artifact_unnamed", message, fix) })
}

/// An artifact that says it is something else than the one thing it can be.
pub(super) fn wrong_kind(contract: &Contract, name: &str, artifact: &Value) -> Option<Reason> {
    let said = kind(artifact)?;
    let wanted = contract.kind.as_deref().unwrap_or(name);
    let is_its_own = has_kind(&contract.schema) || contract.example.get("kind").is_some();
    if said == wanted || said == name || (contract.kind.is_none() && is_its_own) {
        return None;
    }
    let message = format!("the artifact says `\"kind\": \"{said}\"`, and the step asks for `{wanted}`");
    Some(Reason::new("wrong_kind", message, format!("write `\"kind\": \"{wanted}\"`, or leave `kind` out")))
}

/// An artifact inside an object whose only key is the name of its contract.
pub(super) fn wrapped(contract: &Contract, name: &str, value: &Value) -> Option<Reason> {
    let fields = value.as_object()?;
    let mut keys = fields.keys().filter(|key| *key != "kind");
    let (Some(key), None) = (keys.next(), keys.next()) else { return None };
    let is_name = key == name || contract.kind.as_ref() == Some(key);
    let is_own =
        contract.schema.pointer("/properties").is_some_and(|properties| properties.get(key).is_some());
    if !is_name || is_own || !(fields[key].is_object() || fields[key].is_array()) {
        return None;
    }
    let message = format!("`{name}` is wrapped in an object with its own name");
    Some(Reason::new(
        "artifact_wrapped",
        message,
        format!("take off the outer `{key}` and hand in what is inside it"),
    ))
}
