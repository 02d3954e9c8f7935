//! Who can be asked: agents by name, the providers of models, and what is known of the models themselves.
//!
//! All of it is data: files that are compiled in, and the user's own, which come after them and win. Nothing here knows
//! what is installed or which key is there; that is the shell's to find out.

mod agent;
mod amount;
mod model;
mod provider;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use agent::{NewAgent, is_agent_name};
pub use model::Model;
pub use provider::{KeyHeader, Provider};

use crate::budget::{Price, Pricing};
use crate::workflow::suggest::closest;

/// An agent as a session pins it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    /// What people call it.
    pub title: String,
    pub kind: Kind,
    /// What the provider calls the model. Without one, an agent with hands of its own chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How many tokens there is room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    pub pricing: Pricing,
    /// What is set for its process. May hold `{gateway}`, `{token}`, `{model}` and `{home}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What its private home begins with, by path below it. May hold what `env` may.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Paths of the real home, from `~/` on, that it gets because it signs in by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_credentials: Vec<String>,
    /// Hosts that it needs beside its model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Whose models it asks through the gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// How a person gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// The program by which people have it, where that is not the one that is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// What tells its version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub version: Vec<String>,
}

/// How an agent is driven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Kind {
    /// Plays a script.
    Rehearsal,
    /// Our own loop asks a model.
    Model { wire: Wire },
    /// A program with hands of its own that speaks the Agent Client Protocol.
    Acp { command: Vec<String> },
    /// A program that takes a prompt, in place of `{prompt}` or on its standard input, and works.
    Command { command: Vec<String>, hands_in: HandsIn },
}

/// How a program that takes a prompt ends a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandsIn {
    /// It calls our tool.
    #[default]
    ByTool,
    /// It ends without an error; its last words are the notes.
    ByEnding,
}

/// What a model is spoken to in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wire {
    #[serde(rename = "anthropic")]
    AnthropicMessages,
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
}

impl Wire {
    pub const fn word(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
        }
    }
}

impl Kind {
    /// As files have it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Rehearsal => "rehearsal",
            Self::Model { wire } => wire.word(),
            Self::Acp { .. } => "acp",
            Self::Command { .. } => "command",
        }
    }

    /// What is started, if anything is.
    pub fn command(&self) -> Option<&[String]> {
        match self {
            Self::Rehearsal | Self::Model { .. } => None,
            Self::Acp { command } | Self::Command { command, .. } => Some(command),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A file of the user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFile {
    pub path: String,
    pub text: String,
}

/// A file that says nothing that could be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` cannot be used: {problem}")]
pub struct Error {
    pub path: String,
    pub problem: String,
}

/// Somebody who cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAgent {
    #[error(transparent)]
    Unknown(#[from] UnknownAgent),
    #[error("the agent `{name}` is not understood: {source}")]
    Broken { name: String, source: Error },
}

/// A name that is nobody's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownAgent {
    pub name: String,
    /// What may have been meant, the nearest first.
    pub nearest: Vec<String>,
}

impl std::error::Error for UnknownAgent {}

impl fmt::Display for UnknownAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no agent `{}`; ", self.name)?;
        let nearest: Vec<String> = self.nearest.iter().map(|name| format!("`{name}`")).collect();
        if !nearest.is_empty() {
            write!(f, "did you mean {}? ", nearest.join(" or "))?;
        }
        f.write_str("`longhaul agent list` shows all, and a model goes by `PROVIDER/MODEL`")
    }
}

/// Everybody who can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roster {
    definitions: BTreeMap<String, Definition>,
    broken: BTreeMap<String, Error>,
    providers: BTreeMap<String, Provider>,
    models: model::Catalogue,
    own: Vec<String>,
}

macro_rules! data {
    ($name:literal) => {
        ($name, include_str!(concat!("../data/", $name)))
    };
}

const PROVIDERS: (&str, &str) = data!("providers.yml");
const MODELS: (&str, &str) = data!("models.yml");
/// Name and file of each agent that comes with us.
const AGENTS: &[(&str, (&str, &str))] = &[
    ("claude", data!("agents/claude.yml")),
    ("claude-login", data!("agents/claude-login.yml")),
    ("codex", data!("agents/codex.yml")),
    ("codex-login", data!("agents/codex-login.yml")),
    ("gemini", data!("agents/gemini.yml")),
    ("opencode", data!("agents/opencode.yml")),
    ("rehearsal", data!("agents/rehearsal.yml")),
];

impl Roster {
    /// What comes with us.
    pub fn bundled() -> Self {
        Self::with(None, &[]).expect("what comes with us is tested")
    }

    /// What comes with us and what the user has: a file of models, and agents by name. An agent's file that cannot be
    /// used leaves the others as they are.
    pub fn with(models: Option<&UserFile>, agents: &[(String, UserFile)]) -> Result<Self, Error> {
        let mut catalogue = model::parse(MODELS.0, MODELS.1)?;
        if let Some(file) = models {
            catalogue.extend(model::parse(&file.path, &file.text)?);
        }
        let mut roster = Self {
            definitions: BTreeMap::new(),
            broken: BTreeMap::new(),
            providers: provider::parse(PROVIDERS.0, PROVIDERS.1)?,
            models: catalogue,
            own: Vec::new(),
        };
        for (name, (path, text)) in AGENTS {
            roster.add(agent::parse(name, path, text)?)?;
        }
        for (name, file) in agents {
            roster.own.push(name.clone());
            let added = agent::parse(name, &file.path, &file.text).and_then(|read| roster.add(read));
            if let Err(error) = added {
                roster.definitions.remove(name);
                roster.broken.insert(name.clone(), error);
            }
        }
        Ok(roster)
    }

    /// Who goes by a name: a definition, or `PROVIDER/MODEL`.
    pub fn resolve(&self, name: &str) -> Result<Definition, NoAgent> {
        if let Some(source) = self.broken.get(name) {
            return Err(NoAgent::Broken { name: name.to_owned(), source: source.clone() });
        }
        let model = || {
            let (provider, model) = name.split_once('/')?;
            let provider = self.providers.get(provider)?;
            (!model.is_empty()).then(|| self.of_model(name, provider, model))
        };
        let found = self.definitions.get(name).cloned().or_else(model);
        found.ok_or_else(|| self.unknown(name).into())
    }

    /// All of a chain, whom to ask when the one before cannot be.
    pub fn chain<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Vec<Definition>, NoAgent> {
        names.into_iter().map(|name| self.resolve(name)).collect()
    }

    /// All that have a name of their own, in the order of the alphabet.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.values()
    }

    /// The user's files that cannot be used, by the name of the agent.
    pub fn broken(&self) -> impl Iterator<Item = (&str, &Error)> {
        self.broken.iter().map(|(name, error)| (name.as_str(), error))
    }

    /// Whether a definition is the user's own.
    pub fn is_own(&self, name: &str) -> bool {
        self.own.iter().any(|own| own == name)
    }

    pub fn providers(&self) -> impl Iterator<Item = &Provider> {
        self.providers.values()
    }

    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.get(name)
    }

    /// The models of a provider that something is known of.
    pub fn models_of(&self, provider: &str) -> impl Iterator<Item = &Model> {
        self.models.of(provider)
    }

    /// What is known of a model, by its name, another name for it, or the name of one of its dated versions.
    pub fn model(&self, provider: &str, model: &str) -> Option<&Model> {
        self.models.find(provider, model)
    }

    /// What a model costs; on this machine, nothing.
    pub fn pricing(&self, provider: &str, model: &str) -> Pricing {
        let own = self.providers.get(provider);
        let listed = own.and_then(|own| own.prices_of.as_deref()).unwrap_or(provider);
        match self.models.find(listed, model) {
            Some(known) if known.pricing != Pricing::Unknown => known.pricing,
            Some(_) | None if own.is_some_and(|own| own.is_local) => Pricing::Known(Price::default()),
            Some(_) | None => Pricing::Unknown,
        }
    }

    /// The day that bundled prices and windows are of.
    pub fn as_of(&self) -> &str {
        &self.models.as_of
    }

    fn of_model(&self, name: &str, provider: &Provider, model: &str) -> Definition {
        let listed = provider.prices_of.as_deref().unwrap_or(&provider.name);
        let known = self.models.find(listed, model);
        let model = known.map_or(model, |known| known.asked_as(model));
        Definition {
            name: name.to_owned(),
            title: format!("{model} at {}", provider.title),
            kind: Kind::Model { wire: provider.wire() },
            model: Some(model.to_owned()),
            window: known.and_then(|known| known.window),
            max_output: known.and_then(|known| known.max_output),
            pricing: self.pricing(&provider.name, model),
            env: BTreeMap::new(),
            files: BTreeMap::new(),
            own_credentials: Vec::new(),
            hosts: Vec::new(),
            provider: Some(provider.name.clone()),
            install: None,
            program: None,
            version: Vec::new(),
        }
    }

    /// Takes an agent in, with what is known of its model.
    fn add(&mut self, read: agent::Read) -> Result<(), Error> {
        let agent::Read { mut definition, price, provider, path } = read;
        let error = |problem: String| Error { path, problem };
        if let Some(own) = provider {
            let named = own.resolve(&self.providers).map_err(error)?;
            definition.provider = Some(named.name.clone());
            self.providers.insert(named.name.clone(), named);
        } else if let Some(named) = &definition.provider
            && !self.providers.contains_key(named)
        {
            let known: Vec<&str> = self.providers.keys().map(String::as_str).collect();
            return Err(error(format!(
                "there is no provider `{named}`; there are {}, and `base_url` names another",
                known.join(", ")
            )));
        }
        if let (Some(provider), Some(model)) = (&definition.provider, &definition.model) {
            let of_model = self.of_model("", &self.providers[provider], model);
            definition.window = definition.window.or(of_model.window);
            definition.max_output = definition.max_output.or(of_model.max_output);
            definition.model = of_model.model;
            definition.pricing = of_model.pricing;
        }
        definition.pricing = price.unwrap_or(definition.pricing);
        self.broken.remove(&definition.name);
        self.definitions.insert(definition.name.clone(), definition);
        Ok(())
    }

    fn unknown(&self, name: &str) -> UnknownAgent {
        let own = self.definitions.keys().map(String::as_str);
        let models: Vec<String> = self.models.names().collect();
        let mut nearest: Vec<String> = Vec::new();
        nearest.extend(closest(name, own).map(str::to_owned));
        if let Some((provider, model)) = name.split_once('/') {
            let model = if model.is_empty() { "MODEL" } else { model };
            let meant = closest(provider, self.providers.keys().map(String::as_str));
            nearest.extend(meant.map(|provider| format!("{provider}/{model}")));
        } else {
            // The name of a model without that of its provider.
            let is_it = |full: &&String| full.split_once('/').is_some_and(|(_, model)| model == name);
            nearest.extend(models.iter().filter(is_it).cloned());
            nearest.extend(self.providers.contains_key(name).then(|| format!("{name}/MODEL")));
        }
        nearest.extend(closest(name, models.iter().map(String::as_str)).map(str::to_owned));
        nearest.dedup();
        UnknownAgent { name: name.to_owned(), nearest }
    }
}
