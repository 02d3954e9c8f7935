//! A gate in a list.

use longhaul_runtime::{GateEntry, GateState};
use serde::Serialize;

use crate::moment;
use crate::output::Row;

#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct GateLine<'a>(pub(super) &'a GateEntry);

impl Row for GateLine<'_> {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let gate = self.0;
        let until = match gate.state {
            GateState::Overdue => format!("{} (over)", moment::shown(&gate.until)),
            GateState::Open | GateState::Answered { .. } | GateState::Expired | GateState::Left => {
                moment::shown(&gate.until)
            }
        };
        vec![
            ("ID", gate.id.clone()),
            ("WORKFLOW", gate.workflow.clone().unwrap_or_else(|| "-".to_owned())),
            ("STEP", gate.step.clone()),
            ("ACCEPTS", gate.accepts.to_owned()),
            ("UNTIL", until),
            ("QUESTION", gate.question.clone()),
        ]
    }
}
