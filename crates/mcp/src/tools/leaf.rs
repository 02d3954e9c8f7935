//! The tools of an agent that works on one session, as they come from the table in `runtime`.

use longhaul_runtime::Error;
use longhaul_runtime::leaf::{Leaf, Told, Tool};
use rmcp::model::{JsonObject, Tool as ToolEntry};
use serde_json::{Value, json};

use super::{Post, Reader, annotations, object, refused_to, schema};
use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::reply::{Reply, SentToken};
use crate::words::Audience;

pub(super) fn entry(tool: &Tool) -> ToolEntry {
    ToolEntry::new(tool.name, tool.description, object((tool.input)()))
        .with_title(tool.title)
        .with_raw_output_schema(object(output()))
        .with_annotations(annotations(tool.title, tool.effect))
}

/// Where the session stands, or what a report or a look came to.
fn output() -> Value {
    let mut shape = schema::step();
    shape["properties"]["recorded"] = json!({ "type": "boolean" });
    shape["properties"]["next"] = json!({ "type": "string" });
    shape["properties"]["artifacts"] = json!({ "type": "array" });
    shape["properties"]["artifact"] = json!({ "type": "object" });
    shape["properties"]["answer"] = json!({ "type": "object" });
    for field in ["recorded", "artifacts", "artifact", "answer"] {
        if let Some(ways) = shape["anyOf"].as_array_mut() {
            ways.push(json!({ "required": [field] }));
        }
    }
    shape
}

pub(super) fn call(desk: &Desk, tool: &Tool, post: Post, fields: &JsonObject) -> Reply {
    run(desk, tool, post, fields).unwrap_or_else(|error| {
        let refusal = Refusal::told(error, Audience::Leaf);
        let reader = Reader { audience: Audience::Leaf, only: Some(post.session) };
        refused_to(desk, &refusal, SentToken::among(fields).as_ref(), reader)
    })
}

fn run(desk: &Desk, tool: &Tool, post: Post, fields: &JsonObject) -> Result<Reply, Error> {
    let Post { session, driver } = post;
    let (system, commands) = (desk.system(), desk.commands_for(session)?);
    let leaf = Leaf { system: &system, commands: &commands, session, driver };
    Ok(match tool.call(&leaf, fields)? {
        Told::Step(view) => Reply::step(*view, Audience::Leaf),
        Told::Said { words, value } => Reply::new(words, &value),
    })
}
