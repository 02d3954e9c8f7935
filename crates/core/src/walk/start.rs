//! The vars that a session starts with.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_events::Reason;
use serde_json::{Map, Value};

use crate::workflow::answer::{judge_text, judge_vars};
use crate::workflow::step::GatherFrom;
use crate::workflow::{VarDeclaration, VarWriter, Vars, Workflow};

/// The var that always holds the goal.
const GOAL: &str = "goal";

/// Checks what was given against what the workflow declares, and adds the goal and the defaults.
pub fn initial_vars(
    workflow: &Workflow,
    goal: &str,
    given: &Map<String, Value>,
) -> Result<BTreeMap<String, Value>, Vec<Reason>> {
    let mut vars: BTreeMap<String, Value> =
        given.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut reasons = judge_text("the goal", goal);
    judge_vars(given, &mut reasons);
    if goal.trim().is_empty() {
        reasons.push(Reason::new("goal_required", "the goal is empty", "say what the session is for"));
    }
    if let Some(other) = vars.insert(GOAL.to_owned(), Value::from(goal))
        && other != goal
    {
        reasons.push(Reason::new("goal_twice", "the vars hold another goal", "leave `goal` out of the vars"));
    }
    if let Vars::Declared(declared) = &workflow.vars {
        let injected = injected(workflow);
        let misfits = vars.iter().filter(|(name, _)| !injected.contains(name.as_str()));
        reasons.extend(misfits.filter_map(|(name, value)| misfit(declared, name, value)));
        for (name, declaration) in declared {
            match (&declaration.default, vars.contains_key(name)) {
                (Some(default), false) => drop(vars.insert(name.clone(), default.clone())),
                (None, false) if declaration.required => reasons.push(Reason::new(
                    "var_required",
                    format!("workflow `{}` needs var `{name}` to start", workflow.id),
                    format!("start it with `--vars '{{\"{name}\": …}}'`"),
                )),
                (Some(_) | None, true) | (None, false) => {}
            }
        }
    }
    if reasons.is_empty() { Ok(vars) } else { Err(reasons) }
}

/// Inputs that a `gather` step takes from whoever starts the session.
fn injected(workflow: &Workflow) -> BTreeSet<&str> {
    let gathers = workflow.all_steps().into_iter().filter_map(|step| step.kind.gather());
    let injected = gathers.filter(|gather| gather.from.contains(&GatherFrom::Injected));
    injected.map(|gather| gather.into.as_str()).collect()
}

fn misfit(declared: &BTreeMap<String, VarDeclaration>, name: &str, value: &Value) -> Option<Reason> {
    let Some(declaration) = declared.get(name) else {
        if name == GOAL {
            return None;
        }
        let known: Vec<&str> = declared.keys().map(String::as_str).collect();
        return Some(Reason::new(
            "unknown_var",
            format!("the workflow declares no var `{name}`"),
            format!("use one of: {}", known.join(", ")),
        ));
    };
    if declaration.writer == VarWriter::Engine && name != GOAL {
        return Some(Reason::new(
            "var_not_settable",
            format!("var `{name}` is set by a step of the workflow"),
            "leave it out",
        ));
    }
    declaration.kind.misfit(value).map(|expected| {
        Reason::new(
            "var_type",
            format!("var `{name}` must be {expected}"),
            format!("give `{name}` such a value"),
        )
    })
}
