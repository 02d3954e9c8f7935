//! What there is to say about a step, in words: the text form prints all of it, the drawing what fits a box.

use crate::workflow::condition::Condition;
use crate::workflow::prompt::{FollowUp, LevelTest, Notes, Prompt};
use crate::workflow::step::{
    Brief, Child, Confirm, ConfirmBy, Count, Decide, Gate, GateBy, Gather, GatherFrom, Join, Jump, Loop,
    LoopOver, OnFailure, OnMax, Parallel, Run, Seen, Spawn, Step, StepKind, Todo,
};
use crate::workflow::{Budget, DEFAULT_ATTEMPTS, ModelTier};

use super::words;

/// One thing to say about a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    pub shown: Shown,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// In the text form and in the drawing.
    Everywhere,
    /// In the text form only; the drawing has it in the tooltip.
    InText,
}

/// Everything about a step but its condition, its confirmation and the steps or children inside it.
pub(super) fn of(step: &Step) -> Vec<Fact> {
    let mut facts = Facts::default();
    if !step.requires.is_empty() {
        facts.show(format!("needs {}", step.requires.join(", ")));
    }
    match &step.kind {
        StepKind::Prompt(prompt) => facts.prompt(prompt),
        StepKind::Loop(repeated) => facts.show(repeats(repeated)),
        StepKind::Todo(todo) => facts.todo(todo),
        StepKind::Routine(routine) => facts.show(format!("the steps of {}", routine.routine)),
        StepKind::Run(run) => facts.run(run),
        StepKind::Gather(gather) => facts.gather(gather),
        StepKind::Gate(gate) => facts.gate(gate),
        StepKind::Parallel(parallel) => facts.parallel(parallel),
        StepKind::Spawn(spawn) => facts.spawn(spawn),
        StepKind::Decide(decide) => facts.decide(decide),
        StepKind::Deliver(deliver) => {
            facts
                .show(listed(deliver.settings.iter().map(|(key, value)| format!("{key}: {}", plain(value)))));
        }
    }
    if let Some(jump) = &step.jump {
        facts.show(jumps(jump));
    }
    facts.common(step);
    facts.all
}

/// The condition of a step, in words.
pub(super) fn only_if(step: &Step) -> Option<String> {
    step.when.as_ref().map(held_if)
}

fn held_if(when: &Condition) -> String {
    match when {
        Condition::All(parts) | Condition::Any(parts) if parts.is_empty() => words::condition(when),
        Condition::All(_) | Condition::Any(_) | Condition::Not(_) | Condition::Var { .. } => {
            format!("only if {}", words::condition(when))
        }
    }
}

/// Who must confirm a step's outcome before the next one is shown.
pub(super) fn confirmation(step: &Step) -> Option<String> {
    let Confirm { by, accepts, when } = step.confirm.as_ref()?;
    let who = match by {
        ConfirmBy::Person => "a person",
        ConfirmBy::Coordinator => "the coordinator",
    };
    let how = accepts.map(|channel| format!(" {}", words::channel(channel))).unwrap_or_default();
    let when = when.as_ref().map(|when| format!(", if {}", words::condition(when))).unwrap_or_default();
    Some(format!("then {who} confirms{how}{when}"))
}

/// Where a jump goes, when, and how often.
pub(super) fn jumps(jump: &Jump) -> String {
    let often = words::counted(u64::from(jump.max_jumps), "time");
    format!("jumps to {} if {}, at most {often}", jump.to, words::condition(&jump.when))
}

/// What is done with the results of the children of a `parallel` step.
pub(super) fn synthesis(prompt: &Prompt) -> Vec<Fact> {
    let mut facts = Facts::default();
    facts.prompt(prompt);
    facts.all
}

/// What there is to say about one child, its workflow's name aside.
pub(super) fn child(child: &Child) -> Vec<Fact> {
    let mut facts = Facts::default();
    facts.child(child);
    facts.all
}

/// How the children of a `parallel` step are waited for.
pub(super) fn join(parallel: &Parallel) -> String {
    let waits = match parallel.join {
        Join::All => "waits for all",
        Join::Any => "waits for the first",
    };
    let failure = match parallel.on_failure {
        OnFailure::Abort => "a failure ends the step",
        OnFailure::Continue => "goes on after a failure",
    };
    format!("{waits}, {failure}")
}

pub(super) fn tier(tier: ModelTier) -> &'static str {
    match tier {
        ModelTier::Light => "light model",
        ModelTier::Standard => "standard model",
        ModelTier::Heavy => "heavy model",
    }
}

pub(super) fn budget(budget: &Budget) -> String {
    let tokens = budget.tokens.map(|tokens| words::counted(tokens, "token"));
    let time = budget.time_ms.map(words::duration);
    let money = budget
        .money_micros
        .map(|micros| format!("{}.{:02} dollars", micros / 1_000_000, micros % 1_000_000 / 10_000));
    listed([tokens, time, money].into_iter().flatten())
}

fn repeats(repeated: &Loop) -> String {
    let most = words::counted(repeated.max, "time");
    let end = match repeated.on_max {
        OnMax::Continue => "then goes on",
        OnMax::Park => "then parks for a person",
        OnMax::Fail => "then fails",
    };
    match &repeated.over {
        LoopOver::While(condition) => {
            format!("repeats while {}, at most {most}, {end}", words::condition(condition))
        }
        LoopOver::Until(condition) => {
            format!("repeats until {}, at most {most}, {end}", words::condition(condition))
        }
        LoopOver::Control { loop_id } => {
            format!("repeats until a step says stop for {loop_id}, at most {most}, {end}")
        }
        LoopOver::Count(Count::Fixed(count)) => {
            format!("repeats {}, at most {most}", words::counted(*count, "time"))
        }
        LoopOver::Count(Count::Var(var)) => format!("repeats as often as {var} says, at most {most}, {end}"),
        LoopOver::Items { list, item_var, .. } => {
            format!("repeats for each {item_var} of {list}, at most {}", words::counted(repeated.max, "item"))
        }
    }
}

fn listed(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join(", ")
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[derive(Default)]
struct Facts {
    all: Vec<Fact>,
}

impl Facts {
    fn show(&mut self, text: String) {
        self.all.push(Fact { shown: Shown::Everywhere, text });
    }

    fn mention(&mut self, text: String) {
        self.all.push(Fact { shown: Shown::InText, text });
    }

    fn prompt(&mut self, prompt: &Prompt) {
        for assessment in &prompt.assessments {
            self.assessment(assessment);
        }
        for output in &prompt.outputs {
            let word = if output.required { "answers with" } else { "may answer with" };
            self.show(match &output.into {
                Some(var) if *var == output.contract => format!("{word} and sets {var}"),
                Some(var) => format!("{word} {}, sets {var}", output.contract),
                None => format!("{word} {}", output.contract),
            });
        }
        if !prompt.produces.is_empty() {
            let vars = prompt.produces.iter().map(|(var, kind)| format!("{var} ({})", words::var_type(kind)));
            self.show(format!("sets {}", listed(vars)));
        }
        if let Some(control) = &prompt.control {
            self.show(format!("decides whether {} goes on", control.loop_id));
        }
        self.prompt_in_text(prompt);
    }

    fn assessment(&mut self, assessment: &crate::workflow::prompt::Assessment) {
        let dimensions = assessment
            .dimensions
            .iter()
            .map(|dimension| format!("{} ({})", dimension.id, dimension.levels.join(", ")));
        self.show(format!("judges {}", listed(dimensions)));
        for consequence in &assessment.consequences {
            let when = match &consequence.when {
                LevelTest::Any(level) => format!("any is {level}"),
                LevelTest::Dimension { id, level } => format!("{id} is {level}"),
            };
            let then = match &consequence.then {
                FollowUp::Guidance(_) => "follows up".to_owned(),
                FollowUp::Redo(steps) => format!("redoes {}", words::counted(steps.len() as u64, "thing")),
            };
            self.show(format!("{then} if {when}"));
        }
    }

    fn prompt_in_text(&mut self, prompt: &Prompt) {
        for fragment in &prompt.fragments {
            if let Some(when) = &fragment.when {
                self.mention(format!("asks for more if {}", words::condition(when)));
            }
        }
        match prompt.notes {
            Notes::Required => {}
            Notes::Optional => self.mention("notes are optional".to_owned()),
            Notes::None => self.mention("takes no notes".to_owned()),
        }
        if !prompt.validate.is_empty() {
            self.mention(format!("notes meet {}", words::counted(prompt.validate.len() as u64, "rule")));
        }
    }

    fn todo(&mut self, todo: &Todo) {
        let most = words::counted(todo.max, "item");
        let stop = if todo.may_stop { ", may stop early" } else { "" };
        self.show(format!("works through {} as {}, at most {most}{stop}", todo.list, todo.item_var));
    }

    fn run(&mut self, run: &Run) {
        self.show(format!("runs {}", words::run(run)));
        self.into(run.into.as_ref());
        self.mention(format!("stops after {}", words::duration(run.timeout_ms)));
        if let Some(directory) = &run.dir {
            self.mention(format!("in {directory}"));
        }
        if let Some(network) = &run.network {
            self.mention(format!("network: {network}"));
        }
        if run.rerun {
            self.mention("may be run again if its outcome is unknown".to_owned());
        }
    }

    fn gather(&mut self, gather: &Gather) {
        if let Some(seen) = gather.seen() {
            self.show(match seen {
                Seen::Change => "reads from git what was changed".to_owned(),
                Seen::Proof => "makes the proof from what is on record".to_owned(),
            });
            return self.into(Some(&gather.into));
        }
        let from = gather.from.iter().map(|from| match from {
            GatherFrom::Injected => "what was given at the start".to_owned(),
            GatherFrom::Item => "the item".to_owned(),
            GatherFrom::Url => "a URL".to_owned(),
            GatherFrom::Paths(pattern) => pattern.clone(),
        });
        let from = from.collect::<Vec<_>>().join(" or ");
        let optional = if gather.optional { ", if there is one" } else { "" };
        self.show(format!("looks for a {} in {from}{optional}", gather.what));
        self.into(Some(&gather.into));
    }

    fn gate(&mut self, gate: &Gate) {
        let how = words::channel(gate.accepts);
        match &gate.by {
            GateBy::Person => self.show(format!("opened by a person {how}")),
            GateBy::Coordinator { accept } => {
                let rules = accept.iter().map(words::condition).collect::<Vec<_>>().join("; or if ");
                let rules = if accept.is_empty() { "never".to_owned() } else { format!("if {rules}") };
                self.show(format!("opened by the coordinator {rules}; else by a person {how}"));
            }
            GateBy::Check(run) => {
                self.show(format!("opened by {} passing; else the session fails", words::run(run)));
                self.mention(format!("the check stops after {}", words::duration(run.timeout_ms)));
            }
        }
        if !gate.question.is_empty() {
            self.show(format!("asks {}", words::quoted(&gate.question)));
        }
        self.mention(format!("fails after {}", words::duration(gate.timeout_ms)));
    }

    fn parallel(&mut self, parallel: &Parallel) {
        self.show(format!(
            "starts {} side by side",
            words::counted(parallel.children.len() as u64, "session")
        ));
    }

    fn spawn(&mut self, spawn: &Spawn) {
        self.show(format!("starts a session of {}", spawn.child.workflow));
        self.child(&spawn.child);
        self.into(spawn.into.as_ref());
    }

    fn decide(&mut self, decide: &Decide) {
        self.show(format!("asks the policy {}", decide.policy.word()));
        if !decide.with.is_empty() {
            self.mention(format!("given {}", listed(decide.with.keys().cloned())));
        }
        self.into(Some(&decide.into));
    }

    fn child(&mut self, child: &Child) {
        if let Some(goal) = &child.goal {
            self.show(format!("goal: {goal}"));
        }
        if let Some(when) = &child.when {
            self.show(held_if(when));
        }
        if let Some(items) = &child.for_each {
            let most = words::counted(items.max, "session");
            self.show(format!("one for each {} of {}, at most {most}", items.item_var, items.list));
        }
        match &child.brief {
            None | Some(Brief::Inherit) => {}
            Some(Brief::Blank) => self.show("blank brief".to_owned()),
            Some(Brief::Custom { include }) => self.show(format!("brief: {}", include.join(", "))),
        }
        if !child.with.is_empty() {
            self.mention(format!("given {}", listed(child.with.keys().cloned())));
        }
        if let Some(model) = child.model {
            self.mention(tier(model).to_owned());
        }
    }

    fn into(&mut self, var: Option<&String>) {
        if let Some(var) = var {
            self.show(format!("sets {var}"));
        }
    }

    fn common(&mut self, step: &Step) {
        if let Some(model) = step.model {
            self.mention(tier(model).to_owned());
        }
        if let Some(limits) = &step.budget {
            self.mention(format!("budget: {}", budget(limits)));
        }
        if step.attempts != DEFAULT_ATTEMPTS {
            let attempts = words::counted(u64::from(step.attempts), "attempt");
            self.mention(format!("blocked after {attempts}"));
        }
    }
}
