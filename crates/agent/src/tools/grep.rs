//! `grep`: where a pattern stands.

use globset::{Glob, GlobMatcher};
use regex::RegexBuilder;
use serde_json::{Map, Value, json};

use super::glob::files;
use super::{Answer, Desk, Needs, Tool, ToolError, complain, optional_text, said, text};

const MOST_LINES: usize = 300;
/// A longer line is shown in part.
const MOST_LINE_BYTES: usize = 400;
/// A pattern that needs more than this to be compiled is not a search.
const MOST_PATTERN_BYTES: usize = 1 << 20;

pub(super) const TOOL: Tool = Tool {
    name: "grep",
    description: "Search the files of the checkout for a regular expression; shows path:line: text.",
    input,
    needs: Needs::Reading,
    run,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "pattern": { "type": "string" },
            "glob": { "type": "string", "description": "Only files that fit, such as **/*.rs." }
        },
        "required": ["pattern"]
    })
}

fn run(desk: &Desk<'_>, arguments: &Map<String, Value>) -> Result<Answer, ToolError> {
    let pattern = text(arguments, "pattern")?;
    let regex = RegexBuilder::new(pattern).size_limit(MOST_PATTERN_BYTES).build();
    let regex = regex.map_err(|error| complain(format!("`{pattern}` is no pattern: {error}")))?;
    let only = optional_text(arguments, "glob")?.map(matcher).transpose()?;
    let mut lines = Vec::new();
    for path in files(desk.room).filter(|path| only.as_ref().is_none_or(|only| only.is_match(path))) {
        // A file that vanished or is too large for an agent is passed over.
        let Ok(bytes) = desk.room.read(&path) else { continue };
        let Ok(content) = String::from_utf8(bytes) else { continue };
        // As a whole: single lines of a secret, and half lines, are not recognised.
        let content = desk.clean(&content);
        for (index, line) in content.lines().enumerate().filter(|(_, line)| regex.is_match(line)) {
            if lines.len() == MOST_LINES {
                lines.push(format!("[more than {MOST_LINES} lines fit; use a narrower pattern]"));
                return Ok(said(desk.cut(&lines.join("\n"), "use a narrower pattern")));
            }
            let shown = &line[..line.floor_char_boundary(MOST_LINE_BYTES)];
            lines.push(format!("{}:{}: {shown}", path.display(), index + 1));
        }
    }
    Ok(said(if lines.is_empty() {
        "nothing fits".to_owned()
    } else {
        desk.cut(&lines.join("\n"), "use a narrower pattern")
    }))
}

fn matcher(glob: &str) -> Result<GlobMatcher, ToolError> {
    let parsed = Glob::new(glob).map_err(|error| complain(format!("`{glob}` is no pattern: {error}")))?;
    Ok(parsed.compile_matcher())
}
