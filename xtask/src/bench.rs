//! `cargo xtask bench`: builds what users get, lets the driver measure it, and holds the lines to their limits.

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::Verdict;
use crate::error::Error;
use crate::process;

const BINARY_SIZE: &str = "release_binary_mb";
const BINARY_SIZE_LIMIT_MB: f64 = 40.0;

/// Measure the release binaries against the project's bars.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print JSON lines instead of a table.
    #[arg(long)]
    json: bool,
    /// Only the bench of this name.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<Verdict, Error> {
    // Two builds: in one, cargo would give the product the features that only the driver asks for.
    build("longhaul", "longhaul")?;
    build("longhaul-testkit", "longhaul-driver")?;
    let release = target_directory()?.join("release");
    let product = release.join("longhaul");

    let mut results = Results { json: args.json, lines: 0, verdict: Verdict::Good };
    results.heading()?;
    if args.only.as_deref().is_none_or(|only| only == BINARY_SIZE) {
        results.add(&binary_size(&product)?)?;
    }
    if args.only.as_deref() != Some(BINARY_SIZE) {
        drive(&release.join("longhaul-driver"), &product, args, &mut results)?;
    }
    match &args.only {
        Some(name) if results.lines == 0 => Err(Error::NoSuchBench { name: name.clone() }),
        _ => Ok(results.verdict),
    }
}

fn build(package: &str, binary: &str) -> Result<(), Error> {
    let mut cargo = process::command("cargo");
    cargo.args(["build", "--release", "--package", package, "--bin", binary]);
    process::stdout(&mut cargo).map(drop)
}

fn target_directory() -> Result<PathBuf, Error> {
    let mut cargo = process::command("cargo");
    cargo.args(["metadata", "--format-version", "1", "--no-deps"]);
    let output = process::stdout(&mut cargo)?;
    let metadata: Option<Value> = serde_json::from_slice(&output).ok();
    let directory = metadata.as_ref().and_then(|metadata| metadata["target_directory"].as_str());
    directory.map(PathBuf::from).ok_or_else(|| Error::Json {
        command: process::shown(&cargo),
        text: String::from_utf8_lossy(&output).chars().take(80).collect(),
    })
}

fn binary_size(binary: &Path) -> Result<Value, Error> {
    let metadata =
        fs::metadata(binary).map_err(|source| Error::Read { path: binary.to_path_buf(), source })?;
    Ok(size_line(metadata.len()))
}

fn size_line(bytes: u64) -> Value {
    // Rounded up to a tenth in whole numbers, so that the line never shows less than there is.
    let tenths = u32::try_from(bytes.div_ceil(100_000)).unwrap_or(u32::MAX);
    let megabytes = f64::from(tenths) / 10.0;
    json!({
        "name": BINARY_SIZE,
        "value": megabytes,
        "unit": "MB",
        "limit": BINARY_SIZE_LIMIT_MB,
        "holds": megabytes <= BINARY_SIZE_LIMIT_MB,
    })
}

/// Runs the driver and shows each of its lines as it comes: some benches take a minute.
fn drive(driver: &Path, product: &Path, args: &Args, results: &mut Results) -> Result<(), Error> {
    let mut command = process::command(driver);
    command.arg("bench").arg("--longhaul").arg(product).stdout(Stdio::piped());
    if let Some(only) = &args.only {
        command.arg("--only").arg(only);
    }
    let shown = process::shown(&command);
    let mut child =
        command.spawn().map_err(|source| Error::Start { program: process::program(&command), source })?;
    let stdout = child.stdout.take().expect("stdout was piped above");
    let forwarded = forward(stdout, &shown, results);
    if forwarded.is_err() {
        // Nobody reads on. It may have ended by itself in the meantime.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|source| Error::Output { command: shown.clone(), source })?;
    forwarded?;
    // The driver itself may fail when a limit does not hold; then the lines have said so already.
    if status.success() || results.verdict == Verdict::Bad {
        Ok(())
    } else {
        Err(Error::Failed { command: shown, status })
    }
}

fn forward(stdout: impl Read, shown: &str, results: &mut Results) -> Result<(), Error> {
    for line in BufReader::new(stdout).lines() {
        let text = line.map_err(|source| Error::Output { command: shown.to_owned(), source })?;
        let parsed: Option<Value> = serde_json::from_str(&text).ok().filter(is_line);
        results.add(&parsed.ok_or_else(|| Error::Json { command: shown.to_owned(), text })?)?;
    }
    Ok(())
}

/// A line has a name, a value and a unit. `limit` and `holds` are `null` where a figure is only told.
fn is_line(line: &Value) -> bool {
    line["name"].is_string()
        && line["value"].is_number()
        && line["unit"].is_string()
        && line.get("holds").is_some()
}

/// Shows the lines and remembers whether all of them hold.
struct Results {
    json: bool,
    lines: usize,
    verdict: Verdict,
}

impl Results {
    fn heading(&self) -> Result<(), Error> {
        if !self.json {
            writeln!(std::io::stdout(), "{}", row(["name", "value", "unit", "limit", "holds"]))?;
        }
        Ok(())
    }

    fn add(&mut self, line: &Value) -> Result<(), Error> {
        self.lines += 1;
        if line["holds"] == Value::Bool(false) {
            self.verdict = Verdict::Bad;
        }
        let shown = if self.json { line.to_string() } else { table_row(line) };
        Ok(writeln!(std::io::stdout(), "{shown}")?)
    }
}

fn table_row(line: &Value) -> String {
    let text = |key: &str| line[key].as_str().unwrap_or("").to_owned();
    let number = |key: &str| line[key].as_f64().map(|value| format!("{value:.3}")).unwrap_or_default();
    let holds = match line["holds"].as_bool() {
        Some(true) => "yes",
        Some(false) => "NO",
        None => "-",
    };
    row([&text("name"), &number("value"), &text("unit"), &number("limit"), holds])
}

fn row([name, value, unit, limit, holds]: [&str; 5]) -> String {
    format!("{name:<44} {value:>14} {unit:<8} {limit:>12} {holds}")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const GOOD: &str = r#"{"name":"append_ratio","value":1.25,"unit":"x","limit":1.5,"holds":true}"#;
    const BAD: &str = r#"{"name":"append_ratio","value":1.75,"unit":"x","limit":1.5,"holds":false}"#;

    /// Runs a driver that is this shell script.
    fn driven(script: &str) -> (Result<(), Error>, Results) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let driver = directory.path().join("driver");
        fs::write(&driver, format!("#!/bin/sh\n{script}\n")).expect("the driver is written");
        fs::set_permissions(&driver, fs::Permissions::from_mode(0o755))
            .expect("the driver is made executable");
        let args = Args { json: true, only: Some("append_ratio".to_owned()) };
        let mut results = Results { json: true, lines: 0, verdict: Verdict::Good };
        let outcome = drive(&driver, Path::new("release/longhaul"), &args, &mut results);
        (outcome, results)
    }

    #[test]
    fn lines_that_hold_are_good() {
        let (outcome, results) = driven(&format!("echo '{GOOD}'"));
        assert!(outcome.is_ok(), "{outcome:?}");
        assert_eq!((results.lines, results.verdict), (1, Verdict::Good));
    }

    #[test]
    fn one_line_that_does_not_hold_is_bad_whatever_the_driver_returns() {
        for code in [0, 1] {
            let (outcome, results) = driven(&format!("echo '{BAD}'; echo '{GOOD}'; exit {code}"));
            assert!(outcome.is_ok(), "{outcome:?}");
            assert_eq!((results.lines, results.verdict), (2, Verdict::Bad));
        }
    }

    #[test]
    fn a_driver_that_fails_or_babbles_is_an_error() {
        assert!(matches!(driven("exit 3").0, Err(Error::Failed { .. })));
        assert!(matches!(driven("echo hello").0, Err(Error::Json { .. })));
        assert!(matches!(driven("echo '{}'").0, Err(Error::Json { .. })));
    }

    #[test]
    fn the_driver_is_told_the_binary_and_the_bench() {
        let wanted = "bench --longhaul release/longhaul --only append_ratio";
        let (outcome, results) = driven(&format!("test \"$*\" = '{wanted}' && echo '{GOOD}'"));
        assert!(outcome.is_ok(), "{outcome:?}");
        assert_eq!(results.lines, 1);
    }

    #[test]
    fn the_size_is_rounded_up_before_it_is_compared() {
        assert_eq!(size_line(40_000_000)["holds"], true);
        let above = size_line(40_000_001);
        assert_eq!((&above["value"], &above["holds"]), (&json!(40.1), &json!(false)));
    }

    #[test]
    fn a_row_lines_up_with_the_heading() {
        let line = serde_json::from_str(BAD).expect("the sample is JSON");
        let heading = row(["name", "value", "unit", "limit", "holds"]);
        let shown = table_row(&line);
        assert_eq!(heading.find("holds"), shown.find("NO"));
        assert_eq!(
            shown.split_whitespace().collect::<Vec<_>>(),
            ["append_ratio", "1.750", "x", "1.500", "NO"]
        );
    }
}
