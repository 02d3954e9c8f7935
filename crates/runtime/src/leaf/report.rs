//! Tools that put something on record beside the answer: it is read by people and later steps, and decides nothing.

use longhaul_events::ReportKind;
use serde_json::{Map, Value, json};

use super::{Leaf, LeafAnswer, LeafEffect, LeafTool, only, text};
use crate::error::Error;

pub(super) const ISSUE: LeafTool = LeafTool {
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
    effect: LeafEffect::RecordsOnce,
    run: |leaf, arguments| {
        only(arguments, &["summary", "severity", "details", "place"])?;
        text(arguments, "summary")?;
        text(arguments, "severity")?;
        record(leaf, ReportKind::Issue, arguments, "The issue is on record. Go on with your step.")
    },
};

pub(super) const WORKFLOW_BUG: LeafTool = LeafTool {
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
    effect: LeafEffect::RecordsOnce,
    run: |leaf, arguments| {
        only(arguments, &["summary", "details"])?;
        text(arguments, "summary")?;
        let words = "The mistake is on record for the workflow's author. Do what comes nearest to the step.";
        record(leaf, ReportKind::WorkflowBug, arguments, words)
    },
};

pub(super) const FACT: LeafTool = LeafTool {
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
    effect: LeafEffect::RecordsOnce,
    run: |leaf, arguments| {
        only(arguments, &["fact", "evidence"])?;
        text(arguments, "fact")?;
        text(arguments, "evidence")?;
        record(leaf, ReportKind::Fact, arguments, "The fact is kept.")
    },
};

pub(super) const QUESTION: LeafTool = LeafTool {
    name: "ask_coordinator",
    title: "Ask the coordinator",
    description: "Ask what you cannot settle yourself. Rules answer it if one covers it; otherwise it is kept for a \
                  person, and you decide for what is easier to undo.",
    input: || {
        json!({
            "type": "object",
            "properties": {
                "question": { "type": "string" },
                "options": { "type": "array", "items": { "type": "string" } }
            },
            "required": ["question"]
        })
    },
    effect: LeafEffect::RecordsOnce,
    run: |leaf, arguments| {
        only(arguments, &["question", "options"])?;
        text(arguments, "question")?;
        let words = "No rule answers this. The question is on record for a person; choose what is easier to undo, and \
                     say in your notes what you assumed.";
        record(leaf, ReportKind::Question, arguments, words)
    },
};

fn record(
    leaf: &Leaf<'_>,
    kind: ReportKind,
    arguments: &Map<String, Value>,
    words: &str,
) -> Result<LeafAnswer, Error> {
    leaf.commands.report(leaf.session, kind, &Value::Object(arguments.clone()))?;
    Ok(LeafAnswer::Said { words: words.to_owned(), value: json!({ "recorded": true }) })
}
