//! `sandbox:` how strong the walls around an agent are, and what is let through them.

use serde::{Deserialize, Serialize};
use serde_saphyr::Spanned;

use super::{Error, Row};
use crate::hosts::HostPattern;

pub(super) const LEVEL: &str = "sandbox.level";
pub(super) const ACCEPT_REDUCED: &str = "sandbox.accept_reduced";
pub(super) const NETWORK: &str = "sandbox.network";
pub(super) const HOSTS: &str = "sandbox.hosts";
pub(super) const CACHES: &str = "sandbox.caches";

const SWITCH: [(&str, bool); 2] = [("true", true), ("false", false)];

/// The walls that sessions get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxConfig {
    pub level: SandboxLevel,
    /// Whether the reduced level will do where the full one is not to be had.
    pub accepts_reduced: bool,
    pub network: SandboxNetwork,
    /// What is let through where the network is an allow-list.
    pub hosts: Vec<HostPattern>,
    /// Folders that can be changed beside the worktree; `~` is the home.
    pub caches: Vec<String>,
}

/// How strong the walls are that are asked for. Sessions pin it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    Full,
    Reduced,
    None,
}

impl SandboxLevel {
    /// What people write for each.
    pub const WORDS: [(&'static str, Self); 3] =
        [("full", Self::Full), ("reduced", Self::Reduced), ("none", Self::None)];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Reduced => "reduced",
            Self::None => "none",
        }
    }
}

/// What can be reached. Sessions pin it, as `allow_list` where people write `allow-list`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxNetwork {
    #[default]
    None,
    AllowList,
    Open,
}

impl SandboxNetwork {
    /// What people write for each.
    pub const WORDS: [(&'static str, Self); 3] =
        [("none", Self::None), ("allow-list", Self::AllowList), ("open", Self::Open)];
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    level: Option<Spanned<String>>,
    accept_reduced: Option<Spanned<bool>>,
    network: Option<Spanned<String>>,
    hosts: Option<Spanned<Vec<String>>>,
    caches: Option<Spanned<Vec<String>>>,
}

/// Each key with what a file says of it.
type Values = [(&'static str, Option<Spanned<String>>); 5];

impl Section {
    /// The values as rows have them.
    pub(super) fn read(self) -> Result<Values, String> {
        Ok([
            (LEVEL, self.level),
            (ACCEPT_REDUCED, self.accept_reduced.map(|switch| with(&switch, switch.value.to_string()))),
            (NETWORK, self.network),
            (HOSTS, joined(HOSTS, self.hosts)?),
            (CACHES, joined(CACHES, self.caches)?),
        ])
    }
}

pub(super) fn with<T>(place: &Spanned<T>, value: String) -> Spanned<String> {
    Spanned::new(value, place.referenced, place.defined)
}

pub(super) fn joined(
    key: &str,
    list: Option<Spanned<Vec<String>>>,
) -> Result<Option<Spanned<String>>, String> {
    let Some(list) = list else { return Ok(None) };
    // In a row the entries stand with commas between them.
    if let Some(entry) = list.value.iter().find(|entry| entry.contains(',')) {
        let line = list.referenced.line();
        return Err(format!(
            "line {line}: `{key}` has `{entry}`; write each entry by itself, without a comma"
        ));
    }
    Ok(Some(with(&list, list.value.join(","))))
}

pub(super) fn resolve(rows: &[Row]) -> Result<SandboxConfig, Error> {
    let hosts = listed(rows, HOSTS)
        .map(|text| HostPattern::parse(text).map_err(|problem| wrong(row(rows, HOSTS), problem)));
    Ok(SandboxConfig {
        level: one_of(rows, LEVEL, &SandboxLevel::WORDS)?,
        accepts_reduced: one_of(rows, ACCEPT_REDUCED, &SWITCH)?,
        network: one_of(rows, NETWORK, &SandboxNetwork::WORDS)?,
        hosts: hosts.collect::<Result<_, _>>()?,
        caches: caches(rows)?,
    })
}

pub(super) fn one_of<T: Copy>(rows: &[Row], key: &'static str, words: &[(&str, T)]) -> Result<T, Error> {
    let row = row(rows, key);
    words.iter().find(|(word, _)| *word == row.value).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        wrong(row, format!("`{}` is not one of {}; write one of them", row.value, words.join(", ")))
    })
}

/// What a cache may be is the shell's to say, which knows the disk; here it need only name one place.
fn caches(rows: &[Row]) -> Result<Vec<String>, Error> {
    let row = row(rows, CACHES);
    let is_place = |path: &str| {
        (path.starts_with('/') || path.starts_with("~/")) && !path.split('/').any(|part| part == "..")
    };
    listed(rows, CACHES)
        .map(|path| {
            if is_place(path) && !path.contains('\0') {
                return Ok(path.to_owned());
            }
            let problem = format!(
                "`{path}` depends on where one stands; write a path from `~/` or `/` on, without `..`"
            );
            Err(wrong(row, problem))
        })
        .collect()
}

pub(super) fn listed<'a>(rows: &'a [Row], key: &'static str) -> impl Iterator<Item = &'a str> {
    row(rows, key).value.split(',').map(str::trim).filter(|entry| !entry.is_empty())
}

pub(super) fn row<'a>(rows: &'a [Row], key: &'static str) -> &'a Row {
    rows.iter().find(|row| row.key == key).expect("there is a row for each key")
}

pub(super) fn wrong(row: &Row, problem: String) -> Error {
    Error::Value { key: row.key, origin: row.origin.to_string(), problem }
}

#[cfg(test)]
mod tests {
    use crate::config::{from_environment, from_flags, parse_file, resolve};

    use super::*;

    #[test]
    fn the_walls_are_read_with_their_place_and_the_later_list_wins_whole() {
        let text = "sandbox:\n  level: reduced\n  accept_reduced: true\n  network: open\n  hosts: [docs.example.com, '*.example.org:8443']\n  caches: [~/.cargo/registry]\n";
        let file = parse_file("ws.yml", text).unwrap();
        let config = resolve(std::slice::from_ref(&file)).unwrap();
        assert_eq!(
            config.sandbox,
            SandboxConfig {
                level: SandboxLevel::Reduced,
                accepts_reduced: true,
                network: SandboxNetwork::Open,
                hosts: ["docs.example.com", "*.example.org:8443"]
                    .map(|host| HostPattern::parse(host).unwrap())
                    .into(),
                caches: vec!["~/.cargo/registry".to_owned()],
            }
        );
        let shown: Vec<String> =
            config.rows.iter().map(|row| format!("{}={} ({})", row.key, row.value, row.origin)).collect();
        assert!(shown.contains(&"sandbox.level=reduced (ws.yml:2)".to_owned()), "{shown:?}");
        assert!(
            shown.contains(&"sandbox.hosts=docs.example.com,*.example.org:8443 (ws.yml:5)".to_owned()),
            "{shown:?}"
        );
        let variable =
            from_environment(|name| (name == "LONGHAUL_SANDBOX_HOSTS").then(|| "a.example".into()));
        let flag = from_flags(["sandbox.accept_reduced=false"]).unwrap();
        let config = resolve(&[file, variable, flag]).unwrap();
        assert_eq!(config.sandbox.hosts, [HostPattern::parse("a.example").unwrap()]);
        assert!(!config.sandbox.accepts_reduced);
    }

    #[test]
    fn what_a_session_pins_of_its_walls_has_the_words_that_are_on_record() {
        let stored = |value: &dyn Fn(usize) -> serde_json::Value| [0, 1, 2].map(value);
        let levels = stored(&|index| serde_json::to_value(SandboxLevel::WORDS[index].1).unwrap());
        assert_eq!(levels, ["full", "reduced", "none"]);
        let networks = stored(&|index| serde_json::to_value(SandboxNetwork::WORDS[index].1).unwrap());
        assert_eq!(networks, ["none", "allow_list", "open"]);
        for (word, level) in SandboxLevel::WORDS {
            assert_eq!(level.word(), word);
        }
    }

    #[test]
    fn a_wrong_value_is_refused_with_its_place_and_what_to_write() {
        for (text, told) in [
            ("sandbox: { level: strong }", "`strong` is not one of `full`, `reduced`, `none`"),
            ("sandbox: { network: all }", "`all` is not one of `none`, `allow-list`, `open`"),
            ("sandbox: { hosts: ['*'] }", "`*` is not a host"),
            ("sandbox: { hosts: ['http://a.example'] }", "is not a host"),
            ("sandbox: { caches: [target] }", "depends on where one stands"),
            ("sandbox: { caches: ['~/../x'] }", "depends on where one stands"),
        ] {
            let message = resolve(&[parse_file("ws.yml", text).unwrap()]).unwrap_err().to_string();
            assert!(message.starts_with("ws.yml:1 sets `sandbox.") && message.contains(told), "{message}");
        }
        assert!(parse_file("ws.yml", "sandbox: { hosts: ['a,b'] }").is_err());
        assert!(parse_file("ws.yml", "sandbox: { wall: high }").is_err());
    }
}
