//! Running commands and checks. Could not run, failed and passed are three outcomes.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use longhaul_core::verification::{self, CheckOutcome, Judged, Ran};
use longhaul_core::workflow::step::{Check, Run, RunOn, RunWhat};
use longhaul_core::workflow::template;
use longhaul_exec::{Captured, EDGE_BYTES, Finished, Outcome, Program};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::permission::Refusal;
use super::{Place, StopSwitch, could_not_run, never_in_this_session};
use crate::commands::walking::WorkOrder;

/// How much of a program's output is kept, and what is dropped beside a gap in it.
const OUTPUT_BYTES: usize = 32 * 1024 + 2 * EDGE_BYTES;

/// What will be run, after templates.
pub(super) fn plan(run: &Run, order: &WorkOrder) -> Value {
    match &run.what {
        RunWhat::Command(_) => json!({ "command": command(run, order) }),
        RunWhat::Declared(checks) => match run.on {
            RunOn::Checkout => json!({ "checks": checks }),
            RunOn::Merge => json!({ "checks": checks, "on": "merge" }),
        },
        RunWhat::Checks(_) => json!({ "checks": [] }),
    }
}

/// What stands in the place of a value that was taken out.
const MARKS: [&str; 2] = ["[redacted]", "[secret:"];

/// Why nothing may be run in a place, as an outcome.
pub(super) fn refused(place: &Place<'_>) -> Option<Value> {
    place.refusal.as_ref().map(|refusal| match refusal {
        Refusal::Mendable(because) => could_not_run(because),
        Refusal::Final(because) => never_in_this_session(because),
    })
}

/// What a workspace without checks comes to.
pub(super) fn no_checks() -> Value {
    never_in_this_session("the workspace declares no checks; add `checks:` to `.longhaul/config.yml`")
}

/// What a check comes to that nobody declares.
pub(super) fn undeclared(check: &Check) -> Value {
    let mut result = never_in_this_session(
        "the workspace declares no check of this name; add it to `checks:` in `.longhaul/config.yml`",
    );
    result["name"] = json!(check.name);
    result
}

pub(super) fn run(run: &Run, order: &WorkOrder, place: &Place<'_>, stop: &StopSwitch) -> Value {
    if let Some(refused) = refused(place) {
        return refused;
    }
    let directory = match directory(run, place) {
        Ok(directory) => directory,
        Err(problem) => return could_not_run(problem),
    };
    match &run.what {
        RunWhat::Command(_) => {
            let command = command(run, order);
            // In a shell the mark is a pattern, and would name other files than the value did.
            if command.iter().any(|word| MARKS.iter().any(|mark| word.contains(mark))) {
                return never_in_this_session(
                    "a secret or redacted value was taken out of the command; let the command read it from a variable or a file of its own",
                );
            }
            let limit = Duration::from_millis(run.timeout_ms);
            let program = program(&command, &directory, place).timeout(limit);
            Attempt { program: &program, command: &command, place }.result(stop)
        }
        RunWhat::Declared(checks) if !checks.is_empty() => all_of(checks, &directory, place, stop),
        RunWhat::Declared(_) | RunWhat::Checks(_) => no_checks(),
    }
}

fn all_of(checks: &[Check], directory: &Path, place: &Place<'_>, stop: &StopSwitch) -> Value {
    let results: Vec<Value> = checks
        .iter()
        // Nobody asks for the outcome of what was stopped.
        .take_while(|_| !stop.is_stopped())
        .map(|check| {
            if check.run.is_empty() {
                return undeclared(check);
            }
            let result = check_once(check, directory, place, stop);
            let judged = verification::judge(&ran(&result), check.empty);
            told(check, result, &judged)
        })
        .collect();
    let has = |outcome: &str| results.iter().any(|result| result["outcome"] == outcome);
    if has("empty") && !has("failed") {
        let empty = results.iter().find(|result| result["outcome"] == "empty");
        let because =
            empty.map(|check| format!("check `{}`: {}", word(check, "name"), word(check, "because")));
        return json!({ "outcome": "failed", "because": because, "checks": results });
    }
    let outcome = match (has("failed"), has("could_not_run")) {
        (true, _) => "failed",
        (false, true) => "could_not_run",
        (false, false) => "passed",
    };
    json!({ "outcome": outcome, "checks": results })
}

/// Runs a check once, and says what was seen of it.
pub(super) fn check_once(check: &Check, directory: &Path, place: &Place<'_>, stop: &StopSwitch) -> Value {
    let limit = Duration::from_millis(check.timeout_ms);
    let program = program(&check.run, directory, place).timeout(limit);
    Attempt { program: &program, command: &check.run, place }.result(stop)
}

/// What was seen of a check, to be judged.
pub(super) fn ran(result: &Value) -> Ran {
    Ran::deserialize(result).unwrap_or_default()
}

/// What was seen of a check, with its name and what it came to.
pub(super) fn told(check: &Check, mut seen: Value, judged: &Judged) -> Value {
    seen["name"] = json!(check.name);
    // A check that passed or failed has said why itself.
    if seen["outcome"] != judged.outcome.word() || judged.outcome == CheckOutcome::Passed {
        seen["outcome"] = json!(judged.outcome.word());
        if !judged.because.is_empty() {
            seen["because"] = json!(judged.because);
        }
    }
    seen
}

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn command(run: &Run, order: &WorkOrder) -> Vec<String> {
    match &run.what {
        RunWhat::Command(words) => words.iter().map(|word| template::render(word, &order.scope())).collect(),
        RunWhat::Checks(_) | RunWhat::Declared(_) => Vec::new(),
    }
}

pub(super) fn directory(run: &Run, place: &Place<'_>) -> Result<PathBuf, String> {
    let top = place.directory.clone().ok_or("the session has no checkout")?;
    let Some(inner) = &run.dir else { return Ok(top) };
    let inner = Path::new(inner);
    if !inner.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(format!("`dir: {}` leads out of the checkout; name a folder inside it", inner.display()));
    }
    let inner = top.join(inner);
    let inside = |real: PathBuf| top.canonicalize().is_ok_and(|top| real.starts_with(top));
    if !inner.canonicalize().is_ok_and(inside) {
        return Err(format!("`{}` is no folder of the checkout", inner.display()));
    }
    Ok(inner)
}

fn program(command: &[String], directory: &Path, place: &Place<'_>) -> Program {
    let program = Program::new(command.first().map_or("", String::as_str))
        .args(command.iter().skip(1).cloned())
        .directory(directory)
        .set_variable("LONGHAUL_SESSION", place.session.to_string())
        .label(&place.label)
        .capture_limit_bytes(OUTPUT_BYTES);
    match &place.sandbox {
        Some(sandbox) => program.sandbox(sandbox.clone()),
        None => program,
    }
}

/// A command that is about to be run.
struct Attempt<'a> {
    program: &'a Program,
    command: &'a [String],
    place: &'a Place<'a>,
}

impl Attempt<'_> {
    fn result(&self, stop: &StopSwitch) -> Value {
        if stop.is_stopped() {
            return could_not_run("the session was stopped before it began");
        }
        let finished = longhaul_exec::start(self.program).and_then(|running| {
            stop.watch(running.stopper());
            running.wait()
        });
        match finished {
            Ok(finished) => self.value(&finished),
            Err(error) => {
                let mut value = could_not_run(error.to_string());
                value["command"] = json!(self.command);
                value
            }
        }
    }

    fn value(&self, finished: &Finished) -> Value {
        let (exit, ended) = match finished.outcome {
            Outcome::Exited(status) => (Some(status), "exited"),
            Outcome::Signalled(_) => (None, "signalled"),
            Outcome::TimedOut => (None, "timed_out"),
            Outcome::OutOfRoom => (None, "out_of_room"),
            Outcome::Stopped => (None, "stopped"),
        };
        json!({
            "outcome": if finished.succeeded() { "passed" } else { "failed" },
            "exit": exit,
            "ended": ended,
            "command": self.command,
            "stdout": self.text(&finished.stdout),
            "stderr": self.text(&finished.stderr),
            "duration_ms": u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// Secrets go before the edges of a gap do: what is left of one that lies across an edge is not recognised.
    fn text(&self, captured: &Captured) -> String {
        let edge_bytes = EDGE_BYTES.max(self.place.commands.scrubber().longest_bytes());
        captured.to_clean_text(edge_bytes, |text| self.place.commands.scrubbed(&text))
    }
}
