//! `longhaul log export`: streams as JSON lines, to be imported elsewhere.

use std::fs;
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use longhaul_runtime::Error;

use crate::context::Context;
use crate::error::CliError;
use crate::output::count;

/// Write streams as JSON lines, with their chains and blobs, for `longhaul log import`.
///
/// An export holds the keys of the sessions: whoever has it can go on in their name. Without a stream, all
/// are written.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Streams, such as `session/s-041061050r3gg`, or only their ids.
    #[arg(value_name = "STREAM")]
    streams: Vec<String>,

    /// Write to this new file instead of standard output (`-`).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let reader = context.system()?.reader()?.ok_or(CliError::NoStore { verb: "export" })?;
    let streams = match &*args.streams {
        [] => reader.streams()?,
        named => named.iter().map(|text| reader.find_stream(text)).collect::<Result<_, _>>()?,
    };
    let decisions = match args.output.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => to_file(path, |out| reader.export(&streams, out))?,
        None => reader.export(&streams, &mut context.output.data())?,
    };
    let (decisions, streams) = (count(decisions, "decision"), count(streams.len() as u64, "stream"));
    context.output.say(&format!("exported {decisions} of {streams}"));
    Ok(ExitCode::SUCCESS)
}

/// For the owner's eyes only, and complete or not there.
pub(crate) fn to_file(
    path: &Path,
    export: impl FnOnce(&mut dyn Write) -> Result<u64, Error>,
) -> Result<u64, CliError> {
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let file = file.map_err(CliError::file("write", path))?;
    let mut writer = BufWriter::new(&file);
    let written = export(&mut writer).map_err(CliError::from).and_then(|decisions| {
        let stored = writer.flush().and_then(|()| file.sync_all());
        stored.map(|()| decisions).map_err(CliError::file("write", path))
    });
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}
