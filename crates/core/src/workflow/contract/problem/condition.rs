//! Which choice of the instance put a demand in force: a refusal must never ask for a value that only this
//! choice asks for, because then it would ask for something untrue.

use serde_json::Value;

use super::super::refer;

/// Deeper conditions than this are named by their outer parts only.
const MOST_LEVELS: usize = 4;

/// A branch of `if` that a demand stands in.
pub(super) struct Condition<'a> {
    /// Where in the instance it was judged.
    at: String,
    /// The places below that it looks at.
    mentions: Vec<String>,
    /// Schemas that are in force at the same place, which know what else could be chosen.
    beside: Vec<&'a Value>,
}

/// The conditions that lead to a keyword, the outermost first.
pub(super) fn lead_to<'a>(root: &'a Value, evaluation: &str, instance: &str) -> Vec<Condition<'a>> {
    let mut walk = Walk { root, schema: root, depth: 0, beside: vec![root], found: Vec::new() };
    let tokens: Vec<String> = tokens(evaluation).collect();
    let places: Vec<String> = tokens_of_instance(instance);
    let mut rest = tokens.as_slice();
    while let Some((keyword, after)) = rest.split_first() {
        rest = after;
        let place = || places.iter().take(walk.depth).flat_map(|token| ["/", token]).collect::<String>();
        match keyword.as_str() {
            "then" | "else" => {
                if let Some(condition) = walk.schema.get("if") {
                    let mut mentions = Vec::new();
                    mention(condition, "", 0, &mut mentions);
                    walk.found.push(Condition { at: place(), mentions, beside: walk.beside.clone() });
                }
                walk.enter(keyword);
            }
            "$ref" => walk.follow(),
            "properties" | "patternProperties" | "prefixItems" | "dependentSchemas" | "allOf" | "anyOf"
            | "oneOf" => {
                let Some((name, after)) = rest.split_first() else { break };
                rest = after;
                walk.enter(keyword);
                walk.enter(name);
                if matches!(keyword.as_str(), "properties" | "patternProperties" | "prefixItems") {
                    walk.descend();
                }
            }
            "items" | "additionalProperties" | "contains" | "unevaluatedItems" | "unevaluatedProperties" => {
                walk.enter(keyword);
                walk.descend();
            }
            _ => break,
        }
        walk.beside.push(walk.schema);
    }
    walk.found
}

struct Walk<'a> {
    root: &'a Value,
    schema: &'a Value,
    depth: usize,
    beside: Vec<&'a Value>,
    found: Vec<Condition<'a>>,
}

impl Walk<'_> {
    /// What cannot be followed has nothing to say.
    fn enter(&mut self, token: &str) {
        const NOTHING: &Value = &Value::Null;
        let inner = match self.schema {
            Value::Array(items) => token.parse::<usize>().ok().and_then(|index| items.get(index)),
            other => other.get(token),
        };
        self.schema = inner.unwrap_or(NOTHING);
    }

    fn follow(&mut self) {
        const NOTHING: &Value = &Value::Null;
        let target = self.schema.get("$ref").and_then(|target| refer::resolve(self.root, target));
        self.schema = target.unwrap_or(NOTHING);
    }

    fn descend(&mut self) {
        self.depth += 1;
        self.beside.clear();
    }
}

impl Condition<'_> {
    /// Whether the choice was made at all: a condition on a key that is missing holds without one.
    pub(super) fn is_chosen(&self, artifact: &Value) -> bool {
        self.places().all(|place| artifact.pointer(&place).is_some())
    }

    /// Goes on after "because": each place that the condition looks at, with what is there.
    pub(super) fn said(&self, artifact: &Value) -> String {
        let parts: Vec<String> = self
            .places()
            .map(|place| match artifact.pointer(&place) {
                Some(value) => format!("{} is {}", named(&place), super::quoted(value)),
                None => format!("{} is missing", named(&place)),
            })
            .collect();
        if parts.is_empty() { "a condition of the schema holds".to_owned() } else { parts.join(" and ") }
    }

    /// The one place whose value made the choice, and the other values that it could have.
    pub(super) fn choice(&self) -> Option<(String, Vec<Value>)> {
        let [mention] = self.mentions.as_slice() else { return None };
        let property = mention.strip_prefix('/').filter(|name| !name.contains('/'))?;
        let listed = |schema: &&Value| {
            let options = schema.get("properties")?.get(unescaped(property))?.get("enum")?;
            options.as_array().cloned()
        };
        Some((format!("{}{mention}", self.at), self.beside.iter().find_map(listed).unwrap_or_default()))
    }

    fn places(&self) -> impl Iterator<Item = String> + '_ {
        self.mentions.iter().map(|mention| format!("{}{mention}", self.at))
    }
}

/// A place as it stands in a sentence.
pub(super) fn named(place: &str) -> String {
    match place.strip_prefix('/') {
        Some(name) if !name.contains('/') => format!("`{}`", unescaped(name)),
        Some(_) | None => format!("`{place}`"),
    }
}

/// The places that a schema looks at, as pointers from where it stands.
pub(in super::super) fn mention(schema: &Value, prefix: &str, level: usize, found: &mut Vec<String>) {
    if level > MOST_LEVELS {
        return;
    }
    let named = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    for (name, inner) in named {
        let place = format!("{prefix}/{}", name.replace('~', "~0").replace('/', "~1"));
        let before = found.len();
        mention(inner, &place, level + 1, found);
        if found.len() == before && !found.contains(&place) {
            found.push(place);
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for part in schema.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            mention(part, prefix, level + 1, found);
        }
    }
    if let Some(inner) = schema.get("not") {
        mention(inner, prefix, level + 1, found);
    }
}

fn tokens(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer.split('/').skip(1).map(unescaped)
}

/// As they stand in the pointer, so that they can be put together again.
fn tokens_of_instance(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(str::to_owned).collect()
}

fn unescaped(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}
