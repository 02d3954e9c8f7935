//! The file of an agent: YAML as people write it, into a definition, and back for `agent add`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::amount::{Count, PriceEntry};
use super::provider::OwnProvider;
use super::{Definition, Error, HandsIn, Kind, Wire};
use crate::budget::Pricing;
use crate::hosts::HostPattern;

/// No name of an agent is longer.
const LONGEST_NAME: usize = 40;

/// What a file says, before anybody looked up what is known of its model.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) definition: Definition,
    pub(super) price: Option<Pricing>,
    pub(super) provider: Option<OwnProvider>,
    pub(super) path: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: Word,
    title: Option<String>,
    command: Option<Vec<String>>,
    hands_in: Option<HandsIn>,
    provider: Option<String>,
    base_url: Option<String>,
    key: Option<String>,
    model: Option<String>,
    window: Option<Count>,
    max_output: Option<Count>,
    price: Option<PriceEntry>,
    #[serde(default)]
    own_credentials: Vec<String>,
    #[serde(default)]
    hosts: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    install: Option<String>,
    program: Option<String>,
    #[serde(default)]
    version: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Acp,
    Anthropic,
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    Rehearsal,
    Command,
}

/// Whether an agent may be called so: its file is named after it, and `/` parts a provider from a model.
pub fn is_agent_name(name: &str) -> bool {
    let is_letter = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_' | '.')
    };
    name.len() <= LONGEST_NAME
        && name.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
        && name.chars().all(is_letter)
}

/// Reads an agent's file; `path` is for whoever reads the error.
pub(super) fn parse(name: &str, path: &str, text: &str) -> Result<Read, Error> {
    let error = |problem: String| Error { path: path.to_owned(), problem };
    if !is_agent_name(name) {
        return Err(error(format!(
            "`{name}` cannot be the name of an agent; use small letters, digits, `-`, `_` and `.`"
        )));
    }
    // An excerpt of the file could show a key that somebody wrote into it.
    let file: File = serde_saphyr::from_str(text).map_err(|problem: serde_saphyr::Error| {
        let at = problem.location().map(|at| format!("line {}: ", at.line())).unwrap_or_default();
        error(format!("{at}{}", problem.without_snippet()))
    })?;
    file.read(name, path).map_err(error)
}

impl File {
    fn read(self, name: &str, path: &str) -> Result<Read, String> {
        self.check()?;
        let title = self.title.clone().unwrap_or_else(|| name.to_owned());
        let provider = self.own_provider(name, &title)?;
        let kind = self.kind()?;
        let definition = Definition {
            name: name.to_owned(),
            title,
            provider: self.provider.or_else(|| usual_provider(&kind).map(str::to_owned)),
            model: self.model,
            window: self.window.map(|count| count.tokens("window")).transpose()?,
            max_output: self.max_output.map(|count| count.tokens("max_output")).transpose()?,
            pricing: Pricing::Unknown,
            env: self.env,
            files: self.files,
            own_credentials: self.own_credentials,
            hosts: self.hosts,
            install: self.install,
            program: self.program,
            version: self.version,
            kind,
        };
        let price = self.price.map(PriceEntry::pricing).transpose()?;
        Ok(Read { definition, price, provider, path: path.to_owned() })
    }

    fn kind(&self) -> Result<Kind, String> {
        let command = || {
            let command = self.command.clone().unwrap_or_default();
            if command.first().is_none_or(|program| program.trim().is_empty()) {
                let kind = if self.kind == Word::Acp { "acp" } else { "command" };
                return Err(format!(
                    "an agent of kind `{kind}` needs what is started, as in `command: [my-agent, --acp]`"
                ));
            }
            Ok(command)
        };
        Ok(match self.kind {
            Word::Acp => Kind::Acp { command: command()? },
            Word::Command => {
                Kind::Command { command: command()?, hands_in: self.hands_in.unwrap_or_default() }
            }
            Word::Anthropic => Kind::Model { wire: Wire::AnthropicMessages },
            Word::OpenAiChat => Kind::Model { wire: Wire::OpenAiChat },
            Word::OpenAiResponses => Kind::Model { wire: Wire::OpenAiResponses },
            Word::Rehearsal => Kind::Rehearsal,
        })
    }

    /// A model is asked at the provider that is named, at the usual one of its kind, or at an address of its own.
    fn own_provider(&self, name: &str, title: &str) -> Result<Option<OwnProvider>, String> {
        let kind = self.kind()?;
        let wire = match kind {
            Kind::Model { wire } => wire,
            Kind::Acp { .. } | Kind::Command { .. } | Kind::Rehearsal => return Ok(None),
        };
        let like = self.provider.clone().or_else(|| usual_provider(&kind).map(str::to_owned));
        // The usual place and the usual key are the provider's own.
        if like.is_some() && self.base_url.is_none() && self.key.is_none() {
            return Ok(None);
        }
        Ok(Some(OwnProvider {
            name: name.to_owned(),
            title: title.to_owned(),
            wire,
            like,
            base_url: self.base_url.clone(),
            key_variable: self.key.as_deref().map(variable).transpose()?,
        }))
    }

    fn check(&self) -> Result<(), String> {
        let is_model = matches!(self.kind, Word::Anthropic | Word::OpenAiChat | Word::OpenAiResponses);
        let has_hands = matches!(self.kind, Word::Acp | Word::Command);
        let misplaced = [
            ("command", self.command.is_some() && !has_hands),
            ("hands_in", self.hands_in.is_some() && self.kind != Word::Command),
            ("own_credentials", !self.own_credentials.is_empty() && !has_hands),
            ("hosts", !self.hosts.is_empty() && !has_hands),
            ("env", !self.env.is_empty() && !has_hands),
            ("files", !self.files.is_empty() && !has_hands),
            ("base_url", self.base_url.is_some() && !is_model),
            ("key", self.key.is_some() && !is_model),
        ];
        if let Some((key, _)) = misplaced.into_iter().find(|(_, is_wrong)| *is_wrong) {
            return Err(format!("`{key}` says nothing for an agent of this kind; take it out"));
        }
        if is_model && self.model.as_deref().is_none_or(|model| model.trim().is_empty()) {
            return Err("it does not say which model is asked; write `model`".to_owned());
        }
        for host in &self.hosts {
            HostPattern::parse(host)?;
        }
        for path in &self.own_credentials {
            let is_below = path.strip_prefix("~/").is_some_and(is_path_below);
            if !is_below {
                return Err(format!(
                    "`own_credentials` has `{path}`; write a path from `~/` on, without `..`"
                ));
            }
        }
        match self.files.keys().find(|path| !is_path_below(path)) {
            Some(path) => {
                Err(format!("`files` has `{path}`; write a path below the private home, without `..`"))
            }
            None => Ok(()),
        }
    }
}

/// Who is asked for a model of this kind, unless the file says so.
const fn usual_provider(kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::Model { wire: Wire::AnthropicMessages } => Some("anthropic"),
        Kind::Model { wire: Wire::OpenAiResponses } => Some("openai"),
        Kind::Model { wire: Wire::OpenAiChat }
        | Kind::Acp { .. }
        | Kind::Command { .. }
        | Kind::Rehearsal => None,
    }
}

fn is_path_below(path: &str) -> bool {
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    path.trim_end_matches('/').split('/').all(is_part)
}

/// The name in `$NAME`. What stands there instead may be the key itself, so it is not repeated.
fn variable(text: &str) -> Result<String, String> {
    let is_letter = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    let named = text.strip_prefix('$').filter(|name| {
        name.starts_with(|first: char| first.is_ascii_uppercase()) && name.chars().all(is_letter)
    });
    named.map(str::to_owned).ok_or_else(|| {
        "`key` is not the name of a secret; write `key: $MY_API_KEY`, and keep the key itself with `longhaul secret set MY_API_KEY`".to_owned()
    })
}

/// What `agent add` is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewAgent {
    pub kind: String,
    pub title: Option<String>,
    pub command: Vec<String>,
    pub hands_in_by_ending: bool,
    pub provider: Option<String>,
    pub base_url: Option<String>,
    /// The name of a secret, with or without `$`.
    pub key: Option<String>,
    pub model: Option<String>,
    pub window: Option<String>,
    pub max_output: Option<String>,
    /// `subscription`, `unknown`, or two sums with a comma between them.
    pub price: Option<String>,
    pub own_credentials: Vec<String>,
    pub hosts: Vec<String>,
    /// Each as `NAME=value`.
    pub env: Vec<String>,
}

impl NewAgent {
    /// The text of its file. Whether it can be used is seen by reading it.
    pub fn text(&self) -> Result<String, String> {
        let mut lines = vec![format!("kind: {}", quoted(&self.kind))];
        let mut add = |key: &str, value: Option<String>| {
            lines.extend(value.map(|value| format!("{key}: {value}")));
        };
        let text = |value: &Option<String>| value.as_deref().map(quoted);
        add("title", text(&self.title));
        add("command", listed(&self.command));
        add("hands_in", self.hands_in_by_ending.then(|| "by_ending".to_owned()));
        add("provider", text(&self.provider));
        add("base_url", text(&self.base_url));
        let key = self.key.as_deref().map(|key| variable(&format!("${}", key.trim_start_matches('$'))));
        add("key", key.transpose()?.map(|name| format!("${name}")));
        add("model", text(&self.model));
        add("window", text(&self.window));
        add("max_output", text(&self.max_output));
        add("price", self.price.as_deref().map(price).transpose()?);
        add("own_credentials", listed(&self.own_credentials));
        add("hosts", listed(&self.hosts));
        if !self.env.is_empty() {
            lines.push("env:".to_owned());
            for pair in &self.env {
                let (name, value) = pair
                    .split_once('=')
                    .ok_or_else(|| "an entry of the environment is written as `NAME=value`".to_owned())?;
                lines.push(format!("  {}: {}", quoted(name), quoted(value)));
            }
        }
        Ok(lines.join("\n") + "\n")
    }
}

fn price(text: &str) -> Result<String, String> {
    match text.split_once(',') {
        Some((input, output)) => {
            Ok(format!("{{ input: {}, output: {} }}", quoted(input.trim()), quoted(output.trim())))
        }
        None if matches!(text, "subscription" | "unknown") => Ok(text.to_owned()),
        None => Err(format!(
            "`{text}` is no price; give `3usd,15usd` (a million tokens in, and out), `subscription` or `unknown`"
        )),
    }
}

fn listed(values: &[String]) -> Option<String> {
    let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
    (!values.is_empty()).then(|| format!("[{}]", values.join(", ")))
}

/// As it is where no reader of YAML could take it for more than a word; else in quotes.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/');
    let is_word = text.starts_with(|first: char| first.is_ascii_lowercase()) && text.chars().all(is_plain);
    let is_taken = matches!(text, "true" | "false" | "yes" | "no" | "on" | "off" | "null" | "y" | "n");
    if is_word && !is_taken { text.to_owned() } else { crate::cassette::quoted(text) }
}
