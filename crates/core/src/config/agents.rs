//! `agents:` who is asked, and who instead when that one cannot be.

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::{Error, Row};
use crate::workflow::ModelTier;

pub(super) const DEFAULT: &str = "agents.default";
pub(super) const LIGHT: &str = "agents.tiers.light";
pub(super) const STANDARD: &str = "agents.tiers.standard";
pub(super) const HEAVY: &str = "agents.tiers.heavy";

/// Who is asked. Names only: whether somebody goes by them is the roster's to say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentsConfig {
    pub default: Option<String>,
    light: Vec<String>,
    standard: Vec<String>,
    heavy: Vec<String>,
}

impl AgentsConfig {
    /// Who is asked for a tier, in this order; whoever is asked by default, where the settings say nothing of it.
    pub fn chain(&self, tier: Option<ModelTier>) -> Vec<&str> {
        let named = tier.map_or(&[][..], |tier| self.tier(tier));
        if named.is_empty() {
            return self.default.as_deref().into_iter().collect();
        }
        named.iter().map(String::as_str).collect()
    }

    /// What the settings say of a tier.
    pub fn tier(&self, tier: ModelTier) -> &[String] {
        match tier {
            ModelTier::Light => &self.light,
            ModelTier::Standard => &self.standard,
            ModelTier::Heavy => &self.heavy,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    default: Option<Spanned<String>>,
    #[serde(default)]
    tiers: Tiers,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tiers {
    light: Option<Spanned<Names>>,
    standard: Option<Spanned<Names>>,
    heavy: Option<Spanned<Names>>,
}

/// One, or a chain.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Chain(Vec<String>),
}

impl Section {
    /// What the file says, key by key; a chain with commas, as rows have it.
    pub(super) fn values(self) -> [(&'static str, Option<Spanned<String>>); 4] {
        let joined = |names: Option<Spanned<Names>>| {
            names.map(|names| {
                let text = match names.value {
                    Names::One(name) => name,
                    Names::Chain(names) => names.join(","),
                };
                Spanned::new(text, names.referenced, names.defined)
            })
        };
        let Tiers { light, standard, heavy } = self.tiers;
        [
            (DEFAULT, self.default),
            (LIGHT, joined(light)),
            (STANDARD, joined(standard)),
            (HEAVY, joined(heavy)),
        ]
    }
}

pub(super) fn resolve(rows: &[Row]) -> Result<AgentsConfig, Error> {
    let mut default = names(rows, DEFAULT)?;
    if default.len() > 1 {
        let problem = "one name is wanted here; a chain of them goes into `agents.tiers`".to_owned();
        return Err(wrong(rows, DEFAULT, problem));
    }
    Ok(AgentsConfig {
        default: default.pop(),
        light: names(rows, LIGHT)?,
        standard: names(rows, STANDARD)?,
        heavy: names(rows, HEAVY)?,
    })
}

fn names(rows: &[Row], key: &'static str) -> Result<Vec<String>, Error> {
    let value = &row(rows, key).value;
    if value.is_empty() {
        return Ok(Vec::new());
    }
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@~+".contains(letter);
    let name = |name: &str| {
        if !name.is_empty() && name.chars().all(is_letter) {
            return Ok(name.to_owned());
        }
        let problem = format!(
            "`{name}` is no name of an agent; write one of `longhaul agent list`, or `PROVIDER/MODEL`"
        );
        Err(wrong(rows, key, problem))
    };
    value.split(',').map(str::trim).map(name).collect()
}

fn row<'a>(rows: &'a [Row], key: &'static str) -> &'a Row {
    rows.iter().find(|row| row.key == key).expect("there is a row for each key")
}

fn wrong(rows: &[Row], key: &'static str, problem: String) -> Error {
    Error::Value { key, origin: row(rows, key).origin.to_string(), problem }
}

#[cfg(test)]
mod tests {
    use crate::config::{from_flags, parse_file, resolve};

    use super::*;

    #[test]
    fn a_tier_is_a_name_or_a_chain_and_the_default_stands_in_for_it() {
        let text = "agents:\n  default: claude\n  tiers: { light: anthropic/claude-haiku, heavy: [anthropic/claude-opus, openai/gpt-astra] }\n";
        let file = parse_file("user.yml", text).unwrap();
        let config = resolve(std::slice::from_ref(&file)).unwrap();
        assert_eq!(config.agents.default.as_deref(), Some("claude"));
        assert_eq!(config.agents.chain(Some(ModelTier::Light)), ["anthropic/claude-haiku"]);
        assert_eq!(config.agents.chain(Some(ModelTier::Standard)), ["claude"]);
        assert_eq!(
            config.agents.chain(Some(ModelTier::Heavy)),
            ["anthropic/claude-opus", "openai/gpt-astra"]
        );
        assert_eq!(config.agents.chain(None), ["claude"]);
        let shown: Vec<String> =
            config.rows.iter().map(|row| format!("{}={} ({})", row.key, row.value, row.origin)).collect();
        let heavy = "agents.tiers.heavy=anthropic/claude-opus,openai/gpt-astra (user.yml:3)";
        assert!(shown.contains(&heavy.to_owned()), "{shown:?}");
        let flags = from_flags(["agents.tiers.heavy=codex,claude"]).unwrap();
        let config = resolve(&[file, flags]).unwrap();
        assert_eq!(config.agents.chain(Some(ModelTier::Heavy)), ["codex", "claude"]);
        assert_eq!(resolve(&[]).unwrap().agents, AgentsConfig::default());
        assert!(resolve(&[]).unwrap().agents.chain(None).is_empty());
    }

    #[test]
    fn what_is_no_name_is_refused_with_its_place() {
        for (text, says) in [
            ("agents: { default: 'a b' }", "`a b` is no name of an agent"),
            ("agents: { default: 'a,b' }", "one name is wanted here"),
            ("agents: { tiers: { light: [a, ''] } }", "`` is no name of an agent"),
        ] {
            let message = resolve(&[parse_file("user.yml", text).unwrap()]).unwrap_err().to_string();
            assert!(message.starts_with("user.yml:1 sets `agents.") && message.contains(says), "{message}");
        }
        for text in ["agents: { tiers: { huge: a } }", "agents: { tiers: { light: { a: b } } }"] {
            assert!(parse_file("user.yml", text).is_err(), "{text}");
        }
    }
}
