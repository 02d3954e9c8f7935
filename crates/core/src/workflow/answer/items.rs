//! Lists that a loop works through: whether their items have the parts that the body asks for.

use serde_json::Value;

use super::super::Step;
use super::super::scope::{preview, type_name};
use super::Reason;

/// A place in a loop's body that asks for a part of the item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldOfPrimitive {
    /// The step whose text asks.
    pub step: String,
    /// Such as `item.title`.
    pub path: String,
}

/// Every template in `steps` that asks for a part of the item.
pub fn primitive_fields(steps: &[Step], item_var: &str) -> Vec<FieldOfPrimitive> {
    let _ = (steps, item_var);
    Vec::new()
}

/// Refuses a list with items that have no parts, when the body asks for parts.
pub fn refuse_primitives(steps: &[Step], item_var: &str, items: &[Value]) -> Result<(), Reason> {
    let fields = primitive_fields(steps, item_var);
    let primitive = items.iter().enumerate().find(|(_, item)| !item.is_object() && !item.is_array());
    let (Some(field), Some((index, item))) = (fields.first(), primitive) else {
        return Ok(());
    };
    Err(Reason {
        code: "items_have_no_fields".to_owned(),
        message: format!(
            "step `{}` asks for `{{{{{}}}}}`, but item {index} of the list is {} ({})",
            field.step,
            field.path,
            type_name(item),
            preview(item)
        ),
        fix: format!(
            "make every item an object with the fields that the steps ask for, or write `{{{{{item_var}}}}}`"
        ),
    })
}
