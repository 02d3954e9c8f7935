//! Where a task comes from.

use std::fmt;
use std::str::FromStr;

/// No name of a ticket is longer.
const LONGEST: usize = 500;

/// Where a task comes from, as `cli` or `item:LH-TSK-0012`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    kind: Kind,
    name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Cli,
    Mcp,
    Item,
    Forge,
    Github,
    Webhook,
    Cron,
}

const KINDS: [(&str, Kind); 7] = [
    ("cli", Kind::Cli),
    ("mcp", Kind::Mcp),
    ("item", Kind::Item),
    ("forge", Kind::Forge),
    ("github", Kind::Github),
    ("webhook", Kind::Webhook),
    ("cron", Kind::Cron),
];

/// A text that names no source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no source of a task; write `cli`, `mcp`, or one with a name, such as `item:LH-TSK-0012` or `github:owner/repo#123`"
)]
pub struct BadSource {
    pub text: String,
}

impl Source {
    /// A person at the shell.
    pub const CLI: Self = Self { kind: Kind::Cli, name: String::new() };
    /// An agent that a person drives.
    pub const MCP: Self = Self { kind: Kind::Mcp, name: String::new() };

    /// A ticket of a forge.
    pub fn forge(place: &str, number: u64) -> Self {
        Self { kind: Kind::Forge, name: format!("{place}#{number}") }
    }

    /// A request that a trigger took.
    pub fn webhook(trigger: &str) -> Self {
        Self { kind: Kind::Webhook, name: trigger.to_owned() }
    }

    /// A tick of a trigger's schedule.
    pub fn cron(trigger: &str) -> Self {
        Self { kind: Kind::Cron, name: trigger.to_owned() }
    }

    /// Whether it names one thing that is done once, so that a second task for it would be the same work twice. What a
    /// person types is new each time, and so is what a trigger finds.
    pub const fn is_one_thing(&self) -> bool {
        match self.kind {
            Kind::Item | Kind::Forge | Kind::Github => true,
            Kind::Cli | Kind::Mcp | Kind::Webhook | Kind::Cron => false,
        }
    }
}

impl Kind {
    const fn has_name(self) -> bool {
        match self {
            Self::Cli | Self::Mcp => false,
            Self::Item | Self::Forge | Self::Github | Self::Webhook | Self::Cron => true,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, _) = KINDS.iter().find(|(_, kind)| *kind == self.kind).expect("there is a word for each");
        f.write_str(word)?;
        if self.kind.has_name() { write!(f, ":{}", self.name) } else { Ok(()) }
    }
}

impl FromStr for Source {
    type Err = BadSource;

    fn from_str(text: &str) -> Result<Self, BadSource> {
        let bad = || BadSource { text: text.chars().take(80).collect() };
        let (word, name) = text.split_once(':').map_or((text, None), |(word, name)| (word, Some(name)));
        let (_, kind) = KINDS.iter().find(|(known, _)| *known == word).ok_or_else(bad)?;
        let fits = |name: &str| {
            !name.is_empty() && name.len() <= LONGEST && !name.chars().any(|c| c.is_control() || c == ' ')
        };
        match (kind.has_name(), name) {
            (true, Some(name)) if fits(name) => Ok(Self { kind: *kind, name: name.to_owned() }),
            (false, None) => Ok(Self { kind: *kind, name: String::new() }),
            _ => Err(bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_reads_back_as_it_was_written() {
        for text in
            ["cli", "mcp", "item:LH-TSK-0012", "github:owner/repo#123", "webhook:hook", "cron:nightly"]
        {
            assert_eq!(text.parse::<Source>().unwrap().to_string(), text);
        }
        assert_eq!(Source::forge("/srv/shop.git", 12).to_string(), "forge:/srv/shop.git#12");
        assert_eq!(Source::webhook("hook").to_string(), "webhook:hook");
        assert_eq!(Source::cron("nightly"), "cron:nightly".parse().unwrap());
        for text in ["", "cli:x", "item", "item:", "goblin:1", "item:a b", "item:a\nb"] {
            assert!(text.parse::<Source>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn only_what_names_one_thing_is_done_once() {
        let once = |text: &str| text.parse::<Source>().unwrap().is_one_thing();
        assert_eq!(["item:a", "forge:a#1", "github:a/b#1"].map(once), [true; 3]);
        assert_eq!(["cli", "mcp", "cron:nightly", "webhook:hook"].map(once), [false; 4]);
    }
}
