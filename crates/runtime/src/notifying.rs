//! Delivering news: by a command of the user, or to a webhook. What is told to whom is `core::notify`'s to say.
//!
//! What arrived is put on record in the daemon's stream, after it arrived. What fails is remembered in a small file, so that
//! the inbox of every process can say so; without the file it is tried again at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use longhaul_core::inbox::{Entry, Trouble};
use longhaul_core::notify::{self, Failures, Memory, Message, Rule, RuleKey, Way};
use longhaul_events::{Timestamp, WorkspaceId};
use longhaul_exec::{Captured, EDGE_BYTES, Outcome, Program};
use longhaul_gateway::post_json;

use crate::commands::Commands;
use crate::error::Error;
use crate::inbox::Desk;
use crate::system::{Settings, System};
use crate::worktrees::write_whole;

/// How long a command may take.
const COMMAND_PATIENCE: Duration = Duration::from_secs(30);
const WEBHOOK_PATIENCE: Duration = Duration::from_secs(10);
/// How much of what a command prints is kept, to say why it failed.
const KEPT_BYTES: usize = 16 * 1024;
/// How long rules are taken for what they were.
const RULES_MS: i64 = 30 * 1000;
/// More than this is not the file that we wrote.
const LARGEST_FILE: u64 = 16 << 20;

/// Tells people what is new. One at a time for an installation: the daemon's.
#[derive(Debug)]
pub struct Notifier<'a> {
    system: &'a System,
    rules: Mutex<BTreeMap<Option<WorkspaceId>, Read>>,
    /// Since when it looks. No digest from before is made up for.
    since: Timestamp,
}

/// The rules of a place, and when they were read.
type Read = (Timestamp, Vec<Rule>);

/// What came of a look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notified {
    /// The ids of what arrived.
    pub delivered: Vec<String>,
    pub failed: Vec<Undelivered>,
}

/// What did not arrive, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    pub id: String,
    pub problem: String,
}

impl<'a> Notifier<'a> {
    pub fn new(system: &'a System, since: Timestamp) -> Self {
        Self { system, rules: Mutex::new(BTreeMap::new()), since }
    }

    /// Tells what is new on the desk. It may take as long as commands and webhooks do, so it is for a thread of its own.
    pub fn look(&self, commands: &Commands, now: Timestamp, desk: &Desk) -> Result<Notified, Error> {
        let service = commands.service()?;
        let record = service.notified.iter().map(|(entry, way)| (entry.as_str(), way.as_str()));
        let mut memory = Memory::recall(record, self.failures(), self.since);
        let by_workspace = by_workspace(&desk.entries);
        let mut rules = BTreeMap::new();
        for workspace in by_workspace.keys().copied().chain([None]) {
            rules.insert(workspace, self.rules_of(workspace, now));
        }
        let everybody: Vec<Rule> = rules.values().flatten().cloned().collect();
        let present: BTreeSet<&str> = desk.entries.iter().map(|entry| entry.id.as_str()).collect();
        if memory.tidy(&everybody, &present, now) {
            self.keep(&memory.failures)?;
        }
        let mut messages = Vec::new();
        for (workspace, entries) in &by_workspace {
            messages.extend(notify::due(&rules[workspace], entries, &memory, now));
        }
        messages
            .extend(notify::digests(&rules[&None], &memory, now, |audience| desk.briefing(audience).text()));
        self.deliver(commands, messages, &mut memory, now)
    }

    /// One after the other, and each is on record before the next is told.
    fn deliver(
        &self,
        commands: &Commands,
        messages: Vec<Message>,
        memory: &mut Memory,
        now: Timestamp,
    ) -> Result<Notified, Error> {
        let mut notified = Notified::default();
        let mut failing: BTreeSet<RuleKey> = BTreeSet::new();
        for message in messages {
            // A way that has just failed is not waited for once more; what is left has its turn at the next look.
            if failing.contains(&message.rule) {
                continue;
            }
            match self.send(&message) {
                Ok(()) => {
                    let failed_before = memory.failures.clone();
                    for told in memory.delivered(&message) {
                        commands.notified(&told.entry, &told.way)?;
                    }
                    if memory.failures != failed_before {
                        self.keep(&memory.failures)?;
                    }
                    notified.delivered.push(message.id);
                }
                Err(problem) => {
                    tracing::warn!(id = message.id, %problem, "a notification did not arrive");
                    memory.failed(&message, &problem, now);
                    self.keep(&memory.failures)?;
                    failing.insert(message.rule.clone());
                    notified.failed.push(Undelivered { id: message.id, problem });
                }
            }
        }
        Ok(notified)
    }

    fn send(&self, message: &Message) -> Result<(), String> {
        match &message.way {
            Way::Command(arguments) => self.run(arguments, message),
            Way::Webhook(name) => {
                let key = self.system.key(name).map_err(|error| error.to_string())?;
                let key = key.ok_or_else(|| {
                    format!("there is no secret `{name}`; run `longhaul secret set {name}`")
                })?;
                post_json(key.reveal(), &message.body(), WEBHOOK_PATIENCE).map_err(|error| error.to_string())
            }
        }
    }

    /// No shell comes near it: a program, and what stands in its places as arguments of their own.
    fn run(&self, arguments: &[String], message: &Message) -> Result<(), String> {
        let filled: Vec<String> = arguments.iter().map(|argument| message.fill(argument)).collect();
        let (name, rest) = filled.split_first().ok_or("the command is empty")?;
        let program = Program::new(name)
            .args(rest)
            .directory(&self.system.places().config)
            .set_variable("LONGHAUL_NOTIFICATION", &message.id)
            .timeout(COMMAND_PATIENCE)
            .capture_limit_bytes(KEPT_BYTES);
        fs::create_dir_all(&self.system.places().config).map_err(|error| error.to_string())?;
        let finished = longhaul_exec::run(&program).map_err(|error| error.to_string())?;
        match finished.outcome {
            Outcome::Exited(0) => Ok(()),
            Outcome::Exited(code) => {
                Err(format!("it exited with {code}: {}", self.last_words(&finished.stderr)))
            }
            Outcome::Signalled(signal) => Err(format!("it was ended by signal {signal}")),
            Outcome::TimedOut => Err(format!("it took more than {} seconds", COMMAND_PATIENCE.as_secs())),
            Outcome::OutOfRoom | Outcome::Stopped => Err("it was stopped".to_owned()),
        }
    }

    /// The last line that it printed, without secrets.
    fn last_words(&self, stderr: &Captured) -> String {
        let Ok(scrubber) = self.system.scrubber() else { return "(not shown)".to_owned() };
        let text = stderr.to_clean_text(EDGE_BYTES, |text| scrubber.text(&text).into_owned());
        text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing").to_owned()
    }

    /// The ways that fail, for the inbox.
    pub(crate) fn troubles(&self) -> Vec<Trouble> {
        let failures = self.failures();
        if failures == Failures::default() {
            return Vec::new();
        }
        failures.troubles(&self.read_rules(None))
    }

    fn rules_of(&self, workspace: Option<WorkspaceId>, now: Timestamp) -> Vec<Rule> {
        let mut known = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(&workspace) {
            Some((at, rules)) if now.0.saturating_sub(at.0) < RULES_MS => rules.clone(),
            Some(_) | None => {
                let rules = self.read_rules(workspace);
                known.insert(workspace, (now, rules.clone()));
                rules
            }
        }
    }

    /// The user's own rules, or those of a trusted workspace if the user has none. Settings that cannot be read are in the
    /// inbox; nobody is told anything by them.
    fn read_rules(&self, workspace: Option<WorkspaceId>) -> Vec<Rule> {
        let elsewhere = workspace.and_then(|workspace| self.system_at(workspace));
        let config = match &elsewhere {
            Some(there) => there.config_of_files(),
            None => self.system.users_config(),
        };
        config.or_else(|_| self.system.users_config()).map(|config| config.notify).unwrap_or_default()
    }

    /// The same installation, seen from the checkout of a workspace.
    fn system_at(&self, id: WorkspaceId) -> Option<System> {
        let reader = self.system.reader().ok()??;
        let directory = PathBuf::from(reader.workspace(id).ok()??.checkout?);
        Some(System::new(Settings { directory, ..self.system.settings().clone() }))
    }

    fn path(&self) -> PathBuf {
        self.system.places().undelivered()
    }

    fn failures(&self) -> Failures {
        let path = self.path();
        if fs::metadata(&path).map_or(true, |found| !found.is_file() || found.len() > LARGEST_FILE) {
            return Failures::default();
        }
        fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    fn keep(&self, failures: &Failures) -> Result<(), Error> {
        let bytes = serde_json::to_vec(failures).expect("what is remembered has string keys only");
        write_whole(&self.path(), &bytes)
    }
}

fn by_workspace(entries: &[Entry]) -> BTreeMap<Option<WorkspaceId>, Vec<&Entry>> {
    let mut grouped: BTreeMap<Option<WorkspaceId>, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        grouped.entry(entry.workspace).or_default().push(entry);
    }
    grouped
}

#[cfg(test)]
mod tests;
