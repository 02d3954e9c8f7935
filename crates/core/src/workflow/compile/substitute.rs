//! Arguments of a routine, put in the place of its parameters before it is read.
//!
//! In a native routine a parameter is a declared var, `{{name}}`; in a WorkRail one it is `{name}`. Where a native
//! routine needs the parameter as a var (a condition, a list), an argument that is one whole `{{path}}` is that path,
//! and a plain value becomes a var of its own with that default.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::format_of;
use super::mentions::{expressions, root_of};
use super::routine::{Argument, Call};
use crate::workflow::Format;
use crate::workflow::document::{Key, Node, NodeValue};
use crate::workflow::fields::Findings;
use crate::workflow::suggest::or_known;

/// Keys of the native format whose text is the path of a var.
const PATH_KEYS: &[&str] = &["var", "forEach", "todo", "for"];

/// The routine with its arguments in place; `None` after a finding at the call.
pub(super) fn substitute(root: &Node, call: &Call<'_>, findings: &Findings) -> Option<Node> {
    let mut substitution = Substitution {
        arguments: call.arguments.iter().map(|argument| (argument.name.as_str(), argument)).collect(),
        call,
        findings,
        used: BTreeSet::new(),
        constants: BTreeSet::new(),
        failed: false,
    };
    let mut root = root.clone();
    match format_of(&root) {
        Format::Native => substitution.native(&mut root),
        Format::WorkRail => substitution.workrail(&mut root),
    }
    (!substitution.failed).then_some(root)
}

struct Substitution<'s> {
    arguments: BTreeMap<&'s str, &'s Argument>,
    call: &'s Call<'s>,
    findings: &'s Findings,
    used: BTreeSet<String>,
    /// Parameters that need a var because their argument is a plain value.
    constants: BTreeSet<String>,
    failed: bool,
}

impl Substitution<'_> {
    fn native(&mut self, root: &mut Node) {
        self.check_declared(root);
        for (key, node) in entries_of(root) {
            if matches!(key.name.as_str(), "steps" | "guidance" | "systemPrompt") {
                self.native_node(node);
            }
        }
        let vars = entries_of(root).iter_mut().find(|(key, _)| key.name == "vars");
        let Some((_, vars)) = vars else { return };
        let NodeValue::Map(declared) = &mut vars.value else { return };
        declared.retain_mut(|(key, declaration)| {
            let Some(argument) = self.arguments.get(key.name.as_str()) else { return true };
            if !self.constants.contains(&key.name) {
                return false;
            }
            *declaration = constant(&declaration.span, &argument.value);
            key.name = self.constant_name(&key.name);
            true
        });
    }

    /// Arguments must name declared vars, and vars that must be given must be given.
    fn check_declared(&mut self, root: &Node) {
        let declared = root.get("vars").map(Node::entries).unwrap_or_default();
        let names: Vec<&str> = declared.iter().map(|(key, _)| key.name.as_str()).collect();
        for argument in self.call.arguments {
            if !names.contains(&argument.name.as_str()) {
                let message = format!("the routine `{}` has no var `{}`", self.call.routine, argument.name);
                self.fail(&argument.span, message, or_known(&argument.name, names.clone()));
            }
        }
        for (key, declaration) in declared {
            let required = declaration.get("required").is_some_and(|it| it.value == NodeValue::Bool(true));
            if required && !self.arguments.contains_key(key.name.as_str()) {
                let message = format!("the routine `{}` needs `{}`", self.call.routine, key.name);
                self.fail(self.call.span, message, format!("add `with: {{ {}: … }}`", key.name));
            }
        }
    }

    fn native_node(&mut self, node: &mut Node) {
        match &mut node.value {
            NodeValue::Text(text) => *text = self.native_text(text),
            NodeValue::List(items) => items.iter_mut().for_each(|item| self.native_node(item)),
            NodeValue::Map(entries) => {
                for (key, value) in entries.iter_mut() {
                    self.native_entry(&key.name, value);
                }
                entries.retain(|(key, value)| key.name != "requires" || value.as_list() != Some(&[]));
            }
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) => {}
        }
    }

    fn native_entry(&mut self, key: &str, value: &mut Node) {
        match &mut value.value {
            NodeValue::Text(path) if PATH_KEYS.contains(&key) => *path = self.native_path(path),
            NodeValue::List(names) if key == "requires" => {
                names.retain(|name| !name.as_text().is_some_and(|it| self.arguments.contains_key(it)));
            }
            _ => self.native_node(value),
        }
    }

    fn native_path(&mut self, path: &str) -> String {
        let root = root_of(path);
        let Some(argument) = self.arguments.get(root).copied() else { return path.to_owned() };
        let rest = &path[root.len()..];
        if let Some(whole) = whole_path(&argument.value) {
            return format!("{whole}{rest}");
        }
        if argument.value.as_text().is_some_and(|text| !expressions(text).is_empty()) {
            let message =
                format!("the routine `{}` needs `{root}` as one var, not inside a text", self.call.routine);
            self.fail(&argument.span, message, "write `{{path.to.var}}` and nothing around it");
            return path.to_owned();
        }
        self.constants.insert(root.to_owned());
        format!("{}{rest}", self.constant_name(root))
    }

    fn native_text(&mut self, text: &str) -> String {
        let mut result = String::new();
        let mut from = 0;
        for expression in expressions(text) {
            let root = root_of(&expression.path);
            let Some(argument) = self.arguments.get(root).copied() else { continue };
            result.push_str(&text[from..expression.range.start]);
            from = expression.range.end;
            let is_bare = expression.path == root;
            let keeps_text = expression.filters.is_empty() || expression.filters.starts_with("| default");
            if is_bare && keeps_text && whole_path(&argument.value).is_none() {
                result.push_str(&shown(&argument.value));
            } else {
                let path = self.native_path(&expression.path);
                let space = if expression.filters.is_empty() { "" } else { " " };
                result.extend(["{{", &path, space, expression.filters, "}}"]);
            }
        }
        result.push_str(&text[from..]);
        result
    }

    fn workrail(&mut self, root: &mut Node) {
        for (key, node) in entries_of(root) {
            if matches!(key.name.as_str(), "steps" | "metaGuidance") {
                self.workrail_node(node);
            }
        }
        for argument in self.call.arguments {
            if !self.used.contains(&argument.name) {
                let message = format!("the routine `{}` does not use `{}`", self.call.routine, argument.name);
                self.findings.stray(&argument.span, message, "take it out, or look for a slip in its name");
            }
        }
    }

    fn workrail_node(&mut self, node: &mut Node) {
        match &mut node.value {
            NodeValue::Text(text) => *text = self.workrail_text(text),
            NodeValue::List(items) => items.iter_mut().for_each(|item| self.workrail_node(item)),
            NodeValue::Map(entries) => entries.iter_mut().for_each(|(_, value)| self.workrail_node(value)),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) => {}
        }
    }

    /// Replaces `{name}`, but not the inside of `{{name}}`.
    fn workrail_text(&mut self, text: &str) -> String {
        let mut result = String::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let braces = rest[open..].bytes().take_while(|byte| *byte == b'{').count();
            let inner = &rest[open + braces..];
            let close = inner.find(['{', '}']).unwrap_or(inner.len());
            result.push_str(&rest[..open]);
            match self.arguments.get(&inner[..close]) {
                Some(argument) if braces == 1 && inner[close..].starts_with('}') => {
                    self.used.insert(argument.name.clone());
                    result.push_str(&shown(&argument.value));
                    rest = &inner[close + 1..];
                }
                _ => {
                    result.push_str(&rest[open..open + braces + close]);
                    rest = &inner[close..];
                }
            }
        }
        result + rest
    }

    /// A name that two calls of one routine do not share.
    fn constant_name(&self, parameter: &str) -> String {
        let caller: String =
            self.call.caller.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        format!("{caller}_{parameter}")
    }

    fn fail(&mut self, span: &Range<usize>, message: String, fix: impl Into<String>) {
        self.failed = true;
        self.findings.error(span, message, fix);
    }
}

fn entries_of(root: &mut Node) -> &mut [(Key, Node)] {
    if let NodeValue::Map(entries) = &mut root.value { entries } else { &mut [] }
}

/// The path, if the argument is one expression without filters and nothing else.
fn whole_path(argument: &Node) -> Option<String> {
    let text = argument.as_text()?.trim();
    match expressions(text).as_slice() {
        [only] if only.range == (0..text.len()) && only.filters.is_empty() => Some(only.path.clone()),
        _ => None,
    }
}

fn shown(argument: &Node) -> String {
    argument.as_text().map_or_else(|| argument.to_json().to_string(), str::to_owned)
}

/// The declaration of a var that has this value from the start.
fn constant(span: &Range<usize>, value: &Node) -> Node {
    let key = Key { span: span.clone(), name: "default".to_owned() };
    Node { span: span.clone(), value: NodeValue::Map(vec![(key, value.clone())]) }
}
