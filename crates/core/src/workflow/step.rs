//! Steps of every kind, as the engine sees them.

use std::collections::BTreeMap;

pub use longhaul_events::Channel;
use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::prompt::Prompt;
use super::{Budget, DEFAULT_ATTEMPTS, ModelTier};
use crate::delivery::DeliverySettings;
use crate::policy::{Policy, Settings};

/// One step. Its id is unique in the workflow, also after routines were expanded (`caller.step`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub id: String,
    /// A template.
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jump: Option<Jump>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Confirm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guidance: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelTier>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    pub attempts: u32,
    /// Ids of [`super::Workflow::references`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// Vars that must be set before it may begin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    pub kind: StepKind,
}

impl Step {
    /// A step that comes always, demands nothing and leads to the one after it.
    pub(crate) fn plain(id: String, title: String, kind: StepKind) -> Self {
        Self {
            id,
            title,
            when: None,
            jump: None,
            confirm: None,
            role: None,
            guidance: Vec::new(),
            model: None,
            budget: None,
            system_prompt: None,
            attempts: DEFAULT_ATTEMPTS,
            references: Vec::new(),
            requires: Vec::new(),
            kind,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StepKind {
    /// An agent's step; with assessments it is what authors call `assess`.
    Prompt(Box<Prompt>),
    Loop(Loop),
    Todo(Todo),
    /// The steps of a routine, expanded in place.
    Routine(Routine),
    Run(Run),
    Gather(Gather),
    Gate(Gate),
    Parallel(Parallel),
    Spawn(Spawn),
    Decide(Decide),
    Deliver(Deliver),
}

impl StepKind {
    /// The steps inside it.
    pub fn inner(&self) -> &[Step] {
        match self {
            Self::Loop(Loop { steps, .. })
            | Self::Todo(Todo { steps, .. })
            | Self::Routine(Routine { steps, .. }) => steps,
            Self::Parallel(parallel) => {
                parallel.synthesis.as_deref().map(std::slice::from_ref).unwrap_or_default()
            }
            Self::Prompt(_)
            | Self::Run(_)
            | Self::Gather(_)
            | Self::Gate(_)
            | Self::Spawn(_)
            | Self::Decide(_)
            | Self::Deliver(_) => &[],
        }
    }

    /// The steps inside it, to be changed while compiling.
    pub(crate) fn inner_mut(&mut self) -> &mut [Step] {
        match self {
            Self::Loop(Loop { steps, .. })
            | Self::Todo(Todo { steps, .. })
            | Self::Routine(Routine { steps, .. }) => steps,
            Self::Parallel(parallel) => {
                parallel.synthesis.as_deref_mut().map(std::slice::from_mut).unwrap_or_default()
            }
            Self::Prompt(_)
            | Self::Run(_)
            | Self::Gather(_)
            | Self::Gate(_)
            | Self::Spawn(_)
            | Self::Decide(_)
            | Self::Deliver(_) => &mut [],
        }
    }

    /// What the engine runs for it: a command or checks, also where these open a gate.
    pub fn run(&self) -> Option<&Run> {
        match self {
            Self::Run(run) | Self::Gate(Gate { by: GateBy::Check(run), .. }) => Some(run),
            Self::Gate(Gate { by: GateBy::Person | GateBy::Coordinator { .. }, .. })
            | Self::Prompt(_)
            | Self::Loop(_)
            | Self::Todo(_)
            | Self::Routine(_)
            | Self::Gather(_)
            | Self::Parallel(_)
            | Self::Spawn(_)
            | Self::Decide(_)
            | Self::Deliver(_) => None,
        }
    }

    /// What the engine gathers for it.
    pub fn gather(&self) -> Option<&Gather> {
        match self {
            Self::Gather(gather) => Some(gather),
            Self::Prompt(_)
            | Self::Loop(_)
            | Self::Todo(_)
            | Self::Routine(_)
            | Self::Run(_)
            | Self::Gate(_)
            | Self::Parallel(_)
            | Self::Spawn(_)
            | Self::Decide(_)
            | Self::Deliver(_) => None,
        }
    }

    /// The sessions that the engine starts for it, and how it waits for them.
    pub fn family(&self) -> Option<Sessions<'_>> {
        match self {
            Self::Spawn(Spawn { child, on_failure, into }) => Some(Sessions {
                children: std::slice::from_ref(child),
                join: Join::All,
                on_failure: *on_failure,
                files: Files::Write,
                into: into.as_deref(),
            }),
            Self::Parallel(Parallel { children, join, on_failure, into, synthesis: _ }) => Some(Sessions {
                children,
                join: *join,
                on_failure: *on_failure,
                files: Files::Read,
                into: into.as_deref(),
            }),
            Self::Prompt(_)
            | Self::Loop(_)
            | Self::Todo(_)
            | Self::Routine(_)
            | Self::Run(_)
            | Self::Gather(_)
            | Self::Gate(_)
            | Self::Decide(_)
            | Self::Deliver(_) => None,
        }
    }

    /// What the engine delivers for it.
    pub fn deliver(&self) -> Option<&Deliver> {
        if let Self::Deliver(deliver) = self { Some(deliver) } else { None }
    }

    /// The word that people meet.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Prompt(prompt) if prompt.assessments.is_empty() => "prompt",
            Self::Prompt(_) => "assess",
            Self::Loop(_) => "loop",
            Self::Todo(_) => "todo",
            Self::Routine(_) => "routine",
            Self::Run(_) => "run",
            Self::Gather(_) => "gather",
            Self::Gate(_) => "gate",
            Self::Parallel(_) => "parallel",
            Self::Spawn(_) => "spawn",
            Self::Decide(_) => "decide",
            Self::Deliver(_) => "deliver",
        }
    }
}

/// Judged when the step is finished: `to` names a step of the same list or of one around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Jump {
    pub when: Condition,
    pub to: String,
    /// How often it is taken. It counts anew in each iteration of the innermost loop around both ends.
    pub max_jumps: u32,
}

/// A stop after the step's output is accepted and before the next step is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confirm {
    pub by: ConfirmBy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepts: Option<Channel>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmBy {
    Person,
    Coordinator,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loop {
    pub over: LoopOver,
    pub max: u64,
    pub on_max: OnMax,
    /// The var that counts from one.
    pub iteration_var: String,
    pub steps: Vec<Step>,
}

/// What a loop goes by. Judged at the boundaries of iterations only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopOver {
    While(Condition),
    Until(Condition),
    /// Goes on until a step of the body that has [`super::prompt::Control`] for this loop says `stop`.
    Control {
        loop_id: String,
    },
    Count(Count),
    Items {
        list: String,
        item_var: String,
        index_var: String,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    Fixed(u64),
    /// A var that holds a number.
    Var(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnMax {
    Continue,
    Park,
    Fail,
}

/// A list that one step made, worked item by item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Todo {
    pub list: String,
    pub item_var: String,
    pub index_var: String,
    pub max: u64,
    pub may_stop: bool,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Routine {
    pub routine: String,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub what: RunWhat,
    #[serde(default, skip_serializing_if = "RunOn::is_checkout")]
    pub on: RunOn,
    pub timeout_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// Whether it may be run again when it is not known how it ended.
    pub rerun: bool,
}

/// Which files something is run on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOn {
    /// Those of the session, as they are.
    #[default]
    Checkout,
    /// Those that a merge into the newest base would give, in a checkout of their own.
    Merge,
}

impl RunOn {
    pub const fn is_checkout(&self) -> bool {
        matches!(self, Self::Checkout)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunWhat {
    /// Program and arguments; each a template.
    Command(Vec<String>),
    /// Checks that the workspace declares; all of them, or these.
    Checks(CheckChoice),
    /// The same, after a session pinned what the workspace declared when it started.
    Declared(Vec<Check>),
}

/// A check that a workspace declares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub name: String,
    pub run: Vec<String>,
    pub timeout_ms: u64,
    #[serde(default, skip_serializing_if = "OnEmpty::is_fail")]
    pub empty: OnEmpty,
}

/// What becomes of a check that found no tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnEmpty {
    #[default]
    Fail,
    Pass,
}

impl OnEmpty {
    pub const fn is_fail(&self) -> bool {
        matches!(self, Self::Fail)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckChoice {
    All,
    Named(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gather {
    pub what: String,
    /// In the order in which they are tried; the first that has something wins.
    pub from: Vec<GatherFrom>,
    pub into: String,
    pub optional: bool,
}

/// What the engine sees for itself and asks nobody about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// What the task's files differ in from their base, as git has it.
    Change,
    /// What was checked of them, from what is on record.
    Proof,
}

impl Seen {
    /// As files write it.
    pub const WORDS: [(&'static str, Self); 2] = [("change", Self::Change), ("proof", Self::Proof)];

    pub fn of(word: &str) -> Option<Self> {
        Self::WORDS.into_iter().find(|(known, _)| *known == word).map(|(_, seen)| seen)
    }
}

impl Gather {
    /// What the engine sees for itself, where that is wanted and no place is named.
    pub fn seen(&self) -> Option<Seen> {
        if self.from.is_empty() { Seen::of(&self.what) } else { None }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GatherFrom {
    /// A var of that name that was given at the start.
    Injected,
    Item,
    Url,
    /// A pattern of paths in the workspace.
    Paths(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    pub by: GateBy,
    /// A template.
    pub question: String,
    pub accepts: Channel,
    pub timeout_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateBy {
    Person,
    /// Opened when one of these holds; otherwise it is a person's.
    Coordinator {
        accept: Vec<Condition>,
    },
    /// Opened when the command or the checks pass; otherwise the session fails.
    Check(Run),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parallel {
    pub children: Vec<Child>,
    pub join: Join,
    pub on_failure: OnFailure,
    /// The var that takes what all of them came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// What the session's own agent makes of their results. Releases that did not perform it kept a prompt under the plain
    /// name.
    #[serde(default, rename = "synthesis_step", skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<Box<Step>>,
}

impl Parallel {
    /// What the session's own agent is asked when the results are there.
    pub fn asked(&self) -> Option<&Prompt> {
        match &self.synthesis.as_deref()?.kind {
            StepKind::Prompt(prompt) => Some(prompt),
            StepKind::Loop(_)
            | StepKind::Todo(_)
            | StepKind::Routine(_)
            | StepKind::Run(_)
            | StepKind::Gather(_)
            | StepKind::Gate(_)
            | StepKind::Parallel(_)
            | StepKind::Spawn(_)
            | StepKind::Decide(_)
            | StepKind::Deliver(_) => None,
        }
    }

    /// The step that makes something of the results: right behind the one that it belongs to.
    pub(crate) fn synthesis_of(id: &str, prompt: Prompt) -> Box<Step> {
        let kind = StepKind::Prompt(Box::new(prompt));
        Box::new(Step::plain(format!("{id}.synthesis"), "Bring the results together".to_owned(), kind))
    }

    /// Where the results of a step are kept that names no var and has them brought together.
    pub(crate) fn results_of(id: &str) -> String {
        format!("{}_results", id.replace(['-', '.'], "_"))
    }
}

/// The sessions of a step, whichever kind it is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sessions<'a> {
    pub children: &'a [Child],
    pub join: Join,
    pub on_failure: OnFailure,
    /// What they may do with the files, where they do not say.
    pub files: Files,
    pub into: Option<&'a str>,
}

/// What a session may do with the files of its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Files {
    Read,
    /// One at a time.
    Write,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Join {
    All,
    Any,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    #[default]
    Abort,
    Continue,
}

/// A session to start inside a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Child {
    pub workflow: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<Brief>,
    /// Var of the child → template.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub with: BTreeMap<String, serde_json::Value>,
    /// One child per item of a list, when given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<ChildItems>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelTier>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Files>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildItems {
    pub list: String,
    pub item_var: String,
    pub max: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Brief {
    Inherit,
    Blank,
    Custom { include: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spawn {
    pub child: Child,
    #[serde(default)]
    pub on_failure: OnFailure,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
}

/// A rule to ask. The engine asks it itself on the way, from values that are on record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decide {
    pub policy: Policy,
    /// Input of the policy → template.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub with: BTreeMap<String, serde_json::Value>,
    pub into: String,
    /// What the workspace set when the session started.
    #[serde(default)]
    pub settings: Settings,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Deliver {
    pub settings: BTreeMap<String, serde_json::Value>,
    /// The var that the result goes into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// What the settings of the workspace said when the session started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<DeliverySettings>,
}
