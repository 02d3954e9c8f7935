//! The lines of a stream of events, put together to events. Only `data` is read: whatever an event is, it says itself.

use serde_json::Value;

use crate::failure::Failure;

/// Puts bytes together to events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
}

/// What was found in the bytes.
#[derive(Debug, PartialEq)]
pub(crate) enum Found {
    Event(Value),
    /// A comment, to keep the connection open.
    Comment,
}

impl Events {
    /// Takes bytes as they come, in pieces of any length.
    pub(crate) fn take(&mut self, piece: &[u8]) -> Result<Vec<Found>, Failure> {
        let mut found = Vec::new();
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                found.extend(self.end_line(line.trim_ascii_end())?);
            }
        }
        Ok(found)
    }

    /// The stream has ended; its last event may have come without an empty line after it.
    pub(crate) fn finish(&mut self) -> Option<Value> {
        let line = std::mem::take(&mut self.line);
        let last = self.end_line(line.trim_ascii_end()).ok().flatten();
        match last {
            Some(Found::Event(event)) => Some(event),
            Some(Found::Comment) | None => self.end_event().ok().flatten(),
        }
    }

    fn end_line(&mut self, line: &[u8]) -> Result<Option<Found>, Failure> {
        if line.is_empty() {
            return Ok(self.end_event()?.map(Found::Event));
        }
        if line.starts_with(b":") {
            return Ok(Some(Found::Comment));
        }
        let Some(data) = line.strip_prefix(b"data:") else {
            let is_field = [&b"event:"[..], b"id:", b"retry:"].iter().any(|field| line.starts_with(field));
            return if is_field { Ok(None) } else { Err(garbage(line)) };
        };
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        Ok(None)
    }

    fn end_event(&mut self) -> Result<Option<Value>, Failure> {
        if !std::mem::take(&mut self.has_data) {
            return Ok(None);
        }
        let data = std::mem::take(&mut self.data);
        match data.trim_ascii() {
            b"" => Ok(None),
            // The one event that is no JSON.
            b"[DONE]" => Ok(Some(Value::String("[DONE]".to_owned()))),
            data => serde_json::from_slice(data).map(Some).map_err(|_| garbage(data)),
        }
    }
}

fn garbage(bytes: &[u8]) -> Failure {
    let shown: String = String::from_utf8_lossy(bytes).chars().take(80).collect();
    Failure::garbage(&format!("`{shown}` is no event"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn all(stream: &str, length: usize) -> Result<Vec<Found>, Failure> {
        let mut events = Events::default();
        let mut found = Vec::new();
        for piece in stream.as_bytes().chunks(length) {
            found.extend(events.take(piece)?);
        }
        found.extend(events.finish().map(Found::Event));
        Ok(found)
    }

    #[test]
    fn events_are_the_same_in_pieces_of_any_length() {
        let stream = "event: a\ndata: {\"n\":\ndata: 1}\n\n: still here\n\ndata:{\"n\":2}\r\n\r\nretry: 3\n\ndata: [DONE]\n\ndata: {\"n\":\"ä\"}";
        let wanted = vec![
            Found::Event(json!({ "n": 1 })),
            Found::Comment,
            Found::Event(json!({ "n": 2 })),
            Found::Event(json!("[DONE]")),
            Found::Event(json!({ "n": "ä" })),
        ];
        for length in 1..=stream.len() {
            assert_eq!(all(stream, length).unwrap(), wanted, "in pieces of {length}");
        }
    }

    #[test]
    fn what_is_no_event_is_garbage_and_what_broke_off_is_none() {
        for stream in ["data: {\"n\":\n\n", "<html>\n", "data: no\n\n"] {
            assert!(matches!(all(stream, 5), Err(Failure::Garbage { .. })), "{stream}");
        }
        for stream in ["", "data: {\"n\":", "dat", "event: a\n\n"] {
            assert_eq!(all(stream, 5).unwrap(), [], "{stream}");
        }
    }
}
