//! See `longhaul_fuzz::native`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| longhaul_fuzz::native::run(bytes));
