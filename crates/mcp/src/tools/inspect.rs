//! `inspect_workflow`: what a workflow would do, before it is started.

use longhaul_runtime::workflows::{Entry, Report, State, preview};
use serde_json::{Value, json};

use super::list::{NOT_TRUSTED, Row};
use super::{Effect, Tool, as_it_is, schema};
use crate::arguments::Arguments;
use crate::desk::Desk;
use crate::name;
use crate::refusal::Refusal;
use crate::reply::Reply;

pub(super) const TOOL: Tool = Tool {
    name: "inspect_workflow",
    title: "Inspect a workflow",
    description: "Show one workflow before it is started: what it says about itself, or all of its steps. Starts \
                  nothing.",
    input,
    output,
    effect: Effect::Reads,
    run,
    wrap: as_it_is,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Metadata,
    Preview,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "workflowId": { "type": "string" },
            "workspacePath": { "type": "string", "description": "Absolute path of the folder you work in." },
            "mode": { "enum": ["metadata", "preview"], "description": "preview, the default, shows all steps." }
        },
        "required": ["workflowId", "workspacePath"]
    })
}

fn output() -> Value {
    let text = json!({ "type": "string" });
    let fields = json!({
        "workflowId": text, "name": text, "version": text, "description": text, "source": text,
        "category": { "type": ["string", "null"] },
        "state": { "enum": ["ok", "invalid", "untrusted"] },
        "findings": { "type": "array", "items": text },
        "steps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": { "id": text, "title": text },
                "required": ["id", "title"]
            }
        },
        "preview": { "type": ["string", "null"] }
    });
    schema::with_error(fields, &["workflowId", "name", "version", "state", "findings"])
}

fn run(desk: &Desk, arguments: &Arguments) -> Result<Reply, Refusal> {
    let id = arguments.name("workflowId")?;
    let modes = [("metadata", Mode::Metadata), ("preview", Mode::Preview)];
    let mode = arguments.choice("mode", &modes)?.unwrap_or(Mode::Preview);
    let entry = desk.system_at(arguments.name("workspacePath")?)?.catalog()?.find(id)?;
    if entry.state == State::Untrusted {
        return Ok(untrusted(&entry));
    }
    let findings: Vec<String> = entry
        .diagnostics
        .iter()
        .map(|diagnostic| Report::new(&entry.path, &entry.text, diagnostic).to_string())
        .collect();
    let mut value = serde_json::to_value(Row::of(&entry)).expect("a row has string keys only");
    value["findings"] = json!(findings);
    value["description"] = json!(entry.about);
    let mut text = match &entry.workflow {
        Some(workflow) if mode == Mode::Preview => {
            let steps = workflow.all_steps();
            value["steps"] = steps.iter().map(|step| json!({ "id": step.id, "title": step.title })).collect();
            let drawn = preview::text(workflow);
            value["preview"] = json!(drawn);
            drawn
        }
        Some(_) | None => format!("{} {} ({})\n{}\n", entry.id, entry.version, entry.name, entry.about),
    };
    text.extend(findings.iter().map(|finding| format!("{finding}\n")));
    Ok(Reply::new(text, &value))
}

/// Where it lies and no word of it: its text would be read by an agent before a person has looked at it.
fn untrusted(entry: &Entry) -> Reply {
    let mut value = serde_json::to_value(Row::of(entry)).expect("a row has string keys only");
    value["findings"] = json!([]);
    let text = format!(
        "{} in `{}`. {NOT_TRUSTED} A person looks at the file and then runs `longhaul workspace trust` there: tell them.\n",
        name::shown(&entry.id),
        name::one_line(&entry.path)
    );
    Reply::new(text, &value)
}
