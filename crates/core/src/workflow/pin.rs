//! What a session pins beside the file: the checks that its workspace declares, and the workflows that it can lead to.

use std::collections::{BTreeMap, BTreeSet};

use super::step::{Check, CheckChoice, Gate, GateBy, Loop, OnEmpty, Routine, Run, RunWhat, Todo};
use super::{Step, StepKind, Workflow};
use crate::delivery::DeliverySettings;
use crate::policy::Settings;

/// A step that asks for checks which its workspace does not declare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undeclared {
    pub step: String,
    /// None where it asks for all, and there are none at all.
    pub names: Vec<String>,
}

impl Undeclared {
    /// What is missing, as a sentence without its remedy.
    pub fn said(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        match names.as_slice() {
            [] => format!("step `{}` runs all checks of the workspace, and it declares none", self.step),
            [name] => format!("step `{}` runs the check {name}, which nobody declares", self.step),
            _ => format!("step `{}` runs checks that nobody declares: {}", self.step, names.join(", ")),
        }
    }
}

impl Workflow {
    /// Puts the declared checks in the place of their names. Returns the steps whose checks nobody declares.
    ///
    /// A name that nobody declares stays, without a command: what was asked for and cannot be run is an outcome.
    pub fn pin_checks(&mut self, checks: &[Check]) -> Vec<Undeclared> {
        let mut missing = Vec::new();
        self.steps.iter_mut().for_each(|step| pin_step(step, checks, &mut missing));
        missing
    }

    /// The workflows that its own steps lead to.
    pub fn leads_to(&self) -> BTreeSet<&str> {
        let families = self.all_steps().into_iter().filter_map(|step| step.kind.family());
        families.flat_map(|family| family.children.iter().map(|child| child.workflow.as_str())).collect()
    }

    /// A workflow below it, with all that this one can lead to itself.
    pub fn child(&self, id: &str) -> Option<Self> {
        let mut child = self.below.get(id)?.clone();
        let (mut found, mut due): (BTreeMap<String, Self>, Vec<&str>) = (BTreeMap::new(), vec![id]);
        while let Some(next) = due.pop() {
            let ids = self.below.get(next).into_iter().flat_map(Self::leads_to);
            for id in ids.filter(|id| !found.contains_key(*id)).collect::<Vec<_>>() {
                found.extend(self.below.get(id).map(|below| (id.to_owned(), below.clone())));
                due.push(id);
            }
        }
        child.below = found;
        Some(child)
    }

    /// Puts what the workspace set of its policies into the steps that ask them.
    pub fn pin_policy(&mut self, settings: &Settings) {
        self.steps.iter_mut().for_each(|step| pin_settings(step, settings));
        self.below.values_mut().for_each(|below| below.pin_policy(settings));
    }

    /// Whether any step runs a command, also below it.
    pub fn runs_commands(&self) -> bool {
        if self.below.values().any(Self::runs_commands) {
            return true;
        }
        self.all_steps().into_iter().any(|step| match &step.kind {
            // What is pushed and merged is nobody's but a trusted workspace's.
            StepKind::Run(_) | StepKind::Deliver(_) => true,
            StepKind::Gate(gate) => matches!(gate.by, GateBy::Check(_)),
            StepKind::Prompt(_)
            | StepKind::Loop(_)
            | StepKind::Todo(_)
            | StepKind::Routine(_)
            | StepKind::Gather(_)
            | StepKind::Parallel(_)
            | StepKind::Spawn(_)
            | StepKind::Decide(_) => false,
        })
    }

    /// Puts the settings in force into every step that delivers.
    pub fn pin_delivery(&mut self, settings: &DeliverySettings) {
        self.steps.iter_mut().for_each(|step| pin_delivery(step, settings));
        self.below.values_mut().for_each(|below| below.pin_delivery(settings));
    }

    /// What its steps run, in words for a person, before templates are filled in.
    pub fn commands(&self) -> Vec<String> {
        let steps = self.below.values().fold(self.all_steps(), |mut steps, below| {
            steps.extend(below.all_steps());
            steps
        });
        let delivers = steps.iter().any(|step| step.kind.deliver().is_some());
        let delivery = delivers.then(|| "the delivery of its change".to_owned());
        let runs = steps.into_iter().filter_map(|step| step.kind.run());
        let runs = runs.flat_map(|run| match &run.what {
            RunWhat::Command(words) => vec![shell_words(words)],
            RunWhat::Checks(_) => vec!["the checks that its workspace declares".to_owned()],
            RunWhat::Declared(checks) => {
                let known = checks.iter().filter(|check| !check.run.is_empty());
                known.map(|check| shell_words(&check.run)).collect()
            }
        });
        runs.chain(delivery).collect()
    }

    /// Whether anybody but the agent has a say on the way.
    pub fn has_gates(&self) -> bool {
        let asks = |step: &Step| step.confirm.is_some() || matches!(step.kind, StepKind::Gate(_));
        self.all_steps().into_iter().any(asks) || self.below.values().any(Self::has_gates)
    }
}

/// A command as one would type it: a word that a shell would take apart stands in quotes.
pub(super) fn shell_words(words: &[String]) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=@%+,".contains(letter);
    let quoted = |word: &String| {
        if !word.is_empty() && word.chars().all(is_plain) {
            return word.clone();
        }
        format!("'{}'", word.replace('\'', r"'\''"))
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn pin_delivery(step: &mut Step, settings: &DeliverySettings) {
    if let StepKind::Deliver(deliver) = &mut step.kind {
        deliver.pinned = Some(settings.clone());
    }
    step.kind.inner_mut().iter_mut().for_each(|step| pin_delivery(step, settings));
}

fn pin_step(step: &mut Step, checks: &[Check], missing: &mut Vec<Undeclared>) {
    match &mut step.kind {
        StepKind::Run(run) | StepKind::Gate(Gate { by: GateBy::Check(run), .. }) => {
            let names = pin_run(run, checks);
            missing.extend(names.map(|names| Undeclared { step: step.id.clone(), names }));
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
        | StepKind::Decide(_)
        | StepKind::Deliver(_) => {}
    }
}

/// The names that nobody declares, where any is missing.
fn pin_run(run: &mut Run, checks: &[Check]) -> Option<Vec<String>> {
    let (declared, missing) = match &run.what {
        RunWhat::Checks(CheckChoice::All) => (checks.to_vec(), checks.is_empty().then(Vec::new)),
        RunWhat::Checks(CheckChoice::Named(names)) => {
            let of = |name: &String| checks.iter().find(|check| check.name == *name);
            let unknown = |name: &String| Check {
                name: name.clone(),
                run: Vec::new(),
                timeout_ms: 0,
                empty: OnEmpty::Fail,
            };
            let pinned =
                names.iter().map(|name| of(name).cloned().unwrap_or_else(|| unknown(name))).collect();
            let missing: Vec<String> = names.iter().filter(|name| of(name).is_none()).cloned().collect();
            (pinned, (!missing.is_empty()).then_some(missing))
        }
        RunWhat::Command(_) | RunWhat::Declared(_) => return None,
    };
    run.what = RunWhat::Declared(declared);
    missing
}

fn pin_settings(step: &mut Step, settings: &Settings) {
    if let StepKind::Decide(decide) = &mut step.kind {
        decide.settings = settings.clone();
    }
    step.kind.inner_mut().iter_mut().for_each(|step| pin_settings(step, settings));
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
        let unit = Check {
            name: "unit".to_owned(),
            run: vec!["make".to_owned(), "unit".to_owned()],
            timeout_ms: 1,
            empty: OnEmpty::Fail,
        };
        assert_eq!(
            checks.clone().pin_checks(&[])[0].said(),
            "step `a` runs the check `unit`, which nobody declares"
        );
        assert_eq!(checks.pin_checks(&[unit]), []);
        assert_eq!(checks.commands(), ["make unit"]);
        assert_eq!(with_step("{ id: a, prompt: Look. }").commands(), [""; 0]);
    }

    #[test]
    fn a_check_that_nobody_declares_stays_and_all_of_none_is_told() {
        let mut all = with_step("{ id: a, run: { checks: all } }");
        let missing = all.pin_checks(&[]);
        assert_eq!(missing, [Undeclared { step: "a".to_owned(), names: Vec::new() }]);
        assert_eq!(missing[0].said(), "step `a` runs all checks of the workspace, and it declares none");
        let mut named = with_step("{ id: a, run: { checks: [unit, lint] } }");
        let unit = Check {
            name: "unit".to_owned(),
            run: vec!["make".to_owned()],
            timeout_ms: 1,
            empty: OnEmpty::Fail,
        };
        assert_eq!(named.pin_checks(&[unit])[0].names, ["lint"]);
        let Some(RunWhat::Declared(pinned)) = named.steps[0].kind.run().map(|run| &run.what) else {
            panic!()
        };
        assert_eq!(pinned.iter().map(|check| check.name.as_str()).collect::<Vec<_>>(), ["unit", "lint"]);
        assert_eq!(named.commands(), ["make"]);
    }

    #[test]
    fn what_is_set_of_policies_is_pinned_wherever_one_is_asked() {
        let mut workflow = with_step(
            "{ id: a, loop: { for: 2, max: 2 }, steps: [{ id: b, decide: { policy: routing, with: { classification: x } } }] }",
        );
        let settings =
            Settings { intent_gate: crate::policy::settings::IntentGate::Always, ..Settings::default() };
        workflow.pin_policy(&settings);
        let asked = workflow.all_steps().into_iter().find_map(|step| match &step.kind {
            StepKind::Decide(decide) => Some(decide.settings.clone()),
            _ => None,
        });
        assert_eq!(asked, Some(settings));
    }

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        let words = |words: &[&str]| shell_words(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(words(&["cargo", "test", "-p=core"]), "cargo test -p=core");
        assert_eq!(words(&["sh", "-c", "rm -r a; echo 'b'", ""]), r"sh -c 'rm -r a; echo '\''b'\''' ''");
    }

    #[test]
    fn a_confirmation_is_a_gate_and_a_prompt_is_none() {
        assert!(with_step("{ id: a, gate: { by: person, question: Sure? } }").has_gates());
        assert!(with_step("{ id: a, prompt: Look., confirm: true }").has_gates());
        assert!(!with_step("{ id: a, prompt: Look. }").has_gates());
    }
}
