//! What a workflow asks for beside its steps: documents that should be there, and how freely it wants to run.

use std::path::{Component, Path};

use longhaul_core::workflow::{Preferences, Reference, ResolveFrom, Workflow};

use super::found::Package;

/// From the most careful to the freest.
const AUTONOMY: [&str; 3] = ["guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"];
const RISK: [&str; 3] = ["conservative", "balanced", "aggressive"];

/// Where references begin.
pub(super) struct Roots<'a> {
    pub(super) workspace: Option<&'a Path>,
    pub(super) package: &'a Package,
}

/// A line for each reference that leads nowhere. None of them stops a start.
pub(super) fn missing(workflow: &Workflow, roots: &Roots<'_>) -> Vec<String> {
    let absent = workflow.references.iter().filter(|reference| !is_there(reference, roots));
    let line = |reference: &Reference| {
        let from = match reference.resolve_from {
            ResolveFrom::Workspace => "the workspace",
            ResolveFrom::Package => "the place that the workflow comes from",
        };
        let Reference { id, source, .. } = reference;
        format!(
            "reference `{id}` points to `{source}`, which is not in {from}; add it, or take the reference out"
        )
    };
    absent.map(line).collect()
}

fn is_there(reference: &Reference, roots: &Roots<'_>) -> bool {
    let source = reference.source.split('#').next().unwrap_or_default();
    // What is elsewhere on the network is not looked up.
    if source.contains("://") {
        return true;
    }
    let path = Path::new(source);
    let inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if source.is_empty() || !inside {
        return false;
    }
    match reference.resolve_from {
        ResolveFrom::Workspace => roots.workspace.is_some_and(|top| top.join(path).exists()),
        ResolveFrom::Package => match roots.package {
            Package::Folder(folder) => folder.join(path).exists(),
            Package::Commit(repository, commit) => {
                let plain = source.trim_start_matches("./");
                longhaul_git::has_path(repository, commit, plain).unwrap_or(false)
            }
            Package::Nowhere => false,
        },
    }
}

/// A line for each way in which a run is freer than the author recommends. A warning, never a block.
pub fn exceeded(recommended: &Preferences, actual: &Preferences) -> Vec<String> {
    let pairs = [
        ("autonomy", &recommended.autonomy, &actual.autonomy, AUTONOMY),
        ("risk policy", &recommended.risk_policy, &actual.risk_policy, RISK),
    ];
    let freer = |(what, recommended, actual, order): (&str, &Option<String>, &Option<String>, [&str; 3])| {
        let (recommended, actual) = (recommended.as_ref()?, actual.as_ref()?);
        let rank = |word: &str| order.iter().position(|known| *known == word);
        (rank(actual)? > rank(recommended)?).then(|| {
            format!("the author recommends {what} `{recommended}`, and this runs with `{actual}`; lower it if you can")
        })
    };
    pairs.into_iter().filter_map(freer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preferences(autonomy: &str, risk_policy: &str) -> Preferences {
        Preferences { autonomy: Some(autonomy.to_owned()), risk_policy: Some(risk_policy.to_owned()) }
    }

    #[test]
    fn running_freer_than_recommended_is_said_and_running_safer_is_not() {
        let recommended = preferences("guided", "balanced");
        assert_eq!(exceeded(&recommended, &preferences("guided", "conservative")), Vec::<String>::new());
        let said = exceeded(&recommended, &preferences("full_auto_never_stop", "aggressive"));
        assert_eq!(
            said,
            [
                "the author recommends autonomy `guided`, and this runs with `full_auto_never_stop`; lower it if you can",
                "the author recommends risk policy `balanced`, and this runs with `aggressive`; lower it if you can"
            ]
        );
    }

    #[test]
    fn a_reference_must_lie_inside_its_root() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("guide.md"), "").unwrap();
        let roots = Roots { workspace: Some(folder.path()), package: &Package::Nowhere };
        let there = |source: &str, resolve_from| {
            let text = || "x".to_owned();
            let source = source.to_owned();
            let authoritative = false;
            let reference =
                Reference { id: text(), title: text(), purpose: text(), source, authoritative, resolve_from };
            is_there(&reference, &roots)
        };
        assert!(there("guide.md", ResolveFrom::Workspace));
        assert!(there("./guide.md#part", ResolveFrom::Workspace));
        assert!(there("https://example.org/guide", ResolveFrom::Workspace));
        for source in ["other.md", "", "../guide.md", "/etc/passwd"] {
            assert!(!there(source, ResolveFrom::Workspace), "{source}");
        }
        assert!(!there("guide.md", ResolveFrom::Package), "a bundled workflow has no files beside it");
    }
}
