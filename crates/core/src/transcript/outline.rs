//! What is known of a session beside its conversation: what outlives it when it is shortened.

use std::collections::BTreeMap;

use longhaul_events::{AgentAct, AgentCall, Content, NodeId, Reason, ReportKind, SessionEvent, StepId};
use serde_json::Value;

/// How many of a kind are kept, and how many of them are the oldest: a plan is made at the beginning.
const MOST_KEPT: usize = 128;
const OLDEST_KEPT: usize = 32;
/// Paths are short.
const MOST_FILES: usize = 1024;

/// Goal, results of steps, facts, vars, words of people, files.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Outline {
    pub(super) goal: Option<Content>,
    pub(super) done: Vec<DoneStep>,
    pub(super) reports: Vec<Report>,
    pub(super) vars: BTreeMap<String, Content>,
    /// What people said.
    pub(super) words: Vec<Words>,
    /// Calls that wrote files.
    pub(super) touched: Vec<Touched>,
    pub(super) current: Option<CurrentStep>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct DoneStep {
    pub(super) node: NodeId,
    pub(super) step: StepId,
    pub(super) payload: Content,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Report {
    pub(super) node: Option<NodeId>,
    pub(super) kind: ReportKind,
    pub(super) value: Content,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Words {
    pub(super) node: Option<NodeId>,
    pub(super) by: String,
    pub(super) said: Content,
}

/// A call that wrote a file: its path, or arguments that are too long to lie here.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Touched {
    Path(String),
    Arguments(Content),
}

/// The step that is out, and what came of it so far.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CurrentStep {
    pub(super) node: NodeId,
    pub(super) step: StepId,
    pub(super) prompt: Content,
    pub(super) refused: Vec<Reason>,
    pub(super) notes: Option<Content>,
    pub(super) first_words: Option<Content>,
}

impl Outline {
    pub(super) fn apply(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Opened { goal, .. } => self.goal = Some(goal.clone()),
            SessionEvent::StepHandedOut { node, step, prompt, .. } => {
                self.current = Some(CurrentStep {
                    node: *node,
                    step: step.clone(),
                    prompt: prompt.clone(),
                    refused: Vec::new(),
                    notes: None,
                    first_words: None,
                });
            }
            SessionEvent::StepFinished { node, payload, .. } => self.finish(*node, payload),
            SessionEvent::AttemptRefused { reasons, .. } => {
                self.current.iter_mut().for_each(|current| current.refused.clone_from(reasons));
            }
            SessionEvent::Checkpointed { notes, .. } => {
                self.current.iter_mut().for_each(|current| current.notes = Some(notes.clone()));
            }
            SessionEvent::VarsChanged { set, unset } => {
                self.vars.extend(set.iter().map(|(name, value)| (name.clone(), value.clone())));
                unset.iter().for_each(|name| drop(self.vars.remove(name)));
            }
            SessionEvent::Reported { node, kind, report } => {
                keep(&mut self.reports, Report { node: *node, kind: *kind, value: report.clone() });
            }
            SessionEvent::GateAnswered { gate, by, words, .. } => self.hear(Some(*gate), by, words),
            SessionEvent::Agent { node, act: AgentAct::Steered { words, by } } => self.hear(*node, by, words),
            // The fork that follows leaves out what was said up to it, but not why.
            SessionEvent::Rewound { reason, by, .. } => self.hear(None, by, reason),
            SessionEvent::Continued { text, .. } => self.hear(None, "a person", text),
            SessionEvent::Forked { from, restored, .. } => {
                self.go_back(*from);
                if let Some(restored) = restored {
                    self.vars.clone_from(&restored.vars);
                }
            }
            SessionEvent::DriverTaken { .. }
            | SessionEvent::DriverRenewed { .. }
            | SessionEvent::DriverExpired { .. }
            | SessionEvent::DriverReleased { .. }
            | SessionEvent::HandleReissued { .. }
            | SessionEvent::StopRequested { .. }
            | SessionEvent::Closed { .. }
            | SessionEvent::WorkflowPinned { .. }
            | SessionEvent::WayChosen { .. }
            | SessionEvent::Decided { .. }
            | SessionEvent::LoopExhausted { .. }
            | SessionEvent::WorkBegan { .. }
            | SessionEvent::WorkStarted { .. }
            | SessionEvent::WorkFinished { .. }
            | SessionEvent::GateOpened { .. }
            | SessionEvent::GateExpired { .. }
            | SessionEvent::Parked { .. }
            | SessionEvent::Unparked { .. }
            | SessionEvent::Agent { .. }
            | SessionEvent::CheckoutMade { .. }
            | SessionEvent::Snapshotted { .. }
            | SessionEvent::CheckoutRemoved { .. }
            | SessionEvent::Delivery { .. } => {}
        }
    }

    fn finish(&mut self, node: NodeId, payload: &Content) {
        if let Some(current) = self.current.take_if(|current| current.node == node) {
            keep(&mut self.done, DoneStep { node, step: current.step, payload: payload.clone() });
        }
    }

    fn hear(&mut self, node: Option<NodeId>, by: &str, words: &Content) {
        keep(&mut self.words, Words { node, by: by.to_owned(), said: words.clone() });
    }

    /// The first that the agent says at a step is often what it is going to do there.
    pub(super) fn say(&mut self, node: Option<NodeId>, said: &Content) {
        let is_empty = matches!(said, Content::Inline(Value::String(text)) if text.trim().is_empty());
        let current = self.current.as_mut().filter(|current| node == Some(current.node));
        if let Some(current) = current.filter(|current| !is_empty && current.first_words.is_none()) {
            current.first_words = Some(said.clone());
        }
    }

    /// Remembers the file that a call wrote.
    pub(super) fn touch(&mut self, call: &AgentCall) {
        if call.tool != "write" && call.tool != "edit" {
            return;
        }
        let file = match &call.arguments {
            Content::Inline(arguments) => Touched::Path(path(arguments)),
            Content::Blob(_) => Touched::Arguments(call.arguments.clone()),
        };
        if self.touched.iter().all(|known| *known != file) {
            if self.touched.len() >= MOST_FILES {
                self.touched.remove(0);
            }
            self.touched.push(file);
        }
    }

    /// What came from a node on is not so any more. Files may have been brought back, but nobody is harmed by a name.
    fn go_back(&mut self, from: NodeId) {
        let is_before = |node: Option<NodeId>| node.is_none_or(|node| node < from);
        self.done.retain(|step| step.node < from);
        self.reports.retain(|report| is_before(report.node));
        self.words.retain(|words| is_before(words.node));
        self.current = None;
    }

    pub(super) fn step_out(&self) -> Option<(&StepId, &Content)> {
        self.current.as_ref().map(|current| (&current.step, &current.prompt))
    }
}

/// Adds one more; where there are too many, those in the middle go.
fn keep<Item>(list: &mut Vec<Item>, item: Item) {
    if list.len() >= MOST_KEPT {
        list.remove(OLDEST_KEPT);
    }
    list.push(item);
}

/// What a call says it writes.
pub(super) fn path(arguments: &Value) -> String {
    arguments["path"].as_str().unwrap_or_default().to_owned()
}
