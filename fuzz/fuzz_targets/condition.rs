//! See `longhaul_fuzz::condition`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| longhaul_fuzz::condition::run(bytes));
