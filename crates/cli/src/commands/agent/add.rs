//! `longhaul agent add`: an agent of one's own, as a file.

use std::io::{IsTerminal as _, stdin};
use std::process::ExitCode;

use clap::ValueEnum;
use longhaul_runtime::{NewAgent, terminal};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Add an agent or a model of your own: a small file, which is never overwritten.
///
/// Without `--kind` you are asked, at a terminal. A key is never an argument: `--key` names the secret that holds it, and
/// `longhaul secret set NAME` keeps it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to call it.
    name: String,

    /// How it is driven.
    #[arg(long, value_enum)]
    kind: Option<KindWord>,

    /// What people call it.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// For `command`: the step is done when the program ends without an error, and its last words are the notes.
    #[arg(long)]
    hands_in_by_ending: bool,

    /// Whose models it asks, through our gateway: a provider of `longhaul agent list`.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,

    /// Where its models are, as in `https://models.example.com/v1`.
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// The name of the secret that holds the key.
    #[arg(long, value_name = "NAME")]
    key: Option<String>,

    /// What the provider calls the model.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// How many tokens the model has room for, such as `128k`.
    #[arg(long, value_name = "TOKENS")]
    window: Option<String>,

    /// How many tokens it may answer with at most.
    #[arg(long, value_name = "TOKENS")]
    max_output: Option<String>,

    /// What a million tokens cost in and out, as `3usd,15usd`; or `subscription`, or `unknown`.
    #[arg(long, value_name = "PRICE")]
    price: Option<String>,

    /// A path of your home that it gets because it signs in by itself, such as `~/.my-agent`; may be repeated.
    #[arg(long, value_name = "PATH")]
    own_credentials: Vec<String>,

    /// A host that it needs beside its model; may be repeated.
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,

    /// A variable for its process, which may hold `{gateway}`, `{token}`, `{model}` and `{home}`; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,

    /// For `acp` and `command`: what is started. `{prompt}` stands for what is asked, which else comes on standard input.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindWord {
    /// A program that speaks the Agent Client Protocol.
    Acp,
    /// A program that takes a prompt and works.
    Command,
    /// A model behind Anthropic's Messages API.
    Anthropic,
    /// A model behind an OpenAI-compatible chat API.
    #[value(name = "openai-chat")]
    OpenAiChat,
    /// A model behind the Responses API of `OpenAI`.
    #[value(name = "openai-responses")]
    OpenAiResponses,
}

impl KindWord {
    const fn word(self) -> &'static str {
        match self {
            Self::Acp => "acp",
            Self::Command => "command",
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
        }
    }

    const fn has_hands(self) -> bool {
        match self {
            Self::Acp | Self::Command => true,
            Self::Anthropic | Self::OpenAiChat | Self::OpenAiResponses => false,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AddedRow {
    name: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_key: Option<String>,
}

impl Row for AddedRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("NAME", self.name.clone()), ("PATH", self.path.clone())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let new = match args.kind {
        Some(kind) => args.told(kind),
        None if stdin().is_terminal() => args.asked()?,
        None => return Err(CliError::NoKind),
    };
    let added = system.add_agent(&args.name, &new)?;
    let missing_key = added.missing_key.clone();
    let path = added.path.display().to_string();
    context.output.row(AddedRow { name: args.name.clone(), path, missing_key })?;
    if let Some(key) = added.missing_key {
        context.output.say(&format!("next: longhaul secret set {key}"));
    }
    context.output.say(&format!("next: longhaul agent check {}", args.name));
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn told(&self, kind: KindWord) -> NewAgent {
        NewAgent {
            kind: kind.word().to_owned(),
            title: self.title.clone(),
            command: self.command.clone(),
            hands_in_by_ending: self.hands_in_by_ending,
            provider: self.provider.clone(),
            base_url: self.base_url.clone(),
            key: self.key.clone(),
            model: self.model.clone(),
            window: self.window.clone(),
            max_output: self.max_output.clone(),
            price: self.price.clone(),
            own_credentials: self.own_credentials.clone(),
            hosts: self.host.clone(),
            env: self.env.clone(),
        }
    }

    /// Asks for what a first file needs; all else can be written into it later.
    fn asked(&self) -> Result<NewAgent, CliError> {
        let words: Vec<&str> = KindWord::value_variants().iter().map(|kind| kind.word()).collect();
        let kind = need(&format!("How is it driven ({})? ", words.join(", ")))?;
        let found = KindWord::value_variants().iter().find(|one| one.word() == kind);
        let kind = *found.ok_or(CliError::NoKind)?;
        let mut new = self.told(kind);
        if kind.has_hands() {
            let command = need("What is started (a program and its arguments)? ")?;
            new.command = command.split_whitespace().map(str::to_owned).collect();
            new.provider =
                ask("Whose models does it ask through our gateway (empty: it signs in by itself)? ")?;
            if new.provider.is_none() {
                let path =
                    ask("Which path of your home holds its login (such as ~/.my-agent; empty: none)? ")?;
                new.own_credentials = path.into_iter().collect();
                new.price = Some(ask(PRICE)?.unwrap_or_else(|| "subscription".to_owned()));
                return Ok(new);
            }
            new.model = ask("Which model (as the provider calls it; empty: it chooses)? ")?;
        } else {
            new.base_url = ask("Where is it (a URL; empty: the usual place)? ")?;
            new.model = Some(need("Which model (as the provider calls it)? ")?);
            new.key = ask("Which secret holds the key (its name, such as MY_API_KEY; empty: the usual)? ")?;
            new.window = ask("How many tokens has it room for (such as 128k; empty: what is known)? ")?;
        }
        new.price = ask("What do a million tokens cost (in,out as 3usd,15usd; empty: what is known)? ")?;
        Ok(new)
    }
}

const PRICE: &str = "What do a million tokens cost (in,out as 3usd,15usd; empty: paid by the month)? ";

fn ask(question: &str) -> Result<Option<String>, CliError> {
    Ok(terminal::ask(question)?)
}

fn need(question: &str) -> Result<String, CliError> {
    ask(question)?.ok_or(CliError::NoAnswer)
}
