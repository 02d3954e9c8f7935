//! Opening a session below another one: its workflow, who does it, what it may use, and what it is told.

use std::fmt::Write as _;
use std::sync::Arc;

use longhaul_core::config::SandboxLevel;
use longhaul_core::parking::ParkCode;
use longhaul_core::session::Session;
use longhaul_core::walk::children::{BRIEF, WantedChild};
use longhaul_core::workflow::Workflow;
use longhaul_core::workflow::scope::cut;
use longhaul_core::workflow::step::{Brief, Files};
use longhaul_events::{Caps, Seq, SessionEvent, SessionId};
use serde_json::Value;

use crate::children::NewChild;
use crate::commands::Commands;
use crate::error::Error;
use crate::runner::{Assignment, ReadFiles, Visits, Who};
use crate::system::System;
use crate::walling::ChosenWalls;
use crate::workers::has_hands;

/// How much of an earlier result is told.
const MOST_SHOWN: usize = 600;

impl System {
    /// Opens a session that a plan names, unless it is there, and says who does it, unless that is said. `ahead` is how many
    /// of the same workflow the plan names before it.
    pub(crate) fn open_planned(
        &self,
        commands: &Commands,
        parent: &Session,
        child: SessionId,
        wanted: &WantedChild,
        ahead: usize,
    ) -> Result<(), Error> {
        let there = commands.session_if_there(child)?;
        if there.as_ref().is_some_and(|there| there.agent.is_some() || parent.agent.is_none()) {
            return Ok(());
        }
        let missing = || {
            let reason = ParkCode::NoSuchWorkflow.reason("no such workflow", "start another session");
            Error::BadStart(vec![reason])
        };
        let workflow = commands.workflow_of(parent)?.child(&wanted.workflow).ok_or_else(missing)?;
        let assignment = match &parent.agent {
            Some(_) => Some(self.assignment_of_child(commands, parent, wanted, &workflow)?),
            None => None,
        };
        let assignment = assignment.map(|mut assignment| -> Result<Assignment, Error> {
            assignment.visits = Some(commands.visits_before(parent, child, &wanted.workflow, ahead)?);
            Ok(assignment)
        });
        let assignment = assignment.transpose()?;
        let caps = self.caps_of_child(parent)?;
        if there.is_some() {
            let Some(assignment) = assignment else { return Ok(()) };
            return commands.assign_child(parent, child, &assignment, caps);
        }
        commands.open_child(
            parent,
            NewChild {
                id: child,
                workflow: Arc::new(workflow),
                goal: wanted.goal.clone(),
                vars: wanted.vars.clone(),
                assignment,
                caps,
                checkout: commands.checkout_of(parent.id)?,
                brief: commands.brief_for(parent, &wanted.brief)?,
            },
        )?;
        Ok(())
    }

    /// What each session of a task may use. The money of the task is a cap of its own, which every turn is held to: whoever
    /// comes to it is told of that one.
    fn caps_of_child(&self, parent: &Session) -> Result<Caps, Error> {
        parent.caps.map_or_else(|| self.config().map(|config| config.caps), Ok)
    }

    /// Whoever does the steps above, or the tier that is wanted, behind the same walls and with the same files.
    fn assignment_of_child(
        &self,
        commands: &Commands,
        parent: &Session,
        wanted: &WantedChild,
        workflow: &Workflow,
    ) -> Result<Assignment, Error> {
        let Assignment { who, level, reach, reads, .. } = commands.assignment_of(parent.id)?;
        let reads = match (reads, wanted.files) {
            (None, Files::Write) => None,
            (Some(reads), _) => Some(reads),
            (None, Files::Read) => commands.workplace_of(parent)?.map(|(_, workplace)| ReadFiles {
                path: workplace.checkout.path,
                main_dir: workplace.checkout.main_dir,
            }),
        };
        let who = match (who, wanted.model.or(workflow.model)) {
            (Who::Staff(staff), Some(tier)) => Who::Staff(self.of_tier(staff, tier, workflow)?),
            (who @ (Who::Staff(_) | Who::Rehearsal(_)), _) => who,
        };
        if reads.is_some() && level == SandboxLevel::None && has_hands(&who) {
            let message =
                "without walls nothing would keep an agent with hands of its own from changing files";
            let fix = "run it behind walls, or let the session write with `files: write`";
            return Err(Error::BadStart(vec![ParkCode::ChildRefused.reason(message, fix)]));
        }
        let walls = ChosenWalls { level, reach, warning: None };
        let walls = walls.for_taint(parent.taint, &who.workers())?;
        let (level, reach) = (walls.level, walls.reach);
        Ok(Assignment { who, level, reach, setup: Vec::new(), reads, visits: None })
    }
}

impl Commands {
    /// How often sessions of the same task and workflow had been at its steps before this one.
    fn visits_before(
        &self,
        parent: &Session,
        child: SessionId,
        workflow: &str,
        ahead: usize,
    ) -> Result<Visits, Error> {
        let mut visits = Visits { ahead: u32::try_from(ahead).unwrap_or(u32::MAX), ..Visits::default() };
        let Some(reader) = self.reader() else { return Ok(visits) };
        let group = self.group_of(parent)?;
        let beside: Vec<SessionId> =
            group.into_iter().flat_map(|group| group.plan).filter_map(|planned| planned.session).collect();
        for id in reader.of_task(parent.id, workflow)? {
            if id == child || beside.contains(&id) {
                continue;
            }
            self.each_event_since(id, Seq(0), |event| {
                if let SessionEvent::StepHandedOut { step, .. } = event {
                    *visits.steps.entry(step.0.clone()).or_default() += 1;
                }
            })?;
        }
        Ok(visits)
    }

    /// What a session is told of what came before it.
    fn brief_for(&self, parent: &Session, brief: &Brief) -> Result<Option<String>, Error> {
        let mut text = String::new();
        match brief {
            Brief::Blank => {}
            Brief::Inherit => {
                // What people said about the task, and why it is tried again.
                if let Some(content) = parent.vars.get(BRIEF) {
                    let _ = writeln!(text, "{}\n", self.text(content)?);
                }
                for one in self.results_below(parent)? {
                    let word = |key: &str| one[key].as_str().unwrap_or("none").to_owned();
                    let result = match &one["result"] {
                        Value::Null => String::new(),
                        result => format!(": {}", cut(&result.to_string(), MOST_SHOWN)),
                    };
                    let _ = writeln!(text, "- `{}` {}{result}", word("workflow"), word("outcome"));
                }
            }
            Brief::Custom { include } => {
                for name in include {
                    let Some(content) = parent.vars.get(name) else { continue };
                    let value = self.shared_value(content)?;
                    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let _ = writeln!(text, "### {name}\n\n{shown}\n");
                }
            }
        }
        Ok((!text.is_empty()).then(|| format!("## What came before\n\n{}", text.trim_end())))
    }

    /// What the sessions below one came to so far, the oldest first.
    fn results_below(&self, parent: &Session) -> Result<Vec<Value>, Error> {
        let mut results = Vec::new();
        self.each_event_since(parent.id, Seq(0), |event| {
            if let SessionEvent::WorkFinished { result, .. } = event {
                results.push(result.clone());
            }
        })?;
        let mut all = Vec::new();
        for result in results {
            let value = self.content(&result)?;
            all.extend(value["children"].as_array().into_iter().flatten().cloned());
        }
        Ok(all)
    }
}
