//! Starting a session.

use std::sync::Arc;

use longhaul_core::canonical;
use longhaul_core::session::{OpenSession, PinWorkflow, Session};
use longhaul_core::walk::start::initial_vars;
use longhaul_core::walk::view::StepView;
use longhaul_core::walk::{Coordinator, Standing, Walk};
use longhaul_core::workflow::Workflow;
use longhaul_events::{Checkout, Content, Place, Reason, SessionId, SessionKey, WorkspaceId};
use serde_json::{Map, Value, json};

use super::Commands;
use crate::commands::session::Unopened;
use crate::error::Error;
use crate::recorder::{Contents, Decided, Stored};

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

impl Commands {
    /// Opens a session, pins its workflow and takes the first step, in one decision.
    pub fn start_session(&self, start: &StartSession) -> Result<StepView, Error> {
        let id = SessionId::from_bytes(self.entropy.bytes());
        let open = self.opening(start)?;
        let ((), Stored { state, events }) =
            self.recorder.record(self.write(id.into(), &Contents::default()), || {
                let events = Session::open(open.clone());
                Ok((Unopened { id, opened: None }, Decided::Events(events, ())))
            })?;
        let session = state.opened.expect("the first event of a session opens it");
        let shown = self.shown(&session, &events)?.expect("starting leads somewhere");
        self.view(&session, shown, start.warnings.clone())
    }

    /// Ids and names are not scrubbed, because the log hangs together by them. So none may hold a secret.
    fn refuse_secret_names(&self, workflow: &Workflow, vars: &Map<String, Value>) -> Result<(), Error> {
        let ids = workflow.all_steps().into_iter().map(|step| &step.id);
        match ids.chain(vars.keys()).find(|name| self.recorder.scrubber().finds_any(name.as_bytes())) {
            Some(_) => Err(Error::BadStart(vec![secret_name()])),
            None => Ok(()),
        }
    }

    fn opening(&self, start: &StartSession) -> Result<OpenSession, Error> {
        let workflow = &*start.workflow;
        let vars = initial_vars(workflow, &start.goal, &start.vars).map_err(Error::BadStart)?;
        let contents =
            vars.iter().map(|(name, value)| (name.clone(), Content::Inline(value.clone()))).collect();
        let vars = vars.into_iter().map(|(name, value)| (name, Arc::new(value))).collect();
        let coordinator = start.parent.map_or(Coordinator::Nobody, |_| Coordinator::Parent);
        let standing = Standing { workflow, coordinator, place: Place::default(), vars, items: Vec::new() };
        self.refuse_secret_names(workflow, &start.vars)?;
        let onward = Walk::new(standing, self.given()).begin().map_err(Error::BadStart)?;
        let compiled = serde_json::to_value(workflow).expect("a workflow has string keys only");
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
            workflow: Some(pin),
        })
    }
}

/// Says no to a name that holds a known secret, without saying the name.
pub(super) fn secret_name() -> Reason {
    Reason::new(
        "secret_in_a_name",
        "the name of a step or of a var holds a known secret",
        "give it another name; secrets are taken out of values, not of names",
    )
}
