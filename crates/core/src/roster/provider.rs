//! Whose models can be asked, where they are, and what they want to be shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Error, Wire};

/// Somebody who answers for models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    pub name: String,
    pub title: String,
    /// What it speaks, the one that is used first.
    pub wires: Vec<Wire>,
    /// Without a slash at its end and without the version: `https://api.example.com`.
    pub base_url: String,
    /// The environment variable that names another place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url_variable: Option<String>,
    /// The secret or environment variable that holds the key. Without one, none is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    pub key_header: KeyHeader,
    /// Whether it is a server on this machine, which costs nothing and needs no key.
    pub is_local: bool,
    /// Where a person gets a key, or how the server is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// Whose prices and windows hold for it, where it is another way to the same models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices_of: Option<String>,
}

/// How a key is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyHeader {
    /// `x-api-key: KEY`
    XApiKey,
    /// `authorization: Bearer KEY`
    Bearer,
}

impl Provider {
    /// What it is spoken to in, unless somebody says otherwise.
    pub fn wire(&self) -> Wire {
        self.wires.first().copied().unwrap_or(Wire::OpenAiChat)
    }

    /// Where it is, given what the variable that may say so holds.
    pub fn base_url_given(&self, variable: Option<&str>) -> String {
        match variable.map(str::trim).filter(|text| !text.is_empty()) {
            Some(text) => base_of(text),
            None => self.base_url.clone(),
        }
    }
}

/// The base of an address as people write it: some with the version at its end, some without saying how.
pub(super) fn base_of(text: &str) -> String {
    let text = text.trim().trim_end_matches('/');
    let text = text.strip_suffix("/v1").unwrap_or(text).trim_end_matches('/');
    let full = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    // A server that listens everywhere is asked here.
    full.replacen("://0.0.0.0", "://127.0.0.1", 1)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    title: String,
    kinds: Vec<Wire>,
    base_url: String,
    base_url_variable: Option<String>,
    key: Option<String>,
    key_header: Option<KeyHeader>,
    #[serde(default)]
    local: bool,
    install: Option<String>,
}

/// Reads the providers that come with us.
pub(super) fn parse(path: &str, text: &str) -> Result<BTreeMap<String, Provider>, Error> {
    let entries: BTreeMap<String, Entry> = serde_saphyr::from_str(text)
        .map_err(|problem| Error { path: path.to_owned(), problem: problem.to_string() })?;
    let provider = |(name, entry): (String, Entry)| {
        let provider = Provider {
            name: name.clone(),
            title: entry.title,
            key_header: entry.key_header.unwrap_or_else(|| usual_header(entry.kinds.first().copied())),
            wires: entry.kinds,
            base_url: base_of(&entry.base_url),
            base_url_variable: entry.base_url_variable,
            key_variable: entry.key,
            is_local: entry.local,
            install: entry.install,
            prices_of: None,
        };
        (name, provider)
    };
    Ok(entries.into_iter().map(provider).collect())
}

fn usual_header(wire: Option<Wire>) -> KeyHeader {
    match wire {
        Some(Wire::AnthropicMessages) => KeyHeader::XApiKey,
        Some(Wire::OpenAiChat | Wire::OpenAiResponses) | None => KeyHeader::Bearer,
    }
}

/// The provider that an agent's file describes.
#[derive(Debug)]
pub(super) struct OwnProvider {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) wire: Wire,
    /// The one that it is another way to.
    pub(super) like: Option<String>,
    pub(super) base_url: Option<String>,
    pub(super) key_variable: Option<String>,
}

impl OwnProvider {
    pub(super) fn resolve(self, known: &BTreeMap<String, Provider>) -> Result<Provider, String> {
        let like = match &self.like {
            None => None,
            Some(name) => Some(known.get(name).ok_or_else(|| format!("there is no provider `{name}`"))?),
        };
        let Some(base_url) = self.base_url.as_deref().map(base_of).or(like.map(|like| like.base_url.clone()))
        else {
            return Err(format!(
                "nobody knows where it is; write `base_url`, or `provider` (one of {})",
                known.keys().cloned().collect::<Vec<_>>().join(", ")
            ));
        };
        let is_local = is_here(&base_url);
        Ok(Provider {
            name: self.name,
            title: self.title,
            wires: vec![self.wire],
            // Who is asked elsewhere is not moved by a variable that is meant for the usual place.
            base_url_variable: like
                .filter(|_| self.base_url.is_none())
                .and_then(|like| like.base_url_variable.clone()),
            key_variable: self.key_variable.or_else(|| {
                like.filter(|_| self.base_url.is_none()).and_then(|like| like.key_variable.clone())
            }),
            key_header: like.map_or(usual_header(Some(self.wire)), |like| like.key_header),
            is_local,
            install: None,
            prices_of: like.filter(|_| !is_local).map(|like| like.name.clone()),
            base_url,
        })
    }
}

/// Whether an address is this machine's own.
fn is_here(base_url: &str) -> bool {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    matches!(host, "127.0.0.1" | "localhost" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_as_people_write_it() {
        for (written, meant) in [
            ("https://api.example.com/v1/", "https://api.example.com"),
            ("https://api.example.com", "https://api.example.com"),
            ("127.0.0.1:11434", "http://127.0.0.1:11434"),
            ("0.0.0.0:11434", "http://127.0.0.1:11434"),
            ("http://10.0.0.7:8000/v1", "http://10.0.0.7:8000"),
            ("https://api.example.com/openai/v1", "https://api.example.com/openai"),
        ] {
            assert_eq!(base_of(written), meant);
        }
        assert!(
            is_here("http://localhost:8080/x") && is_here("http://[::1]:80") && !is_here("https://a.example")
        );
    }
}
