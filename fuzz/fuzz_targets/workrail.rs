//! See `longhaul_fuzz::workrail`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| longhaul_fuzz::workrail::run(bytes));
