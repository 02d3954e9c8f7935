//! `longhaul worktree info`: what is known about one worktree.

use std::fmt::Write as _;
use std::process::ExitCode;

use longhaul_runtime::{Disagreement, Source, WorktreeFile, WorktreeInfo, terminal};
use serde::Serialize;

use super::short;
use crate::context::Context;
use crate::error::CliError;

/// Show what is known about a worktree: task, branch, base, phase, rules.
///
/// Works from inside any worktree or the main checkout. What the log says counts; where the file about the worktree
/// says something else, that is shown with the code E0703. Nothing is written.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The worktree, or its session; without it, the worktree that the current folder is in.
    name: Option<String>,
}

#[derive(Debug, Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    file: &'a WorktreeFile,
    source: &'static str,
    snapshot: Option<&'a str>,
    workset: Option<&'a str>,
    pack: &'a [String],
    rules: &'a [String],
    tokens: Option<u64>,
    code: Option<&'static str>,
    stale: Vec<StaleField<'a>>,
}

#[derive(Debug, Serialize)]
struct StaleField<'a> {
    field: &'static str,
    file: Option<&'a str>,
    log: Option<&'a str>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let info = context.system()?.worktree_info(args.name.as_deref())?;
    let stale = info.stale.iter().map(|one| StaleField {
        field: one.field,
        file: one.file.as_deref(),
        log: one.log.as_deref(),
    });
    let shown = Shown {
        file: &info.file,
        source: word(info.source),
        snapshot: info.snapshot.as_deref(),
        workset: info.workset.as_deref(),
        pack: &info.pack,
        rules: &info.rules,
        tokens: info.tokens,
        code: info.code,
        stale: stale.collect(),
    };
    context.output.text(&words(&info), &shown)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) const fn word(source: Source) -> &'static str {
    match source {
        Source::Log => "log",
        Source::File => "file",
        Source::Git => "git",
        Source::Kittify => "kittify",
    }
}

fn words(info: &WorktreeInfo) -> String {
    let file = &info.file;
    let list = |names: &[String]| (!names.is_empty()).then(|| names.join(", "));
    let base = file.base_branch.as_ref().map(|branch| {
        let commit = file.base_commit.as_deref().map(short).unwrap_or_default();
        format!("{branch} {commit}").trim_end().to_owned()
    });
    let lines = [
        ("worktree", Some(file.name.clone())),
        ("path", Some(file.worktree_path.clone())),
        ("task", file.task.clone()),
        ("session", file.session.clone()),
        ("branch", file.branch.clone()),
        ("base", base),
        ("phase", file.phase.clone()),
        ("item", file.item.clone()),
        ("status", file.status.clone()),
        ("snapshot", info.snapshot.as_deref().map(short)),
        ("workset", info.workset.clone()),
        ("pack", list(&info.pack)),
        ("rules", list(&info.rules)),
        ("tokens", info.tokens.map(|tokens| tokens.to_string())),
        ("from", Some(word(info.source).to_owned())),
    ];
    let mut text = String::new();
    for (name, value) in lines {
        let value = value.map_or_else(|| "-".to_owned(), |value| terminal::visible(&value));
        let _ = writeln!(text, "{name:<9} {value}");
    }
    let said = |value: &Option<String>| value.as_deref().map_or_else(|| "nothing".into(), terminal::visible);
    for Disagreement { field, file, log } in &info.stale {
        let _ = writeln!(text, "E0703: the file says {} for `{field}`, the log {}", said(file), said(log));
    }
    if info.source == Source::File {
        let _ = writeln!(text, "E0703: the log does not know it; all of this is what its file says");
    }
    text
}
