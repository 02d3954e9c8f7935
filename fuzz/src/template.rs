//! Templates: the text up to a line `---`, then the vars as JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use longhaul_core::workflow::scope::Scope;
use longhaul_core::workflow::template::{paths, problems, render};
use serde_json::{Map, Value};

use super::draw::Draw;

pub fn run(bytes: &[u8]) {
    if let Some(choices) = bytes.strip_prefix(b"!") {
        let draw = &mut Draw::new(choices);
        let parts = draw.below(8);
        let text: String = (0..parts).map(|_| draw.text()).collect();
        judge(&text, draw.object());
    } else if let Ok(text) = std::str::from_utf8(bytes) {
        let (text, vars) = text.split_once("\n---\n").unwrap_or((text, "{}"));
        judge(text, serde_json::from_str(vars).unwrap_or_default());
    }
}

fn judge(text: &str, vars: Map<String, Value>) {
    let vars: BTreeMap<_, _> = vars.into_iter().map(|(name, value)| (name, Arc::new(value))).collect();
    let scope = Scope::new(&vars);
    let (paths, problems) = (paths(text), problems(text));
    let mut spans: Vec<_> = paths.iter().map(|path| path.span.clone()).collect();
    spans.extend(problems.iter().map(|problem| problem.span.clone()));
    spans.sort_by_key(|span| span.start);
    for span in &spans {
        let place = &text[span.clone()];
        // One that is never closed is told of by its opening alone.
        assert!(place == "{{" || place.starts_with("{{") && place.ends_with("}}"), "not a place: {place}");
    }
    assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "places overlap: {spans:?}");
    let rendered = render(text, &scope);
    if paths.is_empty() {
        assert_eq!(rendered, text, "what is not a template stays as it stands");
    }
    assert_eq!(rendered, render(text, &Scope::new(&vars)), "rendering is deterministic");
}
