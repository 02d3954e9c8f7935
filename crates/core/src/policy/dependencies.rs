//! Which versions of others' code a change brings, read from the files that name them.
//!
//! What cannot be read is not known, and then a person looks. Nothing is guessed from an agent's words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::facts::Bump;
use super::{glob, protected};

/// Name → the versions that are named.
type Versions = BTreeMap<String, BTreeSet<String>>;

/// Whether a file names dependencies.
pub fn named_in(path: &str) -> bool {
    let path = path.to_lowercase();
    protected::DEPENDENCIES.patterns.iter().any(|pattern| glob::fits(pattern, &path))
}

/// What changed between two texts of such a file; nothing where the file cannot be read. No text is a file that is not there.
pub fn bumps(path: &str, before: Option<&str>, after: Option<&str>) -> Option<Vec<Bump>> {
    let read = reader_of(path)?;
    let versions = |text: Option<&str>| text.map_or(Some(Versions::new()), read);
    let (before, after) = (versions(before)?, versions(after)?);
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let none = BTreeSet::new();
    let of = |versions: &'_ Versions, name: &String| versions.get(name).cloned().unwrap_or(none.clone());
    Some(names.into_iter().flat_map(|name| between(name, &of(&before, name), &of(&after, name))).collect())
}

/// A version that came is compared with the one before it that is nearest: the same major one, if there is one.
fn between(name: &str, before: &BTreeSet<String>, after: &BTreeSet<String>) -> Vec<Bump> {
    let bump = |from: Option<&String>, to: Option<&String>| Bump {
        name: name.to_owned(),
        from: from.cloned(),
        to: to.cloned(),
    };
    let came: Vec<&String> = after.difference(before).collect();
    if came.is_empty() {
        return before.difference(after).map(|gone| bump(Some(gone), None)).collect();
    }
    let nearest = |to: &&String| {
        let same = before.iter().find(|from| super::merge::is_compatible(from, to));
        same.or_else(|| before.iter().next_back())
    };
    came.into_iter().map(|to| bump(nearest(&to), Some(to))).collect()
}

fn reader_of(path: &str) -> Option<fn(&str) -> Option<Versions>> {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    match name.as_str() {
        "cargo.lock" => Some(cargo_lock),
        "cargo.toml" => Some(|text| Some(cargo_toml(text))),
        "package.json" => Some(package_json),
        "package-lock.json" | "npm-shrinkwrap.json" => Some(package_lock),
        "go.mod" => Some(|text| Some(go_mod(text))),
        "go.sum" => Some(go_sum),
        _ if name.starts_with("requirements") && name.strip_suffix(".txt").is_some() => Some(requirements),
        _ => None,
    }
}

fn add(versions: &mut Versions, name: &str, version: &str) {
    versions.entry(name.to_owned()).or_default().insert(version.to_owned());
}

/// The text between the first two quotes.
fn quoted(text: &str) -> Option<&str> {
    text.split('"').nth(1)
}

fn cargo_lock(text: &str) -> Option<Versions> {
    let mut versions = Versions::new();
    for block in text.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = block.lines().find(|line| line.split('=').next().map(str::trim) == Some(key))?;
            quoted(line)
        };
        add(&mut versions, value("name")?, value("version")?);
    }
    Some(versions)
}

/// Line by line: what is written over several lines counts as it stands, and any change of it is no version.
fn cargo_toml(text: &str) -> Versions {
    let mut versions = Versions::new();
    let mut section = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with('[') {
            line.trim_matches(['[', ']']).clone_into(&mut section);
            continue;
        }
        let Some((at, alone)) = section.split_once("dependencies") else { continue };
        if !(at.is_empty() || at.ends_with(['.', '-'])) {
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let (key, value) = (key.trim(), value.trim());
        match alone.strip_prefix('.') {
            Some(name) if key == "version" => add(&mut versions, name, quoted(value).unwrap_or(value)),
            Some(_) => {}
            None => add(&mut versions, key.trim_matches('"'), version_in(value)),
        }
    }
    versions
}

/// `"1.2"`, the version of `{ version = "1.2", … }`, or the whole where there is none.
fn version_in(value: &str) -> &str {
    if value.starts_with('"') {
        return quoted(value).unwrap_or(value);
    }
    let behind = value.split("version").nth(1).filter(|rest| rest.trim_start().starts_with('='));
    behind.and_then(quoted).unwrap_or(value)
}

fn package_json(text: &str) -> Option<Versions> {
    let file: Value = serde_json::from_str(text).ok()?;
    let kinds = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
    let mut versions = Versions::new();
    for (name, version) in kinds.iter().filter_map(|kind| file[kind].as_object()).flatten() {
        add(&mut versions, name, version.as_str()?);
    }
    Some(versions)
}

fn package_lock(text: &str) -> Option<Versions> {
    let file: Value = serde_json::from_str(text).ok()?;
    let listed = file["packages"].as_object().or_else(|| file["dependencies"].as_object())?;
    let mut versions = Versions::new();
    for (place, package) in listed.iter().filter(|(place, _)| !place.is_empty()) {
        let name = place.rsplit("node_modules/").next().unwrap_or(place);
        match package["version"].as_str() {
            Some(version) => add(&mut versions, name, version),
            // A package of the repository itself.
            None if package["link"] == true => {}
            None => return None,
        }
    }
    Some(versions)
}

fn go_mod(text: &str) -> Versions {
    let mut versions = Versions::new();
    let mut inside = false;
    for line in text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()) {
        match line {
            "require (" => inside = true,
            ")" => inside = false,
            _ => {
                let entry = if inside { Some(line) } else { line.strip_prefix("require ") };
                if let Some((name, version)) = entry.and_then(|entry| entry.split_once(' ')) {
                    add(&mut versions, name, version.trim());
                } else if line.starts_with("replace") {
                    add(&mut versions, line, "replaced");
                }
            }
        }
    }
    versions
}

fn go_sum(text: &str) -> Option<Versions> {
    let mut versions = Versions::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let (name, version) = (words.next()?, words.next()?);
        add(&mut versions, name, version.trim_end_matches("/go.mod"));
    }
    Some(versions)
}

fn requirements(text: &str) -> Option<Versions> {
    let mut versions = Versions::new();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        if line.is_empty() {
            continue;
        }
        // Another file or a place to look for packages: not a version.
        if line.starts_with('-') {
            return None;
        }
        let end = line.find(['=', '<', '>', '~', '!', ' ', ';', '@']).unwrap_or(line.len());
        add(&mut versions, &line[..end], line[end..].trim());
    }
    Some(versions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str, before: &str, after: &str) -> Vec<String> {
        let bumps = bumps(path, Some(before), Some(after)).expect("it can be read");
        let word = |version: Option<String>| version.unwrap_or_else(|| "-".to_owned());
        bumps.into_iter().map(|bump| format!("{} {} {}", bump.name, word(bump.from), word(bump.to))).collect()
    }

    #[test]
    fn each_kind_of_file_tells_what_changed() {
        let lock = |versions: &[(&str, &str)]| {
            let package = |(name, version): &(&str, &str)| {
                format!(
                    "[[package]]\nname = \"{name}\"\nversion = \"{version}\"\ndependencies = [\n \"x\",\n]\n\n"
                )
            };
            format!("version = 4\n\n{}", versions.iter().map(package).collect::<String>())
        };
        assert_eq!(
            told(
                "Cargo.lock",
                &lock(&[("a", "1.0.0"), ("b", "0.1.0")]),
                &lock(&[("a", "2.0.0"), ("c", "1.0.0")])
            ),
            ["a 1.0.0 2.0.0", "b 0.1.0 -", "c - 1.0.0"]
        );
        // A second version beside the first is compared with the nearest.
        assert_eq!(
            told(
                "Cargo.lock",
                &lock(&[("a", "1.0.0"), ("a", "2.0.0")]),
                &lock(&[("a", "1.0.1"), ("a", "2.0.0")])
            ),
            ["a 1.0.0 1.0.1"]
        );
        assert_eq!(
            told(
                "crates/x/Cargo.toml",
                "[package]\nversion = \"1.0.0\"\n[dependencies]\na = \"1.2\"\nb = { version = \"0.3\", features = [\"x\"] }\n[dev-dependencies.c]\nversion = \"1\"\n",
                "[package]\nversion = \"2.0.0\"\n[dependencies]\na = \"2\"\nb = { version = \"0.4\" }\n[dev-dependencies.c]\nversion = \"3\"\n",
            ),
            ["a 1.2 2", "b 0.3 0.4", "c 1 3"]
        );
        assert_eq!(
            told(
                "package.json",
                r#"{"version":"1.0.0","dependencies":{"a":"^1.0.0"}}"#,
                r#"{"version":"2.0.0","devDependencies":{"a":"^2.0.0"}}"#
            ),
            ["a ^1.0.0 ^2.0.0"]
        );
        assert_eq!(
            told(
                "package-lock.json",
                r#"{"packages":{"":{"name":"x"},"node_modules/a":{"version":"1.0.0"}}}"#,
                r#"{"packages":{"":{"name":"x"},"node_modules/a":{"version":"1.1.0"},"node_modules/b/node_modules/a":{"version":"2.0.0"}}}"#,
            ),
            ["a 1.0.0 1.1.0", "a 1.0.0 2.0.0"]
        );
        assert_eq!(
            told(
                "go.mod",
                "module m\nrequire (\n\tx/a v1.0.0 // indirect\n)\n",
                "module m\nrequire x/a v1.1.0\nreplace x/a => ../a\n"
            ),
            ["replace x/a => ../a - replaced", "x/a v1.0.0 v1.1.0"]
        );
        assert_eq!(told("requirements-dev.txt", "a==1.0\nb>=2\n", "a==2.0 # why\nb>=2\n"), ["a ==1.0 ==2.0"]);
    }

    #[test]
    fn what_cannot_be_read_is_not_known() {
        assert_eq!(bumps("yarn.lock", Some(""), Some("")), None);
        assert_eq!(bumps("package.json", Some("{"), Some("{}")), None);
        assert_eq!(bumps("requirements.txt", Some(""), Some("-r other.txt")), None);
        assert_eq!(bumps("Cargo.lock", None, Some("")), Some(Vec::new()));
        assert!(named_in("web/package.json") && named_in("Cargo.lock") && !named_in("src/lock.rs"));
    }
}
