//! Workflows as prompts, for clients that offer them as commands to type.

use longhaul_runtime::Error;
use longhaul_runtime::workflows::{Entry, State};
use rmcp::ErrorData;
use rmcp::model::{
    ErrorCode, GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};

use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::server::Reach;

/// The workflows that may start where the server was started.
pub(crate) fn list(desk: &Desk) -> Result<Vec<Prompt>, Refusal> {
    let entries = desk.system().catalog()?.entries();
    let startable = entries.iter().filter(|entry| entry.shadowed_by.is_none() && entry.state == State::Ok);
    Ok(startable.map(prompt).collect())
}

fn prompt(entry: &Entry) -> Prompt {
    let arguments = vec![
        PromptArgument::new("goal").with_description("What it is for.").with_required(true),
        PromptArgument::new("workspacePath").with_description("The folder to work in.").with_required(false),
    ];
    let about: String = entry.about.split_whitespace().collect::<Vec<_>>().join(" ");
    Prompt::new(entry.id.clone(), Some(about), Some(arguments)).with_title(entry.name.clone())
}

/// What a person would type to have an agent start it. Starts nothing by itself.
pub(crate) fn get(
    desk: &Desk,
    request: &GetPromptRequestParams,
    reach: Reach,
) -> Result<GetPromptResult, ErrorData> {
    let unfit = |refusal: Refusal| {
        let is_unknown = matches!(refusal.cause, Some(Error::Workflow(_)));
        let code = if is_unknown { ErrorCode::INVALID_PARAMS } else { ErrorCode::INTERNAL_ERROR };
        refusal.into_error(desk, code)
    };
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
        value.and_then(|value| value.as_str()).map(str::to_owned)
    };
    let system = desk.system();
    let catalog = system.catalog().map_err(|error| unfit(error.into()))?;
    let entry = catalog.find(&request.name).map_err(|error| unfit(error.into()))?;
    let folder = match (argument("workspacePath"), reach) {
        (Some(folder), _) => format!("workspacePath `{folder}`"),
        (None, Reach::Pipes) => format!("workspacePath `{}`", system.directory().display()),
        // Where the server was started says nothing about where this client works.
        (None, Reach::Port) => "the absolute path of the folder that you work in as workspacePath".to_owned(),
    };
    let goal = argument("goal").ok_or_else(|| {
        let message = format!("the prompt `{}` needs a `goal`; say what it is for", entry.id);
        ErrorData::invalid_params(message, None)
    })?;
    let text = format!(
        "Use the workflow `{}` ({}) for this goal:\n\n{goal}\n\nCall `start_workflow` with workflowId `{}`, \
         {folder} and this goal. Then do one step at a time: each answer holds the step and the \
         continueToken with which `continue_workflow` hands it in. Do not skip or merge steps.",
        entry.id, entry.name, entry.id
    );
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(entry.name.clone()))
}
