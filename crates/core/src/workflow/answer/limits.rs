//! How large and how deep an answer may be, and what it may not hold.

use serde_json::{Map, Value};

use super::Reason;

/// The vars of one call, as compact JSON.
pub const MOST_VARS_BYTES: usize = 256 * 1024;
/// How deep a value may lie in others.
pub const MOST_DEPTH: usize = 64;
pub const MOST_NOTES_BYTES: usize = 1_000_000;
/// One artifact, as compact JSON.
pub const MOST_ARTIFACT_BYTES: usize = 1_000_000;

/// Names that act as something else in JavaScript, where other readers of the log may be written in it.
const PROTOTYPE_LIKE: [&str; 3] = ["__proto__", "constructor", "prototype"];
/// Names that belong to the engine.
const RESERVED: [&str; 3] = ["wr", "lh", "longhaul"];

pub(super) fn judge_notes(notes: &str, reasons: &mut Vec<Reason>) {
    if notes.len() > MOST_NOTES_BYTES {
        reasons.push(Reason::new(
            "notes_too_long",
            format!("the notes have {} bytes; {MOST_NOTES_BYTES} are the most", notes.len()),
            "summarise; write long material to a file and name its path in the notes",
        ));
    }
    if notes.contains('\0') {
        reasons.push(nul("the notes"));
    }
}

/// What is wrong with a text that somebody wants kept: a goal, a reason, a remark.
pub fn judge_text(what: &str, text: &str) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if text.len() > MOST_NOTES_BYTES {
        let message = format!("{what}: {} bytes; {MOST_NOTES_BYTES} are the most", text.len());
        let fix = "shorten it; write long material to a file and name its path";
        reasons.push(Reason::new("text_too_long", message, fix));
    }
    if text.contains('\0') {
        reasons.push(nul(what));
    }
    reasons
}

pub(crate) fn judge_vars(vars: &Map<String, Value>, reasons: &mut Vec<Reason>) {
    let shape = vars.iter().map(|(_, value)| shape(value)).fold(Shape::default(), Shape::join);
    judge_size(&Bound { name: "vars", most_bytes: MOST_VARS_BYTES, depth: shape.depth }, vars, reasons);
    if shape.has_nul || vars.keys().any(|name| name.contains('\0')) {
        reasons.push(nul("vars"));
    }
    if let Some(key) = shape.prototype_like {
        reasons.push(forbidden_key(key, "vars"));
    }
    for name in vars.keys() {
        judge_name(name, reasons);
    }
}

pub(super) fn judge_artifact(index: usize, artifact: &Value, reasons: &mut Vec<Reason>) {
    let shape = shape(artifact);
    let name = format!("artifact {}", index + 1);
    judge_size(
        &Bound { name: &name, most_bytes: MOST_ARTIFACT_BYTES, depth: shape.depth },
        artifact,
        reasons,
    );
    if shape.has_nul {
        reasons.push(nul(&name));
    }
    if let Some(key) = shape.prototype_like {
        reasons.push(forbidden_key(key, &name));
    }
}

struct Bound<'a> {
    name: &'a str,
    most_bytes: usize,
    depth: usize,
}

/// A value that is too deep is not measured: writing it out would take a stack as deep.
fn judge_size(bound: &Bound<'_>, value: &impl serde::Serialize, reasons: &mut Vec<Reason>) {
    let Bound { name, most_bytes, depth } = bound;
    if *depth > MOST_DEPTH {
        reasons.push(Reason::new(
            "too_deep",
            format!("{name}: values lie {depth} levels deep; {MOST_DEPTH} are the most"),
            "flatten it, or write it to a file and hand in the path",
        ));
        return;
    }
    let bytes = serde_json::to_vec(value).expect("JSON values can be written").len();
    if bytes > *most_bytes {
        reasons.push(Reason::new(
            "too_large",
            format!("{name}: {bytes} bytes in one call; {most_bytes} are the most"),
            "keep what later steps need, write the rest to a file and hand in its path",
        ));
    }
}

fn judge_name(name: &str, reasons: &mut Vec<Reason>) {
    let root = name.split('.').next().unwrap_or(name);
    if PROTOTYPE_LIKE.contains(&name) {
        reasons.push(forbidden_key(name, "vars"));
    } else if name.trim().is_empty() {
        reasons.push(Reason::new("reserved_key", "a var has no name", "give it a name"));
    } else if RESERVED.contains(&root) || name.starts_with("__") {
        let message = format!("`{name}` is a name of the engine's own");
        reasons.push(Reason::new("reserved_key", message, "choose another name for the var"));
    }
}

fn forbidden_key(key: &str, within: &str) -> Reason {
    let message = format!("{within}: `{key}` cannot be a key");
    Reason::new("forbidden_key", message, "choose another name for it")
}

fn nul(name: &str) -> Reason {
    Reason::new(
        "nul",
        format!("{name}: there is a NUL character"),
        "take it out; hand in text, not binary data",
    )
}

#[derive(Clone, Copy, Default)]
struct Shape {
    depth: usize,
    has_nul: bool,
    prototype_like: Option<&'static str>,
}

impl Shape {
    fn join(self, other: Self) -> Self {
        Self {
            depth: self.depth.max(other.depth),
            has_nul: self.has_nul || other.has_nul,
            prototype_like: self.prototype_like.or(other.prototype_like),
        }
    }
}

/// Walks with a list of its own: the value may be deeper than the stack.
fn shape(value: &Value) -> Shape {
    let mut shape = Shape::default();
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        shape.depth = shape.depth.max(depth);
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => shape.has_nul |= text.contains('\0'),
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => {
                for (key, field) in fields {
                    shape.has_nul |= key.contains('\0');
                    let forbidden = PROTOTYPE_LIKE.into_iter().find(|name| name == key);
                    shape.prototype_like = shape.prototype_like.or(forbidden);
                    open.push((field, depth + 1));
                }
            }
        }
    }
    shape
}
