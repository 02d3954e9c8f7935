//! Lists that a loop works through: whether their items have the parts that the body asks for.

use serde_json::Value;

use super::super::scope::{preview, type_name};
use super::super::{Step, render, template};
use super::Reason;
use crate::parking::ParkCode;

/// A place in a loop's body that asks for a part of the item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemField {
    /// The step whose text asks.
    pub step: String,
    /// Such as `item.title`.
    pub path: String,
}

/// Every template in `steps` and the steps inside them that asks for a part of the item, once per step.
pub fn primitive_fields(steps: &[Step], item_var: &str) -> Vec<ItemField> {
    let mut fields = Vec::new();
    for step in steps {
        if is_shadowed(step, item_var) {
            continue;
        }
        for text in render::texts(step) {
            let asked =
                template::paths(text).into_iter().filter(|asked| asks_for_part(&asked.path, item_var));
            for asked in asked.filter(|asked| !asked.has_default) {
                let field = ItemField { step: step.id.clone(), path: asked.path };
                if !fields.contains(&field) {
                    fields.push(field);
                }
            }
        }
        fields.extend(primitive_fields(step.kind.inner(), item_var));
    }
    fields
}

/// Refuses a list with items that have no parts, when the body asks for parts.
pub fn refuse_primitives(steps: &[Step], item_var: &str, items: &[Value]) -> Result<(), Reason> {
    let primitive = items.iter().enumerate().find(|(_, item)| !item.is_object());
    let Some((index, item)) = primitive else { return Ok(()) };
    let fields = primitive_fields(steps, item_var);
    let Some(field) = fields.iter().find(|field| !has_part(item, &field.path, item_var)) else {
        return Ok(());
    };
    let ItemField { step, path } = field;
    let message = format!(
        "step `{step}` asks for `{{{{{path}}}}}`, but item {} of the list is {} ({})",
        index + 1,
        type_name(item),
        preview(item)
    );
    let parts: Vec<&str> = fields.iter().map(|field| field.path.as_str()).collect();
    let fix = format!("make every item an object with what the steps ask for: `{}`", parts.join("`, `"));
    Err(ParkCode::ItemsHaveNoParts.reason(message, fix))
}

/// `length` is a part of what has no fields, and an array has its numbers.
fn has_part(item: &Value, path: &str, item_var: &str) -> bool {
    let part = path[item_var.len()..].trim_start_matches('.');
    let first = part.split('.').next().unwrap_or(part);
    let is_index = first.chars().all(|letter| letter.is_ascii_digit());
    match item {
        Value::Object(_) => true,
        Value::Array(_) => is_index || part == "length",
        Value::String(_) => part == "length",
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn asks_for_part(path: &str, item_var: &str) -> bool {
    path.strip_prefix(item_var).is_some_and(|rest| rest.starts_with('.'))
}

/// An inner loop with the same name for its item gives it another meaning.
fn is_shadowed(step: &Step, item_var: &str) -> bool {
    use super::super::step::{Loop, LoopOver, StepKind, Todo};
    match &step.kind {
        StepKind::Loop(Loop { over: LoopOver::Items { item_var: inner, .. }, .. })
        | StepKind::Todo(Todo { item_var: inner, .. }) => inner == item_var,
        StepKind::Loop(_)
        | StepKind::Prompt(_)
        | StepKind::Routine(_)
        | StepKind::Run(_)
        | StepKind::Gather(_)
        | StepKind::Gate(_)
        | StepKind::Parallel(_)
        | StepKind::Spawn(_)
        | StepKind::Decide(_)
        | StepKind::Deliver(_) => false,
    }
}
