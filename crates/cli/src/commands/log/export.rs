//! `longhaul log export`: streams as JSON lines, to be imported elsewhere.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use longhaul_runtime::Reader;
use longhaul_runtime::types::Exported;
use serde::Serialize;

use crate::context::Context;
use crate::error::{CliError, ENVIRONMENT};
use crate::output::{Format, count};

/// Write streams as JSON lines, with their chains and blobs, for `longhaul log import`.
///
/// An export holds the keys of the sessions: whoever has it can go on in their name. Without a stream, all
/// are written. Exits with 4 if a content that should be here could not be given; the export names it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Streams, such as `session/s-041061050r3gg`, or only their ids.
    #[arg(value_name = "STREAM")]
    streams: Vec<String>,

    /// Write to this new file instead of standard output (`-`).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What came of an export that went to a file.
#[derive(Debug, Serialize)]
struct ExportedRow {
    streams: u64,
    decisions: u64,
    left_out: Vec<LeftOut>,
    file: String,
}

/// A content that should be here and could not be given.
#[derive(Debug, Serialize)]
struct LeftOut {
    blob: String,
    problem: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let reader = context.system()?.reader()?.ok_or(CliError::NoStore { verb: "export" })?;
    let streams = match &*args.streams {
        [] => reader.streams()?,
        named => named.iter().map(|text| reader.find_stream(text)).collect::<Result<_, _>>()?,
    };
    let written = write(context, &reader, &streams, args.output.as_deref())?;
    tell(context, written)
}

/// An export that was written, to a file or to standard output.
pub(crate) struct Written<'a> {
    streams: u64,
    exported: Exported,
    file: Option<&'a Path>,
}

/// Writes streams to a new file, or to standard output where none is named, or `-`.
pub(crate) fn write<'a>(
    context: &Context,
    reader: &Reader,
    streams: &[String],
    output: Option<&'a Path>,
) -> Result<Written<'a>, CliError> {
    let file = output.filter(|path| *path != Path::new("-"));
    let exported = match file {
        Some(path) if path.symlink_metadata().is_ok() => {
            return Err(CliError::Exists { path: path.to_owned() });
        }
        Some(path) => reader.export_file(streams, path)?,
        None => reader.export(streams, &mut context.output.data())?,
    };
    Ok(Written { streams: streams.len() as u64, exported, file })
}

/// On standard output the export itself names what was left out of it.
pub(crate) fn tell(context: &Context, written: Written<'_>) -> Result<ExitCode, CliError> {
    let Written { streams, exported: Exported { decisions, left_out }, file } = written;
    let left_out: Vec<LeftOut> =
        left_out.into_iter().map(|(hash, problem)| LeftOut { blob: hash.to_string(), problem }).collect();
    context.output.say(&format!("exported {} of {}", count(decisions, "decision"), count(streams, "stream")));
    for LeftOut { blob, problem } in &left_out {
        context.output.say(&format!("left out: blob {blob} {problem}"));
    }
    let code = if left_out.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(ENVIRONMENT) };
    if !left_out.is_empty() {
        let contents = count(left_out.len() as u64, "content");
        context.output.say(&format!("the export is not complete: {contents} could not be given"));
    }
    if let Some(file) = file.filter(|_| context.output.format() == Format::Json) {
        let file = file.display().to_string();
        context.output.text("", &ExportedRow { streams, decisions, left_out, file })?;
    }
    Ok(code)
}
