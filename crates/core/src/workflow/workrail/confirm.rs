//! `requireConfirmation` in all its shapes.

use super::condition;
use super::reading::{Reader, has};
use crate::workflow::document::{Node, NodeValue};
use crate::workflow::fields::Fields;
use crate::workflow::step::{Confirm, ConfirmBy};

impl Reader<'_> {
    /// The stop after a step, if it asks for one.
    pub(super) fn confirm(&self, fields: &mut Fields<'_>) -> Option<Confirm> {
        let node = fields.node("requireConfirmation")?;
        match &node.value {
            NodeValue::Bool(false) => None,
            NodeValue::Bool(true) => Some(Confirm { by: ConfirmBy::Person, accepts: None, when: None }),
            NodeValue::Map(_) if has(node, "kind") => self.confirm_by(node),
            _ => {
                let when = condition::read(node, self.findings)?;
                Some(Confirm { by: ConfirmBy::Person, accepts: None, when: Some(when) })
            }
        }
    }

    fn confirm_by(&self, node: &Node) -> Option<Confirm> {
        let mut fields = Fields::of(node, "`requireConfirmation`", self.findings)?;
        let kinds = [("human_approval", ConfirmBy::Person), ("coordinator_eval", ConfirmBy::Coordinator)];
        // A stop that nobody understands is still a stop.
        let by = super::reading::soft_choice(&mut fields, "kind", &kinds).unwrap_or(ConfirmBy::Person);
        let when = fields.node("condition").and_then(|node| condition::read(node, self.findings));
        fields.finish();
        Some(Confirm { by, accepts: None, when })
    }
}
