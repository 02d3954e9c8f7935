//! `checkout:` what makes a fresh checkout ready: files to copy, commands to run, ports.

use std::path::{Component, Path};

use serde::{Deserialize, Serialize};
use serde_saphyr::Spanned;

use super::{Error, Layer, Origin, PORTS, Row, number};
use crate::units::parse_duration_ms;

/// How long a command may take unless it says otherwise.
const SETUP_TIMEOUT_MS: u64 = 30 * 60 * 1000;

/// What a fresh checkout needs beside what is committed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckoutConfig {
    pub setup: Vec<SetupCommand>,
    pub copy: Vec<CopiedFile>,
    pub ports: u16,
}

/// A command that is run once for each state of the lockfiles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupCommand {
    pub run: Vec<String>,
    pub timeout_ms: u64,
}

/// A file of the person's own checkout that is not committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedFile {
    /// Relative to the top of either checkout.
    pub from: String,
    pub to: String,
    /// Never kept in a snapshot, never shown, and withheld from whoever may not have secrets.
    pub is_secret: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    setup: Option<Spanned<Vec<SetupEntry>>>,
    copy: Option<Spanned<Vec<CopyEntry>>>,
    ports: Option<Spanned<u64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetupEntry {
    run: Vec<String>,
    timeout: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CopyEntry {
    path: String,
    to: Option<String>,
    #[serde(default)]
    secret: bool,
}

/// What one file says.
pub(super) struct Read {
    pub(super) setup: Option<(Vec<SetupCommand>, Origin)>,
    pub(super) copy: Option<(Vec<CopiedFile>, Origin)>,
    pub(super) ports: Option<Spanned<String>>,
}

impl Section {
    pub(super) fn read(self, path: &str) -> Result<Read, String> {
        let ports =
            self.ports.map(|ports| Spanned::new(ports.value.to_string(), ports.referenced, ports.defined));
        Ok(Read { setup: listed(path, self.setup, setup)?, copy: listed(path, self.copy, copied)?, ports })
    }
}

fn listed<From, To>(
    path: &str,
    list: Option<Spanned<Vec<From>>>,
    read: fn(From) -> Result<To, String>,
) -> Result<Option<(Vec<To>, Origin)>, String> {
    let Some(list) = list else { return Ok(None) };
    let line = list.referenced.line();
    let entries: Result<Vec<To>, String> = list.value.into_iter().map(read).collect();
    let entries = entries.map_err(|problem| format!("line {line}: {problem}"))?;
    Ok(Some((entries, Origin::File(path.to_owned(), line))))
}

fn setup(entry: SetupEntry) -> Result<SetupCommand, String> {
    let SetupEntry { run, timeout } = entry;
    if run.first().is_none_or(String::is_empty) {
        return Err("`checkout.setup` needs commands, each as in `- { run: [npm, ci] }`".to_owned());
    }
    let timeout_ms = match timeout {
        None => SETUP_TIMEOUT_MS,
        Some(text) => parse_duration_ms(&text).map_err(|problem| problem.to_string())?,
    };
    Ok(SetupCommand { run, timeout_ms })
}

fn copied(entry: CopyEntry) -> Result<CopiedFile, String> {
    let CopyEntry { path: from, to, secret: is_secret } = entry;
    let to = to.unwrap_or_else(|| from.clone());
    for path in [&from, &to] {
        if !stays_inside(path) {
            return Err(format!(
                "`checkout.copy` names `{path}`, which could lead out of the checkout or into `.git`; give a relative path without `..`"
            ));
        }
    }
    Ok(CopiedFile { from, to, is_secret })
}

/// Whether a path names something below the top that git does not keep for itself.
fn stays_inside(path: &str) -> bool {
    let parts: Vec<Component<'_>> = Path::new(path).components().collect();
    let is_plain = |part: &Component<'_>| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => false,
    };
    !parts.is_empty() && !path.contains('\0') && parts.iter().all(is_plain)
}

/// The later layer wins, list by list.
pub(super) fn resolve(layers: &[Layer], rows: &mut Vec<Row>) -> Result<CheckoutConfig, Error> {
    let ports = u16::try_from(number(rows, PORTS)?).expect("it was held against a limit that fits");
    let setup = layers.iter().rev().find_map(|layer| layer.setup.clone());
    let copy = layers.iter().rev().find_map(|layer| layer.copy.clone());
    if let Some((commands, origin)) = &setup {
        let commands: Vec<String> = commands.iter().map(|command| command.run.join(" ")).collect();
        let about = "what is run in a fresh worktree, once for each state of the lockfiles; only in files";
        let (value, origin) = (commands.join(","), origin.clone());
        rows.push(Row { key: "checkout.setup", value, origin, about });
    }
    if let Some((files, origin)) = &copy {
        let files: Vec<&str> = files.iter().map(|file| file.to.as_str()).collect();
        let about = "files of your own checkout that a worktree gets too; only in files";
        let (value, origin) = (files.join(","), origin.clone());
        rows.push(Row { key: "checkout.copy", value, origin, about });
    }
    let setup = setup.map(|(setup, _)| setup).unwrap_or_default();
    let copy = copy.map(|(copy, _)| copy).unwrap_or_default();
    Ok(CheckoutConfig { setup, copy, ports })
}

#[cfg(test)]
mod tests {
    use crate::config::{from_flags, parse_file, resolve};

    use super::*;

    #[test]
    fn what_a_checkout_needs_is_read_with_its_place() {
        let text = "checkout:\n  setup: [ { run: [npm, ci], timeout: 5m } ]\n  copy:\n    - { path: .env.example, to: .env }\n    - { path: .env.local, secret: true }\n  ports: 2\n";
        let config = resolve(&[parse_file("ws.yml", text).unwrap()]).unwrap();
        let copied =
            |from: &str, to: &str, is_secret| CopiedFile { from: from.into(), to: to.into(), is_secret };
        let expected = CheckoutConfig {
            setup: vec![SetupCommand { run: vec!["npm".into(), "ci".into()], timeout_ms: 300_000 }],
            copy: vec![copied(".env.example", ".env", false), copied(".env.local", ".env.local", true)],
            ports: 2,
        };
        assert_eq!(config.checkout, expected);
        let shown: Vec<String> =
            config.rows.iter().map(|row| format!("{}={} ({})", row.key, row.value, row.origin)).collect();
        assert!(shown.contains(&"checkout.setup=npm ci (ws.yml:2)".to_owned()), "{shown:?}");
        assert!(shown.contains(&"checkout.copy=.env,.env.local (ws.yml:4)".to_owned()), "{shown:?}");
        assert!(shown.contains(&"checkout.ports=2 (ws.yml:6)".to_owned()), "{shown:?}");
    }

    #[test]
    fn a_file_that_would_lead_elsewhere_is_refused() {
        for path in ["../up", "/etc/passwd", "a/../../b", "", ".", ".git/config", "a/.GIT/hooks/x"] {
            let text = format!("checkout: {{ copy: [ {{ path: '{path}' }} ] }}");
            assert!(parse_file("ws.yml", &text).is_err(), "{path:?}");
            let text = format!("checkout: {{ copy: [ {{ path: a, to: '{path}' }} ] }}");
            assert!(parse_file("ws.yml", &text).is_err(), "{path:?}");
        }
    }

    #[test]
    fn what_is_no_command_or_no_number_of_ports_is_refused() {
        assert!(parse_file("ws.yml", "checkout: { setup: [ { run: [] } ] }").is_err());
        assert!(parse_file("ws.yml", "checkout: { setup: [ { run: [a], timeout: soon } ] }").is_err());
        for ports in ["-1", "101", "x"] {
            let layer = from_flags([format!("checkout.ports={ports}").as_str()]).unwrap();
            let message = resolve(&[layer]).unwrap_err().to_string();
            assert!(message.contains("is not a number from 0 to 100"), "{message}");
        }
    }
}
