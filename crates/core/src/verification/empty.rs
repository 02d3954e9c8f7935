//! Whether a test runner says that it ran no tests. Every rule is a row of [`RUNNERS`], and a row of the guide.
//!
//! Only lines that a runner is known to print count. What ran even one test anywhere was not empty.

/// A runner, and how it tells how many tests it ran.
#[derive(Debug)]
pub struct Runner {
    pub name: &'static str,
    /// What it prints when there were none, as people see it.
    pub prints: &'static str,
    /// The exit code by which it says the same, beside 0.
    pub exit: Option<i64>,
    count: fn(&str) -> Option<u64>,
}

/// What said that there were none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoTests {
    pub runner: &'static str,
    pub line: String,
    exits: Vec<i64>,
}

impl NoTests {
    /// Whether the runner ends with this code because it found nothing.
    pub fn exits_with(&self, exit: i64) -> bool {
        self.exits.contains(&exit)
    }
}

/// In the order in which a line is held against them; the first that knows it counts it.
pub const RUNNERS: &[Runner] = &[
    Runner {
        name: "cargo test",
        prints: "test result: ok. 0 passed; 0 failed; …, or `running 0 tests` alone",
        exit: None,
        count: cargo_test,
    },
    Runner {
        name: "cargo nextest",
        prints: "Summary […] 0 tests run, or `no tests to run`",
        exit: Some(4),
        count: nextest,
    },
    Runner { name: "pytest", prints: "collected 0 items, no tests ran in …", exit: Some(5), count: pytest },
    Runner {
        name: "go test",
        prints: "? … [no test files], ok … [no tests to run]",
        exit: None,
        count: go_test,
    },
    Runner {
        name: "jest, vitest",
        prints: "No tests found, No test files found, Tests: 0 total",
        exit: Some(1),
        count: jest,
    },
    Runner { name: "mocha", prints: "0 passing, Error: No test files found", exit: Some(1), count: mocha },
    Runner { name: "node --test", prints: "ℹ tests 0, or `# tests 0`", exit: None, count: node },
    Runner { name: "TAP", prints: "1..0", exit: None, count: tap },
    Runner { name: "unittest", prints: "Ran 0 tests in …, NO TESTS RAN", exit: Some(5), count: unittest },
    Runner { name: "ctest", prints: "No tests were found!!!", exit: Some(8), count: ctest },
    Runner {
        name: "Maven, TestNG",
        prints: "Tests run: 0, Failures: 0, …, or `No tests to run.`",
        exit: None,
        count: maven,
    },
    Runner { name: "RSpec", prints: "0 examples, 0 failures", exit: None, count: rspec },
    Runner { name: "minitest", prints: "0 runs, 0 assertions, …", exit: None, count: minitest },
    Runner { name: "PHPUnit", prints: "No tests executed!, Tests: 0, …", exit: Some(1), count: phpunit },
    Runner {
        name: "XCTest, Swift Testing",
        prints: "Executed 0 tests, with 0 failures …, Test run with 0 tests …",
        exit: None,
        count: swift,
    },
    Runner { name: "bun", prints: "0 pass", exit: None, count: bun },
    Runner {
        name: "deno",
        prints: "ok | 0 passed | 0 failed …, error: No test modules found",
        exit: Some(1),
        count: deno,
    },
    Runner {
        name: "dotnet",
        prints: "No test is available in …, No test matches …, Total tests: 0",
        exit: None,
        count: dotnet,
    },
    Runner {
        name: "GoogleTest",
        prints: "[==========] Running 0 tests from …",
        exit: None,
        count: googletest,
    },
    Runner { name: "prove", prints: "Files=0, Tests=0, …, Result: NOTESTS", exit: None, count: prove },
    Runner { name: "Catch2, Dart", prints: "No tests ran", exit: Some(2), count: no_tests_ran },
    Runner { name: "plain", prints: "0 tests, as a line or the beginning of one", exit: None, count: plain },
];

/// What says that no tests were run; `None` if some were, or if nobody says.
pub fn no_tests(output: &str) -> Option<NoTests> {
    let mut found: Option<NoTests> = None;
    for line in output.lines() {
        let line = without_colour(line);
        let line = line.trim();
        let said = RUNNERS.iter().find_map(|runner| (runner.count)(line).map(|count| (runner, count)));
        match said {
            Some((_, 1..)) => return None,
            Some((runner, 0)) => {
                let known = found.get_or_insert_with(|| NoTests {
                    runner: runner.name,
                    line: line.to_owned(),
                    exits: Vec::new(),
                });
                known.exits.extend(runner.exit);
            }
            None => {}
        }
    }
    found
}

/// Colours are for people.
fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            // `ESC [ … letter`
            letters.find(char::is_ascii_alphabetic);
        } else {
            plain.push(letter);
        }
    }
    plain
}

/// The number right before a word, as in `3 passed`.
fn before(line: &str, word: &str) -> Option<u64> {
    let words: Vec<&str> =
        line.split(|letter: char| letter.is_whitespace() || ";,()[]:".contains(letter)).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.windows(2).find(|pair| pair[1] == word).and_then(|pair| pair[0].parse().ok())
}

/// The number right after a word, as in `Total: 3`.
fn after(line: &str, word: &str) -> Option<u64> {
    let rest = line.split_once(word)?.1.trim_start();
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

fn cargo_test(line: &str) -> Option<u64> {
    // More than none may all be passed over; the last line tells.
    if line.starts_with("running 0 tests") {
        return Some(0);
    }
    let rest = line.strip_prefix("test result:")?;
    Some(before(rest, "passed")? + before(rest, "failed")?)
}

fn nextest(line: &str) -> Option<u64> {
    if line.ends_with("no tests to run") && line.starts_with("error:") {
        return Some(0);
    }
    let rest = line.strip_prefix("Summary [")?;
    let rest = rest.split_once(']')?.1.trim_start();
    let (count, rest) = rest.split_once(' ')?;
    // `3/5 tests run` after it was cut short.
    let count = count.split('/').next()?;
    rest.strip_prefix("test").and_then(|_| count.parse().ok())
}

fn pytest(line: &str) -> Option<u64> {
    let bare = line.trim_matches(|letter| letter == '=' || letter == ' ');
    if bare.starts_with("no tests ran") {
        return Some(0);
    }
    if let Some(rest) = bare.strip_prefix("collected ") {
        return rest.split(' ').next()?.parse().ok().filter(|_| rest.contains("item"));
    }
    // The last line, also of `-q`: `3 passed, 1 skipped in 0.12s`
    let is_summary = bare.contains(" in ") && bare.ends_with('s');
    let counts = ["passed", "failed", "error", "errors", "xfailed", "xpassed"];
    let counted: Vec<u64> = counts.iter().filter_map(|word| before(bare, word)).collect();
    (is_summary && !counted.is_empty()).then(|| counted.iter().sum())
}

fn go_test(line: &str) -> Option<u64> {
    if line.ends_with("[no test files]") && line.starts_with('?')
        || line == "testing: warning: no tests to run"
        || line.ends_with("[no tests to run]")
    {
        return Some(0);
    }
    let mut words = line.split_whitespace();
    let is_ok = words.next() == Some("ok");
    let (package, time) = (words.next()?, words.next()?);
    let is_time =
        time == "(cached)" || time.strip_suffix('s').is_some_and(|time| time.parse::<f64>().is_ok());
    // The line of the warning comes before this one and says that it was nothing.
    (is_ok && !package.is_empty() && is_time && words.next().is_none()).then_some(1)
}

fn jest(line: &str) -> Option<u64> {
    let is_nothing = ["No tests found", "No test files found", "No test suite found"];
    if is_nothing.iter().any(|said| line.starts_with(said)) {
        return Some(0);
    }
    let rest = line.strip_prefix("Tests")?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    if rest.trim() == "no tests" {
        return Some(0);
    }
    if rest.contains("total") {
        return Some(before(rest, "passed").unwrap_or(0) + before(rest, "failed").unwrap_or(0));
    }
    // vitest: `Tests  3 passed | 1 skipped (4)`
    before(rest, "passed").or_else(|| before(rest, "failed"))
}

fn mocha(line: &str) -> Option<u64> {
    if line.starts_with("Error: No test files found") {
        return Some(0);
    }
    let (count, rest) = line.split_once(' ')?;
    let is_count = ["passing", "failing"].contains(&rest.split(' ').next()?);
    is_count.then(|| count.parse().ok())?
}

fn node(line: &str) -> Option<u64> {
    let rest = line.strip_prefix('\u{2139}').or_else(|| line.strip_prefix('#'))?;
    rest.trim_start().strip_prefix("tests ")?.trim().parse().ok()
}

fn tap(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("1..")?;
    rest.split(' ').next()?.parse().ok()
}

fn unittest(line: &str) -> Option<u64> {
    if line == "NO TESTS RAN" {
        return Some(0);
    }
    let rest = line.strip_prefix("Ran ")?;
    let (count, rest) = rest.split_once(' ')?;
    rest.starts_with("test").then(|| count.parse().ok())?
}

fn ctest(line: &str) -> Option<u64> {
    if line.starts_with("No tests were found") {
        return Some(0);
    }
    line.contains("% tests passed").then(|| after(line, "out of"))?
}

/// `[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1`
fn maven(line: &str) -> Option<u64> {
    if line.ends_with("No tests to run.") || line.ends_with("There are no tests to run.") {
        return Some(0);
    }
    let count = after(line, "ests run:")?;
    Some(count.saturating_sub(after(line, "Skipped:").or_else(|| after(line, "Skips:")).unwrap_or(0)))
}

fn rspec(line: &str) -> Option<u64> {
    if line.starts_with("No examples found") {
        return Some(0);
    }
    let count = before(line, "examples").or_else(|| before(line, "example"))?;
    let is_summary = line.starts_with(|letter: char| letter.is_ascii_digit()) && line.contains("failure");
    is_summary.then(|| count.saturating_sub(before(line, "pending").unwrap_or(0)))
}

fn minitest(line: &str) -> Option<u64> {
    let (count, rest) = line.split_once(" runs, ")?;
    let count: u64 = count.parse().ok().filter(|_| rest.contains("assertions"))?;
    Some(count.saturating_sub(before(rest, "skips").unwrap_or(0)))
}

fn phpunit(line: &str) -> Option<u64> {
    if line.starts_with("No tests executed!") {
        return Some(0);
    }
    if let Some(rest) = line.strip_prefix("OK (") {
        return rest.split_once(" test").and_then(|(count, _)| count.parse().ok());
    }
    let rest = line.strip_prefix("Tests: ").filter(|rest| rest.contains("Assertions:"))?;
    let count: u64 = rest.split(',').next()?.parse().ok()?;
    let passed_over = ["Skipped:", "Incomplete:"].iter().filter_map(|word| after(rest, word)).sum();
    Some(count.saturating_sub(passed_over))
}

fn swift(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("Executed ").or_else(|| Some(line.split_once("Test run with ")?.1))?;
    let (count, rest) = rest.split_once(' ')?;
    let count: u64 = count.parse().ok().filter(|_| rest.starts_with("test"))?;
    let skipped = before(rest, "skipped").or_else(|| {
        let (count, _) = rest.split_once(" test skipped").or_else(|| rest.split_once(" tests skipped"))?;
        count.rsplit(' ').next()?.parse().ok()
    });
    Some(count.saturating_sub(skipped.unwrap_or(0)))
}

fn bun(line: &str) -> Option<u64> {
    let (count, rest) = line.split_once(' ')?;
    ["pass", "fail"].contains(&rest).then(|| count.parse().ok())?
}

fn deno(line: &str) -> Option<u64> {
    if line.starts_with("error: No test modules found") {
        return Some(0);
    }
    let rest = line.strip_prefix("ok | ").or_else(|| line.strip_prefix("FAILED | "))?;
    Some(before(rest, "passed")? + before(rest, "failed")?)
}

fn dotnet(line: &str) -> Option<u64> {
    if line.starts_with("No test is available in") || line.starts_with("No test matches") {
        return Some(0);
    }
    if let Some(count) = line.strip_prefix("Total tests:") {
        return count.trim().parse().ok();
    }
    let is_summary = line.starts_with("Passed!") || line.starts_with("Failed!");
    is_summary.then(|| Some(after(line, "Passed:")? + after(line, "Failed:")?))?
}

fn googletest(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("[==========]")?.trim_start().strip_prefix("Running ")?;
    let (count, rest) = rest.split_once(' ')?;
    rest.starts_with("test").then(|| count.parse().ok())?
}

fn prove(line: &str) -> Option<u64> {
    if line == "Result: NOTESTS" {
        return Some(0);
    }
    line.starts_with("Files=").then(|| after(line, "Tests="))?
}

/// Dart counts before it says so: `00:00 +0: No tests ran.`
fn no_tests_ran(line: &str) -> Option<u64> {
    let bare = line.rsplit(": ").next()?.trim_matches(['=', ' ']);
    bare.starts_with("No tests ran").then_some(0)
}

fn plain(line: &str) -> Option<u64> {
    let (count, rest) = line.split_once(' ')?;
    let word = rest.split(|letter: char| !letter.is_ascii_alphabetic()).next()?;
    ["test", "tests"].contains(&word).then(|| count.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = include_str!("../../../../docs/guide/verification.md");

    #[test]
    fn the_guide_has_a_row_for_every_runner_that_is_known() {
        let (_, table) = GUIDE.split_once("| runner | what says that there were none |").unwrap();
        let rows: Vec<&str> =
            table.lines().skip(2).map_while(|line| line.strip_prefix("| ")?.split(" |").next()).collect();
        assert_eq!(rows, RUNNERS.iter().map(|runner| runner.name).collect::<Vec<_>>());
        for runner in RUNNERS {
            let row = table.lines().find(|line| line.starts_with(&format!("| {} |", runner.name))).unwrap();
            let told = runner.exit.map(|exit| format!("(exit code {exit})"));
            assert!(told.is_none_or(|told| row.contains(&told)), "{row}");
        }
    }

    fn runner(output: &str) -> Option<&'static str> {
        no_tests(output).map(|none| none.runner)
    }

    #[test]
    fn each_runner_is_understood_when_it_ran_nothing() {
        let rows = [
            (
                "cargo test",
                "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
            ),
            (
                "cargo test",
                "test result: ok. 0 passed; 0 failed; 3 ignored; 0 measured; 9 filtered out; finished in 0.00s",
            ),
            (
                "cargo nextest",
                "    Starting 0 tests across 4 binaries\n     Summary [   0.001s] 0 tests run: 0 passed, 12 skipped\nerror: no tests to run\n",
            ),
            ("cargo nextest", "error: no tests to run\n(hint: use `--no-tests` to customize)"),
            ("pytest", "==== test session starts ====\ncollected 0 items\n\n==== no tests ran in 0.01s ===="),
            ("pytest", "no tests ran in 0.00s"),
            ("go test", "?   \texample.org/a\t[no test files]\n?   \texample.org/b\t[no test files]"),
            (
                "go test",
                "testing: warning: no tests to run\nPASS\nok  \texample.org/a\t0.003s [no tests to run]",
            ),
            ("jest, vitest", "No tests found, exiting with code 1\nRun with `--passWithNoTests`"),
            ("jest, vitest", "Test Suites: 0 total\nTests:       0 total\nSnapshots:   0 total"),
            ("jest, vitest", "Tests:       2 skipped, 2 total"),
            ("jest, vitest", "No test files found, exiting with code 1"),
            ("jest, vitest", " Test Files  1 passed (1)\n      Tests  no tests"),
            ("mocha", "\n\n  0 passing (2ms)\n"),
            ("mocha", "Error: No test files found: \"test\""),
            ("node --test", "\u{2139} tests 0\n\u{2139} suites 0\n\u{2139} pass 0"),
            ("TAP", "TAP version 13\n1..0\n# tests 0\n# pass 0"),
            ("TAP", "1..0 # SKIP nothing here"),
            ("node --test", "# tests 0\n# suites 0"),
            (
                "unittest",
                "\n----------------------------------------------------------------------\nRan 0 tests in 0.000s\n\nNO TESTS RAN",
            ),
            ("cargo test", "running 0 tests"),
            ("ctest", "Test project /x/build\nNo tests were found!!!"),
            ("Maven, TestNG", "[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0"),
            ("Maven, TestNG", "Tests run: 2, Failures: 0, Errors: 0, Skipped: 2"),
            ("Maven, TestNG", "[INFO] No tests to run."),
            ("Maven, TestNG", "Total tests run: 0, Failures: 0, Skips: 0"),
            ("RSpec", "No examples found.\n\n0 examples, 0 failures"),
            ("RSpec", "2 examples, 0 failures, 2 pending"),
            ("minitest", "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips"),
            ("PHPUnit", "PHPUnit 11.0.0\n\nNo tests executed!"),
            ("PHPUnit", "OK, but some tests were skipped!\nTests: 2, Assertions: 0, Skipped: 2."),
            (
                "XCTest, Swift Testing",
                "\t Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.000) seconds",
            ),
            (
                "XCTest, Swift Testing",
                "\u{2714} Test run with 0 tests in 0 suites passed after 0.001 seconds.",
            ),
            ("bun", " 0 pass\n 0 fail"),
            ("deno", "ok | 0 passed | 0 failed (0ms)"),
            ("deno", "error: No test modules found"),
            ("dotnet", "No test is available in /x/bin/a.dll. Make sure that a discoverer is registered."),
            ("dotnet", "Total tests: 0"),
            ("GoogleTest", "[==========] Running 0 tests from 0 test suites."),
            ("prove", "Files=0, Tests=0,  0 wallclock secs\nResult: NOTESTS"),
            ("Catch2, Dart", "00:00 +0: No tests ran."),
            ("Catch2, Dart", "No tests ran"),
            ("plain", "0 tests"),
            ("plain", "0 tests, 0 failures"),
            ("plain", "\u{1b}[32m0 tests\u{1b}[0m"),
        ];
        for (name, output) in rows {
            assert_eq!(runner(output), Some(name), "{output}");
        }
        for row in RUNNERS {
            assert!(rows.iter().any(|(name, _)| *name == row.name), "no row for {}", row.name);
        }
    }

    #[test]
    fn one_test_anywhere_is_enough() {
        let rows = [
            "test result: ok. 0 passed; 0 failed; 0 ignored\ntest result: ok. 12 passed; 0 failed; 0 ignored",
            "test result: FAILED. 0 passed; 1 failed; 0 ignored",
            "     Summary [   0.001s] 3 tests run: 3 passed, 0 skipped",
            "     Summary [   0.001s] 1/5 tests run: 0 passed, 1 failed",
            "collected 3 items\n\n==== 3 passed in 0.05s ====",
            "1 failed, 2 passed in 0.30s",
            "?   \texample.org/a\t[no test files]\nok  \texample.org/b\t0.003s",
            "ok  \texample.org/b\t(cached)",
            "Tests:       1 failed, 2 passed, 3 total",
            "      Tests  3 passed (3)",
            "  3 passing (5ms)",
            "  0 passing (5ms)\n  1 failing",
            "\u{2139} tests 4",
            "TAP version 13\nok 1 - a\n1..1",
            "Ran 2 tests in 0.001s",
            "0 tests\n3 tests",
            "running 0 tests\n\nrunning 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored",
            "100% tests passed, 0 tests failed out of 3",
            "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1",
            "3 examples, 0 failures, 1 pending",
            "4 runs, 9 assertions, 0 failures, 0 errors, 0 skips",
            "OK (3 tests, 7 assertions)",
            "Tests: 3, Assertions: 7, Failures: 1.",
            "Executed 0 tests, with 0 failures\n\u{2714} Test run with 5 tests passed after 0.001 seconds.",
            " 3 pass\n 0 fail",
            "ok | 3 passed | 0 failed (2ms)",
            "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 4 ms",
            "[==========] Running 3 tests from 1 test suite.",
            "Files=2, Tests=9,  0 wallclock secs",
        ];
        for output in rows {
            assert_eq!(runner(output), None, "{output}");
        }
    }

    #[test]
    fn what_is_no_test_runner_says_nothing() {
        for output in [
            "",
            "Checking longhaul v0.1.0\n    Finished `dev` profile",
            "fixed 0 tests that were slow",
            "found 0 vulnerabilities",
            "All checks passed!",
            "0 problems",
            "1..x",
            "Tests are important.",
            "ok then",
        ] {
            assert_eq!(runner(output), None, "{output}");
        }
    }

    #[test]
    fn only_the_code_of_the_runner_that_spoke_counts_as_its_way_to_say_nothing() {
        let pytest = no_tests("no tests ran in 0.00s").unwrap();
        assert!(pytest.exits_with(5) && !pytest.exits_with(1));
        assert!(!no_tests("0 tests").unwrap().exits_with(1));
    }
}
