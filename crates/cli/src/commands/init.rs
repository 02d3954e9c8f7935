//! `longhaul init`: looks at a repository and writes its first settings.

use std::process::ExitCode;

use longhaul_runtime::types::{CopyKind, ProposedCheck, ProposedCommand, ProposedCopy, TrustState};
use longhaul_runtime::{Begun, Survey};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{Format, Row, lines};

/// A bundled workflow that starts anywhere.
const FIRST: &str =
    "longhaul session start --workflow lh.quick-task --goal \"Say what this repository is for\"";

/// Lists the triggers to begin with.
const TRIGGERS: &str = "longhaul trigger add";

/// Look at this repository, write a small commented `.longhaul/config.yml`, and register it.
///
/// It finds the language, its checks, lockfiles, files for the environment, agents on your path and the walls that work here.
/// Nothing is ever overwritten. What you write with it at a terminal is trusted.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show what would be written, and write nothing.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Initiated<'a> {
    name: &'a str,
    config: String,
    /// `written`, `there_already` or `dry_run`.
    settings: &'static str,
    registered: Option<bool>,
    trust: &'static str,
    languages: &'a [&'static str],
    checks: Vec<CheckView<'a>>,
    setup: Vec<CommandView<'a>>,
    copy: Vec<CopyView<'a>>,
    agents: &'a [String],
    sandbox: &'static str,
    present: &'a [String],
    text: &'a str,
    next: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CheckView<'a> {
    name: &'a str,
    run: &'a [String],
    from: &'a str,
}

#[derive(Debug, Serialize)]
struct CommandView<'a> {
    run: &'a [String],
    from: &'a str,
}

#[derive(Debug, Serialize)]
struct CopyView<'a> {
    path: &'a str,
    to: &'a str,
    secret: bool,
}

#[derive(Debug, Serialize)]
struct FoundRow {
    subject: &'static str,
    finding: String,
}

impl Row for FoundRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("SUBJECT", self.subject.to_owned()), ("FINDING", self.finding.clone())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let survey = system.survey()?;
    let begun = if args.dry_run { None } else { Some(system.begin_workspace(&survey)?) };
    let initiated = Initiated::of(&survey, begun);
    if context.output.format() == Format::Json {
        context.output.text("", &initiated)?;
        return Ok(ExitCode::SUCCESS);
    }
    context.output.rows(&rows(&survey, &initiated))?;
    if begun.is_none() && !survey.is_configured {
        let text = lines(&survey.text, "  ");
        context.output.text(&format!("\n{}:\n{text}", initiated.config), &())?;
    }
    if initiated.settings == "written" {
        context.output.say("look at it, change what is not right, and commit it");
    }
    initiated.next.iter().for_each(|next| context.output.say(&format!("next: {next}")));
    Ok(ExitCode::SUCCESS)
}

impl<'a> Initiated<'a> {
    fn of(survey: &'a Survey, begun: Option<Begun>) -> Self {
        let proposal = &survey.proposal;
        let trust = begun.map_or(survey.trust, |begun| begun.trust);
        Self {
            name: &survey.name,
            config: survey.path.display().to_string(),
            settings: match begun {
                _ if survey.is_configured => "there_already",
                None => "dry_run",
                Some(_) => "written",
            },
            registered: begun.map(|begun| begun.registered),
            trust: trust_word(trust),
            languages: &proposal.languages,
            checks: proposal.checks.iter().map(CheckView::of).collect(),
            setup: proposal.setup.iter().map(CommandView::of).collect(),
            copy: proposal.copy.iter().map(CopyView::of).collect(),
            agents: &survey.agents,
            sandbox: survey.walls,
            present: &survey.present,
            text: &survey.text,
            next: next(survey, begun, trust),
        }
    }
}

impl<'a> CheckView<'a> {
    fn of(check: &'a ProposedCheck) -> Self {
        Self { name: &check.name, run: &check.run, from: &check.from }
    }
}

impl<'a> CommandView<'a> {
    fn of(command: &'a ProposedCommand) -> Self {
        Self { run: &command.run, from: &command.from }
    }
}

impl<'a> CopyView<'a> {
    fn of(copy: &'a ProposedCopy) -> Self {
        Self { path: &copy.path, to: &copy.to, secret: copy.kind == CopyKind::Secret }
    }
}

const fn trust_word(trust: TrustState) -> &'static str {
    match trust {
        TrustState::Absent => "absent",
        TrustState::Untrusted => "untrusted",
        TrustState::Trusted => "trusted",
        TrustState::Changed => "changed",
    }
}

/// What to type next, each of which works.
fn next(survey: &Survey, begun: Option<Begun>, trust: TrustState) -> Vec<String> {
    if begun.is_none() {
        return vec!["longhaul init".to_owned()];
    }
    let mut next = Vec::new();
    if matches!(trust, TrustState::Untrusted | TrustState::Changed) {
        next.push("longhaul workspace trust".to_owned());
    }
    let client = survey.agents.iter().find_map(|agent| match agent.as_str() {
        "claude" => Some("claude"),
        "codex" => Some("codex"),
        "gemini" => Some("gemini"),
        _ => None,
    });
    next.extend(client.map(|client| format!("longhaul mcp install {client}")));
    next.push(FIRST.to_owned());
    next.push(TRIGGERS.to_owned());
    next
}

fn rows(survey: &Survey, initiated: &Initiated<'_>) -> Vec<FoundRow> {
    let row = |subject, finding: String| FoundRow { subject, finding };
    let several = |names: &[&str]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let registered = match initiated.registered {
        None => "",
        Some(true) => ", registered now",
        Some(false) => ", registered before",
    };
    let mut rows = vec![
        row("repository", format!("{}{registered}", initiated.name)),
        row("language", several(initiated.languages)),
    ];
    rows.extend(
        initiated
            .checks
            .iter()
            .map(|check| row("check", format!("{}: {}  ({})", check.name, check.run.join(" "), check.from))),
    );
    rows.extend(
        initiated.setup.iter().map(|one| row("set-up", format!("{}  ({})", one.run.join(" "), one.from))),
    );
    rows.extend(initiated.copy.iter().map(|copy| {
        let how = if copy.secret { "as a secret".to_owned() } else { format!("as {}", copy.to) };
        row("copy", format!("{} {how}", copy.path))
    }));
    let agents: Vec<&str> = initiated.agents.iter().map(String::as_str).collect();
    rows.push(row("agents", several(&agents)));
    rows.push(row("sandbox", initiated.sandbox.to_owned()));
    let settings = match initiated.settings {
        "there_already" => format!("{} is there already and stays as it is", initiated.config),
        "written" => format!("wrote {}", initiated.config),
        _ => format!("would write {}", initiated.config),
    };
    rows.push(row("settings", settings));
    let others: Vec<&str> =
        survey.present.iter().map(String::as_str).filter(|name| *name != "config.yml").collect();
    if !others.is_empty() {
        rows.push(row("present", format!("{} in .longhaul/", others.join(", "))));
    }
    rows.push(row("trust", initiated.trust.to_owned()));
    rows
}
