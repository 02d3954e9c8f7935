//! `edit`: one text for another, where there is no doubt which.

use serde_json::{Map, Value, json};

use super::{Answer, Desk, Needs, Tool, ToolError, complain, said, shown, text};

pub(super) const TOOL: Tool = Tool {
    name: "edit",
    description: "Replace a text in a file by another. The old text must be there exactly once, or all must be true.",
    input,
    needs: Needs::Changing,
    run,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "old": { "type": "string", "description": "Exactly as it stands, with enough around it to be unique." },
            "new": { "type": "string" },
            "all": { "type": "boolean", "description": "Replace it wherever it stands." }
        },
        "required": ["path", "old", "new"]
    })
}

fn run(desk: &Desk<'_>, arguments: &Map<String, Value>) -> Result<Answer, ToolError> {
    let path = desk.room.relative(text(arguments, "path")?)?;
    let (old, new) = (text(arguments, "old")?, text(arguments, "new")?);
    let all = match arguments.get("all") {
        None | Some(Value::Null) => false,
        Some(value) => value.as_bool().ok_or_else(|| complain("`all` must be true or false"))?,
    };
    if old.is_empty() {
        return Err(complain("`old` is empty; give the text to replace, or use `write` for a new file"));
    }
    let bytes = desk.room.read(&path)?;
    let content =
        String::from_utf8(bytes).map_err(|_| complain(format!("`{}` is no text", path.display())))?;
    let found = content.matches(old).count();
    match found {
        0 => Err(complain(format!(
            "`old` is not in `{}`; read it again and copy exactly, with spaces and line breaks",
            path.display()
        ))),
        2.. if !all => Err(complain(format!(
            "`old` is in `{}` {found} times; give more around it, or `all: true` to replace every one",
            path.display()
        ))),
        _ => {
            desk.room.replace(&path, content.replace(old, new).as_bytes())?;
            let times = if found == 1 { "once".to_owned() } else { format!("{found} times") };
            Ok(said(format!("replaced {times} in `{}`", shown(&path))))
        }
    }
}
