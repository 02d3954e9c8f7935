//! What the engine sees for itself: the change as git has it, and the proof from what is on record.

use std::sync::Arc;

use longhaul_core::proof::{Record, Sources, assemble};
use longhaul_core::session::Session;
use longhaul_core::workflow::step::Seen;
use serde_json::{Value, json};

use super::{Assignment, Driven, Who};
use crate::error::Error;

/// How deep sessions lie below each other at most; an import may claim anything.
const MOST_LEVELS: usize = 16;

impl Driven<'_> {
    /// Looks, and says what was seen or why nothing could be.
    pub(super) fn see(&self, seen: Seen) -> Value {
        let found = match seen {
            Seen::Change => {
                self.system.task_files(self.commands, self.id).and_then(|files| files.change(self.system))
            }
            Seen::Proof => self.proof(),
        };
        match found {
            Ok(value) => json!({ "found": true, "value": value }),
            Err(error) => json!({ "found": false, "because": error.to_string() }),
        }
    }

    fn proof(&self) -> Result<Value, Error> {
        let files = self.system.task_files(self.commands, self.id)?;
        let now = files.change(self.system)?;
        let line = self.line()?;
        let root = line.last().map_or(self.id, |session| session.id);
        let vars = On { driven: self, line };
        let (change, checks) = (vars.change()?, vars.checks()?);
        let (spec, scope) = (vars.said("spec")?, vars.own("scope")?);
        let (reviews, audits) = (vars.own("reviews")?, vars.own("audits")?);
        let audit_rule = vars.own("audit_rule")?;
        let record = Record {
            task: vars.line.last().and_then(|root| root.task).map(|task| task.to_string()),
            session: root.to_string(),
            goal: self.commands.goal_of(root)?,
            rehearsal: matches!(
                self.commands.assignment(root)?,
                Some(Assignment { who: Who::Rehearsal(_), .. })
            ),
            start: files.start.to_string(),
            tree: now["tree"].as_str().unwrap_or_default().to_owned(),
            change: Some(change.as_deref().unwrap_or(&now)),
            checks: checks.as_deref(),
            spec: spec.as_deref(),
            scope: scope.as_deref(),
            reviews: reviews.as_deref(),
            audits: audits.as_deref(),
            audit_rule: audit_rule.as_deref(),
        };
        Ok(assemble(&record).json())
    }

    /// This session and those above it, up to the root.
    fn line(&self) -> Result<Vec<Arc<Session>>, Error> {
        let mut line = vec![Arc::new(self.commands.load_session(self.id)?)];
        while let Some(parent) =
            line.last().and_then(|session| session.parent).filter(|_| line.len() < MOST_LEVELS)
        {
            line.push(Arc::new(self.commands.load_session(parent)?));
        }
        Ok(line)
    }
}

/// What is on record of a task, the nearest session first.
struct On<'a> {
    driven: &'a Driven<'a>,
    line: Vec<Arc<Session>>,
}

impl On<'_> {
    /// What checks on the merge result came to.
    fn checks(&self) -> Result<Option<Arc<Value>>, Error> {
        self.first(&|sources| sources.checks.iter().cloned().collect())
    }

    fn change(&self) -> Result<Option<Arc<Value>>, Error> {
        self.first(&|sources| sources.change.iter().cloned().collect())
    }

    /// A var that only the engine sets.
    fn own(&self, name: &str) -> Result<Option<Arc<Value>>, Error> {
        self.first(&|sources| sources.is_own(name).then(|| name.to_owned()).into_iter().collect())
    }

    /// A var, whoever set it.
    fn said(&self, name: &str) -> Result<Option<Arc<Value>>, Error> {
        self.first(&|_| vec![name.to_owned()])
    }

    fn first(&self, names: &dyn Fn(&Sources) -> Vec<String>) -> Result<Option<Arc<Value>>, Error> {
        let commands = self.driven.commands;
        for session in &self.line {
            let sources = Sources::of(&*commands.workflow_of(session)?);
            for name in names(&sources) {
                let Some(content) = session.vars.get(&name) else { continue };
                let value = commands.shared_value(content)?;
                if !value.is_null() {
                    return Ok(Some(value));
                }
            }
        }
        Ok(None)
    }
}
