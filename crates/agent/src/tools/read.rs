//! `read`: a file, or some lines of it.

use serde_json::{Map, Value, json};

use super::{Answer, Desk, Needs, Tool, ToolError, complain, number, said, text};

pub(super) const TOOL: Tool = Tool {
    name: "read",
    description: "Read a text file of the checkout, whole or from one line on.",
    input,
    needs: Needs::Reading,
    run,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "from": { "type": "integer", "minimum": 1, "description": "The first line." },
            "lines": { "type": "integer", "minimum": 1, "description": "How many lines." }
        },
        "required": ["path"]
    })
}

fn run(desk: &Desk<'_>, arguments: &Map<String, Value>) -> Result<Answer, ToolError> {
    let path = desk.room.relative(text(arguments, "path")?)?;
    let bytes = desk.room.read(&path)?;
    let content = String::from_utf8(bytes)
        .map_err(|_| complain(format!("`{}` is no text; look into it with `bash`", path.display())))?;
    // As a whole: single lines of a secret are not recognised.
    let content = desk.clean(&content);
    let from = usize::try_from(number(arguments, "from")?.unwrap_or(1).max(1)).unwrap_or(usize::MAX);
    let lines = number(arguments, "lines")?.map(|lines| usize::try_from(lines).unwrap_or(usize::MAX));
    let count = content.lines().count();
    if from > count.max(1) {
        return Err(complain(format!("`{}` has {count} lines, so there is no line {from}", path.display())));
    }
    if from == 1 && lines.is_none() {
        return Ok(said(desk.cut(&content, "read on with `from`")));
    }
    let part: String =
        content.split_inclusive('\n').skip(from - 1).take(lines.unwrap_or(usize::MAX)).collect();
    Ok(said(desk.cut(&part, "ask for fewer `lines`")))
}
