//! What a cassette has to look like, said to whoever wrote something else.

use serde_json::{Map, Value};

use crate::units::parse_count;

/// What a place in the file holds.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Text,
    Number,
    /// A number that may be written with `k` or `M`.
    Count,
    YesOrNo,
    Anything,
    Fields(&'static [Field]),
    /// A tool with its arguments.
    Calls,
}

#[derive(Debug, Clone, Copy)]
struct Field {
    name: &'static str,
    shape: Shape,
    example: &'static str,
}

const fn field(name: &'static str, shape: Shape, example: &'static str) -> Field {
    Field { name, shape, example }
}

const TOP: &[Field] = &[
    field("cassette", Shape::Number, "cassette: 1"),
    field("window", Shape::Count, "window: 200k"),
    field("price", Shape::Anything, "price: { input: 3usd, output: 15usd }"),
    field("max_output", Shape::Count, "max_output: 8k"),
    field("turns", Shape::Anything, "turns: [ { say: Hello. } ]"),
    field("otherwise", Shape::Text, "otherwise: fail"),
];

const TURN: &[Field] = &[
    field("match", Shape::Fields(MATCH), "match: { step: build }"),
    field("say", Shape::Text, "say: I look."),
    field("usage", Shape::Fields(USAGE), "usage: { input: 5k, output: 300 }"),
    field("tools", Shape::Calls, "tools: [ { read: { path: a.txt } } ]"),
    field("parallel", Shape::YesOrNo, "parallel: true"),
    field("complete", Shape::Fields(&[]), "complete: { notes: Done. }"),
    field("fault", Shape::Fields(FAULT), "fault: { error: rate_limit }"),
    field("optional", Shape::YesOrNo, "optional: true"),
];

const MATCH: &[Field] = &[
    field("workflow", Shape::Text, "workflow: team.fix"),
    field("step", Shape::Text, "step: build"),
    field("visit", Shape::Number, "visit: 1"),
];

const USAGE: &[Field] =
    &[field("input", Shape::Count, "input: 5k"), field("output", Shape::Count, "output: 300")];

const FAULT: &[Field] = &[
    field("kind", Shape::Text, "kind: cut_stream"),
    field("for", Shape::Text, "for: 30s"),
    field("error", Shape::Text, "error: rate_limit"),
    field("repeat", Shape::Number, "repeat: 3"),
];

/// Why a text is no cassette, in a sentence; `None` if its shape is right.
pub(super) fn mistake(text: &str) -> Option<String> {
    let file: Value = serde_saphyr::from_str(text).ok()?;
    let example = "write `cassette: 1`, and `turns:` with a list such as `- say: Hello.`";
    let Value::Object(file) = file else {
        return Some(format!("the file is {}; {example}", called(&file)));
    };
    if let Some(missing) = ["cassette", "turns"].iter().find(|name| !file.contains_key(**name)) {
        return Some(format!("the file has no `{missing}`; {example}"));
    }
    if let Some(wrong) = wrong_field(&file, TOP) {
        return Some(wrong);
    }
    let Some(Value::Array(turns)) = file.get("turns") else {
        return Some(format!("`turns` is {}; {example}", called(&file["turns"])));
    };
    let mut numbered = (1..).zip(turns);
    numbered.find_map(|(number, turn)| {
        let wrong = match turn {
            Value::Object(turn) => wrong_field(turn, TURN),
            other => Some(format!("it is {}; write what it does, such as `- say: Hello.`", called(other))),
        };
        wrong.map(|wrong| format!("turn {number}: {wrong}"))
    })
}

fn wrong_field(found: &Map<String, Value>, known: &[Field]) -> Option<String> {
    found.iter().find_map(|(name, value)| {
        let Some(field) = known.iter().find(|field| field.name == name) else {
            let known: Vec<String> = known.iter().map(|field| format!("`{}`", field.name)).collect();
            return Some(format!("`{name}` is not known here; there are {}", known.join(", ")));
        };
        wrong_value(field, value)
    })
}

fn wrong_value(field: &Field, value: &Value) -> Option<String> {
    let is_right = match (field.shape, value) {
        // What may be left out may be empty.
        (Shape::Anything, _)
        | (Shape::Text, Value::String(_))
        | (Shape::YesOrNo, Value::Bool(_))
        | (Shape::Text | Shape::Number | Shape::Count, Value::Null)
        | (Shape::Fields([]), Value::Object(_)) => true,
        (Shape::Number | Shape::Count, Value::Number(number)) => number.is_u64(),
        (Shape::Count, Value::String(text)) => parse_count(text).is_ok(),
        (Shape::Fields(known), Value::Object(found)) => return wrong_field(found, known),
        (Shape::Calls, Value::Array(calls)) => calls.iter().all(is_call),
        (
            Shape::Text | Shape::Number | Shape::Count | Shape::YesOrNo | Shape::Fields(_) | Shape::Calls,
            _,
        ) => false,
    };
    (!is_right).then(|| {
        let Field { name, shape, example } = field;
        format!("`{name}` is {}, and {} is expected; write `{example}`", called(value), wanted(*shape))
    })
}

fn is_call(entry: &Value) -> bool {
    entry.as_object().is_some_and(|entry| entry.values().all(Value::is_object))
}

const fn wanted(shape: Shape) -> &'static str {
    match shape {
        Shape::Text => "a text",
        Shape::Number => "a whole number",
        Shape::Count => "a count such as `900` or `64k`",
        Shape::YesOrNo => "`true` or `false`",
        Shape::Anything => "a value",
        Shape::Fields(_) => "a map of names and values",
        Shape::Calls => "a list of tools, each with its arguments",
    }
}

fn called(value: &Value) -> String {
    match value {
        Value::Null => "empty".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
        Value::String(text) if text.len() <= 40 && !text.contains('\n') => format!("`{text}`"),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
    }
}
