//! What Longhaul says about itself while it works: structured, on standard error and in files, without secrets.

use std::io::{self, Write};
use std::panic;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use longhaul_core::scrub::Scrubber;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer};

use crate::logs::{FileLayer, LogOrigin, Sink};

/// What files hold where nobody asked for more.
const USUAL: &str = "info";

/// Where this process says what it does. Nothing of it, and nothing is said.
#[derive(Debug, Clone, Default)]
pub struct LogOptions {
    /// On standard error, in the words of `LONGHAUL_LOG`, such as `debug` or `longhaul_store=trace`.
    pub stderr: Option<String>,
    pub format: LogFormat,
    pub files: Option<LogFiles>,
}

/// Files that outlive the process.
#[derive(Debug, Clone)]
pub struct LogFiles {
    pub folder: PathBuf,
    pub origin: LogOrigin,
    /// In the same words; without any, what is worth knowing later.
    pub filter: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    #[default]
    Text,
    /// A line is an object.
    Json,
}

type Shared = Arc<RwLock<Arc<Scrubber>>>;

/// What keeps secrets out of all that this process says.
static SCRUBBER: OnceLock<Shared> = OnceLock::new();

/// Starts logging if anybody asked for it.
pub fn start_logging(options: LogOptions, scrubber: Arc<Scrubber>) {
    let LogOptions { stderr, format, files } = options;
    if stderr.is_none() && files.is_none() {
        return;
    }
    let shared = SCRUBBER.get_or_init(|| Arc::new(RwLock::new(scrubber))).clone();
    let outlives = files.is_some();
    let stderr = stderr.map(|filter| {
        let layer = tracing_subscriber::fmt::layer().with_writer(ScrubbedStderr(shared.clone()));
        let layer = match format {
            LogFormat::Text => layer.boxed(),
            LogFormat::Json => layer.json().boxed(),
        };
        layer.with_filter(EnvFilter::new(filter))
    });
    let files = files.map(|LogFiles { folder, origin, filter }| {
        let filter = EnvFilter::new(filter.as_deref().unwrap_or(USUAL));
        FileLayer::new(Sink::new(&folder), origin, shared).with_filter(filter)
    });
    // A second start in one process changes nothing.
    let is_first = tracing_subscriber::registry().with(stderr).with(files).try_init().is_ok();
    if is_first && outlives {
        tell_of_panics();
    }
}

/// From here on this is what keeps secrets out: more became known than when logging started.
pub fn scrub_logs_with(scrubber: Arc<Scrubber>) {
    if let Some(shared) = SCRUBBER.get() {
        *shared.write().unwrap_or_else(PoisonError::into_inner) = scrubber;
    }
}

/// Of a process that nobody looks at, a bug shows nowhere else.
fn tell_of_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |bug| {
        let place = bug.location().map(ToString::to_string);
        tracing::error!(place, bug = bug.payload_as_str(), "a bug ended what a thread did");
        usual(bug);
    }));
}

struct ScrubbedStderr(Shared);

impl<'a> MakeWriter<'a> for ScrubbedStderr {
    type Writer = ScrubbedLine;

    fn make_writer(&'a self) -> Self::Writer {
        ScrubbedLine(self.0.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

struct ScrubbedLine(Arc<Scrubber>);

impl Write for ScrubbedLine {
    /// The formatter hands over whole lines, so a secret cannot be cut in two here.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(&self.0.bytes(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
