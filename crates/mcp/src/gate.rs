//! Asking a person at a gate, through the client that they sit at.
//!
//! What they say comes from the client, outside of the arguments that an agent writes, and is recorded as channel
//! `client`. A gate that wants a stronger channel is not asked about here at all.

use std::collections::BTreeMap;
use std::time::Duration;

use longhaul_runtime::types::{Channel, GateVerdict, GateView, NodeId, SessionId, StepView};
use longhaul_runtime::{AnswerGate, terminal};
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequiredResult, InputResponses, ProtocolVersion, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

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

/// What came of it.
pub(crate) enum Asked {
    Answered(AnswerGate),
    /// The client asks and makes the call again.
    Later(InputRequiredResult),
    /// Nobody can be asked, or nobody answered.
    Nobody,
}

impl Asking {
    /// The gate that a session waits at, if a client's word is enough for it.
    pub(crate) fn of(view: &StepView) -> Option<Self> {
        let GateView { id, question, accepts, .. } = view.gate.as_ref()?;
        let (session, gate) = parse(id).filter(|_| *accepts == Channel::Client)?;
        Some(Self { id: id.clone(), question: question.clone(), session, gate })
    }

    /// Asks in the way that the client knows.
    pub(crate) async fn ask(&self, context: &RequestContext<RoleServer>, given: &InputResponses) -> Asked {
        if let Some(response) = given.get(&self.id) {
            let result = serde_json::from_value::<ElicitResult>(response.clone()).ok();
            return self.heard(context, result);
        }
        if !can_ask(context) {
            return Asked::Nobody;
        }
        let is_stateless =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if is_stateless {
            let requests = BTreeMap::from([(self.id.clone(), InputRequest::Elicitation(self.request()))]);
            return Asked::Later(InputRequiredResult::new(Some(requests), Some(self.id.clone())));
        }
        let request = context.peer.send_request(ServerRequest::ElicitRequest(self.request()));
        let result = tokio::select! {
            result = tokio::time::timeout(PATIENCE, request) => result.ok().and_then(Result::ok),
            () = context.ct.cancelled() => None,
        };
        let result = result.and_then(|result| match result {
            ClientResult::ElicitResult(result) => Some(result),
            _ => None,
        });
        self.heard(context, result)
    }

    fn request(&self) -> ElicitRequest {
        ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: format!("{}\n\n(Longhaul, gate {})", self.question.trim_end(), self.id),
            requested_schema: form(),
        })
    }

    /// Only a plain yes or no counts. Somebody who closed the window has said nothing.
    fn heard(&self, context: &RequestContext<RoleServer>, result: Option<ElicitResult>) -> Asked {
        let Some(ElicitResult { action: ElicitationAction::Accept, content: Some(content), .. }) = result
        else {
            return Asked::Nobody;
        };
        let verdict = match content["decision"].as_str() {
            Some("approve") => GateVerdict::Approved,
            Some("reject") => GateVerdict::Rejected,
            Some(_) | None => return Asked::Nobody,
        };
        let client = context.client_info().map_or_else(|| "an MCP client".to_owned(), |client| client.name);
        Asked::Answered(AnswerGate {
            session: self.session,
            gate: self.gate,
            verdict,
            by: format!("{} through {}", terminal::user_name(), shortened(&client)),
            channel: Channel::Client,
            words: content["words"].as_str().unwrap_or_default().to_owned(),
        })
    }
}

/// The session whose gate a client was asked about, when it makes the call again.
pub(crate) fn asked_before(state: Option<&str>) -> Option<SessionId> {
    parse(state?).map(|(session, _)| session)
}

fn parse(id: &str) -> Option<(SessionId, NodeId)> {
    let (session, gate) = id.rsplit_once('.')?;
    Some((session.parse().ok()?, gate.parse().ok()?))
}

/// A client that can show a form. One that names no mode shows forms: there was nothing else at first.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
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

fn shortened(name: &str) -> String {
    name.chars().take(80).collect()
}
