//! Which versions of others' code a change brings, read from the files that name them.
//!
//! What cannot be read is not known, and then a person looks. So it is with the same version from another place, and with a
//! range that opens: a number alone does not tell what comes. Nothing is guessed from an agent's words.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::facts::Bump;
use super::{glob, protected};

/// Name → the versions that are named.
type Versions = BTreeMap<String, BTreeSet<String>>;

/// What a file names.
#[derive(Debug, Default)]
struct Named {
    versions: Versions,
    /// Where something comes from by name, which must not change unseen: a repository, a folder, what stands for another.
    declared: BTreeSet<String>,
    /// What one name, or one version of it, was resolved to: it stays the same, or goes away.
    resolved: Versions,
    /// The places that things were resolved from.
    origins: BTreeSet<String>,
}

impl Named {
    fn add(&mut self, name: &str, version: &str) {
        add(&mut self.versions, name, version);
    }

    /// Where one version of a name was found, from where, and with which digest.
    fn found(&mut self, name: &str, version: &str, at: &Found<'_>) {
        add(&mut self.resolved, name, at.origin);
        add(&mut self.resolved, &format!("{name} {version}"), at.digest);
        if !at.origin.is_empty() {
            self.origins.insert(at.origin.to_owned());
        }
    }

    /// Whether all that is named after comes from where it came before, and what is new from a place that was known.
    fn has_sources_of(&self, before: &Self) -> bool {
        let as_before = |(key, was): (&String, &BTreeSet<String>)| {
            self.resolved.get(key).is_none_or(|is| is.is_subset(was))
        };
        // Whoever has no dependency yet knows no place; where people publish is one then.
        let is_known = |origin: &String| {
            before.origins.contains(origin)
                || (before.origins.is_empty() && PUBLISHED.iter().any(|kind| origin.starts_with(kind)))
        };
        self.declared == before.declared
            && before.resolved.iter().all(as_before)
            && self.origins.iter().all(is_known)
    }
}

struct Found<'f> {
    origin: &'f str,
    digest: &'f str,
}

/// How the address of a place begins where versions of many are published.
const PUBLISHED: [&str; 3] = ["registry+", "sparse+", "https://"];

/// What says in a `Cargo.toml` that something else is meant than the name and its version.
const SOURCE_KEYS: [&str; 9] =
    ["git", "branch", "tag", "rev", "path", "registry", "registry-index", "package", "base"];

/// What is only said of a package, and changes nothing that runs.
const ABOUT: [&str; 13] = [
    "authors",
    "author",
    "bugs",
    "categories",
    "contributors",
    "description",
    "documentation",
    "homepage",
    "keywords",
    "license",
    "readme",
    "repository",
    "version",
];

fn is_about(key: &str) -> bool {
    ABOUT.contains(&key)
}

/// Whether a file names dependencies.
pub fn named_in(path: &str) -> bool {
    let path = path.to_lowercase();
    protected::DEPENDENCIES.patterns.iter().any(|pattern| glob::fits(pattern, &path))
}

/// What changed between two texts of such a file; nothing where the file cannot be read. No text is a file that is not there.
pub fn bumps(path: &str, before: Option<&str>, after: Option<&str>) -> Option<Vec<Bump>> {
    let read = reader_of(path)?;
    let named = |text: Option<&str>| text.map_or(Some(Named::default()), read);
    let (before, after) = (named(before)?, named(after)?);
    let names: BTreeSet<&String> = before.versions.keys().chain(after.versions.keys()).collect();
    let none = BTreeSet::new();
    let of = |named: &'_ Named, name: &String| named.versions.get(name).cloned().unwrap_or(none.clone());
    let bumps: Vec<Bump> =
        names.into_iter().flat_map(|name| between(name, &of(&before, name), &of(&after, name))).collect();
    // Another major version is told whatever else cannot be: its rule is the stricter one.
    let told = bumps.iter().any(is_other_major)
        || (after.has_sources_of(&before) && bumps.iter().all(|bump| !is_open(bump)));
    told.then_some(bumps)
}

fn is_other_major(bump: &Bump) -> bool {
    let both = bump.from.as_deref().zip(bump.to.as_deref());
    both.is_some_and(|(from, to)| !is_elsewhere(to) && !super::merge::is_compatible(from, to))
}

/// Whether the numbers do not tell what comes: a range without an upper end, several of them, or a place.
fn is_open(bump: &Bump) -> bool {
    let Some(to) = bump.to.as_deref() else { return false };
    is_elsewhere(to) || (bump.from.is_some() && (to.is_empty() || to.contains(['<', '>', ',', '|', '*'])))
}

/// An address or a folder in the place of a version.
fn is_elsewhere(version: &str) -> bool {
    version.contains(['/', ':', '@', '{'])
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

fn reader_of(path: &str) -> Option<fn(&str) -> Option<Named>> {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    match name.as_str() {
        "cargo.lock" => Some(cargo_lock),
        "cargo.toml" => Some(cargo_toml),
        "package.json" => Some(package_json),
        "package-lock.json" | "npm-shrinkwrap.json" => Some(package_lock),
        "go.mod" => Some(go_mod),
        "go.sum" => Some(go_sum),
        _ if glob::fits("requirements*.txt", &name) => Some(requirements),
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

fn cargo_lock(text: &str) -> Option<Named> {
    let mut named = Named::default();
    for block in text.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = block.lines().find(|line| line.split('=').next().map(str::trim) == Some(key))?;
            quoted(line)
        };
        let (name, version) = (value("name")?, value("version")?);
        named.add(name, version);
        let (origin, digest) = (value("source").unwrap_or_default(), value("checksum").unwrap_or_default());
        named.found(name, version, &Found { origin, digest });
    }
    Some(named)
}

/// Line by line: what is written over several lines cannot be read.
fn cargo_toml(text: &str) -> Option<Named> {
    let mut named = Named::default();
    let mut section = "";
    // Several may have one name, such as `[[test]]`.
    let mut count = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
            count += usize::from(line.starts_with("[["));
            continue;
        }
        let top = section.split('.').next().unwrap_or_default();
        if matches!(top, "patch" | "replace" | "source") {
            named.declared.insert(format!("{section} {line}"));
            continue;
        }
        let at =
            section.split_once("dependencies").filter(|(at, _)| at.is_empty() || at.ends_with(['.', '-']));
        let Some((_, alone)) = at else {
            // Build scripts, targets without a harness, profiles: more than which versions are used.
            let key = line.split(['=', '.']).next().unwrap_or_default().trim();
            if !(matches!(section, "package" | "workspace.package") && is_about(key)) {
                named.declared.insert(format!("{section} {count} {line}"));
            }
            continue;
        };
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let (key, value) = (key.trim(), value.trim());
        if value.is_empty() || (value.starts_with('{') && !value.contains('}')) {
            return None;
        }
        let (name, field) = match (alone.strip_prefix('.'), key.split_once('.')) {
            (Some(name), _) => (name, Some(key)),
            (None, Some((name, field))) => (name, Some(field)),
            (None, None) => (key.trim_matches('"'), None),
        };
        match field {
            Some("version") => named.add(name, quoted(value).unwrap_or(value)),
            Some(field) => named.declared.extend(source_of(name, field, value)),
            None => {
                named.add(name, version_in(value));
                let fields = value.trim_matches(['{', '}', ' ']).split(',');
                let fields = fields.filter_map(|field| field.split_once('='));
                named.declared.extend(fields.filter_map(|(key, value)| source_of(name, key, value)));
            }
        }
    }
    Some(named)
}

fn source_of(name: &str, key: &str, value: &str) -> Option<String> {
    let key = key.trim();
    SOURCE_KEYS.contains(&key).then(|| format!("{name} {key} {}", value.trim()))
}

/// `"1.2"`, the version of `{ version = "1.2", … }`, or the whole where there is none.
fn version_in(value: &str) -> &str {
    if value.starts_with('"') {
        return quoted(value).unwrap_or(value);
    }
    let behind = value.split("version").nth(1).filter(|rest| rest.trim_start().starts_with('='));
    behind.and_then(quoted).unwrap_or(value)
}

fn package_json(text: &str) -> Option<Named> {
    let file: Value = serde_json::from_str(text).ok()?;
    let kinds = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
    let mut named = Named::default();
    for (name, version) in kinds.iter().filter_map(|kind| file[kind].as_object()).flatten() {
        named.add(name, version.as_str()?);
    }
    let instead = ["/overrides", "/resolutions", "/pnpm/overrides", "/bundledDependencies"];
    let instead = instead.iter().filter_map(|place| Some(format!("{place} {}", file.pointer(place)?)));
    named.declared.extend(instead);
    // Scripts, hooks and whatever else a program reads there: more than which versions are used.
    let rest = file.as_object()?.iter().filter(|(key, _)| !kinds.contains(&key.as_str()) && !is_about(key));
    named.declared.extend(rest.map(|(key, value)| format!("{key} {value}")));
    Some(named)
}

fn package_lock(text: &str) -> Option<Named> {
    let file: Value = serde_json::from_str(text).ok()?;
    let listed = file["packages"].as_object().or_else(|| file["dependencies"].as_object())?;
    let mut named = Named::default();
    for (place, package) in listed.iter().filter(|(place, _)| !place.is_empty()) {
        let name = place.rsplit("node_modules/").next().unwrap_or(place);
        match package["version"].as_str() {
            Some(version) => {
                named.add(name, version);
                let origin = package["resolved"].as_str().map_or("", origin_of);
                let digest = package["integrity"].as_str().unwrap_or_default();
                named.found(name, version, &Found { origin, digest });
            }
            // A package of the repository itself.
            None if package["link"] == true => {}
            None => return None,
        }
    }
    Some(named)
}

/// An address without its path.
fn origin_of(address: &str) -> &str {
    let host = address.find("://").map_or(0, |at| at + 3);
    let end = address[host..].find('/').map_or(address.len(), |end| host + end);
    &address[..end]
}

fn go_mod(text: &str) -> Option<Named> {
    let mut named = Named::default();
    // The word before the bracket that is open.
    let mut inside = None;
    for line in text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()) {
        if let Some(word) = line.strip_suffix('(') {
            inside = Some(word.trim());
            continue;
        }
        if line == ")" {
            inside = None;
            continue;
        }
        let (word, entry) =
            inside.map_or_else(|| line.split_once(' ').unwrap_or((line, "")), |word| (word, line));
        match (word, entry.trim().split_once(' ')) {
            ("require", Some((name, version))) => named.add(name, version.trim()),
            ("replace", _) if !entry.is_empty() => drop(named.declared.insert(entry.trim().to_owned())),
            _ => {}
        }
    }
    inside.is_none().then_some(named)
}

fn go_sum(text: &str) -> Option<Named> {
    let mut named = Named::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let (name, version) = (words.next()?, words.next()?);
        named.add(name, version.trim_end_matches("/go.mod"));
        add(&mut named.resolved, &format!("{name} {version}"), words.next().unwrap_or_default());
    }
    Some(named)
}

fn requirements(text: &str) -> Option<Named> {
    let mut named = Named::default();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        if line.is_empty() {
            continue;
        }
        // Another file or a place to look for packages: not a version.
        if line.starts_with('-') {
            return None;
        }
        let end = line.find(['=', '<', '>', '~', '!', ' ', ';', '@']).unwrap_or(line.len());
        named.add(&line[..end], line[end..].trim());
    }
    Some(named)
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
                "module m\nrequire x/a v1.1.0\n"
            ),
            ["x/a v1.0.0 v1.1.0"]
        );
        assert_eq!(told("requirements-dev.txt", "a==1.0\nb>=2\n", "a==2.0 # why\nb>=2\n"), ["a ==1.0 ==2.0"]);
    }

    #[test]
    fn the_same_version_from_another_place_is_not_known() {
        let lock = |source: &str, sum: &str| {
            format!(
                "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"{source}\"\nchecksum = \"{sum}\"\n"
            )
        };
        let two = |source: &str| lock("registry+x", "1") + &lock(source, "2").replace("\"a\"", "\"b\"");
        for (path, before, after) in [
            (
                "Cargo.toml",
                "[dependencies]\na = \"1\"\n",
                "[dependencies]\na = { version = \"1\", git = \"x\" }\n",
            ),
            (
                "Cargo.toml",
                "[dependencies]\na = \"1\"\n",
                "[dependencies]\na = { path = \"../a\", version = \"1\" }\n",
            ),
            (
                "Cargo.toml",
                "[dependencies]\na = \"1\"\n",
                "[dependencies]\na.version = \"1\"\na.registry = \"x\"\n",
            ),
            (
                "Cargo.toml",
                "[dependencies.a]\nversion = \"1\"\n",
                "[dependencies.a]\nversion = \"1\"\npackage = \"b\"\n",
            ),
            ("Cargo.toml", "", "[patch.x]\na = { path = \"../a\" }\n"),
            ("Cargo.toml", "", "[replace]\n\"a:1.0.0\" = { path = \"../a\" }\n"),
            ("Cargo.toml", "[dependencies]\na = \">=1, <2\"\n", "[dependencies]\na = \">=1\"\n"),
            ("Cargo.lock", &lock("registry+x", "1"), &lock("git+x", "1")),
            ("Cargo.lock", &lock("registry+x", "1"), &lock("registry+x", "2")),
            ("Cargo.lock", &lock("registry+x", "1"), &two("registry+y")),
            (
                "package.json",
                r#"{"dependencies":{"a":"^1.0.0"}}"#,
                r#"{"dependencies":{"a":"owner/a#1.0.0"}}"#,
            ),
            ("package.json", "{}", r#"{"dependencies":{"a":"git+ssh://x/a.git"}}"#),
            ("package.json", "{}", r#"{"overrides":{"a":"1.0.0"}}"#),
            // More than versions: what runs is another.
            (
                "package.json",
                r#"{"scripts":{"test":"jest"},"dependencies":{"a":"1.0.0"}}"#,
                r#"{"scripts":{"test":"true"},"dependencies":{"a":"1.0.1"}}"#,
            ),
            ("package.json", "{}", r#"{"jest":{"testPathIgnorePatterns":["."]}}"#),
            ("Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\nbuild = \"b.rs\"\n"),
            (
                "Cargo.toml",
                "[[test]]\nname = \"a\"\nharness = false\n[[test]]\nname = \"b\"\n",
                "[[test]]\nname = \"a\"\nharness = false\n[[test]]\nname = \"b\"\nharness = false\n",
            ),
            ("package.json", "{}", r#"{"resolutions":{"a":"1.0.0"}}"#),
            (
                "package-lock.json",
                r#"{"packages":{"node_modules/a":{"version":"1.0.0","resolved":"https://x/a.tgz"}}}"#,
                r#"{"packages":{"node_modules/a":{"version":"1.0.0","resolved":"https://y/a.tgz"}}}"#,
            ),
            ("go.mod", "require x/a v1.0.0\n", "require x/a v1.0.0\nreplace x/a => ../a\n"),
            ("go.mod", "require x/a v1.0.0\n", "require x/a v1.0.0\nreplace (\n\tx/a => ../a\n)\n"),
            ("go.sum", "x/a v1.0.0 h1:one\n", "x/a v1.0.0 h1:two\n"),
            ("requirements.txt", "a==1.0\n", "a @ https://x/a-1.0.tar.gz\n"),
            ("requirements.txt", "a==1.0\n", "a>=1.0\n"),
        ] {
            assert_eq!(bumps(path, Some(before), Some(after)), None, "{path}: {before}\n{after}");
            assert!(bumps(path, Some(after), Some(after)).is_some(), "{path}: {after}");
        }
        assert_eq!(
            bumps("Cargo.lock", Some(&two("registry+x")), Some(&lock("registry+x", "1"))).unwrap().len(),
            1
        );
        assert!(bumps("Cargo.lock", Some(""), Some(&lock("registry+x", "1"))).is_some());
        // What is only said of a package is no more than versions.
        let (before, after) = (r#"{"version":"1.0.0"}"#, r#"{"version":"1.1.0","license":"MIT"}"#);
        assert_eq!(bumps("package.json", Some(before), Some(after)), Some(Vec::new()));
        // What is worse is told all the same.
        assert_eq!(
            told("Cargo.toml", "[dependencies]\na = \"1\"\n", "[dependencies]\na = \"*\"\n"),
            ["a 1 *"]
        );
        let before = "[dependencies]\na = \"1\"\nb = \"1\"\n";
        let after = "[dependencies]\na = \"2\"\nb = { version = \"1\", git = \"x\" }\n";
        assert_eq!(told("Cargo.toml", before, after), ["a 1 2"]);
    }

    #[test]
    fn what_cannot_be_read_is_not_known() {
        assert_eq!(bumps("yarn.lock", Some(""), Some("")), None);
        assert_eq!(bumps("package.json", Some("{"), Some("{}")), None);
        assert_eq!(bumps("requirements.txt", Some(""), Some("-r other.txt")), None);
        assert_eq!(bumps("Cargo.toml", None, Some("[dependencies]\na = {\n  version = \"1\"\n}\n")), None);
        assert_eq!(bumps("go.mod", None, Some("require (\n x/a v1.0.0\n")), None);
        assert_eq!(bumps("Cargo.lock", None, Some("")), Some(Vec::new()));
        assert!(named_in("web/package.json") && named_in("Cargo.lock") && !named_in("src/lock.rs"));
    }
}
