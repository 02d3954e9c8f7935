//! `longhaul log verify`: walks the hash chain of each stream.

use std::process::ExitCode;

use longhaul_runtime::Progress as _;
use longhaul_runtime::types::{StreamReport, Verdict};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CliError, ENVIRONMENT};
use crate::output::{Row, count};
use crate::progress::Bar;

/// Check that streams are what was written: bytes, order, and the blobs that they name.
///
/// Without a stream it also looks for decisions that are gone from the log, whoever they belonged to.
///
/// It shows damage and casual edits; it does not prove anything against the owner of the machine. Exits with
/// 4 if a stream is not intact. `redacted` is intact.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this stream, such as `session/s-041061050r3gg`, or only its id.
    stream: Option<String>,
}

#[derive(Debug, Serialize)]
struct VerdictRow {
    stream: String,
    events: u64,
    /// How many decisions had a value taken out.
    redacted: u64,
    verdict: &'static str,
    reason: Option<String>,
}

impl Row for VerdictRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![
            ("STREAM", self.stream.clone()),
            ("EVENTS", self.events.to_string()),
            ("VERDICT", self.verdict.to_owned()),
            ("REASON", self.reason.clone().unwrap_or_default()),
        ]
    }
}

impl VerdictRow {
    /// What is missing belongs to no stream that is known.
    fn of_gap(reason: String) -> Self {
        Self { stream: "log".to_owned(), events: 0, redacted: 0, verdict: "broken", reason: Some(reason) }
    }

    fn of(report: StreamReport) -> Self {
        let StreamReport { stream, events, redacted, verdict } = report;
        let (verdict, reason) = match verdict {
            Verdict::Intact if redacted > 0 => {
                ("redacted", Some(format!("a value was taken out of {}", count(redacted, "decision"))))
            }
            Verdict::Intact => ("intact", None),
            Verdict::Unreadable(why) => ("unreadable", Some(why)),
            Verdict::Quarantined(why) => ("quarantined", Some(why)),
            Verdict::Broken(why) => ("broken", Some(why)),
        };
        Self { stream, events, redacted, verdict, reason }
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let Some(reader) = context.system()?.reader()? else {
        context.output.say("there is no log yet");
        return Ok(ExitCode::SUCCESS);
    };
    let streams = match &args.stream {
        Some(text) => vec![reader.find_stream(text)?],
        None => reader.streams()?,
    };
    let mut bar = Bar::new(&context.output);
    bar.begin("streams", streams.len() as u64);
    let (mut rows, mut bad) = (Vec::new(), 0);
    for stream in &streams {
        let report = reader.verify_stream(stream)?;
        bad += u64::from(report.verdict != Verdict::Intact);
        rows.push(VerdictRow::of(report));
        bar.step();
    }
    drop(bar);
    let gaps = if args.stream.is_none() { reader.missing_decisions()? } else { Vec::new() };
    let missing = gaps.len();
    rows.extend(gaps.into_iter().map(VerdictRow::of_gap));
    context.output.rows(&rows)?;
    if missing > 0 {
        context.output.say("decisions are missing from the log; see `longhaul doctor`");
        return Ok(ExitCode::from(ENVIRONMENT));
    }
    if bad > 0 {
        let streams = count(rows.len() as u64, "stream");
        context.output.say(&format!("{bad} of {streams} not intact; see `longhaul doctor`"));
        return Ok(ExitCode::from(ENVIRONMENT));
    }
    let events: u64 = rows.iter().map(|row| row.events).sum();
    let (streams, events) = (count(rows.len() as u64, "stream"), count(events, "event"));
    context.output.say(&format!("{streams} with {events}: intact"));
    Ok(ExitCode::SUCCESS)
}
