//! Version 1 of the Agent Client Protocol: the only file that knows its words. What it makes of them is in words that
//! another version shares, so that one is another file beside this.

use std::path::Path;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES, AuthenticateRequest, CLIENT_METHOD_NAMES, CancelNotification, ClientCapabilities,
    ContentBlock, ContentChunk, EnvVariable, Implementation, InitializeRequest, InitializeResponse,
    LoadSessionRequest, McpServer as Server, McpServerStdio, NewSessionRequest, NewSessionResponse,
    PermissionOptionKind, PlanEntryStatus, PromptRequest, PromptResponse, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, ResumeSessionRequest, SelectedPermissionOutcome,
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue,
    SessionConfigSelectOptions, SessionNotification, SessionUpdate, SetSessionConfigOptionRequest,
    SetSessionModeRequest, StopReason, ToolCallStatus, ToolKind, Usage,
};
use longhaul_events::TokenCount;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::hands::McpServer;
use crate::policy::{Choice, ChoiceKind, Deed, Question};
use crate::record::{CallStatus, News};
use crate::turn::{EndCause, PlanEntry, PlanStatus, Window};

pub(crate) const VERSION: u64 = 1;

pub(crate) const HELLO: &str = AGENT_METHOD_NAMES.initialize;
pub(crate) const LOG_IN: &str = AGENT_METHOD_NAMES.authenticate;
pub(crate) const NEW: &str = AGENT_METHOD_NAMES.session_new;
pub(crate) const LOAD: &str = AGENT_METHOD_NAMES.session_load;
pub(crate) const RESUME: &str = AGENT_METHOD_NAMES.session_resume;
pub(crate) const PROMPT: &str = AGENT_METHOD_NAMES.session_prompt;
pub(crate) const CANCEL: &str = AGENT_METHOD_NAMES.session_cancel;
pub(crate) const SET_OPTION: &str = AGENT_METHOD_NAMES.session_set_config_option;
pub(crate) const SET_MODE: &str = AGENT_METHOD_NAMES.session_set_mode;
/// Left out of the schema since options replaced it, and still all that some agents know.
pub(crate) const SET_MODEL: &str = "session/set_model";
pub(crate) const UPDATE: &str = CLIENT_METHOD_NAMES.session_update;
pub(crate) const PERMISSION: &str = CLIENT_METHOD_NAMES.session_request_permission;

pub(crate) const LOGIN_WANTED: i64 = -32000;

/// What it can do, as it says when it is greeted.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) version: u64,
    pub(crate) can_load: bool,
    pub(crate) can_resume: bool,
    pub(crate) ways: Vec<Way>,
}

/// A way to log in. One of type `env_var` needs nothing from a person once its variables are set.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Way {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    vars: Vec<Variable>,
}

#[derive(Debug, Clone, Deserialize)]
struct Variable {
    name: String,
}

impl Way {
    /// The variables that are all it needs.
    pub(crate) fn variables(&self) -> Option<impl Iterator<Item = &str>> {
        (self.kind == "env_var" && !self.vars.is_empty()).then(|| self.vars.iter().map(|var| &*var.name))
    }
}

/// We offer it no files and no terminals of ours: it works inside the walls with its own hands.
pub(crate) fn hello() -> impl Serialize {
    InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(ClientCapabilities::default())
        .client_info(Implementation::new("longhaul", env!("CARGO_PKG_VERSION")))
}

pub(crate) fn read_hello(answer: &RawValue) -> Result<Offer, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Told {
        protocol_version: u64,
        #[serde(default)]
        auth_methods: Vec<serde_json::Value>,
    }
    let told: Told = read(answer)?;
    let mut offer =
        Offer { version: told.protocol_version, can_load: false, can_resume: false, ways: vec![] };
    if offer.version == VERSION {
        let answer: InitializeResponse = read(answer)?;
        offer.can_load = answer.agent_capabilities.load_session;
        offer.can_resume = answer.agent_capabilities.session_capabilities.resume.is_some();
        let ways = told.auth_methods.into_iter().filter_map(|way| serde_json::from_value(way).ok());
        offer.ways = ways.collect();
    }
    Ok(offer)
}

pub(crate) fn log_in(way: &Way) -> impl Serialize + use<> {
    AuthenticateRequest::new(way.id.clone())
}

pub(crate) fn new_session(directory: &Path, mcp: Option<&McpServer>) -> impl Serialize + use<> {
    NewSessionRequest::new(directory).mcp_servers(servers(mcp))
}

pub(crate) fn load(session: &str, directory: &Path, mcp: Option<&McpServer>) -> impl Serialize + use<> {
    LoadSessionRequest::new(session.to_owned(), directory).mcp_servers(servers(mcp))
}

pub(crate) fn resume(session: &str, directory: &Path, mcp: Option<&McpServer>) -> impl Serialize + use<> {
    ResumeSessionRequest::new(session.to_owned(), directory).mcp_servers(servers(mcp))
}

fn servers(mcp: Option<&McpServer>) -> Vec<Server> {
    let server = |mcp: &McpServer| {
        let env = mcp.env.iter().map(|(name, value)| EnvVariable::new(name, value)).collect();
        let server = McpServerStdio::new(&mcp.name, &mcp.program).args(mcp.args.clone()).env(env);
        Server::Stdio(server)
    };
    mcp.map(server).into_iter().collect()
}

/// A session, and what can be chosen in it.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    /// Not said again for one that is loaded.
    pub(crate) id: Option<String>,
    options: Vec<SessionConfigOption>,
    modes: Vec<String>,
    models: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    Model,
    Mode,
}

/// How to choose something that is offered.
pub(crate) struct Chosen {
    pub(crate) method: &'static str,
    pub(crate) params: Box<RawValue>,
}

pub(crate) fn read_opened(answer: &RawValue) -> Opened {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase")]
    struct Old {
        #[serde(default)]
        models: Option<Models>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Models {
        available_models: Vec<Model>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Model {
        model_id: String,
    }
    let old: Old = read(answer).unwrap_or_default();
    let models = old.models.map(|models| models.available_models).unwrap_or_default();
    let models = models.into_iter().map(|model| model.model_id).collect();
    // The answer to a resumed session has all of this but the id.
    let with_id = || {
        let mut value: serde_json::Value = serde_json::from_str(answer.get()).ok()?;
        value.as_object_mut()?.insert("sessionId".into(), "".into());
        serde_json::from_value::<NewSessionResponse>(value).ok()
    };
    let Some(opened) = read::<NewSessionResponse>(answer).ok().or_else(with_id) else {
        return Opened { models, ..Opened::default() };
    };
    let modes = opened.modes.map(|modes| modes.available_modes).unwrap_or_default();
    Opened {
        id: Some(opened.session_id.to_string()).filter(|id| !id.is_empty()),
        options: opened.config_options.unwrap_or_default(),
        modes: modes.into_iter().map(|mode| mode.id.to_string()).collect(),
        models,
    }
}

impl Opened {
    /// How to choose this value, if it is offered.
    pub(crate) fn choose(&self, session: &str, setting: Setting, value: &str) -> Option<Chosen> {
        let wanted = match setting {
            Setting::Model => SessionConfigOptionCategory::Model,
            Setting::Mode => SessionConfigOptionCategory::Mode,
        };
        let option = self.options.iter().filter(|option| option.category.as_ref() == Some(&wanted));
        if let Some(option) = option.into_iter().find(|option| values(option).any(|id| id == value)) {
            let id = SessionConfigOptionValue::ValueId { value: value.to_owned().into() };
            let request = SetSessionConfigOptionRequest::new(session.to_owned(), option.id.clone(), id);
            return Some(Chosen { method: SET_OPTION, params: raw(&request) });
        }
        let has = |list: &[String]| list.iter().any(|id| id == value);
        match setting {
            Setting::Mode if has(&self.modes) => {
                let request = SetSessionModeRequest::new(session.to_owned(), value.to_owned());
                Some(Chosen { method: SET_MODE, params: raw(&request) })
            }
            Setting::Model if has(&self.models) => {
                let request = serde_json::json!({ "sessionId": session, "modelId": value });
                Some(Chosen { method: SET_MODEL, params: raw(&request) })
            }
            Setting::Mode | Setting::Model => None,
        }
    }
}

fn values(option: &SessionConfigOption) -> Box<dyn Iterator<Item = String> + '_> {
    let SessionConfigKind::Select(select) = &option.kind else { return Box::new(std::iter::empty()) };
    match &select.options {
        SessionConfigSelectOptions::Ungrouped(options) => {
            Box::new(options.iter().map(|option| option.value.to_string()))
        }
        SessionConfigSelectOptions::Grouped(groups) => Box::new(
            groups.iter().flat_map(|group| group.options.iter().map(|option| option.value.to_string())),
        ),
        _ => Box::new(std::iter::empty()),
    }
}

pub(crate) fn prompt(session: &str, text: &str) -> impl Serialize + use<> {
    PromptRequest::new(session.to_owned(), vec![ContentBlock::from(text)])
}

pub(crate) fn cancel(session: &str) -> impl Serialize + use<> {
    CancelNotification::new(session.to_owned())
}

/// How a turn ended, and what it used as the agent counts.
pub(crate) fn read_turn(answer: &RawValue) -> Result<(EndCause, Option<TokenCount>), String> {
    let answer: PromptResponse = read(answer)?;
    let cause = match answer.stop_reason {
        StopReason::EndTurn => EndCause::EndTurn,
        StopReason::MaxTokens => EndCause::MaxTokens,
        StopReason::MaxTurnRequests => EndCause::MaxRequests,
        StopReason::Refusal => EndCause::Refusal,
        StopReason::Cancelled => EndCause::Cancelled,
        other => return Err(format!("`{other:?}` is no way to end a turn")),
    };
    Ok((cause, answer.usage.as_ref().map(tokens)))
}

/// Agents differ in whether `input_tokens` holds what came from a cache; the sum holds all.
fn tokens(usage: &Usage) -> TokenCount {
    let input = usage.total_tokens.saturating_sub(usage.output_tokens).max(usage.input_tokens);
    TokenCount { input, output: usage.output_tokens }
}

/// What a note tells about a session. What this version does not know is a sign of life and no more.
pub(crate) fn read_update(session: &str, params: &RawValue) -> News {
    let Ok(note) = read::<SessionNotification>(params) else { return News::Other };
    if &*note.session_id.0 != session {
        return News::Other;
    }
    match note.update {
        SessionUpdate::AgentMessageChunk(chunk) => said(chunk),
        SessionUpdate::AgentThoughtChunk(chunk) => text(chunk.content).map_or(News::Other, News::Thought),
        SessionUpdate::ToolCall(call) => News::Call {
            id: call.tool_call_id.to_string(),
            tool: Some(tool(call.kind, call.name)),
            title: Some(call.title),
            status: Some(status(call.status)),
        },
        SessionUpdate::ToolCallUpdate(update) => {
            let (fields, id) = (update.fields, update.tool_call_id.to_string());
            // An agent that tells of a call for the first time this way has begun it.
            let tool = fields.kind.map(|kind| tool(kind, fields.name.clone())).or(fields.name);
            News::Call { id, tool, title: fields.title, status: fields.status.map(status) }
        }
        SessionUpdate::Plan(plan) => News::Planned(
            plan.entries
                .into_iter()
                .map(|entry| PlanEntry { words: entry.content, status: plan_status(&entry.status) })
                .collect(),
        ),
        SessionUpdate::UsageUpdate(usage) => News::Used(Window { used: usage.used, size: usage.size }),
        _ => News::Other,
    }
}

fn said(chunk: ContentChunk) -> News {
    let message = chunk.message_id.map(|id| id.to_string());
    text(chunk.content).map_or(News::Other, |text| News::Said { message, text })
}

fn text(content: ContentBlock) -> Option<String> {
    match content {
        ContentBlock::Text(text) => Some(text.text),
        _ => None,
    }
}

fn status(status: ToolCallStatus) -> CallStatus {
    match status {
        ToolCallStatus::Completed => CallStatus::Done,
        ToolCallStatus::Failed => CallStatus::Failed,
        _ => CallStatus::Open,
    }
}

fn plan_status(status: &PlanEntryStatus) -> PlanStatus {
    match status {
        PlanEntryStatus::InProgress => PlanStatus::InProgress,
        PlanEntryStatus::Completed => PlanStatus::Completed,
        _ => PlanStatus::Pending,
    }
}

/// A word for what it does; for what is none of the usual, its name.
fn tool(kind: ToolKind, name: Option<String>) -> String {
    let word = match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::SwitchMode => "switch_mode",
        _ => return name.unwrap_or_else(|| "other".to_owned()),
    };
    word.to_owned()
}

/// A permission that is asked for. `ours` is the name of our own server of tools.
pub(crate) fn read_question(params: &RawValue, ours: &str) -> Result<Question, String> {
    let request: RequestPermissionRequest = read(params)?;
    let (id, fields) = (request.tool_call.tool_call_id.to_string(), request.tool_call.fields);
    let kind = fields.kind.unwrap_or_default();
    let title = fields.title.unwrap_or_default();
    let deed = match kind {
        ToolKind::Read | ToolKind::Search => Deed::Look,
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move => Deed::Change,
        ToolKind::Think | ToolKind::SwitchMode => Deed::Think,
        ToolKind::Execute => Deed::Run,
        ToolKind::Fetch => Deed::Fetch,
        _ if is_ours([fields.name.as_deref().unwrap_or_default(), &id, &title], ours) => Deed::Ours,
        _ => Deed::Other,
    };
    let choice = |kind: PermissionOptionKind| match kind {
        PermissionOptionKind::AllowOnce => ChoiceKind::AllowOnce,
        PermissionOptionKind::AllowAlways => ChoiceKind::AllowAlways,
        PermissionOptionKind::RejectOnce => ChoiceKind::RejectOnce,
        PermissionOptionKind::RejectAlways => ChoiceKind::RejectAlways,
        _ => ChoiceKind::Unknown,
    };
    let choices = request.options.into_iter();
    let choices =
        choices.map(|option| Choice { id: option.option_id.to_string(), kind: choice(option.kind) });
    Ok(Question { tool: tool(kind, fields.name), title, deed, choices: choices.collect() })
}

/// Agents spell the tools of a server each in their own way.
fn is_ours(names: [&str; 3], ours: &str) -> bool {
    let spellings =
        [format!("mcp__{ours}__"), format!("mcp_{ours}_"), format!("{ours}_"), format!("Tool: {ours}/")];
    names.iter().any(|name| spellings.iter().any(|spelling| name.starts_with(spelling)))
}

/// The answer to a question: one of its choices, or none.
pub(crate) fn decided(choice: Option<&str>) -> impl Serialize + use<> {
    let outcome = match choice {
        Some(choice) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(choice.to_owned())),
        None => RequestPermissionOutcome::Cancelled,
    };
    RequestPermissionResponse::new(outcome)
}

fn read<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Result<T, String> {
    serde_json::from_str(value.get()).map_err(|error| error.to_string())
}

fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("a message of ours is plain data")
}
