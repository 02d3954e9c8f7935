//! Which session somebody means who wants to go on: ranked by what they said and by where they stand.

use longhaul_core::time::rfc3339;
use longhaul_events::{Checkout, SessionId, Timestamp};
use longhaul_store::views::{SessionRow, SessionStatus};
use serde::Serialize;

use super::Reader;
use super::long_notes::Found;
use crate::error::Error;

/// A session with its place in the ranking, and why it has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ranked {
    #[serde(skip)]
    pub row: SessionRow,
    pub id: SessionId,
    pub workflow: Option<String>,
    pub step: Option<String>,
    pub goal: String,
    pub because: Vec<String>,
    #[serde(skip)]
    merit: Merit,
}

/// What speaks for a session, the strongest first. The derived order is the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Merit {
    id: bool,
    /// How many of the words that were asked for are in its goal or notes.
    words: usize,
    workflow: bool,
    near: Near,
    updated_at: Timestamp,
}

/// How much of the place where it began is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Near {
    Elsewhere,
    Branch,
    Commit,
    CommitAndBranch,
}

impl Merit {
    /// All but how recent it is: being a minute newer makes nobody sure.
    fn without_time(self) -> Self {
        Self { updated_at: Timestamp(0), ..self }
    }
}

impl Reader {
    /// The sessions that may be meant, best first. With a query, only those that have something of it.
    pub fn resumable(&self, query: Option<&str>, here: Option<&Checkout>) -> Result<Vec<Ranked>, Error> {
        let rows = self.sessions()?;
        let meant = query.and_then(|query| shortened(&rows, query));
        let asked = meant.as_deref().or(query);
        let found = match asked {
            Some(asked) if meant.is_none() => self.in_long_notes(&rows, &asked_words(asked)),
            Some(_) | None => Found::new(),
        };
        let ranked = rank(rows, &Asked { query: asked, here, found: &found });
        match query {
            Some(query) if ranked.is_empty() => Err(Error::NothingToResume(query.chars().take(80).collect())),
            _ => Ok(ranked),
        }
    }
}

/// What is known of the session that is meant.
#[derive(Clone, Copy)]
struct Asked<'a> {
    query: Option<&'a str>,
    here: Option<&'a Checkout>,
    /// Words of the query that are in notes which no row holds.
    found: &'a Found,
}

/// What a sentence about time begins with.
const LAST_CHANGED: &str = "last changed ";

impl Ranked {
    /// Why it has its place, with moments written in another way.
    pub fn because_with(&self, moment: fn(&str) -> String) -> Vec<String> {
        let told = |because: &String| match because.strip_prefix(LAST_CHANGED) {
            Some(utc) => format!("{LAST_CHANGED}{}", moment(utc)),
            None => because.clone(),
        };
        self.because.iter().map(told).collect()
    }

    /// Whether it began where somebody stands now, or has something of what they said.
    pub fn is_near(&self) -> bool {
        self.merit.id || self.merit.words > 0 || self.merit.workflow || self.merit.near > Near::Elsewhere
    }
}

/// The least of an id that is taken for one rather than for a word.
const LEAST_OF_AN_ID: usize = 4;

/// The id that a word is the beginning of, where it is of one only.
fn shortened(rows: &[SessionRow], query: &str) -> Option<String> {
    let word = query.trim();
    let word = word.strip_prefix("s-").unwrap_or(word);
    if word.len() < LEAST_OF_AN_ID {
        return None;
    }
    let ids = rows.iter().map(|row| row.id.to_string());
    let mut fitting = ids.filter(|id| id["s-".len()..].starts_with(word));
    fitting.next().filter(|_| fitting.next().is_none())
}

/// The one that is clearly meant, if one is.
pub fn clear_winner(ranked: &[Ranked]) -> Option<&Ranked> {
    let first = ranked.first()?;
    let is_clear =
        ranked.get(1).is_none_or(|second| first.merit.without_time() > second.merit.without_time());
    is_clear.then_some(first)
}

fn rank(rows: Vec<SessionRow>, asked: &Asked<'_>) -> Vec<Ranked> {
    let rows = rows.into_iter().filter(|row| row.workflow.is_some() && row.damage.is_none());
    let mut ranked: Vec<Ranked> = rows.filter_map(|row| judge(row, asked)).collect();
    ranked.sort_by_key(|one| std::cmp::Reverse((one.merit, one.id)));
    ranked
}

/// `None` for a session that is not meant. A closed one is meant only by its id.
fn judge(row: SessionRow, asked: &Asked<'_>) -> Option<Ranked> {
    let mut because = Vec::new();
    let query = asked.query.map(str::trim).filter(|query| !query.is_empty());
    let id = query.is_some_and(|query| row.id.to_string() == query);
    if id {
        because.push("it has this id".to_owned());
    }
    let words = query.map(|query| words_in(&row, query, asked.found)).unwrap_or_default();
    if !words.is_empty() {
        because.push(format!("{} in its goal or notes", quoted(&words)));
    }
    let workflow = query.zip(row.workflow.as_ref()).is_some_and(|(query, id)| id.contains(query));
    if workflow {
        because.push(format!("follows `{}`", row.workflow.as_deref().unwrap_or_default()));
    }
    if !(id || row.status == SessionStatus::Open) || (query.is_some() && !id && words.is_empty() && !workflow)
    {
        return None;
    }
    let near = same_place(row.checkout.as_ref(), asked.here, &mut because);
    because.push(format!("{LAST_CHANGED}{}", rfc3339(row.updated_at)));
    let merit = Merit { id, words: words.len(), workflow, near, updated_at: row.updated_at };
    let step = row.step.as_ref().map(|step| step.0.clone());
    let (workflow, goal) = (row.workflow.clone(), row.goal.clone());
    Some(Ranked { id: row.id, workflow, step, goal, because, merit, row })
}

fn words_in(row: &SessionRow, query: &str, found: &Found) -> Vec<String> {
    let text = format!("{}\n{}", row.goal, row.notes).to_lowercase();
    let found = found.get(&row.id);
    let has = |word: &String| text.contains(word.as_str()) || found.is_some_and(|found| found.contains(word));
    asked_words(query).into_iter().filter(has).collect()
}

fn asked_words(query: &str) -> Vec<String> {
    let mut words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    words.sort();
    words.dedup();
    words
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Whether it began at this commit, and on this branch of this checkout. Where the checkout is not known, its path is
/// empty, and the branch counts alone. A commit may be shortened.
fn same_place(then: Option<&Checkout>, here: Option<&Checkout>, because: &mut Vec<String>) -> Near {
    const SHORT: usize = 10;
    const SHORTEST: usize = 7;
    let (Some(then), Some(here)) = (then, here) else { return Near::Elsewhere };
    let is_this =
        |head: &str, wanted: &str| head == wanted || (wanted.len() >= SHORTEST && head.starts_with(wanted));
    let head = then.head.as_ref().filter(|head| here.head.as_ref().is_some_and(|here| is_this(head, here)));
    because.extend(head.map(|head| format!("began at this commit ({})", &head[..SHORT.min(head.len())])));
    let on_branch = here.path.is_empty() || then.path == here.path;
    let branch = then.branch.as_ref().filter(|branch| on_branch && here.branch.as_ref() == Some(*branch));
    because.extend(branch.map(|branch| format!("began on branch `{branch}`")));
    match (head, branch) {
        (Some(_), Some(_)) => Near::CommitAndBranch,
        (Some(_), None) => Near::Commit,
        (None, Some(_)) => Near::Branch,
        (None, None) => Near::Elsewhere,
    }
}

#[cfg(test)]
mod tests {
    use longhaul_events::{CloseOutcome, Seq, StepId};
    use longhaul_store::views::{DrivenRow, Waiting};

    use super::*;

    fn rank(rows: Vec<SessionRow>, query: Option<&str>, here: Option<&Checkout>) -> Vec<Ranked> {
        super::rank(rows, &Asked { query, here, found: &Found::new() })
    }

    fn row(number: u8) -> SessionRow {
        SessionRow {
            id: SessionId::from_bytes([number; 8]),
            seq: Seq(4),
            goal: String::new(),
            workspace: None,
            parent: None,
            task: None,
            status: SessionStatus::Open,
            step: Some(StepId("do".to_owned())),
            steps_finished: 0,
            waiting: Waiting::Agent,
            workflow: Some("lh.quick-task".to_owned()),
            checkout: None,
            notes: String::new(),
            driver: None,
            concerns: longhaul_store::views::Concerns::default(),
            driven: DrivenRow::default(),
            opened_at: Timestamp(0),
            updated_at: Timestamp(i64::from(number)),
            damage: None,
        }
    }

    fn checkout(head: &str, branch: &str) -> Checkout {
        Checkout {
            path: "/repo".to_owned(),
            head: Some(head.to_owned()),
            branch: Some(branch.to_owned()),
            folder: None,
            pinned: None,
        }
    }

    fn order(ranked: &[Ranked]) -> Vec<u8> {
        ranked.iter().map(|one| one.id.as_bytes()[0]).collect()
    }

    #[test]
    fn an_id_beats_words_beat_a_workflow_beats_a_commit_beats_a_branch_beats_time() {
        let rows = vec![
            SessionRow { workflow: Some("other".to_owned()), ..row(1) },
            SessionRow { notes: "the lh.quick-task notes".to_owned(), ..row(2) },
            SessionRow { checkout: Some(checkout("aaaa", "topic")), ..row(3) },
            SessionRow { checkout: Some(checkout("bbbb", "main")), ..row(4) },
            row(5),
        ];
        let here = checkout("aaaa", "main");
        let by_workflow = rank(rows.clone(), Some("lh.quick-task"), Some(&here));
        assert_eq!(order(&by_workflow), [2, 3, 4, 5]);
        assert_eq!(order(&rank(rows.clone(), None, Some(&here))), [3, 4, 5, 2, 1]);
        let by_id = rank(rows, Some(&row(1).id.to_string()), Some(&here));
        assert_eq!(order(&by_id), [1]);
    }

    #[test]
    fn being_newer_alone_does_not_make_a_winner() {
        let two = rank(vec![row(1), row(2)], None, None);
        assert_eq!(order(&two), [2, 1]);
        assert_eq!(clear_winner(&two), None);
        assert!(clear_winner(&rank(vec![row(1)], None, None)).is_some());
        let rows = vec![SessionRow { goal: "Mend the login".to_owned(), ..row(1) }, row(2)];
        let asked = rank(rows, Some("login"), None);
        assert_eq!(clear_winner(&asked).map(|one| one.id), Some(row(1).id));
    }

    #[test]
    fn a_place_that_was_only_named_counts_without_a_checkout_and_what_is_elsewhere_is_not_near() {
        let rows =
            || vec![SessionRow { checkout: Some(checkout("aaaabbbbcccc", "topic")), ..row(1) }, row(2)];
        let named = |head: Option<&str>, branch: Option<&str>| Checkout {
            path: String::new(),
            head: head.map(str::to_owned),
            branch: branch.map(str::to_owned),
            folder: None,
            pinned: None,
        };
        for here in [named(None, Some("topic")), named(Some("aaaabbb"), None)] {
            let ranked = rank(rows(), None, Some(&here));
            assert_eq!(order(&ranked), [1, 2]);
            assert_eq!(ranked.iter().map(Ranked::is_near).collect::<Vec<_>>(), [true, false]);
        }
        let elsewhere = Checkout { path: "/other".to_owned(), ..checkout("dddd", "topic") };
        assert!(!rank(rows(), None, Some(&elsewhere)).iter().any(Ranked::is_near));
    }

    #[test]
    fn a_closed_session_is_meant_only_by_its_id() {
        let closed = SessionRow { status: SessionStatus::Closed(CloseOutcome::Completed), ..row(1) };
        assert_eq!(rank(vec![closed.clone()], None, None), []);
        assert_eq!(order(&rank(vec![closed.clone()], Some(&closed.id.to_string()), None)), [1]);
    }
}
