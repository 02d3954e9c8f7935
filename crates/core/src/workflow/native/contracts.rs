//! Contracts of the file, and those that every workflow can name.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Map, Value};

use super::{Fields, Node, Reader, keywords, shortened};
use crate::workflow::contract::{self, Contract, ContractError};
use crate::workflow::suggest::closest;

/// How a contract of the file is named in a `$ref`; the bare name does too.
const LOCAL: &str = "#/contracts/";

/// The schemas under `contracts:`, as they are written.
pub(super) fn schemas_of(root: &Node) -> BTreeMap<String, Value> {
    let entries = root.get("contracts").map(Node::entries).unwrap_or_default();
    entries.iter().map(|(key, node)| (key.name.clone(), node.to_json())).collect()
}

impl Reader<'_> {
    /// Every contract of the file is checked, also those that no step names.
    pub(super) fn check_contracts(&mut self, fields: &mut Fields<'_>) {
        for (key, node) in fields.entries("contracts") {
            keywords::warn_of_slips(node, self.findings);
            match self.compiled(&node.to_json()) {
                Ok(contract) => {
                    self.check_examples(&format!("the contract `{}`", key.name), &contract, node);
                    self.own_contracts.insert(key.name.clone(), contract);
                }
                Err(problem) => {
                    self.contract_problem(&format!("the contract `{}`", key.name), &problem, &node.span);
                }
            }
        }
    }

    /// Notes that a step names this contract. Whether there is one was said if not.
    pub(super) fn named_contract(&mut self, name: &str, span: &Range<usize>) -> Option<()> {
        if self.contracts.contains_key(name) {
            return Some(());
        }
        let is_own = self.schemas.contains_key(name);
        let found = if is_own { self.own_contracts.get(name).cloned() } else { contract::builtin(name) };
        if let Some(contract) = found {
            self.contracts.insert(name.to_owned(), contract);
            return Some(());
        }
        if !is_own {
            let builtin: Vec<String> = contract::builtin_names().collect();
            let known = self.schemas.keys().chain(&builtin).map(String::as_str);
            let fix = match closest(name, known) {
                Some(word) => format!("did you mean `{word}`?"),
                None => declare(name, &builtin),
            };
            self.findings.error(span, format!("there is no contract `{}`", shortened(name)), fix);
        }
        None
    }

    /// Takes a schema that stands in the step itself.
    pub(super) fn inline_contract(&mut self, name: &str, node: &Node) -> Option<()> {
        keywords::warn_of_slips(node, self.findings);
        match self.compiled(&node.to_json()) {
            Ok(contract) => {
                self.check_examples("this schema", &contract, node);
                self.contracts.insert(name.to_owned(), contract);
                Some(())
            }
            Err(problem) => {
                self.contract_problem("this schema", &problem, &node.span);
                None
            }
        }
    }

    /// An agent takes an example at its word, so one that does not fit is a mistake.
    fn check_examples(&self, what: &str, contract: &Contract, schema: &Node) {
        let listed = schema.get("examples").and_then(Node::as_list).unwrap_or_default();
        for example in listed.iter().chain(schema.get("example")) {
            for problem in contract.check(&example.to_json()).err().into_iter().flatten() {
                let message = format!("an example of {what} does not fit it{}", problem.said());
                self.findings.error(&example.span, message, problem.fix);
            }
        }
    }

    fn compiled(&self, schema: &Value) -> Result<Contract, ContractError> {
        let mut schema = schema.clone();
        let mut wanted = BTreeSet::new();
        self.point(&mut schema, "", &mut wanted);
        let mut definitions = BTreeMap::new();
        while let Some(next) = wanted.pop_first() {
            if definitions.contains_key(&next) {
                continue;
            }
            let mut definition = self.schemas[&next].clone();
            let base = format!("/$defs/{next}");
            self.point(&mut definition, &base, &mut wanted);
            definitions.insert(next, definition);
        }
        if let (Value::Object(map), false) = (&mut schema, definitions.is_empty()) {
            let own = map.entry("$defs").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(own) = own {
                own.extend(definitions);
            }
        }
        contract::of_schema(&schema)
    }

    /// Turns references to contracts of the file into references to `$defs`, and moves a definition's own references
    /// to where it comes to lie.
    fn point(&self, schema: &mut Value, base: &str, wanted: &mut BTreeSet<String>) {
        match schema {
            Value::Array(items) => items.iter_mut().for_each(|item| self.point(item, base, wanted)),
            Value::Object(map) => {
                for (key, value) in map.iter_mut() {
                    match value {
                        Value::String(target) if key == "$ref" => {
                            let name = target.strip_prefix(LOCAL).unwrap_or(target);
                            if self.schemas.contains_key(name) {
                                wanted.insert(name.to_owned());
                                *target = format!("#/$defs/{name}");
                            } else if let Some(inside) = target.strip_prefix('#') {
                                *target = format!("#{base}{inside}");
                            }
                        }
                        // Examples and constants are values, not schemas.
                        _ if matches!(
                            key.as_str(),
                            "examples" | "example" | "default" | "const" | "enum"
                        ) => {}
                        _ => self.point(value, base, wanted),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn contract_problem(&self, what: &str, problem: &ContractError, span: &Range<usize>) {
        let words = problem.to_string();
        let (message, fix) = words.rsplit_once("; ").unwrap_or((&words, "put the schema right"));
        self.findings.error(span, format!("{what} cannot be used: {message}"), fix);
    }
}

/// How to come by a contract. Each that is built in goes by two names, of which the short one is told.
fn declare(name: &str, builtin: &[String]) -> String {
    let short = builtin.iter().filter(|name| !name.contains('.')).map(|name| format!("`{name}`"));
    let names: Vec<String> = short.collect();
    format!(
        "declare it under `contracts:` as `{}: {{ type: object, … }}`, or use one that is built in: {}",
        shortened(name),
        names.join(", ")
    )
}
