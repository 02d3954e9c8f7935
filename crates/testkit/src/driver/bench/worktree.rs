//! `worktree info` as a process, beside the least that git does, with a thousand worktrees on file.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::cli::finish;
use super::{Args, Bar, Limit, median, micros, timed};
use crate::driver::Failure;
use crate::processes::command;

pub(super) const NAMES: &[&str] = &["git_rev_parse_ms", "worktree_info_ms", "worktree_info_vs_git"];

const ROUNDS: usize = 100;
const WORKTREES: usize = 1000;

pub(super) fn run(args: &Args) -> Result<Vec<Bar>, Failure> {
    let home = tempfile::tempdir()?;
    let repository = home.path().join("repository");
    let git = |arguments: &[&str]| {
        let mut git = command("git");
        git.args(arguments).current_dir(&repository).env("GIT_CONFIG_GLOBAL", "/dev/null");
        for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
            git.env(name, "a@example.org");
        }
        git
    };
    let longhaul = |arguments: &[&str]| {
        let mut own = command(&args.longhaul);
        own.args(arguments).env("LONGHAUL_HOME", home.path().join("home")).current_dir(&repository);
        own
    };
    fs::create_dir_all(&repository)?;
    finish(&mut git(&["init", "--quiet"]))?;
    finish(&mut git(&["commit", "--quiet", "--allow-empty", "--message=one"]))?;
    let start = ["session", "start", "--workflow", "lh.quick-task", "--goal", "measure", "--json"];
    let session = answer(&mut longhaul(&start), "sessionId")?;
    let path = answer(&mut longhaul(&["worktree", "new", &session, "--json"]), "path")?;
    let folder = repository.join(".git/longhaul/worktrees");
    for number in 0..WORKTREES {
        let text = json!({"name": format!("other-{number}"), "worktree_path": format!("/nowhere/{number}")});
        fs::write(folder.join(format!("other-{number}.json")), text.to_string())?;
    }
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        theirs.push(micros(timed(|| finish(git(&["rev-parse", "HEAD"]).current_dir(&path)))?));
        ours.push(micros(timed(|| finish(longhaul(&["worktree", "info"]).current_dir(&path)))?));
    }
    let (theirs, ours) = (median(&theirs), median(&ours));
    Ok(vec![
        Bar::new(NAMES[0], theirs / 1000.0, "ms", Limit::Reported),
        Bar::new(NAMES[1], ours / 1000.0, "ms", Limit::Reported),
        Bar::new(NAMES[2], ours / theirs, "×", Limit::AtMost(3.0)),
    ])
}

/// One field of the JSON that a call prints.
fn answer(command: &mut Command, field: &str) -> Result<String, Failure> {
    let output = command.output()?;
    let value: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(value[field].as_str().ok_or("the field is missing")?.to_owned())
}
