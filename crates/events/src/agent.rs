//! What an agent that we drive ourselves did, turn by turn.

use serde::{Deserialize, Serialize};

use crate::content::Content;

/// One thing that happened between a session and its agent, at the step that is out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
pub enum AgentAct {
    /// Who answers from here on, with all that another process needs to go on with it.
    Assigned { agent: String, settings: Content },
    /// The set-up commands of the checkout were run, and went like this.
    MadeReady { outcomes: Content },
    /// A turn has its answer, and is never asked again.
    Answered { turn: u32, said: Content, calls: Vec<AgentCall>, order: CallOrder, usage: TokenCount, ms: u64 },
    /// A turn was asked, and no answer came.
    Failed { turn: u32, fault: TurnFault, message: String, ms: u64 },
    /// A call was begun. Whether it did anything is unknown until it is finished.
    CallStarted { turn: u32, call: u32 },
    CallFinished {
        turn: u32,
        call: u32,
        tool: String,
        outcome: CallOutcome,
        /// How a command ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit: Option<i32>,
        result: Content,
        ms: u64,
    },
    /// We said something to the agent because it did not get on.
    Nudged { turn: u32, words: String },
    /// A person said something to the agent.
    Steered { words: Content, by: String },
}

/// A call that an agent wants made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentCall {
    pub tool: String,
    pub arguments: Content,
    /// What a script says a command has to end with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect_exit: Option<i32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOrder {
    OneByOne,
    AtOnce,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenCount {
    pub input: u64,
    pub output: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    Done,
    /// The agent can do it differently.
    Refused,
    /// Whoever ran it died; nobody knows how far it came.
    Interrupted,
    /// It was stopped with the session.
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnFault {
    Stalled,
    CutOff,
    RateLimit,
    Overloaded,
    UsageLimit,
    Auth,
    Garbage,
    /// A script and the world do not fit.
    Unscripted,
}
