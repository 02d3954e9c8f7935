//! The words of a delivery: the commit, the pull request.

use longhaul_core::canonical;
use longhaul_core::delivery::{MessageParts, PullParts, TEMPLATE_PLACES, message, pull_body, subject};
use longhaul_git::ObjectId;
use serde_json::json;

use super::Trouble;
use super::ground::Ground;

const TEMPLATE_FOLDER: &str = ".github/PULL_REQUEST_TEMPLATE";

/// What a title gets that shows no type of its own.
const GUESSED: &str = "feat: ";
/// A longer one would be cut.
const LONGEST_SENTENCE: usize = 64;

/// Whoever helped, as git's trailers have it.
const COAUTHOR_ADDRESS: &str = "longhaul@localhost";

pub(super) fn commit(ground: &Ground) -> String {
    let agent = ground.agent.as_deref().map_or("Longhaul".to_owned(), |agent| format!("{agent} (Longhaul)"));
    let coauthor = format!("{agent} <{COAUTHOR_ADDRESS}>");
    let task = ground.task.map(|task| task.to_string());
    let session = ground.session().to_string();
    message(&MessageParts {
        chosen: Some(&title(ground)),
        goal: &ground.goal,
        summary: ground.summary.as_deref(),
        task: task.as_deref(),
        session: &session,
        coauthor: ground.settings.coauthor.then_some(coauthor.as_str()),
    })
}

/// The author's words; else what the hand-off says was done, because a goal may say what is wrong; else the goal.
pub(super) fn title(ground: &Ground) -> String {
    if let Some(chosen) = &ground.wanted.subject {
        return subject(chosen);
    }
    let done = ground.summary.as_deref().and_then(first_sentence);
    typed(done.unwrap_or(&ground.goal), &ground.goal, ground.is_bug.then_some("fix"))
}

/// A type that the words do not show is taken from the goal, or from what is known of the work.
fn typed(words: &str, goal: &str, known: Option<&str>) -> String {
    let (title, of_goal) = (subject(words), subject(goal));
    let guessed = title.strip_prefix(GUESSED).filter(|_| !words.trim_start().starts_with(GUESSED));
    let kind = of_goal.split_once(": ").map(|(kind, _)| kind).filter(|kind| *kind != "feat");
    match (guessed, kind.or(known)) {
        (Some(rest), Some(kind)) => format!("{kind}: {rest}"),
        (Some(_), None) | (None, _) => title,
    }
}

/// One that fits into a title.
fn first_sentence(text: &str) -> Option<&str> {
    let line = text.trim().lines().next()?;
    let sentence = line.split_once(". ").map_or(line, |(first, _)| first).trim();
    (8..=LONGEST_SENTENCE).contains(&sentence.chars().count()).then_some(sentence)
}

/// The text of the pull request, in the repository's own template if the base has one.
pub(super) fn pull(ground: &Ground, base: &ObjectId) -> Result<String, Trouble> {
    let template = template(ground, base)?;
    let session = ground.session().to_string();
    Ok(pull_body(&PullParts {
        template: template.as_deref(),
        goal: &ground.goal,
        summary: ground.summary.as_deref(),
        proof: ground.proof.as_ref(),
        ticket: ground.ticket,
        session: &session,
    }))
}

/// From the base, not from the change: whoever made that has no say in how it is told.
fn template(ground: &Ground, base: &ObjectId) -> Result<Option<String>, Trouble> {
    let snapshots = &ground.snapshots;
    let mut places: Vec<String> = TEMPLATE_PLACES.map(str::to_owned).into();
    let several = snapshots.names_in(base, TEMPLATE_FOLDER)?;
    let first = several.iter().filter(|name| name.to_lowercase().ends_with(".md")).min();
    places.extend(first.map(|name| format!("{TEMPLATE_FOLDER}/{name}")));
    for place in places {
        if let Some(bytes) = snapshots.file_of(base, &place)? {
            return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    Ok(None)
}

/// A short name for words that are long.
pub(super) fn digest(words: &[&str]) -> String {
    let hash = canonical::hash(&json!(words)).expect("words are plain JSON");
    hash.to_string().chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_what_was_done_with_a_type_from_whatever_shows_one() {
        let goal = "An order of exactly 100.00 gets no discount";
        assert_eq!(
            typed("The comparison takes the limit in", goal, Some("fix")),
            "fix: the comparison takes the limit in"
        );
        assert_eq!(
            typed("The comparison takes the limit in", "Fix the discount", None),
            "fix: the comparison takes the limit in"
        );
        assert_eq!(typed("Add a till", goal, None), "feat: add a till");
        assert_eq!(typed("docs: say it", "Fix it", Some("fix")), "docs: say it");
        assert_eq!(first_sentence("It is off. And more."), Some("It is off"));
        assert_eq!(first_sentence("Done."), None);
    }
}
