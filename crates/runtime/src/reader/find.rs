//! From what a person typed to the thing that they mean. An id may be shortened as long as one thing fits.

use longhaul_events::{NodeId, SessionId};
use longhaul_store::views::SessionRow;

use super::Reader;
use crate::error::Error;

/// How many of several that fit are named.
const MOST_NAMED: usize = 5;

impl Reader {
    /// A session by its id, or by the beginning of it.
    pub fn find_session(&self, text: &str) -> Result<SessionRow, Error> {
        one_of(self.sessions()?, text)
    }

    /// The session and the number in an id such as `s-….12`.
    pub(super) fn find_node(&self, text: &str) -> Result<Option<(SessionRow, NodeId)>, Error> {
        let Some((session, node)) = text.rsplit_once('.') else { return Ok(None) };
        let Ok(node) = node.parse::<NodeId>() else { return Ok(None) };
        Ok(Some((self.find_session(session)?, node)))
    }
}

fn one_of(rows: Vec<SessionRow>, text: &str) -> Result<SessionRow, Error> {
    if let Ok(id) = text.parse::<SessionId>() {
        let found = rows.into_iter().find(|row| row.id == id);
        return found.ok_or_else(|| Error::NoSuchSession(text.to_owned()));
    }
    let beginning = text.strip_prefix("s-").unwrap_or(if text == "s" { "" } else { text });
    let fits = |row: &SessionRow| row.id.to_string()["s-".len()..].starts_with(beginning);
    let mut fitting: Vec<SessionRow> = rows
        .into_iter()
        .filter(|row| (!beginning.is_empty() || text.starts_with('s')) && fits(row))
        .collect();
    match fitting.len() {
        0 => Err(Error::NoSuchSession(text.chars().take(80).collect())),
        1 => Ok(fitting.remove(0)),
        _ => {
            let named: Vec<String> = fitting.iter().take(MOST_NAMED).map(|row| row.id.to_string()).collect();
            Err(Error::AmbiguousSession { text: text.to_owned(), fitting: named.join(", ") })
        }
    }
}
