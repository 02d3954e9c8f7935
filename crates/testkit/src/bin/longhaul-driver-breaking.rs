//! The driver of a release that older ones may no longer write beside.

use std::process::ExitCode;

fn main() -> ExitCode {
    longhaul_testkit::driver::main()
}
