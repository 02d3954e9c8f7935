//! Waiting for sessions from outside, and what they came to: for coordinators that people write themselves.

use std::time::{Duration, Instant};

use longhaul_core::outcome::Outcome;
use longhaul_core::session::{At, Session};
use longhaul_core::workflow::{StepKind, Workflow};
use longhaul_events::SessionId;
use longhaul_store::watch::Watcher;
use serde_json::Value;

use crate::commands::Commands;
use crate::error::Error;
use crate::system::System;

const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What a session came to, as far as somebody waited for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Awaited {
    pub session: SessionId,
    /// None if it went on beyond the time that somebody had.
    pub outcome: Option<Outcome>,
    /// What the last of its steps that hands something in handed in.
    pub result: Value,
}

impl System {
    /// Waits until a session goes no further by itself, or until somebody has no more time.
    pub fn await_session(
        &self,
        commands: &Commands,
        id: SessionId,
        until: Option<Instant>,
    ) -> Result<Awaited, Error> {
        let has_time = || until.is_none_or(|until| Instant::now() < until);
        let session = commands.load_session(id)?;
        if session.agent.is_some() && !is_done_by_parent(commands, &session)? {
            self.follow(commands, id, &mut || has_time())?;
        } else {
            let mut watcher = Watcher::polling(&self.places().data)?;
            while commands.load_session(id)?.outcome().is_none() && has_time() {
                watcher.wait(LOOK_EVERY)?;
            }
        }
        let session = commands.load_session(id)?;
        let result = commands.result_of(&session)?;
        Ok(Awaited { session: id, outcome: session.outcome(), result })
    }
}

/// Whoever drives the parent drives what its step led to, so nobody else is started for it.
fn is_done_by_parent(commands: &Commands, session: &Session) -> Result<bool, Error> {
    let Some(parent) = session.parent else { return Ok(false) };
    match commands.load_session(parent) {
        Ok(parent) => Ok(matches!(parent.at, At::Work(_))),
        Err(Error::UnknownSession(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

impl Commands {
    /// The typed result of a session: what the last of its steps handed in. Nothing, if none does.
    pub(crate) fn result_of(&self, session: &Session) -> Result<Value, Error> {
        if session.workflow.is_none() {
            return Ok(Value::Null);
        }
        let workflow = self.workflow_of(session)?;
        let found = result_vars(&workflow).into_iter().find_map(|name| session.vars.get(name));
        found.map_or(Ok(Value::Null), |content| self.content(content))
    }
}

/// The vars that hold what steps handed in, that of the last step first.
fn result_vars(workflow: &Workflow) -> Vec<&str> {
    let steps = workflow.all_steps().into_iter().rev();
    let handed_in = steps.filter_map(|step| match &step.kind {
        StepKind::Prompt(prompt) => prompt.outputs.iter().rev().find_map(|output| output.into.as_deref()),
        StepKind::Loop(_)
        | StepKind::Todo(_)
        | StepKind::Routine(_)
        | StepKind::Run(_)
        | StepKind::Gather(_)
        | StepKind::Decide(_)
        | StepKind::Gate(_)
        | StepKind::Parallel(_)
        | StepKind::Spawn(_)
        | StepKind::Deliver(_) => None,
    });
    handed_in.collect()
}
