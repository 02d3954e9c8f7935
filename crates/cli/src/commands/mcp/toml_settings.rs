//! Settings in TOML: changed in one place, everything else as it was.

use serde_json::{Map, Value as Json};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::client::{NAME, is_ours, serves};
use super::install::{Obstacle, Written};

/// What some editors put at the beginning of a file.
const MARK: &str = "\u{feff}";

/// The text with our entry in it.
pub(super) fn add(text: &str, key: &str, entry: &Map<String, Json>) -> Result<Written, Obstacle> {
    let mut replaced = Vec::new();
    let mut document = parse(text)?;
    let form = Form::of(text);
    let servers = document.entry(key).or_insert_with(|| {
        let mut servers = Table::new();
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let servers = servers.as_table_like_mut().ok_or(Obstacle::NotAnObject)?;
    if servers.get(NAME).is_none() {
        servers.insert(NAME, Item::Table(Table::new()));
    } else if !servers.get(NAME).and_then(Item::as_table_like).is_some_and(starts_us) {
        return Err(Obstacle::NotOurs);
    }
    let ours = servers.get_mut(NAME).and_then(Item::as_table_like_mut).ok_or(Obstacle::NotAnObject)?;
    for (name, wanted) in entry {
        let item = item(wanted);
        if let Some(old) = ours.get(name) {
            if old.to_string().trim() == item.to_string().trim()
                || (name == "args" && words(old).is_some_and(|old| serves(&old)))
            {
                continue;
            }
            replaced.push(format!("`{name}`, which was {}", old.to_string().trim()));
        }
        ours.insert(name, item);
    }
    Ok(Written { text: form.restore(&document), replaced })
}

/// The text without our entry.
pub(super) fn remove(text: &str, key: &str) -> Result<String, Obstacle> {
    let mut document = parse(text)?;
    let Some(servers) = document.get_mut(key).and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    let Some(entry) = servers.get(NAME) else { return Ok(text.to_owned()) };
    entry.as_table_like().filter(|entry| starts_us(*entry)).ok_or(Obstacle::NotOurs)?;
    // What somebody wrote above it is theirs.
    let above = entry.as_table().and_then(|entry| entry.decor().prefix()?.as_str()).unwrap_or_default();
    let above = above.trim().to_owned();
    servers.remove(NAME);
    // One that has no line of its own is gone with its last entry.
    if !above.is_empty() {
        let rest = document.trailing().as_str().unwrap_or_default().to_owned();
        document.set_trailing(format!("\n{above}\n{rest}"));
    }
    Ok(Form::of(text).restore(&document))
}

/// How the lines of a file end, and whether it begins with a mark: both are lost when it is read.
#[derive(Debug, Clone, Copy)]
struct Form {
    line_end: &'static str,
    mark: &'static str,
}

impl Form {
    fn of(text: &str) -> Self {
        let mark = if text.starts_with(MARK) { MARK } else { "" };
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Self { line_end, mark }
    }

    fn restore(self, document: &DocumentMut) -> String {
        let text = document.to_string().replace('\n', self.line_end);
        format!("{}{text}", self.mark)
    }
}

fn parse(text: &str) -> Result<DocumentMut, Obstacle> {
    let text = text.trim_start_matches(MARK).replace("\r\n", "\n");
    text.parse::<DocumentMut>().map_err(|error| Obstacle::Unreadable(error.to_string()))
}

fn starts_us(entry: &dyn TableLike) -> bool {
    let arguments = entry.get("args").and_then(words);
    is_ours(entry.get("command").and_then(Item::as_str), arguments.as_ref())
}

fn words(list: &Item) -> Option<Json> {
    list.as_array().map(|words| words.iter().map(toml_edit::Value::as_str).collect())
}

fn item(wanted: &Json) -> Item {
    match wanted {
        Json::String(text) => value(text.as_str()),
        Json::Array(items) => value(items.iter().filter_map(Json::as_str).collect::<Array>()),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => {
            unreachable!("our entry has texts and lists of texts only")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::client::Client;
    use super::*;

    fn added(text: &str) -> String {
        add(text, "mcp_servers", &Client::Codex.entry("/bin/longhaul")).unwrap().text
    }

    #[test]
    fn everything_else_stays_as_it_was() {
        let before = "# mine\nmodel = \"x\"   # the big one\n\n[mcp_servers.other]\ncommand = \"y\"\n";
        let after = added(before);
        assert!(after.starts_with(before), "{after}");
        assert!(
            after.contains("[mcp_servers.longhaul]\ncommand = \"/bin/longhaul\"\nargs = [\"mcp\"]\n"),
            "{after}"
        );
        assert_eq!(added(&after), after, "twice is once");
        assert_eq!(remove(&after, "mcp_servers").unwrap(), before, "and undone it is as before");
        assert_eq!(remove(&added(""), "mcp_servers").unwrap(), "");
    }

    #[test]
    fn line_ends_marks_comments_and_empty_tables_stay() {
        for before in [
            "model=\"x\"\r\n[mcp_servers.a]\r\ncommand=\"a\"\r\n",
            "\u{feff}model=\"x\"\n",
            "[mcp_servers]\n# my servers\n[profile]\na=1\n",
            "mcp_servers = {}\n",
            "model=\"x\"\n[a]\nb=1\n# the end\n",
        ] {
            let after = added(before);
            assert!(after.contains("/bin/longhaul"), "{after:?}");
            assert_eq!(remove(&after, "mcp_servers").unwrap(), before, "{after:?}");
        }
        let commented =
            "[mcp_servers.a]\ncommand=\"a\"\n\n# about it\n[mcp_servers.longhaul]\ncommand=\"longhaul\"\n";
        let undone = remove(commented, "mcp_servers").unwrap();
        assert!(undone.contains("# about it") && !undone.contains("longhaul\""), "{undone:?}");
    }

    #[test]
    fn an_entry_of_ours_is_known_under_any_name() {
        let renamed = add("", "mcp_servers", &Client::Codex.entry("/opt/lh-1.2")).unwrap().text;
        assert_eq!(remove(&renamed, "mcp_servers").unwrap(), "");
    }

    #[test]
    fn arguments_that_somebody_wrote_are_kept_and_what_is_replaced_is_told() {
        let entry = Client::Codex.entry("/bin/longhaul");
        let before = "[mcp_servers.longhaul]\ncommand = \"/old/longhaul\"\nargs = [\"mcp\", \"--verbose\"]\n";
        let own = add(before, "mcp_servers", &entry).unwrap();
        assert!(own.text.contains("args = [\"mcp\", \"--verbose\"]"), "{}", own.text);
        assert_eq!(own.replaced, ["`command`, which was \"/old/longhaul\""]);
    }

    #[test]
    fn what_is_not_ours_or_cannot_be_read_is_left_alone() {
        let entry = Client::Codex.entry("/bin/longhaul");
        let others = "[mcp_servers.longhaul]\ncommand = \"npx\"\n";
        assert!(matches!(add(others, "mcp_servers", &entry), Err(Obstacle::NotOurs)));
        assert!(matches!(remove(others, "mcp_servers"), Err(Obstacle::NotOurs)));
        assert!(matches!(add("a = ", "mcp_servers", &entry), Err(Obstacle::Unreadable(_))));
        assert!(matches!(add("mcp_servers = 7", "mcp_servers", &entry), Err(Obstacle::NotAnObject)));
    }
}
