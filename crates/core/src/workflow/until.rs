//! A workflow that ends early, because whoever started it wants no more of it.

use super::Workflow;

/// A phase that the workflow does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("workflow `{workflow}` has no phase `{phase}`; it has {known}")]
pub struct NoSuchPhase {
    pub workflow: String,
    pub phase: String,
    pub known: String,
}

impl Workflow {
    /// Lets it end after one of its own steps, not one inside of another. A jump to what is gone is not taken.
    pub fn end_after(&mut self, phase: &str) -> Result<(), NoSuchPhase> {
        let Some(index) = self.steps.iter().position(|step| step.id == phase) else {
            let known: Vec<String> = self.steps.iter().map(|step| format!("`{}`", step.id)).collect();
            let (workflow, phase) = (self.id.clone(), phase.chars().take(80).collect());
            return Err(NoSuchPhase { workflow, phase, known: known.join(", ") });
        };
        self.steps.truncate(index + 1);
        Ok(())
    }
}
