//! What a person trusted last, file by file, as far as the log says it.

use longhaul_core::trust::{Change, changes};
use longhaul_events::{TrustedFile, WorkspaceEvent, WorkspaceId};

use super::Reader;
use crate::error::Error;
use crate::workspaces::TrustCandidate;

/// How what somebody is asked to trust compares with what was trusted last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SinceTrusted {
    /// Nobody has trusted it, or that was taken back.
    Never,
    /// Somebody has, and what it was then was not kept.
    Unknown {
        by: String,
    },
    Known {
        by: String,
        changes: Vec<Change>,
    },
}

/// Who trusted what; the files are not known of what older releases recorded.
type Last = (String, Option<Vec<TrustedFile>>);

impl Reader {
    pub fn since_trusted(&self, candidate: &TrustCandidate) -> Result<SinceTrusted, Error> {
        Ok(match self.last_trusted(candidate.workspace)? {
            None => SinceTrusted::Never,
            Some((by, None)) => SinceTrusted::Unknown { by },
            Some((by, Some(before))) => {
                SinceTrusted::Known { by, changes: changes(&before, &candidate.listing) }
            }
        })
    }

    fn last_trusted(&self, id: WorkspaceId) -> Result<Option<Last>, Error> {
        let mut last = None;
        self.decisions(id.into()).each(|decision| {
            for event in decision.readable_events::<WorkspaceEvent>()? {
                match event {
                    WorkspaceEvent::Trusted { by, listing, .. } => last = Some((by, listing)),
                    WorkspaceEvent::Removed { .. } => last = None,
                    WorkspaceEvent::Registered { .. } => {}
                }
            }
            Ok(())
        })?;
        Ok(last)
    }
}
