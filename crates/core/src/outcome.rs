//! How a session came out, and what it is doing now: both told from what is on record, never guessed.
//!
//! Could not, did not and failed are different things. *Could not*: the world did not let us. *Failed*: it was tried and
//! given up. *Parked*: it goes on after some time, or when somebody gives it what it lacks. *Blocked*: a person has to
//! decide.

use std::fmt;

use longhaul_events::CloseOutcome;
use serde::{Serialize, Serializer};

use crate::parking::ParkCode;
use crate::session::{At, Session};

/// The reason of a session that waits at a gate.
pub const GATE: &str = "gate";
/// The reason of a session that its workflow or a gate ended.
pub const CLOSED: &str = "closed";
/// The reason of work that is complete and left nothing behind.
pub const NOTHING_CHANGED: &str = "nothing_changed";

/// How a session came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    Completed {
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'static str>,
    },
    Blocked(Because),
    Parked(Because),
    CouldNot(Because),
    Failed(Because),
    Cancelled {
        by: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        because: Option<String>,
    },
}

/// A reason: a word for scripts, and words for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Because {
    pub reason: String,
    pub because: String,
}

/// Where a session stands that does not go on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt<'a> {
    /// It does go on.
    Not,
    Gate,
    Parked {
        code: &'a str,
        because: &'a str,
    },
}

impl Session {
    /// How it came out; `None` while it goes on.
    pub fn outcome(&self) -> Option<Outcome> {
        let halt = match &self.at {
            At::Parked(park) => Halt::Parked { code: &park.code, because: &park.because },
            At::Gate(_) => Halt::Gate,
            At::Nothing | At::Step(_) | At::Work(_) => Halt::Not,
        };
        outcome(self.closed.as_ref(), halt)
    }
}

/// How a session came out; `None` while it goes on.
pub fn outcome(closed: Option<&CloseOutcome>, halt: Halt<'_>) -> Option<Outcome> {
    match (closed, halt) {
        (Some(CloseOutcome::Completed), _) => Some(Outcome::Completed { reason: None }),
        (Some(CloseOutcome::Cancelled { by, reason }), _) => {
            Some(Outcome::Cancelled { by: by.clone(), because: reason.clone() })
        }
        (Some(CloseOutcome::Failed { reason }), _) => {
            Some(Outcome::Failed(Because { reason: CLOSED.to_owned(), because: reason.clone() }))
        }
        (None, Halt::Not) => None,
        (None, Halt::Gate) => {
            let because = "it waits for an answer at a gate".to_owned();
            Some(Outcome::Parked(Because { reason: GATE.to_owned(), because }))
        }
        (None, Halt::Parked { code, because }) => {
            let reason = Because { reason: code.to_owned(), because: because.to_owned() };
            // What only a later release knows is for a person to settle.
            Some(match ParkCode::of(code) {
                Some(known) => known.outcome(reason),
                None => Outcome::Blocked(reason),
            })
        }
    }
}

impl Outcome {
    /// The word for it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Completed { .. } => "completed",
            Self::Blocked(_) => "blocked",
            Self::Parked(_) => "parked",
            Self::CouldNot(_) => "could not",
            Self::Failed(_) => "failed",
            Self::Cancelled { .. } => "cancelled",
        }
    }
}

/// In one line.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed { reason: Some(NOTHING_CHANGED) } => {
                f.write_str("completed, and nothing was changed")
            }
            Self::Completed { .. } => f.write_str("completed"),
            Self::Blocked(why) | Self::Parked(why) | Self::CouldNot(why) | Self::Failed(why) => {
                write!(f, "{} ({}): {}", self.word(), why.reason, why.because)
            }
            Self::Cancelled { by, because: None } => write!(f, "cancelled by {by}"),
            Self::Cancelled { by, because: Some(because) } => write!(f, "cancelled by {by}: {because}"),
        }
    }
}

/// What an open session is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Live {
    /// An agent was asked, and has not answered yet.
    Thinking,
    /// Something is being done; the name of the tool.
    Tool(String),
    /// Nobody is at it, and nothing is wrong with that.
    Idle,
    /// It waits for somebody, or for some time to pass.
    Parked,
    /// It gets nowhere, or whoever drives it does not move.
    Stuck,
    /// Whoever drove it is gone, and nobody has taken over yet.
    Lost,
}

/// Who holds a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    Nobody,
    /// A process that renews its lease.
    Active,
    /// A process that lives and has not renewed in time.
    Late,
    Gone,
}

/// All that tells what a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signs<'a> {
    pub halt: Halt<'a>,
    pub holder: Holder,
    /// The tool that its agent had begun to use, or the word for a step of the engine's own.
    pub tool: Option<&'a str>,
}

/// What an open session is doing.
pub fn live(signs: &Signs<'_>) -> Live {
    match (signs.halt, signs.holder, signs.tool) {
        (Halt::Parked { code, .. }, _, _) if code == ParkCode::Stuck.code() => Live::Stuck,
        (Halt::Not, Holder::Late, _) => Live::Stuck,
        (Halt::Gate | Halt::Parked { .. }, _, _) => Live::Parked,
        (Halt::Not, Holder::Nobody, _) => Live::Idle,
        (Halt::Not, Holder::Gone, _) => Live::Lost,
        (Halt::Not, Holder::Active, Some(tool)) => Live::Tool(tool.to_owned()),
        (Halt::Not, Holder::Active, None) => Live::Thinking,
    }
}

impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thinking => f.write_str("thinking"),
            Self::Tool(name) => write!(f, "tool({name})"),
            Self::Idle => f.write_str("idle"),
            Self::Parked => f.write_str("parked"),
            Self::Stuck => f.write_str("stuck"),
            Self::Lost => f.write_str("lost"),
        }
    }
}

impl Serialize for Live {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parked(code: &str) -> Outcome {
        outcome(None, Halt::Parked { code, because: "so" }).unwrap()
    }

    #[test]
    fn could_not_did_not_and_failed_are_told_apart() {
        for (code, word) in [
            ("budget_tokens", "parked"),
            ("usage_limit", "parked"),
            ("auth", "could not"),
            ("no_sandbox", "could not"),
            ("checkout_gone", "could not"),
            ("setup_could_not_run", "could not"),
            ("setup_failed", "failed"),
            ("stuck", "failed"),
            ("cassette", "failed"),
            ("no_answer", "failed"),
            ("attempts_used_up", "blocked"),
            ("something_new", "blocked"),
        ] {
            assert_eq!(parked(code).word(), word, "{code}");
        }
        assert_eq!(outcome(None, Halt::Not), None);
        assert_eq!(outcome(None, Halt::Gate).unwrap().word(), "parked");
    }

    #[test]
    fn scripts_get_a_kind_a_reason_and_who() {
        let shown = |outcome: &Outcome| serde_json::to_value(outcome).unwrap();
        assert_eq!(
            shown(&parked("budget_time")),
            json!({ "kind": "parked", "reason": "budget_time", "because": "so" })
        );
        let cancelled = CloseOutcome::Cancelled { by: "ada".to_owned(), reason: None };
        let cancelled = outcome(Some(&cancelled), Halt::Not).unwrap();
        assert_eq!(shown(&cancelled), json!({ "kind": "cancelled", "by": "ada" }));
        let completed = outcome(Some(&CloseOutcome::Completed), Halt::Not).unwrap();
        assert_eq!(shown(&completed), json!({ "kind": "completed" }));
        let failed = CloseOutcome::Failed { reason: "no answer at the gate".to_owned() };
        assert_eq!(
            outcome(Some(&failed), Halt::Not).unwrap().to_string(),
            "failed (closed): no answer at the gate"
        );
    }

    #[test]
    fn what_a_session_does_is_told_from_its_lease_and_its_newest_events() {
        let told = |halt, holder, tool| live(&Signs { halt, holder, tool }).to_string();
        let bash = Some("bash");
        assert_eq!(told(Halt::Not, Holder::Active, None), "thinking");
        assert_eq!(told(Halt::Not, Holder::Active, bash), "tool(bash)");
        assert_eq!(told(Halt::Not, Holder::Nobody, None), "idle");
        assert_eq!(told(Halt::Not, Holder::Gone, bash), "lost");
        assert_eq!(told(Halt::Not, Holder::Late, bash), "stuck");
        assert_eq!(told(Halt::Gate, Holder::Nobody, None), "parked");
        let stuck = Halt::Parked { code: "stuck", because: "" };
        assert_eq!(told(stuck, Holder::Nobody, None), "stuck");
    }
}
