//! Repositories that come from spec-kitty: `.kittify/workspaces/*.json`, in its old and its new form. Read only.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::WorktreeError;
use super::file::{Entry, WorktreeFile, small_file};

fn folder(common_dir: &Path) -> Option<PathBuf> {
    let top = common_dir.parent().filter(|_| common_dir.file_name().is_some_and(|name| name == ".git"))?;
    Some(top.join(".kittify/workspaces"))
}

pub(super) fn read(common_dir: &Path, name: &str) -> Option<Result<WorktreeFile, WorktreeError>> {
    let path = folder(common_dir)?.join(format!("{name}.json"));
    path.exists().then(|| read_path(common_dir, &path))
}

pub(super) fn all(common_dir: &Path) -> Vec<Entry> {
    let Some(folder) = folder(common_dir) else { return Vec::new() };
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let paths = paths.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let mut found: Vec<Entry> = paths
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Entry { name, read: read_path(common_dir, &path) }
        })
        .collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn read_path(common_dir: &Path, path: &Path) -> Result<WorktreeFile, WorktreeError> {
    let malformed = |problem: String| WorktreeError::Malformed { path: path.to_owned(), problem };
    let bytes = small_file(path).map_err(|error| malformed(error.to_string()))?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
    // The new form speaks of missions and lanes where the old one has features and work packages.
    let text = |names: &[&str]| names.iter().find_map(|name| value[*name].as_str()).map(str::to_owned);
    let list = |name: &str| {
        let words = value[name].as_array().into_iter().flatten();
        words.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let Some(place) = text(&["worktree_path"]) else {
        return Err(malformed("it has no `worktree_path`".to_owned()));
    };
    let top = common_dir.parent().unwrap_or(common_dir);
    Ok(WorktreeFile {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        task: text(&["mission_slug", "feature_slug"]),
        worktree_path: top.join(place).to_string_lossy().into_owned(),
        branch: text(&["branch_name", "branch"]),
        base_branch: text(&["base_branch"]),
        base_commit: text(&["base_commit"]),
        dependencies: list("dependencies"),
        owned_files: list("owned_files"),
        created_at: text(&["created_at"]),
        created_by: text(&["created_by"]),
        vcs_backend: text(&["vcs_backend"]),
        item: text(&["current_wp", "wp_id", "lane_id"]),
        status: text(&["status"]),
        ..WorktreeFile::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_and_malformed_is_said() {
        let home = tempfile::tempdir().unwrap();
        let common = home.path().join(".git");
        let folder = home.path().join(".kittify/workspaces");
        fs::create_dir_all(&folder).unwrap();
        let old = r#"{"wp_id":"WP02","feature_slug":"010-x","worktree_path":".worktrees/010-x-WP02","branch_name":"010-x-WP02","base_branch":"010-x-WP01","base_commit":"abc","dependencies":["WP01"],"created_at":"2026-01-23T10:00:00Z","created_by":"implement","vcs_backend":"git"}"#;
        fs::write(folder.join("010-x-WP02.json"), old).unwrap();
        let new = r#"{"lane_id":"lane-a","current_wp":"WP03","mission_slug":"011-y","worktree_path":".worktrees/011-y-lane-a","branch_name":"kitty/011-y-lane-a","base_branch":"main","lane_wp_ids":["WP03"]}"#;
        fs::write(folder.join("011-y-lane-a.json"), new).unwrap();
        fs::write(folder.join("bad.json"), "{}").unwrap();
        let first = read(&common, "010-x-WP02").unwrap().unwrap();
        let place = home.path().join(".worktrees/010-x-WP02");
        assert_eq!(
            (first.item.as_deref(), first.worktree_path.as_str()),
            (Some("WP02"), place.to_str().unwrap())
        );
        assert_eq!(first.dependencies, ["WP01"]);
        let second = read(&common, "011-y-lane-a").unwrap().unwrap();
        assert_eq!((second.task.as_deref(), second.item.as_deref()), (Some("011-y"), Some("WP03")));
        let said: Vec<bool> = all(&common).into_iter().map(|entry| entry.read.is_ok()).collect();
        assert_eq!(said, [true, true, false]);
        assert!(read(&common, "none").is_none());
    }
}
