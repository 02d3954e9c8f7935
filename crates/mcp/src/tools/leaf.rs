//! The tools of an agent that works on one session, as they come from the table in `runtime`.

use longhaul_runtime::Error;
use longhaul_runtime::leaf::{Leaf, LeafAnswer, LeafEffect, LeafTool};
use longhaul_runtime::types::SessionId;
use rmcp::model::{JsonObject, Tool as ToolEntry, ToolAnnotations};
use serde_json::{Value, json};

use super::{object, refused, schema};
use crate::desk::Desk;
use crate::reply::Reply;

pub(super) fn entry(tool: &LeafTool) -> ToolEntry {
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(tool.effect == LeafEffect::Reads)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    ToolEntry::new(tool.name, tool.description, object((tool.input)()))
        .with_title(tool.title)
        .with_raw_output_schema(object(output()))
        .with_annotations(annotations)
}

/// Where the session stands, or what a report or a look came to.
fn output() -> Value {
    let mut shape = schema::step();
    shape["properties"]["recorded"] = json!({ "type": "boolean" });
    shape["properties"]["artifacts"] = json!({ "type": "array" });
    shape["properties"]["artifact"] = json!({ "type": "object" });
    for field in ["recorded", "artifacts", "artifact"] {
        if let Some(ways) = shape["anyOf"].as_array_mut() {
            ways.push(json!({ "required": [field] }));
        }
    }
    shape
}

pub(super) fn call(desk: &Desk, tool: &LeafTool, session: SessionId, fields: &JsonObject) -> Reply {
    let token = fields.get("continueToken").cloned();
    run(desk, tool, session, fields)
        .unwrap_or_else(|error| refused(desk, &error.into(), [("continueToken", token)]))
}

fn run(desk: &Desk, tool: &LeafTool, session: SessionId, fields: &JsonObject) -> Result<Reply, Error> {
    let (system, commands) = (desk.system(), desk.commands_for(session)?);
    let leaf = Leaf { system: &system, commands: &commands, session };
    Ok(match (tool.run)(&leaf, fields)? {
        LeafAnswer::Step(view) => Reply::step(*view),
        LeafAnswer::Said { words, value } => Reply::new(words, &value),
    })
}
