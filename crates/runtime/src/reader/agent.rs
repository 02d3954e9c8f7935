//! What an agent did, told for people.

use longhaul_events::{AgentAct, CallOutcome, Caps, ModelUsage, Taint, TokenCount, TurnFault};
use serde::Serialize;
use serde_json::Value;

use super::Reader;
use crate::error::Error;

/// One act, with what it carries in place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "did", rename_all = "snake_case")]
pub enum AgentDid {
    Assigned {
        agent: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        because: Option<String>,
        #[serde(skip_serializing_if = "Taint::is_clean")]
        taint: Taint,
    },
    MadeReady {
        outcomes: Value,
    },
    Answered {
        turn: u32,
        said: String,
        calls: Vec<ToldCall>,
        usage: TokenCount,
        ms: u64,
        /// In millionths of a dollar.
        cost_micros: u64,
    },
    Failed {
        turn: u32,
        fault: TurnFault,
        message: String,
        ms: u64,
    },
    Requested {
        request: u64,
        may_use: TokenCount,
    },
    Billed {
        request: u64,
        provider: String,
        model: String,
        usage: ModelUsage,
        cost_micros: u64,
    },
    Observed {
        turn: u32,
        tool: String,
        title: String,
        outcome: CallOutcome,
        ms: u64,
    },
    CallStarted {
        turn: u32,
        call: u32,
    },
    CallFinished {
        turn: u32,
        call: u32,
        tool: String,
        outcome: CallOutcome,
        exit: Option<i32>,
        result: String,
        ms: u64,
    },
    Nudged {
        turn: u32,
        words: String,
    },
    Steered {
        words: String,
        by: String,
    },
    Budgeted {
        caps: Caps,
        by: String,
    },
    /// Less of the conversation is told from here on.
    Compacted {
        turn: u32,
        results_until: u64,
        turns_until: u64,
        recap: Option<String>,
    },
    Woken,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToldCall {
    pub tool: String,
    pub arguments: Value,
}

impl AgentDid {
    pub(super) fn tell(act: &AgentAct, reader: &Reader) -> Result<Self, Error> {
        Ok(match act {
            AgentAct::Assigned { agent, settings: _, because, taint } => {
                Self::Assigned { agent: agent.clone(), because: because.clone(), taint: *taint }
            }
            AgentAct::MadeReady { outcomes } => Self::MadeReady { outcomes: reader.value(outcomes)? },
            AgentAct::Answered { turn, said, calls, usage, ms, cost_micros, .. } => {
                let told = |call: &longhaul_events::AgentCall| {
                    Ok(ToldCall { tool: call.tool.clone(), arguments: reader.value(&call.arguments)? })
                };
                let calls = calls.iter().map(told).collect::<Result<_, Error>>()?;
                let (usage, ms, cost_micros) = (*usage, *ms, *cost_micros);
                Self::Answered { turn: *turn, said: reader.words(said)?, calls, usage, ms, cost_micros }
            }
            AgentAct::Failed { turn, fault, message, ms, .. } => {
                Self::Failed { turn: *turn, fault: *fault, message: message.clone(), ms: *ms }
            }
            AgentAct::Requested { request, held, bytes: _ } => {
                Self::Requested { request: *request, may_use: held.tokens }
            }
            AgentAct::Billed { request, provider, model, usage, cost_micros, held: _ } => Self::Billed {
                request: *request,
                provider: provider.clone(),
                model: model.clone(),
                usage: *usage,
                cost_micros: *cost_micros,
            },
            AgentAct::Observed { turn, tool, title, outcome, ms } => Self::Observed {
                turn: *turn,
                tool: tool.clone(),
                title: title.clone(),
                outcome: *outcome,
                ms: *ms,
            },
            AgentAct::CallStarted { turn, call } => Self::CallStarted { turn: *turn, call: *call },
            AgentAct::CallFinished { turn, call, tool, outcome, exit, result, ms } => Self::CallFinished {
                turn: *turn,
                call: *call,
                tool: tool.clone(),
                outcome: *outcome,
                exit: *exit,
                result: reader.words(result)?,
                ms: *ms,
            },
            AgentAct::Nudged { turn, words } => Self::Nudged { turn: *turn, words: words.clone() },
            AgentAct::Steered { words, by } => Self::Steered { words: reader.words(words)?, by: by.clone() },
            AgentAct::Budgeted { caps, by } => Self::Budgeted { caps: *caps, by: by.clone() },
            AgentAct::Compacted { turn, results_until, turns_until, recap, .. } => Self::Compacted {
                turn: *turn,
                results_until: *results_until,
                turns_until: *turns_until,
                recap: recap.as_ref().map(|recap| reader.words(recap)).transpose()?,
            },
            AgentAct::Woken => Self::Woken,
        })
    }
}
