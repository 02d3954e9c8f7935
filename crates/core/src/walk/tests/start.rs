//! What a session may be started with.

use serde_json::{Map, Value, json};

use super::play::{Play, compiled};

const OPEN: &str = "{ longhaul: 1, id: t, name: T, version: 1.0.0, steps: [{ id: a, prompt: A }] }";

fn refused(vars: Value) -> Vec<String> {
    let vars: Map<String, Value> = serde_json::from_value(vars).unwrap();
    let refused = Play::try_start(compiled(OPEN), &vars).err().unwrap_or_default();
    refused.into_iter().map(|reason| reason.code).collect()
}

/// Found by fuzzing: a value that could just be read was written into an event that could not be read again.
#[test]
fn what_is_given_at_the_start_has_the_limits_of_an_answer() {
    let deep = (0..100).fold(Value::Null, |inner, _| json!([inner]));
    assert!(refused(json!({ "goal": deep })).contains(&"too_deep".to_owned()));
    assert!(refused(json!({ "goal": "x".repeat(300_000) })).contains(&"too_large".to_owned()));
    assert!(refused(json!({ "goal": "\0" })).contains(&"nul".to_owned()));
    assert!(refused(json!({ "__proto__": 1 })).contains(&"forbidden_key".to_owned()));
    assert!(refused(json!({ "goal": "fits" })).is_empty());
}
