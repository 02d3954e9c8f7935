//! What an agent that we drive ourselves did, turn by turn.

use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::time::Timestamp;

/// One thing that happened between a session and its agent, at the step that is out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
pub enum AgentAct {
    /// Who answers from here on, with all that another process needs to go on with it.
    Assigned {
        agent: String,
        settings: Content,
        /// Why it is somebody else than before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
        /// Where what it works on comes from.
        #[serde(default, skip_serializing_if = "Taint::is_clean")]
        taint: Taint,
    },
    /// The set-up commands of the checkout were run, and went like this.
    MadeReady { outcomes: Content },
    /// A turn has its answer, and is never asked again.
    Answered {
        turn: u32,
        said: Content,
        calls: Vec<AgentCall>,
        order: CallOrder,
        usage: TokenCount,
        ms: u64,
        /// What it cost, in millionths of a dollar.
        #[serde(default, skip_serializing_if = "is_zero")]
        cost_micros: u64,
        /// Whose account it is on.
        #[serde(default, skip_serializing_if = "Account::is_turn")]
        account: Account,
        /// What a provider wants back unchanged whenever the turn is told again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        echo: Option<Content>,
    },
    /// A turn was asked, and no answer came.
    Failed {
        turn: u32,
        fault: TurnFault,
        message: String,
        ms: u64,
        /// For how long whoever was asked wants to be left alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
        /// When a limit that is used up is new again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Timestamp>,
    },
    /// A request to a model goes out now. What it may use at most counts as used until there is a bill.
    Requested {
        request: u64,
        held: Held,
        /// How long it is. With its bill that tells how many bytes make a token.
        #[serde(default, skip_serializing_if = "is_zero")]
        bytes: u64,
    },
    /// What a request used, in the place of what was held for it.
    Billed { request: u64, provider: String, model: String, usage: ModelUsage, cost_micros: u64, held: Held },
    /// An agent with hands of its own did something by itself.
    Observed { turn: u32, tool: String, title: String, outcome: CallOutcome, ms: u64 },
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
    /// What the session may use from here on, all that it used before included.
    Budgeted { caps: Caps, by: String },
    /// The conversation had no room left. From here on, less of it is told. Turns are counted over the whole session.
    Compacted {
        turn: u32,
        /// Of the turns up to this one, what calls gave and took is told in a line each.
        results_until: u64,
        /// The turns up to this one are not told at all.
        turns_until: u64,
        /// No result up to here is told any longer than this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        longest_result: Option<u64>,
        /// What is told in the place of those turns.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recap: Option<Content>,
    },
    /// What a step waited for may be there again, and it goes on by itself.
    Woken,
}

/// Whether a session works on text that came from outside, from people that nobody here knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Taint {
    #[default]
    Clean,
    Outside,
}

impl Taint {
    pub fn is_clean(&self) -> bool {
        *self == Self::Clean
    }
}

/// What a session may use. Money is in millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caps {
    pub tokens: u64,
    /// While somebody drives it; what waits for a person uses no time.
    pub time_ms: u64,
    pub money_micros: u64,
    pub turns: u64,
    /// For it and all sessions of its tree.
    pub task_money_micros: u64,
    /// For all sessions of one day.
    pub day_money_micros: u64,
}

/// Where what a turn used is added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Account {
    /// With the turn itself.
    #[default]
    Turn,
    /// With the bills of the requests that it was made of.
    Bills,
}

impl Account {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    fn is_turn(&self) -> bool {
        *self == Self::Turn
    }
}

/// What is set aside for a request whose bill is not there yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Held {
    pub tokens: TokenCount,
    pub cost_micros: u64,
}

/// What one request to a model used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelUsage {
    /// All of it, what came from a cache and went into one included.
    pub input: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_read: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write: u64,
    pub output: u64,
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
    /// The name that a provider gave it, and wants its result under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
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
    /// The conversation is longer than the model has room for.
    ContextOverflow,
    /// It does not take what was asked, and would not take it again.
    BadRequest,
    /// It was not reached.
    Network,
    /// Our own cap cut it.
    OverCap,
    /// A script and the world do not fit.
    Unscripted,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every act that was ever shipped, as it was stored.
    const ACTS: &[&str] = &[
        r#"{"act":"assigned","agent":"rehearsal","settings":{"inline":{}}}"#,
        r#"{"act":"assigned","agent":"b","settings":{"inline":{}},"because":"a is used up","taint":"outside"}"#,
        r#"{"act":"woken"}"#,
        r#"{"act":"answered","turn":1,"said":{"inline":"so"},"calls":[],"order":"at_once","usage":{"input":1,"output":2},"ms":3}"#,
        r#"{"act":"answered","turn":1,"said":{"inline":"so"},"calls":[],"order":"one_by_one","usage":{"input":1,"output":2},"ms":3,"cost_micros":4}"#,
        r#"{"act":"failed","turn":1,"fault":"stalled","message":"nothing came","ms":3}"#,
        r#"{"act":"answered","turn":1,"said":{"inline":"so"},"calls":[],"order":"one_by_one","usage":{"input":1,"output":2},"ms":3,"account":"bills"}"#,
        r#"{"act":"failed","turn":1,"fault":"usage_limit","message":"used up","ms":3,"retry_after_ms":4,"resets_at":5}"#,
        r#"{"act":"failed","turn":1,"fault":"context_overflow","message":"too long","ms":3}"#,
        r#"{"act":"failed","turn":1,"fault":"bad_request","message":"no such model","ms":3}"#,
        r#"{"act":"failed","turn":1,"fault":"network","message":"refused","ms":3}"#,
        r#"{"act":"failed","turn":1,"fault":"over_cap","message":"too much","ms":3}"#,
        r#"{"act":"requested","request":1,"held":{"tokens":{"input":2,"output":3},"cost_micros":4}}"#,
        r#"{"act":"requested","request":1,"held":{"tokens":{"input":2,"output":3},"cost_micros":4},"bytes":5}"#,
        r#"{"act":"billed","request":1,"provider":"anthropic","model":"m","usage":{"input":5,"cache_read":1,"cache_write":1,"output":6},"cost_micros":7,"held":{"tokens":{"input":2,"output":3},"cost_micros":4}}"#,
        r#"{"act":"observed","turn":1,"tool":"edit","title":"Edit a.txt","outcome":"done","ms":3}"#,
        r#"{"act":"call_started","turn":1,"call":0}"#,
        r#"{"act":"call_finished","turn":1,"call":0,"tool":"bash","outcome":"stopped","exit":1,"result":{"inline":"so"},"ms":3}"#,
        r#"{"act":"nudged","turn":1,"words":"go on"}"#,
        r#"{"act":"steered","words":{"inline":"left"},"by":"ada"}"#,
        r#"{"act":"answered","turn":1,"said":{"inline":"so"},"calls":[{"tool":"read","arguments":{"inline":{}},"id":"toolu_1"}],"order":"at_once","usage":{"input":1,"output":2},"ms":3,"account":"bills","echo":{"inline":[]}}"#,
        r#"{"act":"compacted","turn":9,"results_until":8,"turns_until":0}"#,
        r#"{"act":"compacted","turn":9,"results_until":8,"turns_until":6,"longest_result":2048,"recap":{"inline":"so far"}}"#,
        r#"{"act":"budgeted","caps":{"tokens":1,"time_ms":2,"money_micros":3,"turns":4,"task_money_micros":5,"day_money_micros":6},"by":"ada"}"#,
    ];

    #[test]
    fn every_act_reads_back_to_its_bytes() {
        for stored in ACTS {
            let act: AgentAct = serde_json::from_str(stored).unwrap();
            assert_eq!(serde_json::to_string(&act).unwrap(), *stored);
        }
    }
}
