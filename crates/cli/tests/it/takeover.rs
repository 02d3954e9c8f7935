//! A command never runs beside itself: not after a rewind, not after its runner was killed, not when a clock is
//! wrong. And what it came to is not thrown away.

use std::fs;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::running::{begin, events, plain_repository, running, wait_until};
use crate::support::{Home, files, program};
use crate::walking::{handle, id, one, workflow};

/// Notes its process id, and each earlier start of it that still lives. Then waits for the file `go`.
const ALONE: &str = r#"
for earlier in $(cat started 2>/dev/null); do
    grep -qs '^State:.[RSDTt]' "/proc/$earlier/status" && echo "$earlier" >> beside
done
echo $$ >> started
until test -e go; do sleep 0.02; done
"#;

/// A session whose command has begun to wait for `go`.
struct Begun {
    home: Home,
    first: Value,
}

impl Begun {
    fn new(options: &str) -> Self {
        Self::through(options, &[])
    }

    /// Begins it with a call that is itself started by these words.
    fn through(options: &str, words: &[&str]) -> Self {
        let home = Home::new();
        plain_repository(&home);
        fs::write(home.join("repo/work.sh"), ALONE).unwrap();
        let text = running("[sh, work.sh]").replace("into: work }", &format!("into: work{options} }}"));
        workflow(&home, "team.run.yml", &text);
        let first = begin(&home);
        let begun = Self { home, first };
        let advance = ["session", "advance", handle(&begun.first), "--notes", "Begun.", "--json"];
        let mut waiting = begun.started(words, &advance);
        wait_until("the command starts", || begun.starts().len() == 1);
        waiting.kill().unwrap();
        waiting.wait().unwrap();
        begun
    }

    /// Starts the binary, through a program that is named before it.
    fn started(&self, words: &[&str], arguments: &[&str]) -> Child {
        let binary = env!("CARGO_BIN_EXE_longhaul");
        let words: Vec<&str> =
            words.iter().copied().chain([binary]).chain(arguments.iter().copied()).collect();
        self.command(&words).spawn().unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = program(words[0]);
        command.args(&words[1..]).current_dir(self.home.join("repo")).env_clear().envs(self.home.variables());
        command.stdout(std::process::Stdio::null());
        command
    }

    fn session(&self) -> &str {
        id(&self.first)
    }

    /// The process ids of all starts of the command.
    fn starts(&self) -> Vec<String> {
        let text = fs::read_to_string(self.home.join("repo/started")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn none_ran_beside_another(&self) {
        assert!(!self.home.join("repo/beside").exists(), "two copies ran at once");
    }

    fn go(&self) {
        fs::write(self.home.join("repo/go"), "").unwrap();
    }

    /// The process that took the session last.
    fn runner(&self) -> String {
        let rows = self.home.longhaul(&["log", "show", self.session(), "--json"]).succeeded().rows();
        let taken = rows.iter().rev().find(|row| row["event"]["type"] == "driver_taken").unwrap();
        taken["event"]["driver"]["process"].to_string()
    }

    fn kill(&self, process: &str) {
        assert!(self.command(&["kill", "-9", process]).status().unwrap().success());
        wait_until("it is dead", || !lives(process));
    }

    /// A runner whose clock is half a minute ahead, so that every lease seems over to it.
    fn runner_ahead(&self) -> Child {
        self.started(&["faketime", "-f", "+30s"], &["runner", self.session()])
    }

    fn has(&self, kind: &str) -> bool {
        events(&self.home, self.session()).iter().any(|event| event == kind)
    }

    fn resume(&self) -> Value {
        one(&self.home.longhaul(&["session", "resume", self.session(), "--json"]).succeeded())["step"].clone()
    }
}

/// Nothing of a failed test shall wait for ever.
impl Drop for Begun {
    fn drop(&mut self) {
        let _ = fs::write(self.home.join("repo/go"), "");
    }
}

fn lives(process: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z') && !line.contains('X'))
}

fn ends(mut child: Child) {
    wait_until("it ends", || child.try_wait().unwrap().is_some());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_rewind_to_a_running_command_ends_it_and_its_runner_before_it_is_run_again() {
    let begun = Begun::new("");
    let (runner, first) = (begun.runner(), begun.starts().remove(0));
    let rewind = ["session", "rewind", begun.session(), "--to", "work", "--reason", "again"];
    let rewinding = begun.started(&[], &rewind);
    wait_until("the command is run again", || begun.starts().len() == 2);
    begun.none_ran_beside_another();
    assert!(!lives(&first));
    // A runner that notices by itself may be the one that takes the session again.
    assert!(!lives(&runner) || begun.runner() == runner);
    begun.go();
    ends(rewinding);
    assert_eq!((&begun.resume()["stepId"], begun.starts().len()), (&json!("last"), 2));
}

#[test]
fn a_command_that_a_rewind_left_behind_is_ended_before_another_step_leads_to_it() {
    let begun = Begun::new("");
    let rewind = ["session", "rewind", begun.session(), "--to", "first", "--reason", "again", "--json"];
    let first = one(&begun.home.longhaul(&rewind).succeeded());
    let answer = ["session", "advance", handle(&first), "--notes", "Begun again.", "--json"];
    let answering = begun.started(&[], &answer);
    wait_until("the command is run again", || begun.starts().len() == 2);
    begun.none_ran_beside_another();
    begun.go();
    ends(answering);
}

#[test]
fn a_command_that_outlived_its_runner_is_ended_before_it_is_run_again() {
    let begun = Begun::new(", rerun: true");
    let first = begun.starts().remove(0);
    begun.kill(&begun.runner());
    assert!(lives(&first), "a command outlives its runner");
    let second = begun.runner_ahead();
    wait_until("the command is run again", || begun.starts().len() == 2);
    begun.none_ran_beside_another();
    assert!(!lives(&first));
    begun.go();
    ends(second);
    assert!(begun.has("work_finished"));
}

#[test]
fn a_command_whose_outcome_is_unknown_does_not_go_on_behind_the_back_of_who_looks_at_it() {
    let begun = Begun::new("");
    let first = begun.starts().remove(0);
    begun.kill(&begun.runner());
    ends(begun.runner_ahead());
    assert!(begun.has("parked"));
    assert!(!lives(&first));
    assert_eq!(begun.starts().len(), 1);
}

#[test]
fn a_clock_that_is_ahead_takes_nothing_from_a_runner_that_lives() {
    for options in ["", ", rerun: true"] {
        let begun = Begun::new(options);
        let (runner, first) = (begun.runner(), begun.starts().remove(0));
        ends(begun.runner_ahead());
        assert!(lives(&runner) && lives(&first));
        begun.go();
        wait_until("the work ends", || begun.has("work_finished"));
        assert_eq!((begun.starts().len(), begun.has("driver_expired")), (1, false));
        assert_eq!(begun.resume()["stepId"], "last");
    }
}

#[test]
fn heavy_an_outcome_waits_for_a_disk_that_is_full_when_the_command_ends() {
    let ignoring = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"];
    let begun = Begun::through("", &ignoring);
    let (runner, command) = (begun.runner(), begun.starts().remove(0));
    let limit = |bytes: &str| {
        let arguments = ["prlimit", "--pid", &runner, &format!("--fsize={bytes}:unlimited")];
        assert!(begun.command(&arguments).status().unwrap().success());
    };
    limit("0");
    begun.go();
    wait_until("the command ends", || !lives(&command));
    // tidy: the runner gets the time to try in vain and give up, which it must not
    thread::sleep(Duration::from_secs(3));
    assert!(lives(&runner) && !begun.has("work_finished"));
    limit("unlimited");
    wait_until("the outcome is recorded", || begun.has("work_finished"));
    assert_eq!(begun.resume()["stepId"], "last");
    assert_eq!(begun.starts().len(), 1);
}

#[test]
fn a_secret_is_not_stored_in_halves_where_long_output_is_cut() {
    let home = Home::new();
    plain_repository(&home);
    let script = "i=0; while test $i -lt 4000; do printf '%s ' \"$API_TOKEN\"; i=$((i + 1)); done";
    fs::write(home.join("repo/work.sh"), script).unwrap();
    let text = running("[sh, work.sh]").replace("work.because | default(nothing)", "work.stdout");
    workflow(&home, "team.run.yml", &text);
    let first = begin(&home);
    let arguments = ["session", "advance", handle(&first), "--notes", "Begun.", "--json"];
    let last = home.run(&arguments).variable("API_TOKEN", "qzx7Kp3vW9mRt2LbN8yHc4").go().succeeded();
    let prompt = one(&last)["prompt"].to_string();
    assert!(prompt.contains("[secret:API_TOKEN] [secret:API_TOKEN]"), "the secret was printed");
    assert!(prompt.contains("bytes dropped"), "the output was cut");
    for file in files(&home.longhaul_home()) {
        let stored = fs::read(&file).unwrap();
        for half in [b"qzx7", b"W9mR", b"yHc4"] {
            let found = stored.windows(half.len()).any(|window| window == half);
            assert!(!found, "{} in {}", String::from_utf8_lossy(half), file.display());
        }
    }
}
