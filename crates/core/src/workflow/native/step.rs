//! What every step has, and which kind it is.

use std::ops::Range;

use serde_json::Value;

use super::{Fields, MODELS, Node, NodeValue, Reader, budget, condition, in_words, is_id_byte, shortened};
use crate::workflow::DEFAULT_ATTEMPTS;
use crate::workflow::diagnostic::Severity;
use crate::workflow::document::Key;
use crate::workflow::fields::text_of;
use crate::workflow::step::{Channel, Confirm, ConfirmBy, Jump, Step, StepKind};
use crate::workflow::suggest::closest;

pub(super) const CHANNELS: &[(&str, Channel)] = &[
    ("client", Channel::Client),
    ("terminal", Channel::Terminal),
    ("console", Channel::Console),
    ("forge", Channel::Forge),
];
const LONGEST_STEP_ID: usize = 64;
const MOST_ATTEMPTS: u64 = 1000;
const MOST_JUMPS: u64 = 1000;

/// The key that makes a step what it is. `assess` comes before `prompt`, which it may have beside it.
const KINDS: &[(&str, Kind)] = &[
    ("assess", Kind::Assess),
    ("prompt", Kind::Prompt),
    ("use", Kind::Use),
    ("loop", Kind::Loop),
    ("todo", Kind::Todo),
    ("run", Kind::Run),
    ("gather", Kind::Gather),
    ("parallel", Kind::Parallel),
    ("spawn", Kind::Spawn),
    ("gate", Kind::Gate),
    ("decide", Kind::Decide),
    ("deliver", Kind::Deliver),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Assess,
    Prompt,
    Use,
    Loop,
    Todo,
    Run,
    Gather,
    Parallel,
    Spawn,
    Gate,
    Decide,
    Deliver,
}

/// A step whose fields are being read, and how deep it lies.
pub(super) struct Reading<'r, 'n> {
    pub fields: &'r mut Fields<'n>,
    pub id: &'r str,
    pub title: &'r str,
    pub level: usize,
}

impl Reader<'_> {
    pub(super) fn step(&mut self, node: &Node, level: usize) -> Option<Step> {
        let mut fields = Fields::of(node, "a step", self.findings)?;
        let (id, place) = self.step_id(&mut fields);
        self.places.step(&id, &place);
        let title = fields.text("title").unwrap_or_else(|| in_words(&id));
        let when = condition::under(&mut fields, "when");
        let jump = fields.map("jumpIf").and_then(|map| self.jump(map));
        let confirm = confirm(&mut fields);
        let role = fields.text("role");
        let guidance = fields.one_or_more_texts("guidance");
        let model = fields.choice("model", MODELS);
        let budget = budget(&mut fields);
        let system_prompt = fields.text("systemPrompt");
        let attempts = self.attempts(&mut fields);
        let references = fields.one_or_more_texts("references");
        let requires = self.required_vars(&mut fields);
        self.note_places(&id, &mut fields);
        let kind = self.kind(node, &mut Reading { fields: &mut fields, id: &id, title: &title, level });
        match kind {
            Some(_) => fields.finish(),
            // Not every key was asked for, so only what no step has is a stray.
            None => self.report_strangers(&fields),
        }
        Some(Step {
            id,
            title,
            when,
            jump,
            confirm,
            role,
            guidance,
            model,
            budget,
            system_prompt,
            attempts,
            references,
            requires,
            kind: kind?,
        })
    }

    /// Reports keys that no kind of step has.
    fn report_strangers(&self, fields: &Fields<'_>) {
        if self.findings.is_full(Severity::Error) {
            return;
        }
        let schema = super::schema();
        let known = schema.pointer("/$defs/step/properties").and_then(Value::as_object);
        let known: Vec<&str> = known.into_iter().flat_map(|map| map.keys().map(String::as_str)).collect();
        for key in fields.unasked().filter(|key| !known.contains(&key.name.as_str())) {
            let fix = match closest(&key.name, known.iter().copied()) {
                Some(word) => format!("did you mean `{word}`?"),
                None => "take it out, or look the key up in the guide".to_owned(),
            };
            self.findings.stray(&key.span, format!("a step has no key `{}`", key.name), fix);
        }
    }

    fn step_id(&self, fields: &mut Fields<'_>) -> (String, Range<usize>) {
        let Some(node) = fields.required("id") else { return (String::new(), fields.span().clone()) };
        let id = text_of(node, "`id`", self.findings).unwrap_or_default();
        let is_good = id.bytes().all(|byte| is_id_byte(byte) || byte == b'_') && id.len() <= LONGEST_STEP_ID;
        if !is_good {
            let message = format!("`{}` cannot be the id of a step", shortened(&id));
            let fix = "use at most 64 of `a-z`, `0-9`, `-` and `_`, such as `frame-gate`";
            self.findings.error(&node.span, message, fix);
        }
        (id, node.span.clone())
    }

    /// Where checks of the whole workflow will point.
    fn note_places(&mut self, id: &str, fields: &mut Fields<'_>) {
        const NOTED: &[&str] = &[
            "title",
            "when",
            "jumpIf",
            "confirm",
            "role",
            "guidance",
            "systemPrompt",
            "references",
            "requires",
        ];
        for field in NOTED.iter().copied() {
            if let Some(node) = fields.raw(field) {
                self.places.field(id, field, &node.span);
            }
        }
        let to = fields.raw("jumpIf").and_then(|jump| jump.get("to"));
        if let Some(to) = to {
            self.places.field(id, "to", &to.span);
        }
    }

    fn kind(&mut self, node: &Node, reading: &mut Reading<'_, '_>) -> Option<StepKind> {
        let mut found = KINDS.iter().filter(|(key, _)| node.get(key).is_some());
        let words = || KINDS.iter().map(|(key, _)| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        let Some((key, kind)) = found.next() else {
            let slip = |key: &Key| closest(&key.name, KINDS.iter().map(|(kind, _)| *kind));
            // That one is told with the other keys that no step has.
            if reading.fields.unasked().any(|key| slip(key).is_some()) {
                return None;
            }
            let message = format!("the step `{}` does nothing", reading.id);
            let place = self.places.of_step(reading.id);
            let place = if place.is_empty() { node.span.clone() } else { place };
            self.findings.error(&place, message, format!("give it one of {}", words()));
            return None;
        };
        let mut others = found.filter(|(_, other)| !(*kind == Kind::Assess && *other == Kind::Prompt));
        if let Some((other, _)) = others.next_back() {
            let span =
                node.entries().iter().find(|(name, _)| name.name == *other).map(|(name, _)| &name.span);
            let message = format!("a step cannot be both `{key}` and `{other}`");
            self.findings.error(span.unwrap_or(&node.span), message, "make two steps of it");
            return None;
        }
        if let Some(value) = node.get(key) {
            self.places.field(reading.id, key, &value.span);
        }
        self.of_kind(*kind, reading)
    }

    fn of_kind(&mut self, kind: Kind, reading: &mut Reading<'_, '_>) -> Option<StepKind> {
        match kind {
            Kind::Assess => self.assess_step(reading),
            Kind::Prompt => Some(self.prompt_step(reading)),
            Kind::Use => self.routine_step(reading),
            Kind::Loop => self.loop_step(reading),
            Kind::Todo => self.todo_step(reading),
            Kind::Run => self.run_step(reading),
            Kind::Gather => self.gather_step(reading),
            Kind::Parallel => self.parallel_step(reading),
            Kind::Spawn => self.spawn_step(reading),
            Kind::Gate => self.gate_step(reading),
            Kind::Decide => self.decide_step(reading),
            Kind::Deliver => self.deliver_step(reading),
        }
    }

    fn jump(&self, mut fields: Fields<'_>) -> Option<Jump> {
        let when = condition::required(&mut fields, "when");
        let to = fields.required_text("to");
        let most = fields.required("maxJumps").and_then(|_| fields.count("maxJumps"));
        if let (Some(count), Some(node)) = (most, fields.raw("maxJumps"))
            && !(1..=MOST_JUMPS).contains(&count)
        {
            let message = format!("`maxJumps` must lie between 1 and {MOST_JUMPS}");
            self.findings.error(&node.span, message, "say how often going back can still help");
        }
        fields.finish();
        Some(Jump { when: when?, to: to?, max_jumps: u32::try_from(most?).ok()? })
    }

    fn attempts(&self, fields: &mut Fields<'_>) -> u32 {
        let Some(attempts) = fields.count("attempts") else { return DEFAULT_ATTEMPTS };
        if let (false, Some(node)) = ((1..=MOST_ATTEMPTS).contains(&attempts), fields.raw("attempts")) {
            let message = format!("`attempts` must lie between 1 and {MOST_ATTEMPTS}");
            self.findings.error(
                &node.span,
                message,
                format!("take it out: {DEFAULT_ATTEMPTS} is the default"),
            );
        }
        u32::try_from(attempts).unwrap_or(DEFAULT_ATTEMPTS)
    }

    fn required_vars(&self, fields: &mut Fields<'_>) -> Vec<String> {
        let nodes = fields.list("requires");
        nodes
            .iter()
            .filter_map(|node| condition::path_of(node, "an entry of `requires`", self.findings))
            .collect()
    }
}

/// `true`, `false` or a map.
fn confirm(fields: &mut Fields<'_>) -> Option<Confirm> {
    const BY: &[(&str, ConfirmBy)] =
        &[("person", ConfirmBy::Person), ("coordinator", ConfirmBy::Coordinator)];
    let by_person = Confirm { by: ConfirmBy::Person, accepts: Some(Channel::Client), when: None };
    match fields.raw("confirm").map(|node| &node.value) {
        None | Some(NodeValue::Bool(false)) => return None,
        Some(NodeValue::Bool(true)) => return Some(by_person),
        Some(_) => {}
    }
    let mut map = fields.map("confirm")?;
    let confirm = Confirm {
        by: map.choice("by", BY).unwrap_or(ConfirmBy::Person),
        accepts: map.choice("accepts", CHANNELS).or(Some(Channel::Client)),
        when: condition::under(&mut map, "when"),
    };
    map.finish();
    Some(confirm)
}
