//! The fuzz target over its seeds, and over pieces of them: what `cargo xtask fuzz mcp` begins with.

use std::fs;
use std::path::Path;

use crate::fuzz;

#[test]
fn whatever_a_client_writes_only_messages_come_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/mcp");
    let mut seeds: Vec<Vec<u8>> =
        fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
    seeds.sort();
    assert!(!seeds.is_empty());
    for seed in &seeds {
        fuzz::run(seed);
        // Cut anywhere, and with one byte turned over anywhere.
        for place in (0..seed.len()).step_by(97) {
            fuzz::run(&seed[..place]);
            let mut turned = seed.clone();
            turned[place] ^= 0x20;
            fuzz::run(&turned);
        }
    }
}
