//! Answering a gate: only a person at a terminal can.

use std::process::ExitCode;

use longhaul_runtime::terminal::{self, Question};
use longhaul_runtime::types::{Channel, GateVerdict};
use longhaul_runtime::{AnswerGate, Error, GateEntry, GateState};

use super::{find, show};
use crate::context::Context;
use crate::error::CliError;
use crate::step;

/// What a person wants to say.
pub(in crate::commands) struct Wish<'a> {
    pub(in crate::commands) gate: &'a str,
    pub(in crate::commands) verdict: GateVerdict,
    pub(in crate::commands) words: String,
}

/// Shows the gate on the terminal, asks for the word, and puts the answer on record.
pub(in crate::commands) fn answer(context: &Context, wish: Wish<'_>) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let gate = find(&system, wish.gate)?;
    check(&gate)?;
    let mut lines = show::about(&gate);
    if !wish.words.is_empty() {
        lines.push("Your words:".to_owned());
        lines.extend(wish.words.lines().map(|line| format!("  {line}")));
    }
    let word = match wish.verdict {
        GateVerdict::Approved => "approve",
        GateVerdict::Rejected => "reject",
    };
    let person = terminal::confirm(&Question { lines, word })?;
    let answer = AnswerGate {
        session: gate.session,
        gate: gate.node,
        verdict: wish.verdict,
        by: person.name,
        channel: Channel::Terminal,
        words: wish.words,
    };
    let view = system.answer_gate(&system.commands()?, &answer)?;
    step::show(context, &view)
}

/// Nobody is asked for a word that could not count.
fn check(gate: &GateEntry) -> Result<(), Error> {
    match gate.state {
        GateState::Open if gate.accepts_channel > Channel::Terminal => {
            Err(Error::WeakTerminal { gate: gate.id.clone(), accepts: gate.accepts })
        }
        GateState::Open | GateState::Overdue => Ok(()),
        GateState::Answered { .. } | GateState::Expired | GateState::Left => {
            Err(Error::GateNotOpen { gate: gate.id.clone(), state: show::state(gate) })
        }
    }
}
