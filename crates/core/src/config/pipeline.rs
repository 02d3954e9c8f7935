//! `pipeline:` what a task follows unless somebody says otherwise.

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::{Error, Row};

pub(super) const DEFAULT: &str = "pipeline.default";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    default: Option<Spanned<String>>,
}

impl Section {
    /// What the file says, key by key.
    pub(super) fn values(self) -> [(&'static str, Option<Spanned<String>>); 1] {
        [(DEFAULT, self.default)]
    }
}

/// The id of the workflow that `longhaul run GOAL` follows.
pub(super) fn resolve(rows: &[Row]) -> Result<String, Error> {
    let row = rows.iter().find(|row| row.key == DEFAULT).expect("there is a row for each key");
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if row.value.is_empty() || !row.value.chars().all(is_plain) {
        let problem = format!("`{}` is no id of a workflow; `longhaul workflow list` shows them", row.value);
        return Err(Error::Value { key: DEFAULT, origin: row.origin.to_string(), problem });
    }
    Ok(row.value.clone())
}

#[cfg(test)]
mod tests {
    use super::super::{from_flags, parse_file, resolve as resolve_all};

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
}
