//! Longhaul as an MCP server: which tools there are, and what happens around a request.

use std::borrow::Cow;
use std::time::Duration;

use longhaul_runtime::gateway::{Driven, LeafDoor};
use longhaul_runtime::types::SessionId;
use longhaul_runtime::{Settings, leaf};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};

use crate::call::Call;
use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::tools::{OUTER, Offer, Post};
use crate::waiting::{Room, Waiting};
use crate::{name, prompts, protocol, resources};

const INSTRUCTIONS: &str = "Longhaul enforces workflows one step at a time and never loses their place. Find one with \
    list_workflows, start it with start_workflow, do exactly the step that is shown, and hand it in with \
    continue_workflow and the newest continueToken. After losing context call continue_workflow with only the token, \
    or resume_session. At a gate a person decides: stop and tell them.";

const LEAF_INSTRUCTIONS: &str = "You work on one step of one session at a time. Call complete_step without arguments to see \
    the step and its continueToken, do exactly that step, and hand it in with complete_step, the token, and the notes, \
    vars and artifacts that it asks for. Put what is not part of the step on record with report_issue, \
    report_workflow_bug, note_fact or ask_coordinator. At a gate a person decides: stop.";

const DRIVEN_INSTRUCTIONS: &str = "You work on one step of one session at a time; each comes as a prompt with its \
    continueToken. Do exactly that step, hand it in with complete_step, the token, and the notes, vars and artifacts that it \
    asks for, and end your turn when it is taken. Put what is not part of the step on record with report_issue, \
    report_workflow_bug, note_fact or ask_coordinator.";

type Context = RequestContext<RoleServer>;

/// What a server offers, and to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// For an agent that a person drives.
    Outer,
    /// For an agent that works on this session and on nothing else.
    Leaf(SessionId),
    /// The same, for one that is prompted step by step by a driver of ours.
    Driven(Driven),
}

/// How clients come to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// One client of this user started it, in a folder of its own.
    Pipes,
    /// Whoever may reach the port, from anywhere.
    Port,
}

/// What a server allows itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long a call waits in all: for a place among others, and for work of the engine.
    pub patience: Duration,
    /// How many calls are worked on at once; more wait for a place.
    pub at_once: u32,
}

impl Default for Limits {
    /// Calls are answered within 20 seconds; what is left of them is for reading and writing.
    fn default() -> Self {
        Self { patience: Duration::from_secs(18), at_once: 64 }
    }
}

/// The server. Cloned for each client; all of them share what is open.
#[derive(Debug, Clone)]
pub struct Longhaul {
    pub(crate) desk: Desk,
    pub(crate) limits: Limits,
    pub(crate) room: Room,
    pub(crate) reach: Reach,
    profile: Profile,
}

impl Longhaul {
    /// Opens nothing and makes nothing.
    pub fn new(settings: Settings, profile: Profile) -> Self {
        Self::with_limits(settings, profile, Limits::default())
    }

    pub fn with_limits(settings: Settings, profile: Profile, limits: Limits) -> Self {
        let room = Room::new(limits.at_once, limits.patience);
        Self { desk: Desk::new(settings), limits, room, reach: Reach::Pipes, profile }
    }

    /// The same server, in a process that drives sessions: those that a call leads to have such a server too.
    pub(crate) fn serving(self, leaf_door: LeafDoor) -> Self {
        Self { desk: self.desk.serving(leaf_door), ..self }
    }

    /// The same server, on a port.
    pub(crate) fn on_port(&self) -> Self {
        Self { reach: Reach::Port, ..self.clone() }
    }

    fn tools(&self) -> Vec<Offer> {
        match self.profile {
            Profile::Outer => OUTER.into_iter().map(Offer::Outer).collect(),
            Profile::Leaf(session) => leaves(Post { session, driver: None }),
            Profile::Driven(Driven { session, driver }) => leaves(Post { session, driver: Some(driver) }),
        }
    }

    pub(crate) fn tool(&self, name: &str) -> Result<Offer, ErrorData> {
        let tools = self.tools();
        let found = tools.iter().find(|tool| tool.name() == name);
        found.copied().ok_or_else(|| {
            let known: Vec<String> = tools.iter().map(|tool| format!("`{}`", tool.name())).collect();
            let message = format!("there is no tool `{}`; there are {}", name::shown(name), known.join(", "));
            ErrorData::invalid_params(message, None)
        })
    }

    /// Whether somebody sits at the client who can be asked.
    pub(crate) const fn has_a_person(&self) -> bool {
        match self.profile {
            Profile::Outer => true,
            Profile::Leaf(_) | Profile::Driven(_) => false,
        }
    }

    /// The session that nothing may reach beyond.
    const fn only(&self) -> Option<SessionId> {
        match self.profile {
            Profile::Outer => None,
            Profile::Leaf(session) | Profile::Driven(Driven { session, .. }) => Some(session),
        }
    }

    async fn on_desk<T: Send + 'static>(
        &self,
        context: &Context,
        work: impl FnOnce(&Desk) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let desk = self.desk.until(std::time::Instant::now() + self.limits.patience);
        Waiting::new(context).blocking(&self.room, move || work(&desk)).await?
    }
}

fn leaves(post: Post) -> Vec<Offer> {
    leaf::TOOLS.iter().map(|tool| Offer::Leaf(tool, post)).collect()
}

impl ServerHandler for Longhaul {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources();
        let (capabilities, instructions) = match self.profile {
            Profile::Outer => (capabilities.enable_prompts().build(), INSTRUCTIONS),
            Profile::Leaf(_) => (capabilities.build(), LEAF_INSTRUCTIONS),
            Profile::Driven(_) => (capabilities.build(), DRIVEN_INSTRUCTIONS),
        };
        let name = Implementation::new("longhaul", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(name).with_instructions(instructions)
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
        Call::new(self, &context, &request)?.answer(request).await
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        if !self.has_a_person() {
            return Ok(ListPromptsResult::default());
        }
        let listed = self
            .on_desk(&context, move |desk| {
                prompts::list(desk).map_err(|refusal| refusal.into_error(desk, ErrorCode::INTERNAL_ERROR))
            })
            .await?;
        Ok(ListPromptsResult::with_all_items(listed))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        if !self.has_a_person() {
            let message = format!(
                "there is no prompt `{}`: an agent that works on one session has none",
                name::shown(&request.name)
            );
            return Err(ErrorData::invalid_params(message, None));
        }
        let reach = self.reach;
        Ok(self.on_desk(&context, move |desk| prompts::get(desk, &request, reach)).await?.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let only = self.only();
        let listed = self
            .on_desk(&context, move |desk| {
                let unlisted = |error| Refusal::from(error).into_error(desk, ErrorCode::INTERNAL_ERROR);
                resources::list(desk, only).map_err(unlisted)
            })
            .await?;
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
