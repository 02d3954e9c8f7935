//! What every verb is given: the global flags, the output, and the system once it is asked for.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{ArgAction, ValueEnum};
use longhaul_runtime::types::KEYS;
use longhaul_runtime::{LogFiles, LogOptions, LogOrigin, Places, Settings, System, start_logging};

use crate::error::CliError;
use crate::output::{Format, Output};
use crate::step;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Print JSON lines instead of tables, and no remarks.
    #[arg(long, global = true)]
    json: bool,

    /// Tell on standard error what is done; repeat to hear more, or set `LONGHAUL_LOG=longhaul_store=trace`.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,

    /// How what `--verbose` tells is written.
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,

    /// Change a setting for this call, such as `retention.blobs=30d`; may be repeated.
    #[arg(short, long, global = true, value_name = "KEY=VALUE", value_parser = setting)]
    config: Vec<String>,
}

impl Globals {
    /// Of a flag that stands on both sides of the command, `clap` takes the later side only. A setting that is
    /// lost on the way must not go unnoticed.
    pub(crate) fn check(&self, arguments: &[OsString]) -> Result<(), CliError> {
        let words = arguments.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--");
        let is_setting =
            |word: &&str| *word == "--config" || word.starts_with("--config=") || word.starts_with("-c");
        if words.filter(is_setting).count() > self.config.len() {
            return Err(CliError::ScatteredSettings);
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) output: Output,
    globals: Globals,
    /// Who this process is, if what it does is kept in files.
    origin: RefCell<Option<LogOrigin>>,
}

impl Context {
    pub(crate) fn new(globals: Globals) -> Self {
        let format = if globals.json { Format::Json } else { Format::Table };
        Self { output: Output::new(format), globals, origin: RefCell::new(None) }
    }

    /// For a process that nobody looks at: what it does is kept in files. Said before anything else is asked for.
    pub(crate) fn keep_log(&self, origin: LogOrigin) {
        *self.origin.borrow_mut() = Some(origin);
    }

    /// The installation that the environment names. Looked up when a verb needs it, because some need none.
    pub(crate) fn system(&self) -> Result<System, CliError> {
        let system = System::new(self.settings()?);
        let is_watched = self.output.format() == Format::Table && std::io::stderr().is_terminal();
        Ok(if is_watched { system.telling(step::tell_of_work) } else { system })
    }

    /// What the outside says, for verbs that make a system of their own from it.
    pub(crate) fn settings(&self) -> Result<Settings, CliError> {
        let places = Places::find(|name| std::env::var_os(name).map(PathBuf::from))
            .map_err(longhaul_runtime::Error::from)?;
        let settings = Settings {
            places,
            variables: std::env::vars_os().collect(),
            // Without a current folder, what needs one fails when it looks there.
            directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            flags: self.globals.config.clone(),
        };
        self.start_logging(&System::new(settings.clone()));
        Ok(settings)
    }

    /// Only what is free of secrets may be told, so without the list of secrets nothing is.
    fn start_logging(&self, system: &System) {
        let (stderr, origin) = (self.log_filter(), self.origin.take());
        if stderr.is_none() && origin.is_none() {
            return;
        }
        match system.scrubber() {
            Ok(scrubber) => {
                let format = match self.globals.log_format {
                    LogFormat::Text => longhaul_runtime::LogFormat::Text,
                    LogFormat::Json => longhaul_runtime::LogFormat::Json,
                };
                let filter = stderr.clone();
                let files = origin.map(|origin| LogFiles { folder: system.places().logs(), origin, filter });
                start_logging(LogOptions { stderr, format, files }, Arc::new(scrubber));
                tracing::debug!(data = %system.places().data.display(), directory = %system.directory().display(), "started");
            }
            Err(error) => self.output.say(&format!("not logging: {error}")),
        }
    }

    fn log_filter(&self) -> Option<String> {
        match self.globals.verbose {
            0 => std::env::var("LONGHAUL_LOG").ok().filter(|filter| !filter.is_empty()),
            1 => Some("info".to_owned()),
            2 => Some("debug".to_owned()),
            _ => Some("trace".to_owned()),
        }
    }
}

/// A setting that nobody knows must not pass only because the verb does not look at settings.
fn setting(text: &str) -> Result<String, String> {
    let (key, _) = text.split_once('=').ok_or("write it as `key=value`")?;
    if KEYS.iter().any(|known| known.path == key) {
        return Ok(text.to_owned());
    }
    let known: Vec<String> = KEYS.iter().map(|known| format!("`{}`", known.path)).collect();
    Err(format!("`{key}` is not a setting; known are {}", known.join(", ")))
}
