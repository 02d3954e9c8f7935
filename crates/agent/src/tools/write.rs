//! `write`: a file as a whole.

use serde_json::{Map, Value, json};

use super::{Answer, Desk, Needs, Tool, ToolError, said, shown, text};

pub(super) const TOOL: Tool = Tool {
    name: "write",
    description: "Write a file of the checkout as a whole; folders on the way are made. To change a part, use edit.",
    input,
    needs: Needs::Changing,
    run,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "content": { "type": "string" } },
        "required": ["path", "content"]
    })
}

fn run(desk: &Desk<'_>, arguments: &Map<String, Value>) -> Result<Answer, ToolError> {
    let path = desk.room.relative(text(arguments, "path")?)?;
    let content = text(arguments, "content")?;
    desk.room.replace(&path, content.as_bytes())?;
    Ok(said(format!("wrote {} bytes to `{}`", content.len(), shown(&path))))
}
