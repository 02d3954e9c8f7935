//! Playing the agent: sessions walked through the binary, in JSON.

use std::fs;

use serde_json::Value;

use crate::support::{Home, Outcome};

/// Two steps of prompts, with a gate between them.
pub(crate) const TWO_STEPS: &str = "longhaul: 1\nid: team.two\nname: Two steps\nversion: 1.0.0\nabout: For tests.\n\
    guidance: [Be brief.]\n\
    vars:\n  goal: { type: string }\n  size: { enum: [small, large] }\n\
    steps:\n\
    \x20 - id: look\n    title: Look\n    prompt: \"Look at {{goal}}.\"\n    produces: { size: string }\n\
    \x20 - id: sure\n    title: Are you sure\n    when: { var: size, equals: large }\n    gate: { by: person, question: \"Really {{goal}}?\" }\n\
    \x20 - id: tell\n    title: Tell\n    prompt: Say what you saw.\n";

/// Puts a workflow into the user's own folder.
pub(crate) fn workflow(home: &Home, name: &str, text: &str) {
    let folder = home.longhaul_home().join("config/workflows");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), text).unwrap();
}

pub(crate) fn start(home: &Home, workflow: &str, goal: &str) -> Value {
    let outcome = home.longhaul(&["session", "start", "--workflow", workflow, "--goal", goal, "--json"]);
    one(&outcome.succeeded())
}

/// The handle of the step that is out.
pub(crate) fn handle(view: &Value) -> &str {
    view["continueToken"].as_str().unwrap_or_else(|| panic!("no step is out: {view:#}"))
}

pub(crate) fn id(view: &Value) -> &str {
    view["sessionId"].as_str().unwrap()
}

/// Answers the step of a view with these flags.
pub(crate) fn try_advance(home: &Home, view: &Value, flags: &[&str]) -> Outcome {
    let mut arguments = vec!["session", "advance", handle(view), "--json"];
    arguments.extend(flags);
    home.longhaul(&arguments)
}

pub(crate) fn advance(home: &Home, view: &Value, flags: &[&str]) -> Value {
    one(&try_advance(home, view, flags).succeeded())
}

/// The only row of a run.
pub(crate) fn one(outcome: &Outcome) -> Value {
    let mut rows = outcome.rows();
    assert_eq!(rows.len(), 1, "{outcome}");
    rows.remove(0)
}

/// Everything that the log holds.
pub(crate) fn log(home: &Home) -> String {
    home.longhaul(&["log", "export"]).succeeded().stdout
}

/// Answers with what the step itself gives as examples, until the session is complete. Returns the steps.
pub(crate) fn walk_to_the_end(home: &Home, mut view: Value) -> Vec<String> {
    let mut steps = Vec::new();
    while view["isComplete"] != true {
        steps.push(view["stepId"].as_str().unwrap().to_owned());
        let contracts = view["requires"]["contracts"].as_array().unwrap();
        let artifacts: Vec<String> =
            contracts.iter().map(|contract| contract["example"].to_string()).collect();
        let mut flags = vec!["--notes", "Done, and looked at."];
        flags.extend(artifacts.iter().flat_map(|artifact| ["--artifact", artifact]));
        view = advance(home, &view, &flags);
    }
    steps
}
