//! `pipeline:` what a task follows unless somebody says otherwise, and what it needs before the daemon starts it.

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::sandbox::{listed, one_of, row, with, wrong};
use super::{Error, Row};
use crate::queue::{ArtifactFrom, Mode, Required};
use crate::units::{parse_duration_ms, show_duration};

pub(super) const DEFAULT: &str = "pipeline.default";
pub(super) const MODE: &str = "pipeline.mode";
pub(super) const REQUIRE: &str = "pipeline.require";

/// How long something that is required is waited for, unless it says otherwise.
const USUAL_WAIT_MS: u64 = 7 * 24 * 3_600_000;

/// What a task needs before the daemon starts it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Governance {
    pub mode: Mode,
    /// Looked at where the mode is governed.
    pub require: Vec<Required>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    default: Option<Spanned<String>>,
    mode: Option<Spanned<String>>,
    require: Option<Spanned<Vec<Entry>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    artifact: String,
    #[serde(default = "item")]
    from: String,
    #[serde(default = "usual_wait")]
    wait: String,
}

fn item() -> String {
    ArtifactFrom::Item.word().to_owned()
}

fn usual_wait() -> String {
    show_duration(USUAL_WAIT_MS)
}

impl Section {
    /// What the file says, key by key.
    pub(super) fn values(self) -> [(&'static str, Option<Spanned<String>>); 3] {
        let require = self.require.map(|list| {
            let entries =
                list.value.iter().map(|Entry { artifact, from, wait }| format!("{artifact}@{from}={wait}"));
            with(&list, entries.collect::<Vec<_>>().join(","))
        });
        [(DEFAULT, self.default), (MODE, self.mode), (REQUIRE, require)]
    }
}

/// The id of the workflow that `longhaul run GOAL` follows.
pub(super) fn resolve(rows: &[Row]) -> Result<String, Error> {
    let row = row(rows, DEFAULT);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if row.value.is_empty() || !row.value.chars().all(is_plain) {
        let problem = format!("`{}` is no id of a workflow; `longhaul workflow list` shows them", row.value);
        return Err(wrong(row, problem));
    }
    Ok(row.value.clone())
}

pub(super) fn governance(rows: &[Row]) -> Result<Governance, Error> {
    let entries = listed(rows, REQUIRE).map(|text| {
        required(text).ok_or_else(|| {
            let problem = format!(
                "`{text}` requires nothing; write `artifact@item=7d`, or `path/of/a/file@workspace=7d`"
            );
            wrong(row(rows, REQUIRE), problem)
        })
    });
    Ok(Governance { mode: one_of(rows, MODE, &Mode::WORDS)?, require: entries.collect::<Result<_, _>>()? })
}

/// `artifact@from=wait`; what comes after the artifact may be left out.
fn required(text: &str) -> Option<Required> {
    let (named, wait_ms) = match text.rsplit_once('=') {
        Some((named, wait)) => (named, parse_duration_ms(wait.trim()).ok()?),
        None => (text, USUAL_WAIT_MS),
    };
    let (artifact, from) = named.rsplit_once('@').unwrap_or((named, ArtifactFrom::Item.word()));
    let from = ArtifactFrom::WORDS.iter().find(|(word, _)| *word == from).map(|(_, from)| *from)?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let is_name = |part: &str| !part.is_empty() && part.chars().all(is_plain) && part != "." && part != "..";
    let fits = match from {
        ArtifactFrom::Item => is_name(artifact),
        ArtifactFrom::Workspace => artifact.split('/').all(is_name),
    };
    fits.then(|| Required { artifact: artifact.to_owned(), from, wait_ms })
}

#[cfg(test)]
mod tests {
    use super::super::{from_flags, parse_file, resolve as resolve_all};
    use super::*;

    #[test]
    fn the_default_is_the_feature_pipeline_and_a_file_may_name_another() {
        assert_eq!(resolve_all(&[]).unwrap().pipeline_default, "lh.pipeline.feature");
        let file = parse_file("ws.yml", "pipeline: { default: team.pipeline }").unwrap();
        assert_eq!(resolve_all(&[file]).unwrap().pipeline_default, "team.pipeline");
    }

    #[test]
    fn what_is_no_id_is_refused_with_its_place() {
        let flag = from_flags(["pipeline.default=../x y"]).unwrap();
        let message = resolve_all(&[flag]).unwrap_err().to_string();
        assert!(message.contains("--config sets `pipeline.default`"), "{message}");
        assert!(parse_file("ws.yml", "pipeline: { defalt: a }").is_err());
    }

    #[test]
    fn a_governed_pipeline_says_what_it_requires_and_for_how_long_it_waits() {
        assert_eq!(resolve_all(&[]).unwrap().governance, Governance::default());
        let text = "pipeline:\n  mode: governed\n  require:\n    - { artifact: spec, from: item, wait: 3d }\n    - { artifact: docs/adr.md, from: workspace }\n    - { artifact: design }\n";
        let file = parse_file("ws.yml", text).unwrap();
        let config = resolve_all(std::slice::from_ref(&file)).unwrap();
        let required = |artifact: &str, from, days: u64| Required {
            artifact: artifact.to_owned(),
            from,
            wait_ms: days * 24 * 3_600_000,
        };
        let require = vec![
            required("spec", ArtifactFrom::Item, 3),
            required("docs/adr.md", ArtifactFrom::Workspace, 7),
            required("design", ArtifactFrom::Item, 7),
        ];
        assert_eq!(config.governance, Governance { mode: Mode::Governed, require });
        let row = config.rows.iter().find(|row| row.key == REQUIRE).unwrap();
        assert_eq!(row.value, "spec@item=3d,docs/adr.md@workspace=1w,design@item=1w");
        let flags = from_flags(["pipeline.mode=autonomous", "pipeline.require=spec"]).unwrap();
        let governance = resolve_all(&[file, flags]).unwrap().governance;
        let require = vec![required("spec", ArtifactFrom::Item, 7)];
        assert_eq!(governance, Governance { mode: Mode::Autonomous, require });
    }

    #[test]
    fn what_cannot_be_required_is_refused_with_its_place() {
        for (text, told) in [
            ("pipeline: { mode: careful }", "`careful` is not one of `autonomous`, `governed`"),
            ("pipeline: { require: [ { artifact: spec, from: mail } ] }", "`spec@mail=1w` requires nothing"),
            (
                "pipeline: { require: [ { artifact: spec, wait: soon } ] }",
                "`spec@item=soon` requires nothing",
            ),
            ("pipeline: { require: [ { artifact: ../x, from: workspace } ] }", "requires nothing"),
            ("pipeline: { require: [ { artifact: a/b } ] }", "`a/b@item=1w` requires nothing"),
            ("pipeline: { require: [ { artifact: '' } ] }", "requires nothing"),
        ] {
            let message = resolve_all(&[parse_file("ws.yml", text).unwrap()]).unwrap_err().to_string();
            assert!(message.starts_with("ws.yml:1 sets `pipeline.") && message.contains(told), "{message}");
        }
        assert!(parse_file("ws.yml", "pipeline: { require: [ { artefact: a } ] }").is_err());
    }
}
