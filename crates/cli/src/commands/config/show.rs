//! `longhaul config show`: each setting with its value, and where that comes from.

use std::process::ExitCode;

use longhaul_runtime::types::ConfigRow;
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Show each setting with the value that counts here.
///
/// A later place wins: defaults, `.longhaul/config.yml` of a trusted workspace, your own `config.yml`, the
/// environment (`LONGHAUL_RETENTION_BLOBS`), `--config`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show also where each value comes from.
    #[arg(long)]
    origin: bool,
}

#[derive(Debug, Serialize)]
struct SettingRow {
    key: &'static str,
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    about: &'static str,
}

impl Row for SettingRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let last = match &self.origin {
            Some(origin) => ("ORIGIN", origin.clone()),
            None => ("ABOUT", self.about.to_owned()),
        };
        vec![("KEY", self.key.to_owned()), ("VALUE", self.value.clone()), last]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let config = context.system()?.config()?;
    let row = |row: ConfigRow| SettingRow {
        key: row.key,
        value: row.value,
        origin: args.origin.then(|| row.origin.to_string()),
        about: row.about,
    };
    let rows: Vec<SettingRow> = config.rows.into_iter().map(row).collect();
    context.output.rows(&rows)?;
    Ok(ExitCode::SUCCESS)
}
