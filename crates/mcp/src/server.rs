//! Longhaul as an MCP server: which tools there are, and what happens around a call.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use longhaul_runtime::types::SessionId;
use longhaul_runtime::{AnswerGate, Settings, leaf};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use tokio::time::Instant;

use crate::desk::Desk;
use crate::gate::{self, Asked, Asking};
use crate::reply::Reply;
use crate::tools::{self, OUTER, Offer};
use crate::{prompts, protocol, resources};

/// How often a client that waits is told that something goes on.
const TELL_EVERY: Duration = Duration::from_secs(1);

const INSTRUCTIONS: &str = "Longhaul enforces workflows one step at a time and never loses their place. Find one with \
    list_workflows, start it with start_workflow, do exactly the step that is shown, and hand it in with \
    continue_workflow and the newest continueToken. After losing context call continue_workflow with only the token, \
    or resume_session. At a gate a person decides: stop and tell them.";

type Context = RequestContext<RoleServer>;

/// What a server offers, and to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// For an agent that a person drives.
    Outer,
    /// For an agent that works on this session and on nothing else.
    Leaf(SessionId),
}

/// The server. Cloned for each client; all of them share what is open.
#[derive(Debug, Clone)]
pub struct Longhaul {
    desk: Arc<Desk>,
    profile: Profile,
}

impl Longhaul {
    /// Opens nothing and makes nothing.
    pub fn new(settings: Settings, profile: Profile) -> Self {
        Self { desk: Arc::new(Desk::new(settings)), profile }
    }

    fn tools(&self) -> Vec<Offer> {
        match self.profile {
            Profile::Outer => OUTER.into_iter().map(Offer::Outer).collect(),
            Profile::Leaf(id) => leaf::TOOLS.iter().map(|tool| Offer::Leaf(tool, id)).collect(),
        }
    }

    fn tool(&self, name: &str) -> Result<Offer, ErrorData> {
        let tools = self.tools();
        let found = tools.iter().find(|tool| tool.name() == name);
        found.copied().ok_or_else(|| {
            let known: Vec<String> = tools.iter().map(|tool| format!("`{}`", tool.name())).collect();
            let message = format!("there is no tool `{name}`; there are {}", known.join(", "));
            ErrorData::invalid_params(message, None)
        })
    }

    /// Runs the tool, unless this is the second half of a call whose first half led to a gate.
    async fn first_reply(
        &self,
        request: &CallToolRequestParams,
        context: &Context,
    ) -> Result<Reply, ErrorData> {
        let tool = self.tool(&request.name)?;
        let desk = self.desk.clone();
        if let Some(id) = gate::asked_before(request.request_state.as_deref()).filter(|_| self.has_a_person())
        {
            return wait(context, move || tools::standing(&desk, id)).await;
        }
        let fields = request.arguments.clone().unwrap_or_default();
        wait(context, move || tool.call(&desk, fields)).await
    }

    /// Whether somebody sits at the client who can be asked.
    fn has_a_person(&self) -> bool {
        match self.profile {
            Profile::Outer => true,
            Profile::Leaf(_) => false,
        }
    }

    async fn answer_gate(&self, context: &Context, answer: AnswerGate) -> Result<Reply, ErrorData> {
        let desk = self.desk.clone();
        wait(context, move || tools::answer_gate(&desk, &answer)).await
    }

    /// The session that nothing may reach beyond.
    const fn only(&self) -> Option<SessionId> {
        match self.profile {
            Profile::Outer => None,
            Profile::Leaf(id) => Some(id),
        }
    }

    async fn on_desk<T: Send + 'static>(
        &self,
        context: &Context,
        work: impl FnOnce(&Desk) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let desk = self.desk.clone();
        wait(context, move || work(&desk)).await?
    }
}

impl ServerHandler for Longhaul {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources().build();
        let name = Implementation::new("longhaul", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(name).with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        protocol::versions()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools().into_iter().map(Offer::entry).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut reply = self.first_reply(&request, &context).await?;
        let mut given = request.input_responses.unwrap_or_default();
        while let Some(asking) = reply.view.as_ref().filter(|_| self.has_a_person()).and_then(Asking::of) {
            match asking.ask(&context, &given).await {
                Asked::Answered(answer) => reply = self.answer_gate(&context, answer).await?,
                Asked::Later(question) => return Ok(question.into()),
                Asked::Nobody => break,
            }
            given.remove(&asking.id);
        }
        Ok(reply.into_result().into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        if !self.has_a_person() {
            return Ok(ListPromptsResult::default());
        }
        let unlisted = |refusal: crate::refusal::Refusal| ErrorData::internal_error(refusal.message, None);
        let listed = self.on_desk(&context, move |desk| prompts::list(desk).map_err(unlisted)).await?;
        Ok(ListPromptsResult::with_all_items(listed))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(self.on_desk(&context, move |desk| prompts::get(desk, &request)).await?.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let unlisted = |error: longhaul_runtime::Error| ErrorData::internal_error(error.to_string(), None);
        let only = self.only();
        let listed =
            self.on_desk(&context, move |desk| resources::list(desk, only).map_err(unlisted)).await?;
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let only = self.only();
        Ok(self.on_desk(&context, move |desk| resources::read(desk, &request.uri, only)).await?.into())
    }
}

/// Waits for work that blocks, on a thread of its own, and tells a client that asked for it that it goes on. A call
/// that is cancelled is not waited for any longer; what it began is finished, because half of it would be worse.
async fn wait<T: Send + 'static>(
    context: &Context,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ErrorData> {
    let mut work = tokio::task::spawn_blocking(work);
    let token = context.meta.get_progress_token();
    // An interval whose first tick is now would hold up every answer to the next millisecond.
    let mut ticks = tokio::time::interval_at(Instant::now() + TELL_EVERY, TELL_EVERY);
    let mut seconds = 0_u32;
    loop {
        tokio::select! {
            done = &mut work => return done.map_err(|_| bug()),
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was cancelled", None)),
            _ = ticks.tick(), if token.is_some() => {
                seconds += 1;
                if let Some(token) = &token {
                    let progress = ProgressNotificationParam::new(token.clone(), f64::from(seconds));
                    // Whoever is gone needs no progress.
                    let _ = context.peer.notify_progress(progress.with_message("at work")).await;
                }
            }
        }
    }
}

fn bug() -> ErrorData {
    let words = "a bug in Longhaul ended this call; make the same call again: what it recorded is recorded, and what it did not is not";
    ErrorData::internal_error(words, None)
}
