//! Which vars a session has, and who may set them.

use serde_json::Value;

use super::{Fields, Node, NodeValue, Reader, shortened};
use crate::workflow::document::Key;
use crate::workflow::fields::{Findings, text_of};
use crate::workflow::suggest::or_known;
use crate::workflow::{VarDeclaration, VarType, VarWriter};

/// Said by whoever starts a session, and shown in the questions of its gates: no agent may change it.
const GOAL: &str = "goal";

const TYPES: &[(&str, VarType)] = &[
    ("any", VarType::Any),
    ("string", VarType::String),
    ("number", VarType::Number),
    ("integer", VarType::Integer),
    ("boolean", VarType::Boolean),
    ("array", VarType::Array),
    ("object", VarType::Object),
];
/// Names that the engine keeps for itself, and names that are a trap in many languages.
const RESERVED: &[&str] = &["wr", "lh", "longhaul", "slots", "constructor", "prototype"];
const LONGEST_NAME: usize = 64;

impl Reader<'_> {
    /// The `vars:` of the root.
    pub(super) fn declared_vars(&mut self, fields: &mut Fields<'_>) {
        for (key, node) in fields.entries("vars") {
            if !check_name(key, self.findings) {
                continue;
            }
            if let Some(mut declaration) = declaration(key, node, self.findings) {
                if key.name == GOAL {
                    declaration.writer = VarWriter::Engine;
                }
                self.vars.insert(key.name.clone(), declaration);
            }
        }
    }

    /// A var that a step's answer must set. What `vars:` says about it stands.
    pub(super) fn produced(&mut self, name: &str, kind: &VarType) {
        self.vars.entry(name.to_owned()).or_insert_with(|| VarDeclaration {
            kind: kind.clone(),
            required: false,
            default: None,
            writer: VarWriter::Agent,
        });
    }

    /// A var that only the engine sets.
    pub(super) fn engine_var(&mut self, name: &str) {
        let declaration = self.vars.entry(name.to_owned()).or_insert_with(|| VarDeclaration {
            kind: VarType::Any,
            required: false,
            default: None,
            writer: VarWriter::Engine,
        });
        declaration.writer = VarWriter::Engine;
    }

    /// The name of a var under a key, such as `into`, which the engine sets.
    pub(super) fn engine_var_under(&mut self, fields: &mut Fields<'_>, key: &'static str) -> Option<String> {
        let node = fields.node(key)?;
        let name = text_of(node, &format!("`{key}`"), self.findings)?;
        if !check_name(&Key { span: node.span.clone(), name: name.clone() }, self.findings) {
            return None;
        }
        self.engine_var(&name);
        Some(name)
    }
}

fn declaration(key: &Key, node: &Node, findings: &Findings) -> Option<VarDeclaration> {
    let mut declaration =
        VarDeclaration { kind: VarType::Any, required: false, default: None, writer: VarWriter::Agent };
    if let NodeValue::Text(_) = node.value {
        declaration.kind = type_of(node, findings)?;
        return Some(declaration);
    }
    let mut fields = Fields::of(node, "a var", findings)?;
    declaration.kind = kind(&mut fields, findings);
    declaration.required = fields.flag("required").unwrap_or_default();
    declaration.default = fields.raw("default").map(Node::to_json);
    // For readers of the file; the engine has no use for it.
    fields.text("about");
    if let Some(default) = &declaration.default
        && !fits(default, &declaration.kind)
    {
        let span = fields.raw("default").map_or(&node.span, |node| &node.span);
        let message = format!("the default of `{}` is not of its own type", key.name);
        findings.error(span, message, "change one of the two");
    }
    fields.finish();
    Some(declaration)
}

fn kind(fields: &mut Fields<'_>, findings: &Findings) -> VarType {
    let declared = fields.node("type").and_then(|node| type_of(node, findings));
    if !fields.has("enum") {
        return declared.unwrap_or(VarType::Any);
    }
    let values: Vec<Value> = fields.list("enum").iter().map(Node::to_json).collect();
    if values.is_empty() {
        fields.findings().error(
            fields.span(),
            "`enum` has no values",
            "list the values, such as `[low, high]`",
        );
    }
    VarType::Enum(values)
}

/// A word such as `string`, or a map with `type` or `enum`, as in `produces`.
pub(super) fn type_of(node: &Node, findings: &Findings) -> Option<VarType> {
    if let NodeValue::Map(_) = node.value {
        let mut fields = Fields::of(node, "a type", findings)?;
        let kind = kind(&mut fields, findings);
        fields.finish();
        return Some(kind);
    }
    let word = text_of(node, "a type", findings)?;
    if let Some((_, kind)) = TYPES.iter().find(|(name, _)| *name == word) {
        return Some(kind.clone());
    }
    let names = TYPES.iter().map(|(name, _)| *name);
    let message = format!("`{}` is not a type of vars", shortened(&word));
    findings.error(&node.span, message, or_known(&word, names.collect::<Vec<_>>()));
    None
}

/// Whether the name may be a var's; a finding if not.
pub(super) fn check_name(key: &Key, findings: &Findings) -> bool {
    let name = key.name.as_str();
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_word || name.len() > LONGEST_NAME {
        let message = format!("`{}` cannot be the name of a var", shortened(name));
        let fix = "use letters, digits and `_`, beginning with a letter, such as `failing_command`";
        findings.error(&key.span, message, fix);
        return false;
    }
    if RESERVED.contains(&name) || name.starts_with("__") {
        findings.error(&key.span, format!("the name `{name}` is kept for the engine"), "choose another name");
        return false;
    }
    true
}

fn fits(value: &Value, kind: &VarType) -> bool {
    match kind {
        VarType::Any => true,
        VarType::String => value.is_string(),
        VarType::Number => value.is_number(),
        VarType::Integer => value.is_i64() || value.is_u64(),
        VarType::Boolean => value.is_boolean(),
        VarType::Array => value.is_array(),
        VarType::Object => value.is_object(),
        VarType::Enum(values) => values.contains(value),
    }
}
