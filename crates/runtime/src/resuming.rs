//! Which session somebody means who wants to go on, from where they stand.

use longhaul_events::Checkout;

use crate::error::Error;
use crate::reader::{Ranked, Reader};
use crate::system::System;

/// What is known of the session that is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResumeQuery {
    /// An id or the beginning of one, words from goal or notes, or a workflow id.
    pub text: Option<String>,
    /// In place of the branch that the folder is on.
    pub branch: Option<String>,
    /// In place of the commit that the folder is at.
    pub commit: Option<String>,
}

impl ResumeQuery {
    /// The place that was named, for somebody who stands in no checkout.
    fn said(&self) -> Option<Checkout> {
        let is_said = self.branch.is_some() || self.commit.is_some();
        is_said.then(|| Checkout {
            path: String::new(),
            head: None,
            branch: None,
            folder: None,
            pinned: None,
        })
    }
}

impl System {
    /// The sessions that may be meant, best first.
    pub fn resumable(&self, reader: &Reader, query: &ResumeQuery) -> Result<Vec<Ranked>, Error> {
        // The beginning of an id does as well as the whole.
        let text = match &query.text {
            Some(text) if text.starts_with("s-") => Some(reader.find_session(text)?.id.to_string()),
            text => text.clone(),
        };
        let here = self.checkout_here()?.or_else(|| query.said());
        let here = here.map(|here| Checkout {
            branch: query.branch.clone().or(here.branch),
            head: query.commit.clone().or(here.head),
            ..here
        });
        reader.resumable(text.as_deref(), here.as_ref())
    }
}
