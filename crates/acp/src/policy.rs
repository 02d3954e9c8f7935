//! What an agent is told when it asks for a permission. A table, and nothing that an agent says about itself changes
//! which row it is in.

use crate::turn::Permission;

/// Which permissions an agent gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// It is behind walls, and these decide: whatever it asks for it may do, once.
    WithinWalls,
    /// Nothing is around it but its own manners: it may look, think, change files, and use our tools. It may neither
    /// run commands nor fetch anything.
    WithoutWalls,
}

/// What an agent was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Allowed,
    Rejected,
}

/// What a tool does, as far as its agent says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Look,
    Change,
    Think,
    Run,
    Fetch,
    Ours,
    Other,
}

impl Policy {
    pub(crate) const fn answer(self, deed: Deed) -> Answer {
        match (self, deed) {
            (Self::WithinWalls, _)
            | (Self::WithoutWalls, Deed::Look | Deed::Change | Deed::Think | Deed::Ours) => Answer::Allowed,
            (Self::WithoutWalls, Deed::Run | Deed::Fetch | Deed::Other) => Answer::Rejected,
        }
    }
}

/// One of the answers that an agent offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) id: String,
    pub(crate) kind: ChoiceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChoiceKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    Unknown,
}

/// A permission that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) tool: String,
    pub(crate) title: String,
    pub(crate) deed: Deed,
    pub(crate) choices: Vec<Choice>,
}

impl Question {
    /// What we answer, and the choice that says so. Without a fitting one the question is answered as cancelled.
    pub(crate) fn settle(&self, policy: Policy) -> (Permission, Option<&str>) {
        let offered = |kind| self.choices.iter().find(|choice| choice.kind == kind).map(|choice| &*choice.id);
        let allowed = offered(ChoiceKind::AllowOnce).or_else(|| offered(ChoiceKind::AllowAlways));
        let rejected = offered(ChoiceKind::RejectOnce).or_else(|| offered(ChoiceKind::RejectAlways));
        let (answer, choice) = match (policy.answer(self.deed), allowed) {
            (Answer::Allowed, Some(choice)) => (Answer::Allowed, Some(choice)),
            (Answer::Allowed, None) | (Answer::Rejected, _) => (Answer::Rejected, rejected),
        };
        (Permission { tool: self.tool.clone(), title: self.title.clone(), answer }, choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEEDS: [Deed; 7] =
        [Deed::Look, Deed::Change, Deed::Think, Deed::Run, Deed::Fetch, Deed::Ours, Deed::Other];

    fn question(deed: Deed, kinds: &[ChoiceKind]) -> Question {
        let choices = kinds.iter().map(|kind| Choice { id: format!("{kind:?}"), kind: *kind }).collect();
        Question { tool: "t".into(), title: "T".into(), deed, choices }
    }

    #[test]
    fn within_walls_everything_is_allowed_once_and_without_them_what_stays_in_the_checkout() {
        let every = [
            ChoiceKind::RejectAlways,
            ChoiceKind::AllowAlways,
            ChoiceKind::RejectOnce,
            ChoiceKind::AllowOnce,
        ];
        let mut table = Vec::new();
        for deed in DEEDS {
            let told = [Policy::WithinWalls, Policy::WithoutWalls].map(|policy| {
                let question = question(deed, &every);
                question.settle(policy).1.unwrap().to_owned()
            });
            table.push(format!("{deed:?}: {} | {}", told[0], told[1]));
        }
        assert_eq!(
            table,
            [
                "Look: AllowOnce | AllowOnce",
                "Change: AllowOnce | AllowOnce",
                "Think: AllowOnce | AllowOnce",
                "Run: AllowOnce | RejectOnce",
                "Fetch: AllowOnce | RejectOnce",
                "Ours: AllowOnce | AllowOnce",
                "Other: AllowOnce | RejectOnce",
            ]
        );
    }

    #[test]
    fn an_answer_that_is_not_offered_is_not_given() {
        let settle = |kinds: &[ChoiceKind]| {
            let question = question(Deed::Run, kinds);
            let (permission, choice) = question.settle(Policy::WithinWalls);
            (permission.answer, choice.map(str::to_owned))
        };
        assert_eq!(settle(&[ChoiceKind::AllowAlways]), (Answer::Allowed, Some("AllowAlways".into())));
        assert_eq!(settle(&[ChoiceKind::RejectOnce]), (Answer::Rejected, Some("RejectOnce".into())));
        assert_eq!(settle(&[ChoiceKind::RejectAlways]), (Answer::Rejected, Some("RejectAlways".into())));
        assert_eq!(settle(&[ChoiceKind::Unknown]), (Answer::Rejected, None));
        assert_eq!(settle(&[]), (Answer::Rejected, None));
    }
}
