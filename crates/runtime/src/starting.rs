//! Starting a session from where somebody stands: which workflow, which workspace, which checkout.

use std::collections::BTreeSet;
use std::sync::Arc;

use longhaul_core::config::Config;
use longhaul_core::walk::view::StepView;
use longhaul_core::workflow::{Step, Workflow};
use longhaul_core::workspace::TrustState;
use longhaul_events::{Checkout, Reason, WorkspaceId};
use serde_json::{Map, Value};

use crate::commands::Commands;
use crate::commands::task::TaskWish;
use crate::commands::walking::StartSession;
use crate::error::{Error, TaskError};
use crate::system::System;
use crate::workspaces::{self, Located};
use crate::worktrees::StartCommit;

/// What somebody wants started.
#[derive(Debug, Clone, PartialEq)]
pub struct NewWalk {
    /// The id of a workflow, or its file.
    pub workflow: String,
    pub goal: String,
    pub vars: Map<String, Value>,
}

/// Where a session starts.
#[derive(Default)]
struct Ground {
    workspace: Option<WorkspaceId>,
    checkout: Option<Checkout>,
    /// Whether what the workspace declares counts.
    trust: Option<TrustState>,
    warnings: Vec<String>,
}

impl System {
    /// Starts a session in the current folder. A repository that nobody registered is registered, untrusted.
    pub fn begin(&self, commands: &Commands, new: NewWalk) -> Result<StepView, Error> {
        self.begin_for(commands, new, &TaskWish::default())
    }

    /// The same for a task that does not come from a person at the shell.
    pub fn begin_for(&self, commands: &Commands, new: NewWalk, wish: &TaskWish) -> Result<StepView, Error> {
        let start = self.prepared(commands, new)?;
        self.start_session_for(commands, &start, wish)
    }

    /// All that a session in the current folder starts with.
    pub(crate) fn prepared(&self, commands: &Commands, new: NewWalk) -> Result<StartSession, Error> {
        let found = self.workflow_for_start(&new.workflow)?;
        let mut workflow = found.workflow;
        // Before the ground: what it may lead to may run commands too.
        let missing = self.pin_below(Arc::make_mut(&mut workflow))?;
        let ground = self.ground(commands, &workflow)?;
        let mut warnings = found.warnings;
        warnings.extend(ground.warnings);
        warnings.extend(missing);
        let (pinned, config) = (Arc::make_mut(&mut workflow), self.config()?);
        warnings.extend(pin_settings(pinned, &config, ground.trust));
        for below in pinned.below.values_mut() {
            let said = pin_settings(below, &config, ground.trust);
            warnings.extend(said.into_iter().map(|said| format!("`{}`: {said}", below.id)));
        }
        Ok(StartSession {
            workflow,
            goal: new.goal,
            vars: new.vars,
            workspace: ground.workspace,
            checkout: ground.checkout,
            parent: None,
            warnings,
        })
    }

    /// The same with a workflow that ends after one of its phases.
    pub(crate) fn prepared_until(
        &self,
        commands: &Commands,
        new: NewWalk,
        until: Option<&str>,
    ) -> Result<StartSession, Error> {
        let mut start = self.prepared(commands, new)?;
        if let Some(phase) = until {
            Arc::make_mut(&mut start.workflow).end_after(phase).map_err(TaskError::from)?;
        }
        Ok(start)
    }

    /// Resolves every workflow that this one can lead to, so that nothing written later changes them. What is not there is
    /// told now, and is an outcome when it is wanted.
    fn pin_below(&self, workflow: &mut Workflow) -> Result<Vec<String>, Error> {
        let mut due: Vec<String> = workflow.leads_to().into_iter().map(str::to_owned).collect();
        if due.is_empty() {
            return Ok(Vec::new());
        }
        let catalog = self.catalog()?;
        let mut warnings = Vec::new();
        let mut seen: BTreeSet<String> = due.iter().cloned().collect();
        while let Some(id) = due.pop() {
            if id.contains("{{") {
                continue;
            }
            match catalog.startable(&id) {
                Ok(found) => {
                    let more = found.leads_to().into_iter().map(str::to_owned);
                    due.extend(more.filter(|id| seen.insert(id.clone())));
                    workflow.below.insert(id, Workflow::clone(&found));
                }
                Err(error) => warnings.push(format!("no session of `{id}` can be started: {error}")),
            }
        }
        Ok(warnings)
    }

    fn ground(&self, commands: &Commands, workflow: &Workflow) -> Result<Ground, Error> {
        let located = match workspaces::locate(self.directory()) {
            Ok(located) => located,
            Err(Error::Git(longhaul_git::Error::NotARepository { .. })) => {
                return outside(workflow);
            }
            Err(error) => return Err(error),
        };
        let change = commands.add_workspace(self.directory(), None)?;
        let mut warnings = Vec::new();
        if !change.unchanged {
            warnings.push(format!(
                "the repository was not registered; it is now, as workspace `{}`, and nobody trusts it yet",
                change.workspace.name
            ));
        }
        let trust = match self.folder_files(&located.repository) {
            Ok((files, _)) => change.workspace.trust_state(longhaul_core::trust::folder_hash(&files)),
            // What cannot be hashed cannot be trusted, and is no reason to refuse what does not come from there.
            Err(problem) => {
                warnings.push(format!("nothing of `.longhaul/` counts: {problem}"));
                TrustState::Untrusted
            }
        };
        if workflow.runs_commands() && matches!(trust, TrustState::Untrusted | TrustState::Changed) {
            warnings.push(
                "the workflow runs commands, and they are refused until a person trusts the workspace; see `longhaul workspace trust`"
                    .to_owned(),
            );
        }
        if workflow.all_steps().into_iter().any(asks_for_network) {
            warnings.push("`network:` of `run` steps is not enforced before there is a sandbox".to_owned());
        }
        let (workspace, checkout) = (Some(located.id), self.checkout(&located)?);
        Ok(Ground { workspace, checkout, trust: Some(trust), warnings })
    }

    /// Where the current folder stands, for comparing; `None` outside of a checkout.
    pub fn checkout_here(&self) -> Result<Option<Checkout>, Error> {
        match workspaces::locate(self.directory()) {
            Ok(located) => self.checkout(&located),
            Err(Error::Git(longhaul_git::Error::NotARepository { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Puts the workspace's checks and policies into the workflow, and says which checks nobody declares.
fn pin_settings(workflow: &mut Workflow, config: &Config, trust: Option<TrustState>) -> Vec<String> {
    workflow.pin_policy(&config.policy);
    workflow.pin_delivery(&config.delivery);
    let missing = workflow.pin_checks(&config.checks);
    let said = missing.iter().map(|missing| match trust {
        Some(TrustState::Untrusted | TrustState::Changed) => format!(
            "step `{}` runs checks of the workspace, which do not count before a person trusts it, so nothing gets beyond that step; run `longhaul workspace trust` and start again",
            missing.step
        ),
        Some(TrustState::Trusted | TrustState::Absent) | None => format!(
            "{}, so it cannot be run; add `checks:` to `.longhaul/config.yml` and start another session",
            missing.said()
        ),
    });
    said.collect()
}

fn asks_for_network(step: &Step) -> bool {
    step.kind.run().is_some_and(|run| run.network.is_some())
}

fn outside(workflow: &Workflow) -> Result<Ground, Error> {
    if !workflow.runs_commands() {
        return Ok(Ground::default());
    }
    Err(Error::BadStart(vec![Reason::new(
        "commands_outside_git",
        format!("workflow `{}` runs commands, and this folder is in no git repository", workflow.id),
        "start it in a repository; commands are run in workspaces only",
    )]))
}

impl System {
    /// Where a session starts: in the checkout here, or from the commit that counts instead.
    fn checkout(&self, located: &Located) -> Result<Option<Checkout>, Error> {
        let repository = &located.repository;
        let path = match (&repository.checkout, self.pinned()) {
            (Some(path), _) => path,
            (None, Some(_)) => repository.main_checkout.as_ref().unwrap_or(&repository.common_dir),
            (None, None) => return Ok(None),
        };
        let folder = match self.folder_files(repository) {
            Ok((files, _)) => longhaul_core::trust::folder_hash(&files),
            Err(_) => Some(workspaces::unhashable()),
        };
        let path = workspaces::text(path)?;
        if let Some(StartCommit { branch, commit }) = self.pinned().cloned() {
            let (head, branch, pinned) = (Some(commit.clone()), Some(branch), Some(commit));
            return Ok(Some(Checkout { path, head, branch, folder, pinned }));
        }
        let head = longhaul_git::head(repository)?;
        let (head, branch) = (head.commit().map(ToString::to_string), head.branch().map(str::to_owned));
        Ok(Some(Checkout { path, head, branch, folder, pinned: None }))
    }
}
