//! `read_artifact`: what was handed in before, by this session or by those that it belongs to.

use longhaul_events::SessionId;
use serde_json::{Map, Value, json};

use super::{Effect, Leaf, Told, Tool, text};
use crate::error::Error;

/// How far up the tree of sessions is looked.
const MOST_LEVELS: usize = 16;

pub(super) const TOOL: Tool = Tool {
    name: "read_artifact",
    title: "Read an artifact",
    description: "Read an artifact that was handed in earlier in this session or in the one that it is part of. Without \
                  an id, list them.",
    input: || {
        json!({
            "type": "object",
            "properties": { "artifactId": { "type": "string" } }
        })
    },
    effect: Effect::Reads,
    run,
};

fn run(leaf: &Leaf<'_>, arguments: &Map<String, Value>) -> Result<Told, Error> {
    let reader = leaf.commands.reader().ok_or(Error::UnknownSession(leaf.session))?;
    let mut artifacts = Vec::new();
    for id in lineage(leaf)? {
        artifacts.extend(reader.artifacts(Some(id))?);
    }
    if !arguments.contains_key("artifactId") {
        let rows: Vec<Value> = artifacts
            .iter()
            .map(
                |artifact| json!({ "artifactId": artifact.id, "step": artifact.step, "kind": artifact.kind, "name": artifact.name }),
            )
            .collect();
        let noun = if rows.len() == 1 { "artifact" } else { "artifacts" };
        let words = format!("{} {noun}: {}", rows.len(), json!(rows));
        return Ok(Told::Said { words, value: json!({ "artifacts": rows }) });
    }
    let wanted = text(arguments, "artifactId");
    let found = artifacts.into_iter().find(|artifact| artifact.id == wanted);
    let found = found.ok_or_else(|| Error::NoSuchArtifact(wanted.chars().take(120).collect()))?;
    Ok(Told::Said { words: found.value.to_string(), value: json!({ "artifact": found }) })
}

/// The session and those above it.
fn lineage(leaf: &Leaf<'_>) -> Result<Vec<SessionId>, Error> {
    let mut lineage = vec![leaf.session];
    while lineage.len() < MOST_LEVELS {
        let last = *lineage.last().expect("begins with one");
        match leaf.commands.session(last)?.parent {
            Some(parent) => lineage.push(parent),
            None => break,
        }
    }
    Ok(lineage)
}
