//! Sessions as resources: what happened so far, and how to go on.

use longhaul_runtime::Error;
use longhaul_runtime::types::{SessionId, SessionStatus};
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use crate::desk::Desk;
use crate::name;
use crate::refusal::Refusal;
use crate::rehydrate;
use crate::words::Audience;

const SCHEME: &str = "longhaul://session/";
const MARKDOWN: &str = "text/markdown";
/// How many sessions are listed, those that changed last.
const MOST_LISTED: usize = 50;

/// The sessions that are open.
pub(crate) fn list(desk: &Desk, only: Option<SessionId>) -> Result<Vec<Resource>, Error> {
    let Some(reader) = desk.reader()? else { return Ok(Vec::new()) };
    let mut rows = reader.sessions()?;
    rows.retain(|row| row.damage.is_none() && row.workflow.is_some() && row.status == SessionStatus::Open);
    rows.retain(|row| only.is_none_or(|only| only == row.id));
    rows.sort_by_key(|row| std::cmp::Reverse(row.updated_at));
    let resource = |row: &longhaul_runtime::types::SessionRow| {
        Resource::new(format!("{SCHEME}{}", row.id), row.id.to_string())
            .with_title(name::shown(&row.goal))
            .with_description(format!("A session of `{}`.", row.workflow.as_deref().unwrap_or_default()))
            .with_mime_type(MARKDOWN)
    };
    Ok(rows.iter().take(MOST_LISTED).map(resource).collect())
}

/// How any session is named.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{sessionId}}"), "session")
        .with_title("A session")
        .with_description("What happened in a session so far, where it stands, and how to go on.")
        .with_mime_type(MARKDOWN)
}

/// What a session came to so far.
pub(crate) fn read(desk: &Desk, uri: &str, only: Option<SessionId>) -> Result<ReadResourceResult, ErrorData> {
    let unknown = |message: String| ErrorData::resource_not_found(message, None);
    let named = uri.strip_prefix(SCHEME).and_then(|id| id.parse::<SessionId>().ok());
    let Some(id) = named.filter(|id| only.is_none_or(|only| only == *id)) else {
        return Err(unknown(format!("there is no `{}`; sessions are named `{SCHEME}s-…`", name::shown(uri))));
    };
    let audience = if only.is_some() { Audience::Leaf } else { Audience::Outer };
    let reply = rehydrate::by_id(desk, id, audience).map_err(|error| {
        let is_unknown = matches!(error, Error::UnknownSession(_) | Error::NoSuchSession(_));
        let refusal = Refusal::told(error, audience);
        if is_unknown {
            unknown(refusal.message)
        } else {
            refusal.into_error(desk, ErrorCode::INTERNAL_ERROR)
        }
    })?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(reply.text, uri).with_mime_type(MARKDOWN)]))
}
