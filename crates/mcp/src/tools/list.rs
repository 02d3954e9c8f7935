//! `list_workflows`: what can be seen from a folder.

use longhaul_runtime::workflows::{Entry, State};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Effect, Tool, as_it_is, schema};
use crate::arguments::Arguments;
use crate::desk::Desk;
use crate::name;
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
    wrap: as_it_is,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "workspacePath": { "type": "string", "description": "Absolute path of the folder you work in." },
            "tags": { "type": "array", "items": { "type": "string" }, "description": "Only these categories." },
            "query": { "type": "string", "description": "Words for what you want done; the best fit comes first." }
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
            workflow_id: name::shown(&entry.id),
            name: name::shown(&entry.name),
            version: name::shown(&entry.version),
            category: entry.category.as_deref().map(name::shown),
            description: match entry.state {
                State::Ok | State::Invalid => first_paragraph(&entry.about),
                State::Untrusted => NOT_TRUSTED.to_owned(),
            },
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

/// In place of what a repository says that nobody looked at: it would be read as if it came from us.
pub(super) const NOT_TRUSTED: &str = "Not trusted yet, so what it says about itself is not shown.";

fn first_paragraph(text: &str) -> String {
    text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn run(desk: &Desk, arguments: &Arguments) -> Result<Reply, Refusal> {
    let catalog = desk.system_at(arguments.name("workspacePath")?)?.catalog()?;
    let tags = arguments.texts("tags")?;
    let query = arguments.optional_text("query")?.unwrap_or_default();
    let mut entries = catalog.entries();
    entries.retain(|entry| entry.shadowed_by.is_none() && has_tag(entry, &tags));
    let entries = ranked(entries, query);
    let rows: Vec<Row> = entries.iter().map(Row::of).collect();
    let mut text = match rows.len() {
        0 => "No workflow fits. Call again without `query` and `tags`.\n".to_owned(),
        1 => "1 workflow. Start it with `start_workflow` and its id.\n".to_owned(),
        many => format!("{many} workflows. Start one with `start_workflow` and its id.\n"),
    };
    text.extend(rows.iter().map(Row::line));
    if rows.iter().any(|row| row.state == "untrusted") {
        text += "What is untrusted starts only after a person has looked at it and trusts the repository: tell them to run \
                 `longhaul workspace trust` there.\n";
    }
    let problems: Vec<String> = catalog.problems().iter().map(|problem| name::one_line(problem)).collect();
    text.extend(problems.iter().map(|problem| format!("not all could be looked at: {problem}\n")));
    Ok(Reply::new(text, &json!({ "workflows": rows, "problems": problems })))
}

fn has_tag(entry: &Entry, tags: &[&str]) -> bool {
    tags.is_empty() || entry.category.as_deref().is_some_and(|category| tags.contains(&category))
}

/// What fits at all, best first; with no words to go by, everything as it comes.
fn ranked(entries: Vec<Entry>, query: &str) -> Vec<Entry> {
    let query = query.to_lowercase();
    let words: Vec<&str> =
        query.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return entries;
    }
    let scored = entries.into_iter().map(|entry| (merit(&entry, &words), entry));
    let mut fitting: Vec<(usize, Entry)> = scored.filter(|(merit, _)| *merit > 0).collect();
    fitting.sort_by_key(|(merit, _)| std::cmp::Reverse(*merit));
    fitting.into_iter().map(|(_, entry)| entry).collect()
}

/// A word in a name says more than one in a description.
fn merit(entry: &Entry, words: &[&str]) -> usize {
    const IN_NAME: usize = 3;
    let category = entry.category.as_deref().unwrap_or_default();
    let name = format!("{} {} {category}", entry.id, entry.name).to_lowercase();
    let about = match entry.state {
        State::Ok | State::Invalid => entry.about.to_lowercase(),
        // Nobody looked at it: it must not talk itself to the top.
        State::Untrusted => String::new(),
    };
    words
        .iter()
        .map(|word| if name.contains(word) { IN_NAME } else { usize::from(about.contains(word)) })
        .sum()
}
