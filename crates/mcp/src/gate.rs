//! Asking a person at a gate, through the client that they sit at.
//!
//! What they say comes from the client, outside of the arguments that an agent writes, and is recorded as channel
//! `client`. A gate that wants a stronger channel is not asked about here at all. An answer counts only from a client
//! that can ask, and only to a question that we put: on the newest protocol that is proved by what we signed.

mod about;

use std::collections::BTreeMap;
use std::time::Duration;

use longhaul_runtime::types::{Channel, GateVerdict, GateView, Handle, NodeId, SessionId, StepView};
use longhaul_runtime::{AnswerGate, Error, terminal};
use rmcp::model::{
    CancelledNotificationParam, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult, ProtocolVersion, RequestId,
    ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer};
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::name;
use crate::server::Reach;

type Context = RequestContext<RoleServer>;

/// How long a person may think before the call is answered. The gate stays open, and the same call asks again.
const PATIENCE: Duration = Duration::from_mins(5);

/// A gate that a client may ask about.
#[derive(Debug, Clone)]
pub(crate) struct Asking {
    pub(crate) id: String,
    question: String,
    session: SessionId,
    gate: NodeId,
}

/// What a client is told to ask, with the proof that it was told.
pub(crate) struct Question {
    message: String,
    proof: Handle,
}

/// What came of it.
pub(crate) enum Asked {
    Answered(AnswerGate),
    /// The client asks and makes the call again.
    Later(InputRequiredResult),
    /// They were asked, and would not say.
    Declined,
    /// Nobody answered.
    Nobody,
}

impl Asking {
    /// The gate that a session waits at, if a client's word is enough for it.
    pub(crate) fn of(view: &StepView) -> Option<Self> {
        let GateView { id, question, accepts, .. } = view.gate.as_ref()?;
        let (session, gate) = parse(id).filter(|_| *accepts == Channel::Client)?;
        Some(Self { id: id.clone(), question: question.clone(), session, gate })
    }

    /// Whether this is what a client was told to ask.
    pub(crate) fn is_proved_by(&self, question: &Handle) -> bool {
        (question.session, question.node) == (self.session, self.gate)
    }

    /// Puts the question together.
    pub(crate) fn question(&self, desk: &Desk) -> Result<Question, Error> {
        let commands = desk.commands_for(self.session)?;
        let about = desk.reader()?.and_then(|reader| about::gate(&reader, &self.id).ok());
        let asked = about.unwrap_or_else(|| terminal::visible(self.question.trim_end()));
        Ok(Question {
            message: format!("{asked}\n\n(Longhaul, gate {})", self.id),
            proof: commands.question(self.session, self.gate)?,
        })
    }

    /// Asks in the way that the client knows.
    pub(crate) async fn ask(&self, context: &Context, reach: Reach, question: Question) -> Asked {
        let request = request(question.message);
        if is_newest(context) {
            let requests = BTreeMap::from([(self.id.clone(), InputRequest::Elicitation(request))]);
            return Asked::Later(InputRequiredResult::new(Some(requests), Some(question.proof.to_string())));
        }
        let mut options = PeerRequestOptions::no_options();
        options.timeout = Some(PATIENCE);
        let request = ServerRequest::ElicitRequest(request);
        let Ok(open) = context.peer.send_cancellable_request(request, options).await else {
            return Asked::Nobody;
        };
        let mut open_question = OpenQuestion { peer: context.peer.clone(), id: Some(open.id.clone()) };
        let result = open.await_response().await;
        open_question.id = None;
        let Ok(ClientResult::ElicitResult(result)) = result else { return Asked::Nobody };
        self.heard(context, reach, result)
    }

    /// What a client came back with.
    pub(crate) fn given(&self, context: &Context, reach: Reach, response: &Value) -> Asked {
        match serde_json::from_value::<ElicitResult>(response.clone()) {
            Ok(result) => self.heard(context, reach, result),
            Err(_) => Asked::Nobody,
        }
    }

    /// Only a plain yes or no counts. Somebody who closed the window has said nothing.
    fn heard(&self, context: &Context, reach: Reach, result: ElicitResult) -> Asked {
        let content = match (result.action, result.content) {
            (ElicitationAction::Accept, Some(content)) => content,
            (ElicitationAction::Decline, _) => return Asked::Declined,
            (_, _) => return Asked::Nobody,
        };
        let verdict = match content["decision"].as_str() {
            Some("approve") => GateVerdict::Approved,
            Some("reject") => GateVerdict::Rejected,
            Some(_) | None => return Asked::Nobody,
        };
        let client = context.client_info().map_or_else(|| "an MCP client".to_owned(), |client| client.name);
        // At a port it is not known whose client it is.
        let who = match reach {
            Reach::Pipes => terminal::user_name(),
            Reach::Port => "somebody".to_owned(),
        };
        Asked::Answered(AnswerGate {
            session: self.session,
            gate: self.gate,
            verdict,
            by: format!("{who} through {}", name::shown(&client)),
            channel: Channel::Client,
            words: content["words"].as_str().unwrap_or_default().to_owned(),
        })
    }
}

/// A question that a person sees. Taken back if nobody waits for its answer any more.
struct OpenQuestion {
    peer: Peer<RoleServer>,
    /// `None` once it is answered.
    id: Option<RequestId>,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = Some("the call that led to it was cancelled".to_owned());
            // A client that is gone asks nobody.
            let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await;
        });
    }
}

fn request(message: String) -> ElicitRequest {
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: form(),
    })
}

/// Whether the client makes a call again with what its person said. Older ones answer a question of ours, and what they
/// send beside a call means nothing.
pub(crate) fn is_newest(context: &Context) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn parse(id: &str) -> Option<(SessionId, NodeId)> {
    let (session, gate) = id.rsplit_once('.')?;
    Some((session.parse().ok()?, gate.parse().ok()?))
}

/// A client that can show a form. One that names no mode shows forms: there was nothing else at first.
pub(crate) fn can_ask(context: &Context) -> bool {
    let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

fn form() -> ElicitationSchema {
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": { "type": "string", "title": "Decision", "enum": ["approve", "reject"] },
            "words": { "type": "string", "title": "Words for the record" }
        },
        "required": ["decision"]
    });
    let Value::Object(fields) = schema else { unreachable!("written above as an object") };
    ElicitationSchema::from_json_schema(fields).expect("the form is a flat object of texts")
}
