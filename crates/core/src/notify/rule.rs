//! Rules: what is told, and by which way.

use std::collections::BTreeSet;
use std::fmt;

use longhaul_events::encode_base32;
use serde::Serialize;

use super::PLACES;
use super::digest::{BadDigest, Digest};
use crate::canonical::sha256;
use crate::inbox::Kind;

/// What is told by one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub on: BTreeSet<Topic>,
    pub way: Way,
    /// How things stand, each day.
    pub digest: Option<Digest>,
}

/// How news get to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// A program and its arguments, with places such as `{{title}}`. No shell reads them.
    Command(Vec<String>),
    /// The name of the secret that is the address.
    Webhook(String),
}

/// What news are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    Gate,
    Question,
    Blocked,
    Budget,
    Done,
    Trouble,
}

/// Names a way, so that what was told by it is remembered also when the rule is changed otherwise.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleKey(String);

/// A rule that cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    #[error("a rule has either `command: [PROGRAM, …]` or `webhook: $NAME`")]
    NoWay,
    #[error("a rule tells something: give `on: [gate, …]`, `digest: {{ at: \"08:00\" }}`, or both")]
    Nothing,
    #[error("`{0}` is nothing that is told; known are {known}", known = known_topics())]
    Topic(String),
    #[error("the command is empty; write it as `[notify-send, \"{{{{title}}}}\", \"{{{{text}}}}\"]`")]
    NoProgram,
    #[error("`{{{{{0}}}}}` is no place; known are {known}", known = known_places())]
    Place(String),
    #[error("the program itself is not taken from a message; name it")]
    ProgramFromMessage,
    #[error(
        "an address of a webhook is a secret and does not stand in a file; keep it with `longhaul secret set NAME`, and write `webhook: $NAME`"
    )]
    BareAddress,
    #[error(transparent)]
    Digest(#[from] BadDigest),
}

impl Topic {
    pub const ALL: [Self; 6] =
        [Self::Gate, Self::Question, Self::Blocked, Self::Budget, Self::Done, Self::Trouble];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Gate => "gate",
            Self::Question => "question",
            Self::Blocked => "blocked",
            Self::Budget => "budget",
            Self::Done => "done",
            Self::Trouble => "trouble",
        }
    }

    pub const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Gate => Self::Gate,
            Kind::Question => Self::Question,
            Kind::HandedOver | Kind::Blocked | Kind::CouldNot | Kind::Failed => Self::Blocked,
            Kind::Budget => Self::Budget,
            Kind::Result => Self::Done,
            Kind::Trouble => Self::Trouble,
        }
    }

    pub fn read(word: &str) -> Result<Self, BadRule> {
        let known = Self::ALL.into_iter().find(|topic| topic.word() == word);
        known.ok_or_else(|| BadRule::Topic(word.to_owned()))
    }
}

impl Way {
    pub fn command(arguments: Vec<String>) -> Result<Self, BadRule> {
        let program = arguments.first().filter(|program| !program.trim().is_empty());
        if program.ok_or(BadRule::NoProgram)?.contains("{{") {
            return Err(BadRule::ProgramFromMessage);
        }
        for argument in &arguments {
            for place in argument.split("{{").skip(1) {
                let name = place.split_once("}}").map_or(place, |(name, _)| name);
                if !PLACES.contains(&name) {
                    return Err(BadRule::Place(name.chars().take(40).collect()));
                }
            }
        }
        Ok(Self::Command(arguments))
    }

    /// `$NAME`.
    pub fn webhook(text: &str) -> Result<Self, BadRule> {
        let name = text.strip_prefix('$').filter(|name| {
            let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
            name.bytes().next().is_some_and(|first| first.is_ascii_uppercase()) && name.bytes().all(fits)
        });
        name.map(|name| Self::Webhook(name.to_owned())).ok_or(BadRule::BareAddress)
    }
}

/// For people: the program, or the name of the secret.
impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(arguments) => write!(f, "`{}`", arguments.first().map_or("", String::as_str)),
            Self::Webhook(name) => write!(f, "the webhook `${name}`"),
        }
    }
}

impl Rule {
    pub fn key(&self) -> RuleKey {
        let way = serde_json::to_string(&self.way).expect("a way has string keys only");
        RuleKey(encode_base32(&sha256(way.as_bytes()).0[..5]))
    }

    /// In a few words, as settings are listed.
    pub fn shown(&self) -> String {
        let mut topics: Vec<&str> = self.on.iter().map(|topic| topic.word()).collect();
        topics.extend(self.digest.as_ref().map(|_| "digest"));
        let way = match &self.way {
            Way::Command(arguments) => arguments.first().cloned().unwrap_or_default(),
            Way::Webhook(name) => format!("${name}"),
        };
        format!("{}: {way}", topics.join("+"))
    }
}

impl RuleKey {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn known_topics() -> String {
    Topic::ALL.map(|topic| format!("`{}`", topic.word())).join(", ")
}

fn known_places() -> String {
    PLACES.map(|place| format!("`{{{{{place}}}}}`")).join(", ")
}
