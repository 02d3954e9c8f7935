//! See `longhaul_fuzz::advance`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| longhaul_fuzz::advance::run(bytes));
