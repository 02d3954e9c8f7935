//! The fuzz targets over their seeds and over inputs made from a few numbers: what `cargo xtask fuzz` begins with.

use std::fs;
use std::path::Path;

use longhaul_core::workflow::library::BUNDLED;

use crate::fuzz::{advance, condition, native, template, workrail};

/// How many made-up inputs each target gets.
const MADE_UP: u64 = 60;

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let entries = fs::read_dir(folder).expect("the target has a folder of seeds");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "`{target}` has seeds");
    paths.iter().map(|path| fs::read(path).expect("the seed can be read")).collect()
}

/// Choices as a fuzzer would make them, the same in every run.
fn choices(number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[0]
    };
    let length = usize::from(byte());
    std::iter::once(b'!').chain((0..length).map(|_| byte())).collect()
}

fn replay(target: &str, run: fn(&[u8])) {
    seeds(target).iter().for_each(|seed| run(seed));
    (0..MADE_UP).for_each(|number| run(&choices(number)));
}

#[test]
fn native_files_of_any_kind_are_compiled_or_refused() {
    replay("native", native::run);
    BUNDLED.iter().for_each(|(_, text)| native::run(text.as_bytes()));
}

#[test]
fn workrail_files_of_any_kind_are_compiled_or_refused() {
    replay("workrail", workrail::run);
}

#[test]
fn conditions_of_any_kind_are_judged() {
    replay("condition", condition::run);
}

#[test]
fn templates_of_any_kind_are_rendered() {
    replay("template", template::run);
}

#[test]
fn answers_of_any_kind_lead_a_session_to_its_end() {
    replay("advance", advance::run);
}
