//! `notify:` what is told to whom, by a command or a webhook.

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::{Layer, Origin, Row};
use crate::notify::{BadRule, Digest, Rule, Topic, Way};

pub(super) type Section = Spanned<Vec<Entry>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    on: Option<Vec<String>>,
    command: Option<Vec<String>>,
    webhook: Option<String>,
    digest: Option<DigestEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DigestEntry {
    at: String,
    zone: Option<String>,
    audience: Option<String>,
}

/// The rules of one file, with their place.
pub(super) fn read(path: &str, section: Section) -> Result<(Vec<Rule>, Origin), String> {
    let line = section.referenced.line();
    let rules: Result<Vec<Rule>, BadRule> = section.value.into_iter().map(rule).collect();
    let rules = rules.map_err(|problem| format!("line {line}: `notify`: {problem}"))?;
    Ok((rules, Origin::File(path.to_owned(), line)))
}

fn rule(entry: Entry) -> Result<Rule, BadRule> {
    let Entry { on, command, webhook, digest } = entry;
    let way = match (command, webhook) {
        (Some(arguments), None) => Way::command(arguments)?,
        (None, Some(name)) => Way::webhook(&name)?,
        (Some(_), Some(_)) | (None, None) => return Err(BadRule::NoWay),
    };
    let digest = digest
        .map(|digest| Digest::read(&digest.at, digest.zone.as_deref(), digest.audience.as_deref()))
        .transpose()?;
    let on: Result<_, BadRule> = on.unwrap_or_default().iter().map(|word| Topic::read(word)).collect();
    let rule = Rule { on: on?, way, digest };
    if rule.on.is_empty() && rule.digest.is_none() { Err(BadRule::Nothing) } else { Ok(rule) }
}

/// The later file wins as a whole.
pub(super) fn resolve(layers: &[Layer], rows: &mut Vec<Row>) -> Vec<Rule> {
    let Some((rules, origin)) = layers.iter().rev().find_map(|layer| layer.notify.clone()) else {
        return Vec::new();
    };
    let value: Vec<String> = rules.iter().map(Rule::shown).collect();
    let about = "what is told to whom, by a command or a webhook; only in files";
    rows.push(Row { key: "notify", value: value.join(", "), origin, about });
    rules
}

#[cfg(test)]
mod tests {
    use super::super::{parse_file, resolve};

    fn refused(text: &str) -> String {
        parse_file("ws.yml", text).unwrap_err().to_string()
    }

    #[test]
    fn rules_are_read_with_their_place_and_the_later_file_wins() {
        let text = "notify:\n  - { on: [gate, blocked, budget, done, question], command: [notify-send, \"{{title}}\", \"{{text}}\"] }\n  - { on: [gate], webhook: $SLACK_URL }\n  - { digest: { at: \"08:00\", zone: Europe/Berlin, audience: stakeholder }, command: [mail-me, \"{{text}}\"] }\n";
        let layer = parse_file("ws.yml", text).unwrap();
        let config = resolve(std::slice::from_ref(&layer)).unwrap();
        assert_eq!(config.notify.len(), 3);
        let row = config.rows.iter().find(|row| row.key == "notify").unwrap();
        assert_eq!(
            (row.value.as_str(), row.origin.to_string().as_str()),
            ("gate+question+blocked+budget+done: notify-send, gate: $SLACK_URL, digest: mail-me", "ws.yml:2")
        );
        let none = parse_file("user.yml", "notify: []").unwrap();
        assert_eq!(resolve(&[layer, none]).unwrap().notify, []);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_what_belongs_there() {
        for (rule, told) in [
            ("{ on: [gate] }", "either `command: [PROGRAM, …]` or `webhook: $NAME`"),
            ("{ on: [gate], command: [a], webhook: $A }", "either `command"),
            ("{ command: [a] }", "a rule tells something"),
            (
                "{ on: [gates], command: [a] }",
                "`gates` is nothing that is told; known are `gate`, `question`",
            ),
            ("{ on: [gate], command: [] }", "the command is empty"),
            ("{ on: [gate], command: [a, '{{goal}}'] }", "`{{goal}}` is no place; known are `{{id}}`"),
            ("{ on: [gate], command: ['{{title}}'] }", "the program itself is not taken from a message"),
            (
                "{ on: [gate], webhook: 'https://hooks.example/x' }",
                "is a secret and does not stand in a file",
            ),
            ("{ on: [gate], webhook: $lower }", "longhaul secret set NAME"),
            ("{ command: [a], digest: { at: '8:00' } }", "`8:00` is no time of day"),
            ("{ command: [a], digest: { at: '24:00' } }", "`24:00` is no time of day"),
            ("{ command: [a], digest: { at: '08:00', zone: Mars/Base } }", "`Mars/Base` is no zone"),
            ("{ command: [a], digest: { at: '08:00', audience: me } }", "`me` is no audience"),
            ("{ on: [gate], command: [a], shell: true }", "shell"),
        ] {
            let message = refused(&format!("notify:\n  - {rule}\n"));
            assert!(message.contains(told), "{rule}: {message}");
            assert!(!message.contains("hooks.example"), "an address is not shown: {message}");
        }
    }
}
