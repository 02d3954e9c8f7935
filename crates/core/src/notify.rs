//! Which news go to whom: entries of the inbox, and a digest each day, by rules that a person wrote.
//!
//! At least once, with an id: what was delivered is put on record after it was, so whoever dies in between delivers it again under
//! the same id. A way that fails is tried again, later each time, and after several times the inbox says so. Nothing here
//! sends anything.

mod digest;
mod memory;
mod rule;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use longhaul_events::{Timestamp, encode_base32};
use serde_json::{Value, json};

pub use digest::{BadDigest, Digest};
pub use memory::{Failures, Memory, Told};
pub use rule::{BadRule, Rule, RuleKey, Topic, Way};

use crate::briefing::Audience;
use crate::canonical::sha256;
use crate::inbox::Entry;
use crate::plain::{clean, clean_lines};
use crate::time::rfc3339;

/// What is older than this when it is first seen is no news: the inbox has it.
const NEWS_MS: i64 = 24 * 60 * 60 * 1000;
/// More than this at once is told in one message.
const MOST_SINGLE: usize = 5;
/// How many of those are named.
const MOST_NAMED: usize = 20;

/// Something to be delivered once, or more often under the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: String,
    pub rule: RuleKey,
    pub way: Way,
    pub topic: &'static str,
    pub urgency: &'static str,
    pub title: String,
    pub text: String,
    pub at: Timestamp,
    pub about: About,
}

/// What a message tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    Entries(Vec<String>),
    /// The moment for which it was due.
    Digest(Timestamp),
}

/// What is to be delivered now, by the rules that hold for these entries.
pub fn due(rules: &[Rule], entries: &[&Entry], memory: &Memory, now: Timestamp) -> Vec<Message> {
    let mut messages = Vec::new();
    for rule in rules {
        let news: Vec<&Entry> =
            entries.iter().copied().filter(|entry| is_news(rule, entry, memory, now)).collect();
        if news.len() > MOST_SINGLE {
            messages.push(together(rule, &news, now));
        } else {
            messages.extend(news.into_iter().map(|entry| single(rule, entry, now)));
        }
    }
    messages.retain(|message| memory.may_try(message, now));
    messages
}

/// The digests that are due. `text` writes the briefing for an audience.
pub fn digests(
    rules: &[Rule],
    memory: &Memory,
    now: Timestamp,
    text: impl Fn(Audience) -> String,
) -> Vec<Message> {
    let due = |rule: &Rule| {
        let digest = rule.digest.as_ref()?;
        let key = rule.key();
        let moment = digest.due(memory.digests_until(key.as_str()), now)?;
        Some(Message {
            id: id(&key, &[moment.0.to_string().as_str()]),
            rule: key,
            way: rule.way.clone(),
            topic: "digest",
            urgency: "low",
            title: "Longhaul: how things stand".to_owned(),
            text: clean_lines(&text(digest.audience)),
            at: now,
            about: About::Digest(moment),
        })
    };
    rules.iter().filter_map(due).filter(|message| memory.may_try(message, now)).collect()
}

fn is_news(rule: &Rule, entry: &Entry, memory: &Memory, now: Timestamp) -> bool {
    let key = rule.key();
    let is_young = now.0.saturating_sub(entry.since.0) < NEWS_MS;
    rule.on.contains(&Topic::of(entry.kind))
        && !memory.was_told(key.as_str(), entry.id.as_str())
        && (is_young || memory.was_tried(key.as_str(), entry.id.as_str()))
}

fn single(rule: &Rule, entry: &Entry, now: Timestamp) -> Message {
    let key = rule.key();
    let options =
        entry.options.iter().zip(1..).map(|(option, number)| format!("{number}. {}", clean(option)));
    let mut lines = vec![clean_lines(&entry.text)];
    lines.extend(options);
    lines.push(format!("longhaul inbox show {}", entry.id));
    let text = lines.join("\n");
    Message {
        id: id(&key, &[entry.id.as_str()]),
        rule: key,
        way: rule.way.clone(),
        topic: Topic::of(entry.kind).word(),
        urgency: entry.urgency.word(),
        title: clean(&entry.title),
        text,
        at: now,
        about: About::Entries(vec![entry.id.to_string()]),
    }
}

fn together(rule: &Rule, news: &[&Entry], now: Timestamp) -> Message {
    let key = rule.key();
    let ids: Vec<&str> = news.iter().map(|entry| entry.id.as_str()).collect();
    let mut lines: Vec<String> =
        news.iter().take(MOST_NAMED).map(|entry| format!("{}  {}", entry.id, clean(&entry.title))).collect();
    let more = news.len().saturating_sub(MOST_NAMED);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines.push("longhaul inbox".to_owned());
    let topics: BTreeSet<Topic> = news.iter().map(|entry| Topic::of(entry.kind)).collect();
    let urgency = news.iter().map(|entry| entry.urgency).max().unwrap_or_default();
    Message {
        id: id(&key, &ids),
        rule: key,
        way: rule.way.clone(),
        topic: topics.first().map_or("several", |topic| topic.word()),
        urgency: urgency.word(),
        title: format!("{} things in the inbox of Longhaul", news.len()),
        text: lines.join("\n"),
        at: now,
        about: About::Entries(ids.into_iter().map(str::to_owned).collect()),
    }
}

/// The same for the same news by the same way, so that whoever gets it twice can tell.
fn id(rule: &RuleKey, about: &[&str]) -> String {
    let digest = sha256(format!("{rule}\0{}", about.join("\0")).as_bytes());
    format!("n-{}", encode_base32(&digest.0[..5]))
}

impl Message {
    /// An argument of a command. What stands in a place is one argument, whatever is in it, and never looks like an option.
    pub fn fill(&self, template: &str) -> String {
        let mut filled = template.to_owned();
        for (place, value) in self.places() {
            filled = filled.replace(&format!("{{{{{place}}}}}"), &value.replace("{{", "{ {"));
        }
        if filled.starts_with('-') && !template.starts_with('-') { format!(" {filled}") } else { filled }
    }

    fn places(&self) -> [(&'static str, &str); 5] {
        [
            ("id", &self.id),
            ("topic", self.topic),
            ("urgency", self.urgency),
            ("title", &self.title),
            ("text", &self.text),
        ]
    }

    /// What a webhook gets.
    pub fn body(&self) -> Value {
        let entries = match &self.about {
            About::Entries(entries) => entries.as_slice(),
            About::Digest(_) => &[],
        };
        json!({
            "id": self.id,
            "topic": self.topic,
            "urgency": self.urgency,
            "title": self.title,
            // Chats show `text` and nothing else.
            "text": format!("{}\n{}", self.title, self.text),
            "entries": entries,
            "at": rfc3339(self.at),
        })
    }
}

/// The names that an argument may hold between `{{` and `}}`.
pub const PLACES: [&str; 5] = ["id", "topic", "urgency", "title", "text"];
