//! What a session pins beside the file: the checks that its workspace declares.

use super::step::{Check, CheckChoice, Gate, GateBy, Loop, Routine, Run, RunWhat, Todo};
use super::{Step, StepKind, Workflow};

impl Workflow {
    /// Puts the declared checks in the place of their names. Returns the names that nobody declares.
    pub fn pin_checks(&mut self, checks: &[Check]) -> Vec<String> {
        let mut missing = Vec::new();
        self.steps.iter_mut().for_each(|step| pin_step(step, checks, &mut missing));
        missing
    }

    /// Whether any step runs a command.
    pub fn runs_commands(&self) -> bool {
        self.all_steps().into_iter().any(|step| match &step.kind {
            StepKind::Run(_) => true,
            StepKind::Gate(gate) => matches!(gate.by, GateBy::Check(_)),
            StepKind::Prompt(_)
            | StepKind::Loop(_)
            | StepKind::Todo(_)
            | StepKind::Routine(_)
            | StepKind::Gather(_)
            | StepKind::Parallel(_)
            | StepKind::Spawn(_)
            | StepKind::Deliver(_) => false,
        })
    }
}

fn pin_step(step: &mut Step, checks: &[Check], missing: &mut Vec<String>) {
    match &mut step.kind {
        StepKind::Run(run) | StepKind::Gate(Gate { by: GateBy::Check(run), .. }) => {
            pin_run(run, checks, missing);
        }
        StepKind::Loop(Loop { steps, .. })
        | StepKind::Todo(Todo { steps, .. })
        | StepKind::Routine(Routine { steps, .. }) => {
            steps.iter_mut().for_each(|step| pin_step(step, checks, missing));
        }
        StepKind::Prompt(_)
        | StepKind::Gather(_)
        | StepKind::Gate(_)
        | StepKind::Parallel(_)
        | StepKind::Spawn(_)
        | StepKind::Deliver(_) => {}
    }
}

fn pin_run(run: &mut Run, checks: &[Check], missing: &mut Vec<String>) {
    let declared = match &run.what {
        RunWhat::Checks(CheckChoice::All) => checks.to_vec(),
        RunWhat::Checks(CheckChoice::Named(names)) => {
            let of = |name: &String| checks.iter().find(|check| check.name == *name).cloned();
            missing.extend(names.iter().filter(|name| of(name).is_none()).cloned());
            names.iter().filter_map(of).collect()
        }
        RunWhat::Command(_) | RunWhat::Declared(_) => return,
    };
    run.what = RunWhat::Declared(declared);
}
