//! The id of a request, also of one that cannot be read otherwise.

use rmcp::model::RequestId;
use serde_json::Value;

/// The id, or what is wrong with it.
pub(super) fn read(value: &Value) -> Result<RequestId, String> {
    let found = match value {
        Value::String(_) | Value::Number(_) => match serde_json::from_value(value.clone()) {
            Ok(id) => return Ok(id),
            Err(_) if value.is_u64() => "too large for 64 bits with a sign",
            Err(_) => "not a whole number of at most 64 bits",
        },
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Err(format!("the `id` is {found}; a request needs a whole number or a text, and a notification has none"))
}

/// The id of an object that is whole but cannot be read. Looks at brackets and quotes only, so that it holds for any depth
/// and any text.
pub(super) fn within(line: &[u8]) -> Option<RequestId> {
    let (mut depth, mut at, mut found) = (0_usize, 0, None);
    while at < line.len() {
        match line[at] {
            b'"' => {
                let end = text_end(line, at)?;
                if depth == 1 && &line[at..end] == b"\"id\"" && found.is_none() {
                    found = value_at(&line[end..]);
                }
                at = end;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    found.filter(|_| depth == 0 && line.first() == Some(&b'{'))
}

/// Where a text ends that begins here.
fn text_end(line: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match line.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

fn value_at(rest: &[u8]) -> Option<RequestId> {
    let rest = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let end = match rest.first()? {
        b'"' => text_end(rest, 0)?,
        _ => rest.iter().position(|byte| matches!(byte, b',' | b'}' | b' ' | b'\t')).unwrap_or(rest.len()),
    };
    read(&serde_json::from_slice(&rest[..end]).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_at_the_top_and_nowhere_else() {
        let found = |line: &str| within(line.as_bytes()).map(|id| id.to_string());
        assert_eq!(found("{\"a\": \"\\ud83d\", \"id\" : 7 }"), Some("7".to_owned()));
        assert_eq!(found("{\"id\":\"x\\\"y\",\"a\":\"\\ud83d\"}"), Some("x\"y".to_owned()));
        assert_eq!(found("{\"a\":{\"id\":7},\"b\":\"\\ud83d\"}"), None);
        assert_eq!(found("{\"a\":\"id\",\"b\":\"\\ud83d\"}"), None);
        assert_eq!(found("{\"id\":7,\"meth"), None, "it is not whole");
        assert_eq!(found("[{\"id\":7}]"), None);
        assert_eq!(found("{\"id\":[7]}"), None);
        assert_eq!(found("{\"id\":7}}"), None);
        assert_eq!(found("\"\\"), None);
    }
}
