//! Checks on the merge result: what the newest base would be with the task's files, in a checkout made for that alone.
//!
//! Nothing of it is the task's own checkout, and nothing of it stays.

mod edited;

use std::path::{Path, PathBuf};

use longhaul_agent::tools::Walls as _;
use longhaul_core::verification::{self, CheckOutcome, Judged};
use longhaul_core::workflow::step::{Check, Run, RunWhat};
use longhaul_exec::{Finished, Program};
use longhaul_git::{Base, Freshness, MergeResult, ObjectId, Proposal, Watched, secure_base};
use serde_json::{Value, json};

use super::crew::{Elsewhere, walls_around};
use super::perform::{self, check_once, ran, told};
use super::{Driven, Place, StopSwitch, could_not_run};
use crate::error::Error;
use crate::worktrees::{Lending, Lent, SetupSite, TaskFiles};

/// How much of what a set-up command printed goes into a reason.
const SHOWN_LETTERS: usize = 300;

impl Driven<'_> {
    /// Runs checks on what a merge would give.
    pub(super) fn run_on_merge(&self, run: &Run, place: &Place<'_>, stop: &StopSwitch) -> Value {
        if let Some(refused) = perform::refused(place) {
            return refused;
        }
        let RunWhat::Declared(checks) = &run.what else { return perform::no_checks() };
        if checks.is_empty() {
            return perform::no_checks();
        }
        let verified = self.system.task_files(self.commands, self.id).and_then(|files| {
            // What a runner left that was killed.
            self.system.clear_verifications(self.id)?;
            let merging = merge(&files)?;
            Ok(match merging {
                Merging::Ends(value) => value,
                Merging::Merged(merged) => {
                    Verification { driven: self, run, place, stop, files: &files, merged: &merged }
                        .all_of(checks)
                }
            })
        });
        verified.unwrap_or_else(|error| could_not_run(error.to_string()))
    }
}

/// What a merge into the newest base came to.
enum Merging {
    /// There is nothing to run checks on.
    Ends(Value),
    Merged(Merged),
}

struct Merged {
    base: ObjectId,
    /// With the merged files.
    commit: ObjectId,
    /// What is known so far.
    value: Value,
}

/// Merges the task's files into the newest base, or says why there is nothing to look at.
fn merge(files: &TaskFiles) -> Result<Merging, Error> {
    let (tree, head) = (files.tree()?, files.head());
    let kept = format!("{}-newest", files.owner);
    let base = secure_base(&files.main, &kept, files.branch.as_deref())?;
    let mut value = json!({
        "start": files.start.as_str(),
        "base": base.commit.as_str(),
        "head": head.as_ref().map(ObjectId::as_str),
        "tree": tree.as_str(),
    });
    if let Some(note) = note(&base) {
        value["note"] = json!(note);
    }
    let ends = |mut value: Value, outcome: &str, because: &str| {
        value["outcome"] = json!(outcome);
        value["because"] = json!(because);
        Merging::Ends(value)
    };
    if files.snapshots.file_changes(&files.start, &tree)?.is_empty() {
        return Ok(ends(value, "failed", "nothing was changed"));
    }
    let proposal = Proposal { start: &files.start, tree: &tree, onto: &base.commit };
    match files.snapshots.merge(&proposal)? {
        MergeResult::Conflict { files } => {
            let named: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            value["files"] = json!(named);
            let because = format!("it conflicts with `{}` in {}", base.branch, named.join(", "));
            Ok(ends(value, "conflict", &because))
        }
        MergeResult::Clean { tree: merged_tree, commit } => {
            value["merged_tree"] = json!(merged_tree.as_str());
            if files.snapshots.file_changes(&base.commit, &merged_tree)?.is_empty() {
                let because = format!("nothing was changed: `{}` has all of it already", base.branch);
                return Ok(ends(value, "failed", &because));
            }
            Ok(Merging::Merged(Merged { base: base.commit, commit, value }))
        }
    }
}

fn note(base: &Base) -> Option<String> {
    match &base.freshness {
        Freshness::Stale { remote, because } => {
            Some(format!("`{remote}` could not be fetched from, so the base may be old: {because}"))
        }
        Freshness::Fetched { .. } | Freshness::NoRemote => None,
    }
}

/// Checks that are being run on a merge result.
struct Verification<'a> {
    driven: &'a Driven<'a>,
    run: &'a Run,
    place: &'a Place<'a>,
    stop: &'a StopSwitch,
    files: &'a TaskFiles,
    merged: &'a Merged,
}

/// A checkout that checks can be run in.
struct Site<'a> {
    place: Place<'a>,
    directory: PathBuf,
    /// What it holds whenever a check begins.
    watched: Watched,
    _lent: Lent,
}

impl<'a> Verification<'a> {
    fn all_of(&self, checks: &[Check]) -> Value {
        let mut value = self.merged.value.clone();
        let site = match self.site("merge", &self.merged.commit) {
            Ok(site) => site,
            Err(because) => {
                value["outcome"] = json!("could_not_run");
                value["because"] = json!(because);
                return value;
            }
        };
        let mut before = Before::NotMade;
        let mut results = Vec::new();
        let mut judged = Vec::new();
        for check in checks.iter().take_while(|_| !self.stop.is_stopped()) {
            let (result, verdict) = self.one(check, &site, &mut before);
            results.push(result);
            judged.push((check.name.as_str(), verdict));
        }
        let (outcome, because) =
            verification::together(judged.iter().map(|(name, verdict)| (*name, verdict)));
        value["outcome"] = json!(outcome.word());
        if let Some(because) = because {
            value["because"] = json!(because);
        }
        value["checks"] = json!(results);
        value
    }

    /// A check that fails is run once more, and then without the change.
    fn one(&self, check: &Check, site: &Site<'a>, before: &mut Before<'a>) -> (Value, Judged) {
        if check.run.is_empty() {
            let result = perform::undeclared(check);
            let because = "nobody declares it".to_owned();
            return (result, Judged { outcome: CheckOutcome::CouldNotRun, because });
        }
        let once = |site: &Site<'_>| self.once(check, site);
        let seen = once(site);
        let mut verdict = verification::judge(&ran(&seen), check.empty);
        if verdict.outcome == CheckOutcome::Failed && !self.stop.is_stopped() {
            // With what it left itself: that is how it fails now and not then, and a second pass is none.
            let again = check_once(check, &site.directory, &site.place, self.stop);
            verdict = verification::judge_again(&verdict, &ran(&again), check.empty);
        }
        if verdict.outcome == CheckOutcome::Failed
            && !self.stop.is_stopped()
            && let Some(base) = before.site(|| self.site("base", &self.merged.base))
        {
            verdict = verification::judge_before(&verdict, &ran(&once(base)), check.empty);
        }
        if verdict.outcome == CheckOutcome::Passed && !self.stop.is_stopped() {
            verdict = self.unless_edited(verdict, check, site, before);
        }
        (told(check, seen, &verdict), verdict)
    }

    /// Runs a check on the files that the commit has, whatever a set-up command or the check before wrote into them:
    /// otherwise a check would be about files that nobody merges.
    fn once(&self, check: &Check, site: &Site<'_>) -> Value {
        match self.files.snapshots.put_back(&site.watched) {
            Ok(otherwise) => {
                if let Some(path) = otherwise.first() {
                    let count = otherwise.len();
                    tracing::info!(path = %path.display(), count, "files were put back before a check");
                }
                check_once(check, &site.directory, &site.place, self.stop)
            }
            Err(error) => {
                could_not_run(format!("its files could not be put back as they are committed: {error}"))
            }
        }
    }

    /// A pass, unless it is the change itself that makes the check say so.
    fn unless_edited(
        &self,
        passed: Judged,
        check: &Check,
        site: &Site<'a>,
        before: &mut Before<'a>,
    ) -> Judged {
        let could_not = |because: String| Judged { outcome: CheckOutcome::CouldNotRun, because };
        match self.edited_files(check) {
            Err(because) => could_not(because),
            Ok(names) if names.is_empty() => passed,
            Ok(names) => match before.site(|| self.site("base", &self.merged.base)) {
                Some(base) => self.judge_as_before(&passed, check, &names, &[site, base]),
                None => {
                    could_not("the change edits its files, and the base could not be checked out".to_owned())
                }
            },
        }
    }

    /// Makes a checkout ready for checks, or says why it cannot be.
    fn site(&self, name: &str, commit: &ObjectId) -> Result<Site<'a>, String> {
        let driven = self.driven;
        let lending = Lending { name, commit, onto: &self.merged.base };
        let said = |error: Error| error.to_string();
        let lent = driven.system.lend(self.files, driven.id, &lending).map_err(said)?;
        let snapshots = &self.files.snapshots;
        let git = |error: longhaul_git::Error| error.to_string();
        let mut watched =
            snapshots.watch(&format!("{}-{name}", driven.id), &lent.path, commit).map_err(git)?;
        let place = self.place_at(&lent.path).map_err(said)?;
        self.set_up(&place, &lent.path)?;
        snapshots.accept_made(&mut watched).map_err(git)?;
        snapshots.put_back(&watched).map_err(git)?;
        let directory = perform::directory(self.run, &place)?;
        Ok(Site { place, directory, watched, _lent: lent })
    }

    fn place_at(&self, path: &Path) -> Result<Place<'a>, Error> {
        let driven = self.driven;
        let sandbox = match (&self.place.sandbox, driven.commands.assignment(driven.id)?) {
            (Some(open), Some(assignment)) => {
                let elsewhere = Elsewhere { checkout: path, main_dir: &self.files.main.common_dir };
                Some(walls_around(driven.system, &assignment, &elsewhere, open))
            }
            (Some(_) | None, _) => None,
        };
        Ok(Place {
            directory: Some(path.to_owned()),
            refusal: None,
            session: driven.id,
            label: self.place.label.clone(),
            commands: driven.commands,
            sandbox,
        })
    }

    fn set_up(&self, place: &Place<'_>, path: &Path) -> Result<(), String> {
        let system = self.driven.system;
        let said = |error: Error| error.to_string();
        let pinned = match &place.sandbox {
            Some(_) => self.driven.setup.to_vec(),
            // Nobody pinned any for a session that somebody else drives; its `.longhaul/` is what it was all the same.
            None => self.files.making(system).map_err(said)?.setup,
        };
        let site = SetupSite { directory: path, ports: &self.files.ports };
        let mut perform =
            |program: &Program| (!self.stop.is_stopped()).then(|| self.run_there(place, program.clone()));
        let outcomes = system.set_up_at(&site, &pinned, &mut perform).map_err(said)?;
        match outcomes.iter().find(|outcome| outcome.outcome != "passed") {
            None => Ok(()),
            Some(bad) => {
                let skipped = bad.output.chars().count().saturating_sub(SHOWN_LETTERS);
                let ending: String = bad.output.chars().skip(skipped).collect();
                Err(format!("the set-up command `{}` did not pass: {}", bad.run.join(" "), ending.trim()))
            }
        }
    }
}

impl Verification<'_> {
    /// Runs a program behind the walls of a place, or as the checks of the session are run where it has none.
    fn run_there(&self, place: &Place<'_>, program: Program) -> Result<Finished, longhaul_exec::Error> {
        if let Some(sandbox) = &place.sandbox {
            return self.driven.walls(sandbox, self.stop).run(program);
        }
        let program = program.set_variable("LONGHAUL_SESSION", place.session.to_string()).label(&place.label);
        let running = longhaul_exec::start(&program)?;
        self.stop.watch(running.stopper());
        running.wait()
    }
}

/// The checkout of the base, made when a check fails for the first time.
enum Before<'a> {
    NotMade,
    Made(Box<Site<'a>>),
    /// Nobody can say how it was before.
    CouldNot,
}

impl<'a> Before<'a> {
    fn site(&mut self, make: impl FnOnce() -> Result<Site<'a>, String>) -> Option<&Site<'a>> {
        if matches!(self, Self::NotMade) {
            *self = match make() {
                Ok(site) => Self::Made(Box::new(site)),
                Err(error) => {
                    tracing::warn!(%error, "could not make a checkout of the base");
                    Self::CouldNot
                }
            };
        }
        match self {
            Self::Made(site) => Some(site),
            Self::NotMade | Self::CouldNot => None,
        }
    }
}
