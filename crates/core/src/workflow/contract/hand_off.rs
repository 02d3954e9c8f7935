//! What the phases of a pipeline hand to each other. `docs/guide/hand-offs.md` shows each, and a test compares them.
//!
//! Policies read these values, so what they look at is demanded here: a phase that leaves it out is asked once more and
//! then fails.

use serde_json::{Value, json};

use super::builtin::{Fields, Shape, one_of, text, texts};

/// Name and shape of each, in the order of the pipeline.
pub(super) const HAND_OFFS: &[(&str, Shape)] = &[
    ("classification", classification),
    ("discovery_handoff", discovery_handoff),
    ("spec", spec),
    ("plan", plan),
    ("intent", intent),
    ("coding_handoff", coding_handoff),
    ("review_verdict", review_verdict),
    ("audit_verdict", audit_verdict),
    ("gate_verdict", gate_verdict),
    ("retrospective", retrospective),
];

fn flag(example: bool) -> Value {
    json!({ "type": "boolean", "examples": [example] })
}

/// A list of objects that have all of these.
fn list_of(fields: &[(&str, Value)], optional: &[(&str, Value)]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Value> =
        fields.iter().chain(optional).map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "array", "items": { "type": "object", "required": required, "properties": properties } })
}

fn at_least_one(mut list: Value) -> Value {
    list["minItems"] = json!(1);
    list
}

fn classification() -> Fields {
    Fields {
        about: "What kind of task it is. It opens and closes phases, and is checked again against the real change.",
        required: vec![
            ("complexity", one_of(&["trivial", "small", "medium", "large"])),
            ("risk", one_of(&["low", "medium", "high"])),
            ("maturity", one_of(&["idea", "rough", "specced", "ready", "code_complete"])),
            ("hasUI", flag(false)),
            ("touchesArchitecture", flag(false)),
            ("because", text("one function in one module; a wrong result would be seen at once")),
        ],
        optional: Vec::new(),
    }
}

fn discovery_handoff() -> Fields {
    let fact = list_of(
        &[
            ("fact", text("addresses are split at the first `+`")),
            ("evidence", text("src/mail/address.rs:41, and `cargo test mail` prints it")),
        ],
        &[],
    );
    Fields {
        about: "What is known before anything is decided, each fact with its evidence.",
        required: vec![
            ("summary", text("the cause is the split in `local_part`; two callers rely on it")),
            ("facts", at_least_one(fact)),
            ("files", texts("src/mail/address.rs")),
            ("constraints", texts("the stored form of an address must not change")),
            ("open_questions", texts("is the upper case kept?")),
        ],
        optional: vec![("failing_command", text("cargo test mail::plus_sign"))],
    }
}

fn spec() -> Fields {
    let criterion = list_of(
        &[
            ("id", json!({ "type": "string", "pattern": "^[a-z0-9-]+$", "examples": ["c1"] })),
            ("text", text("`a+b@example.org` is accepted and stored as it was typed")),
        ],
        &[("check", text("test"))],
    );
    Fields {
        about: "What is wanted, as criteria that can be judged one by one.",
        required: vec![
            ("summary", text("addresses with a plus sign are accepted")),
            ("criteria", at_least_one(criterion)),
            ("out_of_scope", texts("quoted local parts")),
            ("open_questions", json!({ "type": "array", "items": { "type": "string" }, "examples": [[]] })),
        ],
        optional: Vec::new(),
    }
}

fn plan() -> Fields {
    let slice = list_of(
        &[
            ("title", text("accept the sign")),
            ("detail", text("change `local_part`, with a test for each row of the table")),
            ("files", texts("src/mail/address.rs")),
        ],
        &[],
    );
    Fields {
        about: "How it is done: slices that can be made and checked one after the other.",
        required: vec![("slices", at_least_one(slice))],
        optional: vec![
            ("approach", text("one table of allowed signs, read by the parser")),
            ("decisions", texts("no new dependency: the grammar is ten lines")),
        ],
    }
}

fn intent() -> Fields {
    Fields {
        about: "What is about to be done, before anything is written. The change is compared with it.",
        required: vec![
            ("interpretation", text("accept a plus sign in the local part of mail addresses")),
            ("scope", texts("src/mail/**")),
            ("expected_files", texts("src/mail/address.rs")),
            ("side_effects", texts("`Cargo.lock` does not change")),
            ("risks", texts("two addresses could be taken for one")),
            ("is_destructive", flag(false)),
            ("confidence", one_of(&["high", "medium", "low"])),
        ],
        optional: Vec::new(),
    }
}

fn coding_handoff() -> Fields {
    let how = list_of(
        &[("id", text("c1")), ("how", text("test `plus_sign` in tests/mail.rs, seen failing before"))],
        &[],
    );
    let run = list_of(
        &[("command", text("cargo test mail")), ("outcome", one_of(&["passed", "failed", "could_not_run"]))],
        &[("evidence", text("14 passed"))],
    );
    Fields {
        about: "What was written, for those who review it. Nothing of it is believed: git and the checks are asked.",
        required: vec![
            ("summary", text("`local_part` takes the signs of the table")),
            ("files", texts("src/mail/address.rs")),
            ("criteria", how),
            ("side_effects", json!({ "type": "array", "items": { "type": "string" }, "examples": [[]] })),
            ("tests_run", run),
        ],
        optional: vec![("left_open", texts("quoted local parts are still refused"))],
    }
}

fn findings() -> Value {
    list_of(
        &[
            ("severity", one_of(&["Critical", "Major", "Minor", "Nit"])),
            ("category", text("data loss")),
            ("file", text("src/mail/address.rs")),
            (
                "evidence",
                text("with `a+b@x` the stored address is `a@x`: `cargo run -- add a+b@x` prints it"),
            ),
            ("fix", text("keep the sign when the address is stored")),
        ],
        &[
            ("line", json!({ "type": "integer", "minimum": 1 })),
            ("criterion", json!({ "type": ["string", "null"], "examples": ["c1"] })),
        ],
    )
}

fn review_verdict() -> Fields {
    let judged = list_of(
        &[
            ("id", text("c1")),
            ("outcome", one_of(&["met", "not_met", "unclear"])),
            ("evidence", text("`cargo test plus_sign` passes, and fails without the change")),
        ],
        &[],
    );
    Fields {
        about: "What one reviewer found, and what holds of each criterion.",
        required: vec![
            ("family", one_of(&["correctness", "tests", "security", "architecture"])),
            ("findings", findings()),
            ("criteria", judged),
            ("summary", text("one address in the table is stored wrongly")),
        ],
        optional: Vec::new(),
    }
}

fn audit_verdict() -> Fields {
    Fields {
        about: "Whether a finished change is fit to go where it goes.",
        required: vec![
            ("verdict", one_of(&["clean", "concerns", "unsafe"])),
            ("findings", findings()),
            ("summary", text("it can be rolled back, and a failure is seen")),
        ],
        optional: Vec::new(),
    }
}

fn gate_verdict() -> Fields {
    Fields {
        about: "Whether what was handed in passes the gate.",
        required: vec![
            ("verdict", one_of(&["approved", "rejected", "uncertain"])),
            ("rationale", text("every criterion was looked at and holds")),
            ("confidence", one_of(&["high", "medium", "low"])),
        ],
        optional: Vec::new(),
    }
}

fn retrospective() -> Fields {
    let item = list_of(
        &[
            ("title", text("a check that compares stored and typed addresses")),
            ("because", text("two reviews looked for it by hand")),
        ],
        &[],
    );
    Fields {
        about: "What the next task of this kind should know.",
        required: vec![
            ("went_well", texts("the failing test was there before the first edit")),
            ("went_badly", texts("the first fix lost the sign")),
            ("root_causes", texts("no test stored an address and read it back")),
            ("items", item),
        ],
        optional: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::HAND_OFFS;
    use crate::workflow::contract::builtin;

    const GUIDE: &str = include_str!("../../../../../docs/guide/hand-offs.md");

    #[test]
    fn the_guide_shows_each_schema_as_it_is() {
        let sections: Vec<&str> = GUIDE.split("\n## `").skip(1).collect();
        let named: Vec<&str> = sections.iter().filter_map(|section| section.split('`').next()).collect();
        assert_eq!(named, HAND_OFFS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        for section in sections {
            let name = section.split('`').next().unwrap();
            let start = section.find("```json\n").unwrap() + "```json\n".len();
            let end = section[start..].find("```").unwrap() + start;
            let shown: Value = serde_json::from_str(&section[start..end]).unwrap();
            assert_eq!(shown, builtin(name).unwrap().schema, "{name}");
        }
    }

    #[test]
    fn what_policies_read_of_an_example_is_there() {
        use crate::policy::facts::{Classification, Intent, Verdict};
        let example = |name: &str| builtin(name).unwrap().example;
        serde_json::from_value::<Classification>(example("classification")).unwrap();
        serde_json::from_value::<Intent>(example("intent")).unwrap();
        serde_json::from_value::<Verdict>(example("review_verdict")).unwrap();
    }

    #[test]
    fn the_shapes_under_the_names_of_workrail_stay_what_they_were() {
        let old = builtin("wr.contracts.review_verdict").unwrap().schema;
        assert_eq!(old["properties"]["verdict"]["enum"][2], "blocking");
        assert!(builtin("review_verdict").unwrap().schema["properties"].get("verdict").is_none());
        assert!(builtin("wr.contracts.classification").is_none());
    }
}
