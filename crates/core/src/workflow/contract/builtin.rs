//! Contracts that every workflow can name: those that WorkRail files mention, and the same under native names.
//!
//! Each says what the prompts of such files ask for. Further keys are allowed, so that an agent that tells more
//! is not refused.

use serde_json::{Value, json};

use super::hand_off::HAND_OFFS;
use super::{Contract, example, validator};

const WORKRAIL_PREFIX: &str = "wr.contracts.";

pub(super) type Shape = fn() -> Fields;

/// Name and shape. The name is the native name, the end of the WorkRail name, and the end of its `kind`.
const SHAPES: &[(&str, Shape)] = &[
    ("assessment", assessment),
    ("loop_control", loop_control),
    ("coordinator_signal", coordinator_signal),
    ("review_verdict", review_verdict),
    ("discovery_handoff", discovery_handoff),
    ("shaping_handoff", shaping_handoff),
    ("coding_handoff", coding_handoff),
    ("gate_verdict", gate_verdict),
    ("differentiation_handoff", differentiation_handoff),
];

/// The contract of that name, such as `wr.contracts.loop_control` or `loop_control`.
pub fn builtin(name: &str) -> Option<Contract> {
    let (prefix, short) = match name.strip_prefix(WORKRAIL_PREFIX) {
        Some(short) => ("wr.", short),
        None => ("", name),
    };
    // Under its native name a hand-off is what our pipelines ask for.
    let ours = if prefix.is_empty() { HAND_OFFS } else { &[] };
    let (_, shape) = ours.iter().chain(SHAPES).find(|(known, _)| *known == short)?;
    Some(contract(&format!("{prefix}{short}"), shape()))
}

/// Every name that [`builtin`] knows.
pub fn builtin_names() -> impl Iterator<Item = String> {
    let workrail = SHAPES.iter().map(|(name, _)| format!("{WORKRAIL_PREFIX}{name}"));
    let is_ours = |name: &str| HAND_OFFS.iter().any(|(ours, _)| *ours == name);
    let ours = HAND_OFFS.iter().map(|(name, _)| (*name).to_owned());
    let others = SHAPES.iter().filter(move |(name, _)| !is_ours(name)).map(|(name, _)| (*name).to_owned());
    workrail.chain(ours).chain(others)
}

pub(super) struct Fields {
    pub about: &'static str,
    pub required: Vec<(&'static str, Value)>,
    pub optional: Vec<(&'static str, Value)>,
}

fn contract(kind: &str, fields: Fields) -> Contract {
    let mut properties = serde_json::Map::new();
    properties.insert("kind".to_owned(), json!({ "const": kind }));
    let mut required = vec![json!("kind")];
    for (name, schema) in fields.required {
        required.push(json!(name));
        properties.insert(name.to_owned(), schema);
    }
    for (name, schema) in fields.optional {
        properties.insert(name.to_owned(), schema);
    }
    let schema = json!({
        "description": fields.about,
        "type": "object",
        "required": required,
        "properties": properties,
    });
    let judge = validator::build(&schema).expect("a built-in schema is a schema");
    let example =
        example::make(&schema, |value| judge.is_valid(value)).expect("a built-in schema has an example");
    Contract { kind: Some(kind.to_owned()), schema, example }
}

pub(super) fn text(example: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "examples": [example] })
}

pub(super) fn texts(example: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "examples": [[example]] })
}

pub(super) fn one_of(words: &[&str]) -> Value {
    json!({ "enum": words })
}

fn confidence() -> Value {
    one_of(&["high", "medium", "low"])
}

fn version() -> Value {
    json!({ "const": 1 })
}

fn loop_control() -> Fields {
    Fields {
        about: "Whether the loop goes on.",
        required: vec![("decision", one_of(&["continue", "stop"]))],
        optional: vec![
            ("loopId", json!({ "type": "string" })),
            (
                "metadata",
                json!({
                    "type": "object",
                    "properties": {
                        "reason": { "type": "string" },
                        "issuesFound": { "type": "number" },
                        "iterationIndex": { "type": "number" },
                        "confidence": { "type": ["number", "string"] },
                    },
                }),
            ),
        ],
    }
}

fn assessment() -> Fields {
    let level = json!({ "type": "string", "minLength": 1 });
    Fields {
        about: "The level of each dimension of one assessment.",
        required: vec![
            ("assessmentId", text("readiness")),
            (
                "dimensions",
                json!({
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": {
                        "anyOf": [
                            level,
                            {
                                "type": "object",
                                "required": ["level"],
                                "properties": { "level": level, "rationale": { "type": "string" } },
                            },
                        ],
                    },
                    "examples": [{ "confidence": { "level": "high", "rationale": "two sources agree" } }],
                }),
            ),
        ],
        optional: vec![("summary", json!({ "type": "string" }))],
    }
}

fn coordinator_signal() -> Fields {
    Fields {
        about: "Something that the coordinator should know or decide now.",
        required: vec![
            ("signalKind", text("finding")),
            ("payload", json!({ "type": "object", "examples": [{ "summary": "what was found" }] })),
        ],
        optional: Vec::new(),
    }
}

fn review_verdict() -> Fields {
    let finding = json!({
        "type": "object",
        "required": ["severity", "summary"],
        "properties": {
            "severity": one_of(&["critical", "major", "minor", "nit"]),
            "summary": text("what is wrong, in one line"),
            "findingCategory": { "type": "string" },
            "file": { "type": "string" },
            "startLine": { "type": "integer", "minimum": 1 },
            "endLine": { "type": "integer", "minimum": 1 },
            "causalLink": { "type": "string" },
            "remediation": { "type": "string" },
        },
    });
    Fields {
        about: "What a review came to, with every finding.",
        required: vec![
            ("verdict", one_of(&["clean", "minor", "blocking"])),
            ("confidence", confidence()),
            ("findings", json!({ "type": "array", "items": finding, "examples": [[]] })),
            ("summary", text("no issue found")),
        ],
        optional: Vec::new(),
    }
}

fn discovery_handoff() -> Fields {
    Fields {
        about: "What discovery chose, for the phases that follow.",
        required: vec![("selectedDirection", text("the direction that was chosen, in one sentence"))],
        optional: vec![
            ("version", version()),
            ("designDocPath", json!({ "type": "string" })),
            ("confidenceBand", confidence()),
            ("keyInvariants", texts("what must stay true")),
            ("implementationConstraints", texts("what the implementation must respect")),
            ("rejectedDirections", json!({ "type": "array" })),
            ("keyCodebaseLocations", json!({ "type": "array" })),
        ],
    }
}

fn shaping_handoff() -> Fields {
    Fields {
        about: "A shaped pitch, for those who build it.",
        required: vec![
            ("version", version()),
            ("pitchPath", json!({ "type": "string", "examples": ["path/to/pitch.md"] })),
            ("selectedShape", json!({ "type": "string", "examples": ["the shape that was chosen"] })),
            ("appetite", json!({ "type": "string", "examples": ["two days"] })),
            ("keyConstraints", texts("what the builder must respect")),
            ("rabbitHoles", texts("a trap to stay out of")),
            ("outOfScope", texts("what is ruled out")),
            ("validationChecklist", texts("what can be checked in the end")),
        ],
        optional: Vec::new(),
    }
}

fn coding_handoff() -> Fields {
    Fields {
        about: "What was built and decided, for those who review it.",
        required: vec![("keyDecisions", texts("what was decided and why"))],
        optional: vec![
            ("version", version()),
            ("knownLimitations", json!({ "type": "array" })),
            ("testsAdded", json!({ "type": "array" })),
            ("filesChanged", json!({ "type": "array" })),
            ("correctedAssumptions", json!({ "type": "array" })),
        ],
    }
}

fn gate_verdict() -> Fields {
    Fields {
        about: "Whether what was handed in passes the gate.",
        required: vec![
            ("verdict", one_of(&["approved", "rejected", "uncertain"])),
            ("rationale", text("every criterion was looked at and holds")),
            ("confidence", confidence()),
        ],
        optional: vec![("version", version()), ("stepId", json!({ "type": "string" }))],
    }
}

fn differentiation_handoff() -> Fields {
    Fields {
        about: "What sets the product apart, for shaping.",
        required: vec![("version", version())],
        optional: vec![
            ("winningCandidate", json!({ "type": "string" })),
            ("targetSegment", json!({ "type": "string" })),
            ("targetJTBD", json!({ "type": "object" })),
            ("killerFeatures", json!({ "type": "array" })),
            ("incumbentVulnerabilities", json!({ "type": "array" })),
            ("validationChecklist", json!({ "type": "array" })),
            ("shapingHandoff", json!({ "type": "object" })),
        ],
    }
}
