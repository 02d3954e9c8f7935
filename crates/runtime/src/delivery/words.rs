//! The words of a delivery: the commit, the pull request.

use longhaul_core::canonical;
use longhaul_core::delivery::{MessageParts, PullParts, TEMPLATE_PLACES, message, pull_body, subject};
use longhaul_git::ObjectId;
use serde_json::json;

use super::Trouble;
use super::ground::Ground;

const TEMPLATE_FOLDER: &str = ".github/PULL_REQUEST_TEMPLATE";

/// Whoever helped, as git's trailers have it.
const COAUTHOR_ADDRESS: &str = "longhaul@localhost";

pub(super) fn commit(ground: &Ground) -> String {
    let agent = ground.agent.as_deref().map_or("Longhaul".to_owned(), |agent| format!("{agent} (Longhaul)"));
    let coauthor = format!("{agent} <{COAUTHOR_ADDRESS}>");
    let task = ground.task.map(|task| task.to_string());
    let session = ground.session().to_string();
    message(&MessageParts {
        chosen: ground.wanted.subject.as_deref(),
        goal: &ground.goal,
        summary: ground.summary.as_deref(),
        task: task.as_deref(),
        session: &session,
        coauthor: ground.settings.coauthor.then_some(coauthor.as_str()),
    })
}

pub(super) fn title(ground: &Ground) -> String {
    subject(ground.wanted.subject.as_deref().unwrap_or(&ground.goal))
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
