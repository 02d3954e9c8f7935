//! The process between us and a sandboxed program. It is our own binary, freshly executed, so that it has one thread
//! and nothing of ours in its memory; it is told the plan through its standard input, puts up the walls and starts
//! the program.
//!
//! At level full there are two of it. The outer one waits in the namespace of our processes and ends as the program
//! ended. The inner one is the first process of the new namespace: when it ends, the kernel kills whatever is left.

#[cfg(target_os = "linux")]
use std::io;
use std::process::ExitCode;

#[cfg(target_os = "linux")]
mod how;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod outside;

/// A wall that could not be put up.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) step: String,
    pub(super) source: io::Error,
}

#[cfg(target_os = "linux")]
impl Failed {
    pub(super) fn new(step: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self { step: step.into(), source: source.into() }
    }
}

/// Says what was being done when a call failed.
#[cfg(target_os = "linux")]
pub(super) trait Doing<T> {
    fn doing(self, step: &str) -> Result<T, Failed>;
}

#[cfg(target_os = "linux")]
impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, step: &str) -> Result<T, Failed> {
        self.map_err(|source| Failed::new(step, source))
    }
}

/// The whole of the hidden verb [`super::INIT_VERB`]: a `main` calls it before it does anything else.
pub fn init_main() -> ExitCode {
    #[cfg(target_os = "linux")]
    return outside::main();
    #[cfg(not(target_os = "linux"))]
    return ExitCode::FAILURE;
}
