//! The triggers that there are: those of workspaces, from their trusted `.longhaul/triggers.yml`, and the user's own.
//!
//! Each trigger belongs to one workspace, and its id is its own there. A file that is wrong or not trusted is listed with
//! what is the matter, serves nothing, and keeps no other from being served.

mod adding;
mod error;
mod found;
mod trying;

use longhaul_core::trigger::{self, Start, Switch, Trigger};
use longhaul_core::workflow::diagnostic::Diagnostic;
use longhaul_core::workflow::suggest::closest;
use longhaul_events::WorkspaceId;

pub use adding::{AddedTrigger, NewTrigger, TriggerPlace};
pub use error::TriggerError;
pub use trying::Trial;

pub use longhaul_core::schedule::Upcoming;
pub use longhaul_core::trigger::{Line, OFFERED, Offer, Outcome, Owner, Shown, is_id};

use crate::commands::queueing::TriggerName;
use crate::error::Error;
use crate::system::System;

/// Files of triggers, and what could not be looked at.
#[derive(Debug, Clone, Default)]
pub struct Triggers {
    pub files: Vec<TriggerFile>,
    pub problems: Vec<String>,
}

/// One file of triggers.
#[derive(Debug, Clone)]
pub struct TriggerFile {
    pub owner: Owner,
    /// As people are shown it.
    pub path: String,
    /// To show findings in: secrets that somebody wrote out are struck through.
    pub text: String,
    pub triggers: Vec<Placed>,
    pub diagnostics: Vec<Diagnostic>,
    pub trusted: bool,
}

/// A trigger, and the workspace that it works in.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub trigger: Trigger,
    /// None if nobody registered it, or one of that name.
    pub workspace: Option<WorkspaceId>,
    pub workspace_name: String,
    /// Counted from one.
    pub line: usize,
}

/// Whether a trigger does anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerState {
    Ok,
    /// `enabled: false`.
    Off,
    /// Its file is not trusted as it is now.
    Untrusted,
    /// Its file has errors.
    Invalid,
    /// Of a kind that this release does not serve.
    Unserved,
}

impl TriggerState {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Off => "off",
            Self::Untrusted => "untrusted",
            Self::Invalid => "invalid",
            Self::Unserved => "unserved",
        }
    }
}

/// One trigger with its file.
#[derive(Debug, Clone, Copy)]
pub struct TriggerEntry<'a> {
    pub file: &'a TriggerFile,
    pub placed: &'a Placed,
}

impl TriggerFile {
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

impl TriggerEntry<'_> {
    pub const fn trigger(&self) -> &Trigger {
        &self.placed.trigger
    }

    /// What no other trigger is called: `shop/nightly-audit`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.placed.workspace_name, self.placed.trigger.id)
    }

    /// How it is called on record, if its workspace is known.
    pub fn on_record(&self) -> Option<TriggerName> {
        let workspace = Some(self.placed.workspace?);
        Some(TriggerName { name: self.placed.trigger.id.clone(), workspace })
    }

    pub fn state(&self) -> TriggerState {
        if self.file.has_errors() {
            TriggerState::Invalid
        } else if !self.file.trusted {
            TriggerState::Untrusted
        } else if self.trigger().start == Start::Github {
            TriggerState::Unserved
        } else {
            match self.trigger().switch {
                Switch::On => TriggerState::Ok,
                Switch::Off => TriggerState::Off,
            }
        }
    }
}

impl Triggers {
    pub fn entries(&self) -> impl Iterator<Item = TriggerEntry<'_>> {
        self.files
            .iter()
            .flat_map(|file| file.triggers.iter().map(move |placed| TriggerEntry { file, placed }))
    }

    /// By id, or by workspace and id where several workspaces have one of that id.
    pub fn find(&self, text: &str) -> Result<TriggerEntry<'_>, TriggerError> {
        let mut fitting =
            self.entries().filter(|entry| entry.trigger().id == text || entry.full_name() == text);
        match (fitting.next(), fitting.next()) {
            (Some(entry), None) => Ok(entry),
            (None, _) => {
                let known: Vec<String> = self.entries().map(|entry| entry.trigger().id.clone()).collect();
                let meant = closest(text, known.iter().map(String::as_str)).map(str::to_owned);
                Err(TriggerError::Unknown { id: text.to_owned(), meant })
            }
            (Some(one), Some(other)) => {
                let shown =
                    |entry: TriggerEntry<'_>| format!("{} in `{}`", entry.full_name(), entry.file.path);
                let fitting = [one, other].map(shown).join(", ");
                Err(TriggerError::Ambiguous { id: text.to_owned(), fitting })
            }
        }
    }
}

/// What is wrong with a file that was named.
#[derive(Debug, Clone)]
pub struct CheckedTriggers {
    pub path: String,
    /// As in [`TriggerFile`].
    pub text: String,
    pub diagnostics: Vec<Diagnostic>,
}

impl System {
    /// What is wrong with the files that can be seen from here: also what names something that is not there.
    pub fn check_triggers(&self) -> Result<Vec<CheckedTriggers>, Error> {
        let catalog = self.catalog()?;
        let roster = self.roster()?;
        let mut checked = Vec::new();
        for file in self.triggers()?.files {
            let mut diagnostics = file.diagnostics;
            for placed in &file.triggers {
                let trigger = &placed.trigger;
                let mut warn = |message: String, fix: String| {
                    diagnostics
                        .push(Diagnostic::warning(trigger.span.start..trigger.span.start, message).fix(fix));
                };
                if let Some(id) = &trigger.work.pipeline
                    && let Err(problem) = catalog.find(id)
                {
                    warn(
                        format!("trigger `{}`: {problem}", trigger.id),
                        "name another, or add it".to_owned(),
                    );
                }
                if let Some(agent) = &trigger.work.agent
                    && let Err(problem) = roster.resolve(agent)
                {
                    warn(
                        format!("trigger `{}`: {problem}", trigger.id),
                        "name another, or add it".to_owned(),
                    );
                }
                if let Start::Webhook(webhook) = &trigger.start
                    && self.key(webhook.secret.as_str())?.is_none()
                {
                    let message =
                        format!("trigger `{}`: the secret `{}` is not set", trigger.id, webhook.secret);
                    warn(message, format!("run `longhaul secret set {}`", webhook.secret.as_str()));
                }
            }
            checked.push(CheckedTriggers { path: file.path, text: file.text, diagnostics });
        }
        Ok(checked)
    }

    /// What is wrong with a file by itself, wherever it is.
    pub fn check_trigger_file(&self, path: &str, text: &str, owner: Owner) -> CheckedTriggers {
        let diagnostics = trigger::read(text, owner).diagnostics;
        CheckedTriggers { path: path.to_owned(), text: trigger::hide_literals(text), diagnostics }
    }
}
