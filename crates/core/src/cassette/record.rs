//! From what an agent did to a script that does it again.

use std::collections::BTreeMap;

use longhaul_events::{
    AgentAct, AgentCall, CallOrder, CallOutcome, Content, NodeId, StepId, TokenCount, TurnFault,
};
use serde_json::{Map, Value};

use crate::budget::{Price, Pricing};
use crate::conversation::COMPLETE_STEP;

use super::{
    Act, Asked, Cassette, DEFAULT_WINDOW, Failure, Fault, Order, Scripted, ScriptedCall, Usage, When,
};

const EXPECT_EXIT: &str = "expect_exit";

/// What happened so far, act by act. The contents of acts have to be in place.
#[derive(Debug, Clone)]
pub struct Recording {
    workflow: String,
    visits: BTreeMap<StepId, u32>,
    /// By others of the same task, which play the same script: by step, and at each.
    before: (BTreeMap<String, u32>, u32),
    nodes: BTreeMap<NodeId, Asked>,
    turns: Vec<Taken>,
    remarks: Vec<String>,
}

/// A script, and what whoever plays it should know.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    pub cassette: Cassette,
    pub remarks: Vec<String>,
}

#[derive(Debug, Clone)]
struct Taken {
    node: NodeId,
    number: u32,
    asked: Asked,
    say: String,
    usage: Usage,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Calls {
        calls: Vec<Made>,
        order: Order,
    },
    Fault(Fault),
    /// All that it did stands elsewhere.
    Merged,
}

#[derive(Debug, Clone, PartialEq)]
struct Made {
    tool: String,
    arguments: Map<String, Value>,
    ended: Option<CallOutcome>,
    exit: Option<i32>,
}

impl Made {
    fn is_same_call(&self, other: &Self) -> bool {
        self.tool == other.tool && self.arguments == other.arguments
    }
}

impl Recording {
    pub fn of(workflow: &str) -> Self {
        Self {
            workflow: workflow.to_owned(),
            visits: BTreeMap::new(),
            before: (BTreeMap::new(), 0),
            nodes: BTreeMap::new(),
            turns: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Others of the same task had been at these steps, and as many more as are ahead of it at each.
    #[must_use]
    pub fn after(self, steps: BTreeMap<String, u32>, ahead: u32) -> Self {
        Self { before: (steps, ahead), ..self }
    }

    /// A step was handed out.
    pub fn hand_out(&mut self, node: NodeId, step: &StepId) {
        let (steps, ahead) = &self.before;
        let before = steps.get(&step.0).copied().unwrap_or_default().saturating_add(*ahead);
        let visit = self.visits.entry(step.clone()).or_insert(before);
        *visit += 1;
        let asked = Asked { workflow: self.workflow.clone(), step: step.0.clone(), visit: *visit };
        self.nodes.insert(node, asked);
    }

    /// Whether a step was handed out there.
    pub fn knows(&self, node: NodeId) -> bool {
        self.nodes.contains_key(&node)
    }

    /// Something happened between the session and its agent.
    pub fn take(&mut self, node: NodeId, act: &AgentAct) {
        match act {
            AgentAct::Answered { turn, said, calls, order, usage, .. } => {
                let order = match order {
                    CallOrder::OneByOne => Order::OneByOne,
                    CallOrder::AtOnce => Order::AtOnce,
                };
                let calls = calls.iter().map(made).collect();
                self.add(node, *turn, What::Calls { calls, order });
                if let Some(last) = self.turns.last_mut() {
                    let TokenCount { input, output } = *usage;
                    last.usage = Usage { input, output };
                    last.say = words(said);
                }
            }
            AgentAct::Failed { turn, fault, ms, .. } => match scripted(*fault, *ms) {
                Some(fault) => self.add(node, *turn, What::Fault(fault)),
                None => self.remark(node, "a turn failed in a way that no script can play"),
            },
            AgentAct::CallFinished { turn, call, outcome, exit, .. } => {
                if let Some(made) = self.call(node, *turn, *call) {
                    made.ended = Some(*outcome);
                    made.exit = *exit;
                }
            }
            AgentAct::Observed { tool, .. } => {
                self.remark(
                    node,
                    &format!("the agent did `{tool}` by itself, which a script cannot do again"),
                );
            }
            AgentAct::Steered { .. } => {
                self.remark(node, "a person said something to the agent, which a script does not hear");
            }
            AgentAct::Assigned { .. }
            | AgentAct::MadeReady { .. }
            | AgentAct::Budgeted { .. }
            | AgentAct::Woken
            | AgentAct::Requested { .. }
            | AgentAct::Billed { .. }
            | AgentAct::CallStarted { .. }
            | AgentAct::Compacted { .. }
            | AgentAct::Nudged { .. } => {}
        }
    }

    fn remark(&mut self, node: NodeId, what: &str) {
        let step = self.nodes.get(&node).map_or("a step", |asked| &asked.step);
        self.remarks.push(format!("at `{step}`: {what}"));
    }

    fn add(&mut self, node: NodeId, number: u32, what: What) {
        let Some(asked) = self.nodes.get(&node).cloned() else { return };
        let (say, usage) = (String::new(), Usage::default());
        self.turns.push(Taken { node, number, asked, say, usage, what });
    }

    fn call(&mut self, node: NodeId, turn: u32, call: u32) -> Option<&mut Made> {
        let mut turns =
            self.turns.iter_mut().rev().filter(|taken| taken.node == node && taken.number == turn);
        turns.find_map(|taken| match &mut taken.what {
            What::Calls { calls, .. } => calls.get_mut(usize::try_from(call).ok()?),
            What::Fault(_) | What::Merged => None,
        })
    }

    /// The script. A call that was interrupted and made again stands in it once, where it was made first. What the model
    /// has room for and costs is taken from the script that was `played`, if it was one.
    pub fn finish(mut self, played: Option<Cassette>) -> Recorded {
        self.join_interrupted();
        let turns = self.turns.into_iter().filter_map(Taken::scripted).collect();
        let cassette = match played {
            Some(played) => Cassette { turns, ..played },
            None => Cassette {
                window: DEFAULT_WINDOW,
                pricing: Pricing::Known(Price::default()),
                max_output: None,
                turns,
            },
        };
        Recorded { cassette, remarks: self.remarks }
    }

    fn join_interrupted(&mut self) {
        for index in 0..self.turns.len() {
            let (before, after) = self.turns.split_at_mut(index + 1);
            let Some(Taken { node, what: What::Calls { calls, .. }, .. }) = before.last_mut() else {
                continue;
            };
            for call in calls.iter_mut().filter(|call| call.ended == Some(CallOutcome::Interrupted)) {
                match take_out(after, *node, call) {
                    Some(again) => (call.ended, call.exit) = (again.ended, again.exit),
                    None => self
                        .remarks
                        .push(format!("nobody knows how far a call of `{}` came; it is made", call.tool)),
                }
            }
        }
    }
}

/// Takes the first call like this one out of the turns of a step. A turn that was only for it goes with it.
fn take_out(turns: &mut [Taken], node: NodeId, like: &Made) -> Option<Made> {
    for turn in turns.iter_mut().take_while(|turn| turn.node == node) {
        let What::Calls { calls, .. } = &mut turn.what else { continue };
        if let Some(place) = calls.iter().position(|call| call.is_same_call(like)) {
            let again = calls.remove(place);
            if calls.is_empty() {
                turn.what = What::Merged;
            }
            return Some(again);
        }
    }
    None
}

impl Taken {
    fn scripted(self) -> Option<Scripted> {
        let Asked { workflow, step, visit } = self.asked;
        let when = When { workflow: Some(workflow), step: Some(step), visit: Some(visit) };
        let act = match self.what {
            What::Merged => return None,
            What::Fault(fault) => Act::Fault(fault),
            What::Calls { calls, order } => act(calls, order, &self.say),
        };
        Some(Scripted { when, say: self.say, usage: self.usage, act, optional: false })
    }
}

fn act(mut calls: Vec<Made>, order: Order, say: &str) -> Act {
    match calls.as_mut_slice() {
        [] if !say.is_empty() => Act::Nothing,
        [only] if only.tool == COMPLETE_STEP && order == Order::OneByOne => {
            Act::Complete(std::mem::take(&mut only.arguments))
        }
        _ => Act::Tools { calls: calls.into_iter().map(Made::scripted).collect(), order },
    }
}

impl Made {
    fn scripted(self) -> ScriptedCall {
        let expect_exit = self.exit.filter(|_| self.ended == Some(CallOutcome::Done));
        ScriptedCall { tool: self.tool, arguments: self.arguments, expect_exit }
    }
}

fn made(call: &AgentCall) -> Made {
    let mut arguments = match &call.arguments {
        Content::Inline(Value::Object(arguments)) => arguments.clone(),
        Content::Inline(_) | Content::Blob(_) => Map::new(),
    };
    // The file says with it how a command ends, so no tool can have an argument of this name.
    arguments.shift_remove(EXPECT_EXIT);
    Made { tool: call.tool.clone(), arguments, ended: None, exit: None }
}

fn words(content: &Content) -> String {
    match content {
        Content::Inline(Value::String(text)) => text.clone(),
        Content::Inline(other) => other.to_string(),
        Content::Blob(_) => String::new(),
    }
}

const fn scripted(fault: TurnFault, ms: u64) -> Option<Fault> {
    Some(match fault {
        TurnFault::Stalled => Fault::Stall { ms },
        TurnFault::CutOff | TurnFault::Network => Fault::CutStream,
        TurnFault::Garbage => Fault::Garbage,
        TurnFault::RateLimit => Fault::Error(Failure::RateLimit),
        TurnFault::Overloaded => Fault::Error(Failure::Overloaded),
        TurnFault::UsageLimit => Fault::Error(Failure::UsageLimit),
        TurnFault::Auth => Fault::Error(Failure::Auth),
        TurnFault::ContextOverflow | TurnFault::BadRequest | TurnFault::OverCap | TurnFault::Unscripted => {
            return None;
        }
    })
}
