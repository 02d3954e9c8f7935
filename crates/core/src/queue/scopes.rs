//! Which files are spoken for: by tasks that run, and by those that are next where files are in their way.

use std::collections::BTreeMap;
use std::fmt;

use longhaul_events::{TaskId, WorkspaceId};

use super::snapshot::{UnknownScope, Work};
use crate::policy::glob::Shape;

/// A scope of more patterns than this is taken for one of everything.
const MOST_PATTERNS: usize = 100;

/// Why two tasks do not run at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap {
    pub with: TaskId,
    pub whose: Whose,
    pub on: Clash,
}

/// Whose files they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    Runs,
    /// It does not run yet, and goes first.
    IsNext,
}

/// What two tasks have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clash {
    Patterns {
        own: String,
        theirs: String,
    },
    /// Nobody said what this one touches, and the settings want such a task to run alone.
    OwnScopeUnknown,
    /// The same of the other one.
    TheirScopeUnknown,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { with, whose, on } = self;
        let whose = match whose {
            Whose::Runs => "which runs",
            Whose::IsNext => "which goes first",
        };
        match on {
            Clash::Patterns { own, theirs } if own == theirs => {
                write!(f, "overlaps with {with}, {whose}, on `{own}`")
            }
            Clash::Patterns { own, theirs } => {
                write!(f, "overlaps with {with}, {whose}, on `{own}` and `{theirs}`")
            }
            Clash::OwnScopeUnknown => {
                write!(f, "may overlap with {with}, {whose}: its own scope is unknown")
            }
            Clash::TheirScopeUnknown => {
                write!(f, "may overlap with {with}, {whose}: the scope of that is unknown")
            }
        }
    }
}

struct Spoken<'s> {
    task: TaskId,
    scope: Vec<Shape<'s>>,
    whose: Whose,
}

fn shapes(work: &Work) -> Vec<Shape<'_>> {
    work.scope.iter().map(|pattern| Shape::of(pattern)).collect()
}

/// Who has spoken for files, by workspace.
pub(super) struct Scopes<'s> {
    unknown: UnknownScope,
    spoken: BTreeMap<WorkspaceId, Vec<Spoken<'s>>>,
}

impl<'s> Scopes<'s> {
    pub(super) const fn new(unknown: UnknownScope) -> Self {
        Self { unknown, spoken: BTreeMap::new() }
    }

    pub(super) fn take(&mut self, work: &'s Work, whose: Whose) {
        if let Some(workspace) = work.workspace {
            let spoken = Spoken { task: work.task, scope: shapes(work), whose };
            self.spoken.entry(workspace).or_default().push(spoken);
        }
    }

    /// Whether somebody of a workspace who does not run has spoken for files.
    pub(super) fn has_next(&self, workspace: WorkspaceId) -> bool {
        let spoken = self.spoken.get(&workspace);
        spoken.is_some_and(|spoken| spoken.iter().any(|spoken| spoken.whose == Whose::IsNext))
    }

    pub(super) fn overlap(&self, work: &Work) -> Option<Overlap> {
        let spoken = self.spoken.get(&work.workspace?)?;
        let own = shapes(work);
        spoken.iter().find_map(|Spoken { task, scope, whose }| {
            let on = clash(&own, scope, self.unknown)?;
            Some(Overlap { with: *task, whose: *whose, on })
        })
    }
}

fn clash(own: &[Shape<'_>], theirs: &[Shape<'_>], unknown: UnknownScope) -> Option<Clash> {
    let serialises = unknown == UnknownScope::Serialise;
    let is_too_much = own.len().max(theirs.len()) > MOST_PATTERNS;
    let on = |own: &Shape<'_>, theirs: &Shape<'_>| {
        let (own, theirs) = (own.pattern().to_owned(), theirs.pattern().to_owned());
        Clash::Patterns { own, theirs }
    };
    match (own, theirs) {
        ([], _) => serialises.then_some(Clash::OwnScopeUnknown),
        (_, []) => serialises.then_some(Clash::TheirScopeUnknown),
        ([first, ..], [other, ..]) if is_too_much => Some(on(first, other)),
        (own, theirs) => own.iter().find_map(|own| {
            let theirs = theirs.iter().find(|theirs| own.overlaps(theirs))?;
            Some(on(own, theirs))
        }),
    }
}
