//! Longhaul as an MCP server: which tools there are, and what happens around a call.

use std::sync::Arc;
use std::time::Duration;

use longhaul_runtime::Settings;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use std::borrow::Cow;

use crate::desk::Desk;
use crate::protocol;
use crate::reply::Reply;
use crate::tools::{OUTER, Tool};

/// How often a client that waits is told that something goes on.
const TELL_EVERY: Duration = Duration::from_secs(1);

const INSTRUCTIONS: &str = "Longhaul enforces workflows one step at a time and never loses their place. Find one with \
    list_workflows, start it with start_workflow, do exactly the step that is shown, and hand it in with \
    continue_workflow and the newest continueToken. After losing context call continue_workflow with only the token, \
    or resume_session. At a gate a person decides: stop and tell them.";

/// What a server offers, and to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// For an agent that a person drives.
    Outer,
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

    fn tools(&self) -> &'static [&'static Tool] {
        match self.profile {
            Profile::Outer => &OUTER,
        }
    }

    fn tool(&self, name: &str) -> Result<&'static Tool, ErrorData> {
        let found = self.tools().iter().find(|tool| tool.name == name);
        found.copied().ok_or_else(|| {
            let known: Vec<String> = self.tools().iter().map(|tool| format!("`{}`", tool.name)).collect();
            let message = format!("there is no tool `{name}`; there are {}", known.join(", "));
            ErrorData::invalid_params(message, None)
        })
    }
}

impl ServerHandler for Longhaul {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let name = Implementation::new("longhaul", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(name).with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        protocol::versions()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools().iter().map(|tool| tool.entry()).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.tool(&request.name)?;
        let desk = self.desk.clone();
        let fields = request.arguments.clone().unwrap_or_default();
        let reply = wait(&context, move || call(&desk, tool, fields)).await?;
        Ok(reply.into_result().into())
    }
}

/// Runs a tool. What it refuses is an answer like any other.
fn call(desk: &Desk, tool: &Tool, fields: rmcp::model::JsonObject) -> Reply {
    tool.call(desk, fields).unwrap_or_else(|refusal| {
        if let Some(cause) = &refusal.cause {
            desk.forget_if_broken(cause);
        }
        Reply::refused(&refusal, None)
    })
}

/// Waits for work that blocks, on a thread of its own, and tells a client that asked for it that it goes on. A call
/// that is cancelled is not waited for any longer; what it began is finished, because half of it would be worse.
async fn wait<T: Send + 'static>(
    context: &RequestContext<RoleServer>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ErrorData> {
    let mut work = tokio::task::spawn_blocking(work);
    let token = context.meta.get_progress_token();
    let mut ticks = tokio::time::interval(TELL_EVERY);
    ticks.tick().await;
    let mut seconds = 0_u32;
    loop {
        tokio::select! {
            done = &mut work => {
                let bug = |_| ErrorData::internal_error("a bug in Longhaul ended this call; the session is as it was before or after it, so make the same call again", None);
                return done.map_err(bug);
            }
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
