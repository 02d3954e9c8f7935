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

    /// What its steps run, in words for a person, before templates are filled in.
    pub fn commands(&self) -> Vec<String> {
        let runs = self.all_steps().into_iter().filter_map(|step| step.kind.run());
        runs.flat_map(|run| match &run.what {
            RunWhat::Command(words) => vec![words.join(" ")],
            RunWhat::Checks(_) => vec!["the checks that its workspace declares".to_owned()],
            RunWhat::Declared(checks) => checks.iter().map(|check| check.run.join(" ")).collect(),
        })
        .collect()
    }

    /// Whether anybody but the agent has a say on the way.
    pub fn has_gates(&self) -> bool {
        let asks = |step: &Step| step.confirm.is_some() || matches!(step.kind, StepKind::Gate(_));
        self.all_steps().into_iter().any(asks)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::compile::{Source, Sources, Syntax, compile};

    fn with_step(step: &str) -> Workflow {
        let text = format!("longhaul: 1\nid: team.try\nname: Try\nversion: 1.0.0\nsteps:\n  - {step}\n");
        let outcome =
            compile(&Source { name: "try.yml".to_owned(), text, syntax: Syntax::Yaml }, &Sources::default());
        outcome.value.unwrap_or_else(|| panic!("{:?}", outcome.diagnostics))
    }

    #[test]
    fn what_is_run_is_told_wherever_it_stands() {
        assert_eq!(with_step("{ id: a, run: { command: [cargo, test] } }").commands(), ["cargo test"]);
        let in_a_loop = "{ id: a, loop: { for: 2, max: 2 }, steps: [{ id: b, run: { command: [make] } }] }";
        assert_eq!(with_step(in_a_loop).commands(), ["make"]);
        let mut checks = with_step("{ id: a, gate: { by: check, run: { checks: [unit] } } }");
        assert_eq!(checks.commands(), ["the checks that its workspace declares"]);
        let unit =
            Check { name: "unit".to_owned(), run: vec!["make".to_owned(), "unit".to_owned()], timeout_ms: 1 };
        assert_eq!(checks.pin_checks(&[unit]), [""; 0]);
        assert_eq!(checks.commands(), ["make unit"]);
        assert_eq!(with_step("{ id: a, prompt: Look. }").commands(), [""; 0]);
    }

    #[test]
    fn a_confirmation_is_a_gate_and_a_prompt_is_none() {
        assert!(with_step("{ id: a, gate: { by: person, question: Sure? } }").has_gates());
        assert!(with_step("{ id: a, prompt: Look., confirm: true }").has_gates());
        assert!(!with_step("{ id: a, prompt: Look. }").has_gates());
    }
}
