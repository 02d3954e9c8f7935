//! Which vars of a workflow hold what the engine saw or was handed by other sessions, and not what its own agent says.

use std::collections::BTreeSet;

use crate::workflow::step::{RunOn, Seen};
use crate::workflow::{StepKind, VarWriter, Vars, Workflow};

/// The vars that a proof may be made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// Set by checks that ran on the merge result.
    pub checks: BTreeSet<String>,
    /// Set by reading git.
    pub change: BTreeSet<String>,
    /// Set by the engine alone.
    own: BTreeSet<String>,
}

impl Sources {
    pub fn of(workflow: &Workflow) -> Self {
        let mut sources = Self::default();
        match &workflow.vars {
            Vars::Open => {}
            Vars::Declared(vars) => {
                let own = vars.iter().filter(|(_, declaration)| declaration.writer == VarWriter::Engine);
                sources.own.extend(own.map(|(name, _)| name.clone()));
            }
        }
        for step in workflow.all_steps() {
            if let StepKind::Prompt(prompt) = &step.kind {
                let handed_in = prompt.outputs.iter().filter_map(|output| output.into.as_ref());
                for name in handed_in {
                    sources.own.remove(name);
                }
            }
            if let StepKind::Run(run) = &step.kind
                && run.on == RunOn::Merge
            {
                sources.checks.extend(run.into.clone());
            }
            if let Some(gather) = step.kind.gather()
                && gather.seen() == Some(Seen::Change)
            {
                sources.change.insert(gather.into.clone());
            }
        }
        sources
    }

    /// Whether only the engine sets a var: from a child's result, or by a rule.
    pub fn is_own(&self, name: &str) -> bool {
        self.own.contains(name)
    }
}
