//! Steps that an agent does.

use super::reading::{Reader, model_tier, text, texts};
use super::step::{Around, Frame};
use crate::workflow::document::NodeValue;
use crate::workflow::fields::Fields;
use crate::workflow::step::{Step, StepKind};

impl Reader<'_> {
    pub(super) fn standard(&self, fields: &mut Fields<'_>, frame: Frame, around: &Around) -> Option<Step> {
        if let Some(call) = fields.node("templateCall") {
            return self.call(fields, frame, call);
        }
        let id = frame.id.clone();
        for (key, field) in PLACES {
            if let Some(node) = fields.raw(key) {
                self.place(&id, field, &node.span);
            }
        }
        let mut guidance = texts(fields, "guidance");
        let prompt = self.prompt(fields, &id, around, &mut guidance)?;
        self.check_validation_flag(fields);
        let role = text(fields, "agentRole");
        let model = model_tier(fields);
        Some(Step { role, guidance, model, ..frame.step(StepKind::Prompt(Box::new(prompt))) })
    }

    /// `hasValidation` only announces criteria; it is a slip where there are none.
    fn check_validation_flag(&self, fields: &mut Fields<'_>) {
        let announced = fields.flag("hasValidation") == Some(true);
        let has_rules = fields.raw("validationCriteria").is_some_and(|node| match &node.value {
            NodeValue::List(rules) => !rules.is_empty(),
            _ => !node.is_null(),
        });
        if let (true, false, Some(key)) = (announced, has_rules, fields.key("hasValidation")) {
            let message = "`hasValidation` is set, and there are no `validationCriteria`; nothing is checked";
            self.warn(&key.span, message, "add `validationCriteria`, or take the flag out");
        }
    }

    /// Warns about fields of a prompt that a step of another kind cannot use.
    pub(super) fn warn_without_effect(&self, fields: &mut Fields<'_>, keys: &[&'static str], beside: &str) {
        for key in keys {
            if let Some(found) = fields.key(key) {
                let message = format!("`{key}` has no effect beside `{beside}`");
                self.warn(&found.span, message, "take it out, or move it into a step of its own");
            }
        }
    }
}

/// Keys of the file, and the names under which checks look for their places.
const PLACES: &[(&str, &str)] = &[
    ("prompt", "prompt"),
    ("promptBlocks", "prompt"),
    ("promptFragments", "fragments"),
    ("agentRole", "role"),
    ("guidance", "guidance"),
    ("outputContract", "output"),
];

/// Whether notes may be missing: said here, or by a loop around.
pub(super) fn notes_optional(fields: &mut Fields<'_>, around: &Around) -> bool {
    fields.flag("notesOptional").unwrap_or(around.notes_optional)
}
