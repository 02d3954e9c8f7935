//! Values and parts of vars that can never be, as far as enums and contracts tell.
//!
//! Warnings, and only where nothing else can be meant: a schema that is put together of several is not followed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Checks, mentions};
use crate::workflow::condition::equals;
use crate::workflow::step::StepKind;
use crate::workflow::suggest::{closest, or_known};
use crate::workflow::{VarType, Vars};

/// How a command or a check can end.
const OUTCOMES: [&str; 3] = ["passed", "failed", "could_not_run"];
/// How many references of a schema are followed in a row.
const MOST_REFERENCES: usize = 16;
/// Keywords that let a value be more than `properties` and `enum` say.
const COMPOSED: &[&str] =
    &["allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas", "$dynamicRef"];

impl Checks<'_> {
    /// Reports comparisons that never hold, and parts that nothing has.
    pub(super) fn values(&self) {
        let (schemas, results) = (self.schemas_of_vars(), self.results_of_runs());
        for flat in &self.flat {
            let paths: BTreeSet<_> = mentions::of_step(flat.step)
                .into_iter()
                .map(|mention| (mention.field, mention.path))
                .collect();
            for (field, path) in paths {
                if let Some((message, fix)) = missing_part(&path, &schemas) {
                    self.context.findings.warning(&self.draft.places.of(&flat.step.id, field), message, fix);
                }
            }
            for comparison in mentions::comparisons_of(flat.step) {
                let of_run = comparison.path.strip_suffix(".outcome").filter(|name| results.contains(name));
                let allowed = match of_run {
                    Some(_) => OUTCOMES.iter().map(|word| Value::from(*word)).collect(),
                    None => match self.allowed(&comparison.path, &schemas) {
                        Some(allowed) => allowed,
                        None => continue,
                    },
                };
                if comparison.value.is_null()
                    || allowed.iter().any(|one| equals(Some(one), &comparison.value))
                {
                    continue;
                }
                let place = self.draft.places.of(&flat.step.id, comparison.field);
                let wanted = in_words(&comparison.value);
                let message = format!("`{}` is never `{wanted}`", comparison.path);
                let known: Vec<String> = allowed.iter().map(in_words).collect();
                let fix = or_known(&wanted, known.iter().map(String::as_str).collect::<Vec<_>>());
                self.context.findings.warning(&place, message, fix);
            }
        }
    }

    /// Vars that only artifacts of one contract become, with its schema.
    fn schemas_of_vars(&self) -> BTreeMap<&str, &Value> {
        let Vars::Declared(declared) = &self.draft.workflow.vars else { return BTreeMap::new() };
        let mut contracts: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut others = BTreeSet::new();
        for flat in &self.flat {
            if let StepKind::Prompt(prompt) = &flat.step.kind {
                for output in &prompt.outputs {
                    if let Some(into) = &output.into {
                        contracts.entry(into).or_default().insert(&output.contract);
                    }
                }
                others.extend(prompt.produces.keys().map(String::as_str));
            } else {
                others.extend(super::reach::set_by(&flat.step.kind));
            }
        }
        let is_free = |name: &str| {
            let is_given = declared.get(name).is_some_and(|var| var.required || var.default.is_some());
            !is_given && !others.contains(name)
        };
        let mut schemas = BTreeMap::new();
        for (name, named) in contracts {
            let only = named.first().filter(|_| named.len() == 1 && is_free(name));
            if let Some(contract) = only.and_then(|only| self.draft.workflow.contracts.get(*only)) {
                schemas.insert(name, &contract.schema);
            }
        }
        schemas
    }

    /// Vars that only commands and checks become.
    fn results_of_runs(&self) -> BTreeSet<&str> {
        let (runs, others): (Vec<_>, Vec<_>) =
            self.flat.iter().map(|flat| &flat.step.kind).partition(|kind| kind.run().is_some());
        let others: BTreeSet<&str> = others.into_iter().flat_map(super::reach::set_by).collect();
        runs.into_iter().flat_map(super::reach::set_by).filter(|name| !others.contains(name)).collect()
    }

    /// The only values that a path can have.
    fn allowed(&self, path: &str, schemas: &BTreeMap<&str, &Value>) -> Option<Vec<Value>> {
        if let Vars::Declared(declared) = &self.draft.workflow.vars
            && let Some(VarType::Enum(values)) = declared.get(path).map(|var| &var.kind)
        {
            return Some(values.clone());
        }
        let (root, parts) = path.split_once('.')?;
        let whole = schemas.get(root)?;
        let schema = parts.split('.').try_fold(simple(whole, whole)?, |schema, part| {
            simple(schema.get("properties")?.get(part)?, whole)
        })?;
        let values = schema.get("enum").and_then(Value::as_array).cloned();
        values.or_else(|| Some(vec![schema.get("const")?.clone()]))
    }
}

/// A part of a path that the contract does not have: surely, or by what looks like a slip.
fn missing_part(path: &str, schemas: &BTreeMap<&str, &Value>) -> Option<(String, String)> {
    let (root, parts) = path.split_once('.')?;
    let whole = schemas.get(root)?;
    let mut schema = simple(whole, whole)?;
    let mut so_far = root.to_owned();
    for part in parts.split('.') {
        let properties = schema.get("properties")?.as_object()?;
        let Some(next) = properties.get(part) else {
            let near = closest(part, properties.keys().map(String::as_str));
            let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
            let fix = match near {
                Some(word) => format!("did you mean `{so_far}.{word}`?"),
                None if is_closed => {
                    or_known(part, properties.keys().map(String::as_str).collect::<Vec<_>>())
                }
                None => return None,
            };
            return Some((format!("the contract of `{root}` has no `{part}` in `{so_far}`"), fix));
        };
        schema = simple(next, whole)?;
        so_far = format!("{so_far}.{part}");
    }
    None
}

/// The schema itself, references inside the whole followed; nothing where it is put together of several.
fn simple<'s>(mut schema: &'s Value, whole: &'s Value) -> Option<&'s Value> {
    for _ in 0..MOST_REFERENCES {
        if COMPOSED.iter().any(|keyword| schema.get(keyword).is_some()) {
            return None;
        }
        match schema.get("$ref") {
            None => return Some(schema),
            Some(target) => schema = whole.pointer(target.as_str()?.strip_prefix('#')?)?,
        }
    }
    None
}

fn in_words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
