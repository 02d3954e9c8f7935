//! The driver of a release that has added to the schema.

use std::process::ExitCode;

fn main() -> ExitCode {
    longhaul_testkit::driver::main()
}
