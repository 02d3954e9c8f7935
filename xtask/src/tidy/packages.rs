//! The packages of the workspace and what they depend on, as `cargo metadata` tells it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::error::Error;
use crate::process;

#[derive(Debug, Default)]
pub(crate) struct Packages {
    ours: Vec<Package>,
    /// Package id to its name and the ids of its normal and build dependencies.
    resolved: BTreeMap<String, Resolved>,
}

/// A member of the workspace with the dependencies that its manifest declares.
#[derive(Debug)]
pub(crate) struct Package {
    id: String,
    pub name: String,
    /// From the root, as `crates/store/Cargo.toml`.
    pub manifest: String,
    pub dependencies: Vec<Dependency>,
}

#[derive(Debug)]
pub(crate) struct Dependency {
    pub name: String,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reaches the product: normal and build dependencies.
    Product,
    Dev,
}

#[derive(Debug)]
struct Resolved {
    name: String,
    dependencies: Vec<String>,
}

impl Packages {
    pub(crate) fn load() -> Result<Self, Error> {
        let host = process::stdout(process::command("rustc").args(["--print", "host-tuple"]))?;
        let mut metadata = process::command("cargo");
        metadata.args(["metadata", "--format-version", "1"]);
        // Without it cargo downloads the crates of every platform that a dependency knows.
        metadata.args(["--filter-platform", String::from_utf8_lossy(&host).trim()]);
        let output = process::stdout(&mut metadata)?;
        let parsed: Option<Value> = serde_json::from_slice(&output).ok();
        parsed.as_ref().and_then(Self::from_metadata).ok_or_else(|| Error::Json {
            command: process::shown(&metadata),
            text: String::from_utf8_lossy(&output).chars().take(80).collect(),
        })
    }

    /// `None` if the value does not have the shape of `cargo metadata --format-version 1`.
    pub(crate) fn from_metadata(metadata: &Value) -> Option<Self> {
        let root = metadata["workspace_root"].as_str()?;
        let packages = metadata["packages"].as_array()?;
        let mut names = BTreeMap::new();
        for package in packages {
            names.insert(package["id"].as_str()?, package["name"].as_str()?);
        }
        let members: BTreeSet<_> =
            metadata["workspace_members"].as_array()?.iter().filter_map(Value::as_str).collect();
        let ours =
            packages.iter().filter(|package| package["id"].as_str().is_some_and(|id| members.contains(id)));
        let nodes = metadata["resolve"]["nodes"].as_array()?.iter();
        Some(Self {
            ours: ours.map(|package| Package::from_metadata(package, root)).collect::<Option<_>>()?,
            resolved: nodes.map(|node| Resolved::from_metadata(node, &names)).collect::<Option<_>>()?,
        })
    }

    pub(crate) fn ours(&self) -> &[Package] {
        &self.ours
    }

    /// The way from one of our packages to a crate that its product contains, both ends included.
    pub(crate) fn way_to(&self, package: &Package, crate_name: &str) -> Option<Vec<&str>> {
        let mut seen = BTreeSet::from([package.id.as_str()]);
        let mut ways = vec![vec![package.id.as_str()]];
        while let Some(way) = ways.pop() {
            let Some(last) = way.last().and_then(|id| self.resolved.get(*id)) else { continue };
            if last.name == crate_name {
                return way.iter().map(|id| self.resolved.get(*id).map(|node| node.name.as_str())).collect();
            }
            for next in &last.dependencies {
                if seen.insert(next) {
                    ways.push(way.iter().copied().chain([next.as_str()]).collect());
                }
            }
        }
        None
    }
}

impl Package {
    fn from_metadata(package: &Value, root: &str) -> Option<Self> {
        let manifest = package["manifest_path"].as_str()?;
        let dependencies = package["dependencies"].as_array()?.iter();
        Some(Self {
            id: package["id"].as_str()?.to_owned(),
            name: package["name"].as_str()?.to_owned(),
            manifest: manifest.strip_prefix(root).unwrap_or(manifest).trim_start_matches('/').to_owned(),
            dependencies: dependencies.map(Dependency::from_metadata).collect::<Option<_>>()?,
        })
    }
}

impl Dependency {
    fn from_metadata(dependency: &Value) -> Option<Self> {
        Some(Self { name: dependency["name"].as_str()?.to_owned(), kind: kind(&dependency["kind"]) })
    }
}

impl Resolved {
    fn from_metadata(node: &Value, names: &BTreeMap<&str, &str>) -> Option<(String, Self)> {
        let id = node["id"].as_str()?;
        let in_product = |dependency: &&Value| {
            let kinds = dependency["dep_kinds"].as_array();
            kinds.is_some_and(|kinds| kinds.iter().any(|entry| kind(&entry["kind"]) == Kind::Product))
        };
        let dependencies = node["deps"].as_array()?.iter().filter(in_product);
        let resolved = Self {
            name: (*names.get(id)?).to_owned(),
            dependencies: dependencies
                .map(|dependency| dependency["pkg"].as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
        };
        Some((id.to_owned(), resolved))
    }
}

/// Cargo writes `null` for a normal dependency.
fn kind(value: &Value) -> Kind {
    if value.as_str() == Some("dev") { Kind::Dev } else { Kind::Product }
}
