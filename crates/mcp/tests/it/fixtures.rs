//! What the official conformance suite wants to find on a server, under the names that it fixes.
//!
//! Served by the protocol layer of the product, so that the suite tests that layer and not these toys.

#![expect(deprecated, reason = "older revisions have these requests, and the suite sends them")]

mod asking;
mod prompts;
mod resources;
mod tools;

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;

use longhaul_mcp::protocol::{self, Guard, Http};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
    Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The handler. All clones tell each other when a list changes.
#[derive(Debug, Clone)]
pub(crate) struct Fixtures {
    tools_changed: Arc<watch::Sender<u64>>,
    prompts_changed: Arc<watch::Sender<u64>>,
}

/// A server with the fixtures, until it is dropped.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Fixtures {
    fn new() -> Self {
        Self {
            tools_changed: Arc::new(watch::Sender::new(0)),
            prompts_changed: Arc::new(watch::Sender::new(0)),
        }
    }

    /// On a port of loopback, through the same guard and transport as `longhaul mcp --http`.
    pub(crate) async fn serve() -> Served {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let guard = Guard { address, token: None, names: Vec::new() };
        let http = Http { listener, guard, stop: stop.clone() };
        let fixtures = Self::new();
        tokio::spawn(protocol::serve_http(http, move || fixtures.clone()));
        Served { address, stop }
    }
}

/// A value of the protocol, from the JSON that the suite expects.
pub(crate) fn typed<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("fixtures have the shape of the protocol")
}

/// A result. The newest revision wants to be told that it is whole; for older ones the SDK takes that out again.
pub(crate) fn whole<T: DeserializeOwned>(mut value: Value) -> T {
    value["resultType"] = json!("complete");
    typed(value)
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = typed(json!({
            "completions": {},
            "logging": {},
            "prompts": { "listChanged": true },
            "resources": { "subscribe": true, "listChanged": true },
            "tools": { "listChanged": true },
        }));
        ServerConfig::new(capabilities).with_server_info(Implementation::new("longhaul-fixtures", "1.0.0"))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        protocol::versions()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tools::call(self, request, &context).await
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::all())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request, &context)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(prompts::complete(&request.argument.value))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(resources::all())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&request.uri)
    }

    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let version = context.protocol_version();
        if version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str()) {
            return Err(ErrorData::method_not_found::<rmcp::model::SetLevelRequestMethod>());
        }
        Ok(())
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut tools = self.tools_changed.subscribe();
        let mut prompts = self.prompts_changed.subscribe();
        loop {
            // What was not asked for is refused by the sink; that is for the suite to see.
            let _ = tokio::select! {
                _ = tools.changed() => context.sink().notify_tool_list_changed().await,
                _ = prompts.changed() => context.sink().notify_prompt_list_changed().await,
                () = context.cancelled() => return Ok(()),
            };
        }
    }
}
