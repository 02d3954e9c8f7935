//! `longhaul artifact list`: what was handed in, in one session or in all.

use std::process::ExitCode;

use longhaul_runtime::Artifact;
use longhaul_runtime::types::show_size;
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::moment;
use crate::output::Row;

/// List what agents handed in.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only of this session; its id may be shortened.
    session: Option<String>,
}

#[derive(Debug, Serialize)]
struct ArtifactRow {
    id: String,
    session: String,
    step: String,
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    bytes: u64,
    at: String,
    left_behind: bool,
}

impl From<Artifact> for ArtifactRow {
    fn from(artifact: Artifact) -> Self {
        let Artifact { id, session, step, kind, name, bytes, at, left_behind, value: _ } = artifact;
        Self { id, session, step, kind, name, bytes, at, left_behind }
    }
}

impl Row for ArtifactRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![
            ("ID", self.id.clone()),
            ("STEP", self.step.clone()),
            ("SIZE", show_size(self.bytes)),
            ("AT", moment::shown(&self.at)),
            ("KIND", self.kind.clone().or_else(|| self.name.clone()).unwrap_or_else(|| "-".to_owned())),
        ]
    }

    fn note(&self) -> Option<String> {
        self.left_behind.then(|| "left behind: the session went back to a point before it".to_owned())
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let artifacts = match (system.reader()?, &args.session) {
        (Some(reader), Some(text)) => {
            let session = reader.find_session(text)?.id;
            reader.artifacts(Some(session))?
        }
        (Some(reader), None) => reader.artifacts(None)?,
        (None, Some(text)) => return Err(longhaul_runtime::Error::NoSuchSession(text.clone()).into()),
        (None, None) => Vec::new(),
    };
    let rows: Vec<ArtifactRow> = artifacts.into_iter().map(ArtifactRow::from).collect();
    context.output.rows(&rows)?;
    if rows.is_empty() {
        context.output.say("nothing was handed in");
    }
    Ok(ExitCode::SUCCESS)
}
