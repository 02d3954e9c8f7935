//! How many tasks may run at once, and who has the slots.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use longhaul_events::{TaskId, WorkspaceId};

use super::snapshot::Work;

/// How many tasks may run at once. `queue.concurrency` of the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub global: u32,
    /// In one workspace that says nothing else.
    pub workspace: u32,
    /// Workspaces with a number of their own.
    pub workspaces: BTreeMap<WorkspaceId, u32>,
    pub pipeline: BTreeMap<String, u32>,
    pub agent: BTreeMap<String, u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            global: 4,
            workspace: 2,
            workspaces: BTreeMap::new(),
            pipeline: BTreeMap::new(),
            agent: BTreeMap::new(),
        }
    }
}

/// What a limit is on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    Global,
    Workspace(WorkspaceId),
    Pipeline(String),
    Agent(String),
}

/// A limit that is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Full {
    pub limit: Limit,
    pub most: u32,
    pub holders: Vec<TaskId>,
    /// The one that waits longest, for which a slot is kept.
    pub kept_for: Option<TaskId>,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.most;
        match &self.limit {
            Limit::Global => write!(f, "{most} tasks may run at once")?,
            Limit::Workspace(workspace) => write!(f, "{most} tasks may run at once in {workspace}")?,
            Limit::Pipeline(pipeline) => write!(f, "{most} tasks may follow `{pipeline}` at once")?,
            Limit::Agent(agent) => write!(f, "{most} tasks may be done by `{agent}` at once")?,
        }
        let mut before = ": ";
        for holder in &self.holders {
            write!(f, "{before}{holder}")?;
            before = ", ";
        }
        match self.kept_for {
            Some(task) => write!(f, "{before}one kept for {task}, which has waited longest"),
            None => Ok(()),
        }
    }
}

/// Who has the slots of one limit.
struct Slots {
    most: u32,
    holders: Vec<TaskId>,
    kept_for: Option<TaskId>,
    /// As it is told, once somebody met it full.
    told: Option<Arc<Full>>,
}

impl Slots {
    fn new(most: u32) -> Self {
        Self { most, holders: Vec::new(), kept_for: None, told: None }
    }

    fn is_full(&self) -> bool {
        let taken = self.holders.len() + usize::from(self.kept_for.is_some());
        u32::try_from(taken).map_or(true, |taken| taken >= self.most)
    }

    /// All that wait for it share the words.
    fn tell(&mut self, limit: impl FnOnce() -> Limit) -> Option<Arc<Full>> {
        if !self.is_full() {
            return None;
        }
        let Self { most, holders, kept_for, told } = self;
        let full = told.get_or_insert_with(|| {
            Arc::new(Full { limit: limit(), most: *most, holders: holders.clone(), kept_for: *kept_for })
        });
        Some(Arc::clone(full))
    }

    fn change(&mut self, how: Taking, task: TaskId) {
        self.told = None;
        match how {
            Taking::Start => self.holders.push(task),
            Taking::Keep => self.kept_for = Some(task),
        }
    }
}

/// Whether a slot is taken, or kept free for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taking {
    Start,
    Keep,
}

/// The slots of all limits.
pub(super) struct Room<'s> {
    limits: &'s Limits,
    global: Slots,
    workspaces: BTreeMap<WorkspaceId, Slots>,
    pipelines: BTreeMap<&'s str, Slots>,
    agents: BTreeMap<&'s str, Slots>,
}

impl<'s> Room<'s> {
    pub(super) fn new(limits: &'s Limits) -> Self {
        let named = |most: &'s BTreeMap<String, u32>| {
            most.iter().map(|(name, most)| (name.as_str(), Slots::new(*most))).collect()
        };
        Self {
            limits,
            global: Slots::new(limits.global),
            workspaces: BTreeMap::new(),
            pipelines: named(&limits.pipeline),
            agents: named(&limits.agent),
        }
    }

    /// The first limit that leaves no room, in the order of the guide.
    pub(super) fn full(&mut self, work: &Work) -> Option<Arc<Full>> {
        if let Some(full) = self.global.tell(|| Limit::Global) {
            return Some(full);
        }
        if let Some(workspace) = work.workspace
            && let Some(full) = self.of_workspace(workspace).tell(|| Limit::Workspace(workspace))
        {
            return Some(full);
        }
        let pipeline = self.pipelines.get_mut(work.pipeline.as_str());
        if let Some(full) = pipeline.and_then(|slots| slots.tell(|| Limit::Pipeline(work.pipeline.clone()))) {
            return Some(full);
        }
        let agent = work.agent.as_deref()?;
        self.agents.get_mut(agent)?.tell(|| Limit::Agent(agent.to_owned()))
    }

    pub(super) fn take(&mut self, work: &Work, how: Taking) {
        self.global.change(how, work.task);
        if let Some(workspace) = work.workspace {
            self.of_workspace(workspace).change(how, work.task);
        }
        if let Some(slots) = self.pipelines.get_mut(work.pipeline.as_str()) {
            slots.change(how, work.task);
        }
        if let Some(slots) = work.agent.as_deref().and_then(|agent| self.agents.get_mut(agent)) {
            slots.change(how, work.task);
        }
    }

    fn of_workspace(&mut self, workspace: WorkspaceId) -> &mut Slots {
        let limits = self.limits;
        self.workspaces
            .entry(workspace)
            .or_insert_with(|| Slots::new(*limits.workspaces.get(&workspace).unwrap_or(&limits.workspace)))
    }
}
