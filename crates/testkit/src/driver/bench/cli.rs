//! The product as a process: how fast it starts and how large it gets.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::processes::command;
use nix::sys::resource::{UsageWho, getrusage};

use super::{Args, Bar, Limit, median, micros, timed};
use crate::driver::Failure;

pub(super) const NAMES: &[&str] =
    &["git_version_ms", "longhaul_version_ms", "longhaul_version_vs_git_version", "cli_rss_mb"];

const ROUNDS: usize = 150;

pub(super) fn run(args: &Args) -> Result<Vec<Bar>, Failure> {
    let home = tempfile::tempdir()?;
    // First, because the figure is the largest of all children so far.
    let rss_mb = largest_rss_mb(&args.longhaul, home.path())?;
    let (mut git, mut own) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        git.push(micros(timed(|| finish(command("git").arg("--version")))?));
        own.push(micros(timed(|| finish(command(&args.longhaul).arg("--version")))?));
    }
    let (git, own) = (median(&git), median(&own));
    Ok(vec![
        Bar::new(NAMES[0], git / 1000.0, "ms", Limit::Reported),
        Bar::new(NAMES[1], own / 1000.0, "ms", Limit::Reported),
        Bar::new(NAMES[2], own / git, "×", Limit::AtMost(1.5)),
        Bar::new(NAMES[3], rss_mb, "MB", Limit::AtMost(20.0)),
    ])
}

/// Of calls that read, write and verify.
fn largest_rss_mb(longhaul: &Path, home: &Path) -> Result<f64, Failure> {
    let repository = home.join("repository");
    finish(command("git").args(["init", "--quiet"]).arg(&repository))?;
    let calls: [&[&str]; 5] =
        [&["--version"], &["workspace", "add"], &["workspace", "list"], &["log", "show"], &["doctor"]];
    for call in calls {
        let mut call_it = command(longhaul);
        call_it.args(call).env("LONGHAUL_HOME", home).current_dir(&repository);
        finish(&mut call_it)?;
    }
    #[expect(clippy::cast_precision_loss, reason = "some thousands of kilobytes")]
    Ok(getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss() as f64 / 1024.0)
}

pub(super) fn finish(command: &mut Command) -> Result<(), Failure> {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}
