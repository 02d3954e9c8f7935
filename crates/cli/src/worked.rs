//! What a step of the engine's own came to, in words.

use serde_json::Value;

use crate::output::count;

/// In one line; nothing where there is nothing to say.
pub(crate) fn in_words(result: &Value) -> String {
    if let Some(children) = result["children"].as_array() {
        return children.iter().map(child_in_words).collect::<Vec<_>>().join("; ");
    }
    if let Some(checks) = result["checks"].as_array() {
        let told = |check: &Value| format!("{} {}", word(&check["name"]), word(&check["outcome"]));
        return format!("on the merge result: {}", checks.iter().map(told).collect::<Vec<_>>().join(", "));
    }
    let value = &result["value"];
    match (value["files"].as_array(), value["lines"].as_u64()) {
        (Some(files), Some(changed)) => {
            format!(
                "{}, {}, as git sees it",
                count(files.len() as u64, "changed file"),
                count(changed, "line")
            )
        }
        _ => format!("{}{}", word(&value["outcome"]), word(&result["outcome"])),
    }
}

fn child_in_words(child: &Value) -> String {
    let (name, result) = (word(&child["workflow"]), &child["result"]);
    let said = match result["findings"].as_array().map(Vec::as_slice) {
        Some([]) => "no findings".to_owned(),
        Some(findings) => {
            findings.iter().map(|found| word(&found["severity"])).collect::<Vec<_>>().join(", ")
        }
        None => ["summary", "interpretation", "because"]
            .iter()
            .find_map(|key| result[key].as_str())
            .unwrap_or_else(|| word(&child["outcome"]))
            .to_owned(),
    };
    format!("{}: {said}", name.rsplit('.').next().unwrap_or(name))
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
