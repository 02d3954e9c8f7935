//! `identity:` in whose name a delivery commits, and whether it signs.

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::{Error, Row};
use crate::delivery::{DeliverySettings, Sign};
use crate::policy::settings::MergeSettings;

pub(super) const NAME: &str = "identity.name";
pub(super) const EMAIL: &str = "identity.email";
pub(super) const COAUTHOR: &str = "identity.coauthor";
pub(super) const SIGN: &str = "identity.sign";

const SIGNS: [(&str, Sign); 3] =
    [("inherit", Sign::Inherit), ("always", Sign::Always), ("never", Sign::Never)];
const SWITCH: [(&str, bool); 2] = [("true", true), ("false", false)];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    name: Option<Spanned<String>>,
    email: Option<Spanned<String>>,
    coauthor: Option<Spanned<bool>>,
    sign: Option<Spanned<String>>,
}

impl Section {
    pub(super) fn values(self) -> [(&'static str, Option<Spanned<String>>); 4] {
        let coauthor = self
            .coauthor
            .map(|switch| Spanned::new(switch.value.to_string(), switch.referenced, switch.defined));
        [(NAME, self.name), (EMAIL, self.email), (COAUTHOR, coauthor), (SIGN, self.sign)]
    }
}

/// What a session pins for its deliveries.
pub(super) fn resolve(rows: &[Row], merge: &MergeSettings) -> Result<DeliverySettings, Error> {
    let default = DeliverySettings::default();
    let text = |key: &str| rows.iter().find(|row| row.key == key).map(|row| row.value.trim().to_owned());
    let (name, email) = (text(NAME).unwrap_or_default(), text(EMAIL).unwrap_or_default());
    for (key, value) in [(NAME, &name), (EMAIL, &email)] {
        if value.chars().any(|letter| letter.is_control() || matches!(letter, '<' | '>')) {
            let row = rows.iter().find(|row| row.key == key).expect("its value was just read");
            return Err(wrong(row, "it must be one line without `<` and `>`".to_owned()));
        }
    }
    Ok(DeliverySettings {
        name,
        email,
        coauthor: one_of(rows, COAUTHOR, &SWITCH)?.unwrap_or(default.coauthor),
        sign: one_of(rows, SIGN, &SIGNS)?.unwrap_or(default.sign),
        method: merge.method,
        freshness: merge.freshness,
    })
}

/// `None` where there is no such setting.
fn one_of<T: Copy>(rows: &[Row], key: &str, words: &[(&str, T)]) -> Result<Option<T>, Error> {
    let Some(row) = rows.iter().find(|row| row.key == key) else { return Ok(None) };
    let found = words.iter().find(|(word, _)| *word == row.value).map(|(_, value)| *value);
    found.map(Some).ok_or_else(|| {
        let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        wrong(row, format!("`{}` is not one of {}; write one of them", row.value, words.join(", ")))
    })
}

fn wrong(row: &Row, problem: String) -> Error {
    Error::Value { key: row.key, origin: row.origin.to_string(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{parse_file, resolve};

    #[test]
    fn an_identity_is_read_and_without_one_it_is_gits_own() {
        assert_eq!(resolve(&[]).unwrap().delivery.sign, Sign::Inherit);
        let text = "identity: { name: Ada, email: ada@example.org, coauthor: false, sign: always }";
        let read = resolve(&[parse_file("ws.yml", text).unwrap()]).unwrap().delivery;
        assert_eq!((read.name.as_str(), read.email.as_str()), ("Ada", "ada@example.org"));
        assert_eq!((read.coauthor, read.sign), (false, Sign::Always));
    }

    #[test]
    fn a_wrong_value_is_refused_with_its_place() {
        for (text, told) in [
            ("identity: { sign: maybe }", "`maybe` is not one of `inherit`, `always`, `never`"),
            ("identity: { name: 'A <b>' }", "it must be one line without `<` and `>`"),
        ] {
            let message = resolve(&[parse_file("ws.yml", text).unwrap()]).unwrap_err().to_string();
            assert!(message.starts_with("ws.yml:1 sets `identity.") && message.contains(told), "{message}");
        }
        assert!(parse_file("ws.yml", "identity: { key: x }").is_err());
    }
}
