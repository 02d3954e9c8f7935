//! `glob`: which files there are.

use globset::GlobBuilder;
use ignore::WalkBuilder;
use serde_json::{Map, Value, json};

use super::{Answer, Desk, Needs, Room, Tool, ToolError, complain, said, shown, text};

/// Beyond this a list helps nobody.
const MOST_FILES: usize = 1000;

pub(super) const TOOL: Tool = Tool {
    name: "glob",
    description: "List files of the checkout by pattern, such as src/**/*.rs; ignored files are left out.",
    input,
    needs: Needs::Reading,
    run,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": { "pattern": { "type": "string" } },
        "required": ["pattern"]
    })
}

fn run(desk: &Desk<'_>, arguments: &Map<String, Value>) -> Result<Answer, ToolError> {
    let pattern = text(arguments, "pattern")?;
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let glob =
        glob.map_err(|error| complain(format!("`{pattern}` is no pattern: {error}")))?.compile_matcher();
    let mut found: Vec<String> = Vec::new();
    let mut more = 0;
    for path in files(desk.room).filter(|path| glob.is_match(path)) {
        if found.len() < MOST_FILES {
            found.push(shown(&path));
        } else {
            more += 1;
        }
    }
    if found.is_empty() {
        return Ok(said("no file fits"));
    }
    let rest = if more == 0 { String::new() } else { format!("\n[and {more} more; use a narrower pattern]") };
    Ok(said(desk.cut(&(found.join("\n") + &rest), "use a narrower pattern")))
}

/// Every file that is not ignored, from the top of the checkout, in order. Links are not followed.
pub(super) fn files(room: &Room) -> impl Iterator<Item = std::path::PathBuf> {
    let top = room.path().to_owned();
    // Settings outside of the checkout are a person's own business.
    let walk = WalkBuilder::new(&top)
        .hidden(false)
        .git_global(false)
        .parents(false)
        .sort_by_file_name(Ord::cmp)
        .build();
    walk.filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .filter_map(move |entry| entry.path().strip_prefix(&top).ok().map(ToOwned::to_owned))
        .filter(|path| !path.starts_with(".git"))
}
