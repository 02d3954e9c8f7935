//! Fifty large workflow files, checked in one call.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{Args, Bar, Limit, median, micros, timed};
use crate::driver::Failure;
use crate::processes::command;

pub(super) const NAMES: &[&str] =
    &["workflow_validate_50", "workflow_validate_50_kb", "workflow_validate_50_s", "calibration_loop_s"];

const FILES: usize = 50;
const ROUNDS: usize = 5;
const SMALLEST_BYTES: usize = 20_000;
const LARGEST_BYTES: usize = 90_000;

/// The time is absolute, so it is told beside a loop that says how fast this machine is; what must hold is that all
/// of the files are good.
pub(super) fn validate(args: &Args) -> Result<Vec<Bar>, Failure> {
    let folder = tempfile::tempdir()?;
    let files = written(folder.path())?;
    let (mut taken, mut calibration) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        taken.push(micros(timed(|| check(&args.longhaul, folder.path(), &files))?) / 1e6);
        calibration.push(micros(timed(|| Ok(calibrate()))?) / 1e6);
    }
    let bytes: u64 = files.iter().map(|file| fs::metadata(file).map_or(0, |found| found.len())).sum();
    #[expect(clippy::cast_precision_loss, reason = "a few megabytes, and fifty files")]
    let (kilobytes, count) = (bytes as f64 / 1000.0, files.len() as f64);
    Ok(vec![
        Bar::new(NAMES[0], count, "files", Limit::AtLeast(50.0)),
        Bar::new(NAMES[1], kilobytes, "KB", Limit::Reported),
        Bar::new(NAMES[2], median(&taken), "s", Limit::Reported),
        Bar::new(NAMES[3], median(&calibration), "s", Limit::Reported),
    ])
}

fn check(longhaul: &Path, folder: &Path, files: &[PathBuf]) -> Result<(), Failure> {
    let mut call = command(longhaul);
    call.args(["workflow", "validate", "--deny-warnings"]).args(files);
    call.env("LONGHAUL_HOME", folder.join("home")).current_dir(folder).stdin(Stdio::null());
    let output = call.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stdout);
    Err(format!("the files are not good: {}", said.chars().take(2000).collect::<String>()).into())
}

/// Half of them native, half WorkRail, from the smallest size to the largest.
fn written(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let write = |number: usize| {
        let bytes = SMALLEST_BYTES + (LARGEST_BYTES - SMALLEST_BYTES) * number / (FILES - 1);
        let (name, text) = if number.is_multiple_of(2) {
            (format!("native-{number}.yml"), native(number, bytes))
        } else {
            (format!("workrail-{number}.json"), workrail(number, bytes))
        };
        let path = folder.join(name);
        fs::write(&path, text)?;
        Ok(path)
    };
    (0..FILES).map(write).collect()
}

const SENTENCE: &str =
    "Read what is there before you change it, and write down which of your beliefs you have checked.";

fn native(number: usize, bytes: usize) -> String {
    let mut text = format!(
        "longhaul: 1\nid: bench.native-{number}\nname: Native {number}\nversion: 1.0.0\nabout: {SENTENCE}\nvars:\n  \
         goal: {{ type: string, required: true }}\n  risk: {{ enum: [low, high], default: low }}\nsteps:\n"
    );
    let mut step = 0;
    while text.len() < bytes {
        let _ = write!(
            text,
            "  - id: step-{step}\n    title: Step {step} of {{{{goal}}}}\n    when: {{ any: [ {{ var: risk, equals: \
             low }}, {{ var: goal.length, gt: 3 }} ] }}\n    prompt:\n      goal: \"{SENTENCE} {{{{goal}}}}\"\n      \
             constraints: [\"{SENTENCE}\", \"{SENTENCE}\"]\n      procedure: [\"{SENTENCE}\"]\n    fragments:\n      - \
             {{ when: {{ var: risk, equals: high }}, text: \"{SENTENCE}\" }}\n"
        );
        step += 1;
    }
    text
}

fn workrail(number: usize, bytes: usize) -> String {
    let step = |index: usize| {
        json!({
            "id": format!("step-{index}"),
            "title": format!("Step {index}"),
            "promptBlocks": {
                "goal": SENTENCE,
                "constraints": [SENTENCE, SENTENCE],
                "procedure": [SENTENCE],
            },
            "requireConfirmation": false,
        })
    };
    let size = serde_json::to_string_pretty(&step(100)).map_or(1, |text| text.len());
    let steps: Vec<Value> = (0..=bytes / size).map(step).collect();
    let file = json!({
        "id": format!("bench-workrail-{number}"),
        "name": format!("WorkRail {number}"),
        "description": SENTENCE,
        "version": "1.0.0",
        "steps": steps,
    });
    serde_json::to_string_pretty(&file).expect("a workflow has string keys only")
}

/// A fixed amount of plain work.
fn calibrate() -> u64 {
    (0..200_000_000_u64).fold(0, |sum, number| black_box(sum.wrapping_mul(31) ^ number))
}
