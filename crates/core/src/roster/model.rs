//! What is known of models: how much they have room for, and what they cost.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Error;
use super::amount::{Count, PriceEntry};
use crate::budget::Pricing;

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    pub provider: String,
    /// What the provider calls it.
    pub name: String,
    /// What else it may be called here.
    pub aliases: Vec<String>,
    pub window: Option<u64>,
    pub max_output: Option<u64>,
    pub pricing: Pricing,
}

impl Model {
    /// What the provider is asked for: another name for a model is ours alone, and a dated version is not the model.
    pub(super) fn asked_as<'a>(&'a self, name: &'a str) -> &'a str {
        if self.aliases.iter().any(|alias| alias == name) { &self.name } else { name }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Catalogue {
    pub(super) as_of: String,
    /// By `PROVIDER/MODEL`.
    models: BTreeMap<String, Model>,
}

impl Catalogue {
    pub(super) fn of(&self, provider: &str) -> impl Iterator<Item = &Model> {
        self.models.values().filter(move |model| model.provider == provider)
    }

    pub(super) fn find(&self, provider: &str, name: &str) -> Option<&Model> {
        let by_name = |name: &str| self.models.get(&format!("{provider}/{name}"));
        let by_alias = || self.of(provider).find(|model| model.aliases.iter().any(|alias| alias == name));
        by_name(name).or_else(by_alias).or_else(|| by_name(undated(name)?))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let aliases = |model: &Model| {
            let provider = model.provider.clone();
            model.aliases.clone().into_iter().map(move |alias| format!("{provider}/{alias}"))
        };
        self.models.keys().cloned().chain(self.models.values().flat_map(aliases))
    }

    /// Later ones stand in the place of earlier ones, and take their other names from them.
    pub(super) fn extend(&mut self, later: Self) {
        for model in later.models.values() {
            let others = self.models.values_mut().filter(|other| other.provider == model.provider);
            others.for_each(|other| other.aliases.retain(|alias| !model.aliases.contains(alias)));
        }
        self.models.extend(later.models);
    }
}

/// The name without the date of a version, as in `-20260922` and `-2026-09-22`.
fn undated(name: &str) -> Option<&str> {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = |text: &str| match text.len() {
        8 => is_digits(text),
        10 => text.split('-').map(str::len).eq([4, 2, 2]) && is_digits(&text.replace('-', "")),
        _ => false,
    };
    [9, 11].into_iter().find_map(|length| {
        let (rest, date) = name.split_at_checked(name.len().checked_sub(length)?)?;
        (!rest.is_empty() && date.strip_prefix('-').is_some_and(is_date)).then_some(rest)
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: Option<String>,
    models: BTreeMap<String, Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    aliases: Vec<String>,
    window: Option<Count>,
    max_output: Option<Count>,
    price: Option<PriceEntry>,
}

/// Reads a `models.yml`; `path` is for whoever reads the error.
pub(super) fn parse(path: &str, text: &str) -> Result<Catalogue, Error> {
    let error = |problem: String| Error { path: path.to_owned(), problem };
    if text.trim().is_empty() {
        return Ok(Catalogue::default());
    }
    let file: File = serde_saphyr::from_str(text).map_err(|problem| error(problem.to_string()))?;
    let mut models = BTreeMap::new();
    for (name, entry) in file.models {
        let model = entry.model(&name).map_err(|problem| error(format!("`{name}`: {problem}")))?;
        models.insert(name, model);
    }
    Ok(Catalogue { as_of: file.as_of.unwrap_or_default(), models })
}

impl Entry {
    fn model(self, full: &str) -> Result<Model, String> {
        let named = full.split_once('/').filter(|(provider, name)| !provider.is_empty() && !name.is_empty());
        let (provider, name) =
            named.ok_or_else(|| "name it by its provider, as in `ollama/qwen3-coder`".to_owned())?;
        Ok(Model {
            provider: provider.to_owned(),
            name: name.to_owned(),
            aliases: self.aliases,
            window: self.window.map(|count| count.tokens("window")).transpose()?,
            max_output: self.max_output.map(|count| count.tokens("max_output")).transpose()?,
            pricing: self.price.map_or(Ok(Pricing::Unknown), PriceEntry::pricing)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dated_version_is_known_by_its_model() {
        assert_eq!(undated("claude-opus-4-5-20251101"), Some("claude-opus-4-5"));
        assert_eq!(undated("gpt-6.1-sol-2026-09-29"), Some("gpt-6.1-sol"));
        for name in ["claude-opus-4-5", "-20251101", "", "ä-2025110", "gpt-6.1-sol-2026-9-29x", "x-2026109-1"]
        {
            assert_eq!(undated(name), None, "{name}");
        }
    }
}
