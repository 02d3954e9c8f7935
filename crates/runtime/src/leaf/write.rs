//! `write_artifact`: keeps a value under a name, beside the answer. It decides nothing: what a step's contract asks for
//! still goes with `complete_step`.

use longhaul_events::{Reason, ReportKind};
use serde_json::{Map, Value, json};

use super::{Effect, Leaf, Told, Tool, text};
use crate::error::Error;

const MOST_BYTES: usize = 256 * 1024;
const LONGEST_NAME: usize = 120;

pub(super) const TOOL: Tool = Tool {
    name: "write_artifact",
    title: "Write an artifact",
    description: "Keep a value under a name for later steps and for people, without ending the step. What the step's \
                  contract asks for still goes with complete_step.",
    input: || {
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "value": { "description": "A text or any JSON." }
            },
            "required": ["name", "value"]
        })
    },
    effect: Effect::RecordsOnce,
    run,
};

fn run(leaf: &Leaf<'_>, arguments: &Map<String, Value>) -> Result<Told, Error> {
    let name = text(arguments, "name").trim();
    let value = arguments.get("value").cloned().unwrap_or_default();
    let bytes = value.to_string().len();
    if bytes > MOST_BYTES {
        return Err(too_large(format!("the artifact has {bytes} bytes, and {MOST_BYTES} are allowed")));
    }
    if name.chars().count() > LONGEST_NAME {
        return Err(too_large(format!("the name has more than {LONGEST_NAME} letters")));
    }
    leaf.commands.report(leaf.session, ReportKind::Artifact, &json!({ "name": name, "value": value }))?;
    let words = format!("`{name}` is kept; read_artifact without an id lists it.");
    Ok(Told::Said { words, value: json!({ "recorded": true }) })
}

fn too_large(message: String) -> Error {
    let fix = "write less, or write it to a file of the checkout and name that";
    Error::BadAnswer(vec![Reason::new("too_large", message, fix)])
}
