//! A progress bar on standard error, for people who wait at a terminal.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressStyle};
use longhaul_runtime::Progress;

use crate::output::{Format, Output};

#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    shown: bool,
}

impl Bar {
    pub(crate) fn new(output: &Output) -> Self {
        let shown = output.format() == Format::Table && std::io::stderr().is_terminal();
        Self { bar: ProgressBar::hidden(), shown }
    }
}

impl Progress for Bar {
    fn begin(&mut self, what: &str, total: u64) {
        if self.shown {
            let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}");
            self.bar = ProgressBar::new(total)
                .with_style(style.expect("the template is fixed and well formed"))
                .with_message(what.to_owned());
        }
    }

    fn step(&mut self) {
        self.bar.inc(1);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
