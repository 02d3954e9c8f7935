//! Runs whose agent is our own loop on a model: the model is scripted and speaks the real protocols, on loopback.

mod faults;
mod hands;
mod limits;
mod loading;
mod long;
mod taint;
mod there;
mod tiers;

use std::fs;
use std::path::PathBuf;

use longhaul_testkit::model_server::{Answer, Asked, ModelServer};
use serde_json::{Value, json};

use crate::support::{Home, Outcome, Run, git};
use crate::walking::{one, workflow};

const WORKFLOW: &str = "longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\nsteps:\n\
    \x20 - { id: look, prompt: Look. }\n  - { id: change, prompt: Change it. }\n";

/// A key as long as those that are kept out of everything.
const KEY: &str = "sk-a-key-that-only-the-gateway-knows";

/// A repository, somebody who works in it, and the models that can be asked.
pub(crate) struct World {
    pub(crate) home: Home,
    pub(crate) server: ModelServer,
}

impl World {
    pub(crate) fn new(script: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let home = Home::new();
        let repository = home.repository("repo");
        fs::write(repository.join("login.sh"), "test 1 -gt 1\n").unwrap();
        git(&repository, &["add", "."]);
        git(&repository, &["commit", "--quiet", "-m", "begin"]);
        workflow(&home, "team.fix.yml", WORKFLOW);
        Self { home, server: ModelServer::start(script).unwrap() }
    }

    /// A command of somebody who has keys, and whose providers are all the scripted server.
    pub(crate) fn command(&self, arguments: &[&str]) -> Run<'_> {
        self.home
            .run(arguments)
            .inside("repo")
            .variable("ANTHROPIC_BASE_URL", self.server.anthropic_base())
            .variable("ANTHROPIC_API_KEY", KEY)
            .variable("OPENAI_BASE_URL", self.server.open_ai_base())
            .variable("OPENAI_API_KEY", KEY)
            .variable("OLLAMA_HOST", self.server.address.to_string())
    }

    pub(crate) fn run(&self, more: &[&str]) -> Outcome {
        let mut arguments = vec!["run", "--workflow", "team.fix", "--goal", "fix it", "--json"];
        arguments.extend(more);
        self.command(&arguments).go()
    }

    /// Where a run worked. What is shown of it stands for the folder of the test.
    pub(crate) fn worktree(&self, told: &Value) -> PathBuf {
        let shown = told["worktree"].as_str().unwrap();
        self.home.join(shown.trim_start_matches("[HOME]/"))
    }

    pub(crate) fn events(&self, id: &str) -> Vec<Value> {
        let rows = self.home.longhaul(&["log", "show", &format!("session/{id}"), "--json"]);
        rows.succeeded().rows().into_iter().map(|row| row["event"].clone()).collect()
    }

    /// What is on record of the agent, one act after another, of these kinds.
    pub(crate) fn acts(&self, id: &str, kinds: &[&str]) -> Vec<Value> {
        let acts = self.events(id).into_iter().filter(|event| event["type"] == "agent");
        acts.map(|event| event["act"].clone())
            .filter(|act| kinds.iter().any(|kind| act["act"] == *kind))
            .collect()
    }
}

pub(crate) fn id_of(told: &Value) -> String {
    told["sessionId"].as_str().unwrap().to_owned()
}

/// Reads, changes, hands in: how far it is shows by how many calls were answered.
pub(crate) fn fixes_it(asked: &Asked) -> Answer {
    match asked.results().len() {
        0 => Answer::call("read", &json!({ "path": "login.sh" })),
        1 => Answer::call("complete_step", &json!({ "notes": "It is inverted." })),
        2 => Answer::call("edit", &json!({ "path": "login.sh", "old": "-gt", "new": "-ge" }))
            .and_call("bash", &json!({ "command": "sh login.sh" })),
        _ => Answer::call("complete_step", &json!({ "notes": "Fixed, and it runs." })),
    }
}

#[test]
fn a_model_of_each_protocol_does_a_workflow_and_what_it_used_is_on_the_bill() {
    for agent in ["anthropic/claude-haiku", "openai/gpt-luna", "ollama/small"] {
        let world = World::new(fixes_it);
        let told = one(&world.run(&["--agent", agent]).succeeded());
        assert_eq!(
            (&told["agent"], &told["outcome"]["kind"]),
            (&json!(agent), &json!("completed")),
            "{told}"
        );
        assert_eq!(told["rehearsal"], false);
        let worktree = world.worktree(&told);
        assert_eq!(fs::read_to_string(worktree.join("login.sh")).unwrap(), "test 1 -ge 1\n");
        let id = id_of(&told);
        let (bills, tally) = (world.acts(&id, &["billed"]), world.server.tally());
        assert_eq!(bills.len(), 4, "{bills:#?}");
        let sum = |field: &str| bills.iter().map(|bill| bill["usage"][field].as_u64().unwrap()).sum::<u64>();
        assert_eq!((sum("input"), sum("output")), (tally.input_tokens, tally.output_tokens));
        assert_eq!(told["used"]["input"].as_u64().unwrap(), tally.input_tokens);
        assert_eq!(told["used"]["money_micros"].as_u64().unwrap() == 0, agent.starts_with("ollama"));
        // The model sees the goal and the first step, and nothing of the second before the first is handed in.
        let asked = world.server.asked();
        assert!(
            asked[0].told().contains("fix it") && asked[0].last_words().contains("Look."),
            "{}",
            asked[0].told()
        );
        assert!(!asked[1].told().contains("Change it."));
        assert!(asked[2].last_words().contains("Change it."), "{}", asked[2].told());
        // The key is nowhere but in what the provider is shown.
        let log =
            world.home.longhaul(&["log", "show", &format!("session/{id}"), "--json"]).succeeded().stdout;
        assert!(!log.contains(KEY));
    }
}
