//! The hidden verb of the product as a program of its own, for the tests of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    longhaul_exec::sandbox::init_main()
}
