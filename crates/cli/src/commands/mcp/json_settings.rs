//! Settings in JSON, with comments or without: changed in one place, everything else as it was.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

use super::client::{NAME, is_ours, serves};
use super::install::{Obstacle, Written};

/// The text with our entry in it.
pub(super) fn add(text: &str, key: &str, entry: &Map<String, Value>) -> Result<Written, Obstacle> {
    let mut replaced = Vec::new();
    let root = parse(text)?;
    let top = root.object_value_or_create().ok_or(Obstacle::NotAnObject)?;
    refuse_twice(&top, key)?;
    let servers = top.object_value_or_create(key).ok_or(Obstacle::NotAnObject)?;
    refuse_twice(&servers, NAME)?;
    match servers.get(NAME) {
        None => {
            let fields = entry.iter().map(|(name, value)| (name.clone(), input(value))).collect();
            servers.append(NAME, CstInputValue::Object(fields));
        }
        Some(there) => {
            let there = there.object_value().filter(starts_us).ok_or(Obstacle::NotOurs)?;
            for (name, value) in entry {
                let Some(field) = there.get(name) else {
                    there.append(name, input(value));
                    continue;
                };
                let old = field.value().and_then(|old| old.to_serde_value()).unwrap_or_default();
                if old == *value || (name == "args" && serves(&old)) {
                    continue;
                }
                field.set_value(input(value));
                replaced.push(format!("`{name}`, which was {old}"));
            }
        }
    }
    let mut text = mark_of(text).to_owned() + &root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(Written { text, replaced })
}

/// The text without our entry.
pub(super) fn remove(text: &str, key: &str) -> Result<String, Obstacle> {
    let root = parse(text)?;
    if let Some(top) = root.object_value() {
        refuse_twice(&top, key)?;
    }
    let servers = root.object_value().and_then(|top| top.object_value(key));
    let Some((servers, entry)) = servers.and_then(|servers| Some((servers.clone(), servers.get(NAME)?)))
    else {
        return Ok(text.to_owned());
    };
    refuse_twice(&servers, NAME)?;
    entry.object_value().filter(starts_us).ok_or(Obstacle::NotOurs)?;
    // The list stays, also an empty one: it may have been there before, with words of its owner in it.
    entry.remove();
    Ok(mark_of(text).to_owned() + &root.to_string())
}

/// What some editors put at the beginning of a file.
const MARK: &str = "\u{feff}";

fn mark_of(text: &str) -> &'static str {
    if text.starts_with(MARK) { MARK } else { "" }
}

fn parse(text: &str) -> Result<CstRootNode, Obstacle> {
    CstRootNode::parse(text.trim_start_matches(MARK), &ParseOptions::default())
        .map_err(|error| Obstacle::Unreadable(error.to_string()))
}

fn starts_us(entry: &CstObject) -> bool {
    let field = |name: &str| entry.get(name).and_then(|field| field.value()?.to_serde_value());
    is_ours(field("command").as_ref().and_then(Value::as_str), field("args").as_ref())
}

/// Programs differ in which of two they take; whatever we wrote would be wrong for some of them.
fn refuse_twice(object: &CstObject, key: &str) -> Result<(), Obstacle> {
    let is_key = |name: Option<String>| name.as_deref() == Some(key);
    let names = object.properties();
    let times =
        names.iter().filter(|property| is_key(property.name().and_then(|name| name.decoded_value().ok())));
    if times.count() > 1 { Err(Obstacle::Twice(key.to_owned())) } else { Ok(()) }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(yes) => CstInputValue::Bool(*yes),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::client::Client;
    use super::*;

    fn added(text: &str) -> String {
        add(text, "mcpServers", &Client::Cursor.entry("/bin/longhaul")).unwrap().text
    }

    #[test]
    fn everything_else_stays_as_it_was() {
        let before = "{\n    // mine\n    \"theme\": \"dark\",\n    \"mcpServers\": {\n        \"other\": { \"command\": \"x\" }\n    }\n}\n";
        let after = added(before);
        assert!(after.contains("// mine\n    \"theme\": \"dark\""), "{after}");
        assert!(after.contains("\"other\": { \"command\": \"x\" }"), "{after}");
        assert_eq!(added(&after), after, "twice is once");
        assert_eq!(remove(&after, "mcpServers").unwrap(), before, "and undone it is as before");
    }

    #[test]
    fn an_empty_file_gets_what_it_needs() {
        let after = added("");
        let value: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(value["mcpServers"]["longhaul"]["args"][0], "mcp");
        let undone: Value = serde_json::from_str(&remove(&after, "mcpServers").unwrap()).unwrap();
        assert_eq!(undone, serde_json::json!({ "mcpServers": {} }));
    }

    #[test]
    fn undoing_takes_our_entry_and_nothing_else() {
        for before in ["{\"mcpServers\": {}}\n", "{\n  // c\n  \"mcpServers\": { /* mine */ },\n}\n"] {
            let undone = remove(&added(before), "mcpServers").unwrap();
            assert!(undone.contains("mcpServers") && !undone.contains("longhaul"), "{undone}");
            assert_eq!(undone.contains("/* mine */"), before.contains("/* mine */"), "{undone}");
        }
    }

    #[test]
    fn a_key_that_is_there_twice_is_not_touched() {
        let entry = Client::Cursor.entry("/bin/longhaul");
        for before in [
            "{\"mcpServers\":{\"x\":{}},\"mcpServers\":{\"y\":{}}}",
            "{\"mcpServers\":{\"longhaul\":{\"command\":\"npx\"},\"longhaul\":{\"command\":\"/x/longhaul\"}}}",
        ] {
            assert!(matches!(add(before, "mcpServers", &entry), Err(Obstacle::Twice(_))), "{before}");
            assert!(matches!(remove(before, "mcpServers"), Err(Obstacle::Twice(_))), "{before}");
        }
    }

    #[test]
    fn an_entry_of_ours_is_known_under_any_name() {
        let renamed = add("", "mcpServers", &Client::Cursor.entry("/opt/lh-1.2")).unwrap().text;
        assert!(!remove(&renamed, "mcpServers").unwrap().contains("lh-1.2"));
        let others = "{\"mcpServers\":{\"longhaul\":{\"command\":\"npx\",\"args\":[\"mcp\"]}}}";
        assert!(matches!(remove(others, "mcpServers"), Err(Obstacle::NotOurs)));
    }

    #[test]
    fn line_ends_and_marks_at_the_beginning_stay() {
        for before in ["{\r\n  \"a\": 1\r\n}\r\n", "\u{feff}{\"a\": 1}\n"] {
            let after = added(before);
            assert_eq!(after.starts_with('\u{feff}'), before.starts_with('\u{feff}'), "{after:?}");
            let is_mixed = before.contains('\r') && after.replace("\r\n", "").contains('\n');
            assert!(!is_mixed, "{after:?}");
        }
    }

    #[test]
    fn another_path_of_ours_is_replaced_and_what_was_added_to_it_stays() {
        let before =
            "{\"mcpServers\": {\"longhaul\": {\"command\": \"/old/longhaul\", \"env\": {\"A\": \"1\"}}}}";
        let value: Value = serde_json::from_str(&added(before)).unwrap();
        let entry = &value["mcpServers"]["longhaul"];
        assert_eq!(
            (&entry["command"], &entry["env"]["A"]),
            (&Value::from("/bin/longhaul"), &Value::from("1"))
        );
    }

    #[test]
    fn arguments_that_somebody_wrote_are_kept_and_what_is_replaced_is_told() {
        let entry = Client::Cursor.entry("/bin/longhaul");
        let before = |args: &str| {
            format!(
                "{{\"mcpServers\": {{\"longhaul\": {{\"command\": \"/old/longhaul\", \"args\": {args}}}}}}}"
            )
        };
        let own = add(&before("[\"--verbose\", \"mcp\"]"), "mcpServers", &entry).unwrap();
        assert!(own.text.contains("\"--verbose\", \"mcp\""), "{}", own.text);
        assert_eq!(own.replaced, ["`command`, which was \"/old/longhaul\""]);
        let useless = add(&before("[\"doctor\"]"), "mcpServers", &entry).unwrap();
        assert_eq!(useless.replaced.len(), 2, "{useless:?}");
    }

    #[test]
    fn what_is_not_ours_or_cannot_be_read_is_left_alone() {
        let entry = Client::Cursor.entry("/bin/longhaul");
        let others = "{\"mcpServers\": {\"longhaul\": {\"command\": \"npx\"}}}";
        assert!(matches!(add(others, "mcpServers", &entry), Err(Obstacle::NotOurs)));
        assert!(matches!(remove(others, "mcpServers"), Err(Obstacle::NotOurs)));
        assert!(matches!(add("{\"a\": ", "mcpServers", &entry), Err(Obstacle::Unreadable(_))));
        assert!(matches!(add("[]", "mcpServers", &entry), Err(Obstacle::NotAnObject)));
        assert!(matches!(add("{\"mcpServers\": 7}", "mcpServers", &entry), Err(Obstacle::NotAnObject)));
    }
}
