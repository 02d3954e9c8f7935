//! Tools that put something on record beside the answer: it is read by people and later steps, and decides nothing.

use longhaul_core::question::Question;
use longhaul_events::ReportKind;
use serde_json::{Map, Value, json};

use super::{Effect, Leaf, Told, Tool};
use crate::error::Error;

pub(super) const ISSUE: Tool = Tool {
    name: "report_issue",
    title: "Report an issue",
    description: "Put a problem on record that is not part of your step: a defect, a risk, something in the way. Then go \
                  on with the step.",
    input: || {
        json!({
            "type": "object",
            "properties": {
                "summary": { "type": "string" },
                "severity": { "enum": ["critical", "major", "minor"] },
                "details": { "type": "string" },
                "place": { "type": "string", "description": "File and line." }
            },
            "required": ["summary", "severity"]
        })
    },
    effect: Effect::RecordsOnce,
    run: |leaf, arguments| {
        record(leaf, ReportKind::Issue, arguments, "The issue is on record. Go on with your step.")
    },
};

pub(super) const WORKFLOW_BUG: Tool = Tool {
    name: "report_workflow_bug",
    title: "Report a mistake in the workflow",
    description: "Say that the workflow itself is wrong: a step that cannot be done as written, a contract that does not \
                  fit. Then do what comes nearest to it.",
    input: || {
        json!({
            "type": "object",
            "properties": { "summary": { "type": "string" }, "details": { "type": "string" } },
            "required": ["summary"]
        })
    },
    effect: Effect::RecordsOnce,
    run: |leaf, arguments| {
        let words = "The mistake is on record for the workflow's author. Do what comes nearest to the step.";
        record(leaf, ReportKind::WorkflowBug, arguments, words)
    },
};

pub(super) const FACT: Tool = Tool {
    name: "note_fact",
    title: "Note a fact",
    description: "Keep something that others who work here should know, with how you know it.",
    input: || {
        json!({
            "type": "object",
            "properties": {
                "fact": { "type": "string", "description": "One sentence." },
                "evidence": { "type": "string", "description": "A command, a file and line." }
            },
            "required": ["fact", "evidence"]
        })
    },
    effect: Effect::RecordsOnce,
    run: |leaf, arguments| record(leaf, ReportKind::Fact, arguments, "The fact is kept."),
};

pub(super) const QUESTION: Tool = Tool {
    name: "ask_coordinator",
    title: "Ask a question",
    description: "Put a question on record for a person that you cannot settle yourself, with what you do without an \
                  answer: the choice that is easier to undo. Then go on with that. An answer reaches you in a later turn, \
                  or never.",
    input: || {
        json!({
            "type": "object",
            "properties": {
                "question": { "type": "string" },
                "options": { "type": "array", "items": { "type": "string" }, "description": "What may be answered; at most ten." },
                "default": { "type": "string", "description": "What you do without an answer; one of the options, if there are any." },
                "urgency": { "enum": ["low", "normal", "high"] }
            },
            "required": ["question", "default"]
        })
    },
    effect: Effect::RecordsOnce,
    run: ask,
};

fn ask(leaf: &Leaf<'_>, arguments: &Map<String, Value>) -> Result<Told, Error> {
    let reasons = Question::unfit(&Value::Object(arguments.clone()));
    if !reasons.is_empty() {
        return Err(Error::BadAnswer(reasons));
    }
    let words = "The question is on record for a person. Go on with your default, and say in your notes what you assumed. An \
                 answer reaches you in a later turn.";
    record(leaf, ReportKind::Question, arguments, words)
}

fn record(
    leaf: &Leaf<'_>,
    kind: ReportKind,
    arguments: &Map<String, Value>,
    words: &str,
) -> Result<Told, Error> {
    leaf.commands.report(leaf.session, kind, &Value::Object(arguments.clone()))?;
    Ok(Told::Said { words: words.to_owned(), value: json!({ "recorded": true }) })
}
