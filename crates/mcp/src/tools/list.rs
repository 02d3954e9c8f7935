//! `list_workflows`: what can be seen from a folder.

use longhaul_runtime::workflows::{Entry, State};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Effect, Tool, schema};
use crate::arguments::Arguments;
use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::reply::Reply;

pub(super) const TOOL: Tool = Tool {
    name: "list_workflows",
    title: "List workflows",
    description: "List the workflows that can be started from a folder. Pick one by what it is for, then call \
                  start_workflow.",
    input,
    output,
    effect: Effect::Reads,
    run,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "workspacePath": { "type": "string", "description": "Absolute path of the folder you work in." },
            "tags": { "type": "array", "items": { "type": "string" }, "description": "Only these categories." },
            "query": { "type": "string", "description": "Words to look for in ids, names and descriptions." }
        },
        "required": ["workspacePath"]
    })
}

fn output() -> Value {
    let workflow = json!({
        "type": "object",
        "properties": {
            "workflowId": { "type": "string" },
            "name": { "type": "string" },
            "version": { "type": "string" },
            "category": { "type": ["string", "null"] },
            "description": { "type": "string" },
            "source": { "type": "string" },
            "state": { "enum": ["ok", "invalid", "untrusted"] }
        },
        "required": ["workflowId", "name", "version", "state"]
    });
    let fields = json!({
        "workflows": { "type": "array", "items": workflow },
        "problems": { "type": "array", "items": { "type": "string" } }
    });
    schema::with_error(fields, &["workflows", "problems"])
}

/// A workflow as it is listed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    workflow_id: String,
    name: String,
    version: String,
    category: Option<String>,
    description: String,
    source: String,
    state: &'static str,
}

impl Row {
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            workflow_id: entry.id.clone(),
            name: entry.name.clone(),
            version: entry.version.clone(),
            category: entry.category.clone(),
            description: first_paragraph(&entry.about),
            source: entry.origin.to_string(),
            state: match entry.state {
                State::Ok => "ok",
                State::Invalid => "invalid",
                State::Untrusted => "untrusted",
            },
        }
    }

    fn line(&self) -> String {
        let state = if self.state == "ok" { String::new() } else { format!(" [{}]", self.state) };
        format!("- {}{state}: {}. {}\n", self.workflow_id, self.name, self.description)
    }
}

fn first_paragraph(text: &str) -> String {
    text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn run(desk: &Desk, arguments: &Arguments) -> Result<Reply, Refusal> {
    let catalog = desk.system_at(arguments.text("workspacePath")?)?.catalog()?;
    let tags = arguments.texts("tags")?;
    let query = arguments.optional_text("query")?.unwrap_or_default();
    let mut entries = catalog.entries();
    entries.retain(|entry| entry.shadowed_by.is_none() && has_tag(entry, &tags) && fits(entry, query));
    let rows: Vec<Row> = entries.iter().map(Row::of).collect();
    let mut text = match rows.len() {
        0 => "No workflow fits. Call again without `query` and `tags`.\n".to_owned(),
        many => format!("{many} workflows. Start one with `start_workflow` and its id.\n"),
    };
    text.extend(rows.iter().map(Row::line));
    if rows.iter().any(|row| row.state == "untrusted") {
        text +=
            "What is untrusted starts after a person has run `longhaul workspace trust` in the repository.\n";
    }
    text.extend(catalog.problems().iter().map(|problem| format!("not all could be looked at: {problem}\n")));
    Ok(Reply::new(text, &json!({ "workflows": rows, "problems": catalog.problems() })))
}

fn has_tag(entry: &Entry, tags: &[&str]) -> bool {
    tags.is_empty() || entry.category.as_deref().is_some_and(|category| tags.contains(&category))
}

/// Whether every word is somewhere in what the workflow says about itself.
fn fits(entry: &Entry, query: &str) -> bool {
    let category = entry.category.as_deref().unwrap_or_default();
    let text = format!("{} {} {category} {}", entry.id, entry.name, entry.about).to_lowercase();
    query.to_lowercase().split_whitespace().all(|word| text.contains(word))
}
