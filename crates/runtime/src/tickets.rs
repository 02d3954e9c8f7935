//! A ticket of the forge as what a task is for.

use longhaul_core::task::Source;
use longhaul_forge::{Forge as _, LocalForge, Pull, PullState, State};

use crate::error::{Error, TaskError};
use crate::system::System;

/// What somebody wrote down as wanted. It comes from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    pub goal: String,
    pub source: Source,
    pub labels: Vec<String>,
}

impl System {
    /// The ticket of this number in the forge of the repository here. One that is closed, or that an open pull request is
    /// for, is refused.
    pub fn ticket(&self, number: u64) -> Result<Ticket, Error> {
        let forge = self.find_forge(None, LocalForge::OURS)?;
        let issue = forge.issue(number).map_err(Error::from)?;
        let source = Source::forge(&forge.name(), number);
        match issue.state {
            State::Open => {}
            State::Closed => return Err(TaskError::TicketClosed { number }.into()),
        }
        let open = forge.pulls(Some(PullState::Open)).map_err(Error::from)?;
        if let Some(pull) = open.iter().find(|pull| is_for(pull, number)) {
            return Err(TaskError::PullOpen { number, pull: pull.number, url: pull.url.clone() }.into());
        }
        let goal = [issue.title.trim(), issue.body.trim()];
        let goal: Vec<&str> = goal.into_iter().filter(|text| !text.is_empty()).collect();
        Ok(Ticket { goal: goal.join("\n\n"), source, labels: issue.labels })
    }
}

/// Whether a pull request says that it is for a ticket, in our words or in those that forges know.
fn is_for(pull: &Pull, number: u64) -> bool {
    let mark = format!("#{number}");
    let text = format!("{}\n{}", pull.title, pull.body);
    text.match_indices(&mark).any(|(at, _)| {
        let after = text[at + mark.len()..].chars().next();
        let before = text[..at].split_whitespace().next_back().unwrap_or_default().to_lowercase();
        let words =
            ["for", "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];
        !after.is_some_and(|letter| letter.is_ascii_digit()) && words.contains(&before.trim_matches(':'))
    })
}

#[cfg(test)]
mod tests {
    use longhaul_forge::Readiness;

    use super::*;

    #[test]
    fn a_pull_request_is_for_a_ticket_if_it_says_so() {
        let pull = |body: &str| Pull {
            number: 1,
            url: String::new(),
            title: "Mend it".to_owned(),
            body: body.to_owned(),
            author: "ada".to_owned(),
            head: "work".to_owned(),
            base: "main".to_owned(),
            readiness: Readiness::Ready,
            state: PullState::Open,
            labels: Vec::new(),
            comments: Vec::new(),
            reviews: Vec::new(),
            merged: None,
        };
        for body in ["For #3.", "It closes #3", "Fixes: #3\nand more"] {
            assert!(is_for(&pull(body), 3), "{body}");
        }
        for body in ["", "For #31.", "see #3", "For 3"] {
            assert!(!is_for(&pull(body), 3), "{body}");
        }
    }
}
