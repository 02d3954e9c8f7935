//! From what somebody says to who works: agents by name or tier, their providers, and the keys that only we hold.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use longhaul_core::budget::Price;
use longhaul_core::roster::{Definition, KeyHeader, Kind, Provider, Roster, UserFile, Wire};
use longhaul_core::succession::Succession;
use longhaul_core::taint::Worker;
use longhaul_core::workflow::{ModelTier, Workflow};
use longhaul_gateway::{Protocol, Upstream, Upstreams};

use crate::driving::Script;
use crate::error::{Error, HiringError};
use crate::metering::{Rate, Rates};
use crate::runner::Staff;
use crate::secrets;
use crate::system::System;

/// Who is to do a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assignee {
    Rehearsal(Script),
    /// By name, by tier, or both: then the agent asks the model of the tier. With neither, whoever the settings name.
    Agent {
        name: Option<String>,
        tier: Option<ModelTier>,
    },
}

impl System {
    /// Everybody who may be asked for a workflow. What is missing is told before anything starts.
    pub(crate) fn staff(
        &self,
        name: Option<&str>,
        tier: Option<ModelTier>,
        workflow: &Workflow,
    ) -> Result<Staff, Error> {
        let roster = self.roster()?;
        let usual = self.usual(&roster, name, tier)?;
        let mut tiers = BTreeMap::new();
        for tier in tiers_of(workflow) {
            // A tier that nobody configured is done by whoever does the rest.
            if let Some(chain) = self.tier(&roster, tier)? {
                tiers.insert(tier, chain);
            }
        }
        let mut staff = Staff { usual, tiers, providers: BTreeMap::new() };
        let wanted: BTreeSet<String> = staff.members().filter_map(|member| member.provider.clone()).collect();
        for name in wanted {
            let provider = roster.provider(&name).ok_or_else(|| HiringError::NoProvider { name: name.clone() });
            let provider = self.found(provider?);
            self.key_of(&provider)?;
            staff.providers.insert(name, provider);
        }
        for member in staff.members() {
            member.pricing.known()?;
        }
        Ok(staff)
    }

    fn usual(
        &self,
        roster: &Roster,
        name: Option<&str>,
        tier: Option<ModelTier>,
    ) -> Result<Succession, Error> {
        let of_tier = tier.map(|tier| self.tier(roster, tier)?.ok_or_else(|| no_tier(tier))).transpose()?;
        match (name, of_tier) {
            (None, Some(chain)) => Ok(chain),
            (Some(name), None) => self.chain(roster, &[name.to_owned()]),
            (Some(name), Some(chain)) => {
                let definition = with_model_of(roster.resolve(name)?, &chain)?;
                Ok(Succession::new(vec![definition]).expect("there is one"))
            }
            (None, None) => match self.config()?.agents.default {
                Some(name) => self.chain(roster, &[name]),
                None => Err(HiringError::NobodyNamed.into()),
            },
        }
    }

    fn tier(&self, roster: &Roster, tier: ModelTier) -> Result<Option<Succession>, Error> {
        match self.config()?.agents.tier(tier) {
            [] => Ok(None),
            names => self.chain(roster, names).map(Some),
        }
    }

    fn chain(&self, roster: &Roster, names: &[String]) -> Result<Succession, Error> {
        let members = roster.chain(names.iter().map(String::as_str))?;
        Succession::new(members).ok_or_else(|| HiringError::NobodyNamed.into())
    }

    /// Everybody who can be asked, the user's own among them.
    pub(crate) fn roster(&self) -> Result<Roster, Error> {
        let read = |path: &Path| match fs::read_to_string(path) {
            Ok(text) => Ok(Some(UserFile { path: path.display().to_string(), text })),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::ReadFile { path: path.to_owned(), source }),
        };
        let config = &self.places().config;
        let mut agents = Vec::new();
        for entry in fs::read_dir(config.join("agents")).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default().to_owned();
            if path.extension().is_some_and(|ending| ending == "yml")
                && let Some(file) = read(&path)?
            {
                agents.push((name, file));
            }
        }
        agents.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Roster::with(read(&config.join("models.yml"))?.as_ref(), &agents).map_err(HiringError::Roster)?)
    }

    /// The key of a provider: the user's secret of that name, else the environment variable.
    fn provider_key(&self, provider: &Provider) -> Result<Option<String>, Error> {
        let Some(name) = &provider.key_variable else { return Ok(None) };
        let kept = secrets::from_file(&self.places().secrets())?;
        let kept = kept.into_iter().find(|secret| secret.name == *name);
        let kept = kept.and_then(|secret| String::from_utf8(secret.value).ok());
        let told = || self.variable(OsStr::new(name))?.into_string().ok();
        Ok(kept.or_else(told).filter(|key| !key.is_empty()))
    }

    /// A provider where it is for this session, whatever a variable says later.
    fn found(&self, provider: &Provider) -> Provider {
        let variable = provider.base_url_variable.as_deref().and_then(|name| self.variable(OsStr::new(name)));
        let base_url = provider.base_url_given(variable.as_deref().and_then(OsStr::to_str));
        Provider { base_url, base_url_variable: None, ..provider.clone() }
    }

    /// The key that a provider wants to be shown; `None` if it wants none.
    fn key_of(&self, provider: &Provider) -> Result<Option<String>, Error> {
        let Some(name) = &provider.key_variable else { return Ok(None) };
        match self.provider_key(provider)? {
            Some(key) => Ok(Some(key)),
            None if provider.is_local => Ok(None),
            None => Err(no_key(provider, name)),
        }
    }

    /// The providers of a staff as a gateway reaches them.
    pub(crate) fn upstreams(&self, staff: &Staff) -> Result<Upstreams, Error> {
        staff
            .providers
            .iter()
            .map(|(name, provider)| Ok((name.clone(), upstream(provider, self.key_of(provider)?)?)))
            .collect()
    }

    /// What each model costs that may be asked.
    pub(crate) fn rates(&self, staff: &Staff) -> Result<Rates, Error> {
        let mut rates = Rates::new(self.roster()?);
        for member in staff.members() {
            let Some(name) = &member.provider else { continue };
            let is_free = member.pricing.known().is_ok_and(Price::is_free);
            if is_free || staff.providers.get(name).is_some_and(|provider| provider.is_local) {
                rates.pin_free(name);
            }
            if let Some(model) = &member.model {
                rates.pin(name, model, Rate { pricing: member.pricing, max_output: member.max_output });
            }
        }
        Ok(rates)
    }
}

/// The tiers that steps of a workflow want.
fn tiers_of(workflow: &Workflow) -> BTreeSet<ModelTier> {
    workflow.all_steps().into_iter().filter_map(|step| step.model).collect()
}

fn no_tier(tier: ModelTier) -> Error {
    HiringError::NoTier { tier: tier.word() }.into()
}

fn no_key(provider: &Provider, name: &str) -> Error {
    let (title, name) = (provider.title.clone(), name.to_owned());
    HiringError::NoKey { title, name, how: provider.install.clone().unwrap_or_default() }.into()
}

/// An agent with the model of a tier, as far as the same provider has it.
fn with_model_of(agent: Definition, chain: &Succession) -> Result<Definition, Error> {
    let fits = |member: &&Definition| member.provider.is_some() && member.provider == agent.provider;
    let Some(member) = chain.members().iter().find(fits) else {
        let name = agent.name;
        return Err(HiringError::NoModelInTier { name }.into());
    };
    let Definition { model, window, max_output, pricing, .. } = member.clone();
    Ok(Definition { model, window, max_output, pricing, ..agent })
}

/// Whether it works by itself, and only hands in what it did.
pub(crate) const fn has_hands(definition: &Definition) -> bool {
    match definition.kind {
        Kind::Acp { .. } | Kind::Command { .. } => true,
        Kind::Rehearsal | Kind::Model { .. } => false,
    }
}

/// What the policy for text from outside takes somebody for.
pub(crate) fn worker(definition: &Definition) -> Worker {
    match &definition.kind {
        Kind::Rehearsal => Worker::Rehearsal,
        Kind::Model { .. } => Worker::OwnLoop,
        Kind::Acp { .. } | Kind::Command { .. } if definition.provider.is_some() => Worker::Hands,
        Kind::Acp { .. } | Kind::Command { .. } => Worker::SignsIn,
    }
}

fn upstream(provider: &Provider, key: Option<String>) -> Result<Upstream, Error> {
    let protocol = match provider.wire() {
        Wire::AnthropicMessages => Protocol::Anthropic,
        Wire::OpenAiChat | Wire::OpenAiResponses => Protocol::OpenAi,
    };
    let Some(key) = key else { return Ok(Upstream::without_key(&provider.base_url, protocol)?) };
    let (name, text) = match provider.key_header {
        KeyHeader::XApiKey => ("x-api-key", key),
        KeyHeader::Bearer => ("authorization", format!("Bearer {key}")),
    };
    Ok(Upstream::with_key(&provider.base_url, protocol, name, &text)?)
}
