//! Every event variant has a golden sample, so that a later build is held to reading what an earlier one wrote.
//!
//! `<Variant>.json` is the current shape, `<Variant>.v1.json` … are older ones that an upcaster lifts, and
//! `<Variant>.retired.json` belongs to a variant that no build writes any more.

use std::collections::BTreeSet;

use syn::ItemEnum;
use syn::visit::Visit;

use super::finding::Finding;
use super::repo::Repo;

const SOURCES: &str = "crates/events/src/";
const SAMPLES: &str = "crates/events/golden/";

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let variants = variants(repo);
    let mut findings = missing(repo, &variants);
    for (sample, text) in repo.below(SAMPLES) {
        let path = format!("{SAMPLES}{sample}");
        if let Some(message) = stray(sample, &variants) {
            findings.push(Finding::new(&path, 1, message));
        }
        if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
            let message = format!("is not JSON ({error}); a golden sample holds one event as it was stored");
            findings.push(Finding::new(&path, error.line().max(1), message));
        }
    }
    findings
}

/// A variant of a stream's enum and where it is declared.
struct Variant {
    event: String,
    name: String,
    path: String,
    line: usize,
}

fn variants(repo: &Repo) -> Vec<Variant> {
    let mut found = Vec::new();
    for file in repo.rust().iter().filter(|file| file.path().starts_with(SOURCES)) {
        let Ok(syntax) = file.syntax() else { continue };
        let mut enums = Enums::default();
        enums.visit_file(syntax);
        found.extend(
            enums
                .variants
                .into_iter()
                .filter(|variant| !file.is_test(variant.line))
                .map(|variant| Variant { path: file.path().to_owned(), ..variant }),
        );
    }
    found
}

fn missing(repo: &Repo, variants: &[Variant]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Variant { event, name, path, line } in variants {
        let sample = format!("{SAMPLES}{event}/{name}.json");
        if !repo.files().contains_key(&sample) {
            let message = format!("`{event}::{name}` has no golden sample; add `{sample}`");
            findings.push(Finding::new(path, *line, message));
        }
    }
    findings
}

/// Why a sample belongs to nothing, if so.
fn stray(sample: &str, variants: &[Variant]) -> Option<String> {
    if sample.ends_with(".retired.json") {
        return None;
    }
    let remedy = "events are append-only, so bring it back or rename the sample to `<Variant>.retired.json`";
    let Some((event, file)) = sample.split_once('/') else {
        return Some("lies outside the folder of an event; move it to `<Enum>/<Variant>.json`".to_owned());
    };
    let (name, rest) = file.split_once('.').unwrap_or((file, ""));
    let version = rest.strip_prefix('v').and_then(|rest| rest.strip_suffix(".json"));
    let versioned = version.is_some_and(|number| number.parse::<u32>().is_ok());
    if rest != "json" && !versioned {
        return Some("is not named `<Variant>.json` or `<Variant>.v<N>.json`; rename it".to_owned());
    }
    let known: BTreeSet<_> = variants.iter().map(|variant| (&*variant.event, &*variant.name)).collect();
    (!known.contains(&(event, name))).then(|| format!("has no variant `{event}::{name}`; {remedy}"))
}

#[derive(Default)]
struct Enums {
    variants: Vec<Variant>,
}

impl<'ast> Visit<'ast> for Enums {
    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        let event = item.ident.to_string();
        if !event.ends_with("Event") || !matches!(item.vis, syn::Visibility::Public(_)) {
            return;
        }
        self.variants.extend(item.variants.iter().map(|variant| Variant {
            event: event.clone(),
            name: variant.ident.to_string(),
            path: String::new(),
            line: variant.ident.span().start().line,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::shown;
    use super::*;

    const EVENTS: (&str, &str) = (
        "crates/events/src/session.rs",
        "//! Sessions.\npub enum SessionEvent {\n    Opened,\n    Closed { at: u64 },\n}\nenum InnerEvent { A }\n",
    );
    const OPENED: (&str, &str) = ("crates/events/golden/SessionEvent/Opened.json", "{}");
    const CLOSED: (&str, &str) = ("crates/events/golden/SessionEvent/Closed.json", "{}");

    fn findings(more: &[(&str, &str)]) -> Vec<String> {
        shown(&check(&Repo::of(&[&[EVENTS, OPENED], more].concat())))
    }

    #[test]
    fn complete_samples_pass_with_older_and_retired_ones() {
        let older = ("crates/events/golden/SessionEvent/Opened.v1.json", "{}");
        let retired = ("crates/events/golden/SessionEvent/Paused.retired.json", "{}");
        assert_eq!(findings(&[CLOSED, older, retired]), [""; 0]);
    }

    #[test]
    fn a_variant_without_a_sample_is_a_finding() {
        assert_eq!(
            findings(&[]),
            ["crates/events/src/session.rs:4: `SessionEvent::Closed` has no golden sample; add \
              `crates/events/golden/SessionEvent/Closed.json`"]
        );
    }

    #[test]
    fn a_sample_without_a_variant_is_a_finding() {
        let stray = ("crates/events/golden/SessionEvent/Paused.json", "{}");
        assert_eq!(
            findings(&[CLOSED, stray]),
            [
                "crates/events/golden/SessionEvent/Paused.json:1: has no variant `SessionEvent::Paused`; events are \
              append-only, so bring it back or rename the sample to `<Variant>.retired.json`"
            ]
        );
    }

    #[test]
    fn a_sample_with_another_name_or_place_is_a_finding() {
        for name in ["SessionEvent/Opened.old.json", "SessionEvent/Opened.vx.json", "Opened.json"] {
            let path = format!("{SAMPLES}{name}");
            assert_eq!(findings(&[CLOSED, (&path, "{}")]).len(), 1, "{name}");
        }
    }

    #[test]
    fn a_sample_that_is_not_json_is_a_finding() {
        let found = findings(&[(CLOSED.0, "{\n")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("is not JSON"), "{found:?}");
    }
}
