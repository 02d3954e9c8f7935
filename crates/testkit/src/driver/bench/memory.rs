//! The memory of all processes of the product, each page counted once.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use crate::driver::Failure;

/// What processes of one program take together, at most.
#[derive(Debug)]
pub(super) struct Memory {
    program: PathBuf,
    peak_kb: Cell<u64>,
}

impl Memory {
    pub(super) fn of(program: &Path) -> Result<Self, Failure> {
        Ok(Self { program: program.canonicalize()?, peak_kb: Cell::new(0) })
    }

    /// Adds up what they take now; says how many there are.
    pub(super) fn look(&self) -> Result<usize, Failure> {
        let numbers = fs::read_dir("/proc")?.flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let ours = numbers.filter(|number| {
            fs::read_link(format!("/proc/{number}/exe")).is_ok_and(|exe| exe == self.program)
        });
        let taken: Vec<u64> = ours.filter_map(taken_kb).collect();
        self.peak_kb.set(self.peak_kb.get().max(taken.iter().sum()));
        Ok(taken.len())
    }

    pub(super) fn peak_mb(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "less than the memory of this machine")]
        let peak = self.peak_kb.get() as f64;
        peak / 1024.0
    }
}

/// Its share of what it shares with others. Where that is not told, all that it has: too much rather than too little.
fn taken_kb(process: u32) -> Option<u64> {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(format!("/proc/{process}/{file}")).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    field("smaps_rollup", "Pss:").or_else(|| field("status", "VmRSS:"))
}
