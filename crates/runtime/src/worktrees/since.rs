//! What happened to the files of a session since they were last kept, in words for an agent.

use longhaul_events::SessionId;
use longhaul_git::{ObjectId, Since};

use super::Place;
use super::keeping::ChangedFile;
use crate::commands::Commands;
use crate::error::Error;
use crate::system::System;

/// How much an agent is told at once.
const MOST_FILES: usize = 50;
const MOST_PATCH_BYTES: usize = 16 * 1024;

impl System {
    /// What differs from a tree that was kept.
    pub(crate) fn changed_since(
        &self,
        commands: &Commands,
        id: SessionId,
        tree: &str,
    ) -> Result<String, Error> {
        let place = Place::of(commands.load_session(id)?)?;
        let Some(tree) = ObjectId::parse(tree) else { return Ok(NOTHING_KEPT.to_owned()) };
        let (snapshots, checkout, session) =
            (place.snapshots(self.places())?, place.checkout()?, id.to_string());
        let since = snapshots.since(&place.wanted(&checkout, "", &session), &tree, MOST_PATCH_BYTES)?;
        Ok(in_words(since))
    }
}

pub(crate) const NOTHING_KEPT: &str = "There is no snapshot from before it to compare with.";

fn in_words(since: Since) -> String {
    let Since { changes, patch } = since;
    if changes.is_empty() {
        return "No file differs from the last snapshot before it.".to_owned();
    }
    let more = changes.len().saturating_sub(MOST_FILES);
    let files = changes.into_iter().take(MOST_FILES).map(ChangedFile::from);
    let mut lines = vec!["What differs from the last snapshot before it:".to_owned()];
    lines.extend(files.map(|file| format!("- {} {}", file.change, file.path)));
    if more > 0 {
        lines.push(format!("- and {more} more"));
    }
    let patch = match patch {
        Some(patch) => String::from_utf8_lossy(&patch).into_owned(),
        None => "The patch is too long to be shown; look at the files.".to_owned(),
    };
    format!("{}\n\n{patch}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use longhaul_git::{Change, ChangeKind};

    use super::*;

    fn changed(count: usize) -> Vec<Change> {
        let change = |number| Change { kind: ChangeKind::Added, path: format!("file-{number}").into() };
        (0..count).map(change).collect()
    }

    #[test]
    fn an_agent_is_told_the_files_and_a_patch_that_can_be_read() {
        assert!(
            in_words(Since { changes: Vec::new(), patch: Some(Vec::new()) }).starts_with("No file differs")
        );
        let told = in_words(Since { changes: changed(52), patch: None });
        assert!(told.contains("- added file-49\n- and 2 more"), "{told}");
        assert!(told.contains("too long to be shown"), "{told}");
        let told = in_words(Since { changes: changed(1), patch: Some(b"+line\n".to_vec()) });
        assert!(told.ends_with("- added file-0\n\n+line\n"), "{told}");
    }
}
