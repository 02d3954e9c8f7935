//! Which crate may depend on which. The walls of the workspace exist because this table is checked.
//!
//! Dev-dependencies are exempt: tests may look at anything. `longhaul-testkit` may be nothing else.

use super::finding::Finding;
use super::packages::{Kind, Package, Packages};
use super::repo::Repo;

/// A crate of ours and the crates of ours that it may use.
struct Wall {
    package: &'static str,
    may_use: &'static [&'static str],
}

const WALLS: &[Wall] = &[
    Wall { package: "longhaul-events", may_use: &[] },
    Wall { package: "longhaul-core", may_use: &["longhaul-events"] },
    Wall { package: "longhaul-exec", may_use: &[] },
    Wall { package: "longhaul-git", may_use: &["longhaul-exec"] },
    Wall { package: "longhaul-store", may_use: &["longhaul-events", "longhaul-core"] },
    Wall { package: "longhaul-model", may_use: &["longhaul-events"] },
    Wall {
        package: "longhaul-agent",
        may_use: &["longhaul-events", "longhaul-core", "longhaul-exec", "longhaul-model"],
    },
    Wall { package: "longhaul-gateway", may_use: &["longhaul-core"] },
    Wall { package: "longhaul-acp", may_use: &["longhaul-events", "longhaul-exec"] },
    Wall { package: "longhaul-forge", may_use: &["longhaul-events", "longhaul-core", "longhaul-git"] },
    Wall {
        package: "longhaul-runtime",
        may_use: &[
            "longhaul-events",
            "longhaul-core",
            "longhaul-store",
            "longhaul-exec",
            "longhaul-git",
            "longhaul-agent",
            "longhaul-model",
            "longhaul-gateway",
            "longhaul-acp",
            "longhaul-forge",
        ],
    },
    Wall { package: "longhaul-mcp", may_use: &["longhaul-events", "longhaul-core", "longhaul-runtime"] },
    Wall { package: "longhaul-web", may_use: &["longhaul-events", "longhaul-core", "longhaul-runtime"] },
    Wall { package: "longhaul", may_use: &["longhaul-runtime", "longhaul-mcp", "longhaul-web"] },
    Wall {
        package: TESTKIT,
        may_use: &[
            "longhaul-events",
            "longhaul-core",
            "longhaul-store",
            "longhaul-exec",
            "longhaul-git",
            "longhaul-agent",
            "longhaul-model",
            "longhaul-gateway",
            "longhaul-acp",
            "longhaul-forge",
            "longhaul-runtime",
            "longhaul-mcp",
            "longhaul-web",
        ],
    },
    Wall { package: "xtask", may_use: &[] },
];

const TESTKIT: &str = "longhaul-testkit";

/// Crates that must not be in a package's product, not even through others.
const BARRED: &[(&str, &[&str])] = &[("longhaul-events", &["tokio"]), ("longhaul-core", &["tokio"])];

/// `longhaul-events` must stay readable by any tool, so it takes nothing but these.
const EVENTS_MAY_USE: &[&str] = &["serde", "serde_json", "thiserror"];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let packages = repo.packages();
    let ours = packages.ours().iter();
    ours.flat_map(|package| {
        let mut breaches = direct(package, packages);
        breaches.extend(barred(package, packages));
        breaches.into_iter().map(|(name, message)| {
            let manifest = repo.files().get(&package.manifest).map_or("", String::as_str);
            Finding::new(&package.manifest, declared_at(manifest, &name), message)
        })
    })
    .collect()
}

/// Breaches by what the manifest declares, each with the name of the dependency.
fn direct(package: &Package, packages: &Packages) -> Vec<(String, String)> {
    let from = &package.name;
    let Some(wall) = WALLS.iter().find(|wall| wall.package == from.as_str()) else {
        let message = format!("`{from}` has no row in the table of allowed edges; add one to `{}`", file!());
        return vec![("name".to_owned(), message)];
    };
    let mut breaches = Vec::new();
    for dependency in package.dependencies.iter().filter(|dependency| dependency.kind == Kind::Product) {
        let to = &dependency.name;
        let is_ours = packages.ours().iter().any(|other| other.name == *to);
        let message = if to == TESTKIT {
            format!("`{from}` → `{to}`: testkit is for tests; make it a dev-dependency")
        } else if is_ours && !wall.may_use.contains(&to.as_str()) {
            format!("`{from}` → `{to}` is not an allowed edge; {}", detour(wall))
        } else if to == "rusqlite" && from != "longhaul-store" {
            format!("`{from}` → `{to}`: only `longhaul-store` knows SQL; ask it instead")
        } else if !is_ours && from == "longhaul-events" && !EVENTS_MAY_USE.contains(&to.as_str()) {
            format!(
                "`{from}` → `{to}`: events use {} only; move the code to `longhaul-core`",
                list(EVENTS_MAY_USE)
            )
        } else {
            continue;
        };
        breaches.push((to.clone(), message));
    }
    breaches
}

/// Breaches through any number of other crates.
fn barred(package: &Package, packages: &Packages) -> Vec<(String, String)> {
    let rows = BARRED.iter().filter(|(from, _)| *from == package.name);
    let names = rows.flat_map(|(_, names)| names.iter());
    names
        .filter_map(|name| {
            let way = packages.way_to(package, name)?;
            let message =
                format!("{}: this crate must stay pure; drop the dependency that brings it in", arrows(&way));
            Some((way[1].to_owned(), message))
        })
        .collect()
}

/// What to do about an edge of ours that is not in the table.
fn detour(wall: &Wall) -> String {
    if wall.may_use.is_empty() {
        "this crate uses none of ours, so move the code".to_owned()
    } else {
        format!("move the code, or go through {}", list(wall.may_use))
    }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn arrows(way: &[&str]) -> String {
    way.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" → ")
}

/// The line of a manifest that begins with a key; the first line if there is none.
fn declared_at(manifest: &str, key: &str) -> usize {
    let declares = |line: &str| {
        let rest = line.trim_start().strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start().starts_with(['.', '=']))
    };
    manifest.lines().position(declares).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::super::finding::shown;
    use super::*;

    /// What `cargo metadata` would say of a workspace with these edges, written `from -> to [kind]`.
    fn workspace(edges: &[&str]) -> Value {
        let edges: Vec<Vec<&str>> = edges.iter().map(|edge| edge.split_whitespace().collect()).collect();
        let names: BTreeSet<&str> = edges.iter().flat_map(|edge| [edge[0], edge[2]]).collect();
        let from = |name: &str| -> Vec<(&str, Option<&str>)> {
            let own = edges.iter().filter(|edge| edge[0] == name);
            own.map(|edge| (edge[2], edge.get(3).copied())).collect()
        };
        let package = |name: &&str| {
            let declared = from(name).into_iter().map(|(to, kind)| json!({"name": to, "kind": kind}));
            json!({
                "id": name,
                "name": name,
                "manifest_path": format!("/repo/{name}.toml"),
                "dependencies": declared.collect::<Value>(),
            })
        };
        let node = |name: &&str| {
            let used =
                from(name).into_iter().map(|(to, kind)| json!({"pkg": to, "dep_kinds": [{"kind": kind}]}));
            json!({"id": name, "deps": used.collect::<Value>()})
        };
        json!({
            "workspace_root": "/repo",
            "workspace_members": names.iter().filter(|name| name.starts_with("longhaul")).collect::<Vec<_>>(),
            "packages": names.iter().map(package).collect::<Value>(),
            "resolve": {"nodes": names.iter().map(node).collect::<Value>()},
        })
    }

    fn findings(edges: &[&str]) -> Vec<String> {
        let packages = Packages::from_metadata(&workspace(edges)).expect("the sample has cargo's shape");
        shown(&check(&Repo::of(&[]).with_packages(packages)))
    }

    #[test]
    fn allowed_edges_and_dev_dependencies_pass() {
        let found = findings(&[
            "longhaul-events -> serde",
            "longhaul-core -> longhaul-events",
            "longhaul-core -> longhaul-store dev",
            "longhaul-core -> tokio dev",
            "longhaul-store -> longhaul-core",
            "longhaul-store -> rusqlite",
            "longhaul-store -> longhaul-testkit dev",
            "longhaul-testkit -> longhaul-store",
        ]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn an_edge_against_the_direction_is_named() {
        assert_eq!(
            findings(&["longhaul -> longhaul-store"]),
            [
                "longhaul.toml:1: `longhaul` → `longhaul-store` is not an allowed edge; move the code, or go through \
              `longhaul-runtime`, `longhaul-mcp`, `longhaul-web`"
            ]
        );
        assert_eq!(
            findings(&["longhaul-exec -> longhaul-events"]),
            [
                "longhaul-exec.toml:1: `longhaul-exec` → `longhaul-events` is not an allowed edge; this crate uses \
              none of ours, so move the code"
            ]
        );
    }

    #[test]
    fn a_build_dependency_counts_as_a_product_edge() {
        let found = findings(&["longhaul-core -> longhaul-exec build"]);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn testkit_is_a_dev_dependency_only() {
        assert_eq!(
            findings(&["longhaul-runtime -> longhaul-testkit"]),
            [
                "longhaul-runtime.toml:1: `longhaul-runtime` → `longhaul-testkit`: testkit is for tests; make it a \
              dev-dependency"
            ]
        );
    }

    #[test]
    fn only_the_store_knows_sql() {
        assert_eq!(
            findings(&["longhaul-runtime -> rusqlite"]),
            [
                "longhaul-runtime.toml:1: `longhaul-runtime` → `rusqlite`: only `longhaul-store` knows SQL; ask it \
              instead"
            ]
        );
    }

    #[test]
    fn events_take_three_crates_and_no_more() {
        assert_eq!(
            findings(&["longhaul-events -> jiff"]),
            [
                "longhaul-events.toml:1: `longhaul-events` → `jiff`: events use `serde`, `serde_json`, `thiserror` \
              only; move the code to `longhaul-core`"
            ]
        );
    }

    #[test]
    fn tokio_is_found_behind_another_crate() {
        assert_eq!(
            findings(&["longhaul-core -> helper", "helper -> tokio"]),
            [
                "longhaul-core.toml:1: `longhaul-core` → `helper` → `tokio`: this crate must stay pure; drop the \
              dependency that brings it in"
            ]
        );
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        let found = findings(&["longhaul-extra -> serde"]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("`longhaul-extra` has no row"), "{found:?}");
    }

    #[test]
    fn the_finding_points_at_the_line_of_the_dependency() {
        let manifest = "[dependencies]\nlonghaul-storey = \"1\"\nlonghaul-store.workspace = true\n";
        assert_eq!(declared_at(manifest, "longhaul-store"), 3);
        assert_eq!(declared_at(manifest, "missing"), 1);
    }
}
