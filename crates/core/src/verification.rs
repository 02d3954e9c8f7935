//! What came of checks: passed, failed, or one of the ways in which neither is true.
//!
//! Pure: it is given what was seen of a check, once or more often, and says what that means. Nothing that is not
//! known to have passed may count as passed.

mod empty;

use serde::{Deserialize, Serialize};

pub use empty::{NoTests, RUNNERS, no_tests};

use crate::workflow::scope::cut;
use crate::workflow::step::OnEmpty;

/// How much of a line of output stands in a reason.
const MOST_SHOWN: usize = 200;
/// What a shell answers when it does not find a program, and when it may not start it.
const NOT_FOUND: [i64; 2] = [127, 126];

/// What a check came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    Passed,
    Failed,
    /// Its command is not there, or may not be run.
    CouldNotRun,
    /// It failed, and passed when it was run again on the same files.
    Flaky,
    /// It found no tests, and has to.
    Empty,
    /// It fails without the change too.
    FailingBefore,
}

impl CheckOutcome {
    /// As it is stored and shown.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::CouldNotRun => "could_not_run",
            Self::Flaky => "flaky",
            Self::Empty => "empty",
            Self::FailingBefore => "failing_before",
        }
    }
}

/// One run of a check, as the runner saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Ran {
    /// `passed`, `failed` or `could_not_run`.
    pub outcome: String,
    pub because: Option<String>,
    pub exit: Option<i64>,
    pub ended: Option<String>,
    pub stdout: String,
    pub stderr: String,
}

/// What a check came to, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub outcome: CheckOutcome,
    /// Empty where passing says it all.
    pub because: String,
}

/// What one run says by itself.
pub fn judge(ran: &Ran, empty: OnEmpty) -> Judged {
    if ran.outcome == "could_not_run" {
        let because = ran.because.clone().unwrap_or_else(|| "it could not be started".to_owned());
        return Judged { outcome: CheckOutcome::CouldNotRun, because };
    }
    let passed = ran.outcome == "passed";
    let output = format!("{}\n{}", ran.stdout, ran.stderr);
    let none = no_tests(&output).filter(|none| passed || ran.exit.is_some_and(|exit| none.exits_with(exit)));
    match (none, empty) {
        (Some(none), OnEmpty::Fail) => {
            let because = format!("no tests were run ({}: `{}`)", none.runner, cut(&none.line, MOST_SHOWN));
            return Judged { outcome: CheckOutcome::Empty, because };
        }
        (Some(_), OnEmpty::Pass) => {
            let because = "no tests were run, which `empty: pass` allows".to_owned();
            return Judged { outcome: CheckOutcome::Passed, because };
        }
        (None, OnEmpty::Fail | OnEmpty::Pass) => {}
    }
    if passed {
        return Judged { outcome: CheckOutcome::Passed, because: String::new() };
    }
    let because = why(ran);
    let is_missing = ran.exit.is_some_and(|exit| NOT_FOUND.contains(&exit)) && names_missing(&ran.stderr);
    let outcome = if is_missing { CheckOutcome::CouldNotRun } else { CheckOutcome::Failed };
    Judged { outcome, because }
}

/// What a check that failed came to after it was run again on the same files.
pub fn judge_again(first: &Judged, again: &Ran, empty: OnEmpty) -> Judged {
    let again = judge(again, empty);
    match again.outcome {
        CheckOutcome::Passed => Judged {
            outcome: CheckOutcome::Flaky,
            because: format!(
                "it failed ({}) and passed when it was run again on the same files",
                first.because
            ),
        },
        CheckOutcome::Failed
        | CheckOutcome::CouldNotRun
        | CheckOutcome::Flaky
        | CheckOutcome::Empty
        | CheckOutcome::FailingBefore => first.clone(),
    }
}

/// What a check that fails came to after it was run on the base, without the change.
pub fn judge_before(failed: &Judged, before: &Ran, empty: OnEmpty) -> Judged {
    let before = judge(before, empty);
    match before.outcome {
        CheckOutcome::Failed => Judged {
            outcome: CheckOutcome::FailingBefore,
            because: format!("it fails without the change too: {}", before.because),
        },
        CheckOutcome::Passed
        | CheckOutcome::CouldNotRun
        | CheckOutcome::Flaky
        | CheckOutcome::Empty
        | CheckOutcome::FailingBefore => failed.clone(),
    }
}

/// What all checks came to together: the worst of them, and which it was. `None` only if all of them passed.
pub fn together<'a>(
    checks: impl IntoIterator<Item = (&'a str, &'a Judged)>,
) -> (CheckOutcome, Option<String>) {
    let bad: Vec<(&str, &Judged)> =
        checks.into_iter().filter(|(_, judged)| judged.outcome != CheckOutcome::Passed).collect();
    if bad.is_empty() {
        return (CheckOutcome::Passed, None);
    }
    let only_could_not = bad.iter().all(|(_, judged)| judged.outcome == CheckOutcome::CouldNotRun);
    let told: Vec<String> = bad
        .iter()
        .map(|(name, judged)| format!("check `{name}` {}: {}", in_words(judged.outcome), judged.because))
        .collect();
    let outcome = if only_could_not { CheckOutcome::CouldNotRun } else { CheckOutcome::Failed };
    (outcome, Some(told.join("; ")))
}

const fn in_words(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Passed => "passed",
        CheckOutcome::Failed => "failed",
        CheckOutcome::CouldNotRun => "could not be run",
        CheckOutcome::Flaky => "is flaky",
        CheckOutcome::Empty => "was empty",
        CheckOutcome::FailingBefore => "was failing before",
    }
}

fn names_missing(stderr: &str) -> bool {
    let lower = stderr.to_lowercase();
    ["not found", "no such file", "permission denied", "cannot execute"]
        .iter()
        .any(|said| lower.contains(said))
}

fn why(ran: &Ran) -> String {
    let last_line = |text: &str| {
        let line = text.trim_end().lines().last().filter(|line| !line.trim().is_empty());
        line.map(|line| cut(line, MOST_SHOWN))
    };
    let how = match (ran.exit, ran.ended.as_deref()) {
        (Some(exit), _) => format!("exit {exit}"),
        (None, Some("timed_out")) => "its time was over".to_owned(),
        (None, Some(ended)) => ended.replace('_', " "),
        (None, None) => "it did not say how it ended".to_owned(),
    };
    match last_line(&ran.stderr).or_else(|| last_line(&ran.stdout)) {
        Some(line) => format!("{how}, {line}"),
        None => how,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exited(exit: i64, stdout: &str, stderr: &str) -> Ran {
        Ran {
            outcome: if exit == 0 { "passed" } else { "failed" }.to_owned(),
            exit: Some(exit),
            ended: Some("exited".to_owned()),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            because: None,
        }
    }

    fn outcome(ran: &Ran) -> CheckOutcome {
        judge(ran, OnEmpty::Fail).outcome
    }

    #[test]
    fn one_run_says_whether_it_passed_failed_was_empty_or_could_not_be() {
        assert_eq!(outcome(&exited(0, "fine", "")), CheckOutcome::Passed);
        assert_eq!(outcome(&exited(1, "", "bad")), CheckOutcome::Failed);
        assert_eq!(outcome(&exited(0, "Ran 0 tests in 0.000s", "")), CheckOutcome::Empty);
        assert_eq!(outcome(&exited(5, "no tests ran in 0.01s", "")), CheckOutcome::Empty);
        assert_eq!(outcome(&exited(127, "", "sh: 1: jest: not found")), CheckOutcome::CouldNotRun);
        assert_eq!(outcome(&exited(127, "", "my own code")), CheckOutcome::Failed);
        let missing =
            Ran { outcome: "could_not_run".into(), because: Some("no `jest`".into()), ..Ran::default() };
        assert_eq!(judge(&missing, OnEmpty::Pass).because, "no `jest`");
        let late = Ran { outcome: "failed".into(), ended: Some("timed_out".into()), ..Ran::default() };
        assert_eq!(judge(&late, OnEmpty::Fail).because, "its time was over");
    }

    #[test]
    fn a_runner_that_fails_for_another_reason_was_not_empty() {
        let broken =
            exited(101, "test result: ok. 0 passed; 0 failed; 0 ignored", "error: could not compile");
        assert_eq!(outcome(&broken), CheckOutcome::Failed);
    }

    #[test]
    fn no_tests_may_be_allowed_also_where_the_runner_says_no_by_its_exit_code() {
        for ran in [exited(0, "0 tests", ""), exited(5, "no tests ran in 0.01s", "")] {
            let judged = judge(&ran, OnEmpty::Pass);
            assert_eq!(judged.outcome, CheckOutcome::Passed);
            assert!(judged.because.contains("empty: pass"), "{judged:?}");
        }
    }

    #[test]
    fn what_passes_the_second_time_is_flaky_and_what_fails_on_the_base_was_failing_before() {
        let failed = judge(&exited(1, "", "boom"), OnEmpty::Fail);
        assert_eq!(judge_again(&failed, &exited(0, "", ""), OnEmpty::Fail).outcome, CheckOutcome::Flaky);
        assert_eq!(judge_again(&failed, &exited(1, "", "other"), OnEmpty::Fail), failed);
        let before = judge_before(&failed, &exited(2, "", "old"), OnEmpty::Fail);
        assert_eq!(before.outcome, CheckOutcome::FailingBefore);
        assert_eq!(before.because, "it fails without the change too: exit 2, old");
        assert_eq!(judge_before(&failed, &exited(0, "", ""), OnEmpty::Fail), failed);
        // The test may be a new one, and its command with it.
        assert_eq!(judge_before(&failed, &exited(127, "", "not found"), OnEmpty::Fail), failed);
    }

    #[test]
    fn together_they_passed_only_if_each_did() {
        use CheckOutcome::{CouldNotRun, Empty, Failed, FailingBefore, Flaky, Passed};
        let judged = |outcome| Judged { outcome, because: "so".to_owned() };
        let all = |outcomes: &[CheckOutcome]| {
            let judged: Vec<Judged> = outcomes.iter().copied().map(judged).collect();
            together(judged.iter().map(|judged| ("a", judged))).0
        };
        assert_eq!(all(&[Passed, Passed]), Passed);
        for bad in [Failed, Flaky, Empty, FailingBefore] {
            assert_eq!(all(&[Passed, bad]), Failed, "{bad:?}");
            assert_eq!(all(&[CouldNotRun, bad]), Failed, "{bad:?}");
        }
        assert_eq!(all(&[Passed, CouldNotRun]), CouldNotRun);
        let flaky = judged(Flaky);
        assert_eq!(together([("unit", &flaky)]).1.unwrap(), "check `unit` is flaky: so");
    }
}
