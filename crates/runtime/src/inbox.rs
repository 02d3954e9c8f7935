//! The inbox of this installation: what waits for a person, and what they say to it.
//!
//! Whatever is said here is a person's to say, and none of it opens a gate: that is done at the gate, by its own way.

mod seeing;
mod telling;

use longhaul_core::briefing::{Audience, Briefing, Surroundings, brief};
use longhaul_core::budget::day_of;
use longhaul_core::config;
use longhaul_core::inbox::{Entry, Kind, Seen, Severity, Trouble, entries};
use longhaul_core::question::{Question, Urgency};
use longhaul_core::session::Rejection;
use longhaul_core::workflow::scope::cut;
use longhaul_events::{SessionId, TaskId, Timestamp};

use crate::clock::{Clock as _, SystemClock};
use crate::commands::Commands;
use crate::error::{Error, InboxError};
use crate::notifying::Notifier;
use crate::reader::Reader;
use crate::system::System;
use crate::terminal;

pub use telling::{Hearing, ToldTask};

/// How much of a question is repeated with its answer.
const QUESTION_LETTERS: usize = 300;
/// How many of several that fit are named.
const MOST_NAMED: usize = 5;

/// All that concerns people, as it is at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Desk {
    pub seen: Seen,
    /// What waits for a person, the most urgent first.
    pub entries: Vec<Entry>,
    pub around: Surroundings,
}

impl Desk {
    /// How things stand, for an audience.
    pub fn briefing(&self, audience: Audience) -> Briefing {
        brief(&self.seen, &self.entries, &self.around, audience)
    }

    /// An entry by its id, by the beginning of it, or by the gate, session or task that it alone is about.
    pub fn find(&self, text: &str) -> Result<&Entry, Error> {
        let unknown = || InboxError::NoSuch(cut(text, 80));
        let beginning = text.strip_prefix("i-").unwrap_or(text);
        let by_id =
            |entry: &&Entry| !beginning.is_empty() && entry.id.as_str()["i-".len()..].starts_with(beginning);
        let by_subject = |entry: &&Entry| {
            let gate = entry.session.zip(entry.gate).map(|(session, node)| format!("{session}.{node}"));
            [gate, entry.session.map(|id| id.to_string()), entry.task.map(|id| id.to_string())]
                .iter()
                .flatten()
                .any(|subject| subject == text)
        };
        let mut fitting: Vec<&Entry> = self.entries.iter().filter(by_id).collect();
        if fitting.is_empty() {
            fitting = self.entries.iter().filter(by_subject).collect();
        }
        match fitting.len() {
            0 => Err(unknown().into()),
            1 => Ok(fitting[0]),
            _ => {
                let named: Vec<&str> =
                    fitting.iter().take(MOST_NAMED).map(|entry| entry.id.as_str()).collect();
                Err(InboxError::Ambiguous { text: cut(text, 80), fitting: named.join(", ") }.into())
            }
        }
    }
}

/// What became of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replied {
    /// A question was answered, with these words.
    Answered { words: String, hearing: Option<Hearing> },
    /// The agent of what was stuck goes on with it.
    Steered(SessionId),
    /// Nobody is at work; it is for the next attempt.
    Kept(ToldTask),
}

impl System {
    /// What concerns people, as it is now. Reads only, and needs no daemon.
    pub fn desk(&self) -> Result<Desk, Error> {
        let now = SystemClock.now();
        let reader = self.reader()?;
        let mut seen = match &reader {
            Some(reader) => reader.seen(now)?,
            None => Seen { now, ..Seen::default() },
        };
        seen.troubles.extend(self.troubles(now));
        let around = Surroundings {
            daemon: None,
            money_today_micros: reader.map_or(Ok(0), |reader| reader.money_of_day(day_of(now)))?,
            money_day_micros: self.config_of_files().ok().map(|config| config.caps.day_money_micros),
        };
        Ok(Desk { entries: entries(&seen), seen, around })
    }

    /// What is broken of this installation, as far as it can be seen without a daemon.
    fn troubles(&self, now: Timestamp) -> Vec<Trouble> {
        let mut troubles = Vec::new();
        if let Err(error) = self.config_of_files() {
            let subject = match &error {
                Error::Config(config::Error::File { path, .. }) => path.clone(),
                _ => "settings".to_owned(),
            };
            troubles.push(Trouble {
                subject,
                title: "The settings cannot be read".to_owned(),
                problem: error.to_string(),
                remedy: "longhaul config show --origin".to_owned(),
                severity: Severity::StopsWork,
                workspace: None,
                since: now,
            });
        }
        if let Err(error) = self.scrubber() {
            troubles.push(Trouble {
                subject: "secrets".to_owned(),
                title: "The secrets cannot be read".to_owned(),
                problem: error.to_string(),
                remedy: "longhaul doctor".to_owned(),
                severity: Severity::StopsWork,
                workspace: None,
                since: now,
            });
        }
        troubles.extend(Notifier::new(self, now).troubles());
        troubles
    }

    /// Answers a question, or tells the agent of something that is stuck how to go on. A person's to do.
    pub fn reply(&self, commands: &Commands, entry: &Entry, words: &str) -> Result<Replied, Error> {
        terminal::refuse_agents()?;
        telling::check_words(words)?;
        match entry.kind {
            Kind::Question => self.answer(commands, entry, words),
            Kind::Blocked | Kind::CouldNot | Kind::Failed | Kind::HandedOver => {
                self.take_up(commands, entry, words)
            }
            Kind::Gate | Kind::Budget | Kind::Result | Kind::Trouble => {
                Err(InboxError::takes_no_words(entry).into())
            }
        }
    }

    fn answer(&self, commands: &Commands, entry: &Entry, typed: &str) -> Result<Replied, Error> {
        let (session, task) = subjects(entry)?;
        let question = Question {
            text: entry.text.clone(),
            options: entry.options.clone(),
            default: entry.default.clone(),
            urgency: Urgency::Normal,
        };
        let words = question.answer(typed).to_owned();
        let asked = cut(&entry.text, QUESTION_LETTERS);
        let told = format!("This is the answer to your question \"{asked}\": {words}");
        let hearing = self.tell_session(commands, session, &told)?;
        commands.reply(task, entry.id.as_str(), Some(&words), &terminal::user_name())?;
        Ok(Replied::Answered { words, hearing })
    }

    /// What is parked at a step goes on with the words; what is over hears them when it is tried again.
    fn take_up(&self, commands: &Commands, entry: &Entry, words: &str) -> Result<Replied, Error> {
        let task = entry.task.ok_or_else(|| InboxError::without_task(entry))?;
        let Some(session) = entry.session else {
            return self.tell(commands, task, words).map(Replied::Kept);
        };
        match (self.steer(commands, session, words), entry.kind) {
            (Ok(()), _) => {
                commands.reply(task, entry.id.as_str(), Some(words), &terminal::user_name())?;
                Ok(Replied::Steered(session))
            }
            (
                Err(Error::Session(
                    Rejection::NobodyListens
                    | Rejection::Closed
                    | Rejection::NotDriven
                    | Rejection::Cancelled,
                )),
                Kind::CouldNot | Kind::Failed | Kind::HandedOver,
            ) => self.tell(commands, task, words).map(Replied::Kept),
            (Err(error), _) => Err(error),
        }
    }

    /// Takes an entry from the list. A person's to do.
    pub fn dismiss(&self, commands: &Commands, entry: &Entry) -> Result<(), Error> {
        terminal::refuse_agents()?;
        if !entry.kind.is_settled_by_word() {
            return Err(InboxError::not_settled_by_word(entry).into());
        }
        let task = entry.task.ok_or_else(|| InboxError::without_task(entry))?;
        commands.reply(task, entry.id.as_str(), None, &terminal::user_name()).map(|_| ())
    }
}

fn subjects(entry: &Entry) -> Result<(SessionId, TaskId), Error> {
    entry.session.zip(entry.task).ok_or_else(|| InboxError::without_task(entry).into())
}

impl Reader {
    /// Paid on a day by all sessions.
    fn money_of_day(&self, day: i64) -> Result<u64, Error> {
        let of_it = |row: &longhaul_store::views::SessionRow| row.driven.money_by_day.get(&day).copied();
        Ok(self.sessions()?.iter().filter_map(of_it).fold(0, u64::saturating_add))
    }
}
