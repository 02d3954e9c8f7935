//! Starting a session.

use std::sync::Arc;

use longhaul_core::canonical;
use longhaul_core::session::{OpenSession, PinWorkflow};
use longhaul_core::walk::children::BRIEF;
use longhaul_core::walk::start::initial_vars;
use longhaul_core::walk::view::StepView;
use longhaul_core::walk::{Coordinator, Standing, Walk};
use longhaul_core::workflow::{Vars, Workflow};
use longhaul_events::{Checkout, Content, Place, Reason, SessionId, SessionKey, WorkspaceId};
use serde_json::{Map, Value, json};

use super::Commands;
use crate::commands::task::TaskWish;
use crate::error::Error;
use crate::recorder::Stored;

/// The var in which a pipeline finds the labels of its ticket.
const LABELS: &str = "labels";

#[derive(Debug, Clone)]
pub struct StartSession {
    pub workflow: Arc<Workflow>,
    pub goal: String,
    pub vars: Map<String, Value>,
    pub workspace: Option<WorkspaceId>,
    pub checkout: Option<Checkout>,
    pub parent: Option<SessionId>,
    /// What whoever started it should know, beside its first step.
    pub warnings: Vec<String>,
}

impl StartSession {
    /// Tells a workflow that wants to know which labels the ticket has.
    pub(crate) fn label(&mut self, labels: &[String]) {
        if let Vars::Declared(declared) = &self.workflow.vars
            && declared.contains_key(LABELS)
            && !labels.is_empty()
        {
            self.vars.insert(LABELS.to_owned(), json!(labels));
        }
    }
}

impl Commands {
    /// Opens a session, pins its workflow and takes the first step, in one decision.
    pub fn start_session(&self, start: &StartSession) -> Result<StepView, Error> {
        self.start_session_for(start, &TaskWish::default())
    }

    /// The same, for a task that is more than its goal, or that was tried before. What has a parent is part of its task.
    pub fn start_session_for(&self, start: &StartSession, wish: &TaskWish) -> Result<StepView, Error> {
        let brief = match wish {
            TaskWish::New(_) => None,
            TaskWish::Again { task, .. } => self.told_before(&self.load_task(*task)?)?,
        };
        self.start_session_under(self.new_session_id(), start, wish, brief.as_deref())
    }

    /// An id for a session that is not there yet.
    pub(crate) fn new_session_id(&self) -> SessionId {
        SessionId::from_bytes(self.entropy.bytes())
    }

    /// The same under an id that was chosen before, and with what its agent is told before the first step.
    pub(crate) fn start_session_as(
        &self,
        id: SessionId,
        start: &StartSession,
        brief: Option<&str>,
    ) -> Result<StepView, Error> {
        let open = self.opening(id, start, brief)?;
        self.open_and_show(id, &open, start, &TaskWish::default())
    }

    /// The same for a task, under an id that was chosen before.
    pub(crate) fn start_session_under(
        &self,
        id: SessionId,
        start: &StartSession,
        wish: &TaskWish,
        brief: Option<&str>,
    ) -> Result<StepView, Error> {
        let open = self.opening(id, start, brief)?;
        self.open_and_show(id, &open, start, wish)
    }

    fn open_and_show(
        &self,
        id: SessionId,
        open: &OpenSession,
        start: &StartSession,
        wish: &TaskWish,
    ) -> Result<StepView, Error> {
        let Stored { state, events, at } = match start.parent {
            Some(parent) => self.open_below(id, open, parent)?,
            None => self.open_root(id, open, start, wish)?,
        };
        let session = state.opened.expect("the first event of a session opens it");
        let shown = self.shown(&session, &events, at)?.expect("starting leads somewhere");
        self.view(&session, shown, start.warnings.clone())
    }

    /// Names are not scrubbed, because the log hangs together by them, and neither is a workflow: with a mark in
    /// the place of a word it would be another one. So none may hold a secret.
    fn refuse_secrets(&self, compiled: &Value, vars: &Map<String, Value>) -> Result<(), Error> {
        let scrubber = self.recorder.scrubber();
        if vars.keys().any(|name| scrubber.finds_any(name.as_bytes())) {
            return Err(Error::BadStart(vec![secret_name()]));
        }
        let mut clean = compiled.clone();
        scrubber.value(&mut clean);
        if clean != *compiled || scrubber.finds_any(compiled.to_string().as_bytes()) {
            return Err(Error::BadStart(vec![secret_in_workflow()]));
        }
        Ok(())
    }

    /// One that was redacted here stays redacted, and nobody could follow it.
    fn refuse_redacted(&self, compiled: &Value) -> Result<(), Error> {
        let digest = canonical::sha256(compiled.to_string().as_bytes());
        match self.recorder.log.blob(digest) {
            Ok(bytes) if canonical::sha256(&bytes) != digest => {
                Err(Error::BadStart(vec![redacted_workflow()]))
            }
            // Not there, or not readable: then storing it tells.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn opening(
        &self,
        id: SessionId,
        start: &StartSession,
        brief: Option<&str>,
    ) -> Result<OpenSession, Error> {
        let workflow = &*start.workflow;
        let mut vars = initial_vars(workflow, &start.goal, &start.vars).map_err(Error::BadStart)?;
        vars.extend(brief.map(|brief| (BRIEF.to_owned(), Value::from(brief))));
        let contents =
            vars.iter().map(|(name, value)| (name.clone(), Content::Inline(value.clone()))).collect();
        let vars = vars.into_iter().map(|(name, value)| (name, Arc::new(value))).collect();
        let coordinator = start.parent.map_or(Coordinator::Nobody, |_| Coordinator::Parent);
        let (place, items) = (Place::default(), Vec::new());
        let standing = Standing { session: id, workflow, coordinator, place, vars, items };
        let compiled = serde_json::to_value(workflow).expect("a workflow has string keys only");
        self.refuse_secrets(&compiled, &start.vars)?;
        self.refuse_redacted(&compiled)?;
        let onward = Walk::new(standing, self.given()).begin().map_err(Error::BadStart)?;
        let pin = PinWorkflow {
            id: workflow.id.clone(),
            version: workflow.version.clone(),
            hash: canonical::hash(&compiled)?,
            workflow: Content::Inline(compiled),
            checkout: start.checkout.clone(),
            vars: contents,
            onward,
        };
        Ok(OpenSession {
            key: SessionKey::from_bytes(self.entropy.bytes()),
            goal: Content::Inline(json!(start.goal)),
            workspace: start.workspace,
            parent: start.parent,
            task: None,
            workflow: Some(pin),
        })
    }
}

fn secret_in_workflow() -> Reason {
    Reason::new(
        "secret_in_the_workflow",
        "the workflow holds a known secret, or something that looks like one",
        "take it out of the file; a command can read it from a variable or a file of its own",
    )
}

fn redacted_workflow() -> Reason {
    Reason::new(
        "redacted_workflow",
        "the workflow holds a value that was redacted here",
        "take the value out of the file, then start it again",
    )
}

/// Says no to a name that holds a known secret, without saying the name.
pub(super) fn secret_name() -> Reason {
    Reason::new(
        "secret_in_a_name",
        "the name of a step or of a var holds a known secret",
        "give it another name; secrets are taken out of values, not of names",
    )
}
