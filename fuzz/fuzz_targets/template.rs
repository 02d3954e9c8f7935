//! See `longhaul_fuzz::template`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| longhaul_fuzz::template::run(bytes));
