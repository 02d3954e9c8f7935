//! Steps that the engine does itself: run, gather, gate, deliver.

use std::collections::BTreeMap;

use super::step::{CHANNELS, Reading};
use super::{Fields, Node, NodeValue, Reader, condition, shortened};
use crate::workflow::fields::text_of;
use crate::workflow::step::{
    Channel, CheckChoice, Deliver, Gate, GateBy, Gather, GatherFrom, Run, RunOn, RunWhat, Seen, StepKind,
};

const DEFAULT_RUN_TIMEOUT_MS: u64 = 10 * 60 * 1000;
const DEFAULT_GATE_TIMEOUT_MS: u64 = 7 * 24 * 60 * 60 * 1000;
const ON: &[(&str, RunOn)] = &[("checkout", RunOn::Checkout), ("merge", RunOn::Merge)];
const NETWORKS: &[(&str, &str)] = &[("none", "none"), ("allow-list", "allow-list"), ("open", "open")];

impl Reader<'_> {
    pub(super) fn run_step(&mut self, reading: &mut Reading<'_, '_>) -> Option<StepKind> {
        let fields = &mut *reading.fields;
        if let Some(node) = fields.raw("run")
            && let NodeValue::Text(text) = &node.value
        {
            let words = text.split_whitespace().collect::<Vec<_>>().join(", ");
            let message = "`run` must be a map, and this is a text";
            let fix = format!("write `run: {{ command: [{}] }}`: no shell looks at it", shortened(&words));
            self.findings.error(&node.span, message, fix);
            return None;
        }
        let mut map = fields.map("run")?;
        let mut run = self.run(&mut map);
        map.finish();
        let into = self.engine_var_under(fields, "into");
        let rerun = fields.flag("rerun");
        if let Some(run) = &mut run {
            run.into = into.or(run.into.take());
            run.rerun = rerun.unwrap_or(run.rerun);
        }
        run.map(StepKind::Run)
    }

    fn run(&mut self, map: &mut Fields<'_>) -> Option<Run> {
        let what = self.run_what(map);
        let timeout_ms = map.duration_ms("timeout").unwrap_or(DEFAULT_RUN_TIMEOUT_MS);
        let dir = map.text("dir");
        if let (Some(dir), Some(node)) = (&dir, map.raw("dir"))
            && (dir.starts_with(['/', '~']) || dir.split(['/', '\\']).any(|part| part == ".."))
        {
            let message = format!("`dir` leads out of the workspace: `{}`", shortened(dir));
            self.findings.error(&node.span, message, "write a path below its root, such as `crates/core`");
        }
        let network = map.choice("network", NETWORKS).map(str::to_owned);
        let into = self.engine_var_under(map, "into");
        // Declared checks only look, so they may be run again after a crash.
        let rerun = map.flag("rerun").unwrap_or(matches!(what, Some(RunWhat::Checks(_))));
        let on = map.choice("on", ON).unwrap_or_default();
        if let (RunOn::Merge, Some(RunWhat::Command(_)), Some(node)) = (on, &what, map.raw("on")) {
            let message = "`on: merge` is for checks, and this runs a command";
            let fix =
                "declare the command as a check in `.longhaul/config.yml` and write `checks: [its name]`";
            self.findings.error(&node.span, message, fix);
        }
        Some(Run { what: what?, on, timeout_ms, dir, network, into, rerun })
    }

    fn run_what(&self, map: &mut Fields<'_>) -> Option<RunWhat> {
        match (map.has("command"), map.has("checks")) {
            (true, false) => self.command(map),
            (false, true) => {
                let node = map.node("checks")?;
                if let NodeValue::Text(text) = &node.value
                    && text == "all"
                {
                    return Some(RunWhat::Checks(CheckChoice::All));
                }
                let names = map.one_or_more_texts("checks");
                (!names.is_empty()).then_some(RunWhat::Checks(CheckChoice::Named(names)))
            }
            (_, _) => {
                let fix = "write `command: [program, argument]` or `checks: all`, one of them";
                self.findings.error(map.span(), "`run` runs exactly one thing", fix);
                None
            }
        }
    }

    fn command(&self, map: &mut Fields<'_>) -> Option<RunWhat> {
        let node = map.node("command")?;
        if let NodeValue::Text(text) = &node.value {
            let words = text.split_whitespace().collect::<Vec<_>>().join(", ");
            let message = "`command` must be a list: no shell looks at it";
            self.findings.error(&node.span, message, format!("write `[{}]`", shortened(&words)));
            return None;
        }
        let words: Vec<String> = map.list("command").iter().filter_map(|word| self.word(word)).collect();
        if words.is_empty() {
            self.findings.error(&node.span, "`command` is empty", "write `[program, argument]`");
            return None;
        }
        Some(RunWhat::Command(words))
    }

    /// An argument may be empty or a number; it is text in the end.
    fn word(&self, node: &Node) -> Option<String> {
        match &node.value {
            NodeValue::Text(text) => Some(text.clone()),
            NodeValue::Number(number) => Some(number.to_string()),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::List(_) | NodeValue::Map(_) => {
                text_of(node, "a word of `command`", self.findings)
            }
        }
    }

    pub(super) fn gather_step(&mut self, reading: &mut Reading<'_, '_>) -> Option<StepKind> {
        let mut map = reading.fields.map("gather")?;
        let what = map.required_text("kind");
        let from: Vec<GatherFrom> =
            map.one_or_more_texts("from").iter().map(|word| gather_from(word)).collect();
        let into = self.engine_var_under(&mut map, "into");
        let optional = map.flag("optional").unwrap_or_default();
        let named = map.raw("from").cloned();
        map.finish();
        let what = what?;
        let from = match (Seen::of(&what), named) {
            (None, None) => vec![GatherFrom::Injected],
            (Some(_), None) | (None, Some(_)) => from,
            (Some(_), Some(node)) => {
                let message = format!("`kind: {what}` is what the engine sees for itself, and has no `from`");
                self.findings.error(&node.span, message, "leave out `from`, or give the kind another name");
                return None;
            }
        };
        let into = into.unwrap_or_else(|| what.replace(['-', '.', ' '], "_"));
        self.engine_var(&into);
        Some(StepKind::Gather(Gather { what, from, into, optional }))
    }

    pub(super) fn gate_step(&mut self, reading: &mut Reading<'_, '_>) -> Option<StepKind> {
        let mut map = reading.fields.map("gate")?;
        let by = self.gate_by(&mut map);
        let question = map.text("question").unwrap_or_else(|| reading.title.to_owned());
        let accepts = map.choice("accepts", CHANNELS).unwrap_or(Channel::Terminal);
        let timeout_ms = map.duration_ms("timeout").unwrap_or(DEFAULT_GATE_TIMEOUT_MS);
        map.finish();
        Some(StepKind::Gate(Gate { by: by?, question, accepts, timeout_ms }))
    }

    fn gate_by(&mut self, map: &mut Fields<'_>) -> Option<GateBy> {
        #[derive(Clone, Copy)]
        enum By {
            Person,
            Coordinator,
            Check,
        }
        const BY: &[(&str, By)] =
            &[("person", By::Person), ("coordinator", By::Coordinator), ("check", By::Check)];
        map.required("by");
        match map.choice("by", BY)? {
            By::Person => Some(GateBy::Person),
            By::Coordinator => {
                // What no rule covers goes to a person; the key is there to be read by people.
                map.choice("else", &[("person", ())]);
                map.required("accept");
                let accept = map.list("accept").iter().filter_map(|node| self.accepted(node)).collect();
                Some(GateBy::Coordinator { accept })
            }
            By::Check => {
                map.required("run");
                let mut run = map.map("run")?;
                let check = self.run(&mut run);
                run.finish();
                check.map(GateBy::Check)
            }
        }
    }

    fn accepted(&self, node: &Node) -> Option<crate::workflow::Condition> {
        let mut fields = Fields::of(node, "an entry of `accept`", self.findings)?;
        let when = condition::required(&mut fields, "when");
        fields.finish();
        when
    }

    pub(super) fn deliver_step(&mut self, reading: &mut Reading<'_, '_>) -> Option<StepKind> {
        let mut map = reading.fields.map("deliver")?;
        let mut settings = BTreeMap::new();
        for (key, words) in DELIVER_KEYS {
            let Some(node) = map.node(key) else { continue };
            let value = node.to_json();
            if let Some(fix) = unfit(&value, words) {
                let message = format!("`{key}` of `deliver` cannot be {value}");
                self.findings.error(&node.span, message, fix);
                continue;
            }
            settings.insert(key.to_owned(), value);
        }
        if settings.is_empty() {
            self.findings.error(map.span(), "`deliver` delivers nothing", "add `commit: auto`");
        }
        let inner = self.engine_var_under(&mut map, "into");
        map.finish();
        let into = self.engine_var_under(reading.fields, "into").or(inner);
        // What a merge goes by is never an agent's to set.
        if settings.contains_key("merge") || settings.contains_key("comment") {
            ["proof", "merge_rule"].iter().for_each(|name| self.engine_var(name));
        }
        Some(StepKind::Deliver(Deliver { settings, into, pinned: None }))
    }
}

/// What may stand at a key, beside `false`: these words, or where there are none any text.
const DELIVER_KEYS: [(&str, &[&str]); 6] = [
    ("commit", &[]),
    ("branch", &[]),
    ("pull_request", &["draft", "ready"]),
    ("comment", &["proof"]),
    ("merge", &["by_policy"]),
    ("close", &["true"]),
];

/// What to write instead, if it does not fit.
fn unfit(value: &serde_json::Value, words: &[&str]) -> Option<String> {
    let fits = match value {
        serde_json::Value::Bool(true) => words.contains(&"true"),
        serde_json::Value::Bool(false) => true,
        serde_json::Value::String(text) => {
            if words.is_empty() {
                !text.trim().is_empty()
            } else {
                words.contains(&text.as_str())
            }
        }
        serde_json::Value::Null
        | serde_json::Value::Number(_)
        | serde_json::Value::Array(_)
        | serde_json::Value::Object(_) => false,
    };
    let listed = || words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
    (!fits).then(|| if words.is_empty() { "write `auto`".to_owned() } else { format!("write {}", listed()) })
}

fn gather_from(word: &str) -> GatherFrom {
    match word {
        "injected" => GatherFrom::Injected,
        "item" => GatherFrom::Item,
        "url" => GatherFrom::Url,
        pattern => GatherFrom::Paths(pattern.to_owned()),
    }
}
