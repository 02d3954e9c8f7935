//! `longhaul demo`: a ticket becomes a merged change on a machine that has nothing, whatever dies on the way.

mod kills;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;

use longhaul_runtime::Places;
use serde_json::{Value, json};

use crate::running::wait_until;
use crate::support::{Home, Outcome, Run, files, git, program};
use crate::walking::one;

/// A machine with an empty home and a folder for what is temporary.
struct Machine {
    home: Home,
}

impl Machine {
    fn new() -> Self {
        let home = Home::new();
        fs::create_dir(home.join("user")).unwrap();
        fs::create_dir(home.join("temp")).unwrap();
        Self { home }
    }

    fn temp(&self) -> PathBuf {
        self.home.join("temp")
    }

    fn demo(&self, more: &[&str]) -> Run<'_> {
        self.home.run(&[&["demo"], more].concat()).variable("TMPDIR", self.temp())
    }

    /// The folder of the demo that is under way or was kept.
    fn folder(&self) -> Option<PathBuf> {
        fs::read_dir(self.temp()).unwrap().next().map(|entry| entry.unwrap().path())
    }

    /// How many decisions the log of the demo has so far.
    fn decisions(&self) -> u64 {
        self.reader().and_then(|reader| reader.last_position().ok()).map_or(0, |position| position.0)
    }

    fn reader(&self) -> Option<longhaul_runtime::Reader> {
        let folder = self.folder()?;
        let places = Places::under(&folder.join("home"));
        let settings = longhaul_runtime::Settings {
            places,
            variables: std::collections::BTreeMap::new(),
            directory: folder,
            flags: Vec::new(),
        };
        longhaul_runtime::System::new(settings).reader().ok().flatten()
    }

    /// Every process that was started for a demo of this machine.
    fn processes(&self) -> Vec<u32> {
        let temp = self.temp().display().to_string();
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_ours = |number: &u32| {
            let read = |name: &str| fs::read(format!("/proc/{number}/{name}")).unwrap_or_default();
            let stands_in =
                fs::read_link(format!("/proc/{number}/cwd")).is_ok_and(|cwd| cwd.starts_with(&temp));
            stands_in || String::from_utf8_lossy(&read("environ")).contains(&temp)
        };
        numbers.filter(is_ours).collect()
    }

    /// The process that does the work.
    fn runner(&self) -> Option<u32> {
        let is_runner = |number: &u32| {
            let words = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            words.split(|byte| *byte == 0).nth(1) == Some(b"runner")
        };
        self.processes().into_iter().find(is_runner)
    }

    fn assert_nothing_is_left(&self) {
        assert_eq!(self.processes(), [0; 0]);
        assert_eq!(files(&self.temp()), Vec::<PathBuf>::new());
        assert_eq!(fs::read_dir(self.temp()).unwrap().count(), 0);
        assert_eq!(files(&self.home.join("user")), Vec::<PathBuf>::new());
        assert!(!self.home.longhaul_home().exists(), "the demo has an installation of its own");
    }
}

/// What is to be seen at the forge after every demo.
fn forge_state(shown: &Value) -> Value {
    let keys = ["outcome", "pullRequests", "merges", "comments", "ticketClosings", "mergedTree"];
    keys.iter().map(|key| ((*key).to_owned(), shown[*key].clone())).collect()
}

fn expected(tree: &Value) -> Value {
    json!({
        "outcome": {"kind": "completed"}, "pullRequests": 1, "merges": 1, "comments": 1, "ticketClosings": 1,
        "mergedTree": tree,
    })
}

fn ended(child: Child) -> Outcome {
    Outcome::of(Path::new("/no/home"), &child.wait_with_output().unwrap())
}

/// The files of the base branch of a forge.
fn merged_files(folder: &Path, into: &Path) -> Vec<(String, String)> {
    let (forge, into_text) = (folder.join("forge.git"), into.display().to_string());
    git(folder, &["clone", "--quiet", "--branch=main", &forge.display().to_string(), &into_text]);
    crate::run::tree(into)
}

#[test]
fn heavy_a_demo_ends_with_one_of_everything_and_leaves_nothing() {
    let machine = Machine::new();
    let outcome = machine.demo(&["--json"]).go();
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let shown = one(&outcome);
    assert_eq!(forge_state(&shown), expected(&shown["mergedTree"]), "{shown:#}");
    assert!(shown["mergedTree"].is_string(), "{shown:#}");
    assert_eq!(shown["proof"]["outcome"], "passed", "{shown:#}");
    assert_eq!(shown["standIns"], json!(["agent", "forge"]));
    machine.assert_nothing_is_left();
}

#[test]
fn heavy_demos_at_once_and_one_that_is_killed_come_to_the_same_tree() {
    let machines: Vec<Machine> = (0..3).map(|_| Machine::new()).collect();
    let words: [&[&str]; 3] = [&["--json", "--keep"], &["--json"], &["--json", "--crash"]];
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let running: Vec<_> = machines
            .iter()
            .zip(words)
            .map(|(machine, words)| scope.spawn(|| machine.demo(words).go()))
            .collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let shown: Vec<Value> = outcomes
        .iter()
        .map(|outcome| {
            assert_eq!(outcome.code, Some(0), "{outcome}");
            one(outcome)
        })
        .collect();
    for one in &shown {
        assert_eq!(forge_state(one), expected(&shown[0]["mergedTree"]), "{one:#}");
    }
    let crash = &shown[2]["crash"];
    assert_eq!(crash["at"], "reviews", "{crash}");
    assert!(crash["backAfterMs"].as_u64().unwrap() > 0, "{crash}");
    assert_eq!((&shown[0]["crash"], &shown[1]["crash"]), (&Value::Null, &Value::Null));
    machines[1].assert_nothing_is_left();
    machines[2].assert_nothing_is_left();

    let kept = machines[0].folder().unwrap();
    assert_eq!(
        shown[0]["folder"].as_str().unwrap().replace("[HOME]", ""),
        "/temp/".to_owned() + kept.file_name().unwrap().to_str().unwrap()
    );
    let merged = merged_files(&kept, &machines[0].home.join("clone"));
    let text = |name: &str| merged.iter().find(|(path, _)| path == name).unwrap().1.clone();
    assert!(text("src/discount.sh").contains("-ge"), "{merged:?}");
    assert!(!text("src/receipt.sh").contains("10000"), "the second finding is fixed too: {merged:?}");
    let tests = program("sh").arg(machines[0].home.join("clone/tests/run.sh")).output().unwrap();
    assert!(tests.status.success(), "{}", String::from_utf8_lossy(&tests.stdout));
}

#[test]
fn heavy_what_is_kept_can_be_looked_at_with_the_commands_that_are_told() {
    let machine = Machine::new();
    let outcome = machine.demo(&["--keep"]).go();
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let told = outcome.stdout.replace("[HOME]", machine.home.path.to_str().unwrap());
    let next: Vec<&str> = told.lines().filter_map(|line| line.trim().strip_prefix("next: cd ")).collect();
    assert_eq!(next.len(), 2, "{outcome}");
    let own = Path::new(env!("CARGO_BIN_EXE_longhaul")).parent().unwrap();
    let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap());
    let said: Vec<String> = next
        .iter()
        .map(|command| {
            let mut shell = program("sh");
            shell.args(["-c", &format!("cd {command}")]).env_clear().env("PATH", &path);
            let output = shell.env("HOME", machine.home.join("user")).output().unwrap();
            assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).into_owned()
        })
        .collect();
    assert!(said[0].contains("review") && said[0].contains("merge"), "{}", said[0]);
    assert!(said[1].contains("merged"), "{}", said[1]);
    assert_eq!(files(&machine.home.join("user")), Vec::<PathBuf>::new());
    assert_eq!(machine.processes(), [0; 0]);
}

#[test]
fn heavy_a_demo_that_is_interrupted_leaves_nothing() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let machine = Machine::new();
        let running = machine.demo(&["--json"]).start();
        wait_until("a process does the work", || machine.runner().is_some());
        let begun = machine.decisions();
        wait_until("it has got on", || machine.decisions() > begun + 5);
        assert!(program("kill").args([signal, &running.id().to_string()]).status().unwrap().success());
        let outcome = ended(running);
        assert_eq!(outcome.code, Some(3), "{signal}: {outcome}");
        assert_eq!(one(&outcome)["outcome"]["kind"], "cancelled", "{signal}: {outcome}");
        machine.assert_nothing_is_left();
    }
}
