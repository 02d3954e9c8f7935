//! YAML 1.2 with its core schema, less what makes a file mean other than it looks: no anchors, aliases, tags,
//! directives or second documents.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Span};
use serde_json::Number;

use super::{Diagnostic, Key, Limits, Node, NodeValue, check_text, map_of, too_deep};

/// Reads the one document of a text; none if the text holds nothing but comments.
pub(super) fn parse(text: &str, limits: &mut Limits) -> Result<Option<Node>, Diagnostic> {
    let mut builder = Builder { text, limits, open: Vec::new(), root: None, documents: 0 };
    for next in Parser::new_from_str_with_options(text, options()) {
        let (event, span) = next.map_err(|error| builder.syntax_error(&error))?;
        builder.take(event, span)?;
    }
    Ok(builder.root)
}

fn options() -> Options {
    let mut options = Options::default();
    options.disallow_directives = true;
    options.emit_anchor_events = true;
    options.emit_unresolved_aliases = true;
    options.set_emit_comments(false);
    options
}

struct Builder<'t> {
    text: &'t str,
    limits: &'t mut Limits,
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
}

/// A list or map whose end was not seen yet.
struct Open {
    start: usize,
    /// Where its last value ended: block collections have no closing mark.
    end: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map { entries: Vec<(Key, Node)>, key: Option<Key> },
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Diagnostic> {
        let place = self.place(&span);
        if let Some(tag) = span.tag_span() {
            return Err(refused(self.place(&tag), "tags"));
        }
        match event {
            Event::DocumentStart(..) => self.start_document(place),
            Event::Alias(_) | Event::UnresolvedAlias(_) => Err(refused(place, "aliases")),
            Event::Anchor(..) => Err(refused(place, "anchors")),
            Event::Scalar(text, style, ..) => self.scalar(text, style, place),
            Event::SequenceStart(..) => self.open(place, Content::List(Vec::new())),
            Event::MappingStart(..) => self.open(place, Content::Map { entries: Vec::new(), key: None }),
            Event::SequenceEnd | Event::MappingEnd => self.close(place),
            // The stream's own marks and what is there for looks; the parser's enum is open.
            _ => Ok(()),
        }
    }

    fn place(&self, span: &Span) -> Range<usize> {
        let at = |offset: Option<usize>| offset.unwrap_or(self.text.len()).min(self.text.len());
        self.limits.place(at(span.start.byte_offset())..at(span.end.byte_offset()))
    }

    fn syntax_error(&self, error: &ScanError) -> Diagnostic {
        let at = error.marker().byte_offset().unwrap_or(self.text.len()).min(self.text.len());
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            return too_deep(self.limits.place(at..at));
        }
        let message = format!("this is not YAML: {}", error.info());
        Diagnostic::error(self.limits.place(at..at), message)
            .fix("look at the indentation, the quotes and the colons here and on the line above")
    }

    fn start_document(&mut self, place: Range<usize>) -> Result<(), Diagnostic> {
        self.documents += 1;
        if self.documents > 1 {
            let message = "a second document begins here, and a file holds one";
            return Err(Diagnostic::error(place, message).fix("move it into a file of its own"));
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        place: Range<usize>,
    ) -> Result<(), Diagnostic> {
        check_text(&text, &place)?;
        if let Some(Open { content: Content::Map { key: key @ None, .. }, .. }) = self.open.last_mut() {
            *key = Some(Key { span: place, name: text.into_owned() });
            return Ok(());
        }
        self.limits.admit(&place, self.open.len())?;
        let value =
            if style == ScalarStyle::Plain { plain(&text) } else { NodeValue::Text(text.into_owned()) };
        self.put(Node { span: place, value });
        Ok(())
    }

    fn open(&mut self, place: Range<usize>, content: Content) -> Result<(), Diagnostic> {
        if let Some(Open { content: Content::Map { key: None, .. }, .. }) = self.open.last() {
            let message = "a list or map cannot be a key";
            return Err(Diagnostic::error(place, message).fix("use a plain word as the key"));
        }
        self.limits.admit(&place, self.open.len())?;
        self.open.push(Open { start: place.start, end: place.end, content });
        Ok(())
    }

    fn close(&mut self, place: Range<usize>) -> Result<(), Diagnostic> {
        let open = self.open.pop().expect("the parser closes what it opened");
        let value = match open.content {
            Content::List(items) => NodeValue::List(items),
            Content::Map { entries, .. } => map_of(entries)?,
        };
        // A closing bracket has a width; the end of a block collection has none, and may lie lines below it.
        let end = if place.is_empty() { open.end } else { place.end };
        self.put(Node { span: open.start..end.max(open.start), value });
        Ok(())
    }

    fn put(&mut self, node: Node) {
        let Some(around) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        around.end = around.end.max(node.span.end);
        match &mut around.content {
            Content::List(items) => items.push(node),
            Content::Map { entries, key } => {
                let key = key.take().expect("the parser gives a key before each value");
                entries.push((key, node));
            }
        }
    }
}

fn refused(place: Range<usize>, what: &str) -> Diagnostic {
    Diagnostic::error(place, format!("{what} are not part of such a file"))
        .fix("write the value out; a text that begins with `&`, `*` or `!` needs quotes")
}

/// What a plain word means in the core schema. Only what is exactly a number is one: `1.2.0`, `10m` and `0755a`
/// are texts.
fn plain(text: &str) -> NodeValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => NodeValue::Null,
        "true" | "True" | "TRUE" => NodeValue::Bool(true),
        "false" | "False" | "FALSE" => NodeValue::Bool(false),
        _ => number(text).map_or_else(|| NodeValue::Text(text.to_owned()), NodeValue::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+')).map(Number::from);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(digits, 8).ok().filter(|_| !digits.starts_with('+')).map(Number::from);
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let starts_like_one = digits.starts_with(|c: char| c.is_ascii_digit())
        || digits.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if !starts_like_one {
        return None;
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.into());
    }
    if let Ok(number) = text.parse::<u64>() {
        return Some(number.into());
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}
