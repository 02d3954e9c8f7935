//! `daemon:` where it takes requests. Counts only in the user's own settings: a repository opens no port.

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::{Error, Row};

pub(super) const LISTEN: &str = "daemon.listen";

/// The word for no port at all.
const OFF: &str = "off";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    listen: Option<Spanned<String>>,
}

impl Section {
    pub(super) fn values(self) -> [(&'static str, Option<Spanned<String>>); 1] {
        [(LISTEN, self.listen)]
    }
}

/// Where the port is, as host and port; `None` for no port.
pub(super) fn resolve(rows: &[Row]) -> Result<Option<String>, Error> {
    let row = rows.iter().find(|row| row.key == LISTEN).expect("there is a row for each key");
    let text = row.value.trim();
    if text == OFF {
        return Ok(None);
    }
    let is_address = |(host, port): (&str, &str)| !host.is_empty() && port.parse::<u16>().is_ok();
    if text.rsplit_once(':').is_some_and(is_address) {
        return Ok(Some(text.to_owned()));
    }
    let problem = format!("`{text}` is no address with a port, such as `127.0.0.1:7440`, nor `off`");
    Err(Error::Value { key: LISTEN, origin: row.origin.to_string(), problem })
}

#[cfg(test)]
mod tests {
    use super::super::{from_flags, parse_file, resolve as resolve_all};

    #[test]
    fn a_port_is_any_that_is_free_one_that_is_named_or_none() {
        assert_eq!(resolve_all(&[]).unwrap().listen, Some("127.0.0.1:0".to_owned()));
        let file = parse_file("user.yml", "daemon: { listen: '[::1]:7440' }").unwrap();
        assert_eq!(resolve_all(&[file]).unwrap().listen, Some("[::1]:7440".to_owned()));
        let off = from_flags(["daemon.listen=off"]).unwrap();
        assert_eq!(resolve_all(&[off]).unwrap().listen, None);
        let wrong = from_flags(["daemon.listen=7440"]).unwrap();
        let message = resolve_all(&[wrong]).unwrap_err().to_string();
        assert!(message.contains("`7440` is no address"), "{message}");
    }
}
