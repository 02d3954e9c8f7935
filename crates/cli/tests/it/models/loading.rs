//! An agent that remembers its conversations: when its runner dies, the next one has it take the old one up.

use std::fs;
use std::path::{Path, PathBuf};

use longhaul_testkit::model_server::Answer;
use serde_json::{Value, json};

use super::{World, id_of};
use crate::run::{kill_runners, left_over};
use crate::running::wait_until;

/// A file somewhere below a folder.
fn found(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    entries.into_iter().find_map(|path| match path.file_name() {
        Some(own) if own == name => Some(path),
        Some(own) if own != ".git" && path.is_dir() => found(&path, name),
        Some(_) | None => None,
    })
}

#[test]
fn an_agent_that_can_takes_its_conversation_up_when_its_runner_was_killed() {
    let world = World::new(|_| Answer::say("Nobody asks."));
    let folder = world.home.longhaul_home().join("config/agents");
    fs::create_dir_all(&folder).unwrap();
    let program = json!(["sh", "-c", include_str!("loading/agent.sh")]);
    fs::write(folder.join("loads.yml"), format!("kind: acp\ncommand: {program}\nprice: subscription\n"))
        .unwrap();
    let run = ["run", "--workflow", "team.fix", "--goal", "fix it", "--json", "--agent", "loads"];
    let running = world.command(&run).start();
    let checkouts = world.home.longhaul_home().join("data/checkouts");
    let read = |name: &str| found(&checkouts, name).and_then(|file| fs::read_to_string(file).ok());
    wait_until("it is at work", || read("lives").is_some_and(|lives| lives.contains("begun")));
    assert!(kill_runners(&world.home) > 0);
    let ended = running.wait_with_output().unwrap();
    let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(told["outcome"]["kind"], "completed", "{told}");
    assert_eq!(read("lives").unwrap(), "new\nbegun\nload a-conversation\n");
    let id = id_of(&told);
    let finished = world.events(&id).into_iter().filter(|event| event["type"] == "step_finished");
    let notes: Vec<Value> = finished.map(|event| event["payload"]["inline"]["notes"].clone()).collect();
    assert_eq!(notes, [json!("Done in the second life."), json!("Done in the second life.")]);
    let said = world.acts(&id, &["answered"]);
    assert!(said.iter().all(|act| !act.to_string().contains("An old tale.")), "{said:#?}");
    let prompts = read("prompts").unwrap();
    assert_eq!(prompts.lines().count(), 2, "each step is prompted once in its second life: {prompts}");
    assert_eq!(left_over(&world.home), [0; 0], "something was left behind");
}
