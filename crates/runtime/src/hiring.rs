//! From what somebody says to who works: agents by name or tier, their providers, and the keys that only we hold.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use longhaul_core::budget::Price;
use longhaul_core::roster::{Definition, Kind, Provider, Roster};
use longhaul_core::succession::Succession;
use longhaul_core::taint::Worker;
use longhaul_core::workflow::{ModelTier, Workflow};
use longhaul_gateway::Upstreams;

use crate::driving::Script;
use crate::error::{DrivenError, Error, HiringError};
use crate::metering::{Rate, Rates};
use crate::runner::{Staff, Who};
use crate::system::System;

/// How long a provider may take to take a connection before a session starts.
const PATIENCE: Duration = Duration::from_secs(2);

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
            let provider =
                roster.provider(&name).ok_or_else(|| HiringError::NoProvider { name: name.clone() });
            let provider = self.found(provider?);
            self.upstream(&provider)?;
            staff.providers.insert(name, provider);
        }
        for member in staff.members() {
            member.pricing.known()?;
        }
        Ok(staff)
    }

    /// Programs and servers that are not there are told of before anything starts.
    pub(crate) fn refuse_if_missing(&self, who: &Who) -> Result<(), Error> {
        match who {
            Who::Rehearsal(_) => Ok(()),
            Who::Staff(staff) => {
                staff.members().try_for_each(|member| self.is_installed(member))?;
                staff.chains().try_for_each(|chain| self.somebody_is_there(staff, chain))
            }
        }
    }

    /// Whoever is not there at the beginning is refused at once; whoever goes away later is asked again. One of a chain is
    /// enough.
    fn somebody_is_there(&self, staff: &Staff, chain: &Succession) -> Result<(), Error> {
        let mut first_missing = None;
        for member in chain.members() {
            match self.is_there(staff, member) {
                Ok(()) => return Ok(()),
                Err(Error::Driven(DrivenError::Hiring(missing @ HiringError::NotThere { .. }))) => {
                    first_missing = first_missing.or(Some(missing));
                }
                Err(other) => return Err(other),
            }
        }
        first_missing.map_or(Ok(()), |missing| Err(missing.into()))
    }

    fn is_there(&self, staff: &Staff, member: &Definition) -> Result<(), Error> {
        let provider = member.provider.as_ref().and_then(|name| staff.providers.get(name));
        let Some(provider) = provider else { return Ok(()) };
        match self.upstream(provider)?.reach(PATIENCE) {
            Ok(()) => Ok(()),
            // Who is slow may only be far away.
            Err(slow) if slow.kind() == io::ErrorKind::TimedOut => Ok(()),
            Err(problem) => {
                let check = format!("`longhaul agent check {}` tells more", member.name);
                let how = match &provider.install {
                    Some(how) if provider.is_local => format!("{how}; {check}"),
                    Some(_) | None => check,
                };
                let (name, base) = (member.name.clone(), provider.base_url.clone());
                Err(HiringError::NotThere { name, base, problem: problem.to_string(), how }.into())
            }
        }
    }

    fn is_installed(&self, member: &Definition) -> Result<(), Error> {
        let Some(program) = member.kind.command().and_then(<[String]>::first) else { return Ok(()) };
        if self.program(program).is_some() {
            return Ok(());
        }
        let how = member.install.as_ref().map_or_else(
            || format!("`longhaul agent check {}` tells more", member.name),
            |how| format!("to get it: {how}"),
        );
        let (name, program) = (member.name.clone(), program.clone());
        Err(HiringError::NotInstalled { name, program, how }.into())
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
            (Some(name), None) => chain(roster, &[name.to_owned()]),
            (Some(name), Some(chain)) => {
                let definition = with_model_of(roster.resolve(name)?, &chain)?;
                Ok(Succession::new(vec![definition]).expect("there is one"))
            }
            (None, None) => match self.config()?.agents.default {
                Some(name) => chain(roster, &[name]),
                None => Err(HiringError::NobodyNamed.into()),
            },
        }
    }

    fn tier(&self, roster: &Roster, tier: ModelTier) -> Result<Option<Succession>, Error> {
        match self.config()?.agents.tier(tier) {
            [] => Ok(None),
            names => chain(roster, names).map(Some),
        }
    }

    /// A provider where it is for this session, whatever a variable says later.
    fn found(&self, provider: &Provider) -> Provider {
        Provider { base_url: self.base_url(provider), base_url_variable: None, ..provider.clone() }
    }

    /// The providers of a staff as a gateway reaches them.
    pub(crate) fn upstreams(&self, staff: &Staff) -> Result<Upstreams, Error> {
        let providers = staff.providers.iter();
        providers.map(|(name, provider)| Ok((name.clone(), self.upstream(provider)?))).collect()
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

fn chain(roster: &Roster, names: &[String]) -> Result<Succession, Error> {
    let members = roster.chain(names.iter().map(String::as_str))?;
    Succession::new(members).ok_or_else(|| HiringError::NobodyNamed.into())
}

/// The tiers that steps of a workflow want.
fn tiers_of(workflow: &Workflow) -> BTreeSet<ModelTier> {
    workflow.all_steps().into_iter().filter_map(|step| step.model).collect()
}

fn no_tier(tier: ModelTier) -> Error {
    HiringError::NoTier { tier: tier.word() }.into()
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    #[test]
    fn the_guide_shows_the_policy_for_text_from_outside_as_it_is() {
        let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/taint.md");
        let text = fs::read_to_string(guide).unwrap();
        assert!(text.contains(&longhaul_core::taint::table()), "{}", longhaul_core::taint::table());
    }
}
