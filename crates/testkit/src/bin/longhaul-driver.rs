//! The driver at the schema of this release.

use std::process::ExitCode;

fn main() -> ExitCode {
    longhaul_testkit::driver::main()
}
