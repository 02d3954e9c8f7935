//! Why a chore could not do its work. What a chore *finds* is output, not an error.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("could not start `{program}`; is it installed and in PATH?")]
    Start { program: String, source: io::Error },

    #[error("`{command}` failed ({status}); run it by hand to see why")]
    Failed { command: String, status: std::process::ExitStatus },

    #[error("could not read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },

    #[error("could not make `{}`", path.display())]
    Make { path: PathBuf, source: io::Error },

    #[error("could not read the output of `{command}`")]
    Output { command: String, source: io::Error },

    #[error("`{command}` printed something that is not the JSON we know: `{text}`")]
    Json { command: String, text: String },

    #[error("could not write the result")]
    Write(#[from] io::Error),

    #[error("`cargo nextest` is missing; install it with `cargo install cargo-nextest --locked`")]
    NextestMissing,

    #[error("`cargo fuzz` is missing; install it with `cargo install cargo-fuzz --locked`")]
    CargoFuzzMissing,

    #[error("no bench is named `{name}`; `cargo xtask bench` lists all of them")]
    NoSuchBench { name: String },
}
