//! A real agent: Claude Code, as it comes from its registry, walks a workflow through `longhaul mcp`.
//!
//! Its model is scripted and on loopback, its home is empty, and it has no login. What it did is read from the log.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use longhaul_testkit::model_server::{Answer, Asked, ModelServer};
use longhaul_testkit::parts::Npm;
use longhaul_testkit::processes;
use serde_json::{Value, json};

use super::clients::{FITS, all_is_on_record, answers};
use crate::support::Home;

const TOOL: &str = "mcp__longhaul__";
const CLAUDE: &str = "@anthropic-ai/claude-code-linux-x64/claude";

#[test]
fn heavy_a_real_agent_walks_a_workflow_to_its_end() {
    let home = Home::new();
    let model = ModelServer::start(script(&home)).unwrap();
    let output = claude(&home, &model).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(
        (&said["is_error"], &said["result"]),
        (&json!(false), &json!("The task is done.")),
        "{said:#}"
    );

    all_is_on_record(&home);
    the_agent_was_told_what_to_do(&model);
}

/// The words of the server reached the model: each step, what was wrong with an answer, and the end. This agent passes on
/// the object of an answer and leaves out the text.
fn the_agent_was_told_what_to_do(model: &ModelServer) {
    let last = model.asked().into_iter().rfind(is_of_the_walk).unwrap();
    let told: Vec<Value> = last.results().iter().map(|result| object(&result.text)).collect();
    let steps: Vec<&Value> = told.iter().map(|view| &view["stepId"]).collect();
    assert_eq!(json!(steps), json!(["understand", "do", "verify", "verify", "summary", null]));
    assert!(told[0]["prompt"].as_str().unwrap().contains("Show the newest users first"), "{:#}", told[0]);
    assert!(told[3]["blocked"]["reasons"][0]["fix"].is_string(), "{:#}", told[3]);
    assert_eq!(told[5]["isComplete"], true, "{:#}", told[5]);
}

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// One call for the start and one for each answer, in order. The agent repeats its whole conversation in every request,
/// so the number of results in it says how far it is.
fn script(home: &Home) -> impl Fn(&Asked) -> Answer + Send + Sync + 'static {
    let folder = home.path.display().to_string();
    let answers = answers(FITS);
    move |asked| {
        if !is_of_the_walk(asked) {
            return Answer::say("A title");
        }
        let results = asked.results();
        let call = |name: &str, input: Value| Answer::call(format!("{TOOL}{name}"), &input);
        let Some(done) = results.len().checked_sub(1) else {
            let goal = "Show the newest users first";
            let input = json!({ "workflowId": "lh.quick-task", "workspacePath": folder, "goal": goal });
            return call("start_workflow", input);
        };
        let Some(answer) = answers.get(done) else { return Answer::say("The task is done.") };
        let artifacts = answer.get("artifacts").cloned().unwrap_or(json!([]));
        let output = json!({ "notesMarkdown": answer["notes"], "artifacts": artifacts });
        call(
            "continue_workflow",
            json!({ "continueToken": object(&results[done].text)["continueToken"], "output": output }),
        )
    }
}

/// Agents also ask for titles and summaries; those requests know no tool of ours.
fn is_of_the_walk(asked: &Asked) -> bool {
    asked.tools().iter().any(|tool| tool.starts_with(TOOL))
}

fn claude(home: &Home, model: &ModelServer) -> std::process::Command {
    let config = home.join("mcp.json");
    let server = json!({
        "type": "stdio", "command": env!("CARGO_BIN_EXE_longhaul"), "args": ["mcp"], "env": home.variables(),
    });
    fs::write(&config, json!({ "mcpServers": { "longhaul": server } }).to_string()).unwrap();
    let user = home.join("user");
    fs::create_dir_all(&user).unwrap();
    fs::set_permissions(&user, fs::Permissions::from_mode(0o700)).unwrap();
    let mut claude = processes::command(Npm::installed().file(CLAUDE));
    claude.current_dir(&home.path).env("HOME", user);
    claude.env("ANTHROPIC_BASE_URL", model.anthropic_base());
    claude.env("ANTHROPIC_API_KEY", "sk-ant-none").env("ANTHROPIC_MODEL", "scripted");
    // Its tools at once and not on demand; nothing to anybody else.
    claude.env("ENABLE_TOOL_SEARCH", "false").env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    claude.args(["--print", "--output-format", "json", "--strict-mcp-config", "--mcp-config"]).arg(config);
    claude.args(["--allowedTools", &format!("{TOOL}start_workflow,{TOOL}continue_workflow")]);
    claude.args(["--max-turns", "20", "--", "Use the quick task workflow to show the newest users first."]);
    claude.stdin(std::process::Stdio::null());
    claude
}
