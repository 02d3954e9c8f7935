//! `longhaul agent check`: tries who can be asked, and says what to do where that does not work.

use std::process::ExitCode;

use longhaul_runtime::{AgentState, AgentView};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CliError, ENVIRONMENT};
use crate::output::{Format, Row};

/// What a newcomer is told. One of the three ways is enough; all fits on a small screen.
const FIRST_STEPS: &str = "\
Nobody can be asked to do a step yet. One of these is enough:
1. a key of a provider, paid by use: get one at https://platform.claude.com/settings/keys, then
     longhaul secret set ANTHROPIC_API_KEY      and ask  anthropic/claude-sonnet
2. Claude Code with your own login:  npm install -g @agentclientprotocol/claude-agent-acp
     npm install -g @anthropic-ai/claude-code; claude      and ask  claude-login
3. a model on this machine, for nothing: install Ollama from https://ollama.com, then
     ollama pull qwen3-coder      and ask  ollama/qwen3-coder
Then:  longhaul agent check NAME
       longhaul run --workflow lh.quick-task --goal \"Say what this is for\" --agent NAME
";

/// Try who can be asked: programs, keys, servers. Says what is missing and how to get it.
///
/// Providers are asked for the list of their models, with your key; that costs nothing. The exit code is 4 if who is
/// named, or without a name everybody, cannot be asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// An agent of `longhaul agent list`, a provider, or `PROVIDER/MODEL`; without it, everybody.
    name: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct CheckedRow(AgentView);

impl Row for CheckedRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let Self(view) = self;
        let told: Vec<&str> = match view.obstacle() {
            Some(obstacle) => vec![&obstacle.finding],
            None => view.findings.iter().map(|finding| finding.finding.as_str()).collect(),
        };
        vec![
            ("NAME", view.name.clone()),
            ("STATE", word(view.state).to_owned()),
            ("FINDING", told.join("; ")),
        ]
    }

    fn note(&self) -> Option<String> {
        let remedy = self.0.obstacle()?.remedy.as_ref()?;
        Some(format!("to do: {remedy}"))
    }
}

#[derive(Debug, Serialize)]
struct FindingRow {
    state: &'static str,
    finding: String,
    remedy: Option<String>,
}

impl Row for FindingRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("STATE", self.state.to_owned()), ("FINDING", self.finding.clone())]
    }

    fn note(&self) -> Option<String> {
        self.remedy.as_ref().map(|remedy| format!("to do: {remedy}"))
    }
}

const fn word(state: AgentState) -> &'static str {
    match state {
        AgentState::Ready => "ready",
        AgentState::UsedUp => "used up",
        AgentState::Missing => "missing",
        AgentState::Failing => "does not work",
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    match &args.name {
        Some(name) => one(context, system.check_agent(name)?),
        None => everybody(context, system.check_agents()?),
    }
}

fn one(context: &Context, view: AgentView) -> Result<ExitCode, CliError> {
    let state = view.state;
    match context.output.format() {
        Format::Json => context.output.row(CheckedRow(view))?,
        Format::Table => {
            let row = |finding: &longhaul_runtime::AgentFinding| FindingRow {
                state: word(finding.state),
                finding: finding.finding.clone(),
                remedy: finding.remedy.clone(),
            };
            context.output.rows(&view.findings.iter().map(row).collect::<Vec<_>>())?;
            if state == AgentState::Ready {
                context.output.say(&format!("`{}` can be asked", view.name));
            }
        }
    }
    Ok(code(state == AgentState::Ready))
}

/// Who works and who should; of all others only the number, because nobody needs everybody.
fn everybody(context: &Context, views: Vec<AgentView>) -> Result<ExitCode, CliError> {
    let is_real = |view: &AgentView| view.kind != "rehearsal";
    let ready = views.iter().any(|view| is_real(view) && view.state == AgentState::Ready);
    if context.output.format() == Format::Json {
        context.output.rows(&views.into_iter().map(CheckedRow).collect::<Vec<_>>())?;
        return Ok(code(ready));
    }
    let (missing, there): (Vec<AgentView>, Vec<AgentView>) =
        views.into_iter().filter(is_real).partition(|view| view.state == AgentState::Missing);
    if there.is_empty() {
        context.output.text(FIRST_STEPS, &())?;
        return Ok(code(ready));
    }
    context.output.rows(&there.into_iter().map(CheckedRow).collect::<Vec<_>>())?;
    if !missing.is_empty() {
        let count = missing.len();
        let remark = format!("{count} others are not set up; `longhaul agent list` shows what each lacks");
        context.output.say(&remark);
    }
    Ok(code(ready))
}

fn code(is_ready: bool) -> ExitCode {
    if is_ready { ExitCode::SUCCESS } else { ExitCode::from(ENVIRONMENT) }
}
