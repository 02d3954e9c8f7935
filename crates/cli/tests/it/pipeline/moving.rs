//! The base moves under a run, and two runs change the same line.

use std::fs;

use longhaul_runtime::forge::{Fault, FaultAct, FaultMoment, FaultOn};

use super::world::{Script, World, bash, ended, verdict};
use crate::running::wait_until;
use crate::walking::one;

/// Waits until the test has put a file beside what git looks at.
fn until(name: &str) -> String {
    format!(
        "touch /tmp/at-{name} .git/at-{name} 2>/dev/null; n=0; until [ -e .git/{name} ] || [ $n -ge 300 ]; do sleep 0.1; n=$((n+1)); done"
    )
}

fn slow(on: FaultOn) -> Fault {
    Fault { on, when: FaultMoment::Before, act: FaultAct::Slow, times: 1, ms: 3_000 }
}

#[test]
fn heavy_a_base_that_moves_five_times_loses_nothing_and_what_lands_is_proven() {
    let world = World::new();
    let mut script = Script::honest();
    script.classify = vec![bash(&until("classified"))];
    script.code.push(bash(&until("coded")));
    script.look = vec![bash(&until("reviewed"))];
    script.verdicts = vec![vec![verdict(&[])]; 8];
    world.forge().set_faults(&[slow(FaultOn::OpenPull), slow(FaultOn::Merge)]).unwrap();
    let child = world.start("moves", &script);
    // Each time in the file that the task changes too, and in one of their own.
    let head = |turn: u32| format!("# moved {turn}\n");
    let receipt = world.forge_git(&["show", "main:src/receipt.sh"]) + "\n";
    let mut turn = 0;
    let mut move_base = || {
        turn += 1;
        world.others("src/receipt.sh", &(head(turn) + &receipt));
        world.others(&format!("note-{turn}"), "x\n");
    };
    wait_until("there is a checkout", || world.checkout().is_some_and(|path| path.join(".git").exists()));
    let git = world.checkout().unwrap().join(".git");
    for name in ["classified", "coded", "reviewed"] {
        move_base();
        fs::write(git.join(name), "").unwrap();
    }
    let slow = world.forge().folder().join("slow");
    for _ in ["the pull request", "the merge"] {
        wait_until("the forge is slow", || slow.exists());
        move_base();
        wait_until("it is done", || !slow.exists());
    }
    let outcome = ended(child, &world.home);
    let session = one(&outcome)["sessionId"].as_str().unwrap().to_owned();
    let log = world.forge_git(&["log", "--format=%s", "main"]);
    assert_eq!(log.matches("by others").count(), 10, "nothing of the others is lost: {log}");
    for turn in 1..=5 {
        world.forge_git(&["cat-file", "-e", &format!("main:note-{turn}")]);
    }
    let landed = world.forge_git(&["show", "main:src/receipt.sh"]);
    assert!(landed.starts_with("# moved 5"), "{landed}");
    assert_eq!(world.task(&session)["state"], "completed", "{}", world.why(&session));
    assert!(landed.contains("-lt \"$amount\""), "{landed}");
    world.main_is_proven_by(&session);
}

#[test]
fn a_base_that_moves_elsewhere_during_the_merge_carries_the_proof_and_it_says_so() {
    let world = World::new();
    world.forge().set_faults(&[slow(FaultOn::Merge)]).unwrap();
    let child = world.start("elsewhere", &Script::honest());
    let slow = world.forge().folder().join("slow");
    wait_until("the forge is slow", || slow.exists());
    world.others("elsewhere", "x\n");
    let outcome = ended(child, &world.home);
    let session = one(&outcome)["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(world.task(&session)["state"], "completed", "{}", world.why(&session));
    assert_eq!(world.forge_git(&["show", "main:elsewhere"]), "x");
    world.main_is_proven_by(&session);
    let proof = world.proof(&session);
    assert_eq!(proof["checks"][0]["outcome"], "carried", "{proof:#}");
    assert_eq!(proof["base"], world.forge_git(&["rev-parse", "main^"]), "{proof:#}");
}

#[test]
fn heavy_two_tasks_that_change_the_same_line_lose_nothing_of_each_other() {
    let world = World::new();
    let second = {
        let edit = "sed -i 's/-gt 10000/-ge 10000/' src/receipt.sh";
        Script { verdicts: vec![vec![verdict(&[])]; 4], ..Script::running(edit) }
    };
    let first = Script { verdicts: vec![vec![verdict(&[])]; 4], ..Script::honest() };
    let runs = [world.start("first", &first), world.start("second", &second)];
    let sessions = runs.map(|run| one(&ended(run, &world.home))["sessionId"].as_str().unwrap().to_owned());
    let is_completed = |session: &&String| world.task(session)["state"] == "completed";
    let landed: Vec<&String> = sessions.iter().filter(is_completed).collect();
    assert_eq!(landed.len(), 1, "{}\n{}", world.why(&sessions[0]), world.why(&sessions[1]));
    world.main_is_proven_by(landed[0]);
    assert_eq!(world.forge_git(&["rev-list", "--count", "main"]), "2");
    let other = sessions.iter().find(|session| *session != landed[0]).unwrap();
    let [step, question, _] = world.gate(other);
    assert_eq!(step, "review-gate", "{question}");
    assert!(question.contains("does not fit the base"), "{question}");
}
