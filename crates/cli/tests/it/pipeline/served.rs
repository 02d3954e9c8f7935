//! Tasks that nobody starts: a daemon takes them from the queue to the merge, however often it is killed.

use std::collections::BTreeSet;
use std::fs;
use std::process::Child;

use longhaul_runtime::forge::{Forge as _, PullState};
use longhaul_testkit::Dice;
use longhaul_testkit::{full, processes, seed};
use serde_json::Value;

use super::world::{Script, World};
use crate::running::wait_until;

/// A script that adds a file of its own, so that no two tasks are about the same.
fn adding(number: usize) -> Script {
    let file = format!("src/extra-{number}.sh");
    let mut script = Script::running(&format!("echo 'echo {number}' > {file}")).declaring(&[&file], &[&file]);
    script.handoff["files"] = serde_json::json!([file]);
    script.handoff["summary"] = serde_json::json!(format!("Add number {number}."));
    script
}

impl World {
    fn queue(&self, number: usize) -> String {
        let cassette = self.home.join(format!("queued-{number}.yml"));
        fs::write(&cassette, adding(number).text()).unwrap();
        let (cassette, goal) = (cassette.display().to_string(), format!("Add number {number}"));
        let words =
            ["queue", "add", &goal, "--pipeline", "lh.pipeline.quick", "--cassette", &cassette, "--json"];
        let added = self.home.run(&words).inside("till").go().succeeded();
        added.rows()[0]["id"].as_str().unwrap().to_owned()
    }

    fn serve(&self) -> Child {
        self.home.run(&["daemon", "run"]).start()
    }

    fn states(&self) -> Vec<(String, String)> {
        let rows = self.home.longhaul(&["task", "list", "--all", "--json"]).succeeded().rows();
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        rows.iter().map(|row| (text(row, "id"), text(row, "state"))).collect()
    }

    fn all_completed(&self) -> bool {
        self.states().iter().all(|(_, state)| state == "completed")
    }

    /// Every task has one pull request, which is merged, and main has the file of each once.
    fn everything_was_done_once(&self, tasks: usize) {
        let states = self.states();
        assert!(states.len() == tasks && states.iter().all(|(_, state)| state == "completed"), "{states:?}");
        let pulls = self.forge().pulls(None).unwrap();
        assert_eq!(pulls.len(), tasks, "{:?}", pulls.iter().map(|pull| &pull.title).collect::<Vec<_>>());
        assert!(pulls.iter().all(|pull| pull.state == PullState::Merged));
        assert!(pulls.iter().all(|pull| pull.comments.len() <= 1), "one comment, edited in place");
        let log = self.forge_git(&["log", "--format=%s", "main"]);
        let subjects: Vec<&str> = log.lines().filter(|subject| subject.contains("number")).collect();
        assert_eq!(subjects.len(), tasks, "{log}");
        assert_eq!(subjects.iter().collect::<BTreeSet<_>>().len(), tasks, "{log}");
        for number in 0..tasks {
            let told = self.forge_git(&["show", &format!("main:src/extra-{number}.sh")]);
            assert_eq!(told, format!("echo {number}"));
        }
    }

    /// Processes of this home: the daemon, runners, and what those started.
    fn processes(&self) -> Vec<u32> {
        processes::with_variable("LONGHAUL_HOME", &self.home.longhaul_home())
    }
}

#[test]
fn a_daemon_takes_what_is_queued_to_the_merge() {
    let world = World::new();
    (0..2).for_each(|number| drop(world.queue(number)));
    let mut daemon = world.serve();
    wait_until("all are delivered", || world.all_completed());
    processes::terminate(daemon.id());
    assert!(daemon.wait().unwrap().success());
    world.everything_was_done_once(2);
    wait_until("nothing is left", || world.processes().is_empty());
}

/// 200 rounds with 20 tasks at the full level.
#[test]
fn heavy_a_daemon_that_is_killed_again_and_again_delivers_everything_once() {
    let (rounds, tasks) = if full() { (200, 20) } else { (6, 3) };
    let world = World::new();
    (0..tasks).for_each(|number| drop(world.queue(number)));
    let mut dice = Dice::new(seed());
    for round in 0..rounds {
        let mut daemon = world.serve();
        let after = std::time::Duration::from_millis(dice.below(1500));
        std::thread::sleep(after); // tidy: the moment of the kill is what is being tested
        let _ = daemon.kill();
        let _ = daemon.wait();
        // In every other round all that runs dies with it, as when a machine loses power.
        if round % 2 == 1 {
            for process in world.processes() {
                // It may have ended by itself meanwhile.
                let _ = processes::kill(process);
            }
        }
        if world.all_completed() {
            break;
        }
    }
    let mut daemon = world.serve();
    wait_until("all are delivered", || world.all_completed());
    processes::terminate(daemon.id());
    daemon.wait().unwrap();
    world.everything_was_done_once(tasks);
    wait_until("nothing is left", || world.processes().is_empty());
}
